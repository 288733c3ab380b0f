"""The guess page: after the last batch is locked, which condition a response seems to come from."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from dilemmas.models import Condition, Response
from ratings.design.random64 import Random64
from ratings.models import Batch, Guess, Judge, Panel, Slot
from ratings.services import audit
from ratings.services.errors import Refused


def asked(judge: Judge) -> list[Slot]:
    """Return the slots that this judge is asked about: as many of each condition as can be.

    Drawn from the registered seed, so that asking again asks the same. Empty if the protocol asks
    for none, the judge has not finished, or has answered.
    """
    wanted = judge.panel.protocol.document.get("guesses", 0)
    if not wanted or judge.batches.filter(handed_in_at=None).exists():
        return []
    slots = list(
        judge.slots.filter(
            occasion=1, batch__phase=Batch.Phase.MAIN, response__kind=Response.Kind.RESPONSE
        )
        .select_related("response", "batch")
        .order_by("batch__number", "position")
    )
    if not slots or Guess.objects.filter(slot__in=slots).exists():
        return []
    seed = judge.panel.protocol.document["order_seed"] ^ judge.pk
    return _drawn(slots, wanted, seed=seed)


def _drawn(slots: Sequence[Slot], wanted: int, *, seed: int) -> list[Slot]:
    """Take one slot of each condition in turn, and give them back in the order they were served."""
    random = Random64(seed)
    by_condition: dict[int, list[Slot]] = {}
    for slot in slots:
        by_condition.setdefault(slot.response.condition_id, []).append(slot)
    piles = [random.shuffled(by_condition[key]) for key in sorted(by_condition)]
    rounds = [pile[n] for n in range(max(map(len, piles))) for pile in piles if n < len(pile)]
    chosen = {slot.pk for slot in rounds[:wanted]}
    return [slot for slot in slots if slot.pk in chosen]


@transaction.atomic
def guess(*, judge: Judge, answers: Mapping[int, tuple[str, str]], at: datetime) -> list[Guess]:
    """Keep a judge's guesses, once: slot → (condition's label or "", why or "").

    What is not answered counts as «I don't know». Raises `Refused` if nothing is asked (any more)
    or a label is none of the panel's.
    """
    panel = Panel.objects.select_for_update().get(pk=judge.panel_id)
    slots = asked(judge)
    if not slots:
        raise Refused("nothing_to_guess")
    conditions = {one.label: one for one in Condition.objects.judged(panel.response_set)}
    rows = []
    for slot in slots:
        label, why = answers.get(slot.pk, ("", ""))
        if (label and label not in conditions) or (why and why not in Guess.Why.values):
            raise Refused("unknown_condition")
        rows.append(Guess(slot=slot, condition=conditions.get(label), why=why, at=at))
    Guess.objects.bulk_create(rows)
    payload = {"judge": judge.code, "guesses": len(rows)}
    actor = judge.user.opaque_id if judge.user else ""
    audit.record(panel=panel, kind="conditions_guessed", payload=payload, actor=actor, at=at)
    return rows
