"""Coefficients of scores and of ranks, over the units that every rater rated.

Shrout & Fleiss 1979 (Psychol. Bull. 86, 420-428) for the intraclass correlations; their other names
are McGraw & Wong's (1996, Psychol. Methods 1, 30-46). Kendall & Babington Smith 1939 (Ann. Math.
Stat. 10, 275-287) for W, corrected for ties as in Kendall 1948 (Rank Correlation Methods, ch. 6).
Both are listwise: units that a rater left out are not used, and are counted.
"""

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.weighted import (
    DEFINED,
    NO_OVERLAP,
    NO_VARIATION,
    TOO_FEW_PAIRS,
    Estimates,
    Weighted,
    total,
)

Array = NDArray[np.float64]


def icc(sums: Weighted, form: str) -> Estimates:
    """Intraclass correlation; `form` is 1_1, 2_1, 3_1 or, for the mean of the k raters, 1_k, ….

    The sums of squares are taken times units and raters, as whole numbers, and numerator and
    denominator times what clears the mean squares' fractions; so 0/0 is found exactly. A
    denominator of 0 is undefined (``no_variation``): the units do not differ from one another.

    >>> from ratings.agreement.examples import evaluated  # Shrout & Fleiss 1979, table 4
    >>> [evaluated("shrout_fleiss1979", icc, form, digits=2) for form in ("1_1", "2_1", "3_1")]
    [0.17, 0.29, 0.71]
    >>> [evaluated("shrout_fleiss1979", icc, form, digits=2) for form in ("1_k", "2_k", "3_k")]
    [0.44, 0.62, 0.91]
    """
    found = sums.complete
    k = len(sums.table.raters)
    n = found.row("n")
    of_raters = found.rows("raters")
    mean = total(of_raters) ** 2
    # Sums of squares, each times n * k.
    units = n * found.row("unit_squares") - mean
    raters = k * total(of_raters * of_raters) - mean
    within = n * k * found.row("squares") - n * found.row("unit_squares")
    error = within - raters
    a, b = n - 1, max(k - 1, 1)
    if form == "1_1":
        above, below = n * b * units - a * within, n * b * units + a * b * within
    elif form == "1_k":
        above, below = n * b * units - a * within, n * b * units
    elif form == "2_1":
        above = n * (b * units - error)
        below = n * b * (units + error) + k * (a * raters - error)
    elif form == "2_k":
        above, below = n * (b * units - error), n * b * units + a * raters - error
    elif form == "3_1":
        above, below = b * units - error, b * (units + error)
    else:
        above, below = b * units - error, b * units
    codes = np.where(n < 2, TOO_FEW_PAIRS, np.where(below != 0, DEFINED, NO_VARIATION))
    codes = np.where((n == 0) | (k < 2), NO_OVERLAP, codes)
    size = n * k / sums.table.step**2
    return Estimates.of(
        above / np.where(codes == DEFINED, below, 1.0),
        codes,
        {
            "ms_units": (units, a * size),
            "ms_raters": (raters, b * size),
            "ms_within": (within, n * b * size),
            "ms_error": (error, a * b * size),
        },
    )


def kendall_w(sums: Weighted) -> Estimates:
    """Kendall's coefficient of concordance among rankings of the units, corrected for ties.

    With a rater's mid-ranks taken from their mean, the ranks of a unit are a function of the
    rater's marginals; so the sum over units of (sum of ranks)^2 follows from the marginals and
    from how many units each two raters put at each two levels. Those add up over clusters: a draw
    ranks the units that it holds, one held twice being two tied units. W is then
    (1 + 2 * covariances / variances) / k, which is the usual 12 S / (k^2 (n^3 - n) - k T).

    >>> from ratings.agreement.examples import evaluated
    >>> evaluated("shrout_fleiss1979", kendall_w)
    0.887
    """
    found, k = sums.joint, len(sums.table.raters)
    marginals = found.rows("marginals")
    draws = marginals.shape[1]
    by_rater = marginals.reshape(k, len(sums.table.levels), draws)
    n = total(by_rater[0]) if k else np.zeros(draws)
    # Twice the mid-rank less twice its mean: a whole number.
    ranks = (2 * by_rater.cumsum(axis=1) - by_rater - n).reshape(-1, draws)
    variances = total(marginals * ranks * ranks)
    one, other = sums.table.joint_cells
    covariances = total(found.rows("cells") * ranks[one] * ranks[other])
    codes = np.where(n < 2, TOO_FEW_PAIRS, np.where(variances > 0, DEFINED, NO_VARIATION))
    codes = np.where((n == 0) | (k < 2), NO_OVERLAP, codes)
    divisor = np.where(codes == DEFINED, variances, 1.0) * max(k, 1)
    squares = variances + 2 * covariances
    return Estimates.of(
        squares / divisor, codes, {"squares_of_rank_sums": (squares, 4.0), "most": (divisor, 4.0)}
    )
