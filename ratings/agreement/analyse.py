"""Agreement on every criterion, with its uncertainty: the part that a report keeps."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ratings.agreement.coefficients import (
    COEFFICIENTS,
    REASON_OF_CODE,
    Drawn,
    Estimates,
    Weighted,
    Weighting,
    Without,
    cohen,
    everything,
    pair_totals,
    specific_agreement,
)
from ratings.agreement.crosscheck import check_coefficient, check_pairs
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.pairs import WEIGHTS
from ratings.agreement.resampling import (
    BLOCK,
    Block,
    blocks,
    jackknife_bound,
    jackknife_interval,
    lower_bound,
    percentile_interval,
)
from ratings.agreement.results import (
    BOUND_BY_JACKKNIFE,
    LISTWISE,
    Coefficient,
    CriterionAgreement,
    PairAgreement,
    pair_key,
)
from ratings.agreement.sums import SumTable, sum_table

Progress = Callable[[int, int], None]
Functions = Mapping[Any, Callable[[Weighted], Estimates]]
Found = dict[Any, Estimates]

# With three clusters one draw in nine holds a single one of them, so that the 5 % point of the
# draws, and the 2.5 % point, would be one cluster's own figure; with four it is one in 64.
SMALLEST_RESAMPLED = 4
_MANY_PAIRS = 100  # of raters, over all criteria
_AT_ONCE = 2  # blocks that one thread evaluates together: more no longer fit the cache


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
        Called after every 1,000 draws.

    Raises
    ------
    EngineDisagreement
        If a library computes a point estimate that differs by more than 1e-9.
    """
    clusters = cluster_labels(matrices)
    tables = {name: sum_table(matrix, clusters) for name, matrix in matrices.items()}
    points = {name: _points(table) for name, table in tables.items()}
    wanted = {name: _worth_drawing(tables[name], points[name]) for name in tables}
    drawn = bootstrap(tables, wanted, draws=draws, seed=seed, progress=progress)
    return {
        name: _criterion(name, matrix, tables[name], points[name], wanted[name], drawn[name])
        for name, matrix in matrices.items()
    }


def point_estimates(matrix: RatingMatrix, keys: Sequence[str]) -> dict[str, float | None]:
    """Return coefficients without intervals; None where undefined."""
    return _plain_values(sum_table(matrix, sorted(set(matrix.clusters))), keys)


def _plain_values(
    table: SumTable, keys: Sequence[str] = tuple(COEFFICIENTS)
) -> dict[str, float | None]:
    sums = Weighted.of(table, everything)
    found = {key: COEFFICIENTS[key](sums) for key in keys}
    return {key: float(one.values[0]) if one.defined[0] else None for key, one in found.items()}


def one_coefficient(table: SumTable, key: str, drawn: Estimates | None) -> Coefficient:
    """Return a coefficient as a report has it, over draws that were made; without any, no interval.

    For searches and simulations: nothing is compared with a library.
    """
    functions = {key: COEFFICIENTS[key]}
    point = functions[key](Weighted.of(table, everything))
    without = _without_each(table, functions) if drawn is not None and point.defined[0] else {}
    return _coefficient(key, point, without.get(key), drawn, table)


def cluster_labels(matrices: Mapping[str, RatingMatrix]) -> list[str]:
    """Return the clusters of all criteria, which one set of draws resamples."""
    return sorted({label for matrix in matrices.values() for label in matrix.clusters})


