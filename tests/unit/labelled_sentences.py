"""Sentences in which what tells is marked, and how many of the marks blinding finds.

In `tests/fixtures/blinding/sentences.json`, ⟦code:FEN⟧ marks what must be found, ⟦ask:MIT⟧ letters
that look like a code and may be asked about; nothing else may be found. `blinded` is the text that
must be proposed; where it is missing the text must be held for a person, with `held` left in it.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dilemmas import blinding

FILE = Path(__file__).resolve().parents[1] / "fixtures" / "blinding" / "sentences.json"
_MARKED = re.compile(r"⟦(\w+):(.+?)⟧", re.DOTALL)
_NAMES = {
    "code": "codes, in sentences, brackets, chains and headings",
    "path": "path markers",
    "axis": "axes",
    "name": "names and figures of the scaffold",
    "model": "models and vendors",
    "self": "the system speaks of itself",
    "condition": "labels of conditions",
}


class Span(NamedTuple):
    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    text: str
    spans: tuple[Span, ...]
    language: str
    labels: tuple[str, ...]
    blinded: str | None
    held: tuple[str, ...]

    def find(self) -> list[blinding.Finding]:
        return blinding.find(self.text, condition_labels=self.labels, language=self.language)

    def blind(self) -> blinding.Proposal:
        return blinding.blind(self.text, condition_labels=self.labels, language=self.language)


@dataclass(frozen=True)
class Score:
    """What was found of what there is: kind → (found, to find); findings that are none; questions."""

    kinds: dict[str, tuple[int, int]]
    false: tuple[str, ...]
    asked: int
    missed: tuple[str, ...]

    @property
    def found(self) -> int:
        return sum(found for found, _all in self.kinds.values())

    @property
    def to_find(self) -> int:
        return sum(every for _found, every in self.kinds.values())

    @property
    def recall(self) -> float:
        return self.found / self.to_find

    @property
    def precision(self) -> float:
        """Of what is said to tell; letters that are only asked about say nothing."""
        return self.found / (self.found + len(self.false))

    @property
    def precision_with_questions(self) -> float:
        return self.found / (self.found + len(self.false) + self.asked)


def read() -> list[Sentence]:
    """Return the labelled sentences."""
    found = []
    for entry in json.loads(FILE.read_text(encoding="utf-8")):
        text, spans, at = "", [], 0
        for match in _MARKED.finditer(entry["marked"]):
            text += entry["marked"][at : match.start()]
            spans.append(Span(match[1], len(text), len(text) + len(match[2])))
            text, at = text + match[2], match.end()
        text += entry["marked"][at:]
        found.append(
            Sentence(
                text,
                tuple(spans),
                entry["language"],
                tuple(entry.get("labels", ())),
                entry.get("blinded"),
                tuple(entry.get("held", ())),
            )
        )
    return found


def measure(sentences: Sequence[Sentence]) -> Score:
    """Compare findings and marks. A mark is found if every letter of it is; of a person's or a
    system's own words («As an AI …») a part is enough, because the whole sentence is held.
    """
    found, every = Counter[str](), Counter[str]()
    false, missed, asked = [], [], 0
    for sentence in sentences:
        findings, text = sentence.find(), sentence.text
        covered = {at for f in findings for at in range(f.start, f.end)}
        tells = [span for span in sentence.spans if span.kind != "ask"]
        for span in tells:
            letters = [at for at in range(span.start, span.end) if text[at].isalnum()]
            enough = any if span.kind in ("self", "condition") else all
            every[span.kind] += 1
            found[span.kind] += (hit := enough(at in covered for at in letters))
            if not hit:
                missed.append(f"{text[span.start : span.end]} | {text}")
        for finding in findings:
            if any(finding.start < span.end and finding.end > span.start for span in tells):
                continue
            may_ask = any(
                finding.start < span.end and finding.end > span.start for span in sentence.spans
            )
            if may_ask and finding.kind == "ambiguous":
                asked += 1
            else:
                false.append(f"{finding.text} | {text}")
    kinds = {kind: (found[kind], every[kind]) for kind in _NAMES}
    return Score(kinds, tuple(false), asked, tuple(missed))


def table(score: Score) -> str:
    """Return the figures as docs/blinding.md prints them."""
    rows = [
        f"| {_NAMES[kind]} | {every} | {found} |" for kind, (found, every) in score.kinds.items()
    ]
    return "\n".join(
        ["| what | to find | found |", "|---|---|---|", *rows,
         f"| **all** | **{score.to_find}** | **{score.found}** |"]
    )  # fmt: skip


def summary(sentences: Sequence[Sentence], score: Score) -> str:
    """Return the sentence under the table."""
    return (
        f"{len(sentences)} sentences: recall {score.recall:.3f}, precision {score.precision:.3f} "
        f"({len(score.false)} findings that are none); with the {score.asked} questions about "
        f"look-alikes counted as findings, precision {score.precision_with_questions:.3f}."
    )
