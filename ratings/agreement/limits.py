"""Bias and limits of agreement between two ways of measuring, by Bland and Altman.

Which of the three forms applies is the caller's knowledge: one pair per subject (`single`),
replicates of one true value per subject (`replicated`), or several pairs per subject between which
the true value varies (`repeated`). Responses of a dilemma differ, so judges against a model are
the third.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.clustered import around, numbered, one_way
from ratings.agreement.results import Interval

Array = NDArray[np.float64]

MULTIPLIER = 1.96  # the papers' own; 95 % of normal differences


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bias and the limits between which 95 % of differences are expected.

    Attributes
    ----------
    bias : float
        Mean difference, first minus second.
    sd : float
        Standard deviation of one difference.
    limits : (float, float)
        bias -+ 1.96 sd.
    bias_ci95, lower_ci95, upper_ci95 : (float, float) or None
        95 % intervals of the bias and of either limit.
    between, within : float or None
        The parts of sd squared between and within subjects (dilemmas), where they are told apart.
    n, n_clusters : int
        Differences, and subjects.
    """

    bias: float
    sd: float
    limits: Interval
    bias_ci95: Interval | None = None
    lower_ci95: Interval | None = None
    upper_ci95: Interval | None = None
    between: float | None = None
    within: float | None = None
    n: int
    n_clusters: int

    def to_dict(self) -> dict[str, Any]:
        """Write the limits for the report's JSON."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }


def single(differences: Array) -> Limits | None:
    """Return the limits of one difference per subject; None with fewer than two.

    Bland & Altman 1986, Lancet 327, 307-310; 1999, Stat. Methods Med. Res. 8, 135-160, sec. 2. The
    interval of a limit is t(n - 1) with the variance sd^2 (1/n + 1.96^2 / (2 (n - 1))), of which
    their 3 sd^2 / n is the rounded form.

    >>> found = single(np.array([-1.0, 0.0, 1.0]))
    >>> found.bias, found.sd, found.limits
    (0.0, 1.0, (-1.96, 1.96))
    """
    n = len(differences)
    if n < 2:
        return None
    bias, sd = float(differences.mean()), float(differences.std(ddof=1))
    low, high = _limits(bias, sd)
    t = libraries.t_quantile(0.975, n - 1)
    half = t * sd / math.sqrt(n)
    wide = t * sd * math.sqrt(1 / n + MULTIPLIER**2 / (2 * (n - 1)))
    return Limits(
        bias=bias,
        sd=sd,
        limits=(low, high),
        bias_ci95=(bias - half, bias + half),
        lower_ci95=(low - wide, low + wide),
        upper_ci95=(high - wide, high + wide),
        n=n,
        n_clusters=n,
    )


def replicated(first: Array, second: Array) -> Limits | None:
    """Return the limits of single readings where replicates measure one true value.

    Parameters
    ----------
    first, second : ndarray, shapes (subjects, replicates) and (subjects, other replicates)
        Both complete; each way has its own number of replicates.

    Notes
    -----
    Bland & Altman 1999, Stat. Methods Med. Res. 8, 135-160, sec. 5.1. None with fewer than two
    subjects. Not for responses of a dilemma, whose true values differ.
    """
    subjects = len(first)
    if subjects < 2:
        return None
    apart = first.mean(axis=1) - second.mean(axis=1)
    between = float(apart.var(ddof=1))
    within = sum(_within(one) * (1 - 1 / one.shape[1]) for one in (first, second))
    bias, sd = float(apart.mean()), math.sqrt(between + within)
    return Limits(
        bias=bias,
        sd=sd,
        limits=_limits(bias, sd),
        between=between,
        within=within,
        n=subjects,
        n_clusters=subjects,
    )


def repeated(differences: Array, clusters: Sequence[Hashable]) -> Limits | None:
    """Return the limits of paired readings where the true value varies within a subject.

    Parameters
    ----------
    differences : ndarray, shape (n,)
    clusters : sequence of hashable, length n
        The subject (dilemma) of each difference.

    Returns
    -------
    Limits or None
        None with fewer than two clusters, or if no cluster has two differences.

    Notes
    -----
    One-way analysis of variance of the differences by subject; sd^2 is the sum of the two
    components, a negative one between taken as 0: Bland & Altman 2007, J. Biopharm. Stat. 17,
    571-582, sec. 3 (the cardiac output of 12 patients, bias .60, limits -1.34 and 2.54). The
    intervals are the cluster jackknife with t(K - 1), which the paper does not give.
    """
    found = _components(differences, clusters)
    if found is None:
        return None
    bias, between, within = found
    sd = math.sqrt(between + within)
    low, high = _limits(bias, sd)
    cluster, n_clusters = numbered(clusters)
    without = [
        _components(differences[cluster != one], cluster[cluster != one].tolist())
        for one in range(n_clusters)
    ]
    edges = [
        None if one is None else (one[0], *_limits(one[0], math.sqrt(one[1] + one[2])))
        for one in without
    ]
    intervals = [
        around(point, [None if edge is None else edge[place] for edge in edges])
        for place, point in enumerate((bias, low, high))
    ]
    return Limits(
        bias=bias,
        sd=sd,
        limits=(low, high),
        bias_ci95=intervals[0],
        lower_ci95=intervals[1],
        upper_ci95=intervals[2],
        between=between,
        within=within,
        n=len(differences),
        n_clusters=n_clusters,
    )


def _components(
    differences: Array, clusters: Sequence[Hashable]
) -> tuple[float, float, float] | None:
    found = one_way(differences, clusters)
    return None if found is None else (found.mean, found.between, found.within)


def _within(readings: Array) -> float:
    """Return the mean over subjects of the variance of their replicates; 0 without replicates."""
    return float(readings.var(axis=1, ddof=1).mean()) if readings.shape[1] > 1 else 0.0


def _limits(bias: float, sd: float) -> Interval:
    return bias - MULTIPLIER * sd, bias + MULTIPLIER * sd
