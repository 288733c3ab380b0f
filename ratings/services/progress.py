"""How far a panel is: counts only, never a score. One definition of done (`Slot.with_progress`)."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from ratings.models import Batch, Draft, Flag, Judge, Panel, Slot


@dataclass(frozen=True)
class JudgeProgress:
    judge: Judge
    batches: int
    handed_in: int
    slots: int
    done: int
    drafts: int
    flags: int
    last_seen: datetime | None


def judge_progress(panel: Panel) -> list[JudgeProgress]:
    """Return a row per judge (5 queries, whatever the panel's size)."""
    judges = list(Judge.objects.filter(panel=panel).order_by("pk"))
    of_panel = {"judge__panel": panel}
    batches = {
        row["judge"]: row
        for row in Batch.objects.filter(**of_panel)
        .values("judge")
        .annotate(n=Count("pk"), handed=Count("handed_in_at"))
    }
    counts: dict[int, list[int]] = {}
    slots = Slot.objects.filter(**of_panel, batch__phase=Batch.Phase.MAIN)
    for judge, is_done, is_started in slots.with_progress().values_list(
        "judge", "is_done", "is_started"
    ):
        row = counts.setdefault(judge, [0, 0, 0])
        row[0] += 1
        row[1] += int(is_done)
        row[2] += int(is_started and not is_done)
    flags = dict(
        Flag.objects.filter(slot__judge__panel=panel)
        .values_list("slot__judge")
        .annotate(n=Count("pk"))
    )
    seen = dict(
        Draft.objects.filter(slot__judge__panel=panel)
        .values_list("slot__judge")
        .annotate(at=Max("saved_at"))
    )
    rows = []
    for judge in judges:
        of_judge = batches.get(judge.pk)
        total, done, drafts = counts.get(judge.pk, [0, 0, 0])
        rows.append(
            JudgeProgress(
                judge=judge,
                batches=of_judge["n"] if of_judge else 0,
                handed_in=of_judge["handed"] if of_judge else 0,
                slots=total,
                done=done,
                drafts=drafts,
                flags=flags.get(judge.pk, 0),
                last_seen=seen.get(judge.pk),
            )
        )
    return rows
