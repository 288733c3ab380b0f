"""Reading files that people really send: CSV, JSON, JSONL, XLSX; every problem with its remedy.

`read_table` finds out what a file is, which encoding it has and which column is which, and gives
its rows; `read_json` gives a document. Nothing is guessed in silence: facts and notes say how the
file was read. Nothing here touches the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from dilemmas.services.reading import decoding
from dilemmas.services.reading.columns import Column, Format, fold, match, missing
from dilemmas.services.reading.problems import (
    KNOWN,
    SHOWN,
    UNREADABLE,
    ImportRefused,
    Problem,
    Problems,
    refuse_one,
)
from dilemmas.services.reading.sources import (
    Source,
    csv_source,
    json_source,
    json_trouble,
    parse_json,
)
from dilemmas.services.reading.table import Row, Table, number, unstorable, whole
from dilemmas.services.reading.xlsx import xlsx_source

__all__ = [
    "KNOWN", "SHOWN", "UNREADABLE", "Column", "Document", "Format", "ImportRefused", "Problem",
    "Problems", "Row", "Table", "number", "read_json", "read_table", "refuse_one", "whole",
]  # fmt: skip


@dataclass(frozen=True)
class Document:
    """A JSON file's value, and how it was read."""

    value: Any
    facts: str
    notes: list[str]


def read_table(
    content: bytes,
    *,
    name: str,
    format_: Format,
    repair: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Table:
    """Return a CSV, JSON, JSONL or XLSX file as a table; its content says which it is.

    `columns` names the header of a column where somebody has said which it is.

    With `repair`, characters that no text can have become U+FFFD, and the notes count them.
    Raises `ImportRefused` for a file without such a table, or without a column that it needs.
    """
    problems = Problems(name)
    source = _source(content, problems, format_, repair=repair)
    problems.notes = source.notes()
    if not source.headers:
        if not problems.found:
            message = _("There is no table in the file.")
            problems.add(0, "", message, _("Choose the file with the rows."))
        problems.refuse()
    before = len(problems.found)
    header = match(source.headers, format_, line=source.line, problems=problems, chosen=columns)
    problems.notes += header.notes
    found = ", ".join(f"«{one}»" for one in source.headers if one.strip())
    remedy = _("Columns found: %s.") % found
    for column in missing(header, format_):
        problems.add(source.line, column.name, _("This column is missing."), remedy)
        problems.columns.append(column.name)
        problems.headers = [one for one in source.headers if one.strip()]
    if len(problems.found) > before:  # nothing can be said of rows whose columns are not known
        problems.refuse()
    return Table(source, header, problems, format_, repair=repair)


def read_json(content: bytes, *, name: str) -> Document:
    """Return a JSON file's value. Raises `ImportRefused` with the line of the mistake."""
    encoding = _encoding(content, name, repair=False)
    text = decoding.open_text(content, encoding).read()
    problems = Problems(name, notes=encoding.notes())
    value = None
    try:
        value = parse_json(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        problems.add(line, "", json_trouble(error), _("Mend the file."))
    if unstorable(value):
        problems.add(0, "", _("There is a NUL, or half a character."), _("Export the file again."))
    problems.refuse()
    return Document(value, f"JSON, {encoding.label}", encoding.notes())


def _source(content: bytes, problems: Problems, format_: Format, *, repair: bool) -> Source:
    if decoding.binary_kind(content) == "zip":
        return xlsx_source(content, problems)
    encoding = _encoding(content, problems.name, repair=repair)
    start = decoding.open_text(content, encoding).read(4_096).lstrip("\ufeff \t\r\n")
    if start[:1] in ("[", "{"):
        by_language = [column.name for column in format_.columns if column.by_language]
        return json_source(content, encoding, problems, by_language=by_language)
    known = {fold(one) for column in format_.columns for one in (column.name, *column.also)}
    return csv_source(content, encoding, problems, known=lambda cell: fold(cell) in known)


def _encoding(content: bytes, name: str, *, repair: bool) -> decoding.Encoding:
    kind = decoding.binary_kind(content)
    if kind == "xls":
        raise refuse_one(
            name,
            _("This is an old Excel workbook (.xls), or one that is protected by a password."),
            _("Save it as «Excel workbook (.xlsx)» without a password, or as «CSV UTF-8»."),
        )
    if kind:
        raise refuse_one(
            name,
            _("This is no text file and no Excel workbook."),
            _("Choose a CSV, JSON, JSONL or XLSX file."),
        )
    return decoding.detect(content, name=name, repair=repair)
