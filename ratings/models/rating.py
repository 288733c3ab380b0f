"""What judges wrote: drafts (mutable), submissions and ratings (append-only), flags."""

from typing import ClassVar

from django.db import models

from dilemmas.models import Condition, Criterion
from ratings.models.panels import Panel
from ratings.models.serving import Slot


class Missing(models.TextChoices):
    """Why a criterion was not scored; the first six are a judge's answer «I cannot judge this»."""

    KNOWLEDGE = "knowledge"
    UNREADABLE = "unreadable"
    NOT_APPLICABLE = "not_applicable"
    BETWEEN = "between"
    PERSONAL = "personal"
    OTHER = "other"


class Draft(models.Model):
    """The working copy of one slot, one mutable row. Written by `ratings.services.judging.save`.

    `fields` maps a field's name to `{"value": …, "version": n, "client": …}`; `clients` maps a page
    load to the highest sequence number heard from it; `version` counts accepted changes.
    `opened_at` is when the page of the first change was made; `active_ms` is `pace.spent`.
    """

    slot = models.OneToOneField(Slot, on_delete=models.PROTECT, related_name="draft")
    version = models.PositiveIntegerField(default=0)
    fields = models.JSONField(default=dict)
    clients = models.JSONField(default=dict)
    last_client = models.CharField(max_length=40, blank=True)
    saved_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField(null=True)
    active_ms = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"draft of {self.slot_id}, version {self.version}"


class DraftCheckpoint(models.Model):
    """A kept version of a draft (a field left, a minute passed, a text that lost a conflict)."""

    class Reason(models.TextChoices):
        LEFT = "left"
        MINUTE = "minute"
        CONFLICT = "conflict"
        DONE = "done"

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="checkpoints")
    version = models.PositiveIntegerField()
    reason = models.CharField(max_length=10, choices=Reason)
    fields = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        ordering = ("slot", "id")

    def __str__(self) -> str:
        return f"{self.slot_id}.{self.version} {self.reason}"


class Submission(models.Model):
    """A response marked done. The last one before closing counts; none is ever changed.

    `draft_version` makes marking done idempotent: the same draft is submitted once. `opened_at` and
    `active_ms` are the draft's by then; null where nobody measured.
    """

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="submissions")
    number = models.PositiveIntegerField()
    draft_version = models.PositiveIntegerField(null=True)  # null: imported
    language = models.CharField(max_length=5, blank=True)  # the interface's, when it was written
    opened_at = models.DateTimeField(null=True)
    active_ms = models.PositiveBigIntegerField(null=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("slot", "number")
        constraints = (
            models.UniqueConstraint(fields=("slot", "number"), name="one_submission_number"),
            models.UniqueConstraint(
                fields=("slot", "draft_version"), name="one_submission_per_draft_version"
            ),
        )

    def __str__(self) -> str:
        return f"{self.slot_id}.{self.number}"


class RatingQuerySet(models.QuerySet["Rating"]):
    def newest_of(self, panel: Panel) -> "RatingQuerySet":
        """The panel's that stand: of the newest submission of each slot."""
        later = Submission.objects.filter(
            slot=models.OuterRef("submission__slot"),
            number__gt=models.OuterRef("submission__number"),
        )
        return self.filter(~models.Exists(later), submission__slot__judge__panel=panel)


class Rating(models.Model):
    """One score or one reason for none, on one criterion of one part (0 is the whole)."""

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="ratings")
    part = models.PositiveSmallIntegerField(default=0)
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    target = models.CharField(max_length=60, blank=True, default="")
    score = models.FloatField(null=True)
    missing = models.CharField(max_length=20, choices=Missing, blank=True, default="")
    missing_note = models.TextField(blank=True, default="")
    rationale = models.TextField(blank=True, default="")

    objects: ClassVar[RatingQuerySet] = RatingQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("submission", "part", "criterion")
        indexes = (
            models.Index(
                fields=("submission",),
                condition=~models.Q(missing=""),
                name="ratings_without_score",
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("submission", "part", "criterion", "target"),
                name="one_rating_per_criterion",
            ),
            models.CheckConstraint(
                condition=(
                    models.Q(score__isnull=False, missing="")
                    | (models.Q(score__isnull=True) & ~models.Q(missing=""))
                ),
                name="either_a_score_or_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.score}"


class Evidence(models.Model):
    """A passage of the response that a judge marked for a rating, as its words stand there.

    `part` and `start` say where it begins in the blinded text with runs of blanks as one; `start`
    is null if the words are not found there as they stand.
    """

    rating = models.ForeignKey(Rating, on_delete=models.PROTECT, related_name="evidence")
    number = models.PositiveSmallIntegerField()
    quotation = models.TextField()
    part = models.PositiveSmallIntegerField(null=True)
    start = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ("rating", "number")
        verbose_name_plural = "evidence"
        constraints = (
            models.UniqueConstraint(fields=("rating", "number"), name="one_passage_per_number"),
        )

    def __str__(self) -> str:
        return self.quotation


class Guess(models.Model):
    """Which condition a judge takes a response to be, asked after the last batch is locked.

    `condition` is null for «I don't know». A guess from the quality of a text is not a leak.
    """

    class Why(models.TextChoices):
        CODES = "codes"
        LAYOUT = "layout"
        WORDING = "wording"
        QUALITY = "quality"
        OTHER = "other"

    slot = models.OneToOneField(Slot, on_delete=models.PROTECT, related_name="guess")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, null=True, related_name="+")
    why = models.CharField(max_length=10, choices=Why, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("slot",)
        verbose_name_plural = "guesses"

    def __str__(self) -> str:
        return f"{self.slot_id}: {self.condition_id}"


class Flag(models.Model):
    """A judge's note to the coordinator about a response; other judges never see it."""

    class Kind(models.TextChoices):
        RECOGNISED = "recognised"
        DAMAGED = "damaged"
        DOUBTFUL_FACT = "doubtful_fact"
        CONFLICT = "conflict"
        ATTENTION = "attention"

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="flags")
    kind = models.CharField(max_length=20, choices=Kind)
    note = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("at", "id")

    def __str__(self) -> str:
        return self.kind
