"""The protocol: its keys, their defaults, and how it is written before the freeze."""

import secrets
from datetime import datetime
from typing import Any

from django.db import transaction

from ratings.gate import POLICIES
from ratings.models import Panel, Protocol
from ratings.services import audit
from ratings.services.errors import Refused

RATIONALES = ("none", "one", "all")
MARKDOWN = ("shown", "flattened")
DEFAULTS: dict[str, Any] = {
    "policy": None,  # a ready-made policy written out in full; none is preselected
    "rationales": "one",
    "markdown": "shown",  # responses as their marks mean, or without marks, alike for all conditions
    "judges_planned": 3,
    "judges_qualification": "",
    "batch_size": 10,
    "bootstrap_draws": 10_000,
    "order": "latin-1",
    "publish_missed": False,
    "max_missing_share": 0.05,
    "contrasts": [],  # pairs of condition labels, the first minus the second
    "model_judgements": "as imported",
    "guesses": 0,  # responses whose condition each judge is asked to guess after the last batch
    "ends_on": "",
    "controller": "",
    "contact": "",
}


def new_document() -> dict[str, Any]:
    """Return the defaults with fresh seeds: they are registered, so that nobody can choose them later."""
    return DEFAULTS | {
        "bootstrap_seed": secrets.randbelow(2**31),
        "order_seed": secrets.randbelow(2**53),
    }


@transaction.atomic
def write_protocol(*, panel: Panel, changes: dict[str, Any], actor: str, at: datetime) -> Protocol:
    """Change the protocol of a draft panel; `policy` is named, and is written out in full.

    Raises `Refused` for unknown keys or values.
    """
    protocol = Protocol.objects.select_for_update().get(panel=panel)
    if panel.state != Panel.State.DRAFT:
        raise Refused("panel_is_frozen")
    if changes.get("policy") is not None:
        if changes["policy"] not in POLICIES:
            raise Refused("protocol_unknown_policy", policy=changes["policy"])
        changes = changes | {"policy": POLICIES[changes["policy"]].to_dict()}
    document = {"markdown": DEFAULTS["markdown"]} | protocol.document | changes
    unknown = set(document) - set(new_document())
    if unknown:
        raise Refused("protocol_unknown_key", keys=sorted(unknown))
    if document["rationales"] not in RATIONALES:
        raise Refused("protocol_unknown_rationales")
    if document["markdown"] not in MARKDOWN:
        raise Refused("protocol_unknown_markdown")
    if not 2 <= document["judges_planned"] <= 300 or not 1 <= document["batch_size"] <= 200:
        raise Refused("protocol_out_of_range")
    protocol.document = document
    protocol.save(update_fields=["document", "changed_at"])
    audit.record(
        panel=panel, kind="protocol_written", payload={"changes": changes}, actor=actor, at=at
    )
    return protocol
