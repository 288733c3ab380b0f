import threading
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.utils import timezone

from ratings import tasks

_REAP_EVERY_S = 30.0


class Command(BaseCommand):
    help = "Do the queued work, and take up what dead workers left behind."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        threading.Thread(target=self._reap, args=(stop,), daemon=True).start()
        try:
            call_command("db_worker", interval=0.5, startup_delay=False)
        finally:
            stop.set()

    def _reap(self, stop: threading.Event) -> None:
        try:
            while True:
                tasks.reap(at=timezone.now())
                if stop.wait(_REAP_EVERY_S):
                    return
        finally:
            connection.close()
