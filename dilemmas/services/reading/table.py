"""The rows of a file by column: cells checked by the column's type, and what is worth saying."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from dilemmas.services.reading.columns import Column, Format, Header
from dilemmas.services.reading.problems import UNREADABLE, Problems
from dilemmas.services.reading.sources import Source

# Kept in texts, and counted. In what names something they would make two names look like one.
_UNSEEN = re.compile(
    "[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]"
)
_UNSEEN_KINDS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LOST = "\ufffd"
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:[.,]\d{0,40})?|[.,]\d{1,40})(?:[eE][+-]?\d{1,3})?", re.A)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}")
_HIGHEST = 9_999


@dataclass(frozen=True)
class Row:
    """One row by column: names are trimmed, texts are as they were. `extra` is by header."""

    line: int
    values: dict[str, str]
    extra: dict[str, str] = field(default_factory=dict)

    def get(self, column: str) -> str:
        return self.values.get(column, "")


class Table:
    """The rows of a file, to be read once. After them `refuse` raises for all that was found."""

    def __init__(
        self, source: Source, header: Header, problems: Problems, format_: Format, *, repair: bool
    ) -> None:
        self.facts, self.problems, self.total = source.facts, problems, 0
        self.columns = [
            header.columns[n].name if n in header.columns else header.extra[n]
            for n in sorted((*header.columns, *header.extra))
        ]
        self._source, self._header, self._format, self._repair = source, header, format_, repair
        self._trimmed = self._replaced = self._lost = 0
        self._unseen: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Row]:
        columns, extra = self._header.columns.items(), self._header.extra.items()
        for line, cells in self._source.records:
            self.total += 1
            if self._source.is_ragged and not self._fits(line, cells):
                continue
            if any(cells[index].strip() for index in self._header.nameless):
                message = _("A cell has something in it, but its column has no name.")
                self.problems.add(line, "", message, _("Name the column, or empty the cell."))
            values = {column.name: self._cell(line, column, cells[n]) for n, column in columns}
            others = {name: self._text(line, name, cells[n]) for n, name in extra}
            yield Row(line, values, others)

    def refuse(self) -> None:
        """Raise `ImportRefused` if anything was found, or if there was no row at all."""
        if not self.total and not self.problems.found:
            self.problems.add(0, "", _("There is a header but no row."), _("Add the rows."))
        self.problems.notes = self.notes()
        self.problems.refuse()

    def notes(self) -> list[str]:
        """Return what is worth saying of how the file was read; complete after the last row."""
        said = [*self._source.notes(), *self._header.notes]
        extra = ", ".join(f"«{name}»" for name in self._header.extra.values())
        if extra and self._format.keeps_extra:
            text = _("Other columns are kept beside the texts, and no judge sees them: %s.")
            said.append(text % extra)
        elif extra:
            said.append(_("Columns that were not read: %s.") % extra)
        if self._trimmed:
            said.append(
                _("Names with spaces around them, which were left out: %d.") % self._trimmed
            )
        if self._replaced:
            said.append(_("Unreadable characters replaced by «\ufffd»: %d.") % self._replaced)
        if self._lost:
            text = _("Texts with «\ufffd», which stands for a character lost before: %d.")
            said.append(text % self._lost)
        if self._unseen:
            found = ", ".join(f"U+{ord(one):04X} ({n})" for one, n in self._unseen.most_common(12))
            said.append(_("Characters that nobody sees, kept in the texts: %s.") % found)
        return said

    def _fits(self, line: int, cells: Sequence[str]) -> bool:
        """Tell whether a row is as long as the header; empty cells at its end do not count."""
        width = len(self._source.headers)
        if len(cells) == width or (len(cells) > width and not any(map(str.strip, cells[width:]))):
            return True
        self.problems.add(
            line,
            "",
            _("The row has %(n)d cells, the header %(m)d.") % {"n": len(cells), "m": width},
            _("Put texts with separators or line breaks between double quotes."),
        )
        return False

    def _cell(self, line: int, column: Column, cell: str) -> str:
        text = self._text(line, column.name, cell)
        if column.kind == "text":
            if _UNSEEN.search(text):
                self._unseen.update(_UNSEEN.findall(text))
            self._lost += _LOST in text
        elif column.kind == "label":
            text = self._label(line, column, text)
        if column.filled and not text.strip():
            remedy = _("Fill it in.")
            if column.kind == "label" and column.example:
                remedy = _("Fill it in, for example: %s.") % column.example
            self.problems.add(line, column.name, _("The cell is empty."), remedy)
        return text

    def _text(self, line: int, name: str, cell: str) -> str:
        """Return a cell that a database can keep."""
        if not _UNSTORABLE.search(cell):
            return cell
        if self._repair:
            text, n = _UNSTORABLE.subn(_LOST, cell)
            self._replaced += n
            return text
        self.problems.add(
            line,
            name,
            _("There is a NUL, or half a character."),
            _("Export the file again, or have such characters replaced by «\ufffd»."),
            kind=UNREADABLE,
        )
        return _UNSTORABLE.sub(_LOST, cell)

    def _label(self, line: int, column: Column, cell: str) -> str:
        text = cell.strip()
        self._trimmed += text != cell
        unseen = next((one for one in text if unicodedata.category(one) in _UNSEEN_KINDS), "")
        if unseen:
            self.problems.add(
                line,
                column.name,
                _("There is a line break, or a character that nobody sees: U+%04X.") % ord(unseen),
                _("Take it out: two names that look the same must be the same."),
            )
        elif len(text) > column.longest:
            message = _("The name has %(n)d characters; it may have %(most)d.")
            counted = {"n": len(text), "most": column.longest}
            self.problems.add(line, column.name, message % counted, _("Shorten it."))
        elif column.name == "language" and text:
            text = text.lower().replace("_", "-")
            if not _LANGUAGE.fullmatch(text):
                message = _("«%s» is no code of a language.") % text[:40]
                self.problems.add(line, column.name, message, _("Write ca, es or en."))
        return text


def unstorable(value: Any) -> bool:
    """Tell whether a JSON value has a character in it, however deep, that no database can keep."""
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is not None
    if isinstance(value, dict):
        return any(unstorable(one) for pair in value.items() for one in pair)
    return isinstance(value, list) and any(unstorable(one) for one in value)


def number(row: Row, column: str, problems: Problems) -> float | None:
    """Return a cell as a number (with a decimal point or comma), or None if it is empty."""
    text = row.get(column).strip().replace("−", "-")
    if not text:
        return None
    if _NUMBER.fullmatch(text):
        value = float(text.replace(",", "."))
        if abs(value) < 1e300:
            return value
    _no_number(row, column, problems, _("«%s» is not a number."))
    return None


def whole(row: Row, column: str, problems: Problems, *, least: int = 0, default: int = 1) -> int:
    """Return a cell as a whole number from `least` to 9,999, or the default if it is empty."""
    text = row.get(column).strip()
    if not text:
        return default
    if _NUMBER.fullmatch(text):
        value = float(text.replace(",", "."))
        if value.is_integer() and least <= value <= _HIGHEST:
            return int(value)
    _no_number(row, column, problems, _("«%s» is not a whole number that can stand here."))
    return default


def _no_number(row: Row, column: str, problems: Problems, message: str) -> None:
    shown = row.get(column).strip()[:40]
    problems.add(row.line, column, message % shown, _("Write it in figures, or leave it empty."))
