"""Differences between conditions: within dilemmas, over dilemmas, tested by sign.

The unit of inference is the dilemma. Everything up to the interval is computed on fractions, so
that a tie is a tie; intervals are unadjusted, and only the sign tests are corrected (Holm).
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.matrix import MatrixError, RatingMatrix
from ratings.agreement.resampling import draw_weights, mean_interval, percentile_interval
from ratings.agreement.results import Interval

Array = NDArray[np.float64]
Conditions = Mapping[str, Hashable]  # unit -> condition
_SAME = 1e-12  # as in the gate
_LEVEL = 0.05
_LARGEST_WHOLE = 2.0**52  # sums of whole numbers below it are exact


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """The difference of two conditions: mean over clusters of the within-cluster difference.

    Attributes
    ----------
    estimate : float or None
        Of `minuend` - `subtrahend`, divided by `maximum`; None without a usable cluster.
    ci95 : (float, float) or None
        t(K - 1) interval, unadjusted; None with fewer than two clusters.
    percentile95 : (float, float) or None
        Cluster percentile bootstrap.
    n_clusters, n_without : int
        Clusters used, and clusters that no judge rated under both conditions.
    n_for, n_against, n_ties : int
        Clusters with a positive, a negative and no difference, decided on fractions.
    p_sign : float or None
        Exact two-sided sign test, ties dropped; None without a usable cluster.
    p_holm : float or None
        `p_sign` after Holm over the contrasts given together.
    margin : float or None
        The registered margin, if there is one, on the scale of `estimate`.
    met_by_estimate, lower_above_margin : bool or None
        Two statements, never one: the estimate reaches the margin and `p_holm` is below .05; the
        lower limit of `ci95` lies above the margin. None without a margin or a usable cluster,
        the second also without an interval.
    """

    minuend: Any
    subtrahend: Any
    maximum: float
    estimate: float | None
    ci95: Interval | None
    percentile95: Interval | None
    n_clusters: int
    n_without: int
    n_for: int
    n_against: int
    n_ties: int
    p_sign: float | None
    p_holm: float | None = None
    margin: float | None = None
    met_by_estimate: bool | None = None
    lower_above_margin: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write the contrast for the report's JSON."""
        document = asdict(self)
        for key in ("ci95", "percentile95"):
            document[key] = None if document[key] is None else list(document[key])
        return document


def contrasts(
    matrix: RatingMatrix,
    conditions: Conditions,
    pairs: Sequence[tuple[Any, Any]],
    *,
    draws: int,
    seed: int,
    maximum: float = 1.0,
    margin: float | None = None,
) -> list[Contrast]:
    """Compare the registered pairs of conditions, first minus second.

    Within a cluster only judges who rated both conditions there count, each by his own mean of
    either, else severity would leak into the difference. `maximum` turns scores into shares.

    The interval is over clusters (Tukey; see `resampling`), the test is the exact sign test
    (Dixon & Mood 1946, J. Am. Stat. Assoc. 41, 557-566) and Holm 1979 (Scand. J. Stat. 6, 65-70,
    p. 67) corrects the tests given together. Raises `MatrixError` for a unit without a condition.
    """
    differences = cluster_differences(matrix, conditions, pairs)
    means = _bootstrap_means(differences, len(set(matrix.clusters)), draws=draws, seed=seed)
    found = [
        _contrast(pair, different, drawn, maximum)
        for pair, different, drawn in zip(pairs, differences, means, strict=True)
    ]
    adjusted = iter(holm([one.p_sign for one in found if one.p_sign is not None]))
    found = [replace(one, p_holm=None if one.p_sign is None else next(adjusted)) for one in found]
    return [_against(margin, one) for one in found]


def cluster_differences(
    matrix: RatingMatrix, conditions: Conditions, pairs: Sequence[tuple[Any, Any]]
) -> list[list[Fraction | None]]:
    """Return for each pair the difference in every cluster, the clusters sorted by name.

    None where no judge rated both conditions.
    """
    scores = _by_cell(matrix, conditions)
    return [
        [_difference(scores, cluster, first, second) for cluster in sorted(set(matrix.clusters))]
        for first, second in pairs
    ]


def _against(margin: float | None, one: Contrast) -> Contrast:
    """Add what can be said of a margin; a difference within 1e-12 of it counts as equal."""
    if margin is None or one.estimate is None or one.p_holm is None:
        return replace(one, margin=margin)
    return replace(
        one,
        margin=margin,
        met_by_estimate=one.estimate >= margin - _SAME and one.p_holm < _LEVEL,
        lower_above_margin=None if one.ci95 is None else one.ci95[0] > margin + _SAME,
    )


