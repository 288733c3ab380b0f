"""Reading files that people really send: encodings, separators, headers, quotes, JSON."""

import codecs
import json
from pathlib import Path

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from dilemmas.services.formats import DILEMMAS, RESPONSES
from dilemmas.services.reading import (
    KNOWN,
    UNREADABLE,
    Column,
    Format,
    ImportRefused,
    Problems,
    Row,
    number,
    read_json,
    read_table,
    whole,
)

FILES = Path(__file__).parents[3] / "shared" / "cases" / "files"
SMALL = Format(
    "small",
    (
        Column("id", "label", required=True, filled=True, also=("item_id",)),
        Column("text", "text", required=True, also=("response",)),
        Column("n", "number"),
    ),
    keeps_extra=True,
)


@pytest.fixture(autouse=True)
def _in_english():
    with translation.override("en"):
        yield


def read(content, format_=SMALL, **options):
    """Return the rows of a file and the table."""
    if isinstance(content, str):
        content = content.encode()
    table = read_table(content, name="file", format_=format_, **options)
    rows = list(table)
    table.refuse()
    return rows, table


def texts(content, **options) -> list[str]:
    return [row.get("text") for row in read(content, **options)[0]]


def refusal(act) -> ImportRefused:
    with pytest.raises(ImportRefused) as refused:
        act()
    assert all(problem.message and problem.remedy for problem in refused.value.problems)
    return refused.value


def places(act) -> list[tuple[int, str]]:
    return [(problem.line, problem.column) for problem in refusal(act).problems]


# encodings

CATALAN = "id,text\n1,naïve façade · l·lusió «Žižek» 2 €\n"


@pytest.mark.parametrize(
    ("content", "label"),
    [
        (CATALAN.encode(), "UTF-8"),
        (codecs.BOM_UTF8 + CATALAN.encode(), "UTF-8"),
        (CATALAN.encode("utf-16"), "UTF-16"),
        (codecs.BOM_UTF16_BE + CATALAN.encode("utf-16-be"), "UTF-16"),
        (CATALAN.encode("utf-16-le"), "UTF-16"),
        (CATALAN.encode("utf-16-be"), "UTF-16"),
        (CATALAN.encode("utf-32"), "UTF-32"),
    ],
)
def test_unicode_is_told_apart_with_and_without_a_mark(content, label):
    rows, table = read(content)
    assert rows[0].values["text"] == "naïve façade · l·lusió «Žižek» 2 €"
    assert label in table.facts
    assert table.notes() == []


def test_western_bytes_are_read_as_what_they_are_and_said_to_be():
    rows, table = read(CATALAN.encode("cp1252"))
    assert rows[0].values["text"] == "naïve façade · l·lusió «Žižek» 2 €"
    assert "Windows-1252 (Latin-1)" in table.facts
    (note,) = table.notes()
    assert "«naïve»" in note and "«façade»" in note and "CSV UTF-8" in note


@pytest.mark.parametrize("codec", ["mac_roman", "cp850", "cp1251", "shift_jis", "gbk", "iso8859_6"])
def test_what_is_no_western_text_is_refused_not_guessed(codec):
    text = {
        "mac_roman": "naïve façade, cafè al país", "cp850": "café con leche, coração",
        "cp1251": "Что делать?", "shift_jis": "これは日本語です", "gbk": "这是中文文本",
        "iso8859_6": "هذا نص عربي",
    }[codec]  # fmt: skip
    content = f'id,text\n1,plain\n2,"{text}"\n'.encode(codec)
    refused = refusal(lambda: read(content))
    assert [problem.line for problem in refused.problems] == [3]
    assert not refused.is_only(UNREADABLE), "there is nothing to repair: another encoding is meant"


def test_broken_utf8_is_refused_line_by_line_and_never_read_as_something_else():
    content = "id,text\n1,café à l'Èbre i aquí també\n2,QQ\n3,naïve\n4,així ó ú ü ç\n".encode()
    content = content.replace(b"QQ", b"caf\xe9").replace("ï".encode(), b"\xef", 1)
    refused = refusal(lambda: read(content))
    assert [problem.line for problem in refused.problems] == [3, 4]
    assert refused.is_only(UNREADABLE)
    rows, table = read(content, repair=True)
    assert [row.get("text") for row in rows[1:3]] == ["caf\ufffd", "na\ufffdve"]
    assert any("lost before: 2" in note for note in table.notes())


def test_a_file_that_is_half_one_encoding_and_half_another_is_refused_as_a_whole():
    content = "id,text\n1,café\n".encode() + "2,café\n3,això\n".encode("cp1252")
    refused = refusal(lambda: read(content))
    assert [problem.line for problem in refused.problems] == [3]
    assert not refused.is_only(UNREADABLE)


