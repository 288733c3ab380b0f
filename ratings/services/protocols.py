"""The protocol: its keys, their defaults, and how it is written before the freeze."""

import secrets
from datetime import datetime
from typing import Any

from django.db import transaction

from dilemmas.canonical import sha256
from ratings.design.algorithms import ALGORITHMS, DEFAULT
from ratings.gate import POLICIES
from ratings.models import Panel, Protocol
from ratings.services import audit
from ratings.services.errors import Refused

RATIONALES = ("none", "one", "all")
ORDERS = ("williams-1", "grouped-1")  # on offer; what was frozen may have an older one
MOST_REPEATS = 50
MARKDOWN = ("shown", "flattened")
# What only people know: said in words before the first rating, printed in the registration and the
# report; empty is «not stated», and is shown as such.
DECLARATIONS = (
    "estimand", "population", "hypotheses", "tests", "recruitment", "judges_language", "pay",
    "relation", "training", "key_holder", "consent_text", "what_changed",
)  # fmt: skip
LONGEST_DECLARATION = 4_000
DEFAULTS: dict[str, Any] = {
    "policy": None,  # a ready-made policy written out in full; none is preselected
    "rationales": "one",
    "markdown": "shown",  # responses as their marks mean, or without marks, alike for all conditions
    "judges_planned": 3,
    "judges_qualification": "",
    "batch_size": 10,
    "bootstrap_draws": 10_000,
    "order": DEFAULT,
    "judges_per_response": None,  # how many of the judges read each response; None is all of them
    "practice": True,  # practice responses, if the set has any, come first; they count nowhere
    "repeats": 0,  # responses that each judge is served twice
    "publish_missed": False,
    "two_person_blinding": False,  # whether a second person confirms each decision on a text
    "adjudication_from": None,  # scores of two judges so far apart are resolved after closing
    "adjudication_named": False,  # whether adjudicators know which judge said what
    "max_missing_share": 0.05,
    "margin": None,  # of the contrasts: a share of the rubric's maximum, such as .05
    "previous_round": "",  # address of the panel that this one follows
    "planning": None,  # what a simulation said of this design before the freeze
    **dict.fromkeys(DECLARATIONS, ""),
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
    # The panel first: a freeze that is under way must end before the protocol is looked at.
    panel = Panel.objects.select_for_update().get(pk=panel.pk)
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
    if any(len(document.get(key, "")) > LONGEST_DECLARATION for key in DECLARATIONS):
        raise Refused("protocol_too_long", most=LONGEST_DECLARATION)
    distance = document.get("adjudication_from")
    if distance is not None and distance <= 0:
        raise Refused("protocol_adjudication")
    _refuse_impossible_order(document)
    protocol.document = document
    protocol.save(update_fields=["document", "changed_at"])
    audit.record(
        panel=panel,
        kind="protocol_written",
        payload={"changes": _noted(changes)},
        actor=actor,
        at=at,
    )
    return protocol


def _noted(changes: dict[str, Any]) -> dict[str, Any]:
    """What the audit keeps of changes: a plan, which is long, by its hash."""
    plan = changes.get("planning")
    return changes if plan is None else changes | {"planning": {"sha256": sha256(plan)}}


def _refuse_impossible_order(document: dict[str, Any]) -> None:
    """What an older version wrote may lack the newer keys."""
    if document["order"] not in ALGORITHMS:
        raise Refused("protocol_unknown_order")
    each = document.get("judges_per_response")
    if each is not None and not 2 <= each <= document["judges_planned"]:
        raise Refused("protocol_judges_per_response")
    if not 0 <= document.get("repeats", 0) <= MOST_REPEATS:
        raise Refused("protocol_repeats", most=MOST_REPEATS)
