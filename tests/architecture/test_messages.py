"""Messages that the collector cannot see would stay in English: none stands inside an f-string."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GETTEXT = {"_", "gettext", "ngettext", "lazy", "gettext_lazy"}
FILES = [
    path
    for app in ("awb_panel", "dilemmas", "ratings")
    for path in sorted((ROOT / app).rglob("*.py"))
]


def hidden_messages(source: str) -> list[int]:
    """Return the lines on which a message stands inside an f-string."""
    return [
        call.lineno
        for text in ast.walk(ast.parse(source))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in GETTEXT
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_message_is_hidden(path):
    assert hidden_messages(path.read_text()) == []


def test_hidden_message_is_found():
    assert hidden_messages("a = 1\nb = f\"{_('text')} {a}\"") == [2]
