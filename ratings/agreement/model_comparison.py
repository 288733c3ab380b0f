"""People against a model on one criterion, beside people against people by the same statistics.

The model's scores are any real numbers, in repetitions. Continuous statistics take the mean of the
repetitions; kappa and alpha, which need levels, take each repetition singly and are then averaged,
because a mean of repetitions is another, steadier judge (named *ensemble* where it is shown). What
had to be put on a level is counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.alternative_annotator import row_means
from ratings.agreement.clustered import (
    Figure,
    averaged,
    coefficient,
    coefficient_over,
    jackknifed,
    mean_of,
    one_way,
    rank_correlation,
    undefined_ranks,
)
from ratings.agreement.coefficients import Drawn, Estimates, Weighting, Without
from ratings.agreement.limits import Limits, repeated
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.resampling import draw_weights, jackknife_interval, percentile_interval
from ratings.agreement.results import Interval
from ratings.agreement.sums import sum_table

Array = NDArray[np.float64]

KAPPA = "light_kappa_quadratic"  # of two raters: Cohen's
ALPHA = "krippendorff_alpha_ordinal"


@dataclass(frozen=True, eq=False)
class ModelScores:
    """A model judge's scores on one criterion.

    Attributes
    ----------
    values : ndarray, shape (units, repetitions)
        In the sequence of a matrix's units; NaN where there is none.
    """

    values: Array

    @classmethod
    def of(
        cls, matrix: RatingMatrix, repetitions: Mapping[int, Mapping[str, float | None]]
    ) -> "ModelScores":
        """Arrange {repetition: {unit: score}}; units that the matrix has not are left out.

        >>> matrix = RatingMatrix.from_long([("u1", "ann", 1), ("u2", "ann", 0)], scale=[0, 1])
        >>> ModelScores.of(matrix, {1: {"u2": 0.5}, 2: {"u2": 1, "u1": None}}).values
        array([[nan, nan],
               [0.5, 1. ]])
        """
        values = np.full((len(matrix.units), len(repetitions)), np.nan)
        for column, number in enumerate(sorted(repetitions)):
            scores = repetitions[number]
            for row, unit in enumerate(matrix.units):
                score = scores.get(unit)
                if score is not None:
                    values[row, column] = score
        return cls(values)

    @property
    def means(self) -> Array:
        """Each unit's mean over its repetitions, shape (units,); NaN without one."""
        return row_means(self.values)


@dataclass(frozen=True, kw_only=True)
class PairFigures:
    """Two judges, or a judge and the model, over the units that both scored.

    Attributes
    ----------
    n : int
    kappa_quadratic : float or None
        Mean over the model's repetitions; `kappa_undefined` says why there is none.
    spearman, kendall_tau_b : float or None
        `ranks_undefined` says why there are none.
    mean_absolute_error, bias : float or None
        Of second - first; None without a common unit.
    """

    n: int
    kappa_quadratic: float | None
    kappa_undefined: str | None
    spearman: float | None
    kendall_tau_b: float | None
    ranks_undefined: str | None
    mean_absolute_error: float | None
    bias: float | None


@dataclass(frozen=True, kw_only=True)
class AlphaChange:
    """Ordinal alpha without and with the model as one more rater, on the same units.

    Attributes
    ----------
    without, with_model : float or None
        The latter is the mean over the repetitions, each as one rater.
    difference : Figure
        With minus without.
    percentile95 : (float, float) or None
        Of the difference, over the draws in which both are defined.
    undefined_draws : int
    """

    without: float | None
    with_model: float | None
    difference: Figure
    percentile95: Interval | None
    undefined_draws: int

    def to_dict(self) -> dict[str, Any]:
        """Write the change for the report's JSON."""
        return asdict(self) | {
            "difference": self.difference.to_dict(),
            "percentile95": None if self.percentile95 is None else list(self.percentile95),
        }


