"""Tables of ratings from files, long or wide: columns by name, errors by row. The one module that
opens files.

A long table has one row per rating; a wide one a row per unit and a column per rater. Rows are
numbered as a spreadsheet numbers them: the header is row 1.
"""

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.matrix import MatrixError, RatingMatrix, read_scale, read_score

Ints = NDArray[np.int64]

ONLY_CRITERION = "score"  # what a table without a criterion column measures
_LONGEST_RANGE = 1001  # levels
_MISSING_MARKS = {"", "na", "nan", "null", "none"}


@dataclass(frozen=True, kw_only=True)
class Names:
    """What the columns are called.

    Attributes
    ----------
    unit, rater, criterion, score, cluster : str
    named : frozenset of str
        Those of the five that somebody named: such a column must be there.
    """

    unit: str = "item_id"
    rater: str = "rater_id"
    criterion: str = "criterion"
    score: str = "score"
    cluster: str = "prompt_id"
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Table:
    """What a file holds.

    Attributes
    ----------
    matrices : dict of criterion to RatingMatrix
        In the file's sequence of criteria.
    n_rows : int
        Rows below the header.
    warnings : tuple of str
        What a person should know; the figures are right as they are read.
    """

    matrices: dict[str, RatingMatrix]
    n_rows: int
    warnings: tuple[str, ...] = field(default=())


class _Column(NamedTuple):
    """A column as codes and the texts that they stand for."""

    codes: Ints
    texts: list[str]

    def at(self, row: int) -> str:
        return self.texts[self.codes[row]]


@dataclass(frozen=True, eq=False)
class _Long:
    """Ratings one after another; `row` is the place of each in the file."""

    row: Ints
    unit: _Column
    rater: _Column
    criterion: _Column | None
    cluster: _Column | None
    score: NDArray[np.float64]

    def where(self, place: int) -> str:
        return _where(self.row[place], self.unit.at(place), self.rater.at(place))


def parse_scale(text: str) -> tuple[float, ...]:
    """Read a scale: ``0-3`` for whole levels from 0 to 3, or the levels one by one: ``0,0.5,1``.

    >>> parse_scale("0-3"), parse_scale("1, 2.5, 10")
    ((0.0, 1.0, 2.0, 3.0), (1.0, 2.5, 10.0))
    """
    if whole := re.fullmatch(r"\s*(-?\d{1,9})\s*[-–]\s*(-?\d{1,9})\s*", text):
        low, high = int(whole[1]), int(whole[2])
        if high - low >= _LONGEST_RANGE:
            raise MatrixError(
                f"The scale {text} has more than {_LONGEST_RANGE} levels: list those that exist."
            )
        return read_scale(range(low, high + 1))
    return read_scale([part.strip() for part in text.split(",")])


def read_table(path: Path, scale: Sequence[float], names: Names, *, wide: bool = False) -> Table:
    """Read a file with one header row, UTF-8, separated by commas, semicolons or tabs.

    Parameters
    ----------
    path : Path
    scale : sequence of float
        The declared levels.
    names : Names
    wide : bool
        Whether each rater has a column: every one that is not the unit's, the criterion's or the
        cluster's.

    Raises
    ------
    MatrixError
        With the row and the remedy: a column that is not there, a value off the scale, text, a
        second rating, a unit, rater or criterion without a name, a unit in two clusters, a row
        longer than the header, one rater only, no rating at all, another encoding.
    OSError
        If the file cannot be opened.
    """
    levels = read_scale(scale)
    warnings: list[str] = []
    separator, header = _header(path)
    columns = _columns(path, separator, header)
    find = _Finder(header, columns, names)
    unit = _named(find.required("unit"), warnings, "unit")
    criterion, cluster = find.optional("criterion"), find.optional("cluster")
    n_rows = len(unit.codes)
    kept = _filled(columns)
    if len(kept) < n_rows:
        warnings.append(f"{n_rows - len(kept)} empty rows were passed over.")
    if wide:
        raters = [place for place in range(len(header)) if place not in find.used]
        long = _melted(columns, header, raters, kept, unit, criterion, cluster, levels)
    else:
        rater = _named(find.required("rater"), warnings, "rater")
        score = find.required("score")
        _refuse_unnamed(rater, kept, "rater")
        long = _Long(
            kept + 2,
            _taken(unit, kept),
            _taken(rater, kept),
            _taken(criterion, kept) if criterion else None,
            _taken(cluster, kept) if cluster else None,
            np.zeros(0),
        )
        long = _scored(long, _taken(score, kept), levels)
    _refuse_unnamed(unit, kept, "unit")
    if cluster is None:
        warnings.append(
            f'There is no cluster column "{names.cluster}": each unit is its own cluster. If units'
            " belong together, e.g. answers to one question, the intervals are too narrow: name"
            " their column with --cluster."
        )
    _refuse_unusable(long)
    return Table(matrices=_matrices(long, levels), n_rows=n_rows, warnings=tuple(warnings))


