"""Importing dilemmas: all or nothing, the same file again changes nothing."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from dilemmas.looking import asks_who
from dilemmas.models import Collection, Dilemma, DilemmaText, DilemmaVersion
from dilemmas.services import provenance
from dilemmas.services.formats import DILEMMAS
from dilemmas.services.outcomes import Outcome, Progress, file_sha256
from dilemmas.services.reading import KNOWN, Problems, Row, Table, read_table, whole

_BATCH = 2_000
_NAMED = 20  # dilemmas that a note names
Document = dict[str, Any]
Wanted = dict[str, tuple[int, Document]]  # code → its first line, what the file says


def import_dilemmas(
    *,
    content: bytes,
    name: str,
    collection: str,
    actor: str,
    at: datetime,
    update: bool = False,
    repair: bool = False,
    columns: Mapping[str, str] | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Import dilemmas into a collection, which is made if need be.

    A known code with another text is refused unless `update`, and always if it is sealed. With
    `dry_run` nothing is written. Raises `ImportRefused` with every bad row.
    """
    table = read_table(content, name=name, format_=DILEMMAS, repair=repair, columns=columns)
    wanted = _documents(table)
    table.refuse()
    if dry_run:
        home = Collection.objects.filter(name=collection).first()
        plan = _plan(home, wanted, table.problems, update=update)
        return _outcome(plan, wanted, table)
    with transaction.atomic():
        home, _made = Collection.objects.get_or_create(name=collection)
        Collection.objects.select_for_update().get(pk=home.pk)
        plan = _plan(home, wanted, table.problems, update=update)
        _write(home, plan, progress)
        outcome = _outcome(plan, wanted, table)
        if outcome.did_something:
            payload = {
                "collection": collection,
                "sha256": file_sha256(content),
                "created": outcome.created,
            }
            provenance.record(kind="dilemmas_imported", payload=payload, actor=actor, at=at)
    return outcome


@dataclass
class _Plan:
    """What is to be written: new dilemmas, and known ones with the number of their next version."""

    fresh: list[tuple[str, Document]] = field(default_factory=list)
    revised: list[tuple[int, int, Document]] = field(default_factory=list)
    unchanged: int = 0


def _outcome(plan: _Plan, wanted: Wanted, table: Table) -> Outcome:
    notes = table.notes()
    asking = [
        code
        for code, (_line, document) in wanted.items()
        if any(asks_who(context) for _title, context in document["texts"].values())
    ]
    if asking:
        text = _("Dilemmas that may ask a system who it is, and so invite it to say so: %s.")
        notes.append(text % ", ".join(asking[:_NAMED]))
    return Outcome(len(plan.fresh), len(plan.revised), plan.unchanged, table.facts, notes)


def _plan(home: Collection | None, wanted: Wanted, problems: Problems, *, update: bool) -> _Plan:
    """Compare what the file says with what is there. Raises `ImportRefused`."""
    plan = _Plan()
    known = _newest(home, wanted) if home else {}
    for code, (line, document) in wanted.items():
        if code not in known:
            plan.fresh.append((code, document))
            continue
        version, is_same = known[code]
        if is_same:
            plan.unchanged += 1
        elif version.sealed_at:
            problems.add(
                line,
                "code",
                _("«%s» is sealed by a frozen panel.") % code,
                _("Import it into another collection or set."),
            )
        elif not update:
            problems.add(
                line,
                "code",
                _("«%s» is known with another text.") % code,
                _("Ask for an update (--update) if it is meant to replace it."),
                kind=KNOWN,
            )
        else:
            plan.revised.append((version.dilemma_id, version.number + 1, document))
    problems.refuse()
    return plan


def _newest(home: Collection, wanted: Wanted) -> dict[str, tuple[DilemmaVersion, bool]]:
    """Return the newest version of each known code, and whether it says what the file says."""
    versions = (
        DilemmaVersion.objects.filter(dilemma__collection=home)
        .select_related("dilemma")
        .prefetch_related("texts")
        .order_by("number")
    )
    newest = {}
    for version in versions.iterator(chunk_size=_BATCH):
        code = version.dilemma.code
        if code in wanted:
            newest[code] = (version, _document(version) == wanted[code][1])
    for version, _same in newest.values():
        version._prefetched_objects_cache.clear()  # type: ignore[attr-defined]
    return newest