@dataclass(frozen=True, kw_only=True)
class Consistency:
    """The model against itself over its repetitions.

    Attributes
    ----------
    icc_1_1, icc_1_k : Figure
        ICC(1,1) = ICC(1) and ICC(1,k) = ICC(k) in the notations of Shrout & Fleiss and of McGraw
        & Wong: of one repetition, and of the mean of as many as there are.
    alpha_interval : Figure
        Krippendorff's alpha, interval level: any real scores.
    """

    icc_1_1: Figure
    icc_1_k: Figure
    alpha_interval: Figure


@dataclass(frozen=True, kw_only=True)
class HumanModel:
    """Everything about one model judge on one criterion.

    Attributes
    ----------
    n_units, repetitions : int
        Units that the model and a judge scored; the model's repetitions.
    constant : bool
        Whether the model gave one value only: an agreement then says nothing.
    n_rounded, n_median_rounded : int
        Scores of single repetitions, and medians of the judges, that had to be put on a level.
    judges : mapping of rater to PairFigures
        Each judge (first) and the model (second).
    people : mapping of "r1|r2" to PairFigures
        Each two judges over the units that the model scored too.
    median_judge, median_judge_ensemble : Figure
        Quadratic kappa of the median of the judges with the model: repetitions singly, and their
        mean put on a level.
    spearman, kendall_tau_b, mean_absolute_error, bias : Figure
        Of the mean of the judges and the mean of the repetitions; bias is model - people.
    limits : Limits or None
        Bland and Altman's, for repeated measures where the true value varies, of the same
        differences, by dilemma; None if they cannot be had.
    alpha : AlphaChange
    consistency : Consistency
    """

    n_units: int
    repetitions: int
    constant: bool
    n_rounded: int
    n_median_rounded: int
    judges: Mapping[str, PairFigures]
    people: Mapping[str, PairFigures]
    median_judge: Figure
    median_judge_ensemble: Figure
    spearman: Figure
    kendall_tau_b: Figure
    mean_absolute_error: Figure
    bias: Figure
    limits: Limits | None
    alpha: AlphaChange
    consistency: Consistency

    def to_dict(self) -> dict[str, Any]:
        """Write the comparison for the report's JSON."""
        figures = (
            "median_judge",
            "median_judge_ensemble",
            "spearman",
            "kendall_tau_b",
            "mean_absolute_error",
            "bias",
        )
        document = {
            key: getattr(self, key)
            for key in ("n_units", "repetitions", "constant", "n_rounded", "n_median_rounded")
        }
        document |= {key: getattr(self, key).to_dict() for key in figures}
        return document | {
            "judges": {key: asdict(one) for key, one in self.judges.items()},
            "people": {key: asdict(one) for key, one in self.people.items()},
            "limits": None if self.limits is None else self.limits.to_dict(),
            "alpha": self.alpha.to_dict(),
            "consistency": {
                key: getattr(self.consistency, key).to_dict()
                for key in ("icc_1_1", "icc_1_k", "alpha_interval")
            },
        }


def human_against_model(
    matrix: RatingMatrix, scores: ModelScores, *, draws: int, seed: int
) -> HumanModel:
    """Compare the judges with the model over the units that both scored.

    Sources: Cohen 1968, Psychol. Bull. 70, 213-220 (weighted kappa); Kendall 1945, Biometrika 33,
    239-251 (tau-b); Bland & Altman 2007, J. Biopharm. Stat. 17, 571-582. Intervals are the cluster
    jackknife, t(K - 1); the change of alpha has the cluster percentile beside it.
    """
    common = np.logical_and(matrix.present.any(axis=1), ~np.isnan(scores.values).all(axis=1))
    people, model = _only(matrix, common), scores.values[common]
    singles, rounded = to_levels(model, people.scale)
    human, machine = row_means(people.values), row_means(model)
    median, median_rounded = to_levels(_medians(people.values), people.scale)
    ensemble, _ = to_levels(machine, people.scale)
    apart = machine - human
    labels = people.clusters
    used = model[~np.isnan(model)]
    return HumanModel(
        n_units=len(people.units),
        repetitions=model.shape[1],
        constant=bool(used.size) and bool((used == used[0]).all()),
        n_rounded=rounded,
        n_median_rounded=median_rounded,
        judges={
            rater: _pair(people, people.values[:, column], machine, singles)
            for column, rater in enumerate(people.raters)
        },
        people={
            f"{people.raters[a]}|{people.raters[b]}": _pair(
                people, people.values[:, a], people.values[:, b], people.values[:, b : b + 1]
            )
            for a, b in combinations(range(len(people.raters)), 2)
        },
        median_judge=_kappa(people, median, singles),
        median_judge_ensemble=_kappa(people, median, ensemble[:, np.newaxis]),
        spearman=rank_correlation(human, machine, labels, libraries.spearman),
        kendall_tau_b=rank_correlation(human, machine, labels, libraries.kendall_tau_b),
        mean_absolute_error=mean_of(np.abs(apart), labels),
        bias=mean_of(apart, labels),
        limits=repeated(apart, labels),
        alpha=alpha_change(people, singles, draws=draws, seed=seed),
        consistency=consistency(model, labels),
    )


