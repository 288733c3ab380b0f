"""Where content came from: an append-only chain, whose head a panel takes up at its freeze."""

from django.db import models


class Provenance(models.Model):
    """One act on content (an import, a blinding decision). Written by `services.provenance`."""

    number = models.PositiveIntegerField(unique=True)
    at = models.DateTimeField()
    actor = models.CharField(max_length=32, blank=True)  # a person's opaque id
    kind = models.CharField(max_length=60)
    payload = models.TextField()  # canonical JSON
    previous = models.CharField(max_length=64)
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ("number",)

    def __str__(self) -> str:
        return f"{self.number} {self.kind}"
