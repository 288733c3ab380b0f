"""What adds up over clusters: every coefficient is a function of these sums.

A bootstrap draw is then a row of weights times a matrix. Shares with m_u or m_u - 1 in the
denominator are stored times a common multiple, as whole numbers, so that sums are exact in float64
in any sequence. Where that multiple would be too large, or the scale has no short fractions,
the sums are plain floats: right to rounding, no longer to the last bit.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.matrix import RatingMatrix

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST_MULTIPLE = 2**31
PAIR_SCALARS = ("n", "nominal", "linear", "quadratic")


@dataclass(frozen=True, eq=False)
class SumTable:
    """Sums per cluster of one criterion.

    Attributes
    ----------
    columns : ndarray, shape (clusters, p)
        All sums that do not belong to a pair of raters; `slices` names them:

        ``units`` rated, ``paired_units`` with two ratings or more, ``ratings`` in those,
        ``pairs`` of ratings; ``agree_nominal``, ``apart_linear``, ``apart_quadratic``: over
        paired units the mean over pairs of [x = y], |x - y|, (x - y)^2, times `pair_multiple`;
        ``shares``: per level the unit's share of ratings, times `share_multiple`; ``marginals``:
        per level the ratings in paired units; ``cells``: for two levels c < k the coincidences
        o_ck times `coincidence_multiple`.
    pair_columns : ndarray, shape (clusters, pairs, 4 + 2 * levels)
        For each pair of raters over the units both rated: their number, [x != y], |x - y|,
        (x - y)^2, and the two raters' marginals.
    levels : ndarray, shape (levels,)
        The observed levels, shifted and scaled to small whole numbers where the scale allows;
        kappas, and alpha at every level used here, do not change with it.
    lower, upper : ndarray
        The two levels of each column of ``cells``.
    """

    columns: Array
    slices: Mapping[str, slice]
    pair_columns: Array
    raters: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    levels: Array
    lower: Ints
    upper: Ints
    pair_multiple: int
    share_multiple: int
    coincidence_multiple: int

    def of(self, name: str) -> Array:
        """Return the columns of that name, shape (clusters, width)."""
        return self.columns[:, self.slices[name]]

    def column(self, name: str) -> Array:
        """Return the one column of that name, shape (clusters,)."""
        return self.columns[:, self.slices[name].start]


def sum_table(matrix: RatingMatrix, clusters: Sequence[str]) -> SumTable:
    """Sum a matrix within clusters; row k of the result is ``clusters[k]``.

    Raters without any rating are left out. `clusters` may hold more than the matrix has, so that
    several criteria share their draws.
    """
    present = matrix.present
    rated = present.any(axis=0)
    values, present = matrix.values[:, rated], present[:, rated]
    raters = tuple(matrix.raters[column] for column in np.flatnonzero(rated))
    row_of = {cluster: row for row, cluster in enumerate(clusters)}
    cluster = np.array([row_of[label] for label in matrix.clusters], dtype=np.int64)
    observed = np.unique(values[present])
    codes = np.zeros(values.shape, dtype=np.int64)
    codes[present] = np.searchsorted(observed, values[present])
    builder = _Builder(
        codes=codes,
        present=present,
        cluster=cluster,
        n_clusters=len(clusters),
        levels=_whole_numbers(matrix.scale)[np.searchsorted(matrix.scale, observed)],
    )
    return builder.table(raters)


@dataclass(frozen=True, eq=False)
class _Builder:
    codes: Ints
    present: NDArray[np.bool_]
    cluster: Ints
    n_clusters: int
    levels: Array

    def table(self, raters: tuple[str, ...]) -> SumTable:
        m = self.present.sum(axis=1)
        paired = m >= 2
        sizes = [int(size) for size in np.unique(m[m >= 1])]
        coincidence_multiple = _multiple([size - 1 for size in sizes if size >= 2])
        share_multiple = _multiple(sizes)
        pair_multiple = _multiple([size * (size - 1) // 2 for size in sizes if size >= 2])

        pairs = tuple(combinations(range(len(raters)), 2))
        safe = np.maximum(m, 2)
        coincidence_weight = coincidence_multiple / (safe - 1)
        within, pair_columns, cells, lower, upper = self._over_pairs(pairs, coincidence_weight)
        n_pairs = m * (m - 1) // 2
        pair_weight = np.where(paired, pair_multiple / np.maximum(n_pairs, 1), 0.0)
        share_weight = np.where(m > 0, share_multiple / np.maximum(m, 1), 0.0)
        blocks = {
            "units": self._summed(m >= 1),
            "paired_units": self._summed(paired),
            "ratings": self._summed(np.where(paired, m, 0)),
            "pairs": self._summed(n_pairs),
            "agree_nominal": self._summed((n_pairs - within[0]) * pair_weight),
            "apart_linear": self._summed(within[1] * pair_weight),
            "apart_quadratic": self._summed(within[2] * pair_weight),
            "shares": self._by_level(share_weight),
            "marginals": self._by_level(paired.astype(np.float64)),
            "cells": cells,
        }
        slices, start = {}, 0
        for name, block in blocks.items():
            slices[name] = slice(start, start + block.shape[1])
            start += block.shape[1]
        return SumTable(
            columns=np.concatenate(list(blocks.values()), axis=1),
            slices=slices,
            pair_columns=pair_columns,
            raters=raters,
            pairs=pairs,
            levels=self.levels,
            lower=lower,
            upper=upper,
            pair_multiple=pair_multiple,
            share_multiple=share_multiple,
            coincidence_multiple=coincidence_multiple,
        )

    def _over_pairs(
        self, pairs: Sequence[tuple[int, int]], weight: Array
    ) -> tuple[Array, Array, Array, Ints, Ints]:
        """Go once over all pairs of raters: sums within units, per pair, and coincidences."""
        n_units, n_levels = len(self.cluster), len(self.levels)
        within = np.zeros((3, n_units))
        width = len(PAIR_SCALARS) + 2 * n_levels
        by_pair = np.zeros((self.n_clusters, len(pairs), width))
        where, which, weights = [], [], []
        for number, (a, b) in enumerate(pairs):
            both = np.flatnonzero(self.present[:, a] & self.present[:, b])
            if not both.size:
                continue
            first, second, cluster = self.codes[both, a], self.codes[both, b], self.cluster[both]
            apart = np.abs(self.levels[first] - self.levels[second])
            differ = first != second
            for row, distance in enumerate((differ.astype(np.float64), apart, apart * apart)):
                within[row, both] += distance
                by_pair[:, number, row + 1] = self._count(cluster, distance)
            by_pair[:, number, 0] = self._count(cluster, None)
            for start, codes in ((4, first), (4 + n_levels, second)):
                table = np.bincount(
                    cluster * n_levels + codes, minlength=self.n_clusters * n_levels
                )
                by_pair[:, number, start : start + n_levels] = table.reshape(-1, n_levels)
            units = both[differ]
            low = np.minimum(first, second)[differ]
            high = np.maximum(first, second)[differ]
            where.append(self.cluster[units])
            which.append(low * n_levels + high)
            weights.append(weight[units])
        cells, lower, upper = self._cells(where, which, weights)
        return within, by_pair, cells, lower, upper

    def _cells(
        self, where: list[Ints], which: list[Ints], weights: list[Array]
    ) -> tuple[Array, Ints, Ints]:
        """Sum coincidences over the pairs of levels that occur: few, even on a long scale."""
        n_levels = len(self.levels)
        if not where:
            nothing = np.zeros(0, dtype=np.int64)
            return np.zeros((self.n_clusters, 0)), nothing, nothing
        cell = np.concatenate(which)
        occurs = np.zeros(n_levels * n_levels, dtype=bool)
        occurs[cell] = True
        codes = np.flatnonzero(occurs)
        place = np.cumsum(occurs) - 1
        summed = np.bincount(
            np.concatenate(where) * len(codes) + place[cell],
            weights=np.concatenate(weights),
            minlength=self.n_clusters * len(codes),
        )
        cells = summed.astype(np.float64).reshape(self.n_clusters, -1)
        return cells, (codes // n_levels).astype(np.int64), (codes % n_levels).astype(np.int64)

    def _by_level(self, weight: Array) -> Array:
        """Sum a weight of each rating's unit by cluster and level."""
        n_levels = len(self.levels)
        units, raters = np.nonzero(self.present)
        table = np.bincount(
            self.cluster[units] * n_levels + self.codes[units, raters],
            weights=weight[units],
            minlength=self.n_clusters * n_levels,
        )
        return table.astype(np.float64).reshape(self.n_clusters, n_levels)

    def _summed(self, per_unit: NDArray[Any]) -> Array:
        return self._count(self.cluster, per_unit)[:, np.newaxis]

    def _count(self, cluster: Ints, weights: NDArray[Any] | None) -> Array:
        counted = np.bincount(cluster, weights=weights, minlength=self.n_clusters)
        return counted.astype(np.float64)


def _multiple(numbers: Sequence[int]) -> int:
    """Return a common multiple, or 1 where it would be too large to keep sums exact."""
    multiple = math.lcm(*numbers) if numbers else 1
    return multiple if multiple <= _LARGEST_MULTIPLE else 1


def _whole_numbers(scale: Sequence[float]) -> Array:
    """Shift and scale the levels to whole numbers from 0, if small ones will do."""
    exact = [Fraction(repr(level)) for level in scale]
    common = math.lcm(*(level.denominator for level in exact))
    whole = [int((level - exact[0]) * common) for level in exact]
    divisor = math.gcd(*whole) or 1
    if whole[-1] // divisor < 2**20:
        return np.array([number // divisor for number in whole], dtype=np.float64)
    return np.array(scale, dtype=np.float64) - scale[0]
