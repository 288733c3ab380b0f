"""Running an open panel: judges who leave and come back, responses opened again or taken out, flags."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, OuterRef, QuerySet, Subquery, When

from dilemmas.models import Response
from ratings.models import (
    Flag,
    FlagReply,
    Judge,
    Panel,
    Reopening,
    Slot,
    Submission,
    Withdrawal,
)
from ratings.services import audit
from ratings.services.errors import Refused

REMIND_AFTER = timedelta(days=7)


@transaction.atomic
def leave(*, judge: Judge, reason: str, actor: str, at: datetime) -> Judge:
    """Record that a judge leaves. What was marked done stays and counts; the rest is owed by nobody
    until somebody takes the seat.

    Raises `Refused` unless the panel is frozen or open and the judge still here.
    """
    panel = _locked(judge.panel_id)
    if panel.state not in (Panel.State.FROZEN, Panel.State.OPEN):
        raise Refused("panel_not_open")
    judge = Judge.objects.select_for_update().get(pk=judge.pk)
    if judge.withdrawn_at is not None:
        raise Refused("judge_has_left")
    judge.withdrawn_at = at
    judge.save(update_fields=["withdrawn_at"])
    payload = {"judge": judge.code, "reason": reason}
    audit.record(panel=panel, kind="judge_left", payload=payload, actor=actor, at=at)
    return judge


@transaction.atomic
def come_back(*, judge: Judge, actor: str, at: datetime) -> Judge:
    """Give a judge who left the seat back, exactly as it was left.

    Raises `Refused` if somebody else has taken it.
    """
    panel = _locked(judge.panel_id)
    if panel.state not in (Panel.State.FROZEN, Panel.State.OPEN):
        raise Refused("panel_not_open")
    judge = Judge.objects.select_for_update().get(pk=judge.pk)
    if judge.withdrawn_at is None:
        raise Refused("judge_is_here")
    if hasattr(judge, "replaced_by"):
        raise Refused("seat_is_taken")
    judge.withdrawn_at = None
    judge.save(update_fields=["withdrawn_at"])
    payload = {"judge": judge.code}
    audit.record(panel=panel, kind="judge_came_back", payload=payload, actor=actor, at=at)
    return judge


@transaction.atomic
def reopen(*, slot: Slot, reason: str, actor: str, at: datetime) -> Reopening:
    """Open one response of a batch that was handed in again, for its judge.

    Both versions are kept; the newer one counts. Raises `Refused` if the panel is not open, the
    batch is not handed in, the judge left, or the response is open again already or taken out.
    """
    panel = _locked(slot.judge.panel_id)
    if panel.state != Panel.State.OPEN:
        raise Refused("panel_not_open")
    slot = Slot.objects.select_for_update().select_related("batch", "judge").get(pk=slot.pk)
    if slot.judge.withdrawn_at is not None:
        raise Refused("judge_has_left")
    if slot.batch.handed_in_at is None:
        raise Refused("batch_is_open")
    if Reopening.objects.filter(slot=slot).waiting().exists():  # type: ignore[attr-defined]
        raise Refused("open_again_already")
    if Withdrawal.objects.filter(panel=panel, response=slot.response_id).exists():
        raise Refused("response_taken_out")
    newest = Submission.objects.filter(slot=slot).order_by("-number").first()
    after = newest.number if newest else 0
    row = Reopening.objects.create(slot=slot, after_number=after, reason=reason, actor=actor, at=at)
    payload = {"slot": slot.code, "judge": slot.judge.code, "after": after, "reason": reason}
    audit.record(panel=panel, kind="response_reopened", payload=payload, actor=actor, at=at)
    return row


@transaction.atomic
def take_out(
    *, panel: Panel, response: Response, reason: str, actor: str, at: datetime
) -> Withdrawal:
    """Take a response out of an open panel, for every judge and every figure, for good.

    Raises `Refused` if the panel is not open, the response is none of it, or it is out already.
    """
    panel = _locked(panel.pk)
    if panel.state != Panel.State.OPEN:
        raise Refused("panel_not_open")
    if not reason.strip():
        raise Refused("reason_needed")
    if response.response_set_id != panel.response_set_id:
        raise Refused("unknown_response")
    if Withdrawal.objects.filter(panel=panel, response=response).exists():
        raise Refused("response_taken_out")
    row = Withdrawal.objects.create(
        panel=panel, response=response, reason=reason.strip(), actor=actor, at=at
    )
    payload = {"response": response.pk, "reason": row.reason}
    audit.record(panel=panel, kind="response_taken_out", payload=payload, actor=actor, at=at)
    return row


@transaction.atomic
def reply(*, flag: Flag, state: str, text: str, actor: str, at: datetime) -> FlagReply:
    """Answer a flag, or say that somebody looks at it; its judge reads the text.

    Raises `Refused` if an answer has no text.
    """
    panel = _locked(flag.slot.judge.panel_id)
    if state == FlagReply.State.ANSWERED and not text.strip():
        raise Refused("answer_needed")
    row = FlagReply.objects.create(flag=flag, state=state, text=text.strip(), actor=actor, at=at)
    payload = {"flag": flag.pk, "state": state}
    audit.record(panel=panel, kind="flag_answered", payload=payload, actor=actor, at=at)
    return row


@dataclass(frozen=True)
class Waiting:
    """A flag with what was said to it; `state` is open, looking, answered or settled."""

    flag: Flag
    state: str
    replies: list[FlagReply]


def flag_queue(panel: Panel) -> QuerySet[Any]:
    """Return every flag of a panel, those that wait first, then by time; `waits` says which do."""
    newest = FlagReply.objects.filter(flag=OuterRef("pk")).order_by("-pk").values("state")[:1]
    settled = (FlagReply.State.ANSWERED, FlagReply.State.SETTLED)
    return (
        Flag.objects.filter(slot__judge__panel=panel)
        .annotate(
            newest=Subquery(newest),
            waits=Case(When(newest__in=settled, then=False), default=True),
        )
        .order_by("-waits", "at", "id")
    )


def told(flags: QuerySet[Any]) -> list[Waiting]:
    """Return flags with what was said to each (2 queries)."""
    rows = flags.select_related("slot__judge", "slot__response__dilemma", "slot__batch")
    return [_waiting(flag) for flag in rows.prefetch_related("replies")]


def answers_for(judge: Judge) -> list[Waiting]:
    """Return a judge's own flags that were answered (2 queries)."""
    flags = Flag.objects.filter(slot__judge=judge).select_related("slot__batch")
    rows = [_waiting(flag) for flag in flags.prefetch_related("replies").order_by("at", "id")]
    return [row for row in rows if any(reply.text for reply in row.replies)]


