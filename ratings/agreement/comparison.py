"""Conditions against each other, groups of judges, and people against a model."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.analyse import point_estimates
from ratings.agreement.coefficients import Weighted, cohen, everything, pair_totals
from ratings.agreement.matrix import MatrixError, RatingMatrix
from ratings.agreement.resampling import draw_weights, mean_interval, percentile_interval
from ratings.agreement.results import Interval
from ratings.agreement.sums import sum_table

Array = NDArray[np.float64]
Conditions = Mapping[str, Hashable]  # unit -> condition


def condition_means(
    matrices: Mapping[str, RatingMatrix], conditions: Conditions
) -> dict[Any, dict[str, dict[str, Any]]]:
    """Return {condition: {criterion: {"mean", "n_units", "n_ratings"}}}.

    The mean is over responses of the mean over their judges, so that a response read by fewer
    judges weighs as much; None where nothing was rated.
    """
    table: dict[Any, dict[str, dict[str, Any]]] = {}
    for criterion, matrix in matrices.items():
        labels = _labels(matrix, conditions)
        for condition in sorted(set(labels), key=str):
            chosen = np.array([label == condition for label in labels])
            values, present = matrix.values[chosen], matrix.present[chosen]
            rated = present.any(axis=1)
            means = np.nansum(values[rated], axis=1) / present[rated].sum(axis=1)
            table.setdefault(condition, {})[criterion] = {
                "mean": float(means.mean()) if means.size else None,
                "n_units": int(rated.sum()),
                "n_ratings": int(present.sum()),
            }
    return table


def rater_means(matrices: Mapping[str, RatingMatrix]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return {rater: {criterion: {"mean", "n_ratings"}}}; None where nothing was rated."""
    table: dict[str, dict[str, dict[str, Any]]] = {}
    for criterion, matrix in matrices.items():
        for column, rater in enumerate(matrix.raters):
            scores = matrix.values[matrix.present[:, column], column]
            table.setdefault(rater, {})[criterion] = {
                "mean": float(scores.mean()) if scores.size else None,
                "n_ratings": int(scores.size),
            }
    return table


def total_matrix(matrices: Mapping[str, RatingMatrix]) -> RatingMatrix:
    """Return the sum of the criteria; a judge's total of a unit needs all of them.

    Its scale is every sum that the levels allow, so its largest level is the maximum that a
    share of the maximum divides by.
    """
    parts = list(matrices.values())
    if not parts:
        raise MatrixError("There is no criterion to add up.")
    units = sorted({unit for part in parts for unit in part.units})
    raters = sorted({rater for part in parts for rater in part.raters})
    clusters = {u: c for part in parts for u, c in zip(part.units, part.clusters, strict=True)}
    total = np.zeros((len(units), len(raters)))
    for part in parts:
        aligned = np.full_like(total, np.nan)
        rows = np.searchsorted(units, part.units)
        columns = np.searchsorted(raters, part.raters)
        aligned[np.ix_(rows, columns)] = part.values
        total += aligned
    sums = {Fraction(0)}
    for part in parts:
        sums = {so_far + _exact(level) for so_far in sums for level in part.scale}
    scale = tuple(sorted(float(value) for value in sums))
    labels = tuple(clusters[unit] for unit in units)
    return RatingMatrix(total, scale, tuple(raters), tuple(units), labels)


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
) -> list[Contrast]:
    """Compare the registered pairs of conditions, first minus second.

    Within a cluster only judges who rated both conditions there count, each by his own mean of
    either, else severity would leak into the difference. `maximum` turns scores into shares.

    The interval is over clusters (Tukey; see `resampling`), the test is the exact sign test and
    Holm 1979 (Scand. J. Stat. 6, 65-70) corrects the tests given together.
    """
    clusters = sorted(set(matrix.clusters))
    scores = _by_cell(matrix, conditions)
    differences = [
        [_difference(scores, cluster, first, second) for cluster in clusters]
        for first, second in pairs
    ]
    means = _bootstrap_means(differences, len(clusters), draws=draws, seed=seed)
    found = [
        _contrast(pair, different, drawn, maximum)
        for pair, different, drawn in zip(pairs, differences, means, strict=True)
    ]
    adjusted = iter(holm([one.p_sign for one in found if one.p_sign is not None]))
    return [
        Contrast(**(one.__dict__ | {"p_holm": None if one.p_sign is None else next(adjusted)}))
        for one in found
    ]


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


@dataclass(frozen=True, kw_only=True)
class ModelComparison:
    """A model judge against the mean of the human judges, over responses that both judged.

    Attributes
    ----------
    spearman : float or None
        Rank correlation; None if undefined, with the reason in `undefined`.
    mean_difference, mean_absolute_error : float or None
        Of model - people; None without a common response.
    n_units : int
    """

    spearman: float | None
    undefined: str | None
    mean_difference: float | None
    mean_absolute_error: float | None
    n_units: int

    def to_dict(self) -> dict[str, Any]:
        """Write the comparison for the report's JSON."""
        return asdict(self)


