"""The first sheet of an XLSX workbook as headers and records, and nothing else of it.

A workbook is a ZIP of XML files. The few that are needed are read in pieces, with a bound on what
they unpack to; a document type, the door to entities, is refused; no formula is computed: what the
program that saved the file had computed is taken, or the cell is refused.
"""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from django.utils.translation import gettext as _

from dilemmas.services.reading.cells import (
    column_number,
    format_kinds,
    number_text,
    row_number,
    unescaped,
)
from dilemmas.services.reading.problems import ImportRefused, Problems, refuse_one
from dilemmas.services.reading.sources import Record, Source

MOST = 256 * 1024 * 1024  # bytes that the parts which are read may unpack to
_PIECE = 1 << 16
_MOST_CELLS = 5_000_000
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384  # of any sheet, by the format's definition
_EXCEL_KEEPS = 32_767  # characters of a cell
Attributes = Mapping[str, str]


class _TooMuch(Exception):
    """It unpacks to more than it may, or has a document type."""


_BROKEN = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, IndexError, OSError,
    NotImplementedError, RuntimeError, OverflowError, expat.ExpatError,
)  # fmt: skip


@dataclass
class Met:
    """What was met in a workbook and is worth saying."""

    sheet: str = ""
    others: int = 0
    hidden_rows: int = 0
    formulas: int = 0
    full: int = 0
    long: int = 0

    def notes(self) -> list[str]:
        said = []
        if self.others:
            said.append(_("The workbook has more sheets; only «%s» was read.") % self.sheet)
        if self.hidden_rows:
            said.append(_("Hidden rows were read too: %d.") % self.hidden_rows)
        if self.formulas:
            text = _("Formulas were not computed; their saved results were read: %d.")
            said.append(text % self.formulas)
        if self.full:
            text = _("Cells as long as Excel allows (32,767 characters), perhaps cut off: %d.")
            said.append(text % self.full)
        if self.long:
            text = _("Numbers of more than 15 digits, of which Excel keeps no more: %d.")
            said.append(text % self.long)
        return said


def xlsx_source(content: bytes, problems: Problems) -> Source:
    """Return the first visible sheet. Raises `ImportRefused` for what is no workbook."""
    met = Met()
    problems.unit = "row"
    records = _refusing(_Workbook(content, problems, met).records(), problems.name)
    line, headers = next(records, (1, []))
    facts = _("XLSX, sheet «%s»") % met.sheet
    return Source(facts, line, headers, records, notes=met.notes)


def _refusing(records: Iterator[Record], name: str) -> Iterator[Record]:
    """Turn whatever a damaged or hostile file makes the libraries say into a refusal."""
    try:
        yield from records
    except ImportRefused:
        raise
    except _TooMuch:
        raise refuse_one(
            name,
            _("The workbook is not read: it unpacks to too much, or defines its own entities."),
            _("Save the table as «CSV UTF-8»."),
        ) from None
    except _BROKEN:
        raise refuse_one(
            name,
            _("This cannot be read as an Excel workbook (.xlsx): it is another kind, or damaged."),
            _("Save the table as «CSV UTF-8»."),
        ) from None


@dataclass
class _Cell:
    column: int
    type: str
    style: int
    text: list[str] = field(default_factory=list)
    has_formula: bool = False


