"""Best and worst fills, and the changes that turn a verdict, against trying everything."""

import itertools
import math

import numpy as np
import pytest

from ratings.agreement.analyse import evaluate, point_estimates
from ratings.agreement.coefficients import COEFFICIENTS
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.turning import changes_to_turn, fills, measure

KEYS = ("fleiss_kappa", "krippendorff_alpha_ordinal")
SCALE = (0.0, 1.0, 2.0)


def matrix_of(table) -> RatingMatrix:
    values = np.array(table, dtype=float)
    units = tuple(f"u{row:02}" for row in range(len(values)))
    clusters = tuple(f"d{row // 2}" for row in range(len(values)))
    raters = tuple(f"r{column}" for column in range(values.shape[1]))
    return RatingMatrix(values, SCALE, raters, units, clusters)


def some(seed=1, units=8, judges=3) -> RatingMatrix:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, (units, 1))
    table = np.where(
        random.random((units, judges)) < 0.7, truth, random.integers(0, 3, (units, judges))
    )
    return matrix_of(table)


def value(matrix, key) -> float | None:
    return point_estimates(matrix, [key])[key]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("seed", range(4))
def test_fills_are_those_of_trying_every_one(key, seed):
    matrix = some(seed)
    owed = np.zeros(matrix.values.shape, dtype=bool)
    for cell in ((0, 0), (3, 1), (5, 2)):
        owed[cell] = True
    gone = matrix_of(np.where(owed, np.nan, matrix.values))
    tried = []
    for levels in itertools.product(SCALE, repeat=3):
        values = gone.values.copy()
        values[owed] = levels
        tried.append(value(matrix_of(values), key))
    found = fills(gone, owed, key, draws=0, seed=1)
    assert found.missing == 3
    assert found.best.estimate == pytest.approx(max(tried))
    assert found.worst.estimate == pytest.approx(min(tried))


def test_what_was_never_asked_for_is_not_filled():
    matrix = matrix_of([[0, 0, math.nan], [1, 2, math.nan], [2, 2, 2]])
    found = fills(matrix, np.zeros((3, 3), dtype=bool), "fleiss_kappa", draws=50, seed=1)
    assert found.missing == 0
    assert found.best == found.worst == measure(matrix, "fleiss_kappa", draws=50, seed=1)


def test_measure_is_what_the_report_says():
    matrix = some(3, units=20)
    report = evaluate({"s": matrix}, draws=700, seed=5)["s"]
    for key in COEFFICIENTS:
        one, found = report.coefficients[key], measure(matrix, key, draws=700, seed=5)
        assert (found.estimate, found.lower95) == (one.estimate, one.lower95)


def fewest_by_trying(matrix, key, reaches, most) -> int | None:
    held = reaches(matrix)
    cells = list(np.ndindex(matrix.values.shape))
    for n in range(1, most + 1):
        for chosen in itertools.combinations(cells, n):
            for levels in itertools.product(SCALE, repeat=n):
                values = matrix.values.copy()
                for cell, level in zip(chosen, levels, strict=True):
                    values[cell] = level
                if reaches(matrix_of(values)) != held:
                    return n
    return None


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("seed", range(3))
def test_changes_that_turn_are_as_few_as_trying_everything_finds(key, seed):
    matrix = some(seed, units=5)
    now = value(matrix, key)

    def reaches_by(threshold):
        return lambda one: (value(one, key) or -1.0) >= threshold

    for threshold in (now - 0.05, now + 0.1):
        reaches = reaches_by(threshold)
        exact = fewest_by_trying(matrix, key, reaches, 2)
        found = changes_to_turn(matrix, key, reaches, limit=15)
        assert found == exact


def test_a_rule_that_nothing_meets_is_not_turned():
    assert changes_to_turn(some(), "fleiss_kappa", lambda _: False, limit=3) is None
    assert changes_to_turn(some(), "fleiss_kappa", lambda _: False, limit=10**6) is None
    assert changes_to_turn(some(), "fleiss_kappa", lambda _: True, limit=0) is None


def test_a_table_without_variation_can_be_turned_once_it_varies():
    matrix = matrix_of([[1, 1, 1]] * 4)
    reaches = lambda one: (value(one, "fleiss_kappa") or 0.0) >= 0.6  # noqa: E731
    assert changes_to_turn(matrix, "fleiss_kappa", reaches, limit=6) == 3
