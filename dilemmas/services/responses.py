"""Importing responses into a set, each with what judges may read of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from awb_panel.accounts.models import User
from dilemmas.finder import finder_version
from dilemmas.looking import proposals
from dilemmas.models import (
    BlindedPart,
    Blinding,
    Collection,
    Condition,
    Dilemma,
    Response,
    ResponsePart,
    ResponseSet,
    ResponseVersion,
)
from dilemmas.services import blinding, provenance
from dilemmas.services.formats import RESPONSES
from dilemmas.services.judgements import import_judgements
from dilemmas.services.known import Key, known_responses
from dilemmas.services.outcomes import Outcome, Progress, file_sha256
from dilemmas.services.planner import look_again
from dilemmas.services.reading import (
    KNOWN,
    Problems,
    Row,
    Table,
    number,
    read_table,
    refuse_one,
    whole,
)

__all__ = ["Incoming", "import_judgements", "import_responses", "write_responses"]

_BATCH = 2_000
# What a file says of a response beside its texts, and where the database has it.
_ABOUT = {
    "generator": "generator",
    "replicate": "replicate",
    "kind": "kind",
    "cluster_id": "cluster",
    "latency_s": "latency_s",
    "cost": "cost",
}


@dataclass
class Incoming:
    """One response as the file has it."""

    line: int
    key: Key
    dilemma: str
    condition: str
    generator: str
    replicate: int
    external_id: str
    language: str
    kind: str
    cluster: str
    latency_s: float | None
    cost: float | None
    parts: dict[int, str]
    extras: dict[int, dict[str, str]] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)  # of each part


@dataclass(frozen=True)
class _Found:
    """What blinding says of one response: the findings, and the texts that it proposes."""

    findings: list[dict[str, Any]]
    proposed: dict[int, str]
    finder: str = ""  # none has looked


@dataclass
class _Plan:
    """What is to be written. A revised response may have a new version, other facts, or both."""

    fresh: list[Incoming] = field(default_factory=list)
    revised: list[tuple[Incoming, Response, int]] = field(
        default_factory=list
    )  # next number; 0: none
    unchanged: int = 0
    labels: list[str] = field(default_factory=list)

    def to_look_at(self) -> list[Incoming]:
        return self.fresh + [item for item, _response, number_ in self.revised if number_]


def import_responses(
    *,
    content: bytes,
    name: str,
    set_name: str,
    at: datetime,
    uploader: User | None = None,
    collection: str = "",
    update: bool = False,
    repair: bool = False,
    columns: Mapping[str, str] | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Import responses into a set, which is made if need be, and look for what tells the condition.

    Without `collection` the set's own is used, or the only one that knows all dilemmas.
    A known response with another text is refused unless `update`, and always if it is sealed. With
    `dry_run` nothing is written. Reading and looking, which take long, hold no lock.
    Raises `ImportRefused` with every bad row.
    """
    table = read_table(content, name=name, format_=RESPONSES, repair=repair, columns=columns)
    incoming = _incoming(table)
    table.refuse()
    home = _collection_for(name, set_name, collection, {item.dilemma for item in incoming})
    dilemmas = _dilemmas(home, incoming, table.problems)
    known_set = ResponseSet.objects.filter(name=set_name).first()
    plan = _plan(known_set, incoming, table.problems, update=update)
    looked = _look(plan.to_look_at(), plan.labels, progress)
    if dry_run:
        return _outcome(plan, looked, table)
    with transaction.atomic():
        look_again("dilemmas")
        response_set, _made = ResponseSet.objects.get_or_create(
            name=set_name, defaults={"collection": home, "uploader": uploader}
        )
        ResponseSet.objects.select_for_update().get(pk=response_set.pk)
        now = _plan(response_set, incoming, table.problems, update=update)
        if now.labels != plan.labels:  # somebody imported in the meantime
            looked = {}
        plan = now
        _write(response_set, plan, dilemmas, looked)
        outcome = _outcome(plan, looked, table)
        if outcome.did_something:
            provenance.record(
                kind="responses_imported",
                payload={
                    "set": set_name,
                    "sha256": file_sha256(content),
                    "created": outcome.created,
                },
                actor=uploader.opaque_id if uploader else "",
                at=at,
            )
    return outcome


