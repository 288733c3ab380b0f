"""Giving a judge what to read: the order is computed once, here, and stored."""

import secrets
from datetime import datetime

from django.db import transaction

from dilemmas.models import Blinding, Response
from ratings.design.latin import serving_orders
from ratings.design.random64 import Random64
from ratings.models import Batch, Draft, Judge, Panel, Slot
from ratings.services import audit
from ratings.services.errors import Refused

ALGORITHM = "latin-1"
_CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def slot_code() -> str:
    """Return a random code that people can read aloud; it says nothing about the response."""
    return "".join(secrets.choice(_CODE_ALPHABET) for _ in range(8))


@transaction.atomic
def assign(*, judge: Judge, at: datetime) -> list[Batch]:
    """Store the judge's batches and slots. Calling it again changes nothing.

    Raises `Refused` if the panel is not open.
    """
    panel = Panel.objects.select_for_update().get(pk=judge.panel_id)
    if panel.state != Panel.State.OPEN:
        raise Refused("panel_not_open")
    existing = list(judge.batches.all())
    if existing:
        return existing
    document = panel.protocol.document
    blindings = _sealed_by_the_freeze(panel)
    responses = list(
        Response.objects.filter(pk__in=blindings, kind=Response.Kind.RESPONSE)
        .order_by("dilemma__code", "pk")
        .values_list("dilemma_id", "condition_id", "pk")
    )
    seat = Judge.objects.filter(panel=panel, pk__lt=judge.pk).count()
    judges = max(document["judges_planned"], seat + 1)
    order = serving_orders(responses, judges=judges, seed=document["order_seed"])[seat]
    drawn = _drawn_for_all_rationales(responses, seed=document["order_seed"])
    batches = _store(judge, panel, order, drawn, blindings)
    payload = {"judge": judge.code, "slots": len(order), "algorithm": ALGORITHM}
    audit.record(panel=panel, kind="judge_assigned", payload=payload, actor="", at=at)
    return batches


def _drawn_for_all_rationales(responses: list[tuple[int, int, int]], *, seed: int) -> set[int]:
    """One response per dilemma, the same for every judge, on which all criteria need a reason."""
    by_dilemma: dict[int, list[int]] = {}
    for dilemma, _, pk in responses:
        by_dilemma.setdefault(dilemma, []).append(pk)
    random = Random64(seed ^ 0x5EED)
    return {pks[random.below(len(pks))] for pks in by_dilemma.values()}


def _sealed_by_the_freeze(panel: Panel) -> dict[int, int]:
    """Return response → blinding as fixed; what was imported later is no part of the panel."""
    rows = (
        Blinding.objects.filter(
            version__response__response_set=panel.response_set, sealed_at__lte=panel.freeze.at
        )
        .order_by("number")
        .values_list("version__response_id", "pk")
    )
    return dict(rows)


def _store(
    judge: Judge, panel: Panel, order: list[int], drawn: set[int], blindings: dict[int, int]
) -> list[Batch]:
    document = panel.protocol.document
    size = document["batch_size"]
    batches, slots = [], []
    for number, start in enumerate(range(0, len(order), size), start=1):
        batch = Batch.objects.create(
            judge=judge,
            number=number,
            code=secrets.token_hex(8),
            rubric_version=panel.rubric_version,
            order_seed=str(document["order_seed"]),
            algorithm=ALGORITHM,
        )
        batches.append(batch)
        for position, response in enumerate(order[start : start + size], start=1):
            rule = document["rationales"]
            slots.append(
                Slot(
                    batch=batch,
                    judge=judge,
                    position=position,
                    code=slot_code(),
                    response_id=response,
                    blinding_id=blindings[response],
                    rationales="all" if rule == "one" and response in drawn else rule,
                )
            )
    Draft.objects.bulk_create(Draft(slot=slot) for slot in Slot.objects.bulk_create(slots))
    return batches
