"""What a table may contain: columns with a type, and how a file's headers are matched to them."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from dilemmas.services.reading.problems import Problems

Words = str | Promise
_BETWEEN = re.compile(r"[\s_.-]+")


@dataclass(frozen=True)
class Column:
    """One column. `kind`: label (names something), text, whole, number, names.

    A `required` column must be there; one that is `filled` may also have no empty cell.
    `when` says in words what `required` cannot. `also` are other names that files give it.
    """

    name: str
    kind: str
    meaning: Words = ""
    example: str = ""
    required: bool = False
    filled: bool = False
    default: str = ""
    when: Words = ""
    longest: int = 200
    by_language: bool = False  # in JSON it may be an object with a text for each language
    also: Sequence[str] = ()


@dataclass(frozen=True)
class Format:
    """A kind of file: its columns, in the order of the documentation."""

    key: str
    columns: Sequence[Column]
    keeps_extra: bool = False  # what stands in other columns is kept beside the content

    def names(self) -> list[str]:
        return [column.name for column in self.columns]


@dataclass
class Header:
    """A file's headers: which is which column, which are others, which have no name."""

    columns: dict[int, Column] = field(default_factory=dict)
    extra: dict[int, str] = field(default_factory=dict)
    nameless: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def fold(name: str) -> str:
    """Return what a header says, whatever its capitals, spaces, hyphens and invisible characters."""
    text = unicodedata.normalize("NFKC", name)
    text = "".join(one for one in text if unicodedata.category(one) != "Cf")
    return _BETWEEN.sub("_", text.strip().casefold()).strip("_")


def match(
    written: Sequence[str],
    format_: Format,
    *,
    line: int,
    problems: Problems,
    chosen: Mapping[str, str] | None = None,
) -> Header:
    """Match headers to columns by name. A header that could be two things is a problem.

    `chosen` says of a column which header somebody has named for it; it comes before any name.

    Exact names come first; then the same name in other capitals or spacing, and other names that
    are in use for it, both of which are said.
    """
    header = Header()
    by_name = {column.name: column for column in format_.columns}
    by_fold = {fold(other): column for column in format_.columns for other in column.also}
    by_fold |= {fold(column.name): column for column in format_.columns}
    names = [name.strip("\ufeff \t\r\n") for name in written]
    loose: dict[str, list[int]] = {}
    by_choice = {header_: column for column, header_ in (chosen or {}).items() if header_}
    for index, name in enumerate(names):
        if name in by_choice and by_choice[name] in by_name:
            column = by_name[by_choice.pop(name)]
            header.columns[index] = column
            problems.written[column.name] = name
            header.notes.append(
                _("The column %(written)s was read as «%(name)s».")
                % {"written": f"«{name}»", "name": column.name}
            )
        elif not name:
            header.nameless.append(index)
        elif name in by_name and by_name[name] not in header.columns.values():
            header.columns[index] = by_name[name]
        else:
            meant = by_fold.get(fold(name))
            loose.setdefault(meant.name if meant else name, []).append(index)
    exact = {column.name for column in header.columns.values()}
    for name, places in loose.items():
        if name in exact:  # then another name for it is just another column
            for index in places:
                if fold(names[index]) != fold(name):
                    header.extra[index] = names[index]
            places = [index for index in places if index not in header.extra]
        shown = ", ".join(f"«{written[index]}»" for index in places)
        if name in exact and places:
            message = _("The column stands twice: also as %s.") % shown
            problems.add(line, name, message, _("Keep one."))
        elif len(places) > 1:
            message = _("Several columns could be this one: %s.") % shown
            problems.add(line, name, message, _("Keep one."))
        elif name in by_name and places:
            header.columns[places[0]] = by_name[name]
            problems.written[name] = names[places[0]]
            header.notes.append(
                _("The column %(written)s was read as «%(name)s».")
                % {"written": shown, "name": name}
            )
        elif places:
            header.extra[places[0]] = name
    return header


def missing(header: Header, format_: Format) -> list[Column]:
    """Return the required columns that the file does not have."""
    there = {column.name for column in header.columns.values()}
    return [column for column in format_.columns if column.required and column.name not in there]
