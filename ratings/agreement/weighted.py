"""Sums under weights: the data as they are, without a cluster, or as bootstrap draws hold them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.results import UndefinedReason
from ratings.agreement.sums import Columns, SumTable

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

DEFINED, NO_VARIATION, TOO_FEW_PAIRS, NO_OVERLAP, NO_TRUE_ZERO = range(5)
REASON_OF_CODE: Mapping[int, UndefinedReason] = MappingProxyType(
    {
        NO_VARIATION: "no_variation",
        TOO_FEW_PAIRS: "too_few_pairs",
        NO_OVERLAP: "no_overlap",
        NO_TRUE_ZERO: "no_true_zero",
    }
)


class Weighting(Protocol):
    """Something that turns sums per cluster into totals per draw."""

    def __call__(self, sums: Array) -> Array:
        """Map shape (width, clusters) to shape (width, draws)."""
        ...


def everything(sums: Array) -> Array:
    """Weigh every cluster once: the data as they are, one draw."""
    return sums.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Without:
    """Leave each of the clusters first, ..., last - 1 out in turn."""

    first: int
    last: int

    def __call__(self, sums: Array) -> Array:
        return everything(sums) - sums[:, self.first : self.last]


@dataclass(frozen=True)
class Drawn:
    """Weigh clusters by how often each draw holds them.

    Attributes
    ----------
    weights : ndarray, shape (draws, clusters)
    """

    weights: Array

    def __call__(self, sums: Array) -> Array:
        return sums @ self.weights.T


@dataclass(frozen=True, eq=False)
class Estimates:
    """One coefficient over draws.

    Attributes
    ----------
    values : ndarray, shape (draws,)
        0.0 where undefined, never NaN: look at `codes` first.
    codes : ndarray of int8, shape (draws,)
        0 = defined, else a key of `REASON_OF_CODE`.
    culprits : ndarray of int, shape (draws,), optional
        The pair of raters through which a mean over pairs is undefined.
    parts : mapping of name to (numerator, denominator)
        What the coefficient is made of, each of shape (draws,); divided only when asked for.
    """

    values: Array
    codes: Codes
    culprits: NDArray[np.int64] | None = None
    parts: Mapping[str, tuple[Array, Array | float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        values: Array,
        codes: NDArray[np.signedinteger],
        parts: Mapping[str, tuple[Array, Array | float]] | None = None,
    ) -> "Estimates":
        """Put 0.0 where a code says that there is no value."""
        return cls(
            np.where(codes == DEFINED, values, 0.0), codes.astype(np.int8), None, parts or {}
        )

    @property
    def defined(self) -> NDArray[np.bool_]:
        return self.codes == DEFINED

    def components(self) -> dict[str, float]:
        """Return the parts of the first draw; those that are 0/0 are left out."""
        found = {}
        for name, (above, below) in self.parts.items():
            divisor = float(np.broadcast_to(below, above.shape)[0])
            if divisor:
                found[name] = float(above[0]) / divisor
        return found


@dataclass(frozen=True, eq=False)
class Totals:
    """Totals of named blocks, one column per draw."""

    totals: Array
    slices: Mapping[str, slice]

    def rows(self, name: str) -> Array:
        """Return totals of shape (width, draws)."""
        return self.totals[self.slices[name]]

    def row(self, name: str) -> Array:
        """Return totals of shape (draws,)."""
        return self.totals[self.slices[name].start]


@dataclass(frozen=True, eq=False)
class Weighted:
    """A table of sums under a weighting; each group is weighed when it is first asked for."""

    table: SumTable
    weighting: Weighting

    @classmethod
    def of(cls, table: SumTable, weighting: Weighting) -> "Weighted":
        return cls(table, weighting)

    @cached_property
    def units(self) -> Totals:
        return self._weighed(self.table.units)

    @cached_property
    def by_level(self) -> Totals:
        return self._weighed(self.table.by_level)

    @cached_property
    def coincidences(self) -> Totals:
        return self._weighed(self.table.coincidences)

    @cached_property
    def by_rater(self) -> Totals:
        return self._weighed(self.table.by_rater)

    @cached_property
    def complete(self) -> Totals:
        return self._weighed(self.table.complete)

    @cached_property
    def joint(self) -> Totals:
        return self._weighed(self.table.joint)

    def _weighed(self, columns: Columns) -> Totals:
        return Totals(self.weighting(columns.sums), columns.slices)


def total(rows: Array) -> Array:
    """Add rows up, first to last, so that no draw depends on how many others there are.

    numpy adds rows in that sequence unless each holds a single number.
    """
    if rows.shape[-1] == 1 and len(rows):
        return np.asarray(np.add.accumulate(rows, axis=0)[-1])
    return np.asarray(np.add.reduce(rows, axis=0))


def distances_summed(first: Array, second: Array, levels: Array, weights: str) -> Array:
    """Return the sum over levels c, k of first_c * second_k * d(c, k); levels are the first axis.

    d is [c != k] (``nominal``), |c - k| (``linear``) or (c - k)^2 (``quadratic``).
    """
    if weights == "nominal":
        return total(first) * total(second) - total(first * second)
    if weights == "quadratic":
        by_level = levels.reshape(-1, *[1] * (first.ndim - 1))
        of_first, of_second = by_level * first, by_level * second
        squares = total(by_level * of_first) * total(second)
        squares += total(by_level * of_second) * total(first)
        return squares - 2 * total(of_first) * total(of_second)
    # |c - k| is the sum of the steps between c and k: over each step, who is below and who above.
    below_first, below_second = first.cumsum(axis=0), second.cumsum(axis=0)
    of_first, of_second = below_first[-1:], below_second[-1:]
    apart = np.zeros(first.shape[1:])
    for place, step in enumerate(np.diff(levels)):
        one, other = below_first[place], below_second[place]
        apart += step * (one * of_second[0] + other * of_first[0] - 2 * one * other)
    return apart
