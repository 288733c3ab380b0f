"""What the import commands share: reading the file, saying the outcome, refusing in sentences."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from dilemmas.services.importing import Outcome
from dilemmas.services.reading import ImportRefused


class ImportCommand(BaseCommand):
    """A command that imports one file, all of it or nothing."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="CSV, JSON, JSONL or XLSX (docs/import.md)")
        parser.add_argument("--update", action="store_true", help="replace known content")
        parser.add_argument(
            "--replace-unreadable",
            action="store_true",
            dest="repair",
            help="put U+FFFD for what no text can have (NUL, bytes that are no character)",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would happen")

    def read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.") from None

    def handle(self, *args: Any, **options: Any) -> None:
        content = self.read(options["file"])
        try:
            outcome = self.run_import(content, options)
        except ImportRefused as refused:
            head = _("Nothing was imported.")
            raise CommandError("\n".join([head, *refused.notes, *refused.lines()])) from None
        if outcome is not None:
            self.say(outcome)

    def run_import(self, content: bytes, options: dict[str, Any]) -> Outcome | None:
        raise NotImplementedError

    def say(self, outcome: Outcome) -> None:
        if outcome.facts:
            self.stdout.write(_("Read as: %s.") % outcome.facts)
        for note in outcome.notes:
            self.stdout.write(note)
        if not outcome.did_something:
            self.stdout.write(_("Nothing changed: all of it was there already."))
            return
        said = _("%(created)d new, %(changed)d changed, %(unchanged)d as they were.") % {
            "created": outcome.created,
            "changed": outcome.changed,
            "unchanged": outcome.unchanged,
        }
        self.stdout.write(said)

    def progress(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done}/{total} ", ending="")

    now = staticmethod(timezone.now)


__all__ = ["CommandError", "ImportCommand"]
