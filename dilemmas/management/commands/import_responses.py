from typing import Any

from dilemmas.services.command import ImportCommand
from dilemmas.services.importing import Outcome
from dilemmas.services.responses import import_responses


class Command(ImportCommand):
    help = "Import responses into a set."

    def add_arguments(self, parser: Any) -> None:
        super().add_arguments(parser)
        parser.add_argument("--set", required=True, dest="set_name")
        parser.add_argument("--collection", default="", help="whose dilemmas they answer")

    def run_import(self, content: bytes, options: dict[str, Any]) -> Outcome:
        return import_responses(
            content=content,
            name=options["file"].name,
            set_name=options["set_name"],
            collection=options["collection"],
            at=self.now(),
            update=options["update"],
            repair=options["repair"],
            dry_run=options["dry_run"],
            progress=self.progress,
        )
