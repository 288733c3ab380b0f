from typing import Any

from dilemmas.services.command import ImportCommand
from dilemmas.services.importing import import_rubric


class Command(ImportCommand):
    help = "Import a rubric (JSON); another content of a known code is its next version."

    def run_import(self, content: bytes, options: dict[str, Any]) -> None:
        version, is_new = import_rubric(
            content=content, name=options["file"].name, actor="", at=self.now()
        )
        state = "imported" if is_new else "was there already"
        self.stdout.write(f"{version.rubric.code}, version {version.number}: {state}.")