@pytest.mark.parametrize("encode", [str.encode, lambda text: text.encode("utf-16")])
def test_nul_is_refused_by_line_and_replaced_only_on_demand(encode):
    content = encode("id,text\n1,ok\n2,abc\0def\n3,\x1b[31mred\uffff\ufffd\n")
    refused = refusal(lambda: read(content))
    assert [problem.line for problem in refused.problems] == [3]
    assert "NUL" in str(refused.problems[0]) and refused.is_only(UNREADABLE)
    rows, table = read(content, repair=True)
    assert [row.get("text") for row in rows] == ["ok", "abc\ufffddef", "\x1b[31mred\uffff\ufffd"]
    notes = " ".join(table.notes())
    assert "replaced by «\ufffd»: 1" in notes
    assert "U+001B (1)" in notes and "U+FFFF (1)" in notes


@pytest.mark.parametrize("cut", [1, 3])
def test_half_a_utf16_file_is_refused(cut):
    content = codecs.BOM_UTF16_LE + "id,text\n1,🙂".encode("utf-16-le")
    assert refusal(lambda: read(content[:-cut])).is_only(UNREADABLE)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        codecs.BOM_UTF8,
        codecs.BOM_UTF16_LE,
        b" \r\n\r\n",
        b"\0\0\0\0",
        "\n \n".encode("utf-16"),
    ],
)
def test_empty_files_are_refused(content):
    assert "empty" in refusal(lambda: read(content)).lines()[0]


@pytest.mark.parametrize("content", ["id,text\n", "id,text\r\n,\r\n", "[]", '"id","text"'])
def test_files_without_rows_are_refused(content):
    assert places(lambda: read(content)) == [(0, "")]


@pytest.mark.parametrize(
    "content",
    [
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100,
        b"%PDF-1.7\n...",
        b"\x1f\x8b\x08abc",
        b"{\\rtf1 text}",
    ],
)
def test_other_kinds_of_files_are_refused_in_words(content):
    assert places(lambda: read(content)) == [(0, "")]


# separators and quotes


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separator_is_told_by_the_header(separator):
    cell = '"a, b; ""c""\t\nd"'
    content = separator.join(("id", "text", "n")) + "\r\n" + separator.join(("1", cell, "2"))
    rows, table = read(content)
    assert rows[0].values == {"id": "1", "text": 'a, b; "c"\t\nd', "n": "2"}
    assert {"\t": "TAB"}.get(separator, separator) in table.facts


def test_separator_that_excel_names_is_used():
    assert texts("sep=|\nid|text\n1|a,b;c\n") == ["a,b;c"]


def test_separators_in_the_headers_of_other_columns_do_not_mislead():
    rows, _table = read('id;text;"a,b,c,d,e"\n1;x;y\n')
    assert rows[0].extra == {"a,b,c,d,e": "y"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_cells_keep_their_own_line_breaks_whatever_ends_the_rows(end):
    code = "One.\n\nTwo:\r\n\r\n```\nif a < b:\n    pass\n```\n\nThree.\n\n"
    content = f'id,text{end}1,"{code}"{end}2,next{end}'
    rows, _table = read(content)
    assert [row.get("text") for row in rows] == [code, "next"]


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ('id,text\n1,"a\n2,b\n3,c\n', 2, "never closed"),
        ('id,text\n1,a\n2,"b"c\n', 3, "follows a closing"),
        ('id,text\n1,"a\n2,"b"\n', 2, "follows a closing"),
    ],
)
def test_quotes_that_do_not_close_are_named_by_the_row_in_which_they_open(content, line, says):
    refused = refusal(lambda: read(content))
    assert refused.problems[0].line == line
    assert says in refused.problems[0].message


def test_rows_that_do_not_fit_and_cells_that_are_wrong_are_named_together():
    content = "id,text,n\n1,a\n,b,2\n3,c,d,e\n4,a,1,,\n5,e,,\n"
    refused = refusal(lambda: read(content))
    assert [(one.line, one.column) for one in refused.problems] == [(2, ""), (3, "id"), (4, "")]


def test_blank_rows_and_empty_cells_at_the_end_do_not_count():
    assert texts("id,text,,\n1,a,,\n\n,,,\n2,b,,,,\n   \n") == ["a", "b"]
    assert places(lambda: read("id,text,\n1,a,lost\n")) == [(2, "")]


# headers


@pytest.mark.parametrize(
    "header", [" Text ", "TEXT", "te​xt", "Response", "response ", "Ｔｅｘｔ", "﻿text", "_text"]
)
def test_headers_in_another_spelling_are_understood_and_said(header):
    rows, table = read(f'id,"{header}"\n1,a\n')
    assert rows[0].get("text") == "a"
    exact = header.strip("\ufeff ") == "text"
    assert exact or any("was read as «text»" in note for note in table.notes())


