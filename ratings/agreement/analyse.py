"""Agreement on every criterion, with its uncertainty: the part that a report keeps."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ratings.agreement.coefficients import (
    COEFFICIENTS,
    LARGEST_BLOCK,
    REASON_OF_CODE,
    Drawn,
    Estimates,
    Weighted,
    Without,
    cohen,
    everything,
    pair_totals,
)
from ratings.agreement.crosscheck import check_coefficient, check_pair
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.resampling import (
    draw_weights,
    jackknife_interval,
    lower_bound,
    percentile_interval,
)
from ratings.agreement.results import Coefficient, CriterionAgreement, PairAgreement
from ratings.agreement.sums import SumTable, sum_table

Progress = Callable[[int, int], None]

LEAVE_ONE_OUT = (
    "fleiss_kappa",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
)
SMALLEST_RESAMPLED = 2  # clusters
WEIGHTS = ("nominal", "linear", "quadratic")


def analyse(
    matrices: Mapping[str, RatingMatrix],
    *,
    draws: int,
    seed: int,
    progress: Progress | None = None,
) -> dict[str, dict[str, Any]]:
    """Return the report's ``criteria`` in plain values, ready for JSON.

    See `evaluate` for the arguments and what is raised.
    """
    evaluated = evaluate(matrices, draws=draws, seed=seed, progress=progress)
    return {name: criterion.to_dict() for name, criterion in evaluated.items()}


def evaluate(
    matrices: Mapping[str, RatingMatrix],
    *,
    draws: int,
    seed: int,
    progress: Progress | None = None,
) -> dict[str, CriterionAgreement]:
    """Compute every coefficient of every criterion; criteria are never pooled.

    Parameters
    ----------
    matrices : mapping of criterion to RatingMatrix
    draws : int
        Bootstrap draws; 0 leaves percentile and lower bound out. One set of draws serves all
        criteria, over the clusters of all of them.
    seed : int
        As registered in the protocol.
    progress : callable (done, of), optional
        Called after every 500 draws.

    Raises
    ------
    EngineDisagreement
        If a library computes a point estimate that differs by more than 1e-9.
    """
    clusters = sorted({label for matrix in matrices.values() for label in matrix.clusters})
    tables = {name: sum_table(matrix, clusters) for name, matrix in matrices.items()}
    drawn = _bootstrap(tables, len(clusters), draws=draws, seed=seed, progress=progress)
    return {
        name: _criterion(name, matrix, tables[name], drawn[name])
        for name, matrix in matrices.items()
    }


def point_estimates(matrix: RatingMatrix, keys: Sequence[str]) -> dict[str, float | None]:
    """Return coefficients without intervals; None where undefined."""
    sums = Weighted.of(sum_table(matrix, sorted(set(matrix.clusters))), everything)
    found = {key: COEFFICIENTS[key](sums) for key in keys}
    return {key: float(one.values[0]) if one.defined[0] else None for key, one in found.items()}


def _bootstrap(
    tables: Mapping[str, SumTable],
    clusters: int,
    *,
    draws: int,
    seed: int,
    progress: Progress | None,
) -> dict[str, dict[str, Estimates]]:
    parts: dict[str, dict[str, list[Estimates]]] = {
        name: {key: [] for key in COEFFICIENTS} for name in tables
    }
    done = 0
    for weights in draw_weights(clusters, draws=draws, seed=seed) if clusters else ():
        for name, table in tables.items():
            sums = Weighted.of(table, Drawn(weights))
            for key, function in COEFFICIENTS.items():
                parts[name][key].append(function(sums))
        done += len(weights)
        if progress is not None:
            progress(done, draws)
    return {
        name: {key: _joined(found) for key, found in by_key.items()}
        for name, by_key in parts.items()
    }


def _criterion(
    name: str, matrix: RatingMatrix, table: SumTable, drawn: Mapping[str, Estimates]
) -> CriterionAgreement:
    present = matrix.present
    sums = Weighted.of(table, everything)
    without = _without_each(table)
    coefficients = {
        key: _coefficient(key, function(sums), without[key], drawn[key], table, matrix)
        for key, function in COEFFICIENTS.items()
    }
    silent = tuple(r for r in matrix.raters if r not in table.raters)
    return CriterionAgreement(
        name=name,
        n_units=int(present.any(axis=1).sum()),
        n_raters=len(table.raters),
        n_ratings=int(present.sum()),
        coefficients=coefficients,
        pairs={pair.key: pair for pair in _pairs(matrix, table, sums)},
        leave_one_out={
            rater: point_estimates(matrix.without_rater(rater), LEAVE_ONE_OUT)
            for rater in table.raters
        },
        silent_raters=silent,
    )


def _without_each(table: SumTable) -> dict[str, Estimates]:
    parts: dict[str, list[Estimates]] = {key: [] for key in COEFFICIENTS}
    clusters = len(table.columns)
    for first in range(0, clusters, LARGEST_BLOCK):
        sums = Weighted.of(table, Without(first, min(first + LARGEST_BLOCK, clusters)))
        for key, function in COEFFICIENTS.items():
            parts[key].append(function(sums))
    return {key: _joined(found) for key, found in parts.items()}


def _coefficient(
    key: str,
    point: Estimates,
    without: Estimates,
    drawn: Estimates,
    table: SumTable,
    matrix: RatingMatrix,
) -> Coefficient:
    present = matrix.present
    paired = present.sum(axis=1) >= 2
    # Only Fleiss' marginals hear of units with a single rating.
    counted = table.column("units" if key.startswith("fleiss") else "paired_units")
    active = counted > 0
    counts: dict[str, Any] = {
        "n_units": int(paired.sum()),
        "n_raters": int(present[paired].any(axis=0).sum()),
        "n_ratings": int(present[paired].sum()),
        "n_clusters": int(active.sum()),
    }
    if not point.defined[0]:
        detail = ""
        if point.culprits is not None and table.pairs:
            detail = "|".join(table.raters[i] for i in table.pairs[point.culprits[0]])
        reason = REASON_OF_CODE[int(point.codes[0])]
        return Coefficient(key=key, estimate=None, undefined=reason, detail=detail, **counts)
    estimate = float(point.values[0])
    check_coefficient(matrix, key, estimate)
    defined = drawn.values[drawn.defined]
    undefined_draws = len(drawn.values) - len(defined)
    # One cluster resampled is itself: a bound of no width would say more than the data do.
    resampled = int(active.sum()) >= SMALLEST_RESAMPLED
    return Coefficient(
        key=key,
        estimate=estimate,
        ci95=jackknife_interval(estimate, Estimates(without.values[active], without.codes[active])),
        percentile95=percentile_interval(defined) if resampled else None,
        lower95=lower_bound(defined, undefined_draws) if resampled else None,
        draws=len(drawn.values),
        undefined_draws=undefined_draws,
        **counts,
    )


def _pairs(matrix: RatingMatrix, table: SumTable, sums: Weighted) -> list[PairAgreement]:
    pairs = []
    for start, totals in pair_totals(sums):
        kappas = {weights: cohen(totals, table.levels, weights) for weights in WEIGHTS}
        for place in range(totals.shape[1]):
            first, second = (table.raters[i] for i in table.pairs[start + place])
            found = {
                weights: float(one.values[0, place])
                for weights, one in kappas.items()
                if one.defined[0, place]
            }
            check_pair(matrix, first, second, found)
            pairs.append(
                PairAgreement(
                    first=first,
                    second=second,
                    n=int(totals[0, place, 0]),
                    cohen_kappa=found.get("nominal"),
                    cohen_kappa_linear=found.get("linear"),
                    cohen_kappa_quadratic=found.get("quadratic"),
                    undefined=REASON_OF_CODE.get(int(kappas["nominal"].codes[0, place])),
                )
            )
    return pairs


def _joined(parts: Sequence[Estimates]) -> Estimates:
    if not parts:
        return Estimates(np.zeros(0), np.zeros(0, dtype=np.int8))
    return Estimates(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.codes for part in parts]),
    )
