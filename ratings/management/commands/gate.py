import argparse
import sys
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ratings.models import Panel, Report

_CODES = {Report.Verdict.MET: 0, Report.Verdict.NOT_MET: 1, Report.Verdict.UNDECIDABLE: 2}
_ERROR = 64


class _Parser(CommandParser):
    def error(self, message: str) -> NoReturn:
        print(message, file=sys.stderr)
        sys.exit(_ERROR)


class Command(BaseCommand):
    help = "Exit with 0 if the panel's gate is met, 1 if not, 2 if undecidable, 64 for any error."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = type("Parser", (_Parser, type(parser)), {})
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *args: Any, **options: Any) -> None:
        panel = Panel.objects.filter(slug=options["slug"]).first()
        if panel is None:
            self._refuse(f"There is no panel {options['slug']}.")
        if panel.origin == Panel.Origin.IMPORTED:
            self._refuse("The study was imported: nothing was registered, so there is no gate.")
        report = panel.reports.order_by("-number").first()
        if report is None:
            self._refuse(
                f"The panel is {panel.state} and has no report: manage.py report comes first."
            )
        self.stdout.write(report.verdict)
        sys.exit(_CODES[Report.Verdict(report.verdict)])

    def _refuse(self, sentence: str) -> NoReturn:
        raise CommandError(sentence, returncode=_ERROR)
