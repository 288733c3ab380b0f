"""What is said to all judges after the freeze: dated, never changed, shown to each until read."""

from typing import ClassVar

from django.db import models

from ratings.models.panels import Panel
from ratings.models.people import Judge


class ClarificationQuerySet(models.QuerySet["Clarification"]):
    def unread_by(self, judge: Judge) -> "ClarificationQuerySet":
        """What was said to this judge's panel and not confirmed as read."""
        return self.filter(panel=judge.panel_id).exclude(readings__judge=judge)


class Clarification(models.Model):
    """A dated clarification to every judge of a panel, in its content language."""

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="clarifications")
    number = models.PositiveIntegerField()
    text = models.TextField()
    at = models.DateTimeField()

    objects: ClassVar[ClarificationQuerySet] = ClarificationQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("panel", "number")
        constraints = (
            models.UniqueConstraint(fields=("panel", "number"), name="one_clarification_number"),
        )

    def __str__(self) -> str:
        return f"{self.panel_id}.{self.number}"


class ClarificationReading(models.Model):
    """A judge confirmed having read a clarification."""

    clarification = models.ForeignKey(
        Clarification, on_delete=models.PROTECT, related_name="readings"
    )
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("clarification", "judge")
        constraints = (
            models.UniqueConstraint(
                fields=("clarification", "judge"), name="one_reading_per_judge"
            ),
        )

    def __str__(self) -> str:
        return f"{self.clarification_id} by {self.judge_id}"
