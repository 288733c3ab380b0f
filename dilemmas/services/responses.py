"""Importing responses and model judgements into a response set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from awb_panel.accounts.models import User
from dilemmas.canonical import sha256
from dilemmas.models import (
    Collection,
    Condition,
    Dilemma,
    ModelJudgement,
    Response,
    ResponsePart,
    ResponseSet,
    ResponseVersion,
)
from dilemmas.services import blinding, provenance
from dilemmas.services.blinding import Unblinded
from dilemmas.services.importing import Outcome, Progress, refuse_one
from dilemmas.services.reading import Problems, Row, number, read_rows

RESPONSE_COLUMNS = (
    "id",
    "dilemma",
    "condition",
    "text",
    "generator",
    "replicate",
    "language",
    "latency_s",
    "cost",
    "stage",
    "kind",
    "cluster_id",
)
JUDGEMENT_COLUMNS = (
    "response",
    "dilemma",
    "condition",
    "generator",
    "replicate",
    "judge",
    "repetition",
    "criterion",
    "score",
    "reason",
    "model_version",
    "prompt_sha256",
    "text_sha256",
    "date",
)
_BATCH = 2_000
Key = tuple[str, ...]


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


@transaction.atomic
def import_responses(
    *,
    content: bytes,
    name: str,
    set_name: str,
    at: datetime,
    uploader: User | None = None,
    collection: str = "",
    update: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Import responses into a set, which is made if need be, and look for what tells the condition.

    Without `collection` the set's own is used, or the only one that knows all dilemmas.
    A known response with another text is refused unless `update`, and always if it is sealed.
    Raises `ImportRefused` with every bad row.
    """
    rows = read_rows(
        content, name=name, required=("dilemma", "condition", "text"), known=RESPONSE_COLUMNS
    )
    problems = Problems(name)
    incoming = _incoming(rows, problems)
    problems.refuse()
    home = _collection_for(name, set_name, collection, {item.dilemma for item in incoming})
    response_set, _made = ResponseSet.objects.get_or_create(
        name=set_name, defaults={"collection": home, "uploader": uploader}
    )
    dilemmas = {d.code: d for d in Dilemma.objects.filter(collection=home)}
    for item in incoming:
        if item.dilemma not in dilemmas:
            message = _("The dilemma «%s» is not in the collection.") % item.dilemma
            problems.add(item.line, "dilemma", message, _("Import the dilemmas first."))
    problems.refuse()
    outcome = write_responses(
        response_set=response_set,
        incoming=incoming,
        dilemmas=dilemmas,
        problems=problems,
        update=update,
        progress=progress,
    )
    if outcome.did_something:
        payload = {"set": set_name, "sha256": sha256(content.hex()), "created": outcome.created}
        provenance.record(
            kind="responses_imported",
            payload=payload,
            actor=uploader.opaque_id if uploader else "",
            at=at,
        )
    return outcome


def write_responses(
    *,
    response_set: ResponseSet,
    incoming: Sequence[Incoming],
    dilemmas: Mapping[str, Dilemma],
    problems: Problems,
    update: bool,
    progress: Progress | None = None,
    look: bool = True,
) -> Outcome:
    """Write checked responses; inside the caller's transaction. `look=False` skips blinding."""
    conditions = {c.label: c for c in Condition.objects.filter(response_set=response_set)}
    new_labels = {item.condition for item in incoming} - set(conditions)
    for label in sorted(new_labels):
        conditions[label] = Condition.objects.create(response_set=response_set, label=label)
    known = known_responses(response_set)
    texts = _newest_texts(response_set)
    fresh: list[tuple[Incoming, Response]] = []
    revised: list[tuple[Incoming, Response, int]] = []
    unchanged = 0
    for item in incoming:
        response = known.get(item.key)
        if response is None:
            fresh.append((item, _new_response(response_set, item, dilemmas, conditions)))
            continue
        version, sealed, parts = texts[response.pk]
        if parts == item.parts and response.condition_id == conditions[item.condition].pk:
            unchanged += 1
        elif sealed:
            problems.add(
                item.line,
                "text",
                _("This response is sealed by a frozen panel."),
                _("Import it into another set."),
            )
        elif not update:
            message = _("This response is known with another text.")
            problems.add(
                item.line,
                "text",
                message,
                _("Ask for an update (--update) if it is meant to replace it."),
            )
        elif response.condition_id != conditions[item.condition].pk:
            message = _("This response is known under another condition.")
            problems.add(item.line, "condition", message, _("Import it into another set."))
        else:
            revised.append((item, response, version + 1))
    problems.refuse()
    Response.objects.bulk_create([response for _item, response in fresh], batch_size=_BATCH)
    versions = [(item, response, 1) for item, response in fresh] + revised
    _write_versions(versions, sorted(conditions), progress, look=look)
    if look and known and new_labels:
        blinding.look_again(response_set, labels=sorted(new_labels))
    return Outcome(len(fresh), len(revised), unchanged)


