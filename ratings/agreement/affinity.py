"""Does a model judge favour what was written to its rubric? The contrast of contrasts.

If only condition E was improved with the rubric, then (E - D) as the model judge scores it, minus
(E - D) as the panel does, is what the model gives for the rubric beyond what people see; (D - A)
is the negative control. The judges use the rubric too: without a question asked before it, this
tests how the model *applies* the rubric, not the rubric.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.alternative_annotator import row_means
from ratings.agreement.clustered import Figure, around, numbered, one_way
from ratings.agreement.contrasts import Conditions, cluster_differences, condition_labels
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.resampling import draw_weights, mean_interval, percentile_interval
from ratings.agreement.results import Interval

Array = NDArray[np.float64]

POWER = 0.8


@dataclass(frozen=True, kw_only=True)
class Affinity:
    """One contrast of conditions, by the model and by the panel.

    Attributes
    ----------
    model, panel : float or None
        The contrast on either side, as a share of the maximum, over the same clusters.
    difference : Figure
        Model minus panel: mean over clusters, t(K - 1).
    percentile95 : (float, float) or None
        Cluster percentile bootstrap of the difference.
    model_sd, panel_sd : float or None
        Standard deviation of the responses' scores within a dilemma, pooled over dilemmas.
    standardised : Figure
        model / model_sd - panel / panel_sd, cluster jackknife.
    shown : bool or None
        Whether the interval excludes zero. False reads "not shown", never "none".
    least_detectable : float or None
        The difference that such an interval would exclude zero for in 80 % of studies of this
        size and spread.
    """

    minuend: Any
    subtrahend: Any
    model: float | None
    panel: float | None
    difference: Figure
    percentile95: Interval | None
    model_sd: float | None
    panel_sd: float | None
    standardised: Figure
    shown: bool | None
    least_detectable: float | None

    def to_dict(self) -> dict[str, Any]:
        """Write the contrast for the report's JSON."""
        return {
            "minuend": self.minuend,
            "subtrahend": self.subtrahend,
            "model": self.model,
            "panel": self.panel,
            "difference": self.difference.to_dict(),
            "percentile95": None if self.percentile95 is None else list(self.percentile95),
            "model_sd": self.model_sd,
            "panel_sd": self.panel_sd,
            "standardised": self.standardised.to_dict(),
            "shown": self.shown,
            "least_detectable": self.least_detectable,
        }


def model_totals(
    total: RatingMatrix, repetitions: Mapping[str, Mapping[int, Mapping[str, float | None]]]
) -> Array:
    """Return the model's totals, shape (units of `total`, repetitions); NaN where one lacks.

    `repetitions` maps each criterion to {repetition: {unit: score}}; a total needs every one of
    the criteria given.
    """
    numbers = sorted({number for scores in repetitions.values() for number in scores})
    values = np.zeros((len(total.units), len(numbers)))
    for by_repetition in repetitions.values():
        for column, number in enumerate(numbers):
            scores = by_repetition.get(number, {})
            for row, unit in enumerate(total.units):
                score = scores.get(unit)
                values[row, column] += math.nan if score is None else score
    return values


def affinities(
    total: RatingMatrix,
    model: Array,
    conditions: Conditions,
    pairs: Sequence[tuple[Any, Any]],
    *,
    maximum: float,
    draws: int,
    seed: int,
) -> list[Affinity]:
    """Compare how the model and the panel see each registered contrast, first minus second.

    Parameters
    ----------
    total : RatingMatrix
        The judges' totals over all criteria.
    model : ndarray, shape (units, repetitions)
        The model's totals in the sequence of the units, any real numbers, NaN where there is none.
        Repetitions are averaged.
    conditions : mapping of unit to condition
    pairs : sequence of (minuend, subtrahend)
    maximum : float
        Of a total: differences are shares of it.

    Notes
    -----
    Within a dilemma the panel's difference is over judges who rated both conditions (see
    `contrasts`), the model's over responses that the panel rated. A dilemma counts where both
    sides have a difference. Raises `MatrixError` for a unit without a condition.
    """
    labels = condition_labels(total, conditions)
    scores = np.where(total.present.any(axis=1), row_means(model), np.nan) / maximum
    panel_units = row_means(total.values) / maximum
    by_panel = cluster_differences(total, conditions, pairs)
    cluster, clusters = numbered(total.clusters)
    judged = ~np.isnan(scores)
    found = []
    for (first, second), differences in zip(pairs, by_panel, strict=True):
        of_model = _means(scores, labels, first, cluster, clusters) - _means(
            scores, labels, second, cluster, clusters
        )
        of_panel = np.array([math.nan if d is None else float(d) / maximum for d in differences])
        usable = np.flatnonzero(~np.isnan(of_model) & ~np.isnan(of_panel))
        sides = _Sides(
            model=of_model[usable],
            panel=of_panel[usable],
            model_units=scores[judged],
            panel_units=panel_units[judged],
            cluster=cluster[judged],
            number=usable,
        )
        found.append(_affinity(first, second, sides, clusters, draws=draws, seed=seed))
    return found


