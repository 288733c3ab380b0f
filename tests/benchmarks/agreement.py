"""What agreement costs: `python -m tests.benchmarks.agreement [--quick]`; prints medians and ratios.

Ratings are drawn from a latent normal variable cut into four levels. All figures of a table are of
one run on one machine, one process; a ratio compares two things done to the same data.
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
from pathlib import Path

import numpy as np

from ratings.agreement.analyse import bootstrap, cluster_labels, evaluate
from ratings.agreement.coefficients import COEFFICIENTS
from ratings.agreement.matrix import RatingMatrix
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


def median(act: Callable[[], object], times: int) -> tuple[float, float, float]:
    """Return the median, the least and the most of the seconds that it takes."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), min(seconds), max(seconds)


def shown(found: tuple[float, float, float]) -> str:
    return f"{found[0]:.3f} s ({found[1]:.3f} to {found[2]:.3f})"


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
    ours = median(lambda: resampled(matrices, ["krippendorff_alpha_ordinal"], draws), times)
    weights = next(iter(draw_weights(30, draws=looped, seed=1))).T.astype(int)
    if len(weights) == 30:
        weights = weights.T
    rows = [np.arange(5 * n, 5 * n + 5) for n in range(30)]

    def loop() -> None:
        for matrix in matrices.values():
            for weight in weights[:looped]:
                chosen = np.concatenate([np.tile(r, w) for r, w in zip(rows, weight, strict=True)])
                krippendorff.alpha(
                    reliability_data=matrix.values[chosen].T,
                    level_of_measurement="ordinal",
                    value_domain=list(LEVELS),
                )

    theirs = median(loop, max(1, times // 2))
    whole = theirs[0] * draws / looped
    print(f"3 x 150 x 4, ordinal alpha, 10,000 draws: {shown(ours)}")
    print(
        f"  a loop over krippendorff.alpha, {looped} draws: {shown(theirs)}; so 10,000: {whole:.0f} s"
    )
    print(f"  ratio {whole / ours[0]:,.0f}")


def at_scale(times: int) -> None:
    matrices = panel(13_778, 9, 10, 96)
    n = sum(int(matrix.present.sum()) for matrix in matrices.values())
    without = median(lambda: resampled(matrices, ADDITIVE, 10_000), times)
    pairwise = median(lambda: resampled(matrices, ADDITIVE + PAIRWISE, 10_000), times)
    whole = median(lambda: evaluate(matrices, draws=10_000, seed=1), max(1, times // 2))
    print(f"{n:,} ratings, 10,000 draws")
    print(f"  every alpha, Fleiss, AC and percent: {shown(without)}")
    print(f"  and every pairwise kappa:            {shown(pairwise)}")
    print(f"  everything that a report has:        {shown(whole)}")
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def linear(times: int) -> None:
    """Five sizes of each; the least of the times, because other programs can only add to it."""
    print("ratings     draws   least seconds")
    for units in (1_000, 4_000, 16_000, 64_000, 128_000):
        matrices = panel(units, 9, 2, 96)
        found = median(lambda n=matrices: resampled(n, ADDITIVE, 1_000), times)
        print(
            f"{units * 18:>9,}   1,000   {found[1]:.3f}  per million {found[1] / (units * 18e-6):.2f}"
        )
    matrices = panel(4_000, 9, 2, 96)
    for draws in (5_000, 10_000, 20_000, 40_000, 80_000):
        found = median(lambda n=draws: resampled(matrices, ADDITIVE, n), times)
        print(f"   72,000  {draws:>6,}   {found[1]:.3f}  per 10,000 {found[1] / draws * 1e4:.3f}")


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

            from ratings.agreement.reading import Names, read_table

            reading = median(lambda path=path: read_table(path, LEVELS, Names()), times)
            whole = median(run, times)
        print(f"manage.py agreement, {units * raters * criteria:,} rows: {shown(whole)}")
        print(f"  of which reading {shown(reading)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    for part in (against_a_loop, at_scale, linear, command):
        part(times)


if __name__ == "__main__":
    main()
