import logging
import threading
from itertools import count
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.utils import timezone

from ratings import tasks
from ratings.services.reminding import remind_due

_REAP_EVERY_S = 30.0
_REMIND_EVERY = 20  # reapings
_log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Do the queued work, take up what dead workers left behind, remind judges by rule."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        threading.Thread(target=self._reap, args=(stop,), daemon=True).start()
        try:
            call_command("db_worker", interval=0.5, startup_delay=False)
        finally:
            stop.set()

    def _reap(self, stop: threading.Event) -> None:
        try:
            for turn in count():
                tasks.reap(at=timezone.now())
                if turn % _REMIND_EVERY == 0:
                    self._remind()
                if stop.wait(_REAP_EVERY_S):
                    return
        finally:
            connection.close()

    def _remind(self) -> None:
        try:
            remind_due(at=timezone.now())
        except Exception:  # jobs go on being taken up, whatever is wrong with an e-mail
            _log.exception("Judges could not be reminded.")