class _Workbook:
    """One pass over one workbook."""

    def __init__(self, content: bytes, problems: Problems, met: Met) -> None:
        self.content, self.problems, self.met = content, problems, met
        self.left = MOST

    def records(self) -> Iterator[Record]:
        self.archive = zipfile.ZipFile(io.BytesIO(self.content))
        path, is_1904 = self._first_sheet()
        strings = self._strings()
        sheet = _Sheet(self.problems, self.met, strings, self._styles(), is_1904=is_1904)
        for _done in self._parse(path, sheet.start, sheet.end, sheet.characters):
            yield from sheet.rows
            sheet.rows.clear()
        sheet.refuse_merged()

    def _parse(
        self,
        path: str,
        start: Callable[[str, Attributes], None],
        end: Callable[[str], None] | None = None,
        characters: Callable[[str], None] | None = None,
    ) -> Iterator[None]:
        """Feed a part to a parser piece by piece; names come without their namespace's prefix."""
        info = self.archive.getinfo(path)
        self.left -= info.file_size  # `zipfile` unpacks no more than the archive declares
        if self.left < 0:
            raise _TooMuch
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _no_doctype
        parser.StartElementHandler = lambda name, given: start(name.rpartition(":")[2], given)
        if end:
            parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
        parser.CharacterDataHandler = characters
        with self.archive.open(info) as part:
            while piece := part.read(_PIECE):
                parser.Parse(piece, False)
                yield
            parser.Parse(b"", True)
            yield

    def _read(self, path: str, start: Callable[[str, Attributes], None]) -> None:
        for _done in self._parse(path, start):
            pass

    def _first_sheet(self) -> tuple[str, bool]:
        targets: dict[str, str] = {}
        sheets: list[tuple[str, str]] = []
        is_1904 = False

        def relation(name: str, given: Attributes) -> None:
            if name == "Relationship" and given.get("TargetMode") != "External":
                targets[given["Id"]] = given["Target"]

        def sheet(name: str, given: Attributes) -> None:
            nonlocal is_1904
            if name == "workbookPr":
                is_1904 = given.get("date1904") in ("1", "true")
            elif name == "sheet" and given.get("state", "visible") == "visible":
                key = next(v for k, v in given.items() if k.rpartition(":")[2] == "id")
                sheets.append((given["name"], key))

        self._read("xl/_rels/workbook.xml.rels", relation)
        self._read("xl/workbook.xml", sheet)
        tables = [(name, targets[key]) for name, key in sheets if "worksheet" in targets[key]]
        self.met.sheet, target = tables[0]
        self.met.others = len(tables) - 1
        path = target.lstrip("/") if target.startswith("/") else posixpath.join("xl", target)
        return posixpath.normpath(path), is_1904

    def _strings(self) -> list[str]:
        """Return the shared strings: runs of text joined, phonetic readings left out."""
        if "xl/sharedStrings.xml" not in self.archive.namelist():
            return []
        strings: list[str] = []
        pieces: list[str] = []
        inside = {"t": False, "rPh": False}

        def start(name: str, _given: Attributes) -> None:
            if name in inside:
                inside[name] = True

        def end(name: str) -> None:
            if name in inside:
                inside[name] = False
            elif name == "si":
                strings.append(unescaped("".join(pieces)))
                pieces.clear()

        def characters(text: str) -> None:
            if inside["t"] and not inside["rPh"]:
                pieces.append(text)

        for _done in self._parse("xl/sharedStrings.xml", start, end, characters):
            pass
        return strings

    def _styles(self) -> list[str]:
        """Return what the cells' styles show (`cells.number_format`)."""
        if "xl/styles.xml" not in self.archive.namelist():
            return []
        custom: dict[int, str] = {}
        xfs: list[int] = []
        place = ""

        def start(name: str, given: Attributes) -> None:
            nonlocal place
            if name in ("cellXfs", "cellStyleXfs", "dxfs"):
                place = name
            elif name == "numFmt" and place != "dxfs":
                custom[int(given["numFmtId"])] = given["formatCode"]
            elif name == "xf" and place == "cellXfs":
                xfs.append(int(given.get("numFmtId", "0")))

        self._read("xl/styles.xml", start)
        return format_kinds(xfs, custom)


def _no_doctype(*_args: object) -> None:
    raise _TooMuch


