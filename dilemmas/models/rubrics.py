"""Rubrics: versioned criteria, each a scale whose levels are written out, per language."""

from django.conf import settings
from django.db import models


class Rubric(models.Model):
    code = models.SlugField(max_length=100, unique=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.code


class RubricVersion(models.Model):
    """One version of a rubric. A change of a sealed one is another version."""

    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=100, blank=True)
    provenance = models.TextField(blank=True)
    content_sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    sealed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("rubric", "number")
        constraints = (
            models.UniqueConstraint(fields=("rubric", "number"), name="one_rubric_version"),
        )

    def __str__(self) -> str:
        return f"{self.rubric_id}.{self.number}"


class RubricText(models.Model):
    """What one language says of the whole rubric.

    `norms` stand beside the criteria; `instructions` (Markdown) are the judges' first page, with a
    worked example of each criterion.
    """

    version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="texts")
    language = models.CharField(max_length=16)
    title = models.CharField(max_length=300, blank=True)
    norms = models.TextField(blank=True)
    instructions = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("version", "language"), name="one_rubric_text"),
        )

    def __str__(self) -> str:
        return self.title


class Criterion(models.Model):
    class Kind(models.TextChoices):
        ORDINAL = "ordinal"
        YES_NO = "yes_no"
        CHOICE = "choice"
        NUMBER = "number"
        TAG = "tag"  # yes/no with a quotation

    class Scope(models.TextChoices):
        WHOLE = "whole"
        PART = "part"

    version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="criteria")
    key = models.CharField(max_length=100)
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.ORDINAL)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.WHOLE)
    asks_rationale = models.BooleanField(default=True)
    # {"stages": [1, 2], "text": {"en": "…"}}: where it is asked (everywhere if none is named), and
    # in words, for judges, when it applies.
    applicability = models.JSONField(default=dict, blank=True)
    # The two neighbouring levels that the texts' `boundary` tells apart; null where none is named.
    boundary_lower = models.FloatField(null=True)
    boundary_upper = models.FloatField(null=True)

    class Meta:
        ordering = ("version", "position")
        constraints = (
            models.UniqueConstraint(fields=("version", "key"), name="one_criterion_per_key"),
            models.UniqueConstraint(
                fields=("version", "position"), name="one_criterion_per_position"
            ),
        )

    def __str__(self) -> str:
        return self.key


class CriterionText(models.Model):
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="texts")
    language = models.CharField(max_length=16)
    name = models.CharField(max_length=200)
    question = models.TextField(blank=True)
    boundary = models.TextField(blank=True)  # what separates the two levels that judges mix up

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("criterion", "language"), name="one_criterion_text"),
        )

    def __str__(self) -> str:
        return self.name


class Level(models.Model):
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="levels")
    value = models.FloatField()

    class Meta:
        ordering = ("criterion", "value")
        constraints = (
            models.UniqueConstraint(fields=("criterion", "value"), name="one_level_per_value"),
        )

    def __str__(self) -> str:
        return f"{self.value:g}"


class LevelText(models.Model):
    """`short` stands beside the radio button (at most 60 characters), `full` under «More»."""

    level = models.ForeignKey(Level, on_delete=models.CASCADE, related_name="texts")
    language = models.CharField(max_length=16)
    short = models.CharField(max_length=60, blank=True)
    full = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("level", "language"), name="one_level_text"),
        )

    def __str__(self) -> str:
        return self.short
