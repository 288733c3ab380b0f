"""The append-only trail of content: who imported or decided what, chained by hashes."""

from datetime import datetime
from typing import Any

from django.db import transaction

from dilemmas.canonical import GENESIS, canonical, link
from dilemmas.models import Provenance


@transaction.atomic
def record(*, kind: str, payload: dict[str, Any], actor: str, at: datetime) -> Provenance:
    """Append one event to the chain. Runs inside the caller's transaction."""
    last = Provenance.objects.select_for_update().order_by("-number").first()
    number, previous = (last.number + 1, last.sha256) if last else (1, GENESIS)
    text = canonical(payload).decode()
    return Provenance.objects.create(
        number=number,
        at=at,
        actor=actor,
        kind=kind,
        payload=text,
        previous=previous,
        sha256=link(previous, _event(number, at, actor, kind, text)),
    )


def head() -> str:
    """Return the newest hash of the chain."""
    return (
        Provenance.objects.order_by("-number").values_list("sha256", flat=True).first() or GENESIS
    )


def broken_at() -> int | None:
    """Return the number of the first event that does not follow from its predecessor, or None."""
    previous, expected = GENESIS, 1
    for row in Provenance.objects.order_by("number").iterator():
        event = _event(row.number, row.at, row.actor, row.kind, row.payload)
        if (
            row.number != expected
            or row.previous != previous
            or row.sha256 != link(previous, event)
        ):
            return expected
        previous, expected = row.sha256, expected + 1
    return None


def _event(number: int, at: datetime, actor: str, kind: str, payload: str) -> dict[str, Any]:
    return {
        "number": number,
        "at": at.timestamp(),
        "actor": actor,
        "kind": kind,
        "payload": payload,
    }