def known_responses(response_set: ResponseSet) -> dict[Key, Response]:
    """Return the set's responses by the key that files name them with."""
    rows = Response.objects.filter(response_set=response_set).select_related("dilemma", "condition")
    return {
        (r.external_id,)
        if r.external_id
        else (r.dilemma.code, r.condition.label, r.generator, str(r.replicate)): r
        for r in rows
    }


def _incoming(rows: Iterable[Row], problems: Problems) -> list[Incoming]:
    found: dict[Key, Incoming] = {}
    for row in rows:
        replicate = int(number(row, "replicate", problems, whole=True, default=1) or 1)
        stage = int(number(row, "stage", problems, whole=True, default=1) or 1)
        latency, cost = number(row, "latency_s", problems), number(row, "cost", problems)
        dilemma, condition = row.get("dilemma").strip(), row.get("condition").strip()
        for column, value in (("dilemma", dilemma), ("condition", condition)):
            if not value:
                problems.add(row.line, column, _("The cell is empty."), _("Fill it in."))
        if not row.get("text").strip():
            problems.add(row.line, "text", _("The text is empty."), _("Leave the row out."))
        kind = row.get("kind").strip() or Response.Kind.RESPONSE.value
        if kind not in Response.Kind.values:
            problems.add(row.line, "kind", _("Unknown kind."), ", ".join(Response.Kind.values))
        external, generator = row.get("id").strip(), row.get("generator").strip()
        key = (external,) if external else (dilemma, condition, generator, str(replicate))
        item = found.get(key)
        if item is not None:
            if stage in item.parts:
                message = _("This response stands twice (first on line %d).") % item.line
                problems.add(row.line, "id" if external else "dilemma", message, _("Keep one."))
            item.parts[stage] = row.get("text")
            continue
        found[key] = Incoming(
            line=row.line,
            key=key,
            dilemma=dilemma,
            condition=condition,
            generator=generator,
            replicate=replicate,
            external_id=external,
            language=row.get("language").strip().lower(),
            kind=kind,
            cluster=row.get("cluster_id").strip(),
            latency_s=latency,
            cost=cost,
            parts={stage: row.get("text")},
        )
    return list(found.values())


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
            _("Name one (--collection)."),
        )
    raise refuse_one(
        name, _("No collection knows all these dilemmas."), _("Import the dilemmas first.")
    )


def _newest_texts(response_set: ResponseSet) -> dict[int, tuple[int, bool, dict[int, str]]]:
    newest: dict[int, tuple[int, bool, dict[int, str]]] = {}
    parts = ResponsePart.objects.filter(version__response__response_set=response_set)
    rows = parts.order_by("version__number").values_list(
        "version__response_id", "version__number", "version__sealed_at", "number", "raw"
    )
    for response, version, sealed_at, part, raw in rows:
        if response not in newest or newest[response][0] < version:
            newest[response] = (version, sealed_at is not None, {})
        newest[response][2][part] = raw
    return newest


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
        generator=item.generator,
        replicate=item.replicate,
        kind=item.kind,
        external_id=item.external_id,
        cluster=item.cluster,
        latency_s=item.latency_s,
        cost=item.cost,
    )


def _write_versions(
    items: Sequence[tuple[Incoming, Response, int]],
    labels: Sequence[str],
    progress: Progress | None,
    *,
    look: bool,
) -> None:
    for start in range(0, len(items), _BATCH):
        chunk = items[start : start + _BATCH]
        versions = ResponseVersion.objects.bulk_create(
            ResponseVersion(response=response, number=number_, language=item.language)
            for item, response, number_ in chunk
        )
        ResponsePart.objects.bulk_create(
            ResponsePart(version=version, number=part, raw=raw)
            for version, (item, _response, _number) in zip(versions, chunk, strict=True)
            for part, raw in item.parts.items()
        )
        rows = [
            Unblinded(version, item.parts, item.language)
            for version, (item, _response, _number) in zip(versions, chunk, strict=True)
        ]
        blinding.propose(rows, labels=labels, look=look)
        if progress:
            progress(start + len(chunk), len(items))