def last_reminder(judge: Judge) -> datetime | None:
    """Return when the judge was last reminded."""
    event = (
        judge.panel.events.filter(kind="judge_reminded", payload__contains=f'"{judge.code}"')
        .order_by("-number")
        .first()
    )
    return event.at if event else None


@transaction.atomic
def note_reminder(*, judge: Judge, actor: str, at: datetime) -> None:
    """Record that a judge is reminded now.

    Raises `Refused` if the panel is not open, the judge has left or finished, or was reminded in the
    last seven days.
    """
    panel = _locked(judge.panel_id)
    if panel.state != Panel.State.OPEN:
        raise Refused("panel_not_open")
    if judge.withdrawn_at is not None or judge.user is None:
        raise Refused("judge_has_left")
    if not judge.batches.filter(handed_in_at=None).exists():
        raise Refused("judge_has_finished")
    last = last_reminder(judge)
    if last is not None and at - last < REMIND_AFTER:
        raise Refused("reminded_lately")
    payload = {"judge": judge.code}
    audit.record(panel=panel, kind="judge_reminded", payload=payload, actor=actor, at=at)


def _waiting(flag: Flag) -> Waiting:
    replies = list(flag.replies.all())
    return Waiting(flag, replies[-1].state if replies else "open", replies)


def _locked(panel_id: int) -> Panel:
    return Panel.objects.select_for_update().get(pk=panel_id)
