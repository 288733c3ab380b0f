from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from awb_panel.accounts.models import User
from dilemmas.services.reading import ImportRefused
from ratings.services.studies import StudyFiles, import_study

_ENDINGS = (".csv", ".xlsx", ".json", ".jsonl", ".tsv")


class Command(BaseCommand):
    help = "Import a study that was rated elsewhere: items.csv, ratings.csv, model_judgements.csv."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("dir", type=Path)
        parser.add_argument("--slug", required=True)
        parser.add_argument("--scale", required=True, help="lowest and highest level, as in 1-5")
        parser.add_argument("--title", default="")
        parser.add_argument(
            "--replace-unreadable",
            action="store_true",
            dest="repair",
            help="put U+FFFD for what no text can have (NUL, bytes that are no character)",
        )
        parser.add_argument("--coordinator", default="", help="e-mail of who may see it")

    def handle(self, *args: Any, **options: Any) -> None:
        files = self._files(options["dir"])
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
                repair=options["repair"],
                progress=self._progress,
            )
        except ImportRefused as refused:
            lines = "\n".join([*refused.notes, *refused.lines()])
            raise CommandError(f"Nothing was imported.\n{lines}") from None
        if not outcome.is_new:
            self.stdout.write("Nothing changed: this study was imported already.")
            return
        for note in outcome.notes:
            self.stdout.write(note)
        self.stdout.write(
            f"{outcome.panel.slug}: {outcome.items} items, {outcome.ratings} ratings, "
            f"{outcome.judgements} model judgements. Not registered beforehand."
        )
        if outcome.without_text:
            self.stdout.write(f"{outcome.without_text} items have no text.")

    def _files(self, folder: Path) -> StudyFiles:
        """Return the study's files: each name with one of the endings that can be read."""
        paths = [
            next((path for end in _ENDINGS if (path := folder / f"{stem}{end}").exists()), None)
            for stem in ("items", "ratings", "model_judgements")
        ]
        if paths[0] is None or paths[1] is None:
            raise CommandError(f"{folder}: there must be an items.csv and a ratings.csv.")
        try:
            contents = [path.read_bytes() if path else None for path in paths]
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from None
        assert contents[0] is not None and contents[1] is not None
        names = [path.name if path else "" for path in paths]
        return StudyFiles(contents[0], contents[1], contents[2], names)

    def _progress(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done}/{total} ", ending="")
