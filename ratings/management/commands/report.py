import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from ratings.models import Panel
from ratings.services.errors import Refused
from ratings.services.reporting import compute_report


class Command(BaseCommand):
    help = "Print a panel's newest report; compute it if there is none."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("slug")
        parser.add_argument("--json", action="store_true", help="the document as it is kept")

    def handle(self, *args: Any, **options: Any) -> None:
        panel = Panel.objects.filter(slug=options["slug"]).first()
        if panel is None:
            raise CommandError(f"There is no panel {options['slug']}.")
        report = panel.reports.order_by("-number").first()
        if report is None:
            try:
                report = compute_report(panel=panel, at=timezone.now(), progress=self._progress)
            except Refused as refused:
                if refused.code != "panel_not_closed":
                    raise CommandError(f"The report was not kept: {refused}.") from refused
                message = f"The panel is {panel.state}: close it first."
                raise CommandError(message) from refused
        if options["json"]:
            self.stdout.write(report.document)
        else:
            self._print(json.loads(report.document))

    def _print(self, document: dict[str, Any]) -> None:
        panel = document["panel"]
        self.stdout.write(f"{panel['title']} ({panel['slug']})")
        if not panel["registered"]:
            self.stdout.write("Not registered beforehand.")
        for key, entry in document["criteria"].items():
            counts = f"{entry['n_units']} units, {entry['n_raters']} raters"
            self.stdout.write(f"\n{key}: {counts}, {entry['n_ratings']} ratings")
            for name, found in entry["coefficients"].items():
                self.stdout.write(f"  {name:<34} {_figure(found)}")
        self._print_means("Means by condition", document["conditions"])
        self._print_means("Means by judge", document["judges"])
        for one in document["contrasts"].get("total", []) if panel["registered"] else []:
            self.stdout.write(f"\n{one['minuend']} - {one['subtrahend']}: {_figure(one)}")
            self.stdout.write(
                f"  for {one['n_for']}, against {one['n_against']}, p {one['p_sign']}"
            )
        if document["gate"]:
            self.stdout.write(f"\nPublication requirement: {document['gate']['verdict']}")
            for one in document["gate"]["criteria"]:
                self.stdout.write(f"  {one['name']:<34} {one['verdict']} ({one['value']})")
        self.stdout.write(f"\nInputs SHA-256 {document['inputs_sha256']}")

    def _print_means(self, heading: str, table: dict[str, dict[str, dict[str, Any]]]) -> None:
        self.stdout.write(f"\n{heading}")
        for label, by_criterion in table.items():
            cells = (
                f"{key} {'-' if one['mean'] is None else format(one['mean'], '.3f')}"
                for key, one in by_criterion.items()
            )
            self.stdout.write(f"  {label:<20} {', '.join(cells)}")

    def _progress(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done}/{total} ", ending="")


def _figure(found: dict[str, Any]) -> str:
    if found["estimate"] is None:
        return f"undefined: {found.get('undefined', 'nothing to compare')}"
    interval = found.get("ci95")
    shown = f"{found['estimate']:.3f}"
    return shown + (f"  [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")
