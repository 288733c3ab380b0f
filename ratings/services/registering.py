"""The registration: what was fixed before the first rating, as one document to deposit anywhere.

It holds protocol, rubric, design and plan in full, and hashes of the texts, the model judge's scores
and the condition key: enough to check later that nothing was changed, and nothing that a judge may
not know.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from ratings.models import AuditEvent, Panel
from ratings.services import audit
from ratings.services.errors import Refused
from ratings.services.freezing import rubric_document

SCHEMA = 1
_EVENT = "registration_deposited"


@dataclass(frozen=True)
class Deposit:
    """Where the registration was deposited, as a coordinator said, and when it was said."""

    address: str
    at: datetime


def registration(panel: Panel) -> dict[str, Any]:
    """Return the document; of a panel that is not frozen, as it would be. Raises nothing.

    `sha256` is of the canonical JSON (RFC 8785) of `manifest`.
    """
    document = dict(panel.protocol.document)
    freeze = getattr(panel, "freeze", None)
    return {
        "schema": SCHEMA,
        "panel": {
            "slug": panel.slug,
            "title": panel.title,
            "content_language": panel.content_language,
            "is_demo": panel.is_demo,
        },
        "frozen_at": freeze.at.isoformat() if freeze else None,
        "sha256": freeze.sha256 if freeze else None,
        "manifest": json.loads(freeze.manifest) if freeze else None,
        "protocol": document,
        "rubric": rubric_document(panel),
    }


@transaction.atomic
def deposit(*, panel: Panel, address: str, actor: str, at: datetime) -> AuditEvent:
    """Record where the registration was deposited; saying it again adds a line.

    Raises `Refused` if the panel is not frozen.
    """
    panel = Panel.objects.select_for_update().get(pk=panel.pk)
    if panel.state == Panel.State.DRAFT or panel.origin != Panel.Origin.NATIVE:
        raise Refused("deposit_not_now")
    payload = {"address": address, "sha256": panel.freeze.sha256}
    return audit.record(panel=panel, kind=_EVENT, payload=payload, actor=actor, at=at)


def deposits(panel: Panel) -> list[Deposit]:
    """Return the deposits that were recorded, in order (1 query)."""
    events = panel.events.filter(kind=_EVENT).order_by("number")
    return [Deposit(json.loads(one.payload)["address"], one.at) for one in events]
