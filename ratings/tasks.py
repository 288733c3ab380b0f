"""The queue: asking for a job, running it, and queueing it again. Which work exists is listed here."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django_tasks import task

from ratings.models import Job, Panel, Upload
from ratings.services import jobs, planning, uploads
from ratings.services.reporting import compute_report


def _report(job: Job, progress: Callable[[int, int], None]) -> None:
    assert job.panel is not None
    compute_report(
        panel=job.panel,
        reason=job.parameters.get("reason", ""),
        at=timezone.now(),
        progress=progress,
    )


def _import(job: Job, progress: Callable[[int, int], None]) -> None:
    upload = Upload.objects.select_related("owner").filter(pk=job.parameters["upload"]).first()
    if upload is not None:  # else it has expired: there is nobody to tell
        uploads.work(upload=upload, act=job.parameters["act"], at=timezone.now(), progress=progress)


def _plan(job: Job, progress: Callable[[int, int], None]) -> None:
    assert job.panel is not None
    planning.attach_plan(
        panel=Panel.objects.select_related("protocol").get(pk=job.panel.pk),
        shares=job.parameters.get("shares", ()),
        actor=job.parameters.get("actor", ""),
        at=timezone.now(),
        progress=progress,
    )


WORKS: dict[str, jobs.Work] = {"report": _report, "import": _import, "plan": _plan}


@task()
def run_job(job_id: int) -> None:
    if jobs.run(job_id=job_id, works=WORKS):
        run_job.enqueue(job_id)


@transaction.atomic
def ask(*, kind: str, panel: Panel | None = None, parameters: dict[str, Any] | None = None) -> Job:
    """Queue a job; one of its kind that is unfinished is returned instead."""
    job, is_new = jobs.ask(kind=kind, panel=panel, parameters=parameters)
    if is_new:
        run_job.enqueue(job.pk)
    return job


def reap(*, at: datetime) -> int:
    """Queue again what dead workers left behind; return how many."""
    released = jobs.reap(at=at)
    for job_id in released:
        run_job.enqueue(job_id)
    return len(released)
