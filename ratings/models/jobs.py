"""Long work as rows: what was asked, how far it is, what became of it; and uploads in waiting."""

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models

from ratings.models.panels import Panel


class JobQuerySet(models.QuerySet["Job"]):
    def stale(self, *, before: datetime) -> "JobQuerySet":
        """Running jobs whose worker has not been heard of since."""
        return self.filter(state=Job.State.RUNNING, heartbeat_at__lt=before)


class Job(models.Model):
    """One piece of long work. Written by `ratings.services.jobs`."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    kind = models.CharField(max_length=40)
    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, null=True, related_name="jobs")
    parameters = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    heartbeat_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects: ClassVar[JobQuerySet] = JobQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"


class Upload(models.Model):
    """A file between its preview and its confirmation.

    `parameters` say where it belongs (`target`, or what a study is called) and what was chosen
    (`update`, `repair`); `result` is what a worker's look at it, or its import, came to. Once
    imported it is empty, and goes with its expiry.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads"
    )
    kind = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    name = models.CharField(max_length=255)
    content = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    result = models.JSONField(null=True)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name
