"""The coefficients, as functions of weighted sums: one row per draw, all draws at once.

Every kappa is 1 - Do / De with distances d between levels: [c != k], |c - k| or (c - k)^2.
Sources: Cohen 1960 (Educ. Psychol. Meas. 20, 37-46) and 1968 (Psychol. Bull. 70, 213-220);
Light 1971 (Psychol. Bull. 76, 365-377); Fleiss 1971 (Psychol. Bull. 76, 378-382), with gaps as in
Gwet 2014 (Handbook of Inter-Rater Reliability, 4th ed., ch. 2); Krippendorff 2011 ("Computing
Krippendorff's Alpha-Reliability", ASC working paper).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.results import UndefinedReason
from ratings.agreement.sums import SumTable

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

DEFINED, NO_VARIATION, TOO_FEW_PAIRS, NO_OVERLAP = range(4)
REASON_OF_CODE: Mapping[int, UndefinedReason] = MappingProxyType(
    {NO_VARIATION: "no_variation", TOO_FEW_PAIRS: "too_few_pairs", NO_OVERLAP: "no_overlap"}
)
SMALLEST_OVERLAP = 2  # jointly rated units without which a pair has no kappa
LARGEST_BLOCK = 500  # draws computed at once
_LARGEST_CHUNK = 8_000  # numbers per draw held at once for the pairs of raters: 32 MB a block
# Below it a total is rounding left by subtraction: true ones are at least 1/raters.
_NOTHING = 1e-9


class Weighting(Protocol):
    """Something that turns sums per cluster into totals, one row per draw."""

    def __call__(self, sums: Array) -> Array:
        """Map shape (clusters, p) to shape (draws, p)."""
        ...


def everything(sums: Array) -> Array:
    """Weigh every cluster once: the data as they are, one row."""
    return sums.sum(axis=0, keepdims=True)


@dataclass(frozen=True)
class Without:
    """Leave each of the clusters first, ..., last - 1 out in turn."""

    first: int
    last: int

    def __call__(self, sums: Array) -> Array:
        return everything(sums) - sums[self.first : self.last]


@dataclass(frozen=True)
class Drawn:
    """Weigh clusters by how often each draw holds them.

    Attributes
    ----------
    weights : ndarray, shape (draws, clusters)
    """

    weights: Array

    def __call__(self, sums: Array) -> Array:
        return self.weights @ sums


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
    """

    values: Array
    codes: Codes
    culprits: NDArray[np.int64] | None = None

    @property
    def defined(self) -> NDArray[np.bool_]:
        return self.codes == DEFINED


@dataclass(frozen=True, eq=False)
class Weighted:
    """A table of sums under a weighting."""

    table: SumTable
    weighting: Weighting
    totals: Array

    @classmethod
    def of(cls, table: SumTable, weighting: Weighting) -> "Weighted":
        return cls(table, weighting, weighting(table.columns))

    def block(self, name: str) -> Array:
        """Return totals of shape (draws, width)."""
        return self.totals[:, self.table.slices[name]]

    def total(self, name: str) -> Array:
        """Return totals of shape (draws,)."""
        return self.totals[:, self.table.slices[name].start]


def percent_agreement(sums: Weighted) -> Estimates:
    """Mean over units with two ratings or more of the share of agreeing pairs."""
    units = sums.total("paired_units")
    codes = np.where(units == 0, NO_OVERLAP, DEFINED)
    agreeing = sums.total("agree_nominal")
    values = agreeing / (np.maximum(units, 1) * sums.table.pair_multiple)
    return _estimates(values, codes)


def fleiss(sums: Weighted, weights: str) -> Estimates:
    """Fleiss' kappa: agreement over units with two ratings or more, marginals over rated units."""
    table = sums.table
    paired, pairs = sums.total("paired_units"), sums.total("pairs")
    if weights == "nominal":
        apart = paired * table.pair_multiple - sums.total("agree_nominal")
    else:
        apart = sums.total(f"apart_{weights}")
    shares = sums.block("shares")
    # The shares sum to units x multiple; their own sum is used so that 0 stays exactly 0.
    size = shares.sum(axis=1)
    expected = _expected_apart(shares, shares, table.levels, weights)
    codes = np.where(paired == 0, NO_OVERLAP, np.where(pairs < 2, TOO_FEW_PAIRS, DEFINED))
    scale = table.pair_multiple * np.maximum(paired, 1)
    return _one_minus(apart * (size * size), expected * scale, codes)


def krippendorff(sums: Weighted, level: str) -> Estimates:
    """Krippendorff's alpha; `level` is nominal, ordinal or interval.

    The ordinal distance between levels c < k, the sum of the marginals from c to k less half of
    both ends, is the distance of their mid-ranks; so ordinal alpha is interval alpha on the
    mid-ranks of the observed marginals.
    """
    table = sums.table
    marginals = sums.block("marginals")
    n = marginals.sum(axis=1)
    if level == "nominal":
        squared = np.ones((1, len(table.lower)))
        expected = n * n - (marginals * marginals).sum(axis=1)
    else:
        places = _places(marginals, table.levels, level)
        squared = (places[:, table.upper] - places[:, table.lower]) ** 2
        mean = (marginals * places).sum(axis=1)
        expected = 2 * (n * (marginals * places * places).sum(axis=1) - mean * mean)
    expected = np.where((marginals > 0).sum(axis=1) < 2, 0.0, expected)
    if len(table.lower):
        observed = 2 * (sums.block("cells") * squared).sum(axis=1)
    else:
        observed = np.zeros_like(n)
    codes = np.where(
        n == 0,
        NO_OVERLAP,
        np.where((expected <= 0) & (sums.total("pairs") < 2), TOO_FEW_PAIRS, DEFINED),
    )
    return _one_minus(observed * (n - 1), expected * table.coincidence_multiple, codes)


