"""Reading Excel workbooks: what cells become, what is refused, and that nothing hostile gets far."""

import io
import random
import time
import zipfile
from pathlib import Path

import pytest
from django.utils import translation

from dilemmas.services.formats import RESPONSES
from dilemmas.services.reading import ImportRefused, read_table, xlsx
from dilemmas.services.reading.cells import column_number, number_format, unescaped
from tests import workbooks
from tests.unit.test_reading import SMALL, places, read, refusal, texts

MADE = Path(__file__).parents[1] / "fixtures" / "files"
HEADER = ["id", "text"]


@pytest.fixture(autouse=True)
def _in_english():
    with translation.override("en"):
        yield


@pytest.mark.parametrize("name", ["openpyxl.xlsx", "xlsxwriter.xlsx"])
def test_workbooks_of_two_libraries_are_read_alike(name):
    rows, table = read((MADE / name).read_bytes(), RESPONSES)
    assert [row.get("id") for row in rows] == ["R1", "7", "R3"]
    assert [row.get("text") for row in rows] == [
        '<b>a</b> & "b", 5 < 6\nsecond line\n\nthird\t🙂 العدد',
        " leading and trailing ",
        "=1+1",
    ]
    assert [row.get("replicate") for row in rows] == ["1", "2", "3"]
    assert [row.extra["note"] for row in rows] == ["2026-09-17", "2026-09-17T08:30:00", ""]
    assert table.facts == "XLSX, sheet «Respostes»"
    assert table.notes()[0] == "The workbook has more sheets; only «Respostes» was read."


@pytest.mark.parametrize(
    ("raw", "format_", "shown"),
    [
        ("1", 0, "1"), ("1.0", 0, "1"), ("7.0000000000000000", 0, "7"), ("0.1", 0, "0.1"),
        ("0.10000000000000001", 0, "0.1"), ("1E3", 0, "1000"), ("-2.5", 0, "-2.5"),
        ("7", "0000", "0007"), ("12345678901234567", 0, "12345678901234567"),
        ("0.5", 9, "0.5"), ("2", "#,##0.00", "2"), ("3", 'General" d"', "3"),
        ("46282", 14, "2026-09-17"), ("46282", "dd/mm/yyyy", "2026-09-17"),
        ("46282", "[$-403]d mmmm yyyy", "2026-09-17"), ("46282.354166666664", 22, "2026-09-17T08:30:00"),
        ("46282", 22, "2026-09-17T00:00:00"), ("46282.75", 14, "2026-09-17T18:00:00"),
        ("0.5", 20, "12:00:00"), ("1", 14, "1900-01-01"), ("59", 14, "1900-02-28"),
        ("60", 14, "60"), ("61", 14, "1900-03-01"), ("-1", 14, "-1"), ("3000000", 14, "3000000"),
        ("1.5", "[h]:mm", "1.5"), ("1.5", 46, "1.5"),
    ],
)  # fmt: skip
def test_numbers_and_dates_become_what_a_person_would_write(raw, format_, shown):
    rows = [HEADER, ["1", ('s="1"', f"<v>{raw}</v>")]]
    assert texts(workbooks.table(rows, formats=[0, format_])) == [shown]


def test_dates_of_a_1904_workbook():
    rows = [HEADER, ["1", ('s="1"', "<v>44820</v>")]]
    assert texts(workbooks.table(rows, formats=[0, 14], is_1904=True)) == ["2026-09-17"]


def test_other_kinds_of_cells():
    rows = [
        HEADER,
        ["1", ('t="b"', "<v>1</v>")],
        ["2", ('t="d"', "<v>2026-09-17T00:00:00</v>")],
        ["3", ('t="s"', "<v>0</v>")],
        ["4", ('t="s"', "<v>1</v>")],
        ["5", ('t="str"', "<f>A1</f><v>computed</v>")],
        ["6", ("", "<f>1+1</f><v>2</v>")],
        ["7", "a_x000D_\nb _x005F_x0041_ _xD83D__xDE42_"],
    ]
    strings = [
        "<r><rPr><b/></rPr><t>rich </t></r><r><t>text</t></r><rPh><t>phonetic</t></rPh>",
        '<t xml:space="preserve"> &lt;kept&gt; </t>',
    ]
    content = workbooks.table(rows, strings=strings)
    assert texts(content) == [
        "true", "2026-09-17T00:00:00", "rich text", " <kept> ", "computed", "2",
        "a\r\nb _x0041_ 🙂",
    ]  # fmt: skip
    assert any("saved results were read: 2" in note for note in read(content)[1].notes())


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (("", "<f>1+1</f>"), "formula and no result"),
        (("", "<f>1+1</f><v></v>"), "formula and no result"),
        (('t="e"', "<v>#N/A</v>"), "an error: #N/A"),
        ("half _xD83D_ a pair", "half a character"),
    ],
)
def test_cells_without_a_value_are_refused_by_row_and_column(bad, says):
    refused = refusal(lambda: read(workbooks.table([HEADER, ["1", "a"], ["2", bad]])))
    assert [(one.line, one.column) for one in refused.problems] == [(3, "text")]
    assert str(refused.problems[0]).startswith("Row 3, text: ") and says in str(refused.problems[0])


