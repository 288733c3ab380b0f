"""The audit trail: one hash chain per panel over submissions and coordinators' acts."""

from django.db import models

from ratings.models.panels import Panel


class AuditEvent(models.Model):
    """One event. `actor` is an opaque id, so that a person can be erased and the chain holds."""

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="events")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    actor = models.CharField(max_length=32, blank=True)
    kind = models.CharField(max_length=60)
    payload = models.TextField()  # canonical JSON, without personal data
    previous = models.CharField(max_length=64)
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ("panel", "number")
        constraints = (
            models.UniqueConstraint(fields=("panel", "number"), name="one_event_per_number"),
        )

    def __str__(self) -> str:
        return f"{self.panel_id}.{self.number} {self.kind}"
