"""The one input of every analysis: ratings as a validated, read-only table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = tuple[Any, Any, float | None]


class MatrixError(ValueError):
    """The ratings cannot be read; the message names the row and the remedy."""


@dataclass(frozen=True, eq=False)
class RatingMatrix:
    """Ratings of units by raters on one criterion.

    Attributes
    ----------
    values : ndarray of float64, shape (units, raters), read-only
        Scores; NaN = missing, which is never a level and never 0.
    scale : tuple of float
        All declared levels, ascending, used or not. Distances come from these values.
    raters, units : tuple of str
        Labels of columns and rows, sorted, so that the file's sequence is no matter.
    clusters : tuple of str
        For each unit the label of its cluster (its dilemma): what is resampled.
    """

    values: NDArray[np.float64]
    scale: tuple[float, ...]
    raters: tuple[str, ...]
    units: tuple[str, ...]
    clusters: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.units), len(self.raters)):
            raise MatrixError("The table's shape is not units x raters.")
        if len(self.clusters) != len(self.units):
            raise MatrixError("Every unit needs a cluster label.")
        values = np.array(self.values, dtype=np.float64)
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @classmethod
    def from_long(
        cls,
        rows: Iterable[Row],
        *,
        scale: Sequence[float],
        clusters: Mapping[Any, Any] | None = None,
    ) -> "RatingMatrix":
        """Read rows (unit, rater, score); a score of None, NaN or "" is missing.

        Parameters
        ----------
        rows : iterable of (unit, rater, score or None)
            A missing row and a row with a missing score say the same, except that the latter
            makes its unit and rater known.
        scale : sequence of float
            The declared levels.
        clusters : mapping of unit to cluster, optional
            Without it each unit is its own cluster.

        Raises
        ------
        MatrixError
            For a value off the scale (a sentinel such as -1 or 99 included), a second rating of
            a unit by the same rater, text, or a unit without a cluster.

        Examples
        --------
        >>> rows = [("u1", "ann", 0), ("u1", "bob", 1), ("u2", "ann", 3)]
        >>> RatingMatrix.from_long(rows, scale=[0, 1, 2, 3]).values
        array([[ 0.,  1.],
               [ 3., nan]])
        """
        levels = _levels(scale)
        known = set(levels)
        cells: dict[tuple[str, str], float] = {}
        cluster_of: dict[str, str] = {}
        for number, (unit, rater, score) in enumerate(rows, start=1):
            cell = (str(unit), str(rater))
            where = f"Row {number} (unit {unit}, rater {rater})"
            if cell in cells:
                raise MatrixError(f"{where} rates the same unit a second time: remove one of them.")
            cells[cell] = _score(score, known, levels, where)
            if cell[0] not in cluster_of:
                cluster_of[cell[0]] = _cluster(unit, clusters, where)
        units = tuple(sorted(cluster_of))
        raters = tuple(sorted({rater for _, rater in cells}))
        row_of = {unit: row for row, unit in enumerate(units)}
        column_of = {rater: column for column, rater in enumerate(raters)}
        values = np.full((len(units), len(raters)), np.nan)
        for (unit, rater), value in cells.items():
            values[row_of[unit], column_of[rater]] = value
        return cls(values, levels, raters, units, tuple(cluster_of[unit] for unit in units))

    def without_rater(self, rater: str) -> "RatingMatrix":
        """Return the table without one column; raises `KeyError` if there is none."""
        if rater not in self.raters:
            raise KeyError(rater)
        return self.only_raters([other for other in self.raters if other != rater])

    def only_raters(self, raters: Iterable[str]) -> "RatingMatrix":
        """Return the table with these columns; raises `KeyError` for an unknown rater."""
        wanted = set(raters)
        if unknown := wanted - set(self.raters):
            raise KeyError(", ".join(sorted(unknown)))
        kept = [column for column, rater in enumerate(self.raters) if rater in wanted]
        names = tuple(self.raters[column] for column in kept)
        return RatingMatrix(self.values[:, kept], self.scale, names, self.units, self.clusters)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a rating, shape (units, raters)."""
        return ~np.isnan(self.values)

    @property
    def varies(self) -> bool:
        """Whether two different levels were used."""
        used = self.values[self.present]
        return bool(used.size) and bool((used != used[0]).any())


def _levels(scale: Sequence[float]) -> tuple[float, ...]:
    try:
        levels = tuple(sorted(float(level) for level in scale))
    except (TypeError, ValueError) as error:
        raise MatrixError("The scale has a level without a number: give each a value.") from error
    if len(levels) < 2 or len(set(levels)) != len(levels):
        raise MatrixError("The scale needs at least two different levels.")
    if not all(math.isfinite(level) for level in levels):
        raise MatrixError("The scale has a level that is not a finite number.")
    return levels


def _score(score: object, known: set[float], levels: tuple[float, ...], where: str) -> float:
    if score is None or score == "":
        return math.nan
    try:
        value = float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise MatrixError(
            f"{where} has the score {score!r}: give levels as numbers in their order."
        ) from error
    if math.isnan(value):
        return value
    if value not in known:
        scale = ", ".join(f"{level:g}" for level in levels[:12]) + (
            ", …" if len(levels) > 12 else ""
        )
        raise MatrixError(
            f"{where} has the score {score}, which is not on the scale ({scale}):"
            " correct it, or leave it empty if it is missing."
        )
    return value


def _cluster(unit: object, clusters: Mapping[Any, Any] | None, where: str) -> str:
    if clusters is None:
        return str(unit)
    if unit not in clusters:
        raise MatrixError(f"{where} is of a unit without a cluster: give its dilemma.")
    return str(clusters[unit])
