"""A rubric as one document, the same that files have: read, changed, checked. Nothing is written here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from dilemmas.models import Criterion, RubricVersion

Document = dict[str, Any]
LONGEST_SHORT = 60
_KEY = re.compile(r"[\w.-]{1,100}")  # it becomes part of the names of a form's fields
_OF_RUBRIC, _OF_CRITERION = ("title", "norms", "instructions"), ("name", "question")


@dataclass(frozen=True)
class RubricProblem:
    """What is wrong or missing, where, and what to do.

    `position` (of the criterion) and `level` count from 0; None where it concerns all of it.
    `field` is what the editor calls the place.
    """

    message: str
    remedy: str
    criterion: str = ""
    value: str = ""
    language: str = ""
    field: str = ""
    position: int | None = None
    level: int | None = None

    def __str__(self) -> str:
        places = []
        if self.criterion or self.position is not None:
            name = self.criterion or (self.position or 0) + 1
            places.append(_("Criterion «%(name)s»") % {"name": name})
        if self.value:
            places.append(_("level %(value)s") % {"value": self.value})
        if self.language:
            places.append(language_name(self.language))
        place = ", ".join(places)
        return (
            f"{place}: {self.message} {self.remedy}" if place else f"{self.message} {self.remedy}"
        )


def language_name(code: str) -> str:
    return str(dict(settings.LANGUAGES).get(code, code))


def document_of(version: RubricVersion) -> Document:
    """Return a version as a file would have it, with every language that any of its texts has."""
    texts = list(version.texts.all())
    criteria = version.criteria.order_by("position").prefetch_related("texts", "levels__texts")
    items = [_criterion(criterion) for criterion in criteria]
    spoken = {text.language for text in texts}
    for item in items:
        spoken |= {language for texts_ in _texts_of(item) for language in texts_}
    offered = [code for code, _name in settings.LANGUAGES]
    return {
        "code": version.rubric.code,
        "version_label": version.label,
        "provenance": version.provenance,
        "languages": [
            *(one for one in offered if one in spoken),
            *sorted(spoken - set(offered)),
        ],
        "title": {text.language: text.title for text in texts},
        "norms": {text.language: text.norms for text in texts},
        "instructions": {text.language: text.instructions for text in texts},
        "criteria": items,
    }


def _criterion(criterion: Criterion) -> Document:
    texts, levels = list(criterion.texts.all()), list(criterion.levels.all())
    item: Document = {
        "key": criterion.key,
        "kind": criterion.kind,
        "scope": criterion.scope,
        "asks_rationale": criterion.asks_rationale,
        "applicability": criterion.applicability,
        "name": {text.language: text.name for text in texts},
        "question": {text.language: text.question for text in texts},
        "boundary": {"text": {text.language: text.boundary for text in texts}},
        "levels": [
            {
                "value": level.value,
                "short": {text.language: text.short for text in level.texts.all()},
                "full": {text.language: text.full for text in level.texts.all()},
            }
            for level in levels
        ],
    }
    if criterion.boundary_lower is not None:
        item["boundary"] |= {"lower": criterion.boundary_lower, "upper": criterion.boundary_upper}
    return item


def _texts_of(item: Document) -> Iterator[Mapping[str, str]]:
    yield from (item[name] for name in _OF_CRITERION)
    yield item["boundary"]["text"]
    yield item["applicability"].get("text", {})
    for level in item["levels"]:
        yield from (level["short"], level["full"])


def texts_in(document: Document, language: str) -> int:
    """Return how many texts are written in the language."""
    every = [document[name] for name in _OF_RUBRIC]
    every += [texts for item in document["criteria"] for texts in _texts_of(item)]
    return sum(bool(texts.get(language, "").strip()) for texts in every)


def with_criterion(
    document: Document, *, key: str, name: str, lowest: int, highest: int
) -> Document:
    """Return the document with one more criterion, its levels still without texts."""
    languages = document["languages"]
    item: Document = {
        "key": key,
        "kind": Criterion.Kind.ORDINAL.value,
        "scope": Criterion.Scope.WHOLE.value,
        "asks_rationale": True,
        "applicability": {},
        "name": {language: name if language == languages[0] else "" for language in languages},
        "question": {},
        "boundary": {"text": {}},
        "levels": [
            {"value": float(value), "short": {}, "full": {}} for value in range(lowest, highest + 1)
        ],
    }
    return document | {"criteria": [*document["criteria"], item]}


def with_item(document: Document, position: int, item: Document) -> Document:
    """Return the document with another criterion in the place of one."""
    criteria = list(document["criteria"])
    criteria[position] = item
    return document | {"criteria": criteria}


def without_criterion(document: Document, position: int) -> Document:
    criteria = [item for at, item in enumerate(document["criteria"]) if at != position]
    return document | {"criteria": criteria}


def moved(document: Document, position: int, by: int) -> Document:
    """Return the document with a criterion one place up or down; at the end it stays."""
    criteria = list(document["criteria"])
    to = position + by
    if 0 <= position < len(criteria) and 0 <= to < len(criteria):
        criteria[position], criteria[to] = criteria[to], criteria[position]
    return document | {"criteria": criteria}


def check(document: Document) -> list[RubricProblem]:
    """Return what cannot be written down. Texts that are missing are for `missing`."""
    keys = [item["key"] for item in document["criteria"]]
    found = []
    for position, item in enumerate(document["criteria"]):
        at: dict[str, Any] = {"criterion": item["key"], "position": position}
        if not _KEY.fullmatch(item["key"]):
            message = _("The key has letters, figures, hyphens, points and underscores only.")
            found.append(RubricProblem(message, _("Write it so."), field="key", **at))
        elif keys.count(item["key"]) > 1:
            message = _("Another criterion has this key.")
            found.append(RubricProblem(message, _("Give each one of its own."), field="key", **at))
        found += _check_levels(item, at)
        for language, name in item["name"].items():
            if len(name) > 200:
                message = _("The name has %(n)d characters.") % {"n": len(name)}
                remedy = _("Keep it to %(n)d.") % {"n": 200}
                place: dict[str, Any] = {"field": "name", "language": language}
                found.append(RubricProblem(message, remedy, **at, **place))
        stages = item["applicability"].get("stages", [])
        if not all(isinstance(stage, int) and stage >= 1 for stage in stages):
            message = _("Stages are whole numbers from 1 on.")
            remedy = _("Write them with commas: 1, 2. Leave it empty for all.")
            found.append(RubricProblem(message, remedy, field="stages", **at))
    return found


def _check_levels(item: Document, at: dict[str, Any]) -> Iterator[RubricProblem]:
    values = [level["value"] for level in item["levels"]]
    numbers = [value for value in values if isinstance(value, float)]
    for place, level in enumerate(item["levels"]):
        value = level["value"]
        here: dict[str, Any] = {"value": value_text(value), "level": place}
        if not isinstance(value, float):
            message = _("The level's value is not a number.")
            yield RubricProblem(message, _("Write 0, 1, 2 …"), field="value", **at, **here)
        elif values.count(value) > 1:
            message = _("Another level has this value.")
            yield RubricProblem(
                message, _("Give each one of its own."), field="value", **at, **here
            )
        for language, text in level["short"].items():
            if len(text) > LONGEST_SHORT:
                message = _("The short text has %(n)d characters.") % {"n": len(text)}
                remedy = _("Keep it to %(n)d.") % {"n": LONGEST_SHORT}
                spoken: dict[str, Any] = {"language": language, "field": "short"}
                yield RubricProblem(message, remedy, **at, **here, **spoken)
    pair = item["boundary"].get("lower"), item["boundary"].get("upper")
    if pair not in ((None, None), *pairwise(sorted(numbers))):
        message = _("The boundary is not between two neighbouring levels.")
        remedy = _("Choose two that follow one another, or none.")
        yield RubricProblem(message, remedy, field="between", **at)


def missing(document: Document) -> list[RubricProblem]:
    """Return what judges would miss, in every language of the rubric."""
    if not document["criteria"]:
        return [RubricProblem(_("There is no criterion yet."), _("Add one."))]
    found = []
    for position, item in enumerate(document["criteria"]):
        at: dict[str, Any] = {"criterion": item["key"], "position": position}
        if len(item["levels"]) < 2:
            message = _("It has fewer than two levels.")
            found.append(RubricProblem(message, _("Add levels."), field="value", **at))
        for language in document["languages"]:
            spoken: dict[str, Any] = {"language": language}
            for field, message in (
                ("name", _("It has no name.")),
                ("question", _("It has no question.")),
            ):
                if not item[field].get(language, "").strip():
                    found.append(
                        RubricProblem(message, _("Write it."), field=field, **at, **spoken)
                    )
            found += _missing_in_levels(item["levels"], language, at)
    return found


def _missing_in_levels(
    levels: Sequence[Document], language: str, at: dict[str, Any]
) -> Iterator[RubricProblem]:
    for place, level in enumerate(levels):
        here: dict[str, Any] = {
            "value": value_text(level["value"]),
            "level": place,
            "language": language,
        }
        for field, message, remedy in (
            ("short", _("There is no short text."), _("Write it: it stands beside the button.")),
            ("full", _("There is no full text."), _("Write it: it opens under «More».")),
        ):
            if not level[field].get(language, "").strip():
                yield RubricProblem(message, remedy, field=field, **at, **here)


def value_text(value: float | str) -> str:
    """Return a level's value as it is written: 0, 1, 0.5; what is no number as it was typed."""
    return f"{value:g}" if isinstance(value, float) else str(value)
