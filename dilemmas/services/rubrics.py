"""Importing rubrics (JSON): another content of a known code is its next version."""

import re
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from dilemmas.canonical import sha256
from dilemmas.models import (
    Criterion,
    CriterionText,
    Level,
    LevelText,
    Rubric,
    RubricText,
    RubricVersion,
)
from dilemmas.services import provenance
from dilemmas.services.outcomes import Outcome
from dilemmas.services.reading import Document, Problems, read_json, refuse_one

_CODE = re.compile(r"[-a-zA-Z0-9_]{1,100}")
_KEY = re.compile(r"[\w.-]{1,100}")  # it becomes part of the names of a form's fields
_SHORT = 60


def import_rubric(
    *, content: bytes, name: str, actor: str, at: datetime
) -> tuple[RubricVersion, bool]:
    """Import a rubric. Another content of a known code is its next version.

    Returns the version and whether it is new. Raises `ImportRefused` for anything amiss.
    """
    document, digest = _read(content, name)
    with transaction.atomic():
        rubric, _made = Rubric.objects.get_or_create(code=document.value["code"])
        Rubric.objects.select_for_update().get(pk=rubric.pk)
        same = rubric.versions.filter(content_sha256=digest).first()
        if same is not None:
            return same, False
        last = rubric.versions.order_by("-number").first()
        version = write_rubric(rubric, last.number + 1 if last else 1, document.value)
        payload = {"code": rubric.code, "number": version.number, "sha256": digest}
        provenance.record(kind="rubric_imported", payload=payload, actor=actor, at=at)
    return version, True


def preview_rubric(*, content: bytes, name: str) -> tuple[Outcome, list[dict[str, Any]]]:
    """Return what importing would do, and the criteria. Raises `ImportRefused`."""
    document, digest = _read(content, name)
    versions = RubricVersion.objects.filter(rubric__code=document.value["code"])
    is_known = versions.filter(content_sha256=digest).exists()
    outcome = Outcome(
        int(not is_known and not versions.exists()),
        int(not is_known and versions.exists()),
        int(is_known),
        document.facts,
        document.notes,
    )
    return outcome, document.value["criteria"]


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


def _read(content: bytes, name: str) -> tuple[Document, str]:
    """Return a rubric that can be written, and its hash. Raises `ImportRefused`."""
    document = read_json(content, name=name)
    problems = Problems(name, notes=document.notes)
    _check(document.value, problems)
    problems.refuse()
    try:
        return document, sha256(document.value)
    except ValueError:  # what RFC 8785 has no form for: whole numbers beyond 2**53
        message = _("A number in it is too large.")
        raise refuse_one(name, message, _("Write 0, 1, 2 …")) from None


def _check(document: Any, problems: Problems) -> None:
    if not isinstance(document, dict) or not isinstance(document.get("criteria"), list):
        message = _("A rubric is an object with «code» and «criteria».")
        problems.add(0, "", message, _("See the format's description."))
        return
    if not _CODE.fullmatch(str(document.get("code", ""))) or not document["criteria"]:
        message = _("A rubric needs a code (letters, figures, hyphens) and criteria.")
        problems.add(0, "code", message, _("See the format's description."))
    for field, longest in (("version_label", 100), ("provenance", None)):
        value = document.get(field, "")
        if not isinstance(value, str) or (longest and len(value) > longest):
            problems.add(0, field, _("This is no text, or too long."), _("Shorten it."))
    _check_texts(document, (("title", 300), ("norms", None), ("instructions", None)), "", problems)
    keys: set[str] = set()
    for place, item in enumerate(document["criteria"], start=1):
        column = _("criterion %d") % place
        key = item.get("key") if isinstance(item, dict) else None
        if not isinstance(key, str) or not _KEY.fullmatch(key) or key in keys:
            message = _("The key is missing, stands twice, or has more than letters and figures.")
            problems.add(0, column, message, _("Give each criterion one of its own."))
            continue
        keys.add(key)
        _check_criterion(item, column, problems)


def _check_criterion(item: dict[str, Any], column: str, problems: Problems) -> None:
    if item.get("kind", "ordinal") not in Criterion.Kind.values:
        problems.add(0, column, _("The kind is unknown."), ", ".join(Criterion.Kind.values))
    if item.get("scope", "whole") not in Criterion.Scope.values:
        problems.add(0, column, _("The scope is unknown."), ", ".join(Criterion.Scope.values))
    if not isinstance(item.get("asks_rationale", True), bool):
        problems.add(0, column, _("«asks_rationale» is true or false."), _("Mend it."))
    _check_texts(item, (("name", 200), ("question", None)), column, problems)
    _check_applicability(item.get("applicability", {}), column, problems)
    if not item.get("name"):
        problems.add(0, column, _("It has no name."), _('Write {"ca": "…", "en": "…"}.'))
    levels = item.get("levels")
    if not isinstance(levels, list) or not all(isinstance(level, dict) for level in levels):
        levels = []
    values: list[Any] = [level.get("value") for level in levels]
    if any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
        problems.add(0, column, _("A level's value is not a number."), _("Write 0, 1, 2 …"))
    elif len(values) < 2 or len(set(values)) != len(levels):
        problems.add(0, column, _("It needs two or more different levels."), _("List them."))
    else:
        _check_boundary(item.get("boundary", {}), sorted(values), column, problems)
    for level in levels:
        _check_texts(level, (("short", _SHORT), ("full", None)), column, problems)


def _check_applicability(applicability: Any, column: str, problems: Problems) -> None:
    stages = applicability.get("stages", []) if isinstance(applicability, dict) else None
    if not isinstance(stages, list) or any(
        not isinstance(one, int) or isinstance(one, bool) or one < 1 for one in stages
    ):
        problems.add(
            0,
            column,
            _(
                "«applicability» is an object with «stages», a list of whole numbers from 1, and «text»."
            ),
            _("See docs/import.md."),
        )
        return
    _check_texts(applicability, (("text", None),), column, problems)


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
    elif isinstance(boundary, dict):
        _check_texts(boundary, (("text", None),), column, problems)


def _check_texts(
    item: dict[str, Any],
    names: tuple[tuple[str, int | None], ...],
    column: str,
    problems: Problems,
) -> None:
    """Each text is an object with a text per language, of so many characters at most."""
    for name, longest in names:
        texts = item.get(name, {})
        place = f"{column}, {name}" if column else name
        if not isinstance(texts, dict) or not all(isinstance(t, str) for t in texts.values()):
            message = _("This is not a text for each language.")
            problems.add(0, place, message, _('Write {"ca": "…", "en": "…"}.'))
            continue
        for language, text in texts.items():
            if len(language) > 16:
                message = _("«%s» is no code of a language.") % language[:40]
                problems.add(0, place, message, _("Write ca, es or en."))
            if longest and len(text) > longest:
                message = _("The text in %(language)s has %(n)d characters; it may have %(most)d.")
                counted = {"language": language[:16], "n": len(text), "most": longest}
                problems.add(0, place, message % counted, _("Shorten it."))
