"""Coefficients of two raters, and their mean over pairs.

Cohen 1960 (Educ. Psychol. Meas. 20, 37-46) and 1968 (Psychol. Bull. 70, 213-220); Light 1971
(Psychol. Bull. 76, 365-377).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.weighted import (
    DEFINED,
    NO_OVERLAP,
    NO_VARIATION,
    TOO_FEW_PAIRS,
    Estimates,
    Weighted,
    distances_summed,
    everything,
    total,
)

Array = NDArray[np.float64]

SMALLEST_OVERLAP = 2  # jointly rated units without which a pair has no kappa
WEIGHTS = ("nominal", "linear", "quadratic")
# Numbers per draw held at once for the pairs of raters: 500 draws of them stay in the cache.
_LARGEST_CHUNK = 300


def cohen(totals: Array, levels: Array, weights: str) -> Estimates:
    """Cohen's kappa of pairs from their totals, shape (4 + 2 * levels, pairs, draws).

    `SMALLEST_OVERLAP` jointly rated units are needed. A constant rater has exactly 0, and an
    undefined kappa if the other is constant at the same level. The result has shape
    (draws, pairs).

    >>> import numpy as np  # Cohen 1960, table 2: 200 units; kappa = .492
    >>> marginals = np.array([120, 60, 20, 100, 60, 40.0])
    >>> totals = np.array([200, 60, 0, 0, *marginals]).reshape(10, 1, 1)
    >>> cohen(totals, np.arange(3.0), "nominal").values.round(3)
    array([[0.492]])
    """
    n = totals[0]
    observed = totals[{"nominal": 1, "linear": 2, "quadratic": 3}[weights]]
    middle = 4 + len(levels)
    first, second = totals[4:middle], totals[middle:]
    varied = n * n - total(first * second)  # exactly 0 if both gave one and the same level only
    expected = varied if weights == "nominal" else distances_summed(first, second, levels, weights)
    codes = np.where(varied > 0, DEFINED, NO_VARIATION)
    codes = np.where(n < SMALLEST_OVERLAP, TOO_FEW_PAIRS, codes)
    codes = np.where(n == 0, NO_OVERLAP, codes)
    values = 1.0 - observed * n / np.where(codes == DEFINED, expected, 1.0)
    found = Estimates.of(values, codes)
    return Estimates(found.values.T, found.codes.T)


def light(sums: Weighted, weights: str) -> Estimates:
    """Light's kappa: the mean of Cohen's kappa over all pairs; undefined if one of them is.

    >>> from ratings.agreement.examples import evaluated
    >>> evaluated("gwet_raw4raters", light, "nominal")
    0.7002
    """
    table = sums.table
    pairs = len(table.pairs)
    if not pairs:
        draws = sums.units.totals.shape[1]
        return Estimates.of(np.zeros(draws), np.full(draws, NO_OVERLAP))
    summed: Array | None = None
    for start, part in pair_totals(sums):
        kappas = cohen(part, table.levels, weights)
        values, undefined = kappas.values.T, ~kappas.defined.T
        if summed is None:
            summed = np.zeros(values.shape[1])
            codes = np.zeros(values.shape[1], dtype=np.int8)
            culprits = np.zeros(values.shape[1], dtype=np.int64)
        summed += total(values)
        new = undefined.any(axis=0) & (codes == DEFINED)
        if new.any():
            first = undefined.argmax(axis=0)[new]
            culprits[new] = start + first
            codes[new] = kappas.codes.T[first, np.flatnonzero(new)]
    assert summed is not None
    found = Estimates.of(summed / pairs, codes)
    return Estimates(found.values, found.codes, culprits)


def pair_totals(sums: Weighted) -> Iterator[tuple[int, Array]]:
    """Yield the pairs' totals in parts (first pair, totals for `cohen`).

    The size of a part does not depend on the draws, so that sums over parts never differ.
    """
    table = sums.table
    # The data as they are need no sums by cluster.
    columns = table.pair_sums if sums.weighting is everything else table.pair_columns
    width, pairs, clusters = columns.shape
    step = max(1, _LARGEST_CHUNK // width)
    for start in range(0, pairs, step):
        part = columns[:, start : start + step]
        summed = sums.weighting(part.reshape(-1, clusters))
        yield start, summed.reshape(width, part.shape[1], -1)
