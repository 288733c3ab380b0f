"""How often the intervals hold what they promise: `python -m tests.studies.coverage [--reps N]`.

The model. Response r to dilemma i, read by judge j, has the latent value
``sqrt(v_d) D_i + sqrt(v_r) R_ir + s_j + sqrt(v_e) E_irj`` with standard normal D, R, E and
``v_d + v_r + v_e = 1``; it is cut into four levels at the quantiles of the shares given. Judges are
fixed: severities s = (-0.1, 0, 0.1). The true value of a coefficient is its value on 20,000
dilemmas of five responses. A repetition draws the dilemmas anew.

Writes docs/coverage.json and docs/img/coverage.svg; docs/statistics.md reads them to people.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.coefficients import COEFFICIENTS, Drawn, Weighted, Without, everything
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.resampling import (
    draw_weights,
    jackknife_interval,
    lower_bound,
    percentile_interval,
)
from ratings.agreement.sums import sum_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
KEYS = tuple(
    key
    for key in ("krippendorff_alpha_ordinal", "fleiss_kappa", "fleiss_kappa_quadratic",
                "light_kappa_quadratic", "gwet_ac1", "gwet_ac2_quadratic")
    if key in COEFFICIENTS
)  # fmt: skip
SEVERITIES = np.array([-0.1, 0.0, 0.1])
DRAWS, TRUE_DILEMMAS, RESPONSES = 1_000, 20_000, 5
GATE_KAPPAS = (0.55, 0.60, 0.65, 0.70, 0.75)


@dataclass(frozen=True)
class Setting:
    """One way the world may be; shares are of the four levels, from 0 to 3."""

    name: str
    shares: tuple[float, float, float, float]
    v_dilemma: float
    v_response: float
    dilemmas: int = 30

    @property
    def v_noise(self) -> float:
        return 1 - self.v_dilemma - self.v_response


EVEN, MILD, SKEWED = (0.25, 0.25, 0.25, 0.25), (0.1, 0.2, 0.4, 0.3), (0.04, 0.08, 0.23, 0.65)
SETTINGS = (
    Setting("even, weak clustering", EVEN, 0.10, 0.65),
    Setting("even, strong clustering", EVEN, 0.45, 0.30),
    Setting("mild skew", MILD, 0.20, 0.55),
    Setting("skewed, weak clustering", SKEWED, 0.10, 0.65),
    Setting("skewed, strong clustering", SKEWED, 0.45, 0.30),
    Setting("low agreement", MILD, 0.20, 0.25),
    Setting("12 dilemmas, mild skew", MILD, 0.20, 0.55, dilemmas=12),
    Setting("12 dilemmas, skewed", SKEWED, 0.20, 0.55, dilemmas=12),
    Setting("alpha above .9", EVEN, 0.20, 0.785),
)


def simulate(setting: Setting, dilemmas: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Return levels, shape (dilemmas x 5, 3)."""
    cuts = [NormalDist().inv_cdf(p) for p in np.cumsum(setting.shares)[:3]]
    shared = np.sqrt(setting.v_dilemma) * random.standard_normal((dilemmas, 1, 1))
    own = np.sqrt(setting.v_response) * random.standard_normal((dilemmas, RESPONSES, 1))
    noise = np.sqrt(setting.v_noise) * random.standard_normal((dilemmas, RESPONSES, 3))
    latent = shared + own + SEVERITIES + noise
    return np.searchsorted(cuts, latent).astype(np.float64).reshape(-1, 3)


def matrix_of(levels: NDArray[np.float64]) -> RatingMatrix:
    units = tuple(f"{n:06}" for n in range(len(levels)))
    clusters = tuple(f"{n // RESPONSES:05}" for n in range(len(levels)))
    return RatingMatrix(levels, (0.0, 1.0, 2.0, 3.0), ("a", "b", "c"), units, clusters)


def truth(setting: Setting) -> dict[str, float]:
    """Return the coefficients of 20,000 dilemmas."""
    matrix = matrix_of(simulate(setting, TRUE_DILEMMAS, np.random.default_rng(7)))
    sums = Weighted.of(sum_table(matrix, sorted(set(matrix.clusters))), everything)
    return {key: float(COEFFICIENTS[key](sums).values[0]) for key in KEYS}


def repeat(job: tuple[Setting, int, int, Mapping[str, float]]) -> dict[str, list[float]]:
    """Run some repetitions; return sums per coefficient.

    jackknife covers, percentile covers, lower bound covers, point >= .6, lower >= .6, repetitions,
    half-widths of the jackknife.
    """
    setting, seed, count, true = job
    random = np.random.default_rng([2026, seed])
    clusters = sorted(f"{n:05}" for n in range(setting.dilemmas))
    weights = np.concatenate(list(draw_weights(setting.dilemmas, draws=DRAWS, seed=seed)))
    sums = {key: [0.0] * 7 for key in KEYS}
    for _ in range(count):
        table = sum_table(matrix_of(simulate(setting, setting.dilemmas, random)), clusters)
        point = Weighted.of(table, everything)
        without = Weighted.of(table, Without(0, setting.dilemmas))
        drawn = Weighted.of(table, Drawn(weights))
        for key in KEYS:
            one = COEFFICIENTS[key](point)
            if not one.defined[0]:
                continue  # counted by the repetitions that are missing
            estimate, bootstrap = float(one.values[0]), COEFFICIENTS[key](drawn)
            values = bootstrap.values[bootstrap.defined]
            jackknife = jackknife_interval(estimate, COEFFICIENTS[key](without))
            percentile = percentile_interval(values)
            lower = lower_bound(values, DRAWS - len(values))
            row, goal = sums[key], true[key]
            row[0] += jackknife is not None and jackknife[0] <= goal <= jackknife[1]
            row[1] += percentile is not None and percentile[0] <= goal <= percentile[1]
            row[2] += lower is None or lower <= goal
            row[3] += estimate >= 0.6 - 1e-12
            row[4] += lower is not None and lower >= 0.6 - 1e-12
            row[5] += 1
            row[6] += (jackknife[1] - jackknife[0]) / 2 if jackknife else 0.0
    return sums