def write_responses(
    *,
    response_set: ResponseSet,
    incoming: Sequence[Incoming],
    dilemmas: Mapping[str, Dilemma],
    progress: Progress | None = None,
) -> None:
    """Write checked responses of a new set that nobody will blind; inside the caller's transaction."""
    plan = _plan(response_set, incoming, Problems(), update=False)
    as_they_are = {item.key: _Found([], item.parts) for item in incoming}
    _write(response_set, plan, dilemmas, as_they_are, progress)


def _incoming(table: Table) -> list[Incoming]:
    found: dict[Key, Incoming] = {}
    for row in table:
        stage = whole(row, "stage", table.problems, least=1)
        item = _one(row, stage, table.problems)
        first = found.setdefault(item.key, item)
        if first is not item:
            _add_part(first, item, stage, table.problems)
    return list(found.values())


def _one(row: Row, stage: int, problems: Problems) -> Incoming:
    replicate = whole(row, "replicate", problems)
    kind = row.get("kind") or Response.Kind.RESPONSE.value
    if kind not in Response.Kind.values:
        problems.add(row.line, "kind", _("Unknown kind."), ", ".join(Response.Kind.values))
    external, dilemma = row.get("id"), row.get("dilemma")
    named = (dilemma, row.get("condition"), row.get("generator"), str(replicate))
    return Incoming(
        line=row.line,
        key=(external,) if external else named,
        dilemma=dilemma,
        condition=row.get("condition"),
        generator=row.get("generator"),
        replicate=replicate,
        external_id=external,
        language=row.get("language"),
        kind=kind,
        cluster=row.get("cluster_id"),
        latency_s=number(row, "latency_s", problems),
        cost=number(row, "cost", problems),
        parts={stage: row.get("text")},
        extras={stage: row.extra},
        lines={stage: row.line},
    )


def _add_part(first: Incoming, item: Incoming, stage: int, problems: Problems) -> None:
    """Add another row of a response: another stage, of the same dilemma under the same condition."""
    if stage in first.parts:
        message = _("This response stands twice (first on line %d).") % first.lines[stage]
        column = "id" if item.external_id else "dilemma"
        problems.add(item.line, column, message, _("Keep one."))
        return
    for column, mine, theirs in (
        ("dilemma", item.dilemma, first.dilemma),
        ("condition", item.condition, first.condition),
        ("language", item.language or first.language, first.language),
    ):
        if mine != theirs:
            message = _("The row on line %d is of the same response and says otherwise.")
            problems.add(item.line, column, message % first.line, _("Write the same."))
    first.parts |= item.parts
    first.extras |= item.extras
    first.lines |= item.lines


def _collection_for(name: str, set_name: str, wanted: str, codes: set[str]) -> Collection:
    existing = ResponseSet.objects.filter(name=set_name).select_related("collection").first()
    if existing is not None:
        if wanted and existing.collection.name != wanted:
            raise refuse_one(
                name,
                _("The set «%(set)s» belongs to the collection «%(collection)s».")
                % {"set": set_name, "collection": existing.collection.name},
                _("Name another set."),
            )
        return existing.collection
    if wanted:
        found = Collection.objects.filter(name=wanted).first()
        if found is None:
            raise refuse_one(
                name, _("There is no collection «%s».") % wanted, _("Import the dilemmas first.")
            )
        return found
    knowing = [
        collection
        for collection in Collection.objects.all()
        if codes <= set(collection.dilemmas.values_list("code", flat=True))
    ]
    if len(knowing) == 1:
        return knowing[0]
    if knowing:
        names = ", ".join(collection.name for collection in knowing)
        raise refuse_one(
            name,
            _("More than one collection knows these dilemmas: %s.") % names,
            _("Say which one is meant (--collection)."),
        )
    raise refuse_one(
        name, _("No collection knows all these dilemmas."), _("Import the dilemmas first.")
    )