def sign_test(n_for: int, n_against: int) -> float:
    """Return the exact two-sided p of so uneven a split or worse; 1 without any sign.

    >>> f"{sign_test(24, 3):.1e}"
    '4.9e-05'
    """
    n = n_for + n_against
    tail = sum(math.comb(n, k) for k in range(min(n_for, n_against) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values in the sequence given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


Scores = dict[tuple[str, Hashable], dict[str, list[Fraction]]]  # (cluster, condition) -> rater


def _by_cell(matrix: RatingMatrix, conditions: Conditions) -> Scores:
    fractions = {level: exact(level) for level in np.unique(matrix.values[matrix.present]).tolist()}
    cells: Scores = {}
    labels = condition_labels(matrix, conditions)
    for row, column in np.argwhere(matrix.present).tolist():
        cell = cells.setdefault((matrix.clusters[row], labels[row]), {})
        score = fractions[float(matrix.values[row, column])]
        cell.setdefault(matrix.raters[column], []).append(score)
    return cells


def _difference(scores: Scores, cluster: str, first: Hashable, second: Hashable) -> Fraction | None:
    """Return the cluster's mean over judges of their difference; None if nobody rated both."""
    one, other = scores.get((cluster, first), {}), scores.get((cluster, second), {})
    both = one.keys() & other.keys()
    if not both:
        return None
    total = sum(
        (
            sum(one[rater], Fraction(0)) / len(one[rater])
            - sum(other[rater], Fraction(0)) / len(other[rater])
            for rater in both
        ),
        Fraction(0),
    )
    return total / len(both)


def _bootstrap_means(
    differences: Sequence[Sequence[Fraction | None]], clusters: int, *, draws: int, seed: int
) -> list[Array]:
    """Return for each contrast its mean in every draw that holds one of its clusters."""
    if not clusters or not differences:
        return [np.zeros(0) for _ in differences]
    usable = np.array([[one is not None for one in row] for row in differences], dtype=float)
    values, multiples = _whole(differences)
    sums, counts = [], []
    for weights in draw_weights(clusters, draws=draws, seed=seed):
        sums.append(weights @ values.T)
        counts.append(weights @ usable.T)
    if not sums:
        return [np.zeros(0) for _ in differences]
    total, count = np.concatenate(sums), np.concatenate(counts)
    return [
        total[count[:, i] > 0, i] / (count[count[:, i] > 0, i] * multiple)
        for i, multiple in enumerate(multiples)
    ]


def _whole(differences: Sequence[Sequence[Fraction | None]]) -> tuple[Array, list[float]]:
    """Return differences times a common denominator: sums are then exact in any sequence.

    Where that denominator is too large they stay as they are: right to rounding.
    """
    rows, multiples = [], []
    for row in differences:
        multiple = math.lcm(*(one.denominator for one in row if one is not None))
        whole = [float(one * multiple) if one else 0.0 for one in row]
        if sum(abs(x) for x in whole) * len(row) > _LARGEST_WHOLE:
            multiple, whole = 1, [float(one or 0) for one in row]
        rows.append(whole)
        multiples.append(float(multiple))
    return np.array(rows), multiples


def _contrast(
    pair: tuple[Any, Any],
    differences: Sequence[Fraction | None],
    drawn: Array,
    maximum: float,
) -> Contrast:
    defined = [one for one in differences if one is not None]
    n_for = sum(one > 0 for one in defined)
    n_against = sum(one < 0 for one in defined)
    shares = np.array([float(one / exact(maximum)) for one in defined])
    estimate = float(sum(defined, Fraction(0)) / len(defined) / exact(maximum)) if defined else None
    return Contrast(
        minuend=pair[0],
        subtrahend=pair[1],
        maximum=maximum,
        estimate=estimate,
        ci95=mean_interval(shares),
        percentile95=percentile_interval(drawn / maximum) if defined else None,
        n_clusters=len(defined),
        n_without=len(differences) - len(defined),
        n_for=n_for,
        n_against=n_against,
        n_ties=len(defined) - n_for - n_against,
        p_sign=sign_test(n_for, n_against) if defined else None,
    )


def condition_labels(matrix: RatingMatrix, conditions: Conditions) -> list[Hashable]:
    """Return each unit's condition; raises `MatrixError` if one has none."""
    unknown = [unit for unit in matrix.units if unit not in conditions]
    if unknown:
        raise MatrixError(f"Unit {unknown[0]} has no condition: give one for every unit.")
    return [conditions[unit] for unit in matrix.units]


def exact(value: float) -> Fraction:
    """Return the fraction that a score was meant as: .1 is 1/10."""
    return Fraction(repr(float(value)))
