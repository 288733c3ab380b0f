"""The one module that imports slow libraries, each only when it is needed."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@cache
def _scipy_stats() -> Any:
    import scipy.stats

    return scipy.stats


@cache
def _inter_rater() -> Any:
    import statsmodels.stats.inter_rater

    return statsmodels.stats.inter_rater


@cache
def _krippendorff() -> Any:
    import krippendorff

    return krippendorff


def t_quantile(probability: float, df: int) -> float:
    """Return the quantile of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtrit  # a tenth of the import time of scipy.stats

    return float(stdtrit(df, probability))


def spearman(first: Array, second: Array) -> float:
    """Return Spearman's rank correlation of two arrays, neither of them constant."""
    return float(_scipy_stats().spearmanr(first, second).statistic)


def krippendorff_alpha(values: Array, *, level: str, scale: Sequence[float]) -> float:
    """Return alpha of a (units, raters) table; NaN if nothing varies.

    The library wants raters x units, defaults to the interval level, and raises without a
    domain when nothing varies: so all three are given.
    """
    return float(
        _krippendorff().alpha(
            reliability_data=values.T, level_of_measurement=level, value_domain=list(scale)
        )
    )


def fleiss_kappa(counts: Array) -> float:
    """Return Fleiss' kappa of a (units, levels) table of counts, complete data only."""
    return float(_inter_rater().fleiss_kappa(counts, method="fleiss"))


def cohens_kappa(table: Array, distances: Array | None) -> float:
    """Return Cohen's kappa of a square table, weighted by distances if given.

    Two-dimensional weights are distances there (Wikipedia's form), whatever its docstring leaves
    open; without them kappa is unweighted.
    """
    return float(_inter_rater().cohens_kappa(table, weights=distances, return_results=False))


def t_probability(value: float, df: int) -> float:
    """Return P(T <= value) of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtr  # a tenth of the import time of scipy.stats

    return float(stdtr(df, value))


def kendall_tau_b(first: Array, second: Array) -> float:
    """Return Kendall's tau-b, corrected for ties, of two arrays, neither of them constant."""
    return float(_scipy_stats().kendalltau(first, second, variant="b").statistic)