@pytest.mark.parametrize(
    "header",
    ["response, response,Response", "text,Text", "text,text", "text,other,other"],
)
def test_headers_that_could_be_one_column_are_refused_by_name(header):
    refused = refusal(lambda: read(f"id,{header}\n" + "1" + ",a" * (header.count(",") + 1)))
    assert refused.problems[0].line == 1
    names = [name for name in header.split(",") if name != "text"]
    assert all(f"«{name}»" in refused.problems[0].message for name in names[:1])


def test_exact_name_wins_over_another_name_for_the_column():
    rows, _table = read("id,text,response\n1,a,b\n")
    assert (rows[0].get("text"), rows[0].extra) == ("a", {"response": "b"})


def test_missing_column_is_named_with_those_that_were_found():
    refused = refusal(lambda: read("id,txt\n1,a\n"))
    assert (refused.problems[0].line, refused.problems[0].column) == (1, "text")
    assert "«txt»" in refused.problems[0].remedy


def test_problem_names_the_column_as_the_file_does():
    assert places(lambda: read("Item_ID,text\n,a\n")) == [(2, "Item_ID")]


# names and texts


def test_names_are_compared_exactly_but_for_the_space_around_them():
    rows, table = read("id,text\n7,a\n07,b\n A7 ,c\na7,d\n\xa0x\xa0,e\n")
    assert [row.get("id") for row in rows] == ["7", "07", "A7", "a7", "x"]
    assert any("left out: 2" in note for note in table.notes())


@pytest.mark.parametrize("one", ["\u200b", "\u202e", "\u00ad", "\ufeff", "\n", "\x1b", "\u2028"])
def test_what_nobody_sees_is_refused_in_names_and_counted_in_texts(one):
    refused = refusal(lambda: read(f'id,text\n"a{one}b",x\n'))
    assert f"U+{ord(one):04X}" in refused.problems[0].message
    rows, table = read(f'id,text\n1,"a{one}b"\n')
    assert rows[0].get("text") == f"a{one}b"
    said = any(f"U+{ord(one):04X} (1)" in note for note in table.notes())
    assert said == (one != "\n")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60))
def test_texts_keep_every_character(value):
    import csv
    import io

    out = io.StringIO(newline="")
    csv.writer(out).writerows([("id", "text"), ("1", value)])
    assert texts(out.getvalue()) == [value]
    assert texts(json.dumps([{"id": "1", "text": value}])) == [value]
    assert texts(json.dumps({"id": "1", "text": value}, ensure_ascii=False) + "\n") == [value]


KEPT = [
    "العدد 3 < 5 (صحيح)", "עברית $$x_1$$", "📉📰 👨‍👩‍👧‍👦", "price $5 and $6", r"\(x*y*z\)",
    "<script>alert(1)</script>", "&amp; <!-- c -->", "=HYPERLINK(\"http://x\")", "+1", "-1", "@x",
    "\t=1", "abc\n\n", "a\r\nb", " lead", "trail ", "e\u0301 é", "x" * 50_000,
]  # fmt: skip


@pytest.mark.parametrize("value", KEPT)
def test_texts_that_other_tools_damage_are_kept(value):
    quoted = value.replace('"', '""')
    assert texts(f'id,text\n1,"{quoted}"\n') == [value]


def test_long_names_are_refused():
    assert places(lambda: read(f"id,text\n{'x' * 201},a\n")) == [(2, "id")]


@pytest.mark.parametrize(
    ("said", "kept"), [("CA", "ca"), ("ca_ES", "ca-es"), ("català", None), ("English", None)]
)
def test_languages_are_codes(said, kept):
    content = f"code,language,context\nX,{said},c\n"
    if kept is None:
        assert places(lambda: read(content, DILEMMAS)) == [(2, "language")]
    else:
        assert read(content, DILEMMAS)[0][0].get("language") == kept


# numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("1,5", 1.5), (" 2. ", 2), ("−3", -3), ("1e3", 1000), (".5", 0.5), ("", None)],
)
def test_numbers_are_read(text, value):
    assert number(Row(2, {"n": text}), "n", Problems()) == value


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "1.234,5", "good", "٣", "1e400", "1 000"])
def test_what_is_no_number_is_refused(text):
    problems = Problems()
    assert number(Row(2, {"n": text}), "n", problems) is None
    assert [(one.line, one.column) for one in problems.found] == [(2, "n")]


@pytest.mark.parametrize(
    ("text", "value"), [("", 1), ("0", 0), ("3.0", 3), ("1.5", None), ("-1", None), ("1e9", None)]
)
def test_whole_numbers_are_small_and_not_negative(text, value):
    problems = Problems()
    assert whole(Row(2, {"n": text}), "n", problems) == (1 if value is None else value)
    assert bool(problems.found) == (value is None)


