"""The panel's audit chain: append, and verify."""

from datetime import datetime
from typing import Any

from django.db import transaction

from dilemmas import canonical
from dilemmas.canonical import GENESIS
from ratings.models import AuditEvent, Panel


@transaction.atomic
def record(
    *, panel: Panel, kind: str, payload: dict[str, Any], actor: str, at: datetime
) -> AuditEvent:
    """Append one event to the panel's chain, inside the caller's transaction.

    `actor` is an opaque id; `payload` must hold no personal data.
    """
    Panel.objects.select_for_update().only("pk").get(pk=panel.pk)  # one writer per chain at a time
    last = AuditEvent.objects.filter(panel=panel).order_by("-number").first()
    number, previous = (last.number + 1, last.sha256) if last else (1, GENESIS)
    text = canonical.canonical(payload).decode()
    return AuditEvent.objects.create(
        panel=panel,
        number=number,
        at=at,
        actor=actor,
        kind=kind,
        payload=text,
        previous=previous,
        sha256=canonical.link(previous, number, at, actor, kind, text),
    )


def broken_at(panel: Panel) -> int | None:
    """Return the number of the first event that does not follow from its predecessor, or None."""
    return canonical.broken_at(AuditEvent.objects.filter(panel=panel).order_by("number").iterator())
