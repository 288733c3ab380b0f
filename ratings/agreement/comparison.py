"""Means by condition and judge, totals, groups of judges, and people against a model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from ratings.agreement import libraries
from ratings.agreement.analyse import point_estimates
from ratings.agreement.coefficients import Weighted, cohen, everything, pair_totals
from ratings.agreement.contrasts import Conditions, condition_labels, exact
from ratings.agreement.matrix import MatrixError, RatingMatrix
from ratings.agreement.sums import sum_table


def condition_means(
    matrices: Mapping[str, RatingMatrix], conditions: Conditions
) -> dict[Any, dict[str, dict[str, Any]]]:
    """Return {condition: {criterion: {"mean", "n_units", "n_ratings"}}}.

    The mean is over responses of the mean over their judges, so that a response read by fewer
    judges weighs as much; None where nothing was rated.
    """
    table: dict[Any, dict[str, dict[str, Any]]] = {}
    for criterion, matrix in matrices.items():
        labels = condition_labels(matrix, conditions)
        for condition in sorted(set(labels), key=str):
            chosen = np.array([label == condition for label in labels])
            values, present = matrix.values[chosen], matrix.present[chosen]
            rated = present.any(axis=1)
            means = np.nansum(values[rated], axis=1) / present[rated].sum(axis=1)
            table.setdefault(condition, {})[criterion] = {
                "mean": float(means.mean()) if means.size else None,
                "n_units": int(rated.sum()),
                "n_ratings": int(present.sum()),
            }
    return table


def condition_shares(total: RatingMatrix, conditions: Conditions) -> dict[Any, dict[str, Any]]:
    """Return {condition: {"mean", "n_units", "n_ratings"}} of a total as a share of its maximum.

    `total` is what `total_matrix` returns: a judge's total of a response needs all criteria. The
    mean is over responses of the mean over judges; None where no judge scored every criterion,
    or if the maximum is not positive.
    """
    maximum = total.scale[-1]
    table = {}
    for condition, found in condition_means({"total": total}, conditions).items():
        mean = found["total"]["mean"]
        share = None if mean is None or maximum <= 0 else mean / maximum
        table[condition] = found["total"] | {"mean": share}
    return table


def rater_means(matrices: Mapping[str, RatingMatrix]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return {rater: {criterion: {"mean", "n_ratings"}}}; None where nothing was rated."""
    table: dict[str, dict[str, dict[str, Any]]] = {}
    for criterion, matrix in matrices.items():
        for column, rater in enumerate(matrix.raters):
            scores = matrix.values[matrix.present[:, column], column]
            table.setdefault(rater, {})[criterion] = {
                "mean": float(scores.mean()) if scores.size else None,
                "n_ratings": int(scores.size),
            }
    return table


def total_matrix(matrices: Mapping[str, RatingMatrix]) -> RatingMatrix:
    """Return the sum of the criteria; a judge's total of a unit needs all of them.

    Its scale is every sum that the levels allow, so its largest level is the maximum that a
    share of the maximum divides by.
    """
    parts = list(matrices.values())
    if not parts:
        raise MatrixError("There is no criterion to add up.")
    units = sorted({unit for part in parts for unit in part.units})
    raters = sorted({rater for part in parts for rater in part.raters})
    clusters = {u: c for part in parts for u, c in zip(part.units, part.clusters, strict=True)}
    total = np.zeros((len(units), len(raters)))
    for part in parts:
        aligned = np.full_like(total, np.nan)
        rows = np.searchsorted(units, part.units)
        columns = np.searchsorted(raters, part.raters)
        aligned[np.ix_(rows, columns)] = part.values
        total += aligned
    sums = {Fraction(0)}
    for part in parts:
        sums = {so_far + exact(level) for so_far in sums for level in part.scale}
    scale = tuple(sorted(float(value) for value in sums))
    labels = tuple(clusters[unit] for unit in units)
    return RatingMatrix(total, scale, tuple(raters), tuple(units), labels)


