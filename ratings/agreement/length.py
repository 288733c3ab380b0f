"""Is length rewarded? Scores against the number of words, for judges and for a model."""

from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.clustered import Figure, jackknifed, numbered, undefined_ranks

Array = NDArray[np.float64]

_DIGITS = 9  # residuals equal to so many decimals tie


def length_association(
    scores: Array,
    words: Array,
    conditions: Sequence[Hashable],
    clusters: Sequence[Hashable],
) -> Figure:
    """Return Spearman's correlation of score and log words beyond condition and dilemma.

    Parameters
    ----------
    scores : ndarray, shape (units,)
        NaN where there is none.
    words : ndarray, shape (units,)
        Number of words of the text that was judged; NaN or below 1 where it is not known.
    conditions, clusters : sequence of hashable, length units

    Returns
    -------
    Figure
        The rank correlation of the residuals of both after a two-way additive model, condition +
        dilemma, fitted by least squares to the units used; so it is not that a condition writes
        longer and better. Undefined (``constant_rater``) if either leaves no residual,
        (``too_few_pairs``) with fewer than two units, (``no_overlap``) without any. Interval:
        cluster jackknife, t(K - 1), everything fitted again without each dilemma.

    Notes
    -----
    Residuals first, ranks after: ranks of the raw scores are not additive in condition and
    dilemma. Spearman 1904, Am. J. Psychol. 15, 72-101.
    """
    usable = ~np.isnan(scores) & ~np.isnan(words) & (np.nan_to_num(words) >= 1)
    rows = np.flatnonzero(usable).tolist()
    y, x = scores[usable], np.log(words[usable])
    condition, dilemma = [conditions[row] for row in rows], [clusters[row] for row in rows]
    figure = partial(Figure, n=len(rows), n_clusters=len(set(dilemma)))
    if len(rows) < 2:
        reason = "too_few_pairs" if rows else "no_overlap"
        return figure(estimate=None, undefined=reason)

    condition_of, _ = numbered(condition)
    dilemma_of, _ = numbered(dilemma)

    def over(chosen: NDArray[np.bool_]) -> float | None:
        residuals = residualised(
            np.column_stack([y[chosen], x[chosen]]), condition_of[chosen], dilemma_of[chosen]
        )
        first, second = residuals[:, 0], residuals[:, 1]
        return None if undefined_ranks(first, second) else libraries.spearman(first, second)

    estimate, interval = jackknifed(over, dilemma_of)
    if estimate is None:
        return figure(estimate=None, undefined="constant_rater")
    return figure(estimate=estimate, ci95=interval)


def residualised(
    columns: Array,
    conditions: Sequence[Hashable] | NDArray[np.int64],
    clusters: Sequence[Hashable] | NDArray[np.int64],
) -> Array:
    """Return what condition + cluster (least squares) leave of each column, to 9 decimals.

    Parameters
    ----------
    columns : ndarray, shape (units, p)

    Notes
    -----
    Clusters are taken out by their means first (Frisch & Waugh 1933, Econometrica 1, 387-401), so
    that many of them cost nothing. Rounding makes ties of what is equal but for rounding.

    >>> y = np.array([[1.0], [2.0], [4.0], [5.0]])
    >>> residualised(y, ["A", "B", "A", "B"], ["d1", "d1", "d2", "d2"]).tolist()
    [[0.0], [0.0], [0.0], [0.0]]
    """
    cluster, n_clusters = numbered(clusters)
    condition, n_conditions = numbered(conditions)
    dummies = (condition[:, np.newaxis] == np.arange(n_conditions)).astype(np.float64)
    within_dummies = _without_means(dummies, cluster, n_clusters)
    within = _without_means(columns, cluster, n_clusters)
    # Normal equations of as many unknowns as conditions: the columns are 0 and 1 less a mean, so
    # nothing is lost, and it costs a hundredth of a decomposition of all rows.
    fitted, *_ = np.linalg.lstsq(
        within_dummies.T @ within_dummies, within_dummies.T @ within, rcond=1e-10
    )
    return np.round(within - within_dummies @ fitted, _DIGITS) + 0.0


def _without_means(columns: Array, cluster: NDArray[np.int64], clusters: int) -> Array:
    counts = np.bincount(cluster, minlength=clusters)
    means = np.column_stack(
        [np.bincount(cluster, weights=column, minlength=clusters) / counts for column in columns.T]
    )
    return np.asarray(columns - means[cluster], dtype=np.float64)
