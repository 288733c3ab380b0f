"""The one module that imports slow libraries, each only when it is needed."""

from collections.abc import Iterator, Sequence
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


def read_columns(path: str, *, separator: str) -> Iterator[tuple[NDArray[np.int64], list[str]]]:
    """Yield each column of a UTF-8 file with a header as (codes, the texts they stand for).

    Raises `ValueError` with pandas' message for a row that is longer than the header, and
    `UnicodeDecodeError`. A missing field is the text "", as is an empty one; nothing is taken for
    a number, so that "07" stays apart from "7"; empty lines are rows.
    """
    import warnings

    import pandas

    with warnings.catch_warnings():
        # A first row longer than the header would be cut, with a warning, or shift all columns.
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        try:
            table = pandas.read_csv(
                path,
                sep=separator,
                dtype=str,
                encoding="utf-8-sig",
                header=0,
                index_col=False,
                keep_default_na=False,
                na_filter=False,
                skip_blank_lines=False,
            )
        except (pandas.errors.ParserError, pandas.errors.ParserWarning) as error:
            raise ValueError(" ".join(str(error).split())) from error
    for place in range(table.shape[1]):
        codes, texts = pandas.factorize(table.iloc[:, place])
        yield codes.astype(np.int64), [str(text) for text in texts]


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
