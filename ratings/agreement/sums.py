"""What adds up over clusters: every coefficient is a function of these sums.

A bootstrap draw is then a row of weights times a matrix. Shares with m_u or m_u - 1 in the
denominator are stored times a common multiple, as whole numbers; what is not whole is rounded to a
grid on which sums are exact. So totals are the same to the last bit in any sequence.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.matrix import RatingMatrix

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST_MULTIPLE = 2**31
_SMALL_LEVEL = 2**20
PAIR_SCALARS = ("n", "nominal", "linear", "quadratic")


@dataclass(frozen=True, eq=False)
class Columns:
    """Sums per cluster, in named blocks.

    Attributes
    ----------
    sums : ndarray, shape (width, clusters)
        On a grid: any weighted total with weights that add up to the clusters' number is exact.
    slices : mapping of block to slice of the rows
    """

    sums: Array
    slices: Mapping[str, slice]

    @classmethod
    def of(cls, blocks: Mapping[str, Array]) -> "Columns":
        """Stack blocks of shape (width, clusters)."""
        slices, start = {}, 0
        for name, block in blocks.items():
            slices[name] = slice(start, start + len(block))
            start += len(block)
        return cls(on_grid(np.concatenate(list(blocks.values()))), slices)

    def row(self, name: str) -> Array:
        """Return the one row of that name, shape (clusters,)."""
        return self.sums[self.slices[name].start]


@dataclass(frozen=True, eq=False)
class SumTable:
    """Sums per cluster of one criterion, each group made when it is first asked for.

    Attributes
    ----------
    codes : ndarray of int64, shape (raters, units)
        Places in `levels`, -1 where missing. Units are sorted by cluster.
    cluster : ndarray of int64, shape (units,)
    n_clusters : int
    raters : tuple of str
        Those with any rating.
    values : ndarray, shape (levels,)
        The observed levels as they are on the scale.
    levels : ndarray, shape (levels,)
        The same, shifted and scaled to small whole numbers where the scale allows. No coefficient
        but ratio alpha changes with it.
    declared : ndarray, shape (declared levels,)
        All levels of the scale, shifted and scaled alike.
    step : float
        What a distance of 1 between `levels` is on the scale.
    """

    codes: Ints
    cluster: Ints
    n_clusters: int
    raters: tuple[str, ...]
    values: Array
    levels: Array
    declared: Array
    step: float

    def without_rater(self, place: int) -> "SumTable":
        """Return the table without one rater, summed over all clusters at once.

        What two raters share does not depend on a third, so the pairs' sums are taken over.
        """
        kept = [number for number, pair in enumerate(self.pairs) if place not in pair]
        table = replace(
            self,
            codes=np.delete(self.codes, place, axis=0),
            cluster=np.zeros_like(self.cluster),
            n_clusters=1,
            raters=self.raters[:place] + self.raters[place + 1 :],
        )
        table.__dict__["pair_sums"] = self.pair_sums[:, kept]
        return table

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of raters, as places in `raters`."""
        return tuple(combinations(range(len(self.raters)), 2))

    @cached_property
    def m(self) -> Ints:
        """Ratings of each unit, shape (units,)."""
        return (self.codes >= 0).sum(axis=0, dtype=np.int64)

    @cached_property
    def pair_multiple(self) -> int:
        """What shares of a unit's pairs are stored times."""
        return _multiple([size * (size - 1) // 2 for size in self._sizes if size >= 2])

    @cached_property
    def share_multiple(self) -> int:
        """What shares of a unit's ratings are stored times."""
        return _multiple(self._sizes)

    @cached_property
    def coincidence_multiple(self) -> int:
        """What coincidences, each pair of ratings over m_u - 1, are stored times."""
        return _multiple([size - 1 for size in self._sizes if size >= 2])

    @cached_property
    def units(self) -> Columns:
        """Units and their pairs of ratings.

        ``units`` rated, ``paired_units`` with two ratings or more, ``pairs`` of ratings; over paired
        units the mean over pairs of [x != y], |x - y|, (x - y)^2, times `pair_multiple`:
        ``apart_nominal``, ``apart_linear``, ``apart_quadratic``; ``shares``: per level the unit's
        share of ratings, times `share_multiple`.
        """
        counts, m = self._counts, self.m
        n_pairs = m * (m - 1) // 2
        below = counts.cumsum(axis=0)[:-1]
        steps, levels = np.diff(self.levels)[:, np.newaxis], self.levels[:, np.newaxis]
        apart = np.stack(
            [
                n_pairs - (counts * (counts - 1)).sum(axis=0) / 2,
                (steps * below * (m - below)).sum(axis=0),
                m * (levels * levels * counts).sum(axis=0) - (levels * counts).sum(axis=0) ** 2,
            ]
        )
        apart *= np.where(m >= 2, self.pair_multiple / np.maximum(n_pairs, 1), 0.0)
        shares = counts * (self.share_multiple / np.maximum(m, 1))
        return Columns.of(
            {
                "units": self._summed((m >= 1)[np.newaxis]),
                "paired_units": self._summed((m >= 2)[np.newaxis]),
                "pairs": self._summed(n_pairs[np.newaxis]),
                "apart_nominal": self._summed(apart[:1]),
                "apart_linear": self._summed(apart[1:2]),
                "apart_quadratic": self._summed(apart[2:]),
                "shares": self._summed(shares),
            }
        )

    @cached_property
    def by_level(self) -> Columns:
        """Agreement at each level, over paired units.

        ``agree``: the share of the unit's pairs that agree at the level, times `pair_multiple`;
        ``shares``: the level's share of the unit's ratings, times `share_multiple`.
        """
        counts, m = self._counts, self.m
        n_pairs = np.maximum(m * (m - 1) // 2, 1)
        agree = counts * (counts - 1) / 2 * (self.pair_multiple / n_pairs)
        shares = np.where(m >= 2, counts * (self.share_multiple / np.maximum(m, 1)), 0.0)
        return Columns.of({"agree": self._summed(agree), "shares": self._summed(shares)})

    @cached_property
    def coincidences(self) -> Columns:
        """Krippendorff's coincidences, over paired units.

        ``pairs`` of ratings; ``marginals``: per level the ratings; ``cells``: for two levels
        c < k, those of `cell_levels`, the coincidences o_ck times `coincidence_multiple`;
        ``apart_nominal``, ``apart_interval``: the cells' sum, and theirs times (c - k)^2.
        """
        cells, codes = self._cells
        lower, upper = self._lower_upper(codes)
        squares = (self.levels[upper] - self.levels[lower]) ** 2
        return Columns.of(
            {
                "pairs": self._summed((self.m * (self.m - 1) // 2)[np.newaxis]),
                "marginals": self._summed(self._counts * (self.m >= 2)),
                "apart_nominal": cells.sum(axis=0, keepdims=True),
                "apart_interval": (squares[:, np.newaxis] * cells).sum(axis=0, keepdims=True),
                "cells": cells,
            }
        )

    @cached_property
    def cell_levels(self) -> tuple[Ints, Ints]:
        """The two levels of each of the cells: places in `levels`."""
        return self._lower_upper(self._cells[1])

    @cached_property
    def by_rater(self) -> Columns:
        """``marginals``: the ratings of each rater at each level, raters outermost."""
        return Columns.of({"marginals": self._rater_levels(np.ones(len(self.cluster), bool))})

    @cached_property
    def complete(self) -> Columns:
        """Units that every rater rated: the two-way table of the analysis of variance.

        ``n`` of them; ``raters``: each rater's sum of x; ``squares``: the sum of x^2;
        ``unit_squares``: the sum of the units' (sum of x)^2.
        """
        x = np.where(self._is_complete, self._scores, 0.0)
        of_unit = x.sum(axis=0)
        return Columns.of(
            {
                "n": self._summed(self._is_complete[np.newaxis]),
                "raters": self._summed(x),
                "squares": self._summed((x * x).sum(axis=0, keepdims=True)),
                "unit_squares": self._summed((of_unit * of_unit)[np.newaxis]),
            }
        )

    @cached_property
    def joint(self) -> Columns:
        """Units that every rater rated: what ranks need.

        ``marginals``: the ratings of each rater at each level, raters outermost; ``cells``: for
        each pair of raters and two levels, those of `joint_cells`, the number of units.
        """
        cells, _ = self._joint
        return Columns.of({"marginals": self._rater_levels(self._is_complete), "cells": cells})

    @cached_property
    def joint_cells(self) -> tuple[Ints, Ints]:
        """The two rows of ``marginals`` to which each cell of `joint` belongs."""
        n_levels = len(self.levels)
        pair, first, second = np.unravel_index(
            self._joint[1], (max(len(self.pairs), 1), n_levels, n_levels)
        )
        raters = np.array(self.pairs, dtype=np.int64).reshape(-1, 2)
        return raters[pair, 0] * n_levels + first, raters[pair, 1] * n_levels + second

    @cached_property
    def pair_columns(self) -> Array:
        """Sums of each pair of raters, shape (4 + 2 * levels, pairs, clusters).

        Over the units both rated: their number, [x != y], |x - y|, (x - y)^2, and the two
        raters' marginals.
        """
        return on_grid(self._over_pairs(self.cluster, self.n_clusters))

    @cached_property
    def pair_sums(self) -> Array:
        """`pair_columns` over all clusters at once, shape (4 + 2 * levels, pairs, 1)."""
        return self._over_pairs(np.zeros_like(self.cluster), 1)

    def column(self, name: str) -> Array:
        """Return a row of `units` by name, shape (clusters,)."""
        return self.units.row(name)

    @cached_property
    def _sizes(self) -> list[int]:
        return [int(size) for size in np.flatnonzero(np.bincount(self.m)) if size]

    @cached_property
    def _is_complete(self) -> NDArray[np.bool_]:
        return (self.m == len(self.raters)) & (self.m > 0)

    @cached_property
    def _scores(self) -> Array:
        """Levels of shape (raters, units), 0 where missing."""
        return np.append(self.levels, 0.0)[self.codes]

    @cached_property
    def _counts(self) -> Array:
        """Ratings of each unit at each level, shape (levels, units)."""
        n_units, n_levels = len(self.cluster), len(self.levels)
        keys = (self.codes + 1) * n_units + np.arange(n_units)  # what is missing comes first
        counts = np.bincount(keys.ravel(), minlength=(n_levels + 1) * n_units)
        return counts[n_units:].reshape(n_levels, n_units).astype(np.float64)

    @cached_property
    def _starts(self) -> tuple[Ints, Ints]:
        """The clusters that have units, and where their units start."""
        units = np.bincount(self.cluster, minlength=self.n_clusters)
        return np.flatnonzero(units), (np.cumsum(units) - units)[units > 0]

    def _summed(self, rows: NDArray[np.generic]) -> Array:
        """Sum rows of shape (width, units) within clusters."""
        held, starts = self._starts
        summed = np.zeros((len(rows), self.n_clusters))
        if held.size and len(rows):
            summed[:, held] = np.add.reduceat(rows.astype(np.float64), starts, axis=1)
        return summed

    def _rater_levels(self, wanted: NDArray[np.bool_]) -> Array:
        """Count by rater and level (the rows, raters outermost) and cluster."""
        n_raters, n_levels = len(self.raters), len(self.levels)
        first = np.arange(n_raters)[:, np.newaxis] * (n_levels + 1)
        codes, cluster = self.codes[:, wanted], self.cluster[wanted]
        keys = (first + codes + 1) * self.n_clusters + cluster  # what is missing comes first
        size = n_raters * (n_levels + 1) * self.n_clusters
        counted = np.bincount(keys.ravel(), minlength=size).astype(np.float64)
        by_rater = counted.reshape(n_raters, n_levels + 1, self.n_clusters)[:, 1:]
        return by_rater.reshape(n_raters * n_levels, self.n_clusters)

    @cached_property
    def _cells(self) -> tuple[Array, Ints]:
        """Coincidences of the pairs of levels that occur: few, even on a long scale.

        The levels that a unit uses are paired at distance 1, 2, … in its list of them.
        """
        n_levels = len(self.levels)
        by_unit = self._counts.T
        unit, level = np.nonzero(by_unit)
        count = by_unit[unit, level]
        weight = self.coincidence_multiple / np.maximum(self.m - 1, 1)
        keys, clusters, weights = [], [], []
        for offset in range(1, int(np.bincount(unit).max(initial=0))):
            same = np.flatnonzero(unit[offset:] == unit[:-offset])
            keys.append(level[same] * n_levels + level[same + offset])
            clusters.append(self.cluster[unit[same]])
            weights.append(count[same] * count[same + offset] * weight[unit[same]])
        return self._occurring(keys, clusters, weights, n_levels * n_levels)

    def _lower_upper(self, codes: Ints) -> tuple[Ints, Ints]:
        n_levels = max(len(self.levels), 1)
        return codes // n_levels, codes % n_levels

    @cached_property
    def _joint(self) -> tuple[Array, Ints]:
        n_levels = len(self.levels)
        held = np.flatnonzero(self._is_complete)
        codes, cluster = self.codes[:, held], self.cluster[held]
        keys = [
            (number * n_levels + codes[a]) * n_levels + codes[b]
            for number, (a, b) in enumerate(self.pairs if held.size else ())
        ]
        return self._occurring(
            keys, [cluster] * len(keys), None, len(self.pairs) * n_levels * n_levels
        )

    def _occurring(
        self,
        keys: Sequence[Ints],
        clusters: Sequence[Ints],
        weights: Sequence[Array] | None,
        n_keys: int,
    ) -> tuple[Array, Ints]:
        """Sum by key and cluster over the keys that occur; return (sums, those keys)."""
        if not keys:
            return np.zeros((0, self.n_clusters)), np.zeros(0, dtype=np.int64)
        key = np.concatenate(keys)
        occurs = np.zeros(n_keys, dtype=bool)
        occurs[key] = True
        codes = np.flatnonzero(occurs).astype(np.int64)
        place = np.cumsum(occurs) - 1
        summed = np.bincount(
            place[key] * self.n_clusters + np.concatenate(clusters),
            weights=None if weights is None else np.concatenate(weights),
            minlength=len(codes) * self.n_clusters,
        )
        return summed.astype(np.float64).reshape(len(codes), self.n_clusters), codes

    def _over_pairs(self, cluster: Ints, n_clusters: int) -> Array:
        """Go over all pairs of ratings of a unit: those at distance 1, 2, … in its list of them.

        So the work follows the ratings there are, not the pairs of raters that there might be.
        """
        n_raters, n_levels, n_pairs = len(self.raters), len(self.levels), len(self.pairs)
        number = np.zeros((n_raters, n_raters), dtype=np.int64)
        number[np.triu_indices(n_raters, 1)] = np.arange(n_pairs)
        unit, rater = np.nonzero(self.codes.T >= 0)
        code = self.codes[rater, unit]
        summed = np.zeros((len(PAIR_SCALARS) + 2 * n_levels, n_pairs * n_clusters))
        for offset in range(1, int(self.m.max(initial=0))):
            one = np.flatnonzero(unit[offset:] == unit[:-offset])
            other = one + offset
            where = number[rater[one], rater[other]] * n_clusters + cluster[unit[one]]
            first, second = code[one], code[other]
            apart = np.abs(self.levels[first] - self.levels[second])
            for row, weights in enumerate((None, first != second, apart, apart * apart)):
                summed[row] += np.bincount(where, weights, minlength=n_pairs * n_clusters)
            for start, codes in ((4, first), (4 + n_levels, second)):
                keys = codes * (n_pairs * n_clusters) + where
                table = np.bincount(keys, minlength=n_levels * n_pairs * n_clusters)
                summed[start : start + n_levels] += table.reshape(n_levels, -1)
        return summed.reshape(len(summed), n_pairs, n_clusters)


def sum_table(matrix: RatingMatrix, clusters: Sequence[str]) -> SumTable:
    """Sum a matrix within clusters; column k of each result is ``clusters[k]``.

    Raters without any rating are left out. `clusters` may hold more than the matrix has, so that
    several criteria share their draws.
    """
    row_of = {cluster: row for row, cluster in enumerate(clusters)}
    cluster = np.array([row_of[label] for label in matrix.clusters], dtype=np.int64)
    order = np.argsort(cluster, kind="stable")
    places = matrix.places[order].T
    rated = (places >= 0).any(axis=1)
    places = places[rated]
    used = np.flatnonzero(np.bincount(places[places >= 0], minlength=len(matrix.scale)))
    place_of = np.full(len(matrix.scale) + 1, -1, dtype=np.int64)
    place_of[used] = np.arange(len(used))
    declared, step = _whole_numbers(matrix.scale)
    return SumTable(
        codes=place_of[places],
        cluster=cluster[order],
        n_clusters=len(clusters),
        raters=tuple(matrix.raters[column] for column in np.flatnonzero(rated)),
        values=np.array(matrix.scale)[used],
        levels=declared[used],
        declared=declared,
        step=step,
    )


def on_grid(sums: Array) -> Array:
    """Round sums, clusters last, so that any draw's total of them is exact in float64.

    A draw's weights add up to the number of clusters, so no total exceeds that times the largest
    sum; multiples of a power of two that stay below 2**53 of it add up exactly in any sequence.
    Whole numbers are left as they are unless they are too large for that.
    """
    largest = np.abs(sums).max(initial=0.0) * sums.shape[-1]
    if largest < 2.0**52 and (sums == np.rint(sums)).all():
        return sums
    largest = np.abs(sums).max(axis=-1, keepdims=True) * sums.shape[-1]
    exponent = np.ceil(np.log2(np.maximum(largest, np.finfo(float).tiny))) - 52
    grid = np.exp2(exponent)
    return np.asarray(np.rint(sums / grid) * grid)


def _multiple(numbers: Sequence[int]) -> int:
    """Return a common multiple, or 1 where it would be too large to be of use."""
    multiple = math.lcm(*numbers) if numbers else 1
    return multiple if multiple <= _LARGEST_MULTIPLE else 1


def _whole_numbers(scale: Sequence[float]) -> tuple[Array, float]:
    """Shift and scale the levels to whole numbers from 0, if small ones will do.

    Returns them and what a distance of 1 between them is on the scale.
    """
    exact = [Fraction(repr(level)) for level in scale]
    common = math.lcm(*(level.denominator for level in exact))
    whole = [int((level - exact[0]) * common) for level in exact]
    divisor = math.gcd(*whole) or 1
    if whole[-1] // divisor < _SMALL_LEVEL:
        levels = np.array([number // divisor for number in whole], dtype=np.float64)
        return levels, divisor / common
    return np.array(scale, dtype=np.float64) - scale[0], 1.0