def _documents(table: Table) -> Wanted:
    found: Wanted = {}
    first_lines: dict[tuple[str, str], int] = {}
    for row in table:
        code, language = row.get("code"), row.get("language")
        stage = whole(row, "stage", table.problems, least=1)
        _line, document = found.setdefault(code, (row.line, {"family": "", "texts": {}}))
        _take_shared(row, document, table.problems)
        key = f"{language}/{stage}"
        first = first_lines.setdefault((code, key), row.line)
        if first != row.line and code and language:
            message = _("«%(name)s» stands twice (first on line %(line)d).")
            named = {"name": f"{code} {key}", "line": first}
            table.problems.add(row.line, "code", message % named, _("Keep one."))
        document["texts"][key] = [row.get("title"), row.get("context")]
        for column in ("actors", "costs"):
            if row.get(column).strip():
                document.setdefault(column, {})[key] = row.get(column)
    return found


def _take_shared(row: Row, document: Document, problems: Problems) -> None:
    """Take what belongs to the dilemma, not to the language; rows must not contradict each other."""
    given: Mapping[str, Any] = {
        "family": row.get("family"),
        "required_axes": _mask(row, "required_axes", DilemmaVersion.AXES, problems),
        "required_components": _mask(
            row, "required_components", DilemmaVersion.COMPONENTS, problems
        ),
    }
    for column, value in given.items():
        if value and document.get(column, value) not in (value, ""):
            message = _("Another row of «%s» says otherwise.") % row.get("code")
            problems.add(row.line, column, message, _("Write the same, or leave it empty."))
        elif value:
            document[column] = value


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
        message = _("Unknown here: %s.") % ", ".join(unknown)[:80]
        problems.add(row.line, column, message, _("Choose from: %s.") % ", ".join(known))
    return [name for name in known if name.casefold() in given]


def _document(version: DilemmaVersion) -> Document:
    """Return a version as files say it; what it does not have has no key."""
    texts = list(version.texts.all())
    document: Document = {
        "family": version.family,
        "texts": {f"{t.language}/{t.stage}": [t.title, t.context] for t in texts},
        "actors": {f"{t.language}/{t.stage}": t.actors for t in texts if t.actors},
        "costs": {f"{t.language}/{t.stage}": t.costs for t in texts if t.costs},
        "required_axes": version.required_axes,
        "required_components": version.required_components,
    }
    return {key: value for key, value in document.items() if value or key in ("family", "texts")}


def _write(home: Collection, plan: _Plan, progress: Progress | None) -> None:
    dilemmas = Dilemma.objects.bulk_create(
        [Dilemma(collection=home, code=code) for code, _document in plan.fresh], batch_size=_BATCH
    )
    wanted = [
        (dilemma.pk, 1, document)
        for dilemma, (_code, document) in zip(dilemmas, plan.fresh, strict=True)
    ] + plan.revised
    for start in range(0, len(wanted), _BATCH):
        chunk = wanted[start : start + _BATCH]
        versions = DilemmaVersion.objects.bulk_create(
            DilemmaVersion(
                dilemma_id=dilemma,
                number=number,
                family=document["family"],
                required_axes=document.get("required_axes", []),
                required_components=document.get("required_components", []),
            )
            for dilemma, number, document in chunk
        )
        DilemmaText.objects.bulk_create(
            text
            for version, (_dilemma, _number, document) in zip(versions, chunk, strict=True)
            for text in _texts(version, document)
        )
        if progress:
            progress(start + len(chunk), len(wanted))


def _texts(version: DilemmaVersion, document: Document) -> list[DilemmaText]:
    made = []
    for key, (title, context) in document["texts"].items():
        language, stage = key.split("/")
        made.append(
            DilemmaText(
                version=version,
                language=language,
                stage=int(stage),
                title=title,
                context=context,
                actors=document.get("actors", {}).get(key, ""),
                costs=document.get("costs", {}).get(key, ""),
            )
        )
    return made
