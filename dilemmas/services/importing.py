"""Importing dilemmas and rubrics: all or nothing, the same file again changes nothing."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from dilemmas.canonical import sha256
from dilemmas.models import (
    Collection,
    Criterion,
    CriterionText,
    Dilemma,
    DilemmaText,
    DilemmaVersion,
    Level,
    LevelText,
    Rubric,
    RubricText,
    RubricVersion,
)
from dilemmas.services import provenance
from dilemmas.services.reading import (
    ImportRefused,
    Problem,
    Problems,
    Row,
    number,
    read_json,
    read_rows,
)

Progress = Callable[[int, int], None]
DILEMMA_COLUMNS = (
    "code", "family", "language", "title", "context", "stage", "actors", "costs",
    "required_axes", "required_components",
)  # fmt: skip
_BY_LANGUAGE = ("title", "context", "actors", "costs")


@dataclass(frozen=True)
class Outcome:
    """What an import did. `unchanged` counts what was there already, word for word."""

    created: int
    changed: int
    unchanged: int

    @property
    def did_something(self) -> bool:
        return bool(self.created or self.changed)


@transaction.atomic
def import_dilemmas(
    *,
    content: bytes,
    name: str,
    collection: str,
    actor: str,
    at: datetime,
    update: bool = False,
) -> Outcome:
    """Import dilemmas into a collection, which is made if need be.

    A known code with another text is refused unless `update`, and always if it is sealed.
    Raises `ImportRefused` with every bad row.
    """
    rows = read_rows(
        content,
        name=name,
        required=("code", "language", "context"),
        known=DILEMMA_COLUMNS,
        by_language=_BY_LANGUAGE,
    )
    problems = Problems(name)
    wanted = _dilemma_documents(rows, problems)
    problems.refuse()
    home, _made = Collection.objects.get_or_create(name=collection)
    known = {d.code: d for d in Dilemma.objects.filter(collection=home)}
    created = changed = unchanged = 0
    for code, (line, document) in wanted.items():
        dilemma = known.get(code)
        newest = dilemma.versions.order_by("-number").first() if dilemma else None
        if newest is not None and _dilemma_document(newest) == document:
            unchanged += 1
            continue
        if newest is not None and newest.sealed_at:
            problems.add(
                line,
                "code",
                _("«%s» is sealed by a frozen panel.") % code,
                _("Import it into another collection or set."),
            )
            continue
        if newest is not None and not update:
            problems.add(
                line,
                "code",
                _("«%s» is known with another text.") % code,
                _("Ask for an update (--update) if it is meant to replace it."),
            )
            continue
        if dilemma is None:
            dilemma, created = Dilemma.objects.create(collection=home, code=code), created + 1
        else:
            changed += 1
        _write_dilemma(dilemma, newest.number + 1 if newest else 1, document)
    problems.refuse()
    outcome = Outcome(created, changed, unchanged)
    if outcome.did_something:
        payload = {"collection": collection, "sha256": sha256(content.hex()), "created": created}
        provenance.record(kind="dilemmas_imported", payload=payload, actor=actor, at=at)
    return outcome


def _dilemma_documents(
    rows: list[Row], problems: Problems
) -> dict[str, tuple[int, dict[str, Any]]]:
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for row in rows:
        code, language = row.get("code").strip(), row.get("language").strip().lower()
        stage = int(number(row, "stage", problems, whole=True, default=1) or 1)
        if not code:
            problems.add(row.line, "code", _("The code is empty."), _("Write one, like AWB-001."))
            continue
        if not language:
            problems.add(
                row.line, "language", _("The language is empty."), _("Write ca, es or en.")
            )
            continue
        _line, document = found.setdefault(code, (row.line, {"family": "", "texts": {}}))
        for column, value in (
            ("family", row.get("family").strip()),
            ("required_axes", _mask(row, "required_axes", DilemmaVersion.AXES, problems)),
            (
                "required_components",
                _mask(row, "required_components", DilemmaVersion.COMPONENTS, problems),
            ),
        ):
            if value and document.get(column, value) not in (value, ""):
                message = _("Another row of «%s» says otherwise.") % code
                problems.add(row.line, column, message, _("Write the same, or leave it empty."))
            elif value:
                document[column] = value
        key = f"{language}/{stage}"
        if key in document["texts"]:
            problems.add(
                row.line, "code", _("«%s» stands twice.") % f"{code} {key}", _("Keep one.")
            )
            continue
        document["texts"][key] = [row.get("title").strip(), row.get("context")]
        for column in ("actors", "costs"):
            if row.get(column).strip():
                document.setdefault(column, {})[key] = row.get(column)
    return found


def _mask(row: Row, column: str, known: tuple[str, ...], problems: Problems) -> list[str]:
    """Return the names in a cell, in the order of `known`. A cell is a JSON list or simply names."""
    text = row.get(column).strip()
    names = re.split(r"[\s,;]+", text)
    if text.startswith("["):
        try:
            names = [str(name) for name in json.loads(text)]
        except ValueError:  # then it is refused as a name that is unknown
            names = [text]
    fold = {name.casefold(): name for name in known}
    given = {name.strip().casefold() for name in names if name.strip()}
    unknown = sorted(given - set(fold))
    if unknown:
        message = _("Unknown here: %s.") % ", ".join(unknown)
        problems.add(row.line, column, message, _("Choose from: %s.") % ", ".join(known))
    return [name for name in known if name.casefold() in given]


def _dilemma_document(version: DilemmaVersion) -> dict[str, Any]:
    """Return a version as files say it; what it does not have has no key."""
    texts = list(version.texts.all())
    document: dict[str, Any] = {
        "family": version.family,
        "texts": {f"{t.language}/{t.stage}": [t.title, t.context] for t in texts},
        "actors": {f"{t.language}/{t.stage}": t.actors for t in texts if t.actors},
        "costs": {f"{t.language}/{t.stage}": t.costs for t in texts if t.costs},
        "required_axes": version.required_axes,
        "required_components": version.required_components,
    }
    return {key: value for key, value in document.items() if value or key in ("family", "texts")}


def _write_dilemma(dilemma: Dilemma, number_: int, document: dict[str, Any]) -> None:
    version = DilemmaVersion.objects.create(
        dilemma=dilemma,
        number=number_,
        family=document["family"],
        required_axes=document.get("required_axes", []),
        required_components=document.get("required_components", []),
    )
    for key, (title, context) in document["texts"].items():
        language, stage = key.split("/")
        DilemmaText.objects.create(
            version=version,
            language=language,
            stage=int(stage),
            title=title,
            context=context,
            actors=document.get("actors", {}).get(key, ""),
            costs=document.get("costs", {}).get(key, ""),
        )


@transaction.atomic
def import_rubric(
    *, content: bytes, name: str, actor: str, at: datetime
) -> tuple[RubricVersion, bool]:
    """Import a rubric (JSON). Another content of a known code is its next version.

    Returns the version and whether it is new. Raises `ImportRefused` for anything amiss.
    """
    document = read_json(content, name=name)
    problems = Problems(name)
    _check_rubric(document, problems)
    problems.refuse()
    rubric, _made = Rubric.objects.get_or_create(code=document["code"])
    digest = sha256(document)
    same = rubric.versions.filter(content_sha256=digest).first()
    if same is not None:
        return same, False
    last = rubric.versions.order_by("-number").first()
    version = write_rubric(rubric, last.number + 1 if last else 1, document)
    payload = {"code": rubric.code, "number": version.number, "sha256": digest}
    provenance.record(kind="rubric_imported", payload=payload, actor=actor, at=at)
    return version, True


def write_rubric(rubric: Rubric, number_: int, document: dict[str, Any]) -> RubricVersion:
    """Write one version of a rubric from its checked document."""
    version = RubricVersion.objects.create(
        rubric=rubric,
        number=number_,
        label=document.get("version_label", ""),
        provenance=document.get("provenance", ""),
        content_sha256=sha256(document),
    )
    write_rubric_content(version, document)
    return version


def write_rubric_content(version: RubricVersion, document: dict[str, Any]) -> None:
    """Write the texts and criteria of a version that has none."""
    titles, norms = document.get("title", {}), document.get("norms", {})
    instructions = document.get("instructions", {})
    for language in sorted(set(titles) | set(norms) | set(instructions)):
        RubricText.objects.create(
            version=version,
            language=language,
            title=titles.get(language, ""),
            norms=norms.get(language, ""),
            instructions=instructions.get(language, ""),
        )
    for position, item in enumerate(document["criteria"], start=1):
        boundary = item.get("boundary", {})
        criterion = Criterion.objects.create(
            version=version,
            key=item["key"],
            position=position,
            kind=item.get("kind", "ordinal"),
            scope=item.get("scope", "whole"),
            asks_rationale=item.get("asks_rationale", True),
            boundary_lower=boundary.get("lower"),
            boundary_upper=boundary.get("upper"),
            applicability=item.get("applicability", {}),
        )
        _write_criterion_texts(criterion, item)


def _write_criterion_texts(criterion: Criterion, item: dict[str, Any]) -> None:
    for language, text in item.get("name", {}).items():
        CriterionText.objects.create(
            criterion=criterion,
            language=language,
            name=text,
            question=item.get("question", {}).get(language, ""),
            boundary=item.get("boundary", {}).get("text", {}).get(language, ""),
        )
    for entry in item["levels"]:
        level = Level.objects.create(criterion=criterion, value=float(entry["value"]))
        short, full = entry.get("short", {}), entry.get("full", {})
        LevelText.objects.bulk_create(
            LevelText(
                level=level,
                language=language,
                short=short.get(language, ""),
                full=full.get(language, ""),
            )
            for language in sorted(set(short) | set(full))
        )


def _check_rubric(document: Any, problems: Problems) -> None:
    if not isinstance(document, dict) or not document.get("code") or not document.get("criteria"):
        problems.add(
            0, "", _("A rubric is an object with «code» and «criteria»."), _("See docs/import.md.")
        )
        return
    keys = set()
    for place, item in enumerate(document["criteria"], start=1):
        column = _("criterion %d") % place
        key = item.get("key") if isinstance(item, dict) else None
        if not key or key in keys:
            problems.add(0, column, _("The key is missing or stands twice."), _("Give each one."))
            continue
        keys.add(key)
        if item.get("kind", "ordinal") not in Criterion.Kind.values:
            problems.add(0, column, _("The kind is unknown."), ", ".join(Criterion.Kind.values))
        if item.get("scope", "whole") not in Criterion.Scope.values:
            problems.add(0, column, _("The scope is unknown."), ", ".join(Criterion.Scope.values))
        levels = item.get("levels", [])
        values: list[Any] = [level.get("value") for level in levels if isinstance(level, dict)]
        if any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
            problems.add(0, column, _("A level's value is not a number."), _("Write 0, 1, 2 …"))
        elif len(values) < 2 or len(set(values)) != len(levels):
            problems.add(0, column, _("It needs two or more different levels."), _("List them."))
        else:
            _check_boundary(item.get("boundary", {}), sorted(values), column, problems)
        for level in levels:
            for language, text in (level.get("short") or {}).items():
                if len(text) > 60:
                    problems.add(
                        0,
                        column,
                        _("A short text (%(language)s) has %(n)d characters.")
                        % {"language": language, "n": len(text)},
                        _("Keep it to 60."),
                    )


def _check_boundary(boundary: Any, values: list[float], column: str, problems: Problems) -> None:
    """A boundary may go without its levels; if it names them, they are neighbours on the scale."""
    pair = (boundary.get("lower"), boundary.get("upper")) if isinstance(boundary, dict) else ()
    if pair not in ((None, None), *pairwise(values)):
        problems.add(
            0,
            column,
            _("The boundary is not between two neighbouring levels."),
            _('Write {"lower": 2, "upper": 3, "text": {…}}.'),
        )


def refuse_one(name: str, message: str, remedy: str) -> ImportRefused:
    """Return a refusal that concerns the whole file."""
    return ImportRefused([Problem(0, "", message, remedy)], name=name)
