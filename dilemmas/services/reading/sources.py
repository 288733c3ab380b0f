"""CSV and JSON as headers and records; what cannot be read is collected, with its line."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from dilemmas.services.reading.decoding import Encoding, open_text
from dilemmas.services.reading.problems import Problems

Record = tuple[int, Sequence[str]]  # its line, its cells
_SEPARATORS = (",", ";", "\t")
_NAMES = {",": ",", ";": ";", "\t": "TAB"}
_LONGEST = 64 * 1024 * 1024
_HEAD = 1 << 16
_JSON_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass
class Source:
    """A table before its columns are known. `records` can be read once.

    `facts` say how it was read, `notes` what is worth saying after the last record; `line` is the
    header's. Of a ragged source a record may have more or fewer cells than there are headers.
    """

    facts: str
    line: int
    headers: Sequence[str]
    records: Iterator[Record]
    is_ragged: bool = False
    notes: Callable[[], list[str]] = field(default=list)


def csv_source(
    content: bytes, encoding: Encoding, problems: Problems, *, known: Callable[[str], bool]
) -> Source:
    """Return a CSV file. The separator is the one with which the header has most known columns."""
    csv.field_size_limit(_LONGEST)
    stream = open_text(content, encoding)
    skipped, separator = _separator(stream.read(_HEAD), known)
    stream.seek(0)
    reader = csv.reader(stream, delimiter=separator, strict=True)
    records = _csv_records(reader, problems)
    line, headers = next(records, (1, []))
    if skipped:  # «sep=;», which Excel understands
        line, headers = next(records, (2, []))
    facts = _("CSV, %(encoding)s, separator «%(separator)s»") % {
        "encoding": encoding.label,
        "separator": _NAMES.get(separator, separator),
    }
    return Source(facts, line, headers, records, is_ragged=True, notes=encoding.notes)


def _separator(head: str, known: Callable[[str], bool]) -> tuple[bool, str]:
    """Return whether the first line only names the separator, and the separator."""
    said = re.match(r'\s*"?sep=(.)"?[ \t]*[\r\n]', head)
    if said:
        return True, said[1]
    best, most = ",", (-1, -1)
    for separator in _SEPARATORS:
        try:
            rows = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
            cells = next((row for row in rows if any(cell.strip() for cell in row)), [])
        except csv.Error:
            continue
        score = (sum(known(cell) for cell in cells), len(cells))
        if score > most:
            best, most = separator, score
    return False, best


def _csv_records(reader: Any, problems: Problems) -> Iterator[Record]:
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problems.add(line, "", *_csv_trouble(str(error)))
            return
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield line, cells


def _csv_trouble(message: str) -> tuple[str, str]:
    if "unexpected end" in message:
        return (
            _("A quotation mark opens in this row and is never closed; nothing after it was read."),
            _("Close it, or double it if it belongs to the text."),
        )
    if "expected after" in message:
        return (
            _("In this row text follows a closing quotation mark; nothing after it was read."),
            _("Double the quotation marks that belong to the text."),
        )
    return (_("The row cannot be read: %s.") % message, _("Check the quotes."))


def json_source(
    content: bytes, encoding: Encoding, problems: Problems, *, by_language: Iterable[str]
) -> Source:
    """Return JSON (a list of objects) or JSONL (an object a line) as a table of all their keys."""
    text = open_text(content, encoding).read()
    is_list = text.lstrip()[:1] == "["
    values = list(_json_list(text, problems) if is_list else _json_lines(text, problems))
    if any(one[0] >= two[0] for one, two in pairwise(values)):  # several objects on one line
        problems.unit = "object"
        values = [(n, value) for n, (_line, value) in enumerate(values, start=1)]
    columns = tuple(by_language)
    rows: list[tuple[int, dict[str, Any]]] = []
    for line, value in values:
        if not isinstance(value, dict):
            problems.add(line, "", _("This is not an object."), _('Write {"column": value, …}.'))
            continue
        rows += ((line, one) for one in _in_each_language(line, value, columns, problems))
    headers = list(dict.fromkeys(key for _line, row in rows for key in row))
    records = ((line, [_as_text(row.get(key)) for key in headers]) for line, row in rows)
    kind = "JSON" if is_list else "JSONL"
    return Source(f"{kind}, {encoding.label}", 0, headers, records, notes=encoding.notes)


def parse_json(text: str) -> Any:
    """Return a JSON value; a key that stands twice in an object is a mistake. Raises ValueError."""
    return _DECODER.decode(text)


class _Twice(ValueError):
    """A key stands twice in one object: one of the values would be lost."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _value in pairs]
        raise _Twice(next(key for key in keys if keys.count(key) > 1))
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def json_trouble(error: Exception) -> str:
    """Return what is wrong with a JSON value, in a sentence."""
    if isinstance(error, _Twice):
        return _("«%s» stands twice in one object.") % error
    if isinstance(error, json.JSONDecodeError):
        return _("This is not valid JSON: %s.") % error.msg
    if isinstance(error, RecursionError):
        return _("This is not valid JSON: %s.") % _("it is nested too deeply")
    return _("This is not valid JSON: %s.") % str(error)[:80]


