"""What is shown rather than estimated: who gave what where, and means with their intervals."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.clustered import mean_of
from ratings.agreement.contrasts import Conditions, condition_labels
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.results import pair_key

Array = NDArray[np.float64]


def confusions(matrix: RatingMatrix) -> dict[str, list[list[int]]]:
    """Return by pair of raters how often the first (rows) and the second (columns) gave each level.

    Rows and columns are the declared levels, ascending; only units that both rated count.
    """
    levels, places = len(matrix.scale), matrix.places
    found = {}
    for one, other in combinations(range(len(matrix.raters)), 2):
        both = (places[:, one] >= 0) & (places[:, other] >= 0)
        if not both.any():
            continue
        cells = places[both, one] * levels + places[both, other]
        counts = np.bincount(cells, minlength=levels * levels).reshape(levels, levels)
        found[pair_key(matrix.raters[one], matrix.raters[other])] = counts.tolist()
    return found


def level_shares(matrix: RatingMatrix) -> list[float]:
    """Return the share of all ratings at each declared level; [] without any rating."""
    given = matrix.places[matrix.places >= 0]
    if not given.size:
        return []
    counts = np.bincount(given, minlength=len(matrix.scale))
    return [float(count) / given.size for count in counts]


def unit_means(matrix: RatingMatrix) -> dict[str, float]:
    """Return the mean over raters of each unit that anybody rated."""
    return {
        unit: float(row[present].mean())
        for unit, row, present in zip(matrix.units, matrix.values, matrix.present, strict=True)
        if present.any()
    }


def condition_intervals(
    matrix: RatingMatrix, conditions: Conditions, *, maximum: float = 1.0
) -> dict[Any, list[float] | None]:
    """Return by condition the interval of the mean over its units, clusters resampled.

    The mean is that of `comparison.condition_means`, divided by `maximum`; the interval is the
    cluster jackknife with t(K - 1). None where a cluster too few has the condition.
    """
    means, labels = unit_means(matrix), condition_labels(matrix, conditions)
    found: dict[Any, list[float] | None] = {}
    for condition in sorted(set(labels), key=str):
        chosen = [
            (means[unit], cluster)
            for unit, label, cluster in zip(matrix.units, labels, matrix.clusters, strict=True)
            if label == condition and unit in means
        ]
        values = np.array([value for value, _ in chosen]) / maximum
        figure = mean_of(values, [cluster for _, cluster in chosen]) if chosen else None
        found[condition] = list(figure.ci95) if figure and figure.ci95 else None
    return found


def cluster_means(
    matrix: RatingMatrix, conditions: Conditions, *, maximum: float = 1.0
) -> dict[str, dict[Any, float]]:
    """Return {cluster: {condition: mean over its units of the mean over raters, / maximum}}."""
    means, labels = unit_means(matrix), condition_labels(matrix, conditions)
    cells: dict[str, dict[Any, list[float]]] = {}
    for unit, label, cluster in zip(matrix.units, labels, matrix.clusters, strict=True):
        if unit in means:
            cells.setdefault(cluster, {}).setdefault(label, []).append(means[unit])
    return {
        cluster: {label: sum(v) / len(v) / maximum for label, v in sorted(by.items(), key=str)}
        for cluster, by in sorted(cells.items())
    }


def points(
    matrix: RatingMatrix, model: Mapping[str, Sequence[float | None]]
) -> list[tuple[float, float]]:
    """Return (people's mean, model's mean) of each unit that both judged, in the units' order."""
    people = unit_means(matrix)
    found = []
    for unit in matrix.units:
        scores = [score for score in model.get(unit, ()) if score is not None]
        if unit in people and scores:
            found.append((people[unit], sum(scores) / len(scores)))
    return found
