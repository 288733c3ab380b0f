"""What people read is spelt right, by hunspell where it is installed (Debian: hunspell-ca, -es, -en-gb).

Words that its dictionaries lack stand in `fixtures/spelling/LANGUAGE.txt`, names of people and
places in `names.txt`, a line each.
"""

import csv
import functools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
DICTIONARIES = {"ca": "ca", "es": "es_ES", "en": "en_GB"}
# capitals are codes and abbreviations; what stands between «», in code or an address is not prose
_NOT_PROSE = re.compile(r"`[^`]*`|https?://\S+|\b[A-ZÀ-Ý]{2,}\w*\b|\bD[1-4]\b")

_AFFIXES = re.compile(
    r"^[ldsmtn]['-]|'s$|^['-]+|['-]+$", re.I
)  # what Catalan and English join to a name


@functools.cache
def dictionary(language: str) -> bool:
    if shutil.which("hunspell") is None:
        return False
    asked = [*_command(language), "-a"]
    return subprocess.run(asked, input=b"", capture_output=True).returncode == 0


def _command(language: str) -> list[str]:
    return ["hunspell", "-d", DICTIONARIES[language], "-i", "utf-8"]


def unknown(texts: list[str], language: str) -> set[str]:
    """Return the words of the texts that neither hunspell nor our own list knows."""
    prose = "\n".join(_NOT_PROSE.sub(" ", text).replace("’", "'") for text in texts)
    done = subprocess.run(
        [*_command(language), "-l"], input=prose.encode(), capture_output=True, check=True
    )
    found = {_AFFIXES.sub("", word) for word in done.stdout.decode().split()}
    return found - {""} - own_words(language) - own_words("names")


def own_words(name: str) -> set[str]:
    return set((FIXTURES / "spelling" / f"{name}.txt").read_text(encoding="utf-8").split())


def texts_of(language: str) -> Iterator[tuple[str, str]]:
    """Yield (where, text) for everything that is written in a language."""
    for name in ("rubrics/awb-semantic.json", "dilemmas/awb.json"):
        for text in _in(json.loads((FIXTURES / name).read_text(encoding="utf-8")), language):
            yield name, text
    for path in sorted((FIXTURES / "demo" / language).glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for column in ("text", "reason", "rationale"):
                    # the visible scaffold is not prose: its codes and labels are what it is about
                    if row.get(column) and not (column == "text" and row["condition"] == "C"):
                        yield path.name, row[column]


def _in(value: object, language: str) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get(language), str):
            yield value[language]
        else:
            for inner in value.values():
                yield from _in(inner, language)
    elif isinstance(value, list):
        for inner in value:
            yield from _in(inner, language)


@pytest.mark.parametrize("language", DICTIONARIES)
def test_nothing_unexplained_is_found(language: str) -> None:
    if not dictionary(language):
        pytest.skip(f"hunspell or its dictionary {DICTIONARIES[language]} is not installed")
    texts = [text for _where, text in texts_of(language)]
    assert len(texts) > 100
    assert unknown(texts, language) == set()


@pytest.mark.parametrize("language", DICTIONARIES)
def test_a_mistake_would_be_found(language: str) -> None:
    if not dictionary(language):
        pytest.skip(f"hunspell or its dictionary {DICTIONARIES[language]} is not installed")
    assert unknown(["xqzvut"], language) == {"xqzvut"}


def test_own_words_are_sorted_and_stand_once() -> None:
    for name in (*DICTIONARIES, "names"):
        lines = (FIXTURES / "spelling" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        assert lines == sorted(set(lines)), name
