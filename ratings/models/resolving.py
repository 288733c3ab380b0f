"""After closing: cases in which judges differed, and what adjudicators decided. Append-only.

A layer of its own: no coefficient, contrast or comparison reads it.
"""

from typing import ClassVar

from django.db import models

from awb_panel.accounts.models import User
from dilemmas.models import Criterion, Response
from ratings.models.panels import Panel


class CaseQuerySet(models.QuerySet["Case"]):
    def for_adjudicator(self, user: User) -> "CaseQuerySet":
        return self.filter(panel__memberships__user=user, panel__memberships__role="adjudicator")


class Case(models.Model):
    """One response on one criterion, picked by the registered rule; served in a random order."""

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="cases")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    code = models.CharField(max_length=16, unique=True)
    at = models.DateTimeField()

    objects: ClassVar[CaseQuerySet] = CaseQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("panel", "position")
        constraints = (
            models.UniqueConstraint(
                fields=("panel", "response", "criterion"), name="one_case_per_difference"
            ),
            models.UniqueConstraint(fields=("panel", "position"), name="one_case_per_position"),
        )

    def __str__(self) -> str:
        return self.code


class Decision(models.Model):
    """What an adjudicator decided and why; a null score says that it cannot be decided.

    The newest of an adjudicator counts. People are opaque ids, which stay when somebody is erased.
    """

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="decisions")
    actor = models.CharField(max_length=32)
    number = models.PositiveIntegerField()
    score = models.FloatField(null=True)
    reason = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering = ("case", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("case", "actor", "number"), name="one_decision_per_number"
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="decided_for_a_reason"),
        )

    def __str__(self) -> str:
        return f"{self.case_id}: {self.score}"
