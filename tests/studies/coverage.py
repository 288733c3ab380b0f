"""How often the intervals hold what they promise: `python -m tests.studies.coverage [--reps N]`.

The model. Response r to dilemma i, read by judge j, has the latent value
``sqrt(v_d) D_i + sqrt(v_r) R_ir + s_j + sqrt(v_e) E_irj`` with standard normal D, R, E and
``v_d + v_r + v_e = 1``; it is cut into four levels at the quantiles of the shares given. Judges are
fixed: severities s = (-0.1, 0, 0.1). The true value of a coefficient is its value on 20,000
dilemmas of five responses. A repetition draws the dilemmas anew.

The methods. ``jackknife``: over dilemmas, t(K - 1). ``percentile`` and ``bca``: 1,000 draws of
dilemmas, BCa with the acceleration of that jackknife (Efron & Tibshirani 1993, ch. 14).
``responses``: the jackknife over responses, t(n - 1), as if they were independent; to first order
that is Gwet's analytic variance (2014, ch. 5). ``pairs``, for alpha: Krippendorff's bootstrap (Hayes
& Krippendorff 2007), which draws as many pairs of ratings as there are, one by one, and keeps the
expected disagreement. Each with its two-sided interval and its one-sided lower bound.

Writes docs/coverage.json and docs/img/coverage.svg; docs/statistics.md reads them to people.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement import libraries
from ratings.agreement.coefficients import COEFFICIENTS, Drawn, Weighted, Without, everything
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.resampling import draw_weights, lower_bound, percentile_interval
from ratings.agreement.sums import SumTable, sum_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
KEYS = (
    "krippendorff_alpha_ordinal",
    "fleiss_kappa",
    "fleiss_kappa_quadratic",
    "light_kappa",
    "light_kappa_quadratic",
    "gwet_ac1",
    "gwet_ac2_quadratic",
    "percent_agreement",
    "icc_2_1",
    "kendall_w",
)
METHODS = ("jackknife", "percentile", "bca", "responses", "pairs")
Values = NDArray[np.float64]
Tally = dict[str, float]
NORMAL = NormalDist()
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


def simulate(setting: Setting, dilemmas: int, random: np.random.Generator) -> Values:
    """Return levels, shape (dilemmas x 5, 3)."""
    cuts = [NORMAL.inv_cdf(p) for p in np.cumsum(setting.shares)[:3]]
    shared = np.sqrt(setting.v_dilemma) * random.standard_normal((dilemmas, 1, 1))
    own = np.sqrt(setting.v_response) * random.standard_normal((dilemmas, RESPONSES, 1))
    noise = np.sqrt(setting.v_noise) * random.standard_normal((dilemmas, RESPONSES, 3))
    latent = shared + own + SEVERITIES + noise
    return np.searchsorted(cuts, latent).astype(np.float64).reshape(-1, 3)


def matrix_of(levels: Values, *, by_response: bool = False) -> RatingMatrix:
    units = tuple(f"{n:06}" for n in range(len(levels)))
    clusters = tuple(f"{n // RESPONSES:05}" for n in range(len(levels)))
    return RatingMatrix(
        levels, (0.0, 1.0, 2.0, 3.0), ("a", "b", "c"), units, units if by_response else clusters
    )


def truth(setting: Setting) -> dict[str, float]:
    """Return the coefficients of 20,000 dilemmas."""
    matrix = matrix_of(simulate(setting, TRUE_DILEMMAS, np.random.default_rng(7)))
    sums = Weighted.of(sum_table(matrix, sorted(set(matrix.clusters))), everything)
    return {key: float(COEFFICIENTS[key](sums).values[0]) for key in KEYS}


def repeat(job: tuple[Setting, int, int, Mapping[str, float], bool]) -> dict[str, Tally]:
    """Run some repetitions; return per coefficient how often each thing happened.

    ``METHOD`` and ``METHOD_lower``: the interval and the bound hold the true value;
    ``point_passes``, ``lower_passes``: they are .6 or more; ``repetitions``; ``half_width``, a sum.
    """
    setting, seed, count, true, compares = job
    random = np.random.default_rng([2026, seed])
    clusters = sorted(f"{n:05}" for n in range(setting.dilemmas))
    weights = np.concatenate(list(draw_weights(setting.dilemmas, draws=DRAWS, seed=seed)))
    found: dict[str, Tally] = {key: defaultdict(float) for key in KEYS}
    for _ in range(count):
        levels = simulate(setting, setting.dilemmas, random)
        table, by_response = sum_table(matrix_of(levels), clusters), None
        if compares:
            single = matrix_of(levels, by_response=True)
            by_response = sum_table(single, single.units)
        for key in KEYS:
            _note(found[key], key, table, by_response, weights, true[key], random)
    return found


def _note(
    counts: Tally,
    key: str,
    table: SumTable,
    by_response: SumTable | None,
    weights: Values,
    true: float,
    random: np.random.Generator,
) -> None:
    one = COEFFICIENTS[key](Weighted.of(table, everything))
    if not one.defined[0]:
        return  # counted by the repetitions that are missing
    estimate, bootstrap = (
        float(one.values[0]),
        COEFFICIENTS[key](Weighted.of(table, Drawn(weights))),
    )
    values = bootstrap.values[bootstrap.defined]
    without = _without_each(table, key)
    bounds: dict[str, tuple[float, float, float] | None] = {
        "jackknife": _student(estimate, without),
        "percentile": _percentile(values),
    }
    if by_response is not None:
        bounds["bca"] = _bca(estimate, values, without)
        bounds["responses"] = _student(estimate, _without_each(by_response, key))
        if key == "krippendorff_alpha_ordinal":
            bounds["pairs"] = _percentile(_drawn_pairs(table, random))
    for name, bound in bounds.items():
        # Without an interval nothing false is promised by the bound, and nothing true by the interval.
        counts[name] += bound is not None and bound[0] <= true <= bound[1]
        counts[f"{name}_lower"] += bound is None or bound[2] <= true
    lower = lower_bound(values, DRAWS - len(values))  # as reports have it
    counts["lower"] += lower is None or lower <= true
    counts["point_passes"] += estimate >= 0.6 - 1e-12
    counts["lower_passes"] += lower is not None and lower >= 0.6 - 1e-12
    counts["repetitions"] += 1
    if (interval := bounds["jackknife"]) is not None:
        counts["half_width"] += (interval[1] - interval[0]) / 2


def _without_each(table: SumTable, key: str) -> Values | None:
    replicates = COEFFICIENTS[key](Weighted.of(table, Without(0, table.n_clusters)))
    return replicates.values if replicates.defined.all() else None


def _student(estimate: float, without: Values | None) -> tuple[float, float, float] | None:
    """Return low, high and the one-sided lower bound of the jackknife."""
    if without is None:
        return None
    n = len(without)
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    half = libraries.t_quantile(0.975, n - 1) * error
    return estimate - half, estimate + half, estimate - libraries.t_quantile(0.95, n - 1) * error


def _percentile(values: Values) -> tuple[float, float, float] | None:
    interval = percentile_interval(values)
    return None if interval is None else (*interval, float(np.quantile(values, 0.05)))


def _bca(
    estimate: float, values: Values, without: Values | None
) -> tuple[float, float, float] | None:
    """Return the bias-corrected and accelerated points; ties count half."""
    if without is None or not len(values):
        return None
    share = float(((values < estimate) + 0.5 * (values == estimate)).mean())
    apart = without.mean() - without
    spread = float((apart**2).sum())
    if not 0 < share < 1 or not spread:
        return None
    bias, acceleration = NORMAL.inv_cdf(share), float((apart**3).sum()) / (6 * spread**1.5)
    moved = (bias + NORMAL.inv_cdf(p) for p in (0.025, 0.975, 0.05))
    points = [NORMAL.cdf(bias + z / (1 - acceleration * z)) for z in moved]
    low, high, lower = np.quantile(values, points)
    return float(low), float(high), float(lower)


def _drawn_pairs(table: SumTable, random: np.random.Generator) -> Values:
    """Return ordinal alpha over draws of single pairs, on complete ratings by three judges."""
    found = Weighted.of(table, everything).coincidences
    marginals, cells = found.rows("marginals")[:, 0], found.rows("cells")[:, 0]
    lower, upper = table.cell_levels
    ranks = marginals.cumsum() - marginals / 2
    apart = (ranks[upper] - ranks[lower]) ** 2
    n, pairs = marginals.sum(), int(found.row("pairs")[0])
    expected = (
        2 * (n * (marginals * ranks**2).sum() - (marginals * ranks).sum() ** 2) / (n * (n - 1))
    )
    shares = 2 * cells / table.coincidence_multiple / n
    drawn = random.multinomial(pairs, np.append(shares, 1 - shares.sum()), size=DRAWS)[:, :-1]
    return np.asarray(1 - drawn @ apart / pairs / expected)


def run(
    setting: Setting, reps: int, pool: ProcessPoolExecutor, *, compares: bool
) -> dict[str, dict[str, float]]:
    """Return, per coefficient, its true value and the shares of repetitions."""
    true, size = truth(setting), 100
    jobs = [(setting, seed, size, true, compares) for seed in range(reps // size)]
    totals: dict[str, Tally] = {key: defaultdict(float) for key in KEYS}
    for part in pool.map(repeat, jobs):
        for key, counts in part.items():
            for name, count in counts.items():
                totals[key][name] += count
    return {
        key: {"true": round(true[key], 4), "repetitions": int(counts["repetitions"])}
        | {
            name: round(counts[name] / counts["repetitions"], 4)
            for name in counts
            if name != "repetitions"
        }
        for key, counts in totals.items()
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
            found = run(tuned(base, kappa), reps, pool, compares=False)
            yield {"setting": base.name, "kappa": kappa, "found": found}


def picture(coverage: Sequence[Mapping[str, Any]]) -> str:
    """Draw coverage: a row per setting, a mark per method, a line at .95; bounds at the right."""
    left, wide, lowest = 250, 330, 0.70
    starts = {"": left, "_lower": left + wide + 40}
    marks = {  # colours that are told apart without red and green, and shapes
        "jackknife": ("#0b5394", '<circle cx="0" cy="0" r="4"/>'),
        "percentile": ("#b45f06", '<rect x="-4" y="-4" width="8" height="8"/>'),
        "bca": ("#6a329f", '<path d="M0-5 5 4H-5Z"/>'),
        "responses": ("#38761d", '<path d="M0-5 5 0 0 5-5 0Z"/>'),
        "pairs": ("#21211f", '<path d="M-4-4 4 4M-4 4 4-4" stroke="#21211f" stroke-width="2"/>'),
    }
    rows, y = [], 64
    for key in KEYS:
        rows.append(f'<text x="10" y="{y + 4}" font-weight="bold">{key}</text>')
        for entry in coverage:
            y += 17
            rows.append(f'<text x="20" y="{y + 4}">{entry["setting"]["name"]}</text>')
            for suffix, start in starts.items():
                for name, (colour, shape) in marks.items():
                    if (share := entry["found"][key].get(name + suffix)) is not None:
                        x = start + (max(share, lowest) - lowest) / (1 - lowest) * wide
                        rows.append(
                            f'<g transform="translate({x:.1f} {y})" fill="{colour}">{shape}</g>'
                        )
        y += 26
    height, width = y, left + 2 * wide + 70
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11" role="img" '
        'aria-label="Share of intervals, and of lower bounds, that hold the true value">',
        f'<rect width="{width}" height="{height}" fill="#fdfcf9"/>',
    ]
    for suffix, start in starts.items():
        title = "one-sided lower bound" if suffix else "two-sided interval"
        lines.append(f'<text x="{start}" y="34" font-weight="bold">{title}</text>')
        for tick in (0.70, 0.75, 0.80, 0.85, 0.90, 0.95, 1.0):
            x = start + (tick - lowest) / (1 - lowest) * wide
            stroke = "#21211f" if tick == 0.95 else "#d8d5cc"
            lines.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="54" y2="{height - 8}" stroke="{stroke}"/>'
                f'<text x="{x:.1f}" y="50" text-anchor="middle">{tick:.2f}</text>'
            )
    for place, (name, (colour, shape)) in enumerate(marks.items()):
        x = 20 + 110 * place
        lines.append(
            f'<g transform="translate({x} 14)" fill="{colour}">{shape}</g>'
            f'<text x="{x + 10}" y="18">{name}</text>'
        )
    return "\n".join([*lines, *rows, "</svg>\n"])


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2_000)
    parser.add_argument("--gate-reps", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        coverage = []
        for setting in SETTINGS:
            found = run(setting, options.reps, pool, compares=True)
            coverage.append({"setting": asdict(setting), "found": found})
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
    (options.docs / "img").mkdir(exist_ok=True)
    (options.docs / "coverage.json").write_text(
        json.dumps(study, indent=1) + "\n", encoding="utf-8"
    )
    (options.docs / "img" / "coverage.svg").write_text(picture(coverage), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