# JSON


def test_json_values_become_what_a_person_would_write():
    rows, _table = read('[{"id": 7.0, "text": null, "n": 0.1}, {"id": 8, "text": true, "x": [1]}]')
    assert [row.values for row in rows] == [
        {"id": "7", "text": "", "n": "0.1"},
        {"id": "8", "text": "true", "n": ""},
    ]
    assert rows[1].extra == {"x": "[1]"}


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ('[\n{"id": "1", "text": "a"},\n{"id": "2" "text": "b"}\n]', 3, "not valid JSON"),
        ('[\n{"id": "1", "text": "a"},\n3\n]', 3, "not an object"),
        ('[\n{"id": "1", "text": "a"}\n{"id": "2", "text": "b"}]', 3, "a comma or ]"),
        ('[\n{"id": "1", "text": "a"}\n] more', 3, "something follows"),
        ('[\n{"id": "1", "id": "2", "text": "a"}]', 2, "«id» stands twice"),
        ('[{"id": "1", "text": NaN}]', 1, "not valid JSON"),
        ('[{"id": "1", "text": "a\\u0000"}]', 1, "NUL"),
        ('[{"id": "1", "text": "a\\ud800"}]', 1, "half a character"),
        ("[" * 100_000, 1, "too deeply"),
        ('{"id": "1", "text": "a"}\n{"id": "2", "text"}\n{"id": "3", "text": "b"}\n', 2, "JSON"),
    ],
)
def test_broken_json_is_refused_by_line(content, line, says):
    refused = refusal(lambda: read(content))
    assert refused.problems[0].line == line
    assert says in str(refused.problems[0])


def test_objects_on_one_line_are_counted():
    content = json.dumps([{"id": "1", "text": "a"}, {"id": "", "text": "b"}])
    refused = refusal(lambda: read(content))
    assert str(refused.problems[0]).startswith("Object 2, id: The cell is empty.")
    refused = refusal(lambda: read(content.replace("}, {", "},\n{")))
    assert str(refused.problems[0]).startswith("Line 2, id: The cell is empty.")


def test_line_separators_inside_json_lines_end_no_line():
    content = '{"id": "1", "text": "a\u2028b\x85c"}\n{"id": "2", "text": "d"}\n'
    assert texts(content) == ["a\u2028b\x85c", "d"]


def test_one_object_over_several_lines_is_a_row():
    assert texts(json.dumps({"id": "1", "text": "a"}, indent=2)) == ["a"]


@pytest.mark.parametrize(
    ("content", "line"),
    [(b'{"a": 1,}', 1), (b'{\n"a": "\\ud800"}', 0), (b'{"a": 1, "a": 2}', 0), (b"", 0)],
)
def test_broken_document_is_refused(content, line):
    assert places(lambda: read_json(content, name="file")) == [(line, "")]


def test_document_says_its_encoding():
    assert read_json(codecs.BOM_UTF8 + b"{}", name="file").value == {}
    assert read_json('{"a": "café"}'.encode("cp1252"), name="file").notes


# many problems


def test_problems_are_shown_up_to_a_bound_and_all_counted():
    refused = refusal(lambda: read("id,text\n" + ",a\n" * 5_000))
    lines = refused.lines()
    assert (refused.count, len(lines)) == (5_000, 51)
    assert lines[-1] == "… and 4950 more."
    assert lines[0].startswith("Line 2, id:")
    assert len(refused.problems) == 1_000, "memory is bounded"


def test_kinds_of_problems_are_remembered_beyond_the_bound():
    problems = Problems()
    for n in range(3_000):
        problems.add(n, "", "m", "r", kind=KNOWN)
    assert refusal(problems.refuse).is_only(KNOWN)
    problems.add(9, "", "m", "r")
    assert not refusal(problems.refuse).is_only(KNOWN)


# the collected cases, where they are at hand

CASES = {
    "bom_only.csv": "empty",
    "empty.csv": "empty",
    "header_only.csv": "no row",
    "nul_and_broken.csv": "NUL",
    "dup_ids.csv": 6,
    "huge.csv": 2,
    "latin1.csv": 1,
    "semicolon.csv": 2,
    "trailing_blank.csv": 1,
}


@pytest.mark.skipif(not FILES.exists(), reason="the collected cases are not here (../shared/cases)")
@pytest.mark.parametrize("name", CASES)
def test_collected_cases(name):
    content, expected = (FILES / name).read_bytes(), CASES[name]
    if isinstance(expected, str):
        assert expected in refusal(lambda: read(content, RESPONSES)).lines()[0]
    else:
        blank = 1 if name == "dup_ids.csv" else 0  # one row has no id, which is no fault
        assert len(read(content, RESPONSES)[0]) == expected + blank
