"""What judges do: consent, save, mark done, hand in, flag. Nothing acknowledged is ever lost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from dilemmas.canonical import sha256
from ratings.models import (
    Batch,
    Consent,
    Draft,
    DraftCheckpoint,
    Evidence,
    Flag,
    Judge,
    Panel,
    Rating,
    Reopening,
    Slot,
    Submission,
    Withdrawal,
)
from ratings.services import audit
from ratings.services.answers import Answer, gaps, is_field, read_answers
from ratings.services.errors import Clash, Conflict, Incomplete, Refused
from ratings.services.pace import spent

CONSENT_VERSION = "1"
_CLIENTS_KEPT = 60  # page loads remembered per slot
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Change:
    """One field as the page first had it (since the last acknowledgement), and as it is now."""

    initial: str
    value: str


@dataclass(frozen=True)
class Saved:
    """The state after a save: the draft's version, every field, and when."""

    version: int
    fields: Mapping[str, str]
    at: datetime | None


def save(
    *,
    slot: Slot,
    changes: Mapping[str, Change],
    at: datetime,
    client: str = "",
    sequence: int | None = None,
    field_left: bool = False,
    shown: datetime | None = None,
) -> Saved:
    """Merge changed fields into the slot's draft.

    `client` is one page load and `sequence` counts its saves; without scripts there is neither.
    The base of a save is carried field by field, as the text that the page last knew to be stored:
    a version number alone would let a page overwrite a text that it has never shown. A save heard
    before, or overtaken by a later one of the same page, changes nothing. A field that another page
    changed meanwhile is not overwritten: the other fields are stored, the text is kept as a
    checkpoint, and `Conflict` is raised. `shown` is when the page was made, from which time counts.
    Raises `Refused` if the panel is not open or the batch is handed in.
    """
    try:
        saved, clashes = _merge(
            slot=slot,
            changes={name: change for name, change in changes.items() if is_field(name)},
            at=at,
            client=client,
            sequence=sequence,
            field_left=field_left,
            shown=shown,
        )
    except IntegrityError:
        _refuse_unless_open(slot)  # closed, handed in or taken out since it was looked at
        raise
    if clashes:
        raise Conflict(clashes, version=saved.version, fields=saved.fields)
    return saved


@transaction.atomic
def _merge(
    *,
    slot: Slot,
    changes: Mapping[str, Change],
    at: datetime,
    client: str,
    sequence: int | None,
    field_left: bool,
    shown: datetime | None,
) -> tuple[Saved, list[Clash]]:
    draft = Draft.objects.select_for_update().get(slot=slot)
    _refuse_unless_open(slot)
    if sequence is not None and sequence <= draft.clients.get(client, 0):
        return _state(draft), []
    dirty = {name: change for name, change in changes.items() if change.value != change.initial}
    clashes, accepted = [], {}
    for name, change in dirty.items():
        field = draft.fields.get(name, {"value": "", "version": 0, "client": ""})
        theirs = field["value"]
        if change.value == theirs:
            continue
        mine_again = bool(client) and sequence is not None and field["client"] == client
        if mine_again or theirs == change.initial:
            accepted[name] = change.value
        else:
            clashes.append(Clash(name, change.value, theirs))
    if accepted:
        draft.version += 1
        draft.active_ms += spent(shown, draft.saved_at, until=at)
        draft.opened_at = draft.opened_at or (shown if shown and shown <= at else at)
        draft.saved_at = at
        draft.last_client = client
        for name, value in accepted.items():
            draft.fields[name] = {"value": value, "version": draft.version, "client": client}
    if sequence is not None:
        draft.clients.pop(client, None)  # re-inserted last: the oldest page load goes first
        draft.clients[client] = sequence
        while len(draft.clients) > _CLIENTS_KEPT:
            draft.clients.pop(next(iter(draft.clients)))
    if accepted or sequence is not None:
        draft.save()
    if clashes:
        _keep(draft, DraftCheckpoint.Reason.CONFLICT, at, {c.name: c.mine for c in clashes})
    elif accepted:
        _keep_if_due(draft, field_left=field_left, at=at)
    return _state(draft), clashes


