"""How far a panel is: counts only, never a score. One definition of done (`Slot.with_progress`)."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Max, OuterRef, Q

from ratings.models import Batch, Draft, Flag, Judge, Panel, Rating, Slot, Submission


@dataclass(frozen=True)
class JudgeProgress:
    """One judge's counts. `cannot_judge` counts criteria of responses, as last submitted."""

    judge: Judge
    batches: int
    handed_in: int
    slots: int
    done: int
    drafts: int
    cannot_judge: int
    flags: int
    last_seen: datetime | None


def judge_progress(panel: Panel) -> list[JudgeProgress]:
    """Return a row per judge (6 queries, whatever the panel's size)."""
    batches = {
        judge: (total, handed)
        for judge, total, handed in Batch.objects.filter(judge__panel=panel, phase=Batch.Phase.MAIN)
        .values("judge")
        .annotate(total=Count("pk"), handed=Count("handed_in_at"))
        .order_by()
        .values_list("judge", "total", "handed")
    }
    slots = _slots(panel)
    missing = _cannot_judge(panel)
    flags = dict(
        Flag.objects.filter(slot__judge__panel=panel)
        .values_list("slot__judge")
        .annotate(n=Count("pk"))
        .order_by()
    )
    seen = dict(
        Draft.objects.filter(slot__judge__panel=panel)
        .values_list("slot__judge")
        .annotate(at=Max("saved_at"))
        .order_by()
    )
    rows = []
    for judge in Judge.objects.filter(panel=panel).order_by("pk"):
        total, handed = batches.get(judge.pk, (0, 0))
        places, done, drafts = slots.get(judge.pk, (0, 0, 0))
        rows.append(
            JudgeProgress(
                judge=judge,
                batches=total,
                handed_in=handed,
                slots=places,
                done=done,
                drafts=drafts,
                cannot_judge=missing.get(judge.pk, 0),
                flags=flags.get(judge.pk, 0),
                last_seen=seen.get(judge.pk),
            )
        )
    return rows


def _slots(panel: Panel) -> dict[int, tuple[int, int, int]]:
    """Judge → places, done, begun but not done."""
    rows = (
        Slot.objects.filter(judge__panel=panel, batch__phase=Batch.Phase.MAIN)
        .with_progress()  # type: ignore[attr-defined]
        .values("judge")
        .annotate(
            places=Count("pk"),
            done=Count("pk", filter=Q(is_done=True)),
            begun=Count("pk", filter=Q(is_done=False, is_started=True)),
        )
        .order_by()
        .values_list("judge", "places", "done", "begun")
    )
    return {judge: (places, done, begun) for judge, places, done, begun in rows}


def _cannot_judge(panel: Panel) -> dict[int, int]:
    later = Submission.objects.filter(
        slot=OuterRef("submission__slot"), number__gt=OuterRef("submission__number")
    )
    return dict(
        Rating.objects.filter(
            ~Exists(later),
            submission__slot__judge__panel=panel,
            submission__slot__batch__phase=Batch.Phase.MAIN,
        )
        .exclude(missing="")
        .values_list("submission__slot__judge")
        .annotate(n=Count("pk"))
        .order_by()
    )
