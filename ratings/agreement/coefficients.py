"""The coefficients, as functions of weighted sums: all draws at once.

Every kappa is 1 - Do / De with distances d between levels: [c != k], |c - k| or (c - k)^2.
Sources: Fleiss 1971 (Psychol. Bull. 76, 378-382), with gaps as in Gwet 2014 (Handbook of
Inter-Rater Reliability, 4th ed., ch. 2); Conger 1980 (Psychol. Bull. 88, 322-328); Gwet 2008
(Br. J. Math. Stat. Psychol. 61, 29-48) for AC1 and Gwet 2014, ch. 3 and 4, for AC2; Krippendorff
2011 ("Computing Krippendorff's Alpha-Reliability", ASC working paper); Cicchetti & Feinstein 1990
(J. Clin. Epidemiol. 43, 551-558) for specific agreement.

`pairs` holds the coefficients of two raters, `variance` those of scores and ranks.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.pairs import cohen, light, pair_totals
from ratings.agreement.results import KEYS
from ratings.agreement.variance import icc, kendall_w
from ratings.agreement.weighted import (
    DEFINED,
    NO_OVERLAP,
    NO_TRUE_ZERO,
    NO_VARIATION,
    REASON_OF_CODE,
    TOO_FEW_PAIRS,
    Drawn,
    Estimates,
    Weighted,
    Weighting,
    Without,
    distances_summed,
    everything,
    total,
)

__all__ = [
    "COEFFICIENTS",
    "NO_VARIATION",
    "REASON_OF_CODE",
    "Drawn",
    "Estimates",
    "Weighted",
    "Weighting",
    "Without",
    "cohen",
    "everything",
    "pair_totals",
    "specific_agreement",
]

Array = NDArray[np.float64]


def percent_agreement(sums: Weighted) -> Estimates:
    """Mean over units with two ratings or more of the share of agreeing pairs.

    >>> from ratings.agreement.examples import evaluated  # Gwet 2014 prints .818
    >>> evaluated("gwet_raw4raters", percent_agreement)
    0.8182
    """
    units = sums.units.row("paired_units")
    codes = np.where(units == 0, NO_OVERLAP, DEFINED)
    size = np.maximum(units, 1) * sums.table.pair_multiple
    return Estimates.of((size - sums.units.row("apart_nominal")) / size, codes)


def specific_agreement(sums: Weighted, place: int) -> Estimates:
    """Agreement specific to an observed level: of the raters who gave it, how many more do.

    It is the sum over units of the share of pairs that agree at the level, over the sum of the
    level's shares of ratings. On equal numbers of ratings that is 2a / (2a + b + c) and its form
    for more raters. The mean over levels, weighted by their shares, is the percent agreement.
    `place` is of the level among the observed ones.
    """
    agree, shares = sums.by_level.rows("agree")[place], sums.by_level.rows("shares")[place]
    above, below = agree * sums.table.share_multiple, shares * sums.table.pair_multiple
    codes = np.where(below > 0, DEFINED, NO_OVERLAP)
    return Estimates.of(above / np.where(below > 0, below, 1.0), codes)


def fleiss(sums: Weighted, weights: str) -> Estimates:
    """Fleiss' kappa: agreement over units with two ratings or more, marginals over rated units.

    >>> from ratings.agreement.examples import evaluated  # Gwet 2014 prints .761
    >>> evaluated("gwet_raw4raters", fleiss, "nominal")
    0.7612
    """
    shares = sums.units.rows("shares")
    # The shares sum to units x multiple; their own sum is used so that 0 stays exactly 0.
    size = total(shares)
    expected = distances_summed(shares, shares, sums.table.levels, weights)
    expected = np.where((shares > 0).sum(axis=0) < 2, 0.0, expected)
    return _against_chance(sums, weights, expected, size * size)


def conger(sums: Weighted, weights: str) -> Estimates:
    """Conger's kappa: agreement as Fleiss', chance from pairs of raters with their own marginals.

    Each rater's marginals are over the units he rated; raters without any count for nothing.
    Summed over raters, the marginals give all pairs at once, a rater with himself taken away.

    >>> from ratings.agreement.examples import evaluated  # Gwet 2014 prints .763
    >>> evaluated("gwet_raw4raters", conger, "nominal")
    0.7628
    """
    levels, n_raters = sums.table.levels, len(sums.table.raters)
    counts = sums.by_rater.rows("marginals")
    counts = counts.reshape(n_raters, len(levels), counts.shape[1])
    own = np.zeros(counts.shape[2])
    pooled = np.zeros(counts.shape[1:])
    active = np.zeros(counts.shape[2])
    for one in counts:
        n = total(one)
        shares = one / np.maximum(n, 1)
        pooled += shares
        own += distances_summed(shares, shares, levels, weights)
        active += n > 0
    expected = distances_summed(pooled, pooled, levels, weights) - own
    expected = np.where((pooled > 0).sum(axis=0) < 2, 0.0, expected)
    return _against_chance(sums, weights, expected, np.maximum(active * (active - 1), 1))


def gwet(sums: Weighted, weights: str) -> Estimates:
    """Gwet's AC1 (``nominal``) and AC2: chance from how evenly the levels are used.

    Weights are 1 - d / (largest d of the declared scale); levels that nobody used count.

    >>> from ratings.agreement.examples import evaluated  # Gwet 2014 prints .775
    >>> evaluated("gwet_raw4raters", gwet, "nominal")
    0.7754
    """
    declared = sums.table.declared
    q = len(declared)
    apart = np.abs(declared[:, np.newaxis] - declared)
    apart = {"nominal": apart > 0, "linear": apart, "quadratic": apart * apart}[weights] * 1.0
    largest = float(apart.max(initial=0.0))
    if q < 2:
        found = percent_agreement(sums)
        return Estimates.of(found.values, np.full(len(found.values), NO_VARIATION))
    all_weights = q * q - float(apart.sum()) / largest
    shares = sums.units.rows("shares")
    shares = shares / np.maximum(total(shares), 1)
    chance = all_weights / (q * (q - 1)) * total(shares * (1 - shares))
    return _against_chance(sums, weights, (1 - chance) * largest, 1.0)


def krippendorff(sums: Weighted, level: str) -> Estimates:
    """Krippendorff's alpha; `level` is nominal, ordinal, interval or ratio.

    The ordinal distance between levels c < k, the sum of the marginals from c to k less half of
    both ends, is the distance of their mid-ranks; so ordinal alpha is interval alpha on the
    mid-ranks of the observed marginals. The ratio distance ((c - k) / (c + k))^2 needs a scale
    without negative levels.

    >>> from ratings.agreement.examples import evaluated  # Krippendorff 2011: .815
    >>> evaluated("krippendorff2011", krippendorff, "ordinal")
    0.8154
    """
    table, found = sums.table, sums.coincidences
    marginals = found.rows("marginals")
    n = total(marginals)
    pairs = found.row("pairs")
    lower, upper = table.cell_levels
    if level == "nominal":
        observed = 2 * found.row("apart_nominal")
        expected = n * n - total(marginals * marginals)
    elif level == "interval":
        places = table.levels[:, np.newaxis]
        observed = 2 * found.row("apart_interval")
        expected = 2 * (n * total(marginals * places * places) - total(marginals * places) ** 2)
    elif level == "ordinal":
        # Twice the mid-rank less its mean, a whole number; alpha does not change with the factor.
        places = 2 * marginals.cumsum(axis=0) - marginals - n
        squares = (places[upper] - places[lower]) ** 2
        observed = 2 * total(found.rows("cells") * squares)
        expected = 2 * n * total(marginals * places * places)
    else:
        squares = _ratio_distances(table.values)
        observed = 2 * total(found.rows("cells") * squares[lower, upper][:, np.newaxis])
        expected = np.zeros_like(n)
        for place, one in enumerate(marginals[:-1]):
            others = marginals[place + 1 :] * squares[place, place + 1 :, np.newaxis]
            expected += 2 * one * total(others)
    expected = np.where((marginals > 0).sum(axis=0) < 2, 0.0, expected)
    codes = np.where(
        n == 0,
        NO_OVERLAP,
        np.where(expected > 0, DEFINED, np.where(pairs < 2, TOO_FEW_PAIRS, NO_VARIATION)),
    )
    if level == "ratio" and (table.values < 0).any():
        codes = np.where(n == 0, NO_OVERLAP, NO_TRUE_ZERO)
    observed_size, expected_size = n * table.coincidence_multiple, n * (n - 1)
    divisor = np.where(codes == DEFINED, expected * table.coincidence_multiple, 1.0)
    unit = _square_of_step(table.step, level)
    return Estimates.of(
        1.0 - observed * (n - 1) / divisor,
        codes,
        {
            "observed_disagreement": (observed * unit, observed_size),
            "expected_disagreement": (expected * unit, expected_size),
        },
    )


Function = Callable[[Weighted], Estimates]
_ALL: dict[str, Function] = {
    "percent_agreement": percent_agreement,
    "light_kappa": partial(light, weights="nominal"),
    "light_kappa_linear": partial(light, weights="linear"),
    "light_kappa_quadratic": partial(light, weights="quadratic"),
    "fleiss_kappa": partial(fleiss, weights="nominal"),
    "fleiss_kappa_linear": partial(fleiss, weights="linear"),
    "fleiss_kappa_quadratic": partial(fleiss, weights="quadratic"),
    "conger_kappa": partial(conger, weights="nominal"),
    "krippendorff_alpha_nominal": partial(krippendorff, level="nominal"),
    "krippendorff_alpha_ordinal": partial(krippendorff, level="ordinal"),
    "krippendorff_alpha_interval": partial(krippendorff, level="interval"),
    "krippendorff_alpha_ratio": partial(krippendorff, level="ratio"),
    "gwet_ac1": partial(gwet, weights="nominal"),
    "gwet_ac2_linear": partial(gwet, weights="linear"),
    "gwet_ac2_quadratic": partial(gwet, weights="quadratic"),
    "icc_1_1": partial(icc, form="1_1"),
    "icc_2_1": partial(icc, form="2_1"),
    "icc_3_1": partial(icc, form="3_1"),
    "icc_1_k": partial(icc, form="1_k"),
    "icc_2_k": partial(icc, form="2_k"),
    "icc_3_k": partial(icc, form="3_k"),
    "kendall_w": kendall_w,
}
COEFFICIENTS: Mapping[str, Function] = MappingProxyType({key: _ALL[key] for key in KEYS})


def _against_chance(
    sums: Weighted, weights: str, expected: Array, expected_size: Array | float
) -> Estimates:
    """Return 1 - Do / De, Do over units with two ratings or more, De = expected / its size."""
    paired, apart = sums.units.row("paired_units"), sums.units.row(f"apart_{weights}")
    size = np.maximum(paired, 1) * sums.table.pair_multiple
    short = np.where(sums.units.row("pairs") < 2, TOO_FEW_PAIRS, DEFINED)
    codes = np.where(paired == 0, NO_OVERLAP, short)
    codes = np.where((codes == DEFINED) & (expected <= 0), NO_VARIATION, codes)
    divisor = np.where(codes == DEFINED, expected * size, 1.0)
    step = sums.table.step
    unit = {"nominal": 1.0, "linear": step, "quadratic": step * step}[weights]
    return Estimates.of(
        1.0 - apart * expected_size / divisor,
        codes,
        {
            "observed_disagreement": (apart * unit, size),
            "expected_disagreement": (expected * unit, expected_size),
        },
    )


def _ratio_distances(values: Array) -> Array:
    """Return ((c - k) / (c + k))^2 for each two levels, 0 for 0 and 0."""
    summed = values[:, np.newaxis] + values
    apart = values[:, np.newaxis] - values
    return np.asarray((apart / np.where(summed == 0, 1.0, summed)) ** 2)


def _square_of_step(step: float, level: str) -> float:
    """Return the unit of disagreement: ordinal places are twice the ranks."""
    return {"nominal": 1.0, "ordinal": 0.25, "interval": step * step, "ratio": 1.0}[level]