@transaction.atomic
def import_judgements(
    *,
    content: bytes,
    name: str,
    set_name: str,
    actor: str,
    at: datetime,
    update: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Import a model judge's scores for a set. Raises `ImportRefused` with every bad row."""
    rows = read_rows(
        content, name=name, required=("judge", "criterion", "score"), known=JUDGEMENT_COLUMNS
    )
    response_set = ResponseSet.objects.filter(name=set_name).first()
    if response_set is None:
        raise refuse_one(
            name, _("There is no set «%s».") % set_name, _("Import the responses first.")
        )
    problems = Problems(name)
    known = known_responses(response_set)
    wanted = [_judgement(row, known, problems) for row in rows]
    problems.refuse()
    outcome = write_judgements(
        response_set=response_set,
        judgements=[(line, j) for line, j in wanted if j is not None],
        problems=problems,
        update=update,
        progress=progress,
    )
    if outcome.did_something:
        payload = {"set": set_name, "sha256": sha256(content.hex()), "created": outcome.created}
        provenance.record(kind="judgements_imported", payload=payload, actor=actor, at=at)
    return outcome


_COMPARED = (
    "score",
    "reason",
    "model_version",
    "prompt_sha256",
    "text_sha256",
    "judged_on",
)


def write_judgements(
    *,
    response_set: ResponseSet,
    judgements: Sequence[tuple[int, ModelJudgement]],
    problems: Problems,
    update: bool,
    progress: Progress | None = None,
) -> Outcome:
    """Write checked judgements; inside the caller's transaction."""
    existing = {
        (j.response_id, j.judge, j.repetition, j.criterion): j
        for j in ModelJudgement.objects.filter(response__response_set=response_set)
    }
    fresh: dict[tuple[int, str, int, str], ModelJudgement] = {}
    revised: list[ModelJudgement] = []
    unchanged = 0
    for line, judgement in judgements:
        key = (
            judgement.response_id,
            judgement.judge,
            judgement.repetition,
            judgement.criterion,
        )
        if key in fresh:
            problems.add(line, "repetition", _("This judgement stands twice."), _("Keep one."))
            continue
        old = existing.get(key)
        if old is None:
            fresh[key] = judgement
        elif all(getattr(old, name) == getattr(judgement, name) for name in _COMPARED):
            unchanged += 1
        elif old.sealed_at:
            message = _("This judgement is sealed by a frozen panel.")
            problems.add(line, "score", message, _("Import it as another judge."))
        elif not update:
            problems.add(
                line,
                "score",
                _("This judgement is known otherwise."),
                _("Ask for an update (--update) if it is meant to replace it."),
            )
        else:
            judgement.pk = old.pk
            revised.append(judgement)
    problems.refuse()
    rows = list(fresh.values())
    for start in range(0, len(rows), _BATCH):
        ModelJudgement.objects.bulk_create(rows[start : start + _BATCH])
        if progress:
            progress(min(start + _BATCH, len(rows)), len(rows))
    ModelJudgement.objects.bulk_update(revised, _COMPARED, batch_size=500)
    return Outcome(len(fresh), len(revised), unchanged)


def _judgement(
    row: Row, known: Mapping[Key, Response], problems: Problems
) -> tuple[int, ModelJudgement | None]:
    replicate = int(number(row, "replicate", problems, whole=True, default=1) or 1)
    repetition = int(number(row, "repetition", problems, whole=True, default=1) or 1)
    external = row.get("response").strip()
    key: Key = (
        (external,)
        if external
        else (
            row.get("dilemma").strip(),
            row.get("condition").strip(),
            row.get("generator").strip(),
            str(replicate),
        )
    )
    response = known.get(key)
    if response is None:
        problems.add(
            row.line,
            "response" if external else "dilemma",
            _("No such response in the set: %s.") % " · ".join(part for part in key if part),
            _("Name it by id, or by dilemma, condition, generator and replicate."),
        )
        return row.line, None
    for column in ("judge", "criterion"):
        if not row.get(column).strip():
            problems.add(row.line, column, _("The cell is empty."), _("Fill it in."))
    return row.line, ModelJudgement(
        response=response,
        judge=row.get("judge").strip(),
        repetition=repetition,
        criterion=row.get("criterion").strip(),
        score=number(row, "score", problems),
        reason=row.get("reason"),
        model_version=row.get("model_version").strip(),
        prompt_sha256=row.get("prompt_sha256").strip(),
        text_sha256=row.get("text_sha256").strip(),
        judged_on=row.get("date").strip(),
    )
