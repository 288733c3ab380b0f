import csv
import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ratings.agreement.latent import Design, from_pilot
from ratings.agreement.matrix import MatrixError, RatingMatrix
from ratings.agreement.planning import GRID, Chances, Plan, Point
from ratings.gate import POLICIES
from ratings.services.planning import plan_panel

PILOT_COLUMNS = ("unit", "rater", "score", "cluster")


class Command(BaseCommand):
    help = "Simulate what a panel could show before there is one. Needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        whole: tuple[tuple[str, int, str], ...] = (
            ("dilemmas", 30, "dilemmas"),
            ("responses", 5, "responses to each dilemma"),
            ("judges", 3, "judges"),
            ("criteria", 4, "criteria, all of which the policy requires"),
            ("panels", 1000, "simulated panels at each true value"),
            ("draws", 1000, "bootstrap draws of each simulated panel"),
            ("seed", 1, "the same seed gives the same plan"),
        )
        for name, default, said in whole:
            parser.add_argument(f"--{name}", type=int, default=default, help=said)
        parser.add_argument("--per-response", type=int, help="judges of each response (all)")
        parser.add_argument("--scale", default="0-3", help="levels: 0-3, or 1,2,4 (0-3)")
        parser.add_argument(
            "--shares", help="expected share of each level, e.g. .1,.3,.4,.2 (even)"
        )
        shares: tuple[tuple[str, float, str], ...] = (
            ("between", 0.3, "share of the true variance between dilemmas"),
            ("severity", 0.3, "spread of the judges' severities, in units of their noise"),
            ("missing", 0.0, "share of scores that a judge cannot give"),
            ("correlation", 0.0, "correlation of the criteria"),
            ("minutes", 6.0, "minutes for one response"),
        )
        for name, value, said in shares:
            parser.add_argument(f"--{name}", type=float, default=value, help=said)
        parser.add_argument(
            "--noise", help="noise of each judge relative to the others', e.g. 1,1,2"
        )
        parser.add_argument("--policy", choices=sorted(POLICIES), required=True)
        parser.add_argument("--grid", help="true values to simulate, e.g. .6,.7,.8")
        parser.add_argument(
            "--expected", type=float, help="true value hoped for: adds alternatives"
        )
        parser.add_argument("--pilot", type=Path, help=f"CSV of {', '.join(PILOT_COLUMNS)}")
        parser.add_argument("--contrast-sd", type=float, help="of a contrast, over dilemmas")
        parser.add_argument("--margin", type=float, help="registered margin of contrasts")
        parser.add_argument("--affinity-sd", type=float, help="of model minus panel, over dilemmas")
        parser.add_argument("--json", action="store_true", help="the whole plan")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            design = _design(options)
            if options["pilot"]:
                design = from_pilot(_pilot(options["pilot"], design.scale), design)
            found = plan_panel(
                design,
                POLICIES[options["policy"]],
                expected=options["expected"],
                grid=_numbers(options["grid"], "--grid") if options["grid"] else GRID,
                contrast_sd=options["contrast_sd"],
                margin=options["margin"],
                affinity_sd=options["affinity_sd"],
                minutes_per_response=options["minutes"],
                panels=options["panels"],
                draws=options["draws"],
                seed=options["seed"],
                progress=self._progress,
            )
        except (MatrixError, OSError) as error:
            raise CommandError(str(error), returncode=64) from error
        if options["json"]:
            self.stdout.write(json.dumps(found.to_dict() | {"policy": options["policy"]}))
        else:
            self._print(found, options["policy"])

    def _print(self, found: Plan, policy: str) -> None:
        design = found.design
        say = self.stdout.write
        judges = f"{design.per_response} of {design.judges} judges each"
        size = f"{design.dilemmas} dilemmas x {design.responses} responses, {judges}"
        say(f"{size}, {design.criteria} criteria, {found.hours_per_judge:.1f} hours per judge")
        say(f"policy {policy}: {found.coefficient}\n")
        say("true value   one criterion met   all met        half-width (median, 90 %)")
        for point in found.points:
            say(_row(f"{point.true_value:.3f}", point))
        for value in found.unreachable:
            say(f"{value:.3f}        cannot be reached with these shares and severities")
        for name, label in (("criterion", "one criterion"), ("jointly", "all criteria")):
            needed = found.needed_for_80[name]
            shown = "beyond this grid" if needed is None else f"{needed:.3f}"
            say(f"true value needed for 80 % ({label}): {shown}")
        if found.alternatives:
            say(f"\nat the expected value {found.expected}:")
        for one in found.alternatives:
            changed = ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in one.changed.items())
            say(
                f"{_row(changed or 'as planned', one.point, 26)}  {one.hours_per_judge:.1f} h per judge"
            )
        for label, differences in (("contrast", found.contrast), ("affinity", found.affinity)):
            if differences is None:
                continue
            least = f"least detectable (80 %) {differences.least_detectable:.3f}"
            say(f"\n{label}: half-width {differences.half_width:.3f}, {least}")
            above = differences.least_above_margin
            if above is not None:
                say(f"lower limit above the margin (80 %): true value {above:.3f}")

    def _progress(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done}/{total} ", ending="")


def _design(options: dict[str, Any]) -> Design:
    scale = _scale(options["scale"])
    even = tuple(1 / len(scale) for _ in scale)
    return Design(
        dilemmas=options["dilemmas"],
        responses=options["responses"],
        judges=options["judges"],
        per_response=options["per_response"] or options["judges"],
        scale=scale,
        shares=_numbers(options["shares"], "--shares") if options["shares"] else even,
        between_dilemmas=options["between"],
        severity=options["severity"],
        noise=_numbers(options["noise"], "--noise") if options["noise"] else (),
        missing=options["missing"],
        criteria=options["criteria"],
        correlation=options["correlation"],
    )


def _scale(text: str) -> tuple[float, ...]:
    low, dash, high = text.partition("-")
    if dash and low.isdigit() and high.isdigit() and int(low) < int(high):
        return tuple(map(float, range(int(low), int(high) + 1)))
    return _numbers(text, "--scale")


def _numbers(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise MatrixError(f"{option} is numbers with commas between them, not {text!r}.") from error


def _pilot(path: Path, scale: tuple[float, ...]) -> RatingMatrix:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for column in PILOT_COLUMNS:
        if not rows or column not in rows[0]:
            raise MatrixError(f"The pilot needs the columns {', '.join(PILOT_COLUMNS)}.")
    return RatingMatrix.from_long(
        ((row["unit"], row["rater"], row["score"]) for row in rows),  # type: ignore[misc]
        scale=scale,
        clusters={row["unit"]: row["cluster"] for row in rows},
    )


def _row(label: str, point: Point, width: int = 12) -> str:
    one, joint = _chance(point.criterion), _chance(point.jointly)
    if point.half_width_median is None or point.half_width_90 is None:
        return f"{label:<{width}} {one:<19} {joint:<14} -"
    widths = f"{point.half_width_median:.3f}, {point.half_width_90:.3f}"
    return f"{label:<{width}} {one:<19} {joint:<14} {widths}"


def _chance(chances: Chances) -> str:
    undecidable = f" ({chances.undecidable:.2f} ?)" if chances.undecidable else ""
    return f"{chances.met:.2f} ±{chances.error:.2f}{undecidable}"
