"""Figures over clusters that the engine's coefficients are not: means, trends, variance parts.

What belongs here takes plain arrays and one label per value. Clusters are dilemmas; intervals are
the cluster jackknife with t(K - 1), as everywhere in the package.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.coefficients import (
    COEFFICIENTS,
    NO_VARIATION,
    REASON_OF_CODE,
    Estimates,
    Weighted,
    Weighting,
    Without,
    everything,
)
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.resampling import jackknife_interval
from ratings.agreement.results import Interval, UndefinedReason
from ratings.agreement.sums import SumTable, sum_table

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure with its interval, or the reason why there is none.

    Attributes
    ----------
    estimate : float or None
        Unrounded; None if undefined.
    undefined : str or None
        The reason; see `results.Undefined`.
    ci95 : (float, float) or None
        Two-sided 95 % interval: cluster jackknife, t(K - 1). None with fewer than two clusters,
        or if the figure is undefined without one of them.
    n, n_clusters : int
        Units (or pairs of values) used, and the clusters they are in.
    """

    estimate: float | None
    undefined: str | None = None
    ci95: Interval | None = None
    n: int = 0
    n_clusters: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Write the figure for the report's JSON."""
        document = asdict(self)
        document["ci95"] = None if self.ci95 is None else list(self.ci95)
        return document


def numbered(labels: Sequence[Hashable] | Ints) -> tuple[Ints, int]:
    """Number labels from 0 in the order of their names; return the numbers and how many.

    Labels that are numbers in an array already are numbered in the order of the numbers, which
    costs next to nothing: for those who leave clusters out one by one.
    """
    if isinstance(labels, np.ndarray):
        found, numbers = np.unique(labels, return_inverse=True)
        return numbers.astype(np.int64), len(found)
    names = {label: number for number, label in enumerate(sorted(set(labels), key=str))}
    return np.array([names[label] for label in labels], dtype=np.int64), len(names)


def jackknifed(
    function: Callable[[NDArray[np.bool_]], float | None], labels: Sequence[Hashable] | Ints
) -> tuple[float | None, Interval | None]:
    """Return a figure over all values, and its interval from leaving each cluster out in turn.

    `function` gets a mask of the values to use, shape (values,), and returns None where the
    figure is undefined.
    """
    cluster, clusters = numbered(labels)
    estimate = function(np.ones(len(cluster), dtype=bool))
    if estimate is None:
        return None, None
    return estimate, around(estimate, [function(cluster != one) for one in range(clusters)])


def around(estimate: float, replicates: Sequence[float | None]) -> Interval | None:
    """Return the t(K - 1) interval from the replicates without each cluster."""
    values = np.array([one or 0.0 for one in replicates], dtype=np.float64)
    codes = np.array([NO_VARIATION if one is None else 0 for one in replicates], dtype=np.int8)
    return jackknife_interval(estimate, Estimates(values, codes))


def mean_of(values: Array, labels: Sequence[Hashable]) -> Figure:
    """Return the mean over values, each weighing the same, whatever the size of its cluster.

    Parameters
    ----------
    values : ndarray, shape (n,)
    labels : sequence of hashable, length n
        The clusters. The interval is the jackknife of the ratio of two sums.
    """
    if not len(values):
        return Figure(estimate=None, undefined="no_overlap")
    cluster, clusters = numbered(labels)
    sums = np.bincount(cluster, weights=values, minlength=clusters)
    counts = np.bincount(cluster, minlength=clusters).astype(np.float64)
    estimate = float(sums.sum() / counts.sum())
    rest = counts.sum() - counts
    left = (sums.sum() - sums) / np.maximum(rest, 1)
    replicates = [float(x) if n > 0 else None for x, n in zip(left, rest, strict=True)]
    return Figure(
        estimate=estimate, ci95=around(estimate, replicates), n=len(values), n_clusters=clusters
    )


def averaged(tables: Sequence[SumTable], key: str, weighting: Weighting) -> Estimates:
    """Return the mean over tables of one coefficient per draw; undefined where one of them is."""
    found = [COEFFICIENTS[key](Weighted.of(table, weighting)) for table in tables]
    values = np.asarray(sum(one.values for one in found) / len(found), dtype=np.float64)
    codes = found[0].codes
    for one in found[1:]:
        codes = np.where(codes == 0, one.codes, codes)
    return Estimates(np.where(codes == 0, values, 0.0), codes)


def coefficient(matrix: RatingMatrix, key: str) -> Figure:
    """Return one of the engine's coefficients with its jackknife interval, without any draw."""
    return coefficient_over([matrix], key)


def coefficient_over(matrices: Sequence[RatingMatrix], key: str) -> Figure:
    """Return the mean of a coefficient over tables of the same units, e.g. one per repetition.

    It is undefined if one of them is. `n` and `n_clusters` are of the table that has fewest.
    """
    if not matrices:
        return Figure(estimate=None, undefined="no_overlap")
    clusters = sorted(set(matrices[0].clusters))
    tables = [sum_table(matrix, clusters) for matrix in matrices]
    paired = [table.column("paired_units") for table in tables]
    fewest = min(paired, key=lambda one: float(one.sum()))
    figure = partial(Figure, n=int(fewest.sum()), n_clusters=int((fewest > 0).sum()))
    point = averaged(tables, key, everything)
    if not point.defined[0]:
        return figure(estimate=None, undefined=REASON_OF_CODE[int(point.codes[0])])
    estimate = float(point.values[0])
    active = np.logical_or.reduce([one > 0 for one in paired])
    without = averaged(tables, key, Without(0, len(clusters)))
    left = Estimates(without.values[active], without.codes[active])
    return figure(estimate=estimate, ci95=jackknife_interval(estimate, left))