def bootstrap(
    tables: Mapping[str, SumTable],
    functions: Mapping[str, Functions],
    *,
    draws: int,
    seed: int,
    progress: Progress | None = None,
    workers: int | None = None,
) -> dict[str, Found]:
    """Return coefficients over bootstrap draws, the same draws for all tables.

    Parameters
    ----------
    tables : mapping of criterion to SumTable, all over the same clusters
    functions : mapping of criterion to its functions by key
    workers : int, optional
        Threads; without it as many as there are processors, or one for small tables. Estimates do
        not depend on it.
    """
    clusters = next(iter(tables.values())).n_clusters if tables else 0

    def evaluated(some: Sequence[Block]) -> dict[str, Found]:
        weights = np.concatenate([block.weights(clusters) for block in some])
        return {
            name: _found(table, Drawn(weights), functions[name]) for name, table in tables.items()
        }

    parts: list[dict[str, Found]] = []
    done, todo = 0, blocks(draws=draws, seed=seed) if clusters else []
    groups = [todo[start : start + _AT_ONCE] for start in range(0, len(todo), _AT_ONCE)]
    workers = workers or _threads(tables.values())
    with ThreadPoolExecutor(workers) as pool:
        try:
            results = pool.map(evaluated, groups) if workers > 1 else map(evaluated, groups)
            for group, found in zip(groups, results, strict=True):
                parts.append(found)
                done += sum(block.rows for block in group)
                if progress is not None:
                    progress(done, draws)
        finally:
            pool.shutdown(cancel_futures=True)
    return {
        name: {key: _joined([part[name][key] for part in parts]) for key in wanted}
        for name, wanted in functions.items()
    }


def _threads(tables: Iterable[SumTable]) -> int:
    """Return how many threads pay: numpy lets others work while it is at the sums over pairs.

    Where there are few pairs, Python's own part of the work, one thread at a time, is the larger.
    """
    if sum(len(table.pairs) for table in tables) < _MANY_PAIRS:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _found(table: SumTable, weighting: Weighting, functions: Functions) -> Found:
    sums = Weighted.of(table, weighting)
    return {key: _plain(function(sums)) for key, function in functions.items()}


def _points(table: SumTable) -> Found:
    sums = Weighted.of(table, everything)
    return {key: function(sums) for key, function in _functions(table).items()}


def _functions(table: SumTable) -> Functions:
    """Return the coefficients by key, and agreement specific to a level by the level's place."""
    levels = range(len(table.levels))
    specific = {place: partial(specific_agreement, place=place) for place in levels}
    return {**COEFFICIENTS, **specific}


def _worth_drawing(table: SumTable, points: Found) -> Functions:
    """Leave out what is undefined: it has no interval."""
    if int((table.column("paired_units") > 0).sum()) < SMALLEST_RESAMPLED:
        return {}
    return {key: one for key, one in _functions(table).items() if points[key].defined[0]}


def _criterion(
    name: str,
    matrix: RatingMatrix,
    table: SumTable,
    points: Found,
    functions: Functions,
    drawn: Found,
) -> CriterionAgreement:
    present = matrix.present
    without = _without_each(table, functions)
    made = {
        key: _coefficient(str(key), point, without.get(key), drawn.get(key), table)
        for key, point in points.items()
    }
    for key in COEFFICIENTS:
        if (estimate := made[key].estimate) is not None:
            check_coefficient(matrix, key, estimate)
    return CriterionAgreement(
        name=name,
        n_units=int(present.any(axis=1).sum()),
        n_raters=len(table.raters),
        n_ratings=int(present.sum()),
        coefficients={key: made[key] for key in COEFFICIENTS},
        pairs={pair.key: pair for pair in _pairs(matrix, table)},
        leave_one_out={
            rater: _plain_values(table.without_rater(place))
            for place, rater in enumerate(table.raters)
        },
        specific=_by_level(matrix, table, made),
        silent_raters=tuple(r for r in matrix.raters if r not in table.raters),
    )


def _by_level(
    matrix: RatingMatrix, table: SumTable, made: Mapping[Any, Coefficient]
) -> dict[float, Coefficient]:
    """Name agreement by level; what nobody gave has none."""
    place = {float(level): place for place, level in enumerate(table.values)}
    found = {}
    for level in matrix.scale:
        unused = Coefficient(key="", estimate=None, undefined="no_overlap")
        one = made[place[level]] if level in place else unused
        found[level] = replace(one, key=f"specific_agreement_{level:g}")
    return found


