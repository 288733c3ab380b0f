"""Markdown in texts that people or machines wrote: one way to read it, and the text without marks.

Pure. HTML, links and images are not Markdown here: they stay what they are, letters.
"""

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_SWITCHED_OFF = ["image", "link", "autolink", "reference"]  # a reference would vanish from the page


def parser() -> MarkdownIt:
    """Return a parser of the Markdown that judges see: headings, emphasis, lists, quotes, tables."""
    options = {"html": False, "breaks": True}
    return MarkdownIt("commonmark", options).enable("table").disable(_SWITCHED_OFF)


_PARSER = parser()


def flatten(text: str) -> str:
    """Return the text as paragraphs of plain letters, the same whatever its condition.

    Headings, emphasis, bullets, quotation marks of blocks, rules and the lines of tables go;
    every word stays, and so do the numbers of numbered lists, which the text may refer to.
    """
    return "\n\n".join(block for block in _blocks(_PARSER.parse(text)) if block)


def _blocks(tokens: list[Token]) -> Iterator[str]:
    number, cells = "", list[str]()
    in_row = False
    for token in tokens:
        if token.type in ("list_item_open", "list_item_close"):
            yield number.strip()
            number = f"{token.info}{token.markup} " if token.info else ""
        elif token.type in ("tr_open", "tr_close"):
            yield "; ".join(cell for cell in cells if cell)
            in_row, cells = token.type == "tr_open", []
        elif token.type == "inline" and in_row:
            cells.append(_letters(token))
        elif token.type == "inline" or token.type in ("fence", "code_block"):
            yield number + (_letters(token) if token.children else token.content.strip("\n"))
            number = ""


def _letters(token: Token) -> str:
    return "".join(
        "\n" if child.type in ("softbreak", "hardbreak") else child.content
        for child in token.children or ()
    ).strip()