def test_merged_cells_are_refused_where_there_is_a_table():
    after = '<mergeCells><mergeCell ref="A2:A3"/><mergeCell ref="H2:H9"/></mergeCells>'
    rows = [HEADER, ["1", "a"], ["2", "b"]]
    content = workbooks.workbook({"S": workbooks.sheet(rows, after=after)})
    refused = refusal(lambda: read(content))
    assert [(one.line, one.column) for one in refused.problems] == [(2, "id")]
    assert "A2:A3" in refused.problems[0].message


def test_first_visible_sheet_is_read_and_the_rest_is_said():
    sheets = {
        "Hidden": workbooks.sheet([["x"]]),
        "Data": workbooks.sheet([HEADER, ["1", "a"], ["2", "b"]], hidden=[3]),
        "More": workbooks.sheet([["y"]]),
    }
    content = workbooks.workbook(sheets, states={"Hidden": "hidden"})
    rows, table = read(content)
    assert [row.get("text") for row in rows] == ["a", "b"]
    assert table.facts == "XLSX, sheet «Data»"
    assert table.notes() == [
        "The workbook has more sheets; only «Data» was read.",
        "Hidden rows were read too: 1.",
    ]


def test_rows_keep_their_numbers_and_blank_ones_are_left_out():
    rows = [[], HEADER, [], ["1", "a"], [None, None], ["", "b"]]
    assert places(lambda: read(workbooks.table(rows))) == [(6, "id")]


def test_cells_without_references_count_on():
    xml = workbooks.sheet([HEADER, ["1", "a"]])
    for place in ("A1", "B1", "A2", "B2"):
        xml = xml.replace(f' r="{place}"', "")
    assert texts(workbooks.workbook({"S": xml.replace('<row r="1">', "<row>")})) == ["a"]


def test_cell_beyond_the_headers_is_refused():
    assert places(lambda: read(workbooks.table([HEADER, ["1", "a", None, "lost"]]))) == [(2, "")]
    assert places(lambda: read(workbooks.table([["id", "text", "", "n"], ["1", "a", "x"]]))) == [
        (2, "")
    ]


def test_text_as_long_as_excel_allows_is_pointed_out():
    content = workbooks.table([HEADER, ["1", "x" * 32_767]])
    assert any("perhaps cut off: 1" in note for note in read(content)[1].notes())


def test_numbers_longer_than_excel_keeps_are_pointed_out():
    content = workbooks.table([HEADER, [("", "<v>4.89290024005183E+17</v>"), "a"]])
    rows, table = read(content)
    assert rows[0].get("id") == "489290024005183000"
    assert any("more than 15 digits" in note for note in table.notes())


@pytest.mark.parametrize(
    ("reference", "column"), [("A1", 0), ("Z9", 25), ("AA1", 26), ("XFD1048576", 16_383)]
)
def test_references(reference, column):
    assert column_number(reference) == column
    assert workbooks.reference(1, column) == reference.rstrip("0123456789") + "1"


@pytest.mark.parametrize("code", ["General", "0", "0.00", "#,##0", '0.0" d"', "[Red]0", "0E+00"])
def test_formats_of_plain_numbers(code):
    assert not number_format(164, code).strip("0")


def test_escapes_are_undone_once():
    assert unescaped("_x005F_x000D_") == "_x000D_"
    assert unescaped("snake_x_case _xZZZZ_") == "snake_x_case _xZZZZ_"


# hostile and damaged files

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
EXTERNAL = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    f'<worksheet {MAIN}><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&e;</t></is></c></row>'
    "</sheetData></worksheet>"
)
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    f"<sst {MAIN}><si><t>&b;&b;&b;</t></si></sst>"
)