def done(*, slot: Slot, language: str, at: datetime) -> Submission:
    """Submit the slot's draft as it stands. The same draft is submitted once, however often asked.

    Raises `Incomplete` with every gap, `Refused` if the panel is not open.
    """
    with transaction.atomic():
        panel = Panel.objects.select_for_update().get(judges=slot.judge_id)
        draft = Draft.objects.select_for_update().get(slot=slot)
        _refuse_unless_open(slot)
        last = slot.submissions.order_by("-number").first()
        if last is not None and last.draft_version == draft.version:
            return last
        criteria = list(slot.batch.rubric_version.criteria.all())
        answers = read_answers(criteria, _values(draft))
        missing = gaps(answers, rationales=slot.rationales)
        if missing:
            raise Incomplete(missing)
        # First: once it is submitted, a response that was opened again is locked.
        _keep(draft, DraftCheckpoint.Reason.DONE, at, _values(draft))
        submission = Submission.objects.create(
            slot=slot,
            number=last.number + 1 if last else 1,
            draft_version=draft.version,
            language=language,
            opened_at=draft.opened_at,
            active_ms=draft.active_ms + spent(draft.saved_at, until=at),
            at=at,
        )
        ratings = Rating.objects.bulk_create(_rating(submission, answer) for answer in answers)
        _keep_evidence(slot, answers, ratings)
        payload = {"slot": slot.code, "number": submission.number, "draft": draft.version}
        audit.record(
            panel=panel, kind="response_done", payload=payload, actor=_actor(slot.judge), at=at
        )
        return submission


def hand_in(*, batch: Batch, at: datetime) -> Batch:
    """Lock a batch whose every slot is done, for good; twice changes nothing.

    Raises `Refused` with the positions that are not done.
    """
    with transaction.atomic():
        panel = Panel.objects.select_for_update().get(judges=batch.judge_id)
        batch = Batch.objects.select_for_update().select_related("judge").get(pk=batch.pk)
        if batch.handed_in_at is not None:
            return batch
        if panel.state != Panel.State.OPEN:
            raise Refused("panel_not_open")
        undone = [slot.position for slot in batch.slots.with_progress() if slot.is_owed]
        if undone:
            raise Refused("batch_incomplete", positions=undone)
        batch.handed_in_at = at
        batch.save(update_fields=["handed_in_at"])
        audit.record(
            panel=panel,
            kind="batch_handed_in",
            payload={"batch": batch.number, "judge": batch.judge.code},
            actor=_actor(batch.judge),
            at=at,
        )
        return batch


def consent_version(panel: Panel) -> str:
    """Return what names the text that judges agree to: the program's, and the panel's if there is one.

    A panel's own text is fixed by its freeze, so that a version stands for one text.
    """
    own = panel.protocol.document.get("consent_text", "")
    return f"{CONSENT_VERSION}+{sha256(own)[:12]}" if own else CONSENT_VERSION


@transaction.atomic
def consent(*, judge: Judge, language: str, conflicts: str, exposure: str, at: datetime) -> Consent:
    """Record what a judge agreed to and declared before the first response, once."""
    Panel.objects.select_for_update().get(pk=judge.panel_id)
    given = judge.consents.first()
    if given is not None:
        return given
    version = consent_version(judge.panel)
    row = Consent.objects.create(
        judge=judge,
        version=version,
        language=language,
        conflicts=conflicts,
        exposure=exposure,
        at=at,
    )
    payload = {"judge": judge.code, "version": version, "exposure": exposure}
    audit.record(
        panel=judge.panel, kind="judge_consented", payload=payload, actor=_actor(judge), at=at
    )
    return row


