"""Reports: immutable computed snapshots; and what was published of them."""

from django.db import models

from ratings.models.panels import Panel


class Report(models.Model):
    """One JSON document and its SHA-256; every page and file is rendered from it alone."""

    class Verdict(models.TextChoices):
        MET = "met"
        NOT_MET = "not_met"
        UNDECIDABLE = "undecidable"
        NONE = "none"  # imported: there was no gate

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="reports")
    number = models.PositiveIntegerField()
    document = models.TextField()  # canonical JSON
    sha256 = models.CharField(max_length=64)
    inputs_sha256 = models.CharField(max_length=64)
    verdict = models.CharField(max_length=12, choices=Verdict)  # as in the document
    reason = models.TextField(blank=True)  # why it was computed again
    at = models.DateTimeField()

    class Meta:
        ordering = ("panel", "number")
        constraints = (
            models.UniqueConstraint(fields=("panel", "number"), name="one_report_number"),
        )

    def __str__(self) -> str:
        return f"{self.panel_id}.{self.number}"


class Publication(models.Model):
    class Kind(models.TextChoices):
        V1 = "v1"
        MISSED_GATE = "missed_gate"
        NOT_REGISTERED = "not_registered"

    panel = models.OneToOneField(Panel, on_delete=models.PROTECT, related_name="publication")
    report = models.ForeignKey(Report, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=20, choices=Kind)
    at = models.DateTimeField()
    actor = models.CharField(max_length=32)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(kind__in=("v1", "missed_gate", "not_registered")),
                name="known_publication_kind",
            ),
        )

    def __str__(self) -> str:
        return self.kind
