from typing import Any

from dilemmas.services.command import ImportCommand
from dilemmas.services.importing import Outcome, import_rubric
from dilemmas.services.rubrics import preview_rubric


class Command(ImportCommand):
    help = "Import a rubric (JSON); another content of a known code is its next version."

    def run_import(self, content: bytes, options: dict[str, Any]) -> Outcome | None:
        name = options["file"].name
        outcome, _criteria = preview_rubric(content=content, name=name)
        if options["dry_run"]:
            return outcome
        for note in outcome.notes:
            self.stdout.write(note)
        version, is_new = import_rubric(content=content, name=name, actor="", at=self.now())
        state = "imported" if is_new else "was there already"
        self.stdout.write(f"{version.rubric.code}, version {version.number}: {state}.")
        return None
