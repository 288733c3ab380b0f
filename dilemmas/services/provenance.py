"""The append-only trail of content: who imported or decided what, chained by hashes."""

from datetime import datetime
from typing import Any

from django.db import transaction

from dilemmas import canonical
from dilemmas.canonical import GENESIS
from dilemmas.models import Provenance


@transaction.atomic
def record(*, kind: str, payload: dict[str, Any], actor: str, at: datetime) -> Provenance:
    """Append one event to the chain. Runs inside the caller's transaction."""
    # The first event is what appenders wait for: who waited for the last one would take it for
    # the last when it no longer is.
    Provenance.objects.select_for_update().order_by("number").first()
    last = Provenance.objects.order_by("-number").first()
    number, previous = (last.number + 1, last.sha256) if last else (1, GENESIS)
    text = canonical.canonical(payload).decode()
    return Provenance.objects.create(
        number=number,
        at=at,
        actor=actor,
        kind=kind,
        payload=text,
        previous=previous,
        sha256=canonical.link(previous, number, at, actor, kind, text),
    )


def head() -> str:
    """Return the newest hash of the chain."""
    return (
        Provenance.objects.order_by("-number").values_list("sha256", flat=True).first() or GENESIS
    )


def broken_at() -> int | None:
    """Return the number of the first event that does not follow from its predecessor, or None."""
    return canonical.broken_at(Provenance.objects.order_by("number").iterator())
