import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from dilemmas.guards import dilemmas_guards, expected, installed
from dilemmas.services import provenance
from ratings.guards import ratings_guards
from ratings.models import Panel
from ratings.services import audit


class Command(BaseCommand):
    help = "Check every audit chain and that every guard stands; exit code 1 if not."

    def handle(self, *args: Any, **options: Any) -> None:
        sound = True
        guards = dilemmas_guards() + ratings_guards()
        missing = sorted(expected(connection, guards) - installed(connection))
        if missing:
            sound = False
            self.stdout.write(f"Guards are missing: {', '.join(missing)}. Run: manage.py migrate")
        broken = provenance.broken_at()
        if broken is not None:
            sound = False
            self.stdout.write(f"The content's chain is broken at event {broken}.")
        for panel in Panel.objects.order_by("slug"):
            broken = audit.broken_at(panel)
            if broken is not None:
                sound = False
                self.stdout.write(f"{panel.slug}: the chain is broken at event {broken}.")
            else:
                self.stdout.write(f"{panel.slug}: {panel.events.count()} events, chain sound.")
        self.stdout.write("All sound." if sound else "Not sound.")
        if not sound:
            sys.exit(1)
