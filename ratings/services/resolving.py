"""Resolving differences after closing: a registered rule picks cases, adjudicators decide them blind.

A second layer: judges' scores stay as they are, and no figure of the report reads a decision.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Max, Min

from awb_panel.accounts.models import User
from dilemmas.models import BlindedPart, DilemmaText
from ratings.design.random64 import stream
from ratings.models import Case, Decision, Panel, Slot
from ratings.reports.resolved import standing
from ratings.services import audit
from ratings.services.errors import Refused

_ORDER, _VOICES = 0xCA5E, 0x501CE  # streams of the panel's seed


def picked(panel: Panel) -> list[tuple[int, int]]:
    """Return (response, criterion) of what the registered rule picks: two judges' standing scores of
    the first reading lie at least so far apart. Controls and what was taken out are never picked
    (1 query).
    """
    distance = panel.protocol.document.get("adjudication_from")
    if distance is None:
        return []
    rows = (
        standing(panel)
        .filter(score__isnull=False)
        .values_list("submission__slot__response", "criterion")
        .annotate(low=Min("score"), high=Max("score"))
        .order_by("submission__slot__response", "criterion")
    )
    return [(one, criterion) for one, criterion, low, high in rows if high - low >= distance]


@transaction.atomic
def draw(*, panel: Panel, actor: str, at: datetime) -> int:
    """Give the cases to the panel's adjudicators, once, in a random order; return how many.

    Raises `Refused` before closing, without a registered rule, and where cases were drawn already.
    """
    panel = Panel.objects.select_for_update().get(pk=panel.pk)
    if not panel.is_over:
        raise Refused("panel_not_closed")
    if panel.protocol.document.get("adjudication_from") is None:
        raise Refused("no_adjudication_registered")
    if panel.cases.exists():
        raise Refused("cases_are_drawn")
    pairs = stream(panel.protocol.document["order_seed"], _ORDER).shuffled(picked(panel))
    Case.objects.bulk_create(
        Case(
            panel=panel,
            response_id=response,
            criterion_id=criterion,
            position=number,
            code=secrets.token_hex(8),
            at=at,
        )
        for number, (response, criterion) in enumerate(pairs, start=1)
    )
    payload = {"cases": len(pairs)}
    audit.record(panel=panel, kind="cases_drawn", payload=payload, actor=actor, at=at)
    return len(pairs)


@transaction.atomic
def decide(*, case: Case, user: User, score: float | None, reason: str, at: datetime) -> Decision:
    """Record a decision; another of the same adjudicator comes after it, and counts.

    Raises `Refused` without a reason, for a score that is no level, and from anybody else.
    """
    panel = Panel.objects.select_for_update().get(pk=case.panel_id)
    if not panel.memberships.filter(user=user, role="adjudicator").exists():
        raise Refused("no_adjudicator")
    if not reason.strip():
        raise Refused("reason_needed")
    levels = set(case.criterion.levels.values_list("value", flat=True))
    if score is not None and score not in levels:
        raise Refused("not_a_level")
    before = case.decisions.filter(actor=user.opaque_id).order_by("-number").first()
    row = Decision.objects.create(
        case=case,
        actor=user.opaque_id,
        number=before.number + 1 if before else 1,
        score=score,
        reason=reason.strip(),
        at=at,
    )
    payload = {"case": case.code, "number": row.number}
    audit.record(panel=panel, kind="case_decided", payload=payload, actor=row.actor, at=at)
    return row


@dataclass(frozen=True)
class Voice:
    """One judge's score and reason; `who` is empty where adjudicators may not know."""

    who: str
    score: float | None
    missing: str
    rationale: str


@dataclass(frozen=True)
class CaseItem:
    """A case as its adjudicator may know it: no condition, and by the protocol no judge."""

    case: Case
    language: str
    parts: Sequence[tuple[str, str, str]]  # title and context of the dilemma, blinded response
    voices: Sequence[Voice]


def case_item(case: Case) -> CaseItem:
    """Return what an adjudicator reads (3 queries). Judges come in an order of the case's own."""
    panel = case.panel
    document = panel.protocol.document
    served = Slot.objects.filter(judge__panel=panel, response=case.response_id).first()
    texts = {
        stage: (title, context)
        for stage, title, context in DilemmaText.objects.filter(
            version__dilemma__responses=case.response_id,
            version__sealed_at__isnull=False,
            language=panel.content_language,
        )
        .order_by("version__number")
        .values_list("stage", "title", "context")
    }
    blinded = BlindedPart.objects.filter(blinding=served.blinding_id if served else None)
    parts = [
        (*texts.get(number, ("", "")), text)
        for number, text in blinded.order_by("number").values_list("number", "text")
    ]
    rows = (
        standing(panel)
        .filter(submission__slot__response=case.response_id, criterion=case.criterion_id)
        .order_by("submission__slot__judge")
        .values_list("submission__slot__judge__code", "score", "missing", "rationale")
    )
    named = document.get("adjudication_named", False)
    voices = [Voice(who if named else "", *said) for who, *said in rows]
    if not named:
        voices = stream(document["order_seed"], _VOICES, case.position).shuffled(voices)
    return CaseItem(case, panel.content_language, parts, voices)
