"""How much a verdict hangs on: the best and worst fill of what is missing, and the fewest changes.

Both are searches that change one rating at a time, each time the one that moves the coefficient
most: what they find is possible, and better may be (a fill lies between the true extremes, a number
of changes is an upper bound). They stand beside a verdict and never decide.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.analyse import bootstrap, one_coefficient
from ratings.agreement.coefficients import COEFFICIENTS, Drawn, Weighted
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.sums import sum_table

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Direction = Literal[1, -1]

_LARGEST = 500  # candidates computed at once
_SWEEPS = 3
_SAME = 1e-12


@dataclass(frozen=True)
class Measured:
    """A coefficient and its one-sided 95 % lower bound; None where undefined."""

    estimate: float | None
    lower95: float | None


@dataclass(frozen=True, kw_only=True)
class Fills:
    """The coefficient if what is missing had been scored for it, and against it."""

    missing: int
    best: Measured
    worst: Measured


def measure(matrix: RatingMatrix, key: str, *, draws: int, seed: int) -> Measured:
    """Return one coefficient with the report's lower bound; without draws only the estimate."""
    table = sum_table(matrix, sorted(set(matrix.clusters)))
    drawn = None
    if draws:
        functions = {"": {key: COEFFICIENTS[key]}}
        drawn = bootstrap({"": table}, functions, draws=draws, seed=seed)[""][key]
    found = one_coefficient(table, key, drawn)
    return Measured(found.estimate, found.lower95)


def fills(matrix: RatingMatrix, owed: Mask, key: str, *, draws: int, seed: int) -> Fills:
    """Fill the owed ratings so that the coefficient is highest, and lowest.

    Parameters
    ----------
    matrix : RatingMatrix
    owed : ndarray of bool, shape (units, raters)
        Ratings that were due and are missing; others that are missing were never asked for.
    key : str
        The registered coefficient.
    """
    missing = owed & ~matrix.present
    best, worst = (
        measure(_filled(matrix, missing, key, direction), key, draws=draws, seed=seed)
        for direction in (1, -1)
    )
    return Fills(missing=int(missing.sum()), best=best, worst=worst)


def changes_to_turn(
    matrix: RatingMatrix,
    key: str,
    reaches: Callable[[RatingMatrix], bool],
    *,
    limit: int,
) -> int | None:
    """Return how many changed ratings turn `reaches`; None if `limit` of them do not.

    Parameters
    ----------
    key : str
        The coefficient that each change moves most, down if `reaches` holds and up otherwise.
    reaches : callable
        Whether a table meets the rule; where the coefficient is undefined it says False.
    limit : int
        Ratings changed at most, each once.
    """
    held = reaches(matrix)
    direction: Direction = -1 if held else 1
    free = matrix.present
    for changes in range(1, limit + 1):
        moved = _moved(matrix, free, key, direction)
        if moved is None:
            return None
        matrix, cell, _ = moved
        free = free.copy()
        free[cell] = False
        if reaches(matrix) != held:
            return changes
    return None


def _filled(matrix: RatingMatrix, missing: Mask, key: str, direction: Direction) -> RatingMatrix:
    left = missing.copy()
    while left.any():
        moved = _moved(matrix, left, key, direction)
        if moved is None:
            break
        matrix, cell, _ = moved
        left[cell] = False
    for _ in range(_SWEEPS * int(missing.sum())):
        moved = _moved(matrix, missing & matrix.present, key, direction)
        if moved is None or not moved[2]:
            break
        matrix = moved[0]
    return matrix


def _moved(
    matrix: RatingMatrix, free: Mask, key: str, direction: Direction
) -> tuple[RatingMatrix, tuple[int, int], bool] | None:
    """Change the one free cell that moves the coefficient most; say where, and whether it gains.

    None if there is nothing to change, or every change leaves the coefficient undefined.
    """
    cells = _candidates(matrix, free)
    if not len(cells):
        return None
    before = measure(matrix, key, draws=0, seed=0).estimate
    values = np.concatenate(
        [
            _with_each(matrix, cells[start : start + _LARGEST], key, direction)
            for start in range(0, len(cells), _LARGEST)
        ]
    )
    place = int(values.argmax())
    if not np.isfinite(values[place]):
        return None
    row, column, level = (int(number) for number in cells[place])
    changed = matrix.values.copy()
    changed[row, column] = matrix.scale[level]
    gains = before is None or float(values[place]) > direction * before + _SAME
    return replace(matrix, values=changed), (row, column), gains


def _candidates(matrix: RatingMatrix, free: Mask) -> NDArray[np.int64]:
    """Return (row, column, place of the level) of every change worth trying.

    Units with the same ratings and the same free cells are alike: the first stands for all.
    """
    patterns = np.concatenate([np.nan_to_num(matrix.values, nan=np.inf), free], axis=1)
    _, first = np.unique(patterns, axis=0, return_index=True)
    rows = np.sort(first)
    levels = np.asarray(matrix.scale)
    differs = matrix.values[rows][:, :, np.newaxis] != levels  # NaN differs from every level
    where = np.argwhere(differs & free[rows][:, :, np.newaxis])
    where[:, 0] = rows[where[:, 0]]
    return where.astype(np.int64)


def _with_each(
    matrix: RatingMatrix, cells: NDArray[np.int64], key: str, direction: Direction
) -> Array:
    """Return direction x the coefficient after each change; -inf where it is undefined."""
    rows, columns, levels = cells.T
    changed = matrix.values[rows]
    changed[np.arange(len(cells)), columns] = np.asarray(matrix.scale)[levels]
    every = np.concatenate([matrix.values, changed])
    names = tuple(f"{number:09}" for number in range(len(every)))
    wide = RatingMatrix(every, matrix.scale, matrix.raters, names, names)
    # Every unit is its own cluster; each "draw" takes a candidate for the unit it was made from.
    weights = np.zeros((len(cells), len(every)))
    weights[:, : len(matrix.units)] = 1.0
    weights[np.arange(len(cells)), rows] = 0.0
    weights[np.arange(len(cells)), len(matrix.units) + np.arange(len(cells))] = 1.0
    found = COEFFICIENTS[key](Weighted.of(sum_table(wide, names), Drawn(weights)))
    return np.where(found.defined, direction * found.values, -np.inf)
