"""XLSX workbooks made by hand, part by part, so that a test can say exactly what is in them."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def reference(row: int, column: int) -> str:
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def text(value: str) -> str:
    """Return the content of a cell that holds its own text; give it to `rows` as a `(type, …)`."""
    return f'<is><t xml:space="preserve">{escape(value)}</t></is>'


def cell(row: int, column: int, value: object) -> str:
    """`value`: a text, a number, None, or (attributes, inner XML)."""
    place = reference(row, column)
    if value is None:
        return ""
    if isinstance(value, tuple):
        attributes, inner = value
        return f'<c r="{place}" {attributes}>{inner}</c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr">{text(str(value))}</c>'


def sheet(rows: Sequence[Sequence[object]], *, after: str = "", hidden: Sequence[int] = ()) -> str:
    lines = "".join(
        f'<row r="{n}"{" hidden=" + quoteattr("1") if n in hidden else ""}>'
        + "".join(cell(n, column, value) for column, value in enumerate(row))
        + "</row>"
        for n, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData>{after}</worksheet>'


def styles(formats: Sequence[int | str]) -> str:
    """Return styles whose n-th cell format is a built-in number or a code of its own."""
    custom = [code for code in formats if isinstance(code, str)]
    ids = {code: 164 + n for n, code in enumerate(custom)}
    codes = "".join(
        f'<numFmt numFmtId="{ids[code]}" formatCode={quoteattr(code)}/>' for code in custom
    )
    xfs = "".join(
        f'<xf numFmtId="{ids[code] if isinstance(code, str) else code}"/>' for code in formats
    )
    return (
        f'<styleSheet xmlns="{_MAIN}"><numFmts>{codes}</numFmts>'
        f'<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>{xfs}</cellXfs></styleSheet>'
    )


def workbook(
    sheets: Mapping[str, str],
    *,
    strings: Sequence[str] = (),
    formats: Sequence[int | str] = (),
    states: Mapping[str, str] | None = None,
    is_1904: bool = False,
    parts: Mapping[str, bytes | str] | None = None,
) -> bytes:
    """Return a workbook of these sheets (name → XML). `strings` are inner XML of `<si>`."""
    names = list(sheets)
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"'
        f' state="{(states or {}).get(name, "visible")}"/>'
        for n, name in enumerate(names, start=1)
    )
    relations = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(names) + 1)
    )
    year = ' date1904="1"' if is_1904 else ""
    content: dict[str, bytes | str] = {
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><workbookPr{year}/>'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{relations}</Relationships>',
    }
    for n, name in enumerate(names, start=1):
        content[f"xl/worksheets/sheet{n}.xml"] = sheets[name]
    if strings:
        items = "".join(f"<si>{one}</si>" for one in strings)
        content["xl/sharedStrings.xml"] = f'<sst xmlns="{_MAIN}">{items}</sst>'
    if formats:
        content["xl/styles.xml"] = styles(formats)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, part in {**content, **(parts or {})}.items():
            archive.writestr(path, part)
    return packed.getvalue()


def table(rows: Sequence[Sequence[object]], **options: object) -> bytes:
    """Return a workbook with one sheet of plain cells."""
    return workbook({"Sheet1": sheet(rows)}, **options)  # type: ignore[arg-type]
