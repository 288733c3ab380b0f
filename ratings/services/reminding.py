"""Reminding by rule: judges who have been silent for so many days, at most weekly."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max

from awb_panel.accounts.models import User
from ratings.models import Consent, Draft, Judge, Panel, ReminderRule
from ratings.models.people import Role
from ratings.services import audit
from ratings.services.errors import Refused
from ratings.services.mail import send_reminder
from ratings.services.running import REMIND_AFTER, last_reminder, note_reminder

LEAST, MOST = REMIND_AFTER.days, 60


def rule_of(panel: Panel) -> ReminderRule | None:
    """Return the rule that counts; None if there is none, or it was taken back."""
    newest = panel.reminder_rules.order_by("-pk").first()
    return newest if newest is not None and newest.days else None


@transaction.atomic
def set_rule(*, panel: Panel, days: int, actor: str, at: datetime) -> ReminderRule:
    """Remind whoever has been silent for so many days; 0 is never.

    Raises `Refused` if that is more often than weekly, or the panel is over.
    """
    panel = Panel.objects.select_for_update().get(pk=panel.pk)
    if panel.state not in (Panel.State.FROZEN, Panel.State.OPEN):
        raise Refused("panel_not_open")
    if days and not LEAST <= days <= MOST:
        raise Refused("at_most_weekly")
    row = ReminderRule.objects.create(panel=panel, days=days, actor=actor, at=at)
    audit.record(panel=panel, kind="reminder_rule_set", payload={"days": days}, actor=actor, at=at)
    return row


def next_reminders(panel: Panel, rule: ReminderRule) -> list[tuple[Judge, datetime]]:
    """Return who is due when if nothing else happens, the first one first.

    Somebody is due so many days after the last word saved (else the consent, else the seat), and
    a week after the last reminder.
    """
    silent_since = _last_activity(panel)
    waiting = (
        Judge.objects.filter(panel=panel, user__isnull=False, batches__handed_in_at=None)
        .active()  # type: ignore[attr-defined]
        .filter(batches__isnull=False)
        .select_related("panel__protocol", "user")
        .distinct()
    )
    found = []
    for judge in waiting:
        due = silent_since.get(judge.pk, judge.created_at) + timedelta(days=rule.days)
        last = last_reminder(judge)
        found.append((judge, max(due, last + REMIND_AFTER) if last else due))
    return sorted(found, key=lambda row: (row[1], row[0].pk))


def remind_due(*, at: datetime) -> int:
    """Remind everybody in open panels who is due, and return how many e-mails were sent.

    Two workers never remind twice: the second finds the first one's note.
    """
    sent = 0
    for panel in Panel.objects.filter(
        state=Panel.State.OPEN, reminder_rules__isnull=False
    ).distinct():
        rule = rule_of(panel)
        if rule is None:
            continue
        coordinator = _who_writes(panel, rule)
        for judge, due in next_reminders(panel, rule):
            if due > at or coordinator is None:
                continue
            try:
                note_reminder(judge=judge, actor=rule.actor, at=at)
            except Refused:
                continue  # handed in, left or reminded meanwhile
            sent += send_reminder(judge=judge, coordinator=coordinator.email)
    return sent


def _who_writes(panel: Panel, rule: ReminderRule) -> User | None:
    """The coordinator who made the rule, or the first one who is still there."""
    people = User.objects.filter(
        memberships__panel=panel, memberships__role=Role.COORDINATOR, is_active=True
    ).order_by("memberships__pk")
    return people.filter(opaque_id=rule.actor).first() or people.first()


def _last_activity(panel: Panel) -> dict[int, datetime]:
    consents = Consent.objects.filter(judge__panel=panel).values_list("judge").annotate(Max("at"))
    saves = (
        Draft.objects.filter(slot__judge__panel=panel, saved_at__isnull=False)
        .values_list("slot__judge")
        .annotate(Max("saved_at"))
    )
    return dict(consents.order_by()) | dict(saves.order_by())