def _without_each(table: SumTable, functions: Functions) -> Found:
    parts = [
        _found(table, Without(first, min(first + BLOCK, table.n_clusters)), functions)
        for first in range(0, table.n_clusters if functions else 0, BLOCK)
    ]
    return {key: _joined([part[key] for part in parts]) for key in functions}


def _coefficient(
    key: str,
    point: Estimates,
    without: Estimates | None,
    drawn: Estimates | None,
    table: SumTable,
) -> Coefficient:
    used, active = _used(key, table)
    m = table.m[used]
    counts: dict[str, Any] = {
        "n_units": len(m),
        "n_raters": int((table.codes[:, used] >= 0).any(axis=1).sum()),
        "n_ratings": int(m.sum()),
        "n_pairs": int((m * (m - 1) // 2).sum()),
        "n_left_out": int((table.m > 0).sum()) - len(m),
        "n_clusters": int(active.sum()),
        "components": point.components(),
    }
    if not point.defined[0]:
        detail = ""
        if point.culprits is not None and table.pairs:
            detail = pair_key(*(table.raters[i] for i in table.pairs[point.culprits[0]]))
        reason = REASON_OF_CODE[int(point.codes[0])]
        return Coefficient(key=key, estimate=None, undefined=reason, detail=detail, **counts)
    estimate = float(point.values[0])
    if without is None or drawn is None or int(active.sum()) < SMALLEST_RESAMPLED:
        return Coefficient(key=key, estimate=estimate, **counts)
    defined = drawn.values[drawn.defined]
    undefined_draws = len(drawn.values) - len(defined)
    replicates = Estimates(without.values[active], without.codes[active])
    return Coefficient(
        key=key,
        estimate=estimate,
        ci95=jackknife_interval(estimate, replicates),
        percentile95=percentile_interval(defined),
        lower95=(
            jackknife_bound(estimate, replicates)
            if key in BOUND_BY_JACKKNIFE
            else lower_bound(defined, undefined_draws)
        ),
        draws=len(drawn.values),
        undefined_draws=undefined_draws,
        **counts,
    )


def _used(key: str, table: SumTable) -> tuple[Any, Any]:
    """Return which units a coefficient uses, and which clusters it hears of."""
    if key in LISTWISE:
        used = (table.m == len(table.raters)) & (table.m >= 2)
        return used, table.complete.row("n") > 0
    # Marginals over rated units hear of units with a single rating; the others do not.
    counted = "units" if key.startswith(("fleiss", "conger", "gwet")) else "paired_units"
    return table.m >= 2, table.column(counted) > 0


def _pairs(matrix: RatingMatrix, table: SumTable) -> list[PairAgreement]:
    pairs = []
    for start, totals in pair_totals(Weighted.of(table, everything)):
        kappas = {weights: cohen(totals, table.levels, weights) for weights in WEIGHTS}
        for place, n in enumerate(totals[0, :, 0]):
            first, second = (table.raters[i] for i in table.pairs[start + place])
            found = {
                weights: float(one.values[0, place])
                for weights, one in kappas.items()
                if one.defined[0, place]
            }
            pairs.append(
                PairAgreement(
                    first=first,
                    second=second,
                    n=int(n),
                    cohen_kappa=found.get("nominal"),
                    cohen_kappa_linear=found.get("linear"),
                    cohen_kappa_quadratic=found.get("quadratic"),
                    undefined=REASON_OF_CODE.get(int(kappas["nominal"].codes[0, place])),
                )
            )
    check_pairs(matrix, pairs)
    return pairs


def _plain(found: Estimates) -> Estimates:
    """Forget what an estimate over draws is made of, which would keep all totals in memory."""
    return Estimates(found.values, found.codes)


def _joined(parts: Sequence[Estimates]) -> Estimates:
    if not parts:
        return Estimates(np.zeros(0), np.zeros(0, dtype=np.int8))
    return Estimates(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.codes for part in parts]),
    )
