"""Dilemmas: a code in a collection, versioned texts per language and stage."""

from django.db import models


class Collection(models.Model):
    """A named body of dilemmas; an imported study makes one of its own."""

    name = models.CharField(max_length=100, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Dilemma(models.Model):
    """A dilemma's identity. Its family never follows from its number."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="dilemmas")
    code = models.CharField(max_length=200)

    class Meta:
        ordering = ("code", "id")
        constraints = (
            models.UniqueConstraint(fields=("collection", "code"), name="one_dilemma_per_code"),
        )

    def __str__(self) -> str:
        return self.code


class DilemmaVersion(models.Model):
    """One version of a dilemma. Written by `dilemmas.services.importing`; sealed by a freeze."""

    AXES = ("D1", "D2", "D3", "D4")
    COMPONENTS = (
        "prosocial",
        "emotional_regulation",
        "self_reflection",
        "divergent_perspectives",
        "decisiveness",
        "social_advising",
        "spirituality",
    )

    dilemma = models.ForeignKey(Dilemma, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    family = models.CharField(max_length=100, blank=True)
    # Masks of the 100-point rubric. No judge's page may load them; the public's only after closing.
    required_axes = models.JSONField(default=list, blank=True)
    required_components = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    sealed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("dilemma", "number")
        constraints = (
            models.UniqueConstraint(fields=("dilemma", "number"), name="one_dilemma_version"),
        )

    def __str__(self) -> str:
        return f"{self.dilemma_id}.{self.number}"


class DilemmaText(models.Model):
    """What one language says of one stage (1 for a plain dilemma). Judges read title and context."""

    version = models.ForeignKey(DilemmaVersion, on_delete=models.CASCADE, related_name="texts")
    language = models.CharField(max_length=16)
    stage = models.PositiveSmallIntegerField(default=1)
    title = models.TextField(blank=True)
    context = models.TextField(blank=True)
    actors = models.TextField(blank=True)
    costs = models.TextField(blank=True)

    class Meta:
        ordering = ("version", "language", "stage")
        constraints = (
            models.UniqueConstraint(
                fields=("version", "language", "stage"), name="one_text_per_language_and_stage"
            ),
            models.CheckConstraint(condition=models.Q(stage__gte=1), name="stages_count_from_one"),
        )

    def __str__(self) -> str:
        return self.title
