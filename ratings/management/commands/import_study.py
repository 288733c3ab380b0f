from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from awb_panel.accounts.models import User
from dilemmas.services.reading import ImportRefused
from ratings.services.studies import StudyFiles, import_study


class Command(BaseCommand):
    help = "Import a study that was rated elsewhere: items.csv, ratings.csv, model_judgements.csv."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("dir", type=Path)
        parser.add_argument("--slug", required=True)
        parser.add_argument("--scale", required=True, help="lowest and highest level, as in 1-5")
        parser.add_argument("--title", default="")
        parser.add_argument("--coordinator", default="", help="e-mail of who may see it")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = options["dir"]
        try:
            judgements = folder / "model_judgements.csv"
            files = StudyFiles(
                items=(folder / "items.csv").read_bytes(),
                ratings=(folder / "ratings.csv").read_bytes(),
                judgements=judgements.read_bytes() if judgements.exists() else None,
            )
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from None
        coordinator = None
        if options["coordinator"]:
            coordinator = User.objects.filter(email=options["coordinator"].lower()).first()
            if coordinator is None:
                raise CommandError(
                    f"Nobody has the address {options['coordinator']}. "
                    "Make the account first: manage.py createowner ADDRESS"
                )
        try:
            outcome = import_study(
                files=files,
                slug=options["slug"],
                title=options["title"],
                scale=options["scale"],
                at=timezone.now(),
                coordinator=coordinator,
                progress=self._progress,
            )
        except ImportRefused as refused:
            place = f" ({refused.name})" if refused.name else ""
            lines = "\n".join(refused.lines())
            raise CommandError(f"Nothing was imported{place}.\n{lines}") from None
        if not outcome.is_new:
            self.stdout.write("Nothing changed: this study was imported already.")
            return
        self.stdout.write(
            f"{outcome.panel.slug}: {outcome.items} items, {outcome.ratings} ratings, "
            f"{outcome.judgements} model judgements. Not registered beforehand."
        )
        if outcome.without_text:
            self.stdout.write(f"{outcome.without_text} items have no text.")

    def _progress(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done}/{total} ", ending="")
