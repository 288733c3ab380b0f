"""Rows: the order of the conditions within each dilemma, balanced over the dilemmas.

A row is one order of the conditions 0 … k − 1. The plain set is a Williams design; where the
dilemmas do not fill whole sets, the rows left over are chosen so that balance is lost as little
as is possible.
"""

from collections.abc import Sequence

Row = tuple[int, ...]

# Five conditions have no cyclic set of 4, 5, 6 or 7 rows as balanced as others are. The first
# three of these seven rows have no pair of neighbours in common, the first five are a Latin
# square, and all seven hold every pair of neighbours once or twice.
_SEVEN: tuple[Row, ...] = (
    (0, 1, 4, 2, 3),
    (2, 0, 3, 4, 1),
    (3, 2, 1, 0, 4),
    (1, 4, 2, 3, 0),
    (4, 3, 0, 1, 2),
    (1, 3, 2, 4, 0),
    (3, 1, 0, 2, 4),
)
# The shifts of these three hold every pair of neighbours three times: fifteen rows, where Williams
# has whole sets of ten. The first is one of Williams' own.
_FIFTEEN: tuple[Row, ...] = ((0, 1, 4, 2, 3), (0, 2, 1, 4, 3), (0, 1, 3, 2, 4))


def williams_rows(conditions: int) -> list[Row]:
    """Return the rows of a Williams design: k rows for even k, 2k rows for odd k.

    Over all rows every condition stands at each place equally often, and each ordered pair of
    conditions is adjacent equally often. Every k rows in sequence, counted from the first, are a
    Latin square: all shifts of one row.

    References
    ----------
    E. J. Williams 1949, "Experimental designs balanced for the estimation of residual effects of
    treatments", Aust. J. Sci. Res. A 2, 149-168.

    Examples
    --------
    >>> williams_rows(4)
    [(0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1)]
    """
    k = conditions
    first = tuple((place + 1) // 2 if place % 2 else -(place // 2) % k for place in range(k))
    return _squares([first] if k % 2 == 0 else [first, first[::-1]])


def balanced_rows(conditions: int, count: int) -> list[Row]:
    """Return `count` rows, as balanced as is known to be possible.

    Parameters
    ----------
    conditions : int
        k, at least 1.
    count : int
        How many rows; 0 or more.

    Returns
    -------
    list of rows
        Place × condition is within one. Neighbours (ordered pairs in a row) differ in number by no
        more than `least_difference` for up to six conditions, and by no more than two for any
        number. Every k rows in sequence, counted from the first, are a Latin square, and the rest
        is a part of one.

    Examples
    --------
    >>> balanced_rows(2, 3)
    [(0, 1), (1, 0), (0, 1)]
    """
    rows = williams_rows(conditions)
    sets, rest = divmod(count, len(rows))
    if conditions == 5 and 3 <= rest <= 7 and (sets == 0 or rest == 3):
        left_over: Sequence[Row] = _SEVEN[:rest]
    elif conditions == 5 and 4 <= rest <= 7:
        sets -= 1
        left_over = [*_squares(_FIFTEEN), *rows][: len(rows) + rest]
    else:
        left_over = rows[:rest]
    return [*rows * sets, *left_over]


def least_difference(conditions: int, count: int) -> int:
    """Return the least possible difference in number between two pairs of neighbours.

    Of any `count` rows whose places are equal within one: 0 or 1, as the pairs divide, but 2 for
    k = 3 with 2, 3 or 4 rows over whole sets of six, and for k = 5 with 4, 5 or 6 rows. That these
    have no better set, and that all others up to k = 6 and 40 rows have one, was found by integer
    programming over all k! rows. From k = 7 on it is what counting allows, and may not exist.
    """
    if (conditions == 3 and 2 <= count % 6 <= 4) or (conditions == 5 and 4 <= count <= 6):
        return 2
    return 0 if conditions < 2 or count % conditions == 0 else 1


def _squares(starts: Sequence[Row]) -> list[Row]:
    """Return all shifts of each row: one Latin square a start."""
    k = len(starts[0])
    return [tuple((label + shift) % k for label in start) for start in starts for shift in range(k)]
