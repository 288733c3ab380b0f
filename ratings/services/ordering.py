"""The plan of a panel's orders: read from its protocol and its responses; nothing is written here."""

from collections import Counter
from collections.abc import Set

from dilemmas.models import Response
from ratings.design.plan import Plan
from ratings.models import Batch, Judge, Panel, Slot


def plan_of(panel: Panel) -> Plan[int]:
    """Return the plan, its items by dilemma's code, over what the freeze sealed; before it, over all
    responses of the set that nobody has held back.
    """
    document = panel.protocol.document
    kept = Response.objects.kept()  # type: ignore[attr-defined]
    responses = kept.filter(response_set=panel.response_set_id)
    freeze = getattr(panel, "freeze", None)
    if freeze is not None:  # what was imported later is no part of the panel
        responses = responses.filter(versions__blindings__sealed_at__lte=freeze.at).distinct()
    rows = list(
        responses.order_by("dilemma__code", "pk").values_list(
            "kind", "dilemma_id", "condition_id", "pk"
        )
    )
    return Plan(
        items=[row[1:] for row in rows if row[0] == Response.Kind.RESPONSE],
        algorithm=document["order"],
        seed=document["order_seed"],
        judges=document["judges_planned"],
        each=document.get("judges_per_response") or document["judges_planned"],
        repeats=document.get("repeats", 0),
        controls=sorted(row[3] for row in rows if row[0] == Response.Kind.CONTROL),
        practice=sorted(row[3] for row in rows if row[0] == Response.Kind.PRACTICE)
        if document.get("practice")
        else (),
    )


def dilemmas_for(judge: Judge, plan: Plan[int], *, number: int) -> Set[int]:
    """Return whose dilemmas the judge takes over: those of the first seat that nobody holds.

    Judges who come one after another sit down in the planned sequence; who replaces a judge that
    has withdrawn takes that seat; who comes when all are held shares one.
    """
    seats = plan.seats()
    held: dict[int, set[int]] = {}
    slots = Slot.objects.filter(
        judge__panel=judge.panel_id,
        judge__withdrawn_at=None,
        batch__phase=Batch.Phase.MAIN,
        response__kind=Response.Kind.RESPONSE,
    )
    for other, dilemma in slots.values_list("judge_id", "response__dilemma_id").distinct():
        held.setdefault(other, set()).add(dilemma)
    taken = Counter(map(frozenset, held.values()))
    for seat in seats:
        if taken[seat] == 0:
            return seat
        taken[seat] -= 1
    return seats[number % len(seats)]
