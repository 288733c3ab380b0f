"""Markdown as a judge sees it, and without its marks: no letter is lost, nothing becomes active."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dilemmas.markdown import flatten
from ratings.templatetags.texts import plain, reading

TEXT = """# Head

One **bold**, *leaning* and `code`.
Two <b>raw</b> & 3 * 4.

1. first
2. second
   - inner

> said

| a | b |
|---|---|
| c | d |

---

[x]: http://example.org

![i](u) [l](javascript:alert(1)) <script>alert(1)</script>
"""


def test_flattened_text_is_plain_paragraphs() -> None:
    assert flatten(TEXT).split("\n\n") == [
        "Head",
        "One bold, leaning and code.\nTwo <b>raw</b> & 3 * 4.",
        "1. first",
        "2. second",
        "inner",
        "said",
        "a; b",
        "c; d",
        "[x]: http://example.org",
        "![i](u) [l](javascript:alert(1)) <script>alert(1)</script>",
    ]


def test_the_same_words_in_any_layout_flatten_to_the_same_text() -> None:
    written = ("# A\n\n- b\n- c", "**A**\n\n* b\n\n\n+ c", "A\n=\n\n> b\n\nc", "A\n\nb\n\nc\n\n***")
    assert {flatten(text) for text in written} == {"A\n\nb\n\nc"}


@pytest.mark.parametrize(
    "text", ["", " \n", "One.\n\nTwo: 7) three.", "[…] and [name removed]", "a\nb"]
)
def test_plain_text_stays(text: str) -> None:
    assert flatten(text) == text.strip()


def test_nothing_is_active_whether_shown_or_flattened() -> None:
    for html in (reading(TEXT), plain(flatten(TEXT)), plain(TEXT)):
        tags = set(re.findall(r"<\s*/?\s*(\w+)", html))
        assert tags <= {"p", "br", "h4", "strong", "em", "code", "ol", "ul", "li", "blockquote",
                        "table", "thead", "tbody", "tr", "th", "td", "hr"}  # fmt: skip
        assert not re.search(r"<[^>]+\s(?!dir=\"auto\"|start=\"\d+\")\w+=", html)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
        assert "[x]: http://example.org" in html


def test_numbers_of_a_list_that_is_interrupted_are_kept() -> None:
    html = reading("1. one\n\nA word between.\n\n2. two\n")
    assert '<ol start="2">' in html


@given(st.text(alphabet="ab1 .\n*_#>-+|()[]é·", max_size=60))
def test_no_letter_or_figure_is_lost(text: str) -> None:
    def letters(of: str) -> list[str]:
        return sorted(re.findall(r"\w", of.replace("_", "")))

    assert letters(flatten(text)) == letters(text)
    shown = re.sub(r'<ol start="(\d+)">', r"\1", reading(text))
    assert set(letters(re.sub(r"<[^>]*>", "", shown))) <= set(letters(text)) | {
        "l",
        "t",
        "g",
        "q",
        "u",
        "o",
    }
