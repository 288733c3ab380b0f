"""Intervals: dilemmas (clusters) are resampled, not responses; the judges are fixed.

Draws are seeded per fixed block of 500 with raw PCG64 words, so that they are the same for ever,
whatever the number of workers, and the same for all criteria and coefficients. Efron & Tibshirani
1993 (An Introduction to the Bootstrap, ch. 13) for the percentile; Hyndman & Fan 1996 (Am. Stat.
50, 361-365) for quantiles of type 7; Tukey's jackknife with t on K - 1 degrees of freedom.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.coefficients import Estimates
from ratings.agreement.results import Interval

Array = NDArray[np.float64]

BLOCK = 500


def draw_weights(clusters: int, *, draws: int, seed: int) -> Iterator[Array]:
    """Yield blocks of how often each draw holds each cluster, shape (<= 500, clusters).

    >>> [block.sum(axis=1).tolist() for block in draw_weights(4, draws=3, seed=1)]
    [[4.0, 4.0, 4.0]]
    """
    for block in blocks(draws=draws, seed=seed):
        yield block.weights(clusters)


@dataclass(frozen=True)
class Block:
    """Up to 500 draws, which depend on their own seed alone."""

    seed: np.random.SeedSequence
    rows: int

    def weights(self, clusters: int) -> Array:
        """Return how often each draw holds each cluster, shape (rows, clusters).

        Each draw holds `clusters` clusters, drawn with replacement. An index is the upper
        half of a 32-bit number times the number of clusters: its bias is below clusters / 2**32.
        """
        size = self.rows * clusters
        words = np.random.PCG64(self.seed).random_raw((size + 1) // 2)
        # The lower half of each word comes first, on any machine.
        halves = words.astype("<u8", copy=False).view("<u4")[:size].astype(np.uint64)
        chosen = (halves * np.uint64(clusters)) >> np.uint64(32)
        flat = chosen.astype(np.int64).reshape(self.rows, clusters)
        flat += np.arange(self.rows)[:, np.newaxis] * clusters
        counts = np.bincount(flat.ravel(), minlength=size)
        return np.asarray(counts.reshape(self.rows, clusters).astype(np.float64))


def blocks(*, draws: int, seed: int) -> list[Block]:
    """Return the blocks that make up so many draws; fewer draws are the first of more."""
    children = np.random.SeedSequence(seed).spawn(math.ceil(draws / BLOCK))
    return [
        Block(child, min(BLOCK, draws - number * BLOCK)) for number, child in enumerate(children)
    ]


def percentile_interval(values: Array) -> Interval | None:
    """Return the 2.5 % and 97.5 % points of the defined draws; None if there is none."""
    if not values.size:
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def lower_bound(values: Array, undefined: int) -> float | None:
    """Return the 5 % point of all draws, the undefined ones counted as the lowest.

    None if the point falls among the undefined.
    """
    n = len(values) + undefined
    if not n:
        return None
    place = (n - 1) * 0.05
    below = math.floor(place)
    if below < undefined:
        return None
    ordered = np.sort(values)
    low = float(ordered[below - undefined])
    high = float(ordered[min(below - undefined + 1, len(ordered) - 1)])
    return low + (high - low) * (place - below)


def jackknife_interval(estimate: float, replicates: Estimates) -> Interval | None:
    """Return the two-sided 95 % interval from leaving out each cluster in turn.

    None with fewer than two clusters, or if the coefficient is undefined without one of them.
    """
    clusters = len(replicates.values)
    if clusters < 2 or not replicates.defined.all():
        return None
    return _around(estimate, replicates.values * (clusters - 1), clusters)


def jackknife_bound(estimate: float, replicates: Estimates) -> float | None:
    """Return the one-sided 95 % lower bound from the same replicates, with the same t."""
    clusters = len(replicates.values)
    if clusters < 2 or not replicates.defined.all():
        return None
    error = _standard_error(replicates.values * (clusters - 1), clusters)
    return estimate - libraries.t_quantile(0.95, clusters - 1) * error


def mean_interval(differences: Array) -> Interval | None:
    """Return the t(K - 1) interval of a mean over clusters; None with fewer than two."""
    clusters = len(differences)
    if clusters < 2:
        return None
    # Leaving one out moves a mean by (mean - x) / (K - 1): the jackknife is the usual interval.
    return _around(float(differences.mean()), differences, clusters)


def _around(estimate: float, pseudo: Array, clusters: int) -> Interval:
    half = libraries.t_quantile(0.975, clusters - 1) * _standard_error(pseudo, clusters)
    return estimate - half, estimate + half


def _standard_error(pseudo: Array, clusters: int) -> float:
    squares = float(((pseudo - pseudo.mean()) ** 2).sum())
    return math.sqrt(squares / (clusters * (clusters - 1)))