def to_levels(values: Array, scale: Sequence[float]) -> tuple[Array, int]:
    """Put scores on the nearest level, and return how many had to move.

    A score halfway between two levels goes to the one of even rank from the bottom (the first,
    the third, ...), so that halves do not all go one way; NaN stays.

    >>> to_levels(np.array([0.5, 1.5, 2.0, 3.7, np.nan]), [0, 1, 2, 3])
    (array([ 0.,  2.,  2.,  3., nan]), 3)
    """
    levels = np.asarray(scale, dtype=np.float64)
    above = np.clip(np.searchsorted(levels, values), 1, len(levels) - 1)
    low, high = levels[above - 1], levels[above]
    down, up = values - low, high - values
    halfway = np.abs(down - up) <= 1e-12 * (high - low)
    lower = np.where(halfway, (above - 1) % 2 == 0, down < up)
    put = np.where(np.isnan(values), np.nan, np.where(lower, low, high))
    return put, int((put[~np.isnan(values)] != values[~np.isnan(values)]).sum())


def alpha_change(people: RatingMatrix, singles: Array, *, draws: int, seed: int) -> AlphaChange:
    """Return ordinal alpha with and without the model, and the interval of the difference.

    Parameters
    ----------
    people : RatingMatrix
    singles : ndarray, shape (units, repetitions)
        The model's repetitions on the scale's levels. Each makes one more rater; the alphas are
        averaged over repetitions, and undefined if one of them is.
    """
    with_model = [_joined(people, column) for column in singles.T]
    alone, joined = coefficient(people, ALPHA), coefficient_over(with_model, ALPHA)
    figure = partial(Figure, n=joined.n, n_clusters=joined.n_clusters)
    known = AlphaChange(
        without=alone.estimate,
        with_model=joined.estimate,
        difference=figure(estimate=None, undefined=alone.undefined or joined.undefined),
        percentile95=None,
        undefined_draws=0,
    )
    if alone.estimate is None or joined.estimate is None:
        return known
    clusters = sorted(set(people.clusters))
    before = [sum_table(people, clusters)]
    after = [sum_table(one, clusters) for one in with_model]

    def change(weighting: Weighting) -> Estimates:
        first, second = averaged(before, ALPHA, weighting), averaged(after, ALPHA, weighting)
        codes = np.where(first.defined, second.codes, first.codes)
        return Estimates(second.values - first.values, codes)

    estimate = joined.estimate - alone.estimate
    interval = jackknife_interval(estimate, change(Without(0, len(clusters))))
    drawn = [change(Drawn(rows)) for rows in draw_weights(len(clusters), draws=draws, seed=seed)]
    values = [one.values[one.defined] for one in drawn]
    return replace(
        known,
        difference=figure(estimate=estimate, ci95=interval),
        percentile95=percentile_interval(np.concatenate(values)) if values else None,
        undefined_draws=sum(int((~one.defined).sum()) for one in drawn),
    )


