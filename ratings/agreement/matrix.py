"""The one input of every analysis: ratings as a validated, read-only table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = tuple[Any, Any, float | None]

# A score may miss its level by rounding, e.g. .1 + .2 for .3, when scores are sums of levels.
_ROUNDING = 1e-12
_SHOWN_LEVELS = 12


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
        Labels of columns and rows, each once. `from_long` sorts them, so that the file's sequence
        is no matter.
    clusters : tuple of str
        For each unit the label of its cluster (its dilemma): what is resampled.

    Raises
    ------
    MatrixError
        For a shape that does not fit the labels, a label twice or not text, a scale that is not
        one, and a value off the scale.
    """

    values: NDArray[np.float64]
    scale: tuple[float, ...]
    raters: tuple[str, ...]
    units: tuple[str, ...]
    clusters: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("raters", "units", "clusters"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if np.shape(self.values) != (len(self.units), len(self.raters)):
            raise MatrixError("The table's shape is not units x raters: give one label to each.")
        if len(self.clusters) != len(self.units):
            raise MatrixError("Every unit needs a cluster label.")
        _check_labels("rater", self.raters, once=True)
        _check_labels("unit", self.units, once=True)
        _check_labels("cluster", self.clusters, once=False)
        levels = read_scale(self.scale, at_least=1)  # an automatic measure may be constant
        values = self._on_scale(levels)
        values.setflags(write=False)
        object.__setattr__(self, "scale", levels)
        object.__setattr__(self, "values", values)

    def _on_scale(self, levels: tuple[float, ...]) -> NDArray[np.float64]:
        """Return a copy in which each value is exactly a level, or NaN."""
        try:
            values = np.array(self.values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise MatrixError("The table holds what is no number: give levels or NaN.") from error
        scale = np.array(levels)
        upper = np.searchsorted(scale, values).clip(0, len(scale) - 1)
        lower = (upper - 1).clip(0)
        nearer = np.where(values - scale[lower] <= scale[upper] - values, lower, upper)
        snapped = np.where(np.isnan(values), np.nan, scale[nearer])
        off = np.abs(snapped - values) > _ROUNDING * max(1.0, abs(levels[0]), abs(levels[-1]))
        if off.any():
            row, column = np.argwhere(off)[0]
            where = f"The rating of unit {self.units[row]} by rater {self.raters[column]}"
            raise off_the_scale(where, f"{values[row, column]:g}", levels)
        return snapped

    @classmethod
    def from_long(
        cls,
        rows: Iterable[Row],
        *,
        scale: Sequence[float],
        clusters: Mapping[Any, Any] | None = None,
    ) -> "RatingMatrix":
        """Read rows (unit, rater, score); a score of None, NaN, pandas' NA or "" is missing.

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
            a unit by the same rater, text, or a unit or rater without a name, or a unit without
            a cluster.

        Examples
        --------
        >>> rows = [("u1", "ann", 0), ("u1", "bob", 1), ("u2", "ann", 3)]
        >>> RatingMatrix.from_long(rows, scale=[0, 1, 2, 3]).values
        array([[ 0.,  1.],
               [ 3., nan]])
        """
        levels = read_scale(scale)
        known = set(levels)
        cells: dict[tuple[str, str], float] = {}
        cluster_of: dict[str, str] = {}
        for number, (unit, rater, score) in enumerate(rows, start=1):
            where = f"Row {number} (unit {unit}, rater {rater})"
            cell = (_name(unit, "unit", where), _name(rater, "rater", where))
            if cell in cells:
                raise MatrixError(f"{where} rates the same unit a second time: remove one of them.")
            cells[cell] = read_score(score, levels, where, known)
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
        values = self.values[:, kept]
        values.setflags(write=False)
        table = object.__new__(RatingMatrix)  # a part of a valid table needs no second check
        table.__dict__.update(
            values=values,
            scale=self.scale,
            raters=tuple(self.raters[column] for column in kept),
            units=self.units,
            clusters=self.clusters,
            places=self.places[:, kept],
        )
        return table

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a rating, shape (units, raters)."""
        return ~np.isnan(self.values)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The place of each value on the scale, -1 where missing, shape (units, raters)."""
        places = np.searchsorted(np.array(self.scale), self.values)
        return np.where(np.isnan(self.values), -1, places).astype(np.int64)

    @property
    def varies(self) -> bool:
        """Whether two different levels were used."""
        used = self.values[self.present]
        return bool(used.size) and bool((used != used[0]).any())


def read_scale(scale: Sequence[Any], at_least: int = 2) -> tuple[float, ...]:
    """Return the declared levels, ascending; raises `MatrixError` for what is no scale."""
    try:
        if any(isinstance(level, bool | np.bool_) for level in scale):
            raise TypeError
        levels = tuple(sorted(float(level) for level in scale))
    except (TypeError, ValueError) as error:
        raise MatrixError("The scale has a level without a number: give each a value.") from error
    if len(levels) < at_least or len(set(levels)) != len(levels):
        raise MatrixError("The scale needs at least two different levels, each once.")
    if not all(math.isfinite(level) for level in levels):
        raise MatrixError("The scale has a level that is not a finite number.")
    return levels


def read_score(
    score: object, levels: tuple[float, ...], where: str, known: set[float] | None = None
) -> float:
    """Return a score as a level, NaN if it is missing; raises `MatrixError` with `where`.

    `known` is the set of the levels, for callers that read many scores.
    """
    if score is None or is_na(score) or (isinstance(score, str) and not score.strip()):
        return math.nan
    try:
        if isinstance(score, bool | np.bool_) or (isinstance(score, str) and "_" in score):
            raise TypeError  # which float() would read as a number
        value = float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise MatrixError(
            f"{where} has the score {score!r}: give levels as numbers in their order."
        ) from error
    if math.isnan(value):
        return value
    if value not in (set(levels) if known is None else known):
        raise off_the_scale(where, score, levels)
    return value


def off_the_scale(where: str, score: object, levels: Sequence[float]) -> MatrixError:
    """Return the error for a score that is no declared level."""
    scale = ", ".join(f"{level:g}" for level in levels[:_SHOWN_LEVELS])
    more = ", …" if len(levels) > _SHOWN_LEVELS else ""
    return MatrixError(
        f"{where} has the score {score}, which is not on the scale ({scale}{more}):"
        " correct it, or leave it empty if it is missing."
    )


def is_na(value: object) -> bool:
    """Whether it is one of pandas' markers of a missing value, which compare with nothing."""
    return type(value).__name__ in ("NAType", "NaTType")


def _name(value: object, what: str, where: str) -> str:
    """Return a label as text; raises `MatrixError` for what names nothing."""
    missing = value is None or is_na(value) or value == ""
    if missing or isinstance(value, bool | np.bool_) or value != value:
        raise MatrixError(f"{where} has no {what}: give each {what} a name.")
    return str(value)


def _check_labels(what: str, labels: Sequence[object], *, once: bool) -> None:
    for label in labels:
        if not isinstance(label, str):
            raise MatrixError(f"The {what} {label!r} is no text: give each {what} a name.")
    if once and len(set(labels)) != len(labels):
        seen: set[object] = set()
        double = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise MatrixError(f"The {what} {double} is there twice: give each {what} one name.")


def _cluster(unit: object, clusters: Mapping[Any, Any] | None, where: str) -> str:
    if clusters is None:
        return str(unit)
    if unit not in clusters:
        raise MatrixError(f"{where} is of a unit without a cluster: give its dilemma.")
    return _name(clusters[unit], "cluster", where)
