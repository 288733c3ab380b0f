"""Long work: asked for in the web process, done by a worker, with progress, retries and a reaper."""

import logging
import threading
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone

from ratings.models import Job, Panel
from ratings.services.errors import Refused

ATTEMPTS = 3
SILENCE = timedelta(seconds=90)  # a running job that is silent for longer has lost its worker
_BEAT_S = 10.0
Work = Callable[[Job, Callable[[int, int], None]], None]
logger = logging.getLogger(__name__)


def ask(
    *, kind: str, panel: Panel | None, parameters: dict[str, Any] | None = None
) -> tuple[Job, bool]:
    """Return the unfinished job of this kind, or a new waiting one, and whether it is new.

    A panel has one at a time; without a panel, jobs with other parameters are other jobs.
    """
    with transaction.atomic():
        alike = Job.objects.filter(kind=kind, panel=panel)
        if panel is not None:
            Panel.objects.select_for_update().get(pk=panel.pk)
        else:
            alike = alike.filter(parameters=parameters or {})
        unfinished = alike.filter(state__in=(Job.State.WAITING, Job.State.RUNNING)).first()
        if unfinished is not None:
            return unfinished, False
        return Job.objects.create(kind=kind, panel=panel, parameters=parameters or {}), True


def run(*, job_id: int, works: dict[str, Work]) -> bool:
    """Run a waiting job and return whether it is to be tried again.

    A failure is retried until `ATTEMPTS`; a refusal is final.
    """
    claimed = Job.objects.filter(pk=job_id, state=Job.State.WAITING).update(
        state=Job.State.RUNNING, attempts=F("attempts") + 1, heartbeat_at=timezone.now()
    )
    if not claimed:
        return False
    job = Job.objects.get(pk=job_id)
    try:
        with _Heartbeat(job.pk):
            works[job.kind](job, _Reporter(job.pk))
    except Refused as refusal:
        _finish(job.pk, Job.State.FAILED, str(refusal))
    except Exception as error:  # whatever it was, the job's row must say so
        logger.exception("Job %s failed", job.pk)
        message = "".join(traceback.format_exception_only(error)).strip()
        return _again_or_failed(job, message)
    else:
        _finish(job.pk, Job.State.DONE, "")
    return False


def reap(*, at: datetime) -> list[int]:
    """Release jobs whose worker died; return those to be queued again, the others have failed."""
    return [
        job.pk
        for job in Job.objects.stale(before=at - SILENCE)
        if _again_or_failed(job, "the worker stopped while it ran")
    ]


def _again_or_failed(job: Job, message: str) -> bool:
    if job.attempts >= ATTEMPTS:
        _finish(job.pk, Job.State.FAILED, message)
        return False
    Job.objects.filter(pk=job.pk).update(state=Job.State.WAITING, message=message, done=0)
    return True


def _finish(job_id: int, state: str, message: str) -> None:
    Job.objects.filter(pk=job_id).update(
        state=state, message=message, finished_at=timezone.now(), heartbeat_at=timezone.now()
    )


class _Reporter:
    """Writes progress at most once a second."""

    def __init__(self, job_id: int) -> None:
        self.job_id, self.last = job_id, 0.0

    def __call__(self, done: int, total: int) -> None:
        now = timezone.now()
        if now.timestamp() - self.last < 1.0 and done < total:
            return
        self.last = now.timestamp()
        if not connection.in_atomic_block:
            Job.objects.filter(pk=self.job_id).update(done=done, total=total, heartbeat_at=now)


class _Heartbeat(AbstractContextManager["_Heartbeat"]):
    """A thread that says every ten seconds that the job's worker is alive."""

    def __init__(self, job_id: int) -> None:
        self.job_id, self.stop = job_id, threading.Event()
        self.thread = threading.Thread(target=self._beat, daemon=True)

    def _beat(self) -> None:
        try:
            while not self.stop.wait(_BEAT_S):
                # An import may hold the only lock for longer than a beat waits: the next one does.
                with suppress(OperationalError):
                    Job.objects.filter(pk=self.job_id).update(heartbeat_at=timezone.now())
        finally:
            connection.close()

    def __enter__(self) -> "_Heartbeat":
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop.set()
        self.thread.join()