@transaction.atomic
def flag(*, slot: Slot, kind: str, note: str, at: datetime) -> Flag:
    """Tell the coordinator something about a response; no score changes by it."""
    row = Flag.objects.create(slot=slot, kind=kind, note=note, at=at)
    payload = {"slot": slot.code, "kind": kind, "flag": row.pk}
    audit.record(
        panel=slot.judge.panel, kind="flagged", payload=payload, actor=_actor(slot.judge), at=at
    )
    return row


def _rating(submission: Submission, answer: Answer) -> Rating:
    return Rating(
        submission=submission,
        part=answer.part,
        criterion=answer.criterion,
        score=answer.score,
        missing=answer.missing,
        missing_note=answer.note if answer.missing else "",
        rationale=answer.rationale,
    )


def _keep_evidence(slot: Slot, answers: Sequence[Answer], ratings: Sequence[Rating]) -> None:
    """Keep the marked passages, each with its place in the blinded text if it stands there so."""
    if not any(answer.evidence for answer in answers):
        return
    texts = [(number, " ".join(text.split())) for number, text in _blinded_parts(slot)]
    Evidence.objects.bulk_create(
        Evidence(rating=rating, number=number, quotation=passage, part=part, start=start)
        for answer, rating in zip(answers, ratings, strict=True)
        for number, passage in enumerate(answer.evidence, start=1)
        for part, start in [_place_of(passage, texts)]
    )


def _blinded_parts(slot: Slot) -> Iterable[tuple[int, str]]:
    return slot.blinding.parts.order_by("number").values_list("number", "text")


def _place_of(passage: str, texts: Sequence[tuple[int, str]]) -> tuple[int | None, int | None]:
    for number, text in texts:
        if (start := text.find(passage)) >= 0:
            return number, start
    return None, None


@cache
def _where_it_stands() -> QuerySet[Slot, Any]:
    """What decides whether a slot may be written; put together once, for it is asked at every save."""
    practice = Batch.objects.practice_left(OuterRef("judge")).exclude(pk=OuterRef("batch"))
    reopened = Reopening.objects.filter(slot=OuterRef("pk")).waiting()  # type: ignore[attr-defined]
    taken_out = Withdrawal.objects.filter(
        panel=OuterRef("judge__panel"), response=OuterRef("response")
    )
    return Slot.objects.annotate(
        practice_left=Exists(practice), reopened=Exists(reopened), taken_out=Exists(taken_out)
    ).values_list(
        "batch__handed_in_at",
        "judge__withdrawn_at",
        "judge__panel__state",
        "batch__phase",
        "practice_left",
        "reopened",
        "taken_out",
    )


def _refuse_unless_open(slot: Slot) -> None:
    row = _where_it_stands().get(pk=slot.pk)
    if row[2] != Panel.State.OPEN:
        raise Refused("panel_not_open")
    if row[1] is not None:
        raise Refused("judge_withdrawn")
    if row[6]:
        raise Refused("response_taken_out")
    if row[0] is not None and not row[5]:
        raise Refused("batch_handed_in")
    if row[3] == Batch.Phase.MAIN and row[4]:
        raise Refused("practice_first")


def _values(draft: Draft) -> dict[str, str]:
    return {name: field["value"] for name, field in draft.fields.items()}


def _state(draft: Draft) -> Saved:
    return Saved(draft.version, _values(draft), draft.saved_at)


def _keep(draft: Draft, reason: str, at: datetime, values: Mapping[str, str]) -> None:
    DraftCheckpoint.objects.create(
        slot_id=draft.slot_id, version=draft.version, reason=reason, fields=dict(values), at=at
    )


def _keep_if_due(draft: Draft, *, field_left: bool, at: datetime) -> None:
    """One kept version per field left, or per minute of writing."""
    reason = DraftCheckpoint.Reason.LEFT
    if not field_left:
        newest = DraftCheckpoint.objects.filter(slot_id=draft.slot_id).order_by("-id").first()
        if newest is not None and at - newest.at < _MINUTE:
            return
        reason = DraftCheckpoint.Reason.MINUTE
    _keep(draft, reason, at, _values(draft))


def _actor(judge: Judge) -> str:
    return judge.user.opaque_id if judge.user else ""