def cohen(totals: Array, levels: Array, weights: str) -> Estimates:
    """Cohen's kappa of pairs from their totals, shape (draws, pairs, 4 + 2 * levels).

    `SMALLEST_OVERLAP` jointly rated units are needed. A constant rater has exactly 0, and an
    undefined kappa if the other is constant at the same level. The result has shape
    (draws, pairs).
    """
    n = totals[..., 0]
    observed = totals[..., {"nominal": 1, "linear": 2, "quadratic": 3}[weights]]
    middle = 4 + len(levels)
    expected = _expected_apart(totals[..., 4:middle], totals[..., middle:], levels, weights)
    short = np.where(n < SMALLEST_OVERLAP, TOO_FEW_PAIRS, DEFINED)
    codes = np.where(n == 0, NO_OVERLAP, short)
    return _one_minus(observed * n, expected, codes)


def light(sums: Weighted, weights: str) -> Estimates:
    """Light's kappa: the mean of Cohen's kappa over all pairs; undefined if one of them is."""
    table = sums.table
    draws, pairs = len(sums.totals), len(table.pairs)
    total, codes = np.zeros(draws), np.zeros(draws, dtype=np.int8)
    culprits = np.zeros(draws, dtype=np.int64)
    if not pairs:
        return _estimates(total, np.full(draws, NO_OVERLAP))
    for start, part in pair_totals(sums):
        kappas = cohen(part, table.levels, weights)
        total += kappas.values.sum(axis=1)
        undefined = ~kappas.defined
        first = undefined.argmax(axis=1)
        new = undefined.any(axis=1) & (codes == DEFINED)
        culprits[new] = start + first[new]
        codes[new] = kappas.codes[new, first[new]]
    estimates = _estimates(total / pairs, codes)
    return Estimates(estimates.values, estimates.codes, culprits)


def pair_totals(sums: Weighted) -> Iterator[tuple[int, Array]]:
    """Yield the pairs' totals in parts (first pair, totals of shape (draws, part, width)).

    The size of a part does not depend on the draws, so that sums over parts never differ.
    """
    columns = sums.table.pair_columns
    clusters, pairs, width = columns.shape
    step = max(1, _LARGEST_CHUNK // width)
    for start in range(0, pairs, step):
        part = columns[:, start : start + step].reshape(clusters, -1)
        yield start, sums.weighting(part).reshape(len(sums.totals), -1, width)


Function = Callable[[Weighted], Estimates]
COEFFICIENTS: Mapping[str, Function] = MappingProxyType(
    {
        "percent_agreement": percent_agreement,
        "light_kappa": lambda sums: light(sums, "nominal"),
        "light_kappa_linear": lambda sums: light(sums, "linear"),
        "light_kappa_quadratic": lambda sums: light(sums, "quadratic"),
        "fleiss_kappa": lambda sums: fleiss(sums, "nominal"),
        "fleiss_kappa_linear": lambda sums: fleiss(sums, "linear"),
        "fleiss_kappa_quadratic": lambda sums: fleiss(sums, "quadratic"),
        "krippendorff_alpha_nominal": lambda sums: krippendorff(sums, "nominal"),
        "krippendorff_alpha_ordinal": lambda sums: krippendorff(sums, "ordinal"),
        "krippendorff_alpha_interval": lambda sums: krippendorff(sums, "interval"),
    }
)


def _expected_apart(first: Array, second: Array, levels: Array, weights: str) -> Array:
    """Return the sum over levels c, k of first_c * second_k * d(c, k), along the last axis.

    It is exactly 0 if both use one and the same level only.
    """
    expected = _distances_summed(first, second, levels, weights)
    used = (first + second > _NOTHING).sum(axis=-1)
    return np.where(used < 2, 0.0, expected)


def _distances_summed(first: Array, second: Array, levels: Array, weights: str) -> Array:
    if weights == "nominal":
        return first.sum(axis=-1) * second.sum(axis=-1) - (first * second).sum(axis=-1)
    if weights == "quadratic":
        of_first, of_second = (first * levels).sum(axis=-1), (second * levels).sum(axis=-1)
        squares = levels * levels
        return (
            (first * squares).sum(axis=-1) * second.sum(axis=-1)
            + first.sum(axis=-1) * (second * squares).sum(axis=-1)
            - 2 * of_first * of_second
        )
    # |c - k| is the sum of the steps between c and k: over each step, who is below and who above.
    below_first, below_second = first.cumsum(axis=-1), second.cumsum(axis=-1)
    above_first = below_first[..., -1:] - below_first
    above_second = below_second[..., -1:] - below_second
    crossing = below_first * above_second + above_first * below_second
    return (crossing[..., :-1] * np.diff(levels)).sum(axis=-1)


def _places(marginals: Array, levels: Array, level: str) -> Array:
    """Return the places between which distances are taken, shape (draws or 1, levels)."""
    if level == "interval":
        return levels[np.newaxis, :]
    # Twice the mid-rank, a whole number; alpha does not change with the factor.
    return 2 * marginals.cumsum(axis=1) - marginals


def _one_minus(observed: Array, expected: Array, codes: NDArray[Any]) -> Estimates:
    codes = np.where((codes == DEFINED) & (expected <= 0), NO_VARIATION, codes)
    values = 1.0 - observed / np.where(codes == DEFINED, expected, 1.0)
    return _estimates(values, codes)


def _estimates(values: Array, codes: NDArray[Any]) -> Estimates:
    return Estimates(np.where(codes == DEFINED, values, 0.0), codes.astype(np.int8))
