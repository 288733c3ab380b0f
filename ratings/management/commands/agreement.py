"""Agreement of a table of ratings: no database, no account."""

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ratings.agreement.analyse import SMALLEST_RESAMPLED, evaluate
from ratings.agreement.crosscheck import EngineDisagreement
from ratings.agreement.matrix import MatrixError
from ratings.agreement.reading import Names, Table, parse_scale, read_table
from ratings.agreement.results import Coefficient, CriterionAgreement

_ERROR = 64
_ROLES = ("unit", "rater", "criterion", "score", "cluster")
_DRAWS, _MOST_DRAWS = 10_000, 1_000_000
_SPARSE = 10  # units below which a pair's kappa says little
_SLOW = 200_000  # ratings from which on it takes long enough to show how far it is
_BAR = 40  # characters
_HEADS = ("estimate", "95 % interval", "percentile", "lower bound", "units")


class _Parser(CommandParser):
    def error(self, message: str) -> NoReturn:
        print(message, file=sys.stderr)
        sys.exit(_ERROR)


class Command(BaseCommand):
    help = (
        "Print every coefficient of agreement of a table of ratings, with intervals that resample "
        "clusters. Ends with 64 and a sentence if the table cannot be read."
    )
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = type("Parser", (_Parser, type(parser)), {})
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="CSV with a header: comma, semicolon or tab")
        parser.add_argument(
            "--scale", required=True, help="all levels: 0-3, or one by one as in 0,0.5,1"
        )
        for role in _ROLES:
            default = getattr(Names(), role)
            parser.add_argument(f"--{role}", help=f"the column of the {role} (default: {default})")
        parser.add_argument(
            "--wide", action="store_true", help="a row per unit and a column per rater"
        )
        parser.add_argument("--draws", type=int, default=_DRAWS, help="of the bootstrap")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", action="store_true", help="unrounded, for a program")

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except (MatrixError, EngineDisagreement) as error:
            raise CommandError(str(error), returncode=_ERROR) from error

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["draws"] <= _MOST_DRAWS:
            raise CommandError(f"Draws: 0 to {_MOST_DRAWS:,}.", returncode=_ERROR)
        if not 0 <= options["seed"] < 2**63:
            raise CommandError("The seed is a whole number from 0 on.", returncode=_ERROR)
        given = {role: options[role] for role in _ROLES if options[role] is not None}
        scale, names = parse_scale(options["scale"]), Names(**given, named=frozenset(given))
        try:
            table = read_table(options["file"], scale, names, wide=options["wide"])
        except OSError as error:
            sentence = f"{options['file']} cannot be read: {error.strerror or error}."
            raise CommandError(sentence, returncode=_ERROR) from error
        for warning in table.warnings:
            self.stderr.write(f"Note: {warning}")
        n_ratings = sum(int(matrix.present.sum()) for matrix in table.matrices.values())
        is_slow = n_ratings >= _SLOW and self.stderr.isatty()
        found = evaluate(
            table.matrices,
            draws=options["draws"],
            seed=options["seed"],
            progress=self._progress if is_slow else None,
        )
        if options["json"]:
            document = {"criteria": {name: one.to_dict() for name, one in found.items()}}
            self.stdout.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))
        else:
            self._print(found, table, options["draws"], options["seed"])

    def _progress(self, done: int, of: int) -> None:
        bar = "#" * (_BAR * done // of)
        self.stderr.write(f"\r[{bar:<{_BAR}}] {done:,} of {of:,} draws ", ending="")
        if done == of:
            self.stderr.write("\nNow without each rater, and against the libraries …")
        self.stderr.flush()

    def _print(
        self, found: dict[str, CriterionAgreement], table: Table, draws: int, seed: int
    ) -> None:
        for name, one in found.items():
            self.stdout.write(
                f"{name}: {one.n_units:,} units, {one.n_raters} raters, {one.n_ratings:,} ratings"
            )
            if one.silent_raters:
                self.stdout.write(f"  rated nothing here: {', '.join(one.silent_raters)}")
            self.stdout.write(f"  {'':<30}" + "".join(f"{head:>17}" for head in _HEADS))
            for key, coefficient in one.coefficients.items():
                self.stdout.write(f"  {key:<30}{_row(coefficient)}")
            self.stdout.write("\n  pairs (Cohen's kappa, linear, quadratic)")
            for pair in one.pairs.values():
                kappas = (pair.cohen_kappa, pair.cohen_kappa_linear, pair.cohen_kappa_quadratic)
                shown = "".join(f"{_figure(kappa):>9}" for kappa in kappas)
                few = "   few units in common" if pair.n < _SPARSE else ""
                why = f"   {pair.undefined}" if pair.undefined else ""
                self.stdout.write(f"  {pair.key:<30}{shown}   n = {pair.n:,}{few}{why}")
            self.stdout.write("\n  agreement specific to each level")
            for level, coefficient in one.specific.items():
                self.stdout.write(f"  {level:<30g}{_row(coefficient)}")
            self.stdout.write("")
        self.stdout.write(
            "Interval: cluster jackknife, t with one degree of freedom less than clusters. "
            f"Percentile and one-sided 95 % lower bound: {draws:,} draws of clusters, seed {seed}. "
            f"Below {SMALLEST_RESAMPLED} clusters there is none. Raters are held fixed."
        )


def _row(one: Coefficient) -> str:
    if one.estimate is None:
        detail = f" ({one.detail})" if one.detail else ""
        return f"{'-':>17}  {one.undefined}{detail}"
    cells = (
        _figure(one.estimate),
        _interval(one.ci95),
        _interval(one.percentile95),
        _figure(one.lower95),
        f"{one.n_units:,}",
    )
    return "".join(f"{cell:>17}" for cell in cells)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _interval(found: tuple[float, float] | None) -> str:
    return "-" if found is None else f"{found[0]:.3f} to {found[1]:.3f}"