@pytest.mark.parametrize(
    "parts",
    [
        {"xl/worksheets/sheet1.xml": EXTERNAL},
        {"xl/sharedStrings.xml": LAUGHS},
        {"xl/workbook.xml": EXTERNAL},
    ],
)
def test_documents_that_define_entities_are_refused(parts):
    content = workbooks.table([HEADER, ["1", "a"]], parts=parts)
    refused = refusal(lambda: read(content))
    assert "entities" in refused.problems[0].message
    assert "root:" not in " ".join(refused.lines())


def test_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(xlsx, "MOST", 1_000_000)
    content = workbooks.table([HEADER, ["1", "a" * 2_000_000]])
    assert len(content) < 10_000
    assert "unpacks to too much" in refusal(lambda: read(content)).problems[0].message


def test_archive_that_lies_about_its_size_is_refused():
    """What is unpacked is bounded by what the archive declares, not by what it holds."""
    content = workbooks.table([HEADER, ["1", "a" * 2_000_000]])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    lying = content.replace(size.to_bytes(4, "little"), (500).to_bytes(4, "little"))
    assert lying != content
    assert places(lambda: read(lying)) == [(0, "")]


@pytest.mark.parametrize(
    "row",
    [
        '<row r="99999999"><c r="A1"><v>1</v></c></row>',
        '<row r="1"><c r="ZZZ1"><v>1</v></c></row>',
        '<row r="1"><c r="1A"><v>1</v></c></row>',
        '<row r="x"/>',
        '<row r="1"><c r="A1" t="s"><v>7</v></c></row>',
        '<row r="1"><c r="A1" s="x"><v>1</v></c></row>',
        '<row r="1"><c r="A1"><v>many</v></c></row>',
        '<row r="1"><c r="A1"><v>1e999</v></c></row>',
        "<row",
    ],
)
def test_sheets_that_make_no_sense_are_refused(row):
    xml = f"<worksheet {MAIN}><sheetData>{row}</sheetData></worksheet>"
    assert places(lambda: read(workbooks.workbook({"S": xml}))) == [(0, "")]


def test_sheet_with_few_cells_far_apart_costs_nothing():
    rows = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(2, 20_000))
    header = '<row r="1"><c r="A1" t="str"><v>id</v></c><c r="B1" t="str"><v>text</v></c></row>'
    xml = f"<worksheet {MAIN}><sheetData>{header}{rows}</sheetData></worksheet>"
    started = time.monotonic()
    assert refusal(lambda: read(workbooks.workbook({"S": xml}))).count >= 19_998
    assert time.monotonic() - started < 5


def zipped(**parts: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name.replace("__", "/"), text)
    return packed.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04" + b"\0" * 100,
        b"PK\x05\x06" + b"\0" * 18,
        zipped(word__document="<w/>"),
        zipped(mimetype="application/vnd.oasis.opendocument.spreadsheet"),
    ],
)
def test_archives_that_are_no_workbook_are_refused(content):
    assert places(lambda: read(content)) == [(0, "")]


def test_damaged_workbooks_are_refused_or_read_but_never_break():
    """Bytes of good workbooks are changed, cut and doubled at random (fixed seed)."""
    randomness = random.Random(20261201)
    good = [
        (MADE / "openpyxl.xlsx").read_bytes(),
        (MADE / "xlsxwriter.xlsx").read_bytes(),
        workbooks.table([HEADER, ["1", "a"], ["2", ('s="1"', "<v>9</v>")]], formats=[0, 14]),
    ]
    refused = 0
    for _ in range(600):
        content = bytearray(randomness.choice(good))
        for _ in range(randomness.randint(1, 6)):
            content[randomness.randrange(4, len(content))] = randomness.randrange(256)
        if randomness.random() < 0.2:
            del content[randomness.randrange(4, len(content)) :]
        try:
            table = read_table(bytes(content), name="x", format_=SMALL)
            list(table)
            table.refuse()
        except ImportRefused:
            refused += 1
    assert refused > 300


def test_damaged_parts_inside_a_sound_archive_are_refused_or_read():
    randomness = random.Random(1)
    xml = workbooks.sheet([HEADER, ["1", "a"], ["2", ('t="s"', "<v>0</v>")]])
    for _ in range(600):
        broken = bytearray(xml.encode())
        for _ in range(randomness.randint(1, 4)):
            broken[randomness.randrange(len(broken))] = randomness.randrange(256)
        content = workbooks.workbook({"S": ""}, strings=["<t>s</t>"],
                                     parts={"xl/worksheets/sheet1.xml": bytes(broken)})  # fmt: skip
        try:
            table = read_table(content, name="x", format_=SMALL)
            list(table)
            table.refuse()
        except ImportRefused:
            pass