class _Sheet:
    """Handlers that make rows of a sheet's XML, and say what is wrong with its cells."""

    def __init__(
        self,
        problems: Problems,
        met: Met,
        strings: Sequence[str],
        styles: Sequence[str],
        *,
        is_1904: bool,
    ) -> None:
        self.problems, self.met, self.strings, self.styles = problems, met, strings, styles
        self.is_1904 = is_1904
        self.rows: list[Record] = []
        self.headers: list[str] | None = None
        self.header_line = self.line = self.cells_met = 0
        self.cells: dict[int, str] = {}
        self.cell: _Cell | None = None
        self.next_column = 0
        self.takes_text = self.is_phonetic = False
        self.merged: list[str] = []

    def start(self, name: str, given: Attributes) -> None:
        if name == "c":
            self.cells_met += 1
            reference = given.get("r", "")
            column = column_number(reference) if reference else self.next_column
            if column >= _LAST_COLUMN or self.cells_met > _MOST_CELLS:
                raise _TooMuch
            self.next_column = column + 1
            self.cell = _Cell(column, given.get("t", "n"), int(given.get("s", "0")))
        elif name in ("v", "t"):
            self.takes_text = not self.is_phonetic
        elif name == "f" and self.cell:
            self.cell.has_formula = True
        elif name == "rPh":
            self.is_phonetic = True
        elif name == "row":
            self.line = int(given.get("r", self.line + 1))
            self.cells, self.next_column = {}, 0
            self.is_hidden = given.get("hidden") in ("1", "true")
            if not 1 <= self.line <= _LAST_ROW:
                raise _TooMuch
        elif name == "mergeCell":
            self.merged.append(given["ref"])

    def characters(self, text: str) -> None:
        if self.takes_text and self.cell:
            self.cell.text.append(text)

    def end(self, name: str) -> None:
        if name in ("v", "t"):
            self.takes_text = False
        elif name == "rPh":
            self.is_phonetic = False
        elif name == "c" and self.cell:
            text = self._text(self.cell)
            if text:
                self.cells[self.cell.column] = text
            self.cell = None
        elif name == "row":
            self._end_row()

    def _end_row(self) -> None:
        if not any(text.strip() for text in self.cells.values()):
            return
        if self.headers is None:
            self.headers = [self.cells.get(n, "") for n in range(max(self.cells) + 1)]
            self.header_line = self.line
            self.rows.append((self.line, self.headers))
            return
        self.met.hidden_rows += self.is_hidden
        beyond = [n for n, text in self.cells.items() if n >= len(self.headers) and text.strip()]
        if beyond:
            self.problems.add(
                self.line,
                "",
                _("A cell has something in it, but its column has no name."),
                _("Name the column, or empty the cell."),
            )
        self.rows.append((self.line, [self.cells.get(n, "") for n in range(len(self.headers))]))

    def _name(self, column: int) -> str:
        headers = self.headers or []
        return headers[column].strip() if column < len(headers) else ""

    def _text(self, cell: _Cell) -> str:
        raw = "".join(cell.text)
        if cell.has_formula:
            if not raw and cell.type != "str":
                self.problems.add(
                    self.line,
                    self._name(cell.column),
                    _("The cell has a formula and no result; formulas are not computed here."),
                    _("Open the file in a spreadsheet and save it, or paste the values."),
                )
                return ""
            self.met.formulas += 1
        if cell.type == "e":
            self.problems.add(
                self.line,
                self._name(cell.column),
                _("The cell holds an error: %s.") % raw[:20],
                _("Mend it in the spreadsheet."),
            )
            return ""
        if not raw:
            return ""
        if cell.type == "s":
            text = self.strings[int(raw)]
        elif cell.type == "b":
            return "true" if raw == "1" else "false"
        elif cell.type == "n":
            shown = self.styles[cell.style] if cell.style < len(self.styles) else ""
            self.met.long += abs(float(raw)) >= 1e15
            return number_text(raw, shown, is_1904=self.is_1904)
        else:  # inlineStr, str, and d, which is a date by ISO 8601 already
            text = unescaped(raw)
        self.met.full += len(text) == _EXCEL_KEEPS
        return text

    def refuse_merged(self) -> None:
        """Only the first of merged cells has the text: what the others should have, nobody knows."""
        for area in self.merged:
            line, column = row_number(area.split(":")[0]), column_number(area)
            if line >= self.header_line and column < len(self.headers or []):
                self.problems.add(
                    line,
                    self._name(column),
                    _("The cells %s are merged.") % area,
                    _("Unmerge them and write the text into each row that it belongs to."),
                )