def _dilemmas(
    home: Collection, incoming: Sequence[Incoming], problems: Problems
) -> dict[str, Dilemma]:
    dilemmas = {d.code: d for d in Dilemma.objects.filter(collection=home)}
    for item in incoming:
        if item.dilemma not in dilemmas:
            message = _("The dilemma «%s» is not in the collection.") % item.dilemma
            problems.add(item.line, "dilemma", message, _("Import the dilemmas first."))
    problems.refuse()
    return dilemmas


def _plan(
    response_set: ResponseSet | None,
    incoming: Sequence[Incoming],
    problems: Problems,
    *,
    update: bool,
) -> _Plan:
    """Compare what the file says with what is there. Raises `ImportRefused`."""
    plan = _Plan()
    labels = {item.condition for item in incoming}
    known: dict[Key, Response] = {}
    newest: dict[int, tuple[int, bool, bool]] = {}
    if response_set is not None:
        labels |= set(response_set.conditions.values_list("label", flat=True))
        known = known_responses(response_set)
        by_pk = {known[item.key].pk: item for item in incoming if item.key in known}
        newest = _newest(response_set, by_pk)
    plan.labels = sorted(labels)
    for item in incoming:
        response = known.get(item.key)
        if response is None:
            plan.fresh.append(item)
            continue
        number_, is_sealed, is_same = newest[response.pk]
        others = _differences(item, response)
        if not others and is_same:
            plan.unchanged += 1
            continue
        differs = ", ".join([*others, *(() if is_same else ("text",))])
        message = _("This response is known, but with another: %s.") % differs
        if {"dilemma", "condition"} & set(others):
            problems.add(item.line, others[0], message, _("Import it into another set."))
        elif is_sealed:
            message = _("This response is sealed by a frozen panel.")
            problems.add(item.line, "text", message, _("Import it into another set."))
        elif not update:
            remedy = _("Ask for an update (--update) if it is meant to replace it.")
            problems.add(item.line, "text", message, remedy, kind=KNOWN)
        else:
            plan.revised.append((item, response, 0 if is_same else number_ + 1))
    problems.refuse()
    return plan


def _differences(item: Incoming, response: Response) -> list[str]:
    """Return in what columns, beside the texts, the file and the database differ."""
    found = [
        column for column, name in _ABOUT.items() if getattr(item, name) != getattr(response, name)
    ]
    if item.condition != response.condition.label:
        found.insert(0, "condition")
    if item.dilemma != response.dilemma.code:
        found.insert(0, "dilemma")
    return found


def _newest(
    response_set: ResponseSet, items: Mapping[int, Incoming]
) -> dict[int, tuple[int, bool, bool]]:
    """Return number, whether sealed, and whether as in the file, of each known newest version.

    The stored texts are compared as they pass by: they are never all in memory.
    """
    versions = (
        ResponseVersion.objects.filter(response__response_set=response_set)
        .prefetch_related("parts")
        .order_by("number")
    )
    newest = {}
    for version in versions.iterator(chunk_size=_BATCH):
        item = items.get(version.response_id)
        if item is not None:
            parts = list(version.parts.all())
            is_same = (
                {part.number: part.raw for part in parts} == item.parts
                and all(part.extra == item.extras.get(part.number, {}) for part in parts)
                and version.language == item.language
            )
            newest[version.response_id] = (version.number, version.sealed_at is not None, is_same)
    return newest


def _look(
    items: Sequence[Incoming], labels: Sequence[str], progress: Progress | None
) -> dict[Key, _Found]:
    """Look in each text for what tells its condition. Takes long, reads and writes nothing."""
    looked: dict[Key, _Found] = {}
    parts = [(item, part) for item in items for part in item.parts]
    texts = [(item.parts[part], item.language) for item, part in parts]
    made = zip(parts, proposals(texts, labels=labels), strict=True)
    for n, ((item, part), proposal) in enumerate(made, start=1):
        found = looked.setdefault(item.key, _Found([], {}, finder_version()))
        found.findings.extend({"part": part, **asdict(one)} for one in proposal.findings)
        found.proposed[part] = proposal.text
        if progress and (n % 100 == 0 or n == len(parts)):
            progress(n, len(parts))
    return looked