@dataclass(frozen=True, kw_only=True)
class OneWay:
    """The one-way analysis of variance of values in groups, which may differ in size.

    Attributes
    ----------
    mean : float
        Of all values.
    ms_between, ms_within : float
        Mean squares.
    m0 : float
        The size of a group for the expectation of `ms_between`: (N^2 - sum m_i^2) / ((G - 1) N).
    between, within : float
        Variance components; `between` is cut at 0.
    n, groups : int
    """

    mean: float
    ms_between: float
    ms_within: float
    m0: float
    between: float
    within: float
    n: int
    groups: int


def one_way(values: Array, labels: Sequence[Hashable] | Ints) -> OneWay | None:
    """Analyse values by group; None with fewer than two groups or no group of two.

    Source: Searle, Casella & McCulloch 1992, Variance Components, ch. 3.6 (unbalanced, p. 71).

    >>> found = one_way(np.array([1.0, 3.0, 4.0, 6.0]), ["a", "a", "b", "b"])
    >>> found.ms_between, found.ms_within, found.m0, found.between
    (9.0, 2.0, 2.0, 3.5)
    """
    group, groups = numbered(labels)
    n = len(values)
    if groups < 2 or n <= groups:
        return None
    sizes = np.bincount(group, minlength=groups)
    means = np.bincount(group, weights=values, minlength=groups) / sizes
    mean = float(values.mean())
    ms_between = float((sizes * (means - mean) ** 2).sum() / (groups - 1))
    ms_within = float(((values - means[group]) ** 2).sum() / (n - groups))
    m0 = float((n * n - (sizes * sizes).sum()) / ((groups - 1) * n))
    return OneWay(
        mean=mean,
        ms_between=ms_between,
        ms_within=ms_within,
        m0=m0,
        between=max(0.0, (ms_between - ms_within) / m0),
        within=ms_within,
        n=n,
        groups=groups,
    )


def slope(
    scores: Array,
    along: Array,
    cells: Sequence[Hashable],
    labels: Sequence[Hashable],
    *,
    per: float,
) -> Figure:
    """Return the least-squares slope of scores within cells, with cluster-robust errors.

    Parameters
    ----------
    scores, along : ndarray, shape (n,)
        What rises, and along what (a position).
    cells : sequence of hashable, length n
        Each cell has its own level (a fixed effect), e.g. judge and condition.
    labels : sequence of hashable, length n
        Clusters: errors may be correlated within them.
    per : float
        The slope is given per so many units of `along`.

    Returns
    -------
    Figure
        Its interval is CR1 (as Stata's ``vce(cluster)``) with t(G - 1): Cameron & Miller 2015,
        J. Hum. Resour. 50, 317-372, eqs. 10-12. Undefined (``no_variation``) if scores or
        positions do not vary within a cell, (``too_few_pairs``) with fewer than three values
        more than cells.

    Notes
    -----
    With fewer than about 20 clusters such errors are too small; the report says so.
    """
    cell, n_cells = numbered(cells)
    cluster, clusters = numbered(labels)
    n = len(scores)
    figure = partial(Figure, n=n, n_clusters=clusters)
    if n < n_cells + 3:
        return figure(estimate=None, undefined="too_few_pairs")
    y, x = _within(scores, cell, n_cells), _within(along / per, cell, n_cells)
    if not _varies(y) or not _varies(x):
        return figure(estimate=None, undefined="no_variation")
    spread = float(x @ x)
    estimate = float(x @ y) / spread
    if clusters < 2:
        return figure(estimate=estimate)
    pushes = np.bincount(cluster, weights=x * (y - estimate * x), minlength=clusters)
    correction = clusters / (clusters - 1) * (n - 1) / (n - n_cells - 1)
    error = float(np.sqrt(correction * (pushes @ pushes))) / spread
    half = libraries.t_quantile(0.975, clusters - 1) * error
    return figure(estimate=estimate, ci95=(estimate - half, estimate + half))


def _within(values: Array, cell: Ints, cells: int) -> Array:
    means = np.bincount(cell, weights=values, minlength=cells) / np.bincount(cell, minlength=cells)
    return np.asarray(values - means[cell], dtype=np.float64)


def _varies(residuals: Array) -> bool:
    return bool(np.abs(residuals).max() > 1e-12)


def undefined_ranks(first: Array, second: Array) -> UndefinedReason | None:
    """Return why a rank correlation is undefined, or None if it is not."""
    if not len(first):
        return "no_overlap"
    if len(first) < 2:
        return "too_few_pairs"
    if (first == first[0]).all() or (second == second[0]).all():
        return "constant_rater"
    return None


def rank_correlation(
    first: Array, second: Array, labels: Sequence[Hashable], function: Callable[..., float]
) -> Figure:
    """Return Spearman's rho or Kendall's tau-b (by `function`) with its jackknife interval."""
    reason = undefined_ranks(first, second)
    figure = partial(Figure, n=len(first), n_clusters=len(set(labels)))
    if reason is not None:
        return figure(estimate=None, undefined=reason)

    def over(chosen: NDArray[np.bool_]) -> float | None:
        one, other = first[chosen], second[chosen]
        return None if undefined_ranks(one, other) else function(one, other)

    estimate, interval = jackknifed(over, labels)
    return figure(estimate=estimate, ci95=interval)
