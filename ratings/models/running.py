"""While a panel is open: answers to flags, responses opened again, responses taken out. Append-only."""

from typing import ClassVar

from django.db import models

from awb_panel.accounts.models import User
from dilemmas.models import Response
from ratings.models.panels import Panel
from ratings.models.people import Judge
from ratings.models.rating import Flag
from ratings.models.serving import Slot


class FlagReply(models.Model):
    """What a coordinator did about a flag; the newest says its state. None without any is open."""

    class State(models.TextChoices):
        LOOKING = "looking"
        ANSWERED = "answered"
        SETTLED = "settled"

    flag = models.ForeignKey(Flag, on_delete=models.PROTECT, related_name="replies")
    state = models.CharField(max_length=10, choices=State)
    text = models.TextField(blank=True)  # to the judge, in the panel's language
    actor = models.CharField(max_length=32, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("flag", "id")

    def __str__(self) -> str:
        return f"{self.flag_id}: {self.state}"


class ReopeningQuerySet(models.QuerySet["Reopening"]):
    def waiting(self) -> "ReopeningQuerySet":
        """Those after which the judge has not marked the response done again."""
        from django.db.models.functions import Coalesce

        from ratings.models.rating import Submission

        newest = (
            Submission.objects.filter(slot=models.OuterRef("slot"))
            .order_by("-number")
            .values("number")[:1]
        )
        return self.annotate(newest=Coalesce(models.Subquery(newest), 0)).filter(
            after_number__gte=models.F("newest")
        )

    def for_judge(self, user: User) -> "ReopeningQuerySet":
        return self.filter(slot__judge__user=user, slot__judge__withdrawn_at=None)


class Reopening(models.Model):
    """One response opened again for one judge, after its batch was handed in.

    It may be marked done once more: the submission after `after_number` closes it. Both count as
    versions, and the newest is what counts.
    """

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="reopenings")
    after_number = models.PositiveIntegerField()
    reason = models.TextField()
    actor = models.CharField(max_length=32, blank=True)
    at = models.DateTimeField()

    objects: ClassVar[ReopeningQuerySet] = ReopeningQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("slot", "id")

    def __str__(self) -> str:
        return f"{self.slot_id} after {self.after_number}"


class Withdrawal(models.Model):
    """A response taken out of a panel for a reason: nobody rates it any more, no figure has it.

    What was written of it stays, and is exported.
    """

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="withdrawals")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="withdrawals")
    reason = models.TextField()
    actor = models.CharField(max_length=32, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("panel", "id")
        constraints = (
            models.UniqueConstraint(fields=("panel", "response"), name="one_withdrawal"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="withdrawn_for_a_reason"),
        )

    def __str__(self) -> str:
        return f"{self.response_id}: {self.reason}"


class Replacement(models.Model):
    """A judge who took over what another left undone; each seat is taken over once, for good."""

    judge = models.OneToOneField(Judge, on_delete=models.PROTECT, related_name="replacement_of")
    left_by = models.OneToOneField(Judge, on_delete=models.PROTECT, related_name="replaced_by")
    at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.judge_id} for {self.left_by_id}"


class ReminderRule(models.Model):
    """After how many silent days judges are reminded; the newest counts, 0 is never. Append-only."""

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="reminder_rules")
    days = models.PositiveSmallIntegerField()
    actor = models.CharField(max_length=32)
    at = models.DateTimeField()

    class Meta:
        ordering = ("panel", "id")
        constraints = (
            models.CheckConstraint(
                condition=models.Q(days=0) | models.Q(days__gte=7), name="at_most_weekly"
            ),
        )

    def __str__(self) -> str:
        return f"{self.panel_id}: {self.days}"