@dataclass(frozen=True, kw_only=True)
class ModelComparison:
    """A model judge against the mean of the human judges, over responses that both judged.

    Attributes
    ----------
    spearman : float or None
        Rank correlation; None if undefined, with the reason in `undefined`.
    mean_difference, mean_absolute_error : float or None
        Of model - people; None without a common response.
    n_units : int
    """

    spearman: float | None
    undefined: str | None
    mean_difference: float | None
    mean_absolute_error: float | None
    n_units: int

    def to_dict(self) -> dict[str, Any]:
        """Write the comparison for the report's JSON."""
        return asdict(self)


def compare_with_model(
    matrix: RatingMatrix, model: Mapping[str, Sequence[float | None]]
) -> ModelComparison:
    """Compare per response the mean of the judges with the mean of the model's repetitions.

    `model` maps a unit to the scores of its repetitions, missing ones None; any real numbers.
    Spearman's rho needs two responses (``too_few_pairs``) and is undefined if either side is
    constant (``constant_rater``).
    """
    human, machine = [], []
    for row, unit in enumerate(matrix.units):
        scores = [float(s) for s in model.get(unit, ()) if s is not None and not math.isnan(s)]
        present = matrix.present[row]
        if scores and present.any():
            human.append(_mean(matrix.values[row, present].tolist()))
            machine.append(_mean(scores))
    if not human:
        return ModelComparison(
            spearman=None,
            undefined="no_overlap",
            mean_difference=None,
            mean_absolute_error=None,
            n_units=0,
        )
    people, judge = np.array(human), np.array(machine)
    undefined = None
    if len(people) < 2:
        undefined = "too_few_pairs"
    elif (people == people[0]).all() or (judge == judge[0]).all():
        undefined = "constant_rater"
    return ModelComparison(
        spearman=None if undefined else libraries.spearman(people, judge),
        undefined=undefined,
        mean_difference=float((judge - people).mean()),
        mean_absolute_error=float(np.abs(judge - people).mean()),
        n_units=len(people),
    )


def group_agreement(matrix: RatingMatrix, groups: Mapping[str, str]) -> dict[str, Any]:
    """Compare agreement within and between groups of judges, e.g. professions.

    Returns ``{"within": {GROUP: {"krippendorff_alpha_ordinal", "n_raters"}}, "between":
    {"G1|G2": {"cohen_kappa_quadratic", "n_pairs", "n_undefined"}}}``: ordinal alpha in each
    group of two judges or more; between groups the mean quadratic kappa of the defined pairs
    with one judge of each, and how many are not defined. Judges who rated nothing or have no
    group are left out.
    """
    table = sum_table(matrix, sorted(set(matrix.clusters)))
    members: dict[str, list[str]] = {}
    for rater in table.raters:
        if rater in groups:
            members.setdefault(groups[rater], []).append(rater)
    key = "krippendorff_alpha_ordinal"
    within = {
        group: {"n_raters": len(raters)} | point_estimates(matrix.only_raters(raters), [key])
        for group, raters in sorted(members.items())
        if len(raters) >= 2
    }
    kappas: dict[frozenset[str], float | None] = {}
    for start, totals in pair_totals(Weighted.of(table, everything)):
        found = cohen(totals, table.levels, "quadratic")
        for place, value in enumerate(found.values[0]):
            pair = frozenset(table.raters[i] for i in table.pairs[start + place])
            kappas[pair] = float(value) if found.defined[0, place] else None
    between = {}
    for one, other in combinations(sorted(members), 2):
        values = [kappas[frozenset((a, b))] for a in members[one] for b in members[other]]
        defined = [value for value in values if value is not None]
        between[f"{one}|{other}"] = {
            "cohen_kappa_quadratic": _mean(defined) if defined else None,
            "n_pairs": len(defined),
            "n_undefined": len(values) - len(defined),
        }
    return {"within": within, "between": between}


def _mean(values: Sequence[float]) -> float:
    """Return the correctly rounded mean, so that ties do not depend on the sequence."""
    return math.fsum(values) / len(values)