def consistency(values: Array, clusters: Sequence[str]) -> Consistency:
    """Return the model's agreement with itself over units with two repetitions or more.

    Parameters
    ----------
    values : ndarray, shape (units, repetitions)
    clusters : sequence of str, length units

    Notes
    -----
    ICC by the one-way analysis of variance: Shrout & Fleiss 1979, Psychol. Bull. 86, 420-428, case
    1; with gaps the size of a group is m0 (`clustered.one_way`). Repetitions are exchangeable, so
    no other form applies. Undefined (``too_few_pairs``) with fewer than two units or one
    repetition, (``no_variation``) if every score is the same.
    """
    twice = (~np.isnan(values)).sum(axis=1) >= 2
    rows, labels = values[twice], [clusters[row] for row in np.flatnonzero(twice).tolist()]
    if not len(rows):
        nothing = Figure(estimate=None, undefined="too_few_pairs")
        return Consistency(icc_1_1=nothing, icc_1_k=nothing, alpha_interval=nothing)
    scale = tuple(sorted({float(x) for x in rows[~np.isnan(rows)]}))
    names = tuple(str(column) for column in range(rows.shape[1]))
    units = tuple(str(row) for row in range(len(rows)))
    table = RatingMatrix(rows, scale, names, units, tuple(labels))
    return Consistency(
        icc_1_1=_icc_figure(rows, labels, of_mean=False),
        icc_1_k=_icc_figure(rows, labels, of_mean=True),
        alpha_interval=coefficient(table, "krippendorff_alpha_interval"),
    )


def _icc_figure(rows: Array, labels: Sequence[str], *, of_mean: bool) -> Figure:
    figure = partial(Figure, n=len(rows), n_clusters=len(set(labels)))
    estimate, interval = jackknifed(lambda chosen: _icc(rows[chosen], of_mean), labels)
    if estimate is None:
        reason = "too_few_pairs" if len(rows) < 2 else "no_variation"
        return figure(estimate=None, undefined=reason)
    return figure(estimate=estimate, ci95=interval)


def _icc(rows: Array, of_mean: bool) -> float | None:
    there = ~np.isnan(rows)
    found = one_way(rows[there], np.nonzero(there)[0].tolist())
    if found is None:
        return None
    above = found.ms_between - found.ms_within
    below = found.ms_between if of_mean else found.ms_between + (found.m0 - 1) * found.ms_within
    return above / below if below > 0 else None


def _pair(people: RatingMatrix, first: Array, second: Array, singles: Array) -> PairFigures:
    both = ~np.isnan(first) & ~np.isnan(second)
    one, other = first[both], second[both]
    kappa = _kappa(people, first, singles)
    reason = undefined_ranks(one, other)
    apart = other - one
    n = int(both.sum())
    return PairFigures(
        n=n,
        kappa_quadratic=kappa.estimate,
        kappa_undefined=kappa.undefined,
        spearman=None if reason else libraries.spearman(one, other),
        kendall_tau_b=None if reason else libraries.kendall_tau_b(one, other),
        ranks_undefined=reason,
        mean_absolute_error=float(np.abs(apart).mean()) if n else None,
        bias=float(apart.mean()) if n else None,
    )


def _kappa(people: RatingMatrix, first: Array, singles: Array) -> Figure:
    """Return quadratic kappa of levels with each repetition's, averaged; undefined if one is."""
    tables = [
        replace(people, values=np.column_stack([first, column]), raters=("1", "2"))
        for column in singles.T
    ]
    return coefficient_over(tables, KAPPA)


def _only(matrix: RatingMatrix, chosen: NDArray[np.bool_]) -> RatingMatrix:
    rows = np.flatnonzero(chosen)
    return RatingMatrix(
        matrix.values[rows],
        matrix.scale,
        matrix.raters,
        tuple(matrix.units[row] for row in rows),
        tuple(matrix.clusters[row] for row in rows),
    )


def _joined(people: RatingMatrix, column: Array) -> RatingMatrix:
    values = np.column_stack([people.values, column])
    return replace(people, values=values, raters=(*people.raters, "the model"))


def _medians(values: Array) -> Array:
    there = ~np.isnan(values)
    found = np.full(len(values), np.nan)
    rated = there.any(axis=1)
    found[rated] = np.nanmedian(values[rated], axis=1)
    return found
