"""Reading files that people really send: CSV, JSON, JSONL; every problem with its line and remedy."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

SHOWN = 50  # problems shown at once
_SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Problem:
    """What is wrong, where, and what to do. `line` counts from 1; 0 means the whole file."""

    line: int
    column: str
    message: str
    remedy: str

    def __str__(self) -> str:
        place = _("Line %(line)d") % {"line": self.line} if self.line else _("File")
        column = f", {self.column}" if self.column else ""
        return f"{place}{column}: {self.message} {self.remedy}".strip()


class ImportRefused(Exception):
    """Nothing was written. `problems` holds every bad row that was found."""

    def __init__(self, problems: Sequence[Problem], *, name: str = "") -> None:
        self.problems = list(dict.fromkeys(problems))  # one object may stand for several rows
        super().__init__(f"{len(self.problems)} problems")
        self.name = name

    def lines(self) -> list[str]:
        """Return the first problems as sentences, and how many more there are."""
        shown = [str(problem) for problem in self.problems[:SHOWN]]
        more = len(self.problems) - SHOWN
        if more > 0:
            shown.append(_("… and %(n)d more.") % {"n": more})
        return shown


@dataclass(frozen=True)
class Row:
    line: int
    values: dict[str, str]

    def get(self, column: str) -> str:
        return self.values.get(column, "")


@dataclass
class Problems:
    """Collects problems while rows are read; `refuse` raises if there are any."""

    name: str = ""
    found: list[Problem] = field(default_factory=list)

    def add(self, line: int, column: str, message: str, remedy: str = "") -> None:
        self.found.append(Problem(line, column, message, remedy))

    def refuse(self) -> None:
        if self.found:
            raise ImportRefused(self.found, name=self.name)


def decode(content: bytes, *, name: str) -> str:
    """Return the text of a UTF-8 file. Raises `ImportRefused` with the line of the first bad byte."""
    problems = Problems(name)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            problems.add(0, "", _("The file is not valid UTF-16."), _("Save it again as UTF-8."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add(
            line, "", _("The file is not UTF-8 text."), _("Save it as «CSV UTF-8» and try again.")
        )
        problems.refuse()
        raise AssertionError from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.add(line, "", _("There is a NUL character."), _("Export the file again."))
    if not text.strip():
        problems.add(0, "", _("The file is empty."), _("Choose the file that has the rows."))
    problems.refuse()
    return text


def read_json(content: bytes, *, name: str) -> Any:
    """Return a JSON file's value. Raises `ImportRefused` with the line of the mistake."""
    text = decode(content, name=name)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = Problem(
            error.lineno, "", _("This is not valid JSON: %s.") % error.msg, _("Mend the file.")
        )
        raise ImportRefused([problem], name=name) from None


def read_rows(
    content: bytes,
    *,
    name: str,
    required: Sequence[str],
    known: Sequence[str],
    by_language: Sequence[str] = (),
) -> list[Row]:
    """Return the rows of a CSV, JSON (a list of objects) or JSONL file, told apart by content.

    Columns are read by name. In JSON, a column of `by_language` may be an object with a text for
    each language; it then stands for a row per language.
    Raises `ImportRefused` for unreadable files and missing columns.
    """
    text = decode(content, name=name)
    if text.lstrip()[:1] in "[{":
        rows = list(_json_rows(text, name, by_language))
    else:
        rows = list(_csv_rows(text, name))
    problems = Problems(name)
    if not rows:
        problems.add(0, "", _("There is a header but no row."), _("Add the rows."))
        problems.refuse()
    present = set().union(*(row.values for row in rows))
    for column in required:
        if column not in present:
            problems.add(
                1,
                column,
                _("This column is missing."),
                _("Columns found: %s.") % ", ".join(sorted(present)),
            )
    unknown = sorted(present - set(known))
    for column in unknown:
        if column.strip().lower() in set(known):
            problems.add(1, column, _("The column is written differently."), column.strip().lower())
    problems.refuse()
    return rows


def _csv_rows(text: str, name: str) -> Iterator[Row]:
    header = text.lstrip("\r\n").split("\n", 1)[0]
    separator = max(_SEPARATORS, key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    csv.field_size_limit(64 * 1024 * 1024)
    problems = Problems(name)
    columns: list[str] = []
    try:
        while not columns:
            columns = [cell.strip() for cell in next(reader, ["?"])]
        doubled = {column for column in columns if columns.count(column) > 1}
        for column in sorted(doubled):
            problems.add(1, column, _("The column stands twice."), _("Keep one."))
        problems.refuse()
        while True:
            line = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                break
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(columns):
                problems.add(
                    line,
                    "",
                    _("The row has %(n)d cells, the header %(m)d.")
                    % {"n": len(cells), "m": len(columns)},
                    _("Put texts with separators or line breaks between double quotes."),
                )
                continue
            yield Row(line, dict(zip(columns, cells, strict=True)))
    except csv.Error as error:
        problems.add(
            reader.line_num, "", _("The row cannot be read: %s.") % error, _("Check the quotes.")
        )
    problems.refuse()


def _json_rows(text: str, name: str, by_language: Sequence[str]) -> Iterator[Row]:
    problems = Problems(name)
    if text.lstrip().startswith("["):
        try:
            items = list(enumerate(json.loads(text), start=1))
        except json.JSONDecodeError as error:
            problems.add(error.lineno, "", _("This is not valid JSON: %s.") % error.msg)
            problems.refuse()
    else:
        items = []
        for line, one in enumerate(text.splitlines(), start=1):
            if not one.strip():
                continue
            try:
                items.append((line, json.loads(one)))
            except json.JSONDecodeError as error:
                problems.add(line, "", _("This is not valid JSON: %s.") % error.msg)
    for line, item in items:
        if not isinstance(item, dict):
            problems.add(line, "", _("This is not an object."), _('Write {"column": value, …}.'))
            continue
        for given in _in_each_language(line, item, by_language, problems):
            yield Row(line, {str(key): _as_text(value) for key, value in given.items()})
    problems.refuse()


def _in_each_language(
    line: int, item: dict[str, Any], columns: Sequence[str], problems: Problems
) -> Iterator[dict[str, Any]]:
    """Yield an object as it is, or once per language if a text of it is given by language."""
    nested = [column for column in columns if isinstance(item.get(column), dict)]
    if not nested:
        yield item
        return
    for column in columns:
        value = item.get(column)
        texts = value.values() if isinstance(value, dict) else [value]
        if not all(text is None or isinstance(text, str) for text in texts) or (
            value and not isinstance(value, dict)
        ):
            problems.add(
                line,
                column,
                _("This is not a text for each language."),
                _('Write {"ca": "…", "en": "…"}.'),
            )
            return
    languages = dict.fromkeys(language for column in nested for language in item[column])
    if not languages:
        problems.add(line, nested[0], _("It has no text."), _('Write {"ca": "…", "en": "…"}.'))
    for language in languages:
        texts_of_it = {column: item[column].get(language) for column in nested}
        yield item | texts_of_it | {"language": language}


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def number(
    row: Row, column: str, problems: Problems, *, whole: bool = False, default: float | None = None
) -> float | None:
    """Return a cell as a number (decimal comma accepted), or the default if it is empty."""
    text = row.get(column).strip()
    if not text:
        return default
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = float("nan")
    if value != value or value in (float("inf"), float("-inf")) or (whole and value % 1):
        kind = _("a whole number") if whole else _("a number")
        problems.add(
            row.line,
            column,
            _("«%s» is not %s.") % (text[:40], kind),
            _("Write it in figures, or leave it empty."),
        )
        return default
    return value