class _Finder:
    """Columns by what they are for; remembers which are used."""

    def __init__(self, header: list[str], columns: list[_Column], names: Names) -> None:
        self.header, self.columns, self.names = header, columns, names
        self.used: set[int] = set()

    def optional(self, role: str) -> _Column | None:
        """Return the column; None if it is not there and nobody named it."""
        name = getattr(self.names, role)
        if name not in self.header and role not in self.names.named:
            return None
        return self.required(role)

    def required(self, role: str) -> _Column:
        name = getattr(self.names, role)
        if name not in self.header:
            there = ", ".join(column or '""' for column in self.header)
            raise MatrixError(
                f'Row 1 has no column "{name}" (there is: {there}): say which column holds the'
                f" {role} with --{role}."
            )
        if self.header.count(name) > 1:
            raise MatrixError(f'Row 1 has the column "{name}" twice: rename one of them.')
        place = self.header.index(name)
        self.used.add(place)
        return self.columns[place]


def _header(path: Path) -> tuple[str, list[str]]:
    """Return the separator and the names of the columns."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            separator = max(",;\t", key=first.count)
            file.seek(0)
            header = next(csv.reader(file, delimiter=separator), [])
    except UnicodeDecodeError as error:
        raise _other_encoding(path) from error
    if not any(name.strip() for name in header):
        raise MatrixError("Row 1 is empty: it has to name the columns.")
    return separator, [name.strip().removeprefix("\ufeff") for name in header]


def _columns(path: Path, separator: str, header: list[str]) -> list[_Column]:
    try:
        columns = [_Column(*one) for one in libraries.read_columns(str(path), separator=separator)]
    except UnicodeDecodeError as error:
        raise _other_encoding(path) from error
    except ValueError as error:
        raise MatrixError(_ragged(str(error), len(header))) from error
    if not columns or not len(columns[0].codes):
        raise MatrixError("There is no row below the header: the file has no ratings.")
    return columns


def _ragged(message: str, width: int) -> str:
    if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message):
        return (
            f"Line {found[2]} has {found[3]} fields where the header has {found[1]}: put a field"
            " that holds the separator in quotes."
        )
    if "Length of header" in message:
        return (
            f"Row 2 has more fields than the header's {width}: put a field that holds the separator"
            " in quotes, or name every column."
        )
    if found := re.search(r"EOF inside string starting at row (\d+)", message):
        return f"A quotation mark that opens in row {int(found[1]) + 1} is never closed: close it."
    return f"The table cannot be read: {message}"


def _other_encoding(path: Path) -> MatrixError:
    return MatrixError(f"{path.name} is not in UTF-8: save it as «CSV UTF-8» and try again.")


def _named(column: _Column, warnings: list[str], what: str) -> _Column:
    """Trim the names of a column, and tell."""
    trimmed = [text.strip() for text in column.texts]
    changed = sum(one != other for one, other in zip(trimmed, column.texts, strict=True))
    if not changed:
        return column
    warnings.append(f"Spaces around {changed} names of the column of {what}s were left out.")
    return _joined(column, trimmed)


def _joined(column: _Column, texts: list[str]) -> _Column:
    """Give the codes new texts, of which several may have become one."""
    known = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    code_of = np.array([known[text] for text in texts], dtype=np.int64)
    return _Column(code_of[column.codes], list(known))


def _filled(columns: Sequence[_Column]) -> Ints:
    """Return the rows in which any column holds anything."""
    filled = np.zeros(len(columns[0].codes), dtype=bool)
    for column in columns:
        filled |= np.array([bool(text.strip()) for text in column.texts])[column.codes]
        if filled.all():
            break
    return np.flatnonzero(filled)


def _taken(column: _Column, rows: Ints) -> _Column:
    return column if len(rows) == len(column.codes) else _Column(column.codes[rows], column.texts)


def _refuse_unnamed(column: _Column, rows: Ints, what: str) -> None:
    if "" in column.texts:
        empty = np.flatnonzero(column.codes[rows] == column.texts.index(""))
        if empty.size:
            raise MatrixError(
                f"Row {rows[empty[0]] + 2} has no {what}: give each {what} a name, or leave the"
                " whole row out."
            )


def _scores(column: _Column, levels: tuple[float, ...]) -> tuple[NDArray[np.float64], Ints]:
    """Return the level of each text of a column (NaN: missing), and the codes of the wrong ones."""
    found, wrong = [], []
    known = set(levels)
    for code, text in enumerate(column.texts):
        value = math.nan
        if text.strip().lower() not in _MISSING_MARKS:
            try:
                value = read_score(text, levels, "", known)
            except MatrixError:
                wrong.append(code)
        found.append(value)
    return np.array(found), np.array(wrong, dtype=np.int64)


def _scored(long: _Long, column: _Column, levels: tuple[float, ...]) -> _Long:
    """Add the scores; raises `MatrixError` for the first wrong one."""
    found, wrong = _scores(column, levels)
    if wrong.size:
        place = int(np.flatnonzero(np.isin(column.codes, wrong))[0])
        read_score(column.at(place), levels, long.where(place))
    return _Long(long.row, long.unit, long.rater, long.criterion, long.cluster, found[column.codes])


def _melted(
    columns: Sequence[_Column],
    header: Sequence[str],
    raters: Sequence[int],
    kept: Ints,
    unit: _Column,
    criterion: _Column | None,
    cluster: _Column | None,
    levels: tuple[float, ...],
) -> _Long:
    """Put the columns of the raters one below the other."""
    names = [header[place] for place in raters]
    for name in names:
        if not name:
            raise MatrixError("Row 1 has a column without a name: name its rater, or remove it.")
        if names.count(name) > 1:
            raise MatrixError(f'Row 1 has the rater "{name}" twice: rename one of them.')
    scores = []
    for name, place in zip(names, raters, strict=True):
        column = _taken(columns[place], kept)
        found, wrong = _scores(column, levels)
        if wrong.size:
            row = int(np.flatnonzero(np.isin(column.codes, wrong))[0])
            where = _where(kept[row] + 2, unit.at(int(kept[row])), name)
            read_score(column.at(row), levels, where)
        scores.append(found[column.codes])
    times = len(names)

    def repeated(column: _Column | None) -> _Column | None:
        taken = _taken(column, kept) if column else None
        return _Column(np.tile(taken.codes, times), taken.texts) if taken else None

    of_unit = repeated(unit)
    assert of_unit is not None
    return _Long(
        np.tile(kept + 2, times),
        of_unit,
        _Column(np.repeat(np.arange(times), len(kept)), names),
        repeated(criterion),
        repeated(cluster),
        np.concatenate(scores) if scores else np.zeros(0),
    )


def _refuse_unusable(long: _Long) -> None:
    """Refuse a second rating, a unit in two clusters, an empty name, and one rater only."""
    if long.criterion is not None:
        _refuse_empty(long, long.criterion, "criterion")
    if long.cluster is not None:
        _refuse_empty(long, long.cluster, "cluster")
        _refuse_two_clusters(long, long.cluster)
    key = long.unit.codes * len(long.rater.texts) + long.rater.codes
    if long.criterion is not None:
        key = key * len(long.criterion.texts) + long.criterion.codes
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    if again.size:
        place = order[again + 1].min()
        first = np.flatnonzero(key == key[place])[0]
        raise MatrixError(
            f"{long.where(place)} rates a second time what row {long.row[first]} rates already:"
            " remove one of them."
        )
    heard = np.unique(long.rater.codes[~np.isnan(long.score)])
    if not heard.size:
        raise MatrixError("There is no score in any row: fill the column of scores.")
    if len(heard) == 1:
        only = long.rater.texts[heard[0]]
        raise MatrixError(
            f"All ratings, from row {long.row.min()} on, are by one rater, {only}: agreement needs"
            " a second one."
        )


def _refuse_empty(long: _Long, column: _Column, what: str) -> None:
    empty = [code for code, text in enumerate(column.texts) if not text.strip()]
    places = np.flatnonzero(np.isin(column.codes, empty)) if empty else np.zeros(0, dtype=np.int64)
    if places.size:
        raise MatrixError(f"{long.where(int(places[0]))} has no {what}: name it in every row.")


def _refuse_two_clusters(long: _Long, cluster: _Column) -> None:
    first = np.full(len(long.unit.texts), -1, dtype=np.int64)
    # Written backwards, so that the first of each unit stays.
    first[long.unit.codes[::-1]] = cluster.codes[::-1]
    other = np.flatnonzero(first[long.unit.codes] != cluster.codes)
    if other.size:
        place = int(other[0])
        before = cluster.texts[first[long.unit.codes[place]]]
        raise MatrixError(
            f"{long.where(place)} puts the unit in the cluster {cluster.at(place)}, an earlier row"
            f" in {before}: a unit belongs to one cluster."
        )


def _matrices(long: _Long, levels: tuple[float, ...]) -> dict[str, RatingMatrix]:
    """Return one table per criterion, units and raters sorted by name."""
    unit, rater = _sorted(long.unit), _sorted(long.rater)
    cluster_of = unit.texts
    if long.cluster is not None:
        code_of = np.zeros(len(unit.texts), dtype=np.int64)
        code_of[unit.codes] = long.cluster.codes
        cluster_of = [long.cluster.texts[code] for code in code_of]
    if long.criterion is None:
        everything = np.arange(len(long.row))
        return {ONLY_CRITERION: _matrix(everything, unit, rater, cluster_of, long.score, levels)}
    criteria, first = np.unique(long.criterion.codes, return_index=True)
    by_criterion = np.argsort(long.criterion.codes, kind="stable")
    starts = np.searchsorted(
        long.criterion.codes[by_criterion], np.append(criteria, criteria[-1] + 1)
    )
    return {
        long.criterion.texts[criteria[number]]: _matrix(
            by_criterion[starts[number] : starts[number + 1]],
            unit,
            rater,
            cluster_of,
            long.score,
            levels,
        )
        for number in np.argsort(first)
    }


def _matrix(
    places: Ints,
    unit: _Column,
    rater: _Column,
    cluster_of: Sequence[str],
    score: NDArray[np.float64],
    levels: tuple[float, ...],
) -> RatingMatrix:
    units, rows = np.unique(unit.codes[places], return_inverse=True)
    raters, columns = np.unique(rater.codes[places], return_inverse=True)
    values = np.full((len(units), len(raters)), np.nan)
    values[rows, columns] = score[places]
    return RatingMatrix(
        values,
        levels,
        tuple(rater.texts[code] for code in raters),
        tuple(unit.texts[code] for code in units),
        tuple(cluster_of[code] for code in units),
    )


def _sorted(column: _Column) -> _Column:
    """Number the texts in the sequence of the alphabet."""
    order = sorted(range(len(column.texts)), key=column.texts.__getitem__)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return _Column(rank[column.codes], [column.texts[code] for code in order])


def _where(row: int, unit: str, rater: str) -> str:
    return f"Row {row} (unit {unit}, rater {rater})"