def _outcome(plan: _Plan, looked: Mapping[Key, _Found], table: Table) -> Outcome:
    notes = table.notes()
    held = sum(bool(found.findings) for found in looked.values())
    if held:
        text = ngettext(
            "%d text may tell its condition: decide on it under «Blinding» in the panel.",
            "%d texts may tell their condition: decide on them under «Blinding» in the panel.",
            held,
        )
        notes.append(text % held)
    return Outcome(len(plan.fresh), len(plan.revised), plan.unchanged, table.facts, notes)


def _write(
    response_set: ResponseSet,
    plan: _Plan,
    dilemmas: Mapping[str, Dilemma],
    looked: Mapping[Key, _Found],
    progress: Progress | None = None,
) -> None:
    conditions = {c.label: c for c in response_set.conditions.all()}
    before = set(conditions)
    for label in sorted({item.condition for item in plan.fresh} - before):
        conditions[label] = Condition.objects.create(response_set=response_set, label=label)
    for item, response, _number in plan.revised:
        for name in _ABOUT.values():
            setattr(response, name, getattr(item, name))
    Response.objects.bulk_update(
        [response for _item, response, _number in plan.revised], list(_ABOUT.values()), 500
    )
    made = Response.objects.bulk_create(
        [_new_response(response_set, item, dilemmas, conditions) for item in plan.fresh],
        batch_size=_BATCH,
    )
    items = [(item, response.pk, 1) for item, response in zip(plan.fresh, made, strict=True)]
    items += [(item, response.pk, number_) for item, response, number_ in plan.revised if number_]
    for start in range(0, len(items), _BATCH):
        chunk = items[start : start + _BATCH]
        missing = [item for item, _pk, _number in chunk if item.key not in looked]
        _write_versions(chunk, {**looked, **_look(missing, plan.labels, None)})
        if progress:
            progress(start + len(chunk), len(items))
    if before and (new := set(conditions) - before):
        blinding.look_again(response_set, labels=sorted(new))


def _new_response(
    response_set: ResponseSet,
    item: Incoming,
    dilemmas: Mapping[str, Dilemma],
    conditions: Mapping[str, Condition],
) -> Response:
    return Response(
        response_set=response_set,
        dilemma=dilemmas[item.dilemma],
        condition=conditions[item.condition],
        external_id=item.external_id,
        **{name: getattr(item, name) for name in _ABOUT.values()},
    )


def _write_versions(
    items: Sequence[tuple[Incoming, int, int]], looked: Mapping[Key, _Found]
) -> None:
    """Write a version of each response and its first blinding: clean, or held for a person."""
    versions = ResponseVersion.objects.bulk_create(
        ResponseVersion(response_id=response, number=number_, language=item.language)
        for item, response, number_ in items
    )
    ResponsePart.objects.bulk_create(
        ResponsePart(version=version, number=part, raw=raw, extra=item.extras.get(part, {}))
        for version, (item, _response, _number) in zip(versions, items, strict=True)
        for part, raw in item.parts.items()
    )
    found = [looked[item.key] for item, _response, _number in items]
    blindings = Blinding.objects.bulk_create(
        Blinding(
            version=version,
            number=1,
            state=Blinding.State.HELD if one.findings else Blinding.State.CLEAN,
            findings=one.findings,
            finder=one.finder,
        )
        for version, one in zip(versions, found, strict=True)
    )
    BlindedPart.objects.bulk_create(
        BlindedPart(blinding=blinding_, number=part, text=text)
        for blinding_, one in zip(blindings, found, strict=True)
        for part, text in one.proposed.items()
    )
