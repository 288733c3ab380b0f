"""Did the blinding hold? James' index, Bang's by condition, and its extension to k conditions.

Guesses are taken as independent, as in both papers; where a few judges guess many times each, the
intervals are too narrow. A guess from the quality of a text is not a leak, so the caller gives
either all guesses, or those from quality as don't-knows (`Guess.leak_only`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.results import Interval

Array = NDArray[np.float64]

QUALITY = "quality"
_TWO_SIDED = NormalDist().inv_cdf(0.975)
_ONE_SIDED = NormalDist().inv_cdf(0.95)


class Guess(NamedTuple):
    """What a judge took a response for; `guessed` is None for "don't know"."""

    condition: str
    guessed: str | None
    why: str = ""

    def leak_only(self) -> "Guess":
        """Return the guess, or a don't-know if it was from the quality of the text."""
        return self._replace(guessed=None) if self.why == QUALITY else self


@dataclass(frozen=True, kw_only=True)
class Index:
    """An index with its normal intervals.

    Attributes
    ----------
    estimate, standard_error : float or None
        None without a guess (`undefined` is then ``no_overlap``).
    ci95 : (float, float) or None
        Two-sided.
    onesided95 : (float, float) or None
        One-sided 95 % lower and upper limit, as Bang's paper gives them.
    n, n_right, n_wrong, n_unknown : int
    """

    estimate: float | None
    standard_error: float | None
    ci95: Interval | None
    onesided95: Interval | None
    n: int
    n_right: int
    n_wrong: int
    n_unknown: int
    undefined: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write the index for the report's JSON."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }


def cross_table(guesses: Iterable[Guess], conditions: Sequence[str]) -> Array:
    """Count guesses: rows are the guess in the sequence of `conditions`, don't-know the last row;
    columns are the truth. Shape (conditions + 1, conditions).

    Raises `KeyError` for a condition that is not among them.
    """
    place = {label: number for number, label in enumerate(conditions)}
    table = np.zeros((len(conditions) + 1, len(conditions)))
    for one in guesses:
        row = len(conditions) if one.guessed is None else place[one.guessed]
        table[row, place[one.condition]] += 1
    return table


def james(table: Array) -> Index:
    """Return James' index: 0 all guess right, .5 as by chance, 1 all don't know or all wrong.

    Parameters
    ----------
    table : ndarray, shape (k + 1, k)
        See `cross_table`. Two conditions or more: every wrong guess weighs the same, and the weight
        cancels out.

    Notes
    -----
    James, Bloch, Lee, Kraemer & Fuller 1996, Stat. Med. 15, 1421-1434: (1 + P_dk + (1 - P_dk) K_d)
    / 2, with K_d = (D_o - D_e) / D_e over the guesses, which is P_dk + (1 - P_dk)^2 A / (2 B) for
    the observed A and the expected B sum of wrong guesses. The standard error is the delta
    method's. Where every guess names one and the same right condition there is no expected
    disagreement: the second part is then 0.

    Examples
    --------
    The CRISP trial (Bang, Ni & Davis 2004, Control. Clin. Trials 25, 143-156, table 7):

    >>> found = james(np.array([[82.0, 27], [25, 29], [170, 83]]))
    >>> round(found.estimate, 2), tuple(round(x, 2) for x in found.ci95)
    (0.75, (0.71, 0.79))
    """
    n = float(table.sum())
    right = float(np.trace(table[:-1]))
    unknown = float(table[-1].sum())
    counted = _counted(n, right, unknown)
    if not n:
        return _undefined(counted)
    shares = table / n
    named, dont_know = shares[:-1], float(shares[-1].sum())
    rows, columns = named.sum(axis=1), named.sum(axis=0)
    total = float(named.sum())
    observed = total - float(np.trace(named))
    expected = total * total - float(rows @ columns)
    slopes = np.zeros_like(shares)
    slopes[-1] = 1.0
    estimate = dont_know
    if expected > 1e-15:
        ratio = observed / expected
        estimate += total * total * ratio / 2
        wrong = 1.0 - np.eye(len(rows))
        of_expected = 2 * total - columns[:, np.newaxis] - rows
        slopes[:-1] = total * ratio + total**2 * (wrong - ratio * of_expected) / (2 * expected)
    variance = float((shares * slopes**2).sum() - (shares * slopes).sum() ** 2) / n
    return _index(estimate, variance, counted)


