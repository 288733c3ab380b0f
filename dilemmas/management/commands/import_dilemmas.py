from typing import Any

from dilemmas.services.command import ImportCommand
from dilemmas.services.importing import Outcome, import_dilemmas


class Command(ImportCommand):
    help = "Import dilemmas into a collection."

    def add_arguments(self, parser: Any) -> None:
        super().add_arguments(parser)
        parser.add_argument("--collection", required=True)

    def run_import(self, content: bytes, options: dict[str, Any]) -> Outcome:
        return import_dilemmas(
            content=content,
            name=options["file"].name,
            collection=options["collection"],
            actor="",
            at=self.now(),
            update=options["update"],
            repair=options["repair"],
            dry_run=options["dry_run"],
            progress=self.progress,
        )
