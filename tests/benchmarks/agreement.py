"""What agreement costs: `python -m tests.benchmarks.agreement [--times N]`; medians and ratios.

Ratings are drawn from a latent normal variable cut into four levels. Times are medians of one run
on one machine, the least and the most in brackets; a ratio compares two things done to the same
data in turn, first the one, then the other, so that what else the machine does falls on both.
Where other programs run, the processor's time says more than the clock's: both are printed.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ratings.agreement.analyse import bootstrap, cluster_labels, evaluate
from ratings.agreement.coefficients import COEFFICIENTS
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.reading import Names, read_table
from ratings.agreement.resampling import draw_weights
from ratings.agreement.sums import sum_table

ROOT = Path(__file__).resolve().parents[2]
LEVELS = (0.0, 1.0, 2.0, 3.0)
ADDITIVE = [
    key
    for key in COEFFICIENTS
    if key.startswith(("krippendorff", "fleiss", "gwet", "percent")) and not key.endswith("ratio")
] + ["krippendorff_alpha_ratio"]
PAIRWISE = ["light_kappa", "light_kappa_linear", "light_kappa_quadratic"]
Matrices = dict[str, RatingMatrix]


def panel(units: int, raters: int, criteria: int, clusters: int, *, seed: int = 1) -> Matrices:
    """Return complete ratings: 1.24 million are 13,778 units, 9 raters, 10 criteria, 96 clusters."""
    random = np.random.default_rng(seed)
    unit = tuple(f"u{n:06}" for n in range(units))
    cluster = tuple(f"c{n * clusters // units:04}" for n in range(units))
    made = {}
    for criterion in range(criteria):
        latent = random.normal(size=(units, 1)) + 0.8 * random.normal(size=(units, raters))
        scores = np.digitize(latent, [-1.0, 0.0, 1.0]).astype(np.float64)
        names = tuple(f"r{n}" for n in range(raters))
        made[f"criterion {criterion + 1}"] = RatingMatrix(scores, LEVELS, names, unit, cluster)
    return made


@dataclass(frozen=True)
class Timed:
    """Seconds of several runs: of the clock, and of the processors for this process."""

    clock: tuple[float, ...]
    processor: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.clock)

    def __str__(self) -> str:
        spread = f"{min(self.clock):.3f} to {max(self.clock):.3f}"
        processor = statistics.median(self.processor)
        return f"{self.median:.3f} s ({spread}; processor {processor:.3f} s)"


def timed(acts: Sequence[Callable[[], object]], times: int) -> list[Timed]:
    """Run each in turn, as often as is said; with children, whose time is counted too."""
    found: list[list[tuple[float, float]]] = [[] for _ in acts]
    for _ in range(times):
        for act, seconds in zip(acts, found, strict=True):
            clock, processor = time.perf_counter(), _processor()
            act()
            seconds.append((time.perf_counter() - clock, _processor() - processor))
    return [Timed(*zip(*seconds, strict=True)) for seconds in found]


def _processor() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def resampled(matrices: Matrices, keys: Sequence[str], draws: int) -> None:
    """Everything from the ratings to the draws of some coefficients."""
    clusters = cluster_labels(matrices)
    tables = {name: sum_table(matrix, clusters) for name, matrix in matrices.items()}
    wanted = {name: {key: COEFFICIENTS[key] for key in keys} for name in tables}
    bootstrap(tables, wanted, draws=draws, seed=1)


def against_a_loop(times: int) -> None:
    """3 judges x 150 responses x 4 criteria: ordinal alpha, 10,000 draws of 30 dilemmas."""
    import krippendorff

    matrices, draws, looped = panel(150, 3, 4, 30), 10_000, 200
    weights = next(draw_weights(30, draws=looped, seed=1)).astype(int)
    rows = [np.arange(5 * n, 5 * n + 5) for n in range(30)]

    def loop() -> None:
        for matrix in matrices.values():
            for weight in weights:
                chosen = np.concatenate([np.tile(r, w) for r, w in zip(rows, weight, strict=True)])
                krippendorff.alpha(
                    reliability_data=matrix.values[chosen].T,
                    level_of_measurement="ordinal",
                    value_domain=list(LEVELS),
                )

    ours, theirs = timed(
        [lambda: resampled(matrices, ["krippendorff_alpha_ordinal"], draws), loop], times
    )
    ratios, of_processor = (
        [one * draws / looped / other for one, other in zip(loops, blocks, strict=True)]
        for loops, blocks in ((theirs.clock, ours.clock), (theirs.processor, ours.processor))
    )
    print(f"3 x 150 x 4, ordinal alpha, 10,000 draws: {ours}")
    print(f"  a loop over krippendorff.alpha, the first {looped} of them: {theirs}")
    print(
        f"  {statistics.median(ratios):,.0f} times as fast ({min(ratios):,.0f} to {max(ratios):,.0f};"
        f" by the processor's time {statistics.median(of_processor):,.0f})"
    )


def at_scale(times: int) -> None:
    matrices = panel(13_778, 9, 10, 96)
    n = sum(int(matrix.present.sum()) for matrix in matrices.values())
    without, pairwise, whole = timed(
        [
            lambda: resampled(matrices, ADDITIVE, 10_000),
            lambda: resampled(matrices, ADDITIVE + PAIRWISE, 10_000),
            lambda: evaluate(matrices, draws=10_000, seed=1),
        ],
        times,
    )
    print(f"{n:,} ratings, 10,000 draws")
    print(f"  every alpha, Fleiss, AC and percent: {without}")
    print(f"  and every pairwise kappa:            {pairwise}")
    print(f"  everything that a report has:        {whole}")
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def linear(times: int) -> None:
    """Five sizes of each; the least of the times, because other programs can only add to it."""
    print("ratings, at 1,000 draws: least seconds of the processor, and per million ratings")
    for units in (8_000, 16_000, 32_000, 64_000, 128_000):
        matrices = panel(units, 9, 2, 96)
        (found,) = timed([lambda n=matrices: resampled(n, ADDITIVE, 1_000)], times)  # type: ignore[misc]
        least = min(found.processor)
        print(f"  {units * 18:>9,}  {least:.3f}  {least / (units * 18e-6):.3f}")
    print("draws, at 72,000 ratings: least seconds of the processor, and per 10,000 draws")
    matrices = panel(4_000, 9, 2, 96)
    for draws in (10_000, 20_000, 40_000, 80_000, 160_000):
        (found,) = timed([lambda n=draws: resampled(matrices, ADDITIVE, n)], times)  # type: ignore[misc]
        least = min(found.processor)
        print(f"  {draws:>9,}  {least:.3f}  {least / draws * 1e4:.3f}")


def command(times: int) -> None:
    """`manage.py agreement` on files, start-up included."""
    for units, raters, criteria, clusters in ((150, 3, 4, 30), (13_778, 9, 10, 96)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ratings.csv"
            with path.open("w", encoding="utf-8") as file:
                file.write("item_id,prompt_id,rater_id,criterion,score\n")
                for name, matrix in panel(units, raters, criteria, clusters).items():
                    for u, row in enumerate(matrix.values):
                        file.writelines(
                            f"{matrix.units[u]},{matrix.clusters[u]},{rater},{name},{score:g}\n"
                            for rater, score in zip(matrix.raters, row, strict=True)
                        )

            def run(path: Path = path) -> None:
                subprocess.run(
                    [sys.executable, "manage.py", "agreement", str(path), "--scale", "0-3", "--json"],
                    cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=os.environ,
                )  # fmt: skip

            reading, whole = timed([lambda p=path: read_table(p, LEVELS, Names()), run], times)  # type: ignore[misc]
        print(f"manage.py agreement, {units * raters * criteria:,} rows: {whole}")
        print(f"  of which reading {reading}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    for part in (against_a_loop, at_scale, linear, command):
        part(times)


if __name__ == "__main__":
    main()