def run(setting: Setting, reps: int, pool: ProcessPoolExecutor) -> dict[str, dict[str, float]]:
    """Return, per coefficient, its true value and the shares of repetitions."""
    true, size = truth(setting), 100
    jobs = [(setting, seed, size, true) for seed in range(reps // size)]
    totals = {key: np.zeros(7) for key in KEYS}
    for part in pool.map(repeat, jobs):
        for key, row in part.items():
            totals[key] += row
    names = ("jackknife", "percentile", "lower", "point_passes", "lower_passes")
    return {
        key: {"true": round(true[key], 4), "repetitions": int(row[5])}
        | {name: round(float(row[n] / row[5]), 4) for n, name in enumerate(names)}
        | {"half_width": round(float(row[6] / row[5]), 4)}
        for key, row in totals.items()
    }


def tuned(setting: Setting, kappa: float) -> Setting:
    """Return the setting with the noise at which unweighted Fleiss' kappa is that much."""
    low, high = 0.005, 0.9
    for _ in range(14):
        noise = (low + high) / 2
        scale = (1 - noise) / (setting.v_dilemma + setting.v_response)
        one = replace(
            setting, v_dilemma=setting.v_dilemma * scale, v_response=setting.v_response * scale
        )
        low, high = (noise, high) if truth(one)["fleiss_kappa"] > kappa else (low, noise)
    return one


def gates(reps: int, pool: ProcessPoolExecutor) -> Iterator[dict[str, object]]:
    """Yield how often a panel of 30 x 5 x 3 passes at a true unweighted Fleiss' kappa."""
    for base in (SETTINGS[0], SETTINGS[2], SETTINGS[4]):
        for kappa in GATE_KAPPAS:
            found = run(tuned(base, kappa), reps, pool)
            yield {"setting": base.name, "kappa": kappa, "found": found}


def picture(study: Mapping[str, Sequence[Mapping[str, object]]]) -> str:
    """Draw coverage: a row per setting and coefficient, a mark per method, a line at .95."""
    rows = [
        (entry["setting"]["name"], key, found)  # type: ignore[index]
        for entry in study["coverage"]
        for key, found in entry["found"].items()  # type: ignore[attr-defined]
    ]
    width, left, height = 900, 430, 18 * len(rows) + 60

    def x(share: float) -> float:
        return left + (max(share, 0.86) - 0.86) / 0.14 * (width - left - 30)

    marks = {"jackknife": "#1f5574", "percentile": "#7a5600", "lower": "#22613a"}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11" role="img" aria-label="Coverage of intervals">',
        f'<rect width="{width}" height="{height}" fill="#fdfcf9"/>',
    ]
    for tick in (0.86, 0.88, 0.90, 0.92, 0.94, 0.95, 0.96, 0.98, 1.0):
        stroke = "#21211f" if tick == 0.95 else "#d8d5cc"
        lines.append(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="34" y2="{height - 6}" stroke="{stroke}"/>'
            f'<text x="{x(tick):.1f}" y="28" text-anchor="middle">{tick:.2f}</text>'
        )
    for n, (name, colour) in enumerate(marks.items()):
        lines.append(
            f'<circle cx="{20 + 150 * n}" cy="12" r="4" fill="{colour}"/>'
            f'<text x="{30 + 150 * n}" y="16">{name}</text>'
        )
    for n, (setting, key, found) in enumerate(rows):
        y = 50 + 18 * n
        lines.append(f'<text x="10" y="{y + 4}">{setting} · {key}</text>')
        lines += [
            f'<circle cx="{x(found[name]):.1f}" cy="{y}" r="4" fill="{colour}"/>'
            for name, colour in marks.items()
        ]
    return "\n".join([*lines, "</svg>\n"])


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2_000)
    parser.add_argument("--gate-reps", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        coverage = []
        for setting in SETTINGS:
            coverage.append({"setting": asdict(setting), "found": run(setting, options.reps, pool)})
            print(f"{setting.name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        passing = list(gates(options.gate_reps, pool))
    study = {
        "model": " ".join(__doc__.split("The model.")[1].split("Writes")[0].split()),
        "repetitions": options.reps,
        "gate_repetitions": options.gate_reps,
        "draws": DRAWS,
        "coverage": coverage,
        "gate": passing,
    }
    (DOCS / "img").mkdir(exist_ok=True)
    (DOCS / "coverage.json").write_text(json.dumps(study, indent=1) + "\n", encoding="utf-8")
    (DOCS / "img" / "coverage.svg").write_text(picture(study), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
