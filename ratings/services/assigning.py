"""Giving a judge what to read: the order is computed once, here, and stored."""

import secrets
from datetime import datetime

from django.db import transaction

from dilemmas.models import Blinding, Response
from ratings.design.extras import Place
from ratings.design.plan import Plan
from ratings.design.random64 import Random64
from ratings.models import Batch, Draft, Judge, Panel, Replacement, Slot
from ratings.services import audit
from ratings.services.errors import Refused
from ratings.services.ordering import dilemmas_for, plan_of

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
    plan = plan_of(panel)
    number = Judge.objects.filter(panel=panel, pk__lt=judge.pk).count()
    left_by = _seat_left(panel)
    if left_by is None:
        dilemmas = dilemmas_for(judge, plan, number=number)
        places = plan.places(number, dilemmas)
    else:  # the rest of that seat, in an order of this judge's own
        Replacement.objects.create(judge=judge, left_by=left_by, at=at)
        dilemmas, done = _of_the_seat(left_by)
        places = plan.places(number, dilemmas)
        places = [place for place in places if (place.key, place.occasion) not in done]
    practice = plan.practice_places(number)
    batches = _store(judge, panel, plan, practice, Batch.Phase.PRACTICE)
    batches += _store(judge, panel, plan, places, Batch.Phase.MAIN)
    payload = {
        "judge": judge.code,
        "number": number,
        "dilemmas": len(dilemmas),
        "slots": len(places),
        "practice": len(practice),
        "replaces": left_by.code if left_by else "",
        "algorithm": plan.algorithm,
    }
    audit.record(panel=panel, kind="judge_assigned", payload=payload, actor="", at=at)
    return batches


def _seat_left(panel: Panel) -> Judge | None:
    """Return who left first without anybody having taken the seat; None if nobody did."""
    left = Judge.objects.filter(panel=panel, withdrawn_at__isnull=False, replaced_by=None)
    return left.filter(batches__isnull=False).distinct().order_by("withdrawn_at", "pk").first()


def _of_the_seat(left_by: Judge) -> tuple[set[int], set[tuple[int, int]]]:
    """Return the dilemmas of a seat, and (response, occasion) of what was marked done there, by
    whoever has held it."""
    dilemmas: set[int] = set()
    done: set[tuple[int, int]] = set()
    judge: Judge | None = left_by
    while judge is not None:
        rows = Slot.objects.filter(judge=judge, batch__phase=Batch.Phase.MAIN)
        responses = rows.filter(response__kind=Response.Kind.RESPONSE)
        dilemmas |= set(responses.values_list("response__dilemma_id", flat=True))
        finished = rows.filter(submissions__isnull=False)
        done |= set(finished.values_list("response_id", "occasion"))
        before = Replacement.objects.filter(judge=judge).select_related("left_by").first()
        judge = before.left_by if before else None
    return dilemmas, done


def _drawn_for_all_rationales(plan: Plan[int]) -> set[int]:
    """One response per dilemma, the same for every judge, on which all criteria need a reason."""
    by_dilemma: dict[int, list[int]] = {}
    for dilemma, _, pk in plan.items:
        by_dilemma.setdefault(dilemma, []).append(pk)
    random = Random64(plan.seed ^ 0x5EED)
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
    judge: Judge, panel: Panel, plan: Plan[int], places: list[Place[int]], phase: Batch.Phase
) -> list[Batch]:
    document = panel.protocol.document
    size, rule = document["batch_size"], document["rationales"]
    blindings = _sealed_by_the_freeze(panel)
    drawn = _drawn_for_all_rationales(plan) if rule == "one" else set()
    batches, slots = [], []
    for number, start in enumerate(range(0, len(places), size), start=1):
        batch = Batch.objects.create(
            judge=judge,
            number=number,
            phase=phase,
            code=secrets.token_hex(8),
            rubric_version=panel.rubric_version,
            order_seed=str(plan.seed),
            algorithm=plan.algorithm,
        )
        batches.append(batch)
        for position, place in enumerate(places[start : start + size], start=1):
            wants_all = place.occasion == 1 and place.key in drawn
            slots.append(
                Slot(
                    batch=batch,
                    judge=judge,
                    position=position,
                    code=slot_code(),
                    response_id=place.key,
                    blinding_id=blindings[place.key],
                    occasion=place.occasion,
                    rationales=Slot.Rationales.ALL if wants_all else rule,
                )
            )
    Draft.objects.bulk_create(Draft(slot=slot) for slot in Slot.objects.bulk_create(slots))
    return batches
