"""What a judge is served, in which order: batches and their slots, stored once and never recomputed."""

from typing import Any, ClassVar

from django.apps import apps
from django.db import models

from awb_panel.accounts.models import User
from dilemmas.models import Blinding, Response, RubricVersion
from ratings.models.people import Judge


class BatchQuerySet(models.QuerySet["Batch"]):
    def for_judge(self, user: User) -> "BatchQuerySet":
        """The person's own batches in panels where the person still is a judge."""
        return self.filter(judge__user=user, judge__withdrawn_at=None)

    def practice_left(self, judge: "Judge | models.OuterRef") -> "BatchQuerySet":
        """What the judge still has to practise before the study begins."""
        return self.filter(judge=judge, phase=Batch.Phase.PRACTICE, handed_in_at=None)


class Batch(models.Model):
    """An ordered set of slots for one judge, in one phase, under one rubric.

    `code` is what URLs carry. `order_seed` and `algorithm` say how the order came about;
    an imported study's order is unknown (`algorithm` says so).
    """

    class Phase(models.TextChoices):
        PRACTICE = "practice"
        MAIN = "main"

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="batches")
    number = models.PositiveIntegerField()
    code = models.CharField(max_length=32, unique=True)
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.MAIN)
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="+")
    order_seed = models.CharField(max_length=64, blank=True)
    algorithm = models.CharField(max_length=40)
    created_at = models.DateTimeField(auto_now_add=True)
    handed_in_at = models.DateTimeField(null=True)

    has_practice_left: bool  # annotated by `permissions.batch_for`

    objects: ClassVar[BatchQuerySet] = BatchQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("judge", "-phase", "number")  # practice comes first
        constraints = (
            models.UniqueConstraint(fields=("judge", "phase", "number"), name="one_batch_number"),
        )

    def __str__(self) -> str:
        return self.code


class SlotQuerySet(models.QuerySet["Slot"]):
    def with_progress(self) -> "models.QuerySet[Any]":
        """Annotate `is_done`, `is_started`, `is_taken_out` and `is_owed` (bool): the one definition of
        progress. Done means that the newest submission is of the draft as it stands: versions only
        grow, so it is enough that one is. A response that was taken out is owed by nobody.
        """
        submission = apps.get_model("ratings", "Submission")
        as_it_stands = submission.objects.filter(
            slot=models.OuterRef("pk"), draft_version=models.OuterRef("draft__version")
        )
        taken_out = apps.get_model("ratings", "Withdrawal").objects.filter(
            panel=models.OuterRef("judge__panel"), response=models.OuterRef("response")
        )
        return self.annotate(
            is_taken_out=models.Exists(taken_out),
            is_done=models.Exists(as_it_stands),
            is_started=models.Case(
                models.When(draft__version__gt=0, then=True),
                default=False,
                output_field=models.BooleanField(),
            ),
            is_owed=models.Case(
                models.When(is_taken_out=True, then=False),
                models.When(is_done=True, then=False),
                default=True,
                output_field=models.BooleanField(),
            ),
        )

    def for_judge(self, user: User) -> "SlotQuerySet":
        return self.filter(batch__judge__user=user, batch__judge__withdrawn_at=None)


class Slot(models.Model):
    """One place in a batch. `code` is random per slot, so that judges cannot compare notes."""

    class Rationales(models.TextChoices):
        """How many criteria need a reason here; fixed by the protocol, drawn at assignment."""

        NONE = "none"
        ONE = "one"
        ALL = "all"

    class Kind(models.TextChoices):
        RESPONSE = "response"
        PAIR = "pair"
        QUESTION = "question"

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="slots")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="slots")
    position = models.PositiveIntegerField()
    code = models.CharField(max_length=16, unique=True)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.RESPONSE)
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    blinding = models.ForeignKey(Blinding, on_delete=models.PROTECT, related_name="+")
    occasion = models.PositiveSmallIntegerField(default=1)
    rationales = models.CharField(max_length=4, choices=Rationales, default=Rationales.ONE)

    has_consent: bool  # annotated by `permissions.slot_for`, as is the next
    of: int  # how many places the batch has, annotated likewise
    is_reopened: bool  # opened again after its batch was handed in
    was_taken_out: bool  # of the panel
    has_practice_left: bool  # the practice round is not handed in
    has_unread: bool  # a clarification to all judges that this one has not confirmed

    objects: ClassVar[SlotQuerySet] = SlotQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("batch", "position")
        constraints = (
            models.UniqueConstraint(fields=("batch", "position"), name="one_slot_per_position"),
            models.UniqueConstraint(
                fields=("judge", "response", "occasion"), name="one_slot_per_occasion"
            ),
        )

    def __str__(self) -> str:
        return self.code
