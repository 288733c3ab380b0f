"""PURE-minded reading of a draft: field names ↔ answers, and what is still missing.

A field is named `<part>-<criterion key>-<answer|note|rationale|evidence>`. An answer is a level's value,
or `cannot:<reason>` (the reason may be empty in a draft): one field, so that a score and a reason
for none exclude each other.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dilemmas.models import Criterion
from ratings.models.rating import Missing
from ratings.services.errors import Gap, Refused

_FIELD = re.compile(r"^\d{1,3}-[\w.-]{1,100}-(answer|note|rationale|evidence)$")
CANNOT = "cannot:"


@dataclass(frozen=True)
class Answer:
    """One criterion of one part (0 is the whole) as a draft has it."""

    part: int
    criterion: Criterion
    score: float | None
    missing: str
    note: str
    rationale: str
    unable: bool = False
    evidence: tuple[str, ...] = ()  # marked passages

    @property
    def is_explained(self) -> bool:
        """A marked passage counts as a reason."""
        return bool(self.rationale.strip() or self.evidence)


def is_field(name: str) -> bool:
    return _FIELD.match(name) is not None


def field_name(part: int, key: str, kind: str) -> str:
    return f"{part}-{key}-{kind}"


def read_answers(criteria: Iterable[Criterion], values: Mapping[str, str]) -> list[Answer]:
    """Return one answer per criterion. Raises `Refused` for a value that is no level and no reason."""
    answers = []
    for criterion in criteria:
        part = 0
        given = values.get(field_name(part, criterion.key, "answer"), "")
        score, missing, unable = None, "", given.startswith(CANNOT)
        if unable:
            missing = given.removeprefix(CANNOT)
            if missing and missing not in Missing.values:
                raise Refused("unknown_reason", field=criterion.key)
        elif given:
            try:
                score = float(given)
            except ValueError:
                raise Refused("not_a_level", field=criterion.key) from None
            if score not in {level.value for level in criterion.levels.all()}:
                raise Refused("not_a_level", field=criterion.key)
        answers.append(
            Answer(
                part=part,
                criterion=criterion,
                score=score,
                missing=missing,
                note=values.get(field_name(part, criterion.key, "note"), "").strip(),
                rationale=values.get(field_name(part, criterion.key, "rationale"), ""),
                unable=unable,
                evidence=_passages(values.get(field_name(part, criterion.key, "evidence"), "")),
            )
        )
    return answers


def _passages(text: str) -> tuple[str, ...]:
    """One passage a line; blanks run together, and none stands twice."""
    return tuple(
        dict.fromkeys(" ".join(line.split()) for line in text.splitlines() if line.strip())
    )


def gaps(answers: Sequence[Answer], *, rationales: str) -> list[Gap]:
    """Return what is missing before the response is done, in the page's order.

    `rationales` is none, one (on any criterion) or all. A reason is never asked for at some levels
    only: that would tax those scores. Not being able to judge is an answer and needs no rationale.
    """
    found = []
    for answer in answers:
        name, key = field_name(answer.part, answer.criterion.key, "answer"), answer.criterion.key
        if answer.score is None and not answer.missing:
            found.append(Gap(name, key, "reason" if answer.unable else "score"))
        elif answer.missing == Missing.OTHER and not answer.note:
            found.append(Gap(field_name(answer.part, key, "note"), key, "note"))
        elif (
            rationales == "all"
            and answer.criterion.asks_rationale
            and answer.score is not None
            and not answer.is_explained
        ):
            found.append(Gap(field_name(answer.part, key, "rationale"), key, "rationale"))
    asking = [a for a in answers if a.criterion.asks_rationale and a.score is not None]
    if rationales == "one" and asking and not any(a.is_explained for a in asking):
        first = asking[0]
        found.append(
            Gap(
                field_name(first.part, first.criterion.key, "rationale"),
                first.criterion.key,
                "one_rationale",
            )
        )
    return found