def compare_with_model(
    matrix: RatingMatrix, model: Mapping[str, Sequence[float | None]]
) -> ModelComparison:
    """Compare per response the mean of the judges with the mean of the model's repetitions.

    `model` maps a unit to the scores of its repetitions, missing ones None; any real numbers.
    Spearman's rho needs two responses (``too_few_pairs``) and is undefined if either side is
    constant (``constant_rater``).
    """
    human, machine = [], []
    for row, unit in enumerate(matrix.units):
        scores = [float(s) for s in model.get(unit, ()) if s is not None and not math.isnan(s)]
        present = matrix.present[row]
        if scores and present.any():
            human.append(_mean(matrix.values[row, present].tolist()))
            machine.append(_mean(scores))
    if not human:
        return ModelComparison(
            spearman=None,
            undefined="no_overlap",
            mean_difference=None,
            mean_absolute_error=None,
            n_units=0,
        )
    people, judge = np.array(human), np.array(machine)
    undefined = None
    if len(people) < 2:
        undefined = "too_few_pairs"
    elif (people == people[0]).all() or (judge == judge[0]).all():
        undefined = "constant_rater"
    return ModelComparison(
        spearman=None if undefined else libraries.spearman(people, judge),
        undefined=undefined,
        mean_difference=float((judge - people).mean()),
        mean_absolute_error=float(np.abs(judge - people).mean()),
        n_units=len(people),
    )


def group_agreement(matrix: RatingMatrix, groups: Mapping[str, str]) -> dict[str, Any]:
    """Compare agreement within and between groups of judges, e.g. professions.

    Returns ``{"within": {GROUP: {"krippendorff_alpha_ordinal", "n_raters"}}, "between":
    {"G1|G2": {"cohen_kappa_quadratic", "n_pairs", "n_undefined"}}}``: ordinal alpha in each
    group of two judges or more; between groups the mean quadratic kappa of the defined pairs
    with one judge of each, and how many are not defined. Judges who rated nothing or have no
    group are left out.
    """
    table = sum_table(matrix, sorted(set(matrix.clusters)))
    members: dict[str, list[str]] = {}
    for rater in table.raters:
        if rater in groups:
            members.setdefault(groups[rater], []).append(rater)
    key = "krippendorff_alpha_ordinal"
    within = {
        group: {"n_raters": len(raters)} | point_estimates(matrix.only_raters(raters), [key])
        for group, raters in sorted(members.items())
        if len(raters) >= 2
    }
    kappas: dict[frozenset[str], float | None] = {}
    for start, totals in pair_totals(Weighted.of(table, everything)):
        found = cohen(totals, table.levels, "quadratic")
        for place, value in enumerate(found.values[0]):
            pair = frozenset(table.raters[i] for i in table.pairs[start + place])
            kappas[pair] = float(value) if found.defined[0, place] else None
    between = {}
    for one, other in combinations(sorted(members), 2):
        values = [kappas[frozenset((a, b))] for a in members[one] for b in members[other]]
        defined = [value for value in values if value is not None]
        between[f"{one}|{other}"] = {
            "cohen_kappa_quadratic": _mean(defined) if defined else None,
            "n_pairs": len(defined),
            "n_undefined": len(values) - len(defined),
        }
    return {"within": within, "between": between}


Scores = dict[tuple[str, Hashable], dict[str, list[Fraction]]]  # (cluster, condition) -> rater


def _by_cell(matrix: RatingMatrix, conditions: Conditions) -> Scores:
    exact = {level: _exact(level) for level in np.unique(matrix.values[matrix.present]).tolist()}
    cells: Scores = {}
    labels = _labels(matrix, conditions)
    for row, column in np.argwhere(matrix.present).tolist():
        cell = cells.setdefault((matrix.clusters[row], labels[row]), {})
        score = exact[float(matrix.values[row, column])]
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
    values = np.array([[float(one or 0) for one in row] for row in differences])
    sums, counts = [], []
    for weights in draw_weights(clusters, draws=draws, seed=seed):
        sums.append(weights @ values.T)
        counts.append(weights @ usable.T)
    if not sums:
        return [np.zeros(0) for _ in differences]
    total, count = np.concatenate(sums), np.concatenate(counts)
    return [total[count[:, i] > 0, i] / count[count[:, i] > 0, i] for i in range(len(differences))]


def _contrast(
    pair: tuple[Any, Any],
    differences: Sequence[Fraction | None],
    drawn: Array,
    maximum: float,
) -> Contrast:
    defined = [one for one in differences if one is not None]
    n_for = sum(one > 0 for one in defined)
    n_against = sum(one < 0 for one in defined)
    shares = np.array([float(one / _exact(maximum)) for one in defined])
    estimate = (
        float(sum(defined, Fraction(0)) / len(defined) / _exact(maximum)) if defined else None
    )
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


def _labels(matrix: RatingMatrix, conditions: Conditions) -> list[Hashable]:
    unknown = [unit for unit in matrix.units if unit not in conditions]
    if unknown:
        raise MatrixError(f"Unit {unknown[0]} has no condition: give one for every unit.")
    return [conditions[unit] for unit in matrix.units]


def _exact(value: float) -> Fraction:
    return Fraction(repr(float(value)))


def _mean(values: Sequence[float]) -> float:
    """Return the correctly rounded mean, so that ties do not depend on the sequence."""
    return math.fsum(values) / len(values)