@dataclass(frozen=True, eq=False)
class _Sides:
    """Differences by cluster, shape (used clusters,), and scores by unit, shape (units,)."""

    model: Array
    panel: Array
    model_units: Array
    panel_units: Array
    cluster: NDArray[np.int64]  # of each unit
    number: NDArray[np.int64]  # of each used cluster

    def standardised(self, without: int | None = None) -> float | None:
        """Return the difference in units of each side's spread, without one cluster if named."""
        kept = self.number != without
        model_sd, panel_sd = (
            _spread(units, self.cluster, without) for units in (self.model_units, self.panel_units)
        )
        if not kept.any() or not model_sd or not panel_sd:
            return None
        return float(self.model[kept].mean() / model_sd - self.panel[kept].mean() / panel_sd)


def _affinity(
    first: Any, second: Any, sides: _Sides, clusters: int, *, draws: int, seed: int
) -> Affinity:
    apart = sides.model - sides.panel
    k = len(apart)
    figure = partial(Figure, n=k, n_clusters=k)
    spreads = [_spread(units, sides.cluster) for units in (sides.model_units, sides.panel_units)]
    if not k:
        nothing = figure(estimate=None, undefined="no_overlap")
        return Affinity(
            minuend=first,
            subtrahend=second,
            model=None,
            panel=None,
            difference=nothing,
            percentile95=None,
            model_sd=spreads[0],
            panel_sd=spreads[1],
            standardised=nothing,
            shown=None,
            least_detectable=None,
        )
    interval = mean_interval(apart)
    scaled = sides.standardised()
    standardised = figure(estimate=None, undefined="no_variation")
    if scaled is not None:
        left = [sides.standardised(int(one)) for one in sides.number]
        standardised = figure(estimate=scaled, ci95=around(scaled, left))
    return Affinity(
        minuend=first,
        subtrahend=second,
        model=float(sides.model.mean()),
        panel=float(sides.panel.mean()),
        difference=figure(estimate=float(apart.mean()), ci95=interval),
        percentile95=_percentile(apart, draws=draws, seed=seed),
        model_sd=spreads[0],
        panel_sd=spreads[1],
        standardised=standardised,
        shown=None if interval is None else not interval[0] <= 0 <= interval[1],
        least_detectable=None if k < 2 else least_detectable(float(apart.std(ddof=1)), k),
    )


def least_detectable(sd: float, clusters: int, *, power: float = POWER) -> float:
    """Return the mean difference that a two-sided t test at .05 finds with this power.

    (t_.975 + t_power) sd / sqrt(K) with K - 1 degrees of freedom: the usual approximation to the
    noncentral t (Cohen 1988, Statistical Power Analysis, ch. 2). `clusters` is two or more.

    >>> round(least_detectable(0.1125, 30), 3)
    0.06
    """
    quantiles = sum(libraries.t_quantile(p, clusters - 1) for p in (0.975, power))
    return quantiles * sd / math.sqrt(clusters)


def _means(
    scores: Array,
    labels: Sequence[Hashable],
    condition: Hashable,
    cluster: NDArray[np.int64],
    clusters: int,
) -> Array:
    """Return each cluster's mean over the responses of one condition; NaN without one."""
    chosen = np.array([label == condition for label in labels], dtype=bool) & ~np.isnan(scores)
    sums = np.bincount(cluster[chosen], weights=scores[chosen], minlength=clusters)
    counts = np.bincount(cluster[chosen], minlength=clusters)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _spread(units: Array, cluster: NDArray[np.int64], without: int | None = None) -> float | None:
    kept = cluster != (-1 if without is None else without)
    found = one_way(units[kept], cluster[kept])
    return None if found is None else math.sqrt(found.within)


def _percentile(apart: Array, *, draws: int, seed: int) -> Interval | None:
    k = len(apart)
    if k < 2:
        return None
    blocks = [weights @ apart / k for weights in draw_weights(k, draws=draws, seed=seed)]
    return percentile_interval(np.concatenate(blocks)) if blocks else None
