"""The files of a study that was rated elsewhere: read and checked, nothing written."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from dilemmas.models import Response
from dilemmas.services.outcomes import file_sha256
from dilemmas.services.reading import (
    Column,
    Format,
    ImportRefused,
    Row,
    Table,
    number,
    read_table,
    refuse_one,
    whole,
)
from dilemmas.services.responses import Incoming

ITEMS = Format(
    "items",
    (
        Column(
            "item_id", "label", lazy("names the response"), "i1",
            required=True, filled=True, longest=300,
        ),
        Column(
            "prompt_id", "label", lazy("names the question"), "p1", required=True, filled=True,
        ),
        Column(
            "prompt_text", "text", lazy("the same wherever the prompt_id is"),
            "Where should the bench stand?",
        ),
        Column(
            "condition", "label", lazy("the system or method"), "two-step",
            required=True, filled=True,
        ),
        Column(
            "response_text", "text",
            lazy("if texts are missing the study can be reported, but not rated"), "In the shade.",
        ),
        Column(
            "cluster_id", "label",
            lazy("a group coarser than the prompt (prompts about one article)"), "a7", longest=300,
        ),
    ),
    keeps_extra=True,
)  # fmt: skip

RATINGS = Format(
    "ratings",
    (
        Column(
            "item_id", "label", lazy("as in the file of items"), "i1",
            required=True, filled=True, longest=300,
        ),
        Column(
            "rater_id", "label", lazy("one person, the same everywhere; put no name here"), "r1",
            required=True, filled=True, longest=100,
        ),
        Column("criterion", "label", example="case", required=True, filled=True, longest=100),
        Column(
            "score", "number", lazy("a level of the scale"), "4", required=True,
            when=lazy("yes; empty where it is missing"),
        ),
        Column("rationale", "text", example="Nothing but a word."),
    ),
)  # fmt: skip

STUDY_JUDGEMENTS = Format(
    "model_judgements",
    (
        Column(
            "item_id", "label", lazy("as in the file of items"), "i1",
            required=True, filled=True, longest=300,
        ),
        Column(
            "judge", "label", lazy("the model, or the measure"), "model-judge",
            required=True, filled=True,
        ),
        Column("repetition", "whole", example="1", default="1"),
        Column(
            "criterion", "label", lazy("as in the file of ratings"), "case",
            required=True, filled=True, longest=100,
        ),
        Column(
            "score", "number", lazy("any real number, on any scale"), "4.5", required=True,
        ),
    ),
)  # fmt: skip
NAMES = ("items.csv", "ratings.csv", "model_judgements.csv")
T = TypeVar("T")


@dataclass(frozen=True)
class StudyFiles:
    """The bytes of a study's files and what they are called; `judgements` may be absent."""

    items: bytes
    ratings: bytes
    judgements: bytes | None = None
    names: Sequence[str] = NAMES

    def sha256(self) -> dict[str, str]:
        named = {"items": self.items, "ratings": self.ratings, "judgements": self.judgements}
        return {
            name: file_sha256(content) for name, content in named.items() if content is not None
        }


@dataclass(frozen=True)
class Score:
    """One rating. `score` is None where it is missing."""

    item: str
    rater: str
    criterion: str
    score: float | None
    rationale: str


@dataclass(frozen=True)
class Judged:
    """One score of a model judge."""

    item: str
    judge: str
    repetition: int
    criterion: str
    score: float | None


@dataclass(frozen=True)
class Study:
    """A study that can be written, and how its files were read."""

    levels: Sequence[float]
    items: Mapping[str, Incoming]
    prompts: Mapping[str, str]
    scores: Sequence[Score]
    judged: Sequence[Judged]
    notes: Sequence[str]

    @property
    def without_text(self) -> int:
        return sum(1 for item in self.items.values() if not item.parts[1].strip())


def parse_scale(text: str) -> list[float]:
    """Return the levels of a scale such as `1-5` or `0,0.5,1`. Raises `ImportRefused`."""
    match = re.fullmatch(r"\s*(-?\d{1,9})\s*-\s*(-?\d{1,9})\s*", text)
    levels: list[float] = []
    if match:
        low, high = int(match[1]), int(match[2])
        levels = [float(value) for value in range(low, min(high, low + 2_000) + 1)]
    else:
        with suppress(ValueError):
            levels = sorted({float(part) for part in text.split(",")})
    if not 2 <= len(levels) <= 1_001 or not all(map(math.isfinite, levels)):
        raise refuse_one(
            "", _("«%s» is not a scale.") % text, _("Write the lowest and the highest level: 1-5.")
        )
    return levels