def bang(table: Array) -> list[Index]:
    """Return Bang's index of each condition, in the sequence of the table's columns.

    For condition i: share of right guesses - share of wrong ones / (k - 1), don't-knows in the
    denominator. 0 is chance (on average over conditions of equal number), 1 all right; the least
    is -1 for two conditions and -1/(k - 1) in general.

    Parameters
    ----------
    table : ndarray, shape (k + 1, k)
        See `cross_table`. k = 2 is Bang, Ni & Davis 2004, Control. Clin. Trials 25, 143-156 (sec.
        2.2); k > 2 is our extension, and is labelled so wherever it is shown.

    Notes
    -----
    The variance is multinomial: (p_right + p_wrong / (k - 1)^2 - index^2) / n. With don't-knows
    only the index is 0, not undefined.

    Examples
    --------
    >>> found = bang(np.array([[82.0, 27], [25, 29], [170, 83]]))
    >>> [round(one.estimate, 2) for one in found]
    [0.21, 0.01]
    >>> tuple(round(limit, 2) for limit in found[0].onesided95)
    (0.15, 0.26)
    """
    k = table.shape[1]
    found = []
    for column in range(k):
        counts = table[:, column]
        n, right, unknown = float(counts.sum()), float(counts[column]), float(counts[-1])
        counted = _counted(n, right, unknown)
        if not n or k < 2:
            found.append(_undefined(counted))
            continue
        wrong = n - right - unknown
        price = 1 / (k - 1)
        estimate = (right - wrong * price) / n
        variance = ((right + wrong * price * price) / n - estimate * estimate) / n
        found.append(_index(estimate, variance, counted))
    return found


@dataclass(frozen=True, kw_only=True)
class Blinding:
    """What the guesses say about the blinding.

    Attributes
    ----------
    conditions : tuple of str
    extended : bool
        Whether there are more than two conditions: Bang's index is then our extension.
    table : list of list of int
        Rows are guesses, don't-know the last; columns are the truth.
    james : Index
    bang : mapping of condition to Index
    why : mapping of reason to {"n", "n_right"}
        Over those who guessed; "" where no reason was given.
    """

    conditions: tuple[str, ...]
    extended: bool
    table: list[list[int]]
    james: Index
    bang: Mapping[str, Index]
    why: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """Write the indices for the report's JSON."""
        return {
            "conditions": list(self.conditions),
            "extended": self.extended,
            "table": self.table,
            "james": self.james.to_dict(),
            "bang": {key: one.to_dict() for key, one in self.bang.items()},
            "why": {key: dict(one) for key, one in self.why.items()},
        }


def blinding(guesses: Sequence[Guess], conditions: Sequence[str]) -> Blinding:
    """Return both indices over all guesses of a panel; raises `KeyError` for an unknown condition."""
    table = cross_table(guesses, conditions)
    why: dict[str, dict[str, int]] = {}
    for one in guesses:
        if one.guessed is not None:
            counted = why.setdefault(one.why, {"n": 0, "n_right": 0})
            counted["n"] += 1
            counted["n_right"] += one.guessed == one.condition
    return Blinding(
        conditions=tuple(conditions),
        extended=len(conditions) > 2,
        table=table.astype(int).tolist(),
        james=james(table),
        bang=dict(zip(conditions, bang(table), strict=True)),
        why=dict(sorted(why.items())),
    )


class _Counted(NamedTuple):
    n: int
    n_right: int
    n_wrong: int
    n_unknown: int


def _counted(n: float, right: float, unknown: float) -> _Counted:
    return _Counted(int(n), int(right), int(n - right - unknown), int(unknown))


def _undefined(counted: _Counted) -> Index:
    return Index(
        estimate=None,
        standard_error=None,
        ci95=None,
        onesided95=None,
        undefined="no_overlap",
        **counted._asdict(),
    )


def _index(estimate: float, variance: float, counted: _Counted) -> Index:
    error = math.sqrt(max(0.0, variance))
    return Index(
        estimate=estimate,
        standard_error=error,
        ci95=(estimate - _TWO_SIDED * error, estimate + _TWO_SIDED * error),
        onesided95=(estimate - _ONE_SIDED * error, estimate + _ONE_SIDED * error),
        **counted._asdict(),
    )
