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
    # Django ends a failed check with 1, which here would read as «not met».
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = type("Parser", (_Parser, type(parser)), {})
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run; whatever breaks ends with 64: an exit code of 1 is a verdict, not an accident."""
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            raise CommandError(str(error), returncode=_ERROR) from error
        except Exception as error:
            sentence = f"The gate could not be read: {type(error).__name__}: {error}"
            raise CommandError(" ".join(sentence.split()), returncode=_ERROR) from error

    def handle(self, *args: Any, **options: Any) -> None:
        panel = Panel.objects.filter(slug=options["slug"]).first()
        if panel is None:
            raise CommandError(f"There is no panel {options['slug']}.")
        if panel.origin == Panel.Origin.IMPORTED:
            raise CommandError("The study was imported: nothing was registered, so no gate.")
        report = panel.reports.order_by("-number").first()
        if report is None:
            raise CommandError(
                f"The panel is {panel.state} and has no report: manage.py report comes first."
            )
        code = _CODES[Report.Verdict(report.verdict)]
        self.stdout.write(report.verdict)
        sys.exit(code)