def read_study(files: StudyFiles, *, scale: str, repair: bool = False) -> Study:
    """Read and check a study. Raises `ImportRefused` with every bad row of every file."""
    levels = parse_scale(scale)
    refusals: list[ImportRefused] = []
    notes: list[str] = []

    def read(n: int, content: bytes, format_: Format, rows: Callable[[Table], T]) -> T | None:
        """Take one file's rows; what is wrong with it waits until all files have been read."""
        try:
            table = read_table(content, name=files.names[n], format_=format_, repair=repair)
            taken = rows(table)
            notes.append(f"{files.names[n]}: {table.facts}")
            notes.extend(f"{files.names[n]}: {note}" for note in table.notes())
            table.refuse()
        except ImportRefused as refused:
            refusals.append(refused)
            return None
        return taken

    found = read(0, files.items, ITEMS, _items)
    items, prompts = found or ({}, {})
    known = set(items) if found else None
    scores = read(1, files.ratings, RATINGS, lambda rows: _scores(rows, known, levels))
    judged: list[Judged] | None = []
    if files.judgements is not None:
        judged = read(2, files.judgements, STUDY_JUDGEMENTS, lambda rows: _judged(rows, known))
    if refusals or scores is None or judged is None:
        raise _together(refusals, files.names)
    return Study(levels, items, prompts, scores, judged, notes)


def _together(refusals: Sequence[ImportRefused], names: Sequence[str]) -> ImportRefused:
    return ImportRefused(
        [replace(one, file=refused.name) for refused in refusals for one in refused.problems],
        name=", ".join(refused.name for refused in refusals),
        notes=[note for refused in refusals for note in refused.notes],
        left_out=sum(refused.count - len(refused.problems) for refused in refusals),
    )


def _items(table: Table) -> tuple[dict[str, Incoming], dict[str, str]]:
    """Return the items by id and the prompts' texts by prompt id."""
    items: dict[str, Incoming] = {}
    prompts: dict[str, str] = {}
    for row in table:
        key, prompt = row.get("item_id"), row.get("prompt_id")
        if key in items:
            message = _("«%(name)s» stands twice (first on line %(line)d).")
            named = {"name": key, "line": items[key].line}
            table.problems.add(row.line, "item_id", message % named, _("Keep one."))
            continue
        text = row.get("prompt_text")
        if prompts.setdefault(prompt, text) != text:
            message = _("The prompt «%s» has another text further up.") % prompt
            remedy = _("Give it another prompt_id.")
            table.problems.add(row.line, "prompt_text", message, remedy)
        items[key] = _incoming(row, key, prompt)
    return items, prompts


def _incoming(row: Row, key: str, prompt: str) -> Incoming:
    return Incoming(
        line=row.line,
        key=(key,),
        dilemma=prompt,
        condition=row.get("condition"),
        generator="",
        replicate=1,
        external_id=key,
        language="",
        kind=Response.Kind.RESPONSE.value,
        cluster=row.get("cluster_id"),
        latency_s=None,
        cost=None,
        parts={1: row.get("response_text")},
        extras={1: row.extra},
    )


def _no_item(row: Row, known: set[str] | None, table: Table) -> None:
    """Say that there is no such item, if the items could be read."""
    item = row.get("item_id")
    if item and known is not None and item not in known:
        message = _("There is no item «%s».") % item
        table.problems.add(row.line, "item_id", message, _("Add it to the file of items."))


def _scores(table: Table, known: set[str] | None, levels: Sequence[float]) -> list[Score]:
    allowed = set(levels)
    seen: dict[tuple[str, str, str], int] = {}
    scores = []
    for row in table:
        item, rater, criterion = (row.get(c) for c in ("item_id", "rater_id", "criterion"))
        score = number(row, "score", table.problems)
        _no_item(row, known, table)
        if score is not None and score not in allowed:
            message = _("%(score)g is not on the scale %(low)g–%(high)g.") % {
                "score": score,
                "low": levels[0],
                "high": levels[-1],
            }
            remedy = _("Mend it, or leave a missing score empty.")
            table.problems.add(row.line, "score", message, remedy)
        first = seen.setdefault((item, rater, criterion), row.line)
        if first != row.line and item and rater and criterion:
            message = _("This rating stands twice (first on line %d).") % first
            table.problems.add(row.line, "item_id", message, _("Keep one."))
        scores.append(Score(item, rater, criterion, score, row.get("rationale")))
    return scores


def _judged(table: Table, known: set[str] | None) -> list[Judged]:
    seen: dict[tuple[str, str, int, str], int] = {}
    judged = []
    for row in table:
        _no_item(row, known, table)
        one = Judged(
            item=row.get("item_id"),
            judge=row.get("judge"),
            repetition=whole(row, "repetition", table.problems),
            criterion=row.get("criterion"),
            score=number(row, "score", table.problems),
        )
        key = (one.item, one.judge, one.repetition, one.criterion)
        first = seen.setdefault(key, row.line)
        if first != row.line and one.item and one.judge:
            message = _("This judgement stands twice (first on line %d).") % first
            table.problems.add(row.line, "repetition", message, _("Keep one."))
        judged.append(one)
    return judged