def _json_list(text: str, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Yield the values of a list, each with the line on which it begins."""
    place, line = text.index("[") + 1, 1 + text.count("\n", 0, text.index("["))
    seen, first = place, True
    while True:
        place = _JSON_SPACE.match(text, place).end()  # type: ignore[union-attr]
        if text.startswith("]", place) and first:
            break
        line += text.count("\n", seen, place)
        seen = place
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "lineno", line)
            problems.add(at, "", json_trouble(error), _("Mend the file."))
            return
        yield line, value
        first = False
        place = _JSON_SPACE.match(text, place).end()  # type: ignore[union-attr]
        if text.startswith("]", place):
            break
        if not text.startswith(",", place):
            line += text.count("\n", seen, place)
            message = _("This is not valid JSON: %s.") % _("a comma or ] is missing")
            problems.add(line, "", message, _("Mend the file."))
            return
        place += 1
    rest = text[place + 1 :].strip()
    if rest:
        message = _("This is not valid JSON: %s.") % _("something follows the list")
        problems.add(text.count("\n", 0, place) + 1, "", message, _("Mend the file."))


def _json_lines(text: str, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Yield the value of each line; or the one object that the whole text is."""
    try:
        whole = parse_json(text)
    except (ValueError, RecursionError):
        pass
    else:
        yield 1, whole
        return
    # Only a line feed ends a line: U+2028 and its like may stand inside a JSON text.
    for line, one in enumerate(text.split("\n"), start=1):
        if not one.strip():
            continue
        try:
            yield line, parse_json(one)
        except (ValueError, RecursionError) as error:
            problems.add(line, "", json_trouble(error), _("Mend the line."))


def _in_each_language(
    line: int, item: dict[str, Any], columns: Sequence[str], problems: Problems
) -> Iterator[dict[str, Any]]:
    """Yield an object as it is, or once per language if a text of it is given by language."""
    nested = [column for column in columns if isinstance(item.get(column), dict)]
    if not nested:
        yield item
        return
    remedy = _('Write {"ca": "…", "en": "…"}.')
    for column in columns:
        value = item.get(column)
        texts = value.values() if isinstance(value, dict) else [value]
        if (value and column not in nested) or not all(
            text is None or isinstance(text, str) for text in texts
        ):
            problems.add(line, column, _("This is not a text for each language."), remedy)
            return
    languages = dict.fromkeys(language for column in nested for language in item[column])
    if not languages:
        problems.add(line, nested[0], _("It has no text."), remedy)
    for language in languages:
        texts_of_it = {column: item[column].get(language) for column in nested}
        yield item | texts_of_it | {"language": language}


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # ids come as 7.0 from programs that keep whole columns as floats
    return json.dumps(value, ensure_ascii=False)
