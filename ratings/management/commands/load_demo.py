from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from ratings import tasks
from ratings.models import Panel
from ratings.services import demonstration


class Command(BaseCommand):
    help = "Load the marked demonstration: two open panels, a closed one, and their people."

    def handle(self, *args: Any, **options: Any) -> None:
        if Panel.objects.filter(is_demo=True).exists():
            self.stdout.write("The demonstration is loaded already.")
            return
        for panel in demonstration.load(at=timezone.now()):
            if panel.is_over:
                tasks.ask(kind="report", panel=panel, parameters={"reason": ""})
        self.stdout.write("The demonstration is loaded.")
