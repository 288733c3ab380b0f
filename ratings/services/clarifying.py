"""Clarifications: what a coordinator says to all judges after the freeze, and who has read it."""

from datetime import datetime

from django.db import transaction

from ratings.models import Clarification, ClarificationReading, Judge, Panel
from ratings.services import audit
from ratings.services.errors import Refused


@transaction.atomic
def clarify(*, panel: Panel, text: str, actor: str, at: datetime) -> Clarification:
    """Say something to every judge of a frozen or open panel, for good.

    Raises `Refused` before the freeze (the rubric can still be changed) and after closing.
    """
    panel = Panel.objects.select_for_update().get(pk=panel.pk)
    if panel.state not in (Panel.State.FROZEN, Panel.State.OPEN):
        raise Refused("panel_not_open")
    number = panel.clarifications.count() + 1
    row = Clarification.objects.create(panel=panel, number=number, text=text, at=at)
    payload = {"number": number, "text": text}
    audit.record(panel=panel, kind="clarified", payload=payload, actor=actor, at=at)
    return row


@transaction.atomic
def confirm_read(*, judge: Judge, at: datetime) -> int:
    """Record that a judge has read whatever waits; return how many there were."""
    waiting = Clarification.objects.unread_by(judge).order_by("number")
    rows = [ClarificationReading(clarification=one, judge=judge, at=at) for one in waiting]
    ClarificationReading.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)
