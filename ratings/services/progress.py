"""How far a panel is: counts only, never a score. One definition of done (`Slot.with_progress`)."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Min, Q, Sum

from ratings.models import (
    Batch,
    Flag,
    Judge,
    Panel,
    Rating,
    Reopening,
    Slot,
    Submission,
)


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
    active: timedelta = timedelta()
    first_done: datetime | None = None
    reopened: int = 0

    @property
    def owed(self) -> int:
        return self.slots - self.done

    @property
    def minutes_each(self) -> float | None:
        """Minutes of work a response so far; None before five are done."""
        return self.active.total_seconds() / 60 / self.done if self.done >= 5 else None

    def projected_end(self, now: datetime) -> datetime | None:
        """Return when the rest may be done at the pace so far; None before it can be told."""
        if self.judge.withdrawn_at or not self.owed or self.first_done is None or self.done < 5:
            return None
        spent = now - self.first_done
        return now + spent * (self.owed / self.done)


def judge_progress(
    panel: Panel, judge: Judge | None = None, *, with_pace: bool = False
) -> list[JudgeProgress]:
    """Return a row per judge, or one judge's (7 queries, whatever the panel's size).

    `first_done`, from which the end is projected, is looked up only `with_pace`.
    """
    of = {"pk": judge.pk} if judge else {}
    batches = {
        judge: (total, handed)
        for judge, total, handed in Batch.objects.filter(judge__panel=panel, phase=Batch.Phase.MAIN)
        .values("judge")
        .annotate(total=Count("pk"), handed=Count("handed_in_at"))
        .order_by()
        .values_list("judge", "total", "handed")
    }
    slots = _slots(panel, judge)
    missing = _cannot_judge(panel)
    flags = dict(
        Flag.objects.filter(slot__judge__panel=panel)
        .values_list("slot__judge")
        .annotate(n=Count("pk"))
        .order_by()
    )
    first = _first_done(panel) if with_pace else {}
    reopened = Counter(
        Reopening.objects.filter(slot__judge__panel=panel)
        .waiting()  # type: ignore[attr-defined]
        .values_list("slot__judge", flat=True)
    )
    rows = []
    for judge in Judge.objects.filter(panel=panel, **of).order_by("pk"):
        total, handed = batches.get(judge.pk, (0, 0))
        places, done, drafts, seen, active = slots.get(judge.pk, (0, 0, 0, None, 0))
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
                last_seen=seen,
                active=timedelta(milliseconds=active),
                first_done=first.get(judge.pk),
                reopened=reopened[judge.pk],
            )
        )
    return rows


def _first_done(panel: Panel) -> dict[int, datetime]:
    return dict(
        Submission.objects.filter(
            slot__judge__panel=panel, slot__batch__phase=Batch.Phase.MAIN, number=1
        )
        .values_list("slot__judge")
        .annotate(at=Min("at"))
        .order_by()
    )


def _slots(
    panel: Panel, judge: Judge | None
) -> dict[int, tuple[int, int, int, datetime | None, int]]:
    """Judge → places, done, begun but not done, when a text was last saved, milliseconds of work."""
    of = {"judge": judge} if judge else {}
    rows = (
        Slot.objects.filter(judge__panel=panel, batch__phase=Batch.Phase.MAIN, **of)
        .with_progress()  # type: ignore[attr-defined]
        .filter(is_taken_out=False)
        .values("judge")
        .annotate(
            places=Count("pk"),
            done=Count("pk", filter=Q(is_done=True)),
            started=Count("pk", filter=Q(is_started=True)),
            seen=Max("draft__saved_at"),
            active=Sum("draft__active_ms", default=0),
        )
        .order_by()
        .values_list("judge", "places", "done", "started", "seen", "active")
    )
    # What is done was started: asking of each place once more whether it is done costs as much again.
    return {
        judge: (places, done, max(0, started - done), seen, active)
        for judge, places, done, started, seen, active in rows
    }


def _cannot_judge(panel: Panel) -> dict[int, int]:
    return dict(
        Rating.objects.newest_of(panel)
        .filter(submission__slot__batch__phase=Batch.Phase.MAIN)
        .exclude(missing="")
        .values_list("submission__slot__judge")
        .annotate(n=Count("pk"))
        .order_by()
    )


@dataclass(frozen=True)
class Part:
    """How far one batch of a judge, or one dilemma over all judges, is."""

    label: str
    done: int
    slots: int
    handed_in_at: datetime | None = None


def batch_progress(panel: Panel) -> dict[int, list[Part]]:
    """Return each judge's batches (1 query)."""
    rows = (
        Slot.objects.filter(judge__panel=panel, batch__phase=Batch.Phase.MAIN)
        .with_progress()  # type: ignore[attr-defined]
        .filter(is_taken_out=False)
        .values("judge", "batch__number", "batch__handed_in_at")
        .annotate(places=Count("pk"), done=Count("pk", filter=Q(is_done=True)))
        .order_by("judge", "batch__number")
    )
    found: dict[int, list[Part]] = {}
    for row in rows:
        part = Part(
            str(row["batch__number"]), row["done"], row["places"], row["batch__handed_in_at"]
        )
        found.setdefault(row["judge"], []).append(part)
    return found


def dilemma_progress(panel: Panel) -> list[Part]:
    """Return each dilemma over all judges who are here (1 query)."""
    rows = (
        Slot.objects.filter(
            judge__panel=panel, batch__phase=Batch.Phase.MAIN, judge__withdrawn_at=None
        )
        .with_progress()  # type: ignore[attr-defined]
        .filter(is_taken_out=False)
        .values("response__dilemma__code")
        .annotate(places=Count("pk"), done=Count("pk", filter=Q(is_done=True)))
        .order_by("response__dilemma__code")
    )
    return [Part(row["response__dilemma__code"], row["done"], row["places"]) for row in rows]
