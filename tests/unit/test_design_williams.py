"""Rows: places and neighbours equal, or as nearly so as is possible at all."""

import doctest
import itertools
from collections import Counter

import pytest

from ratings.design import williams
from ratings.design.williams import Row, balanced_rows, least_difference, williams_rows


def differences(rows: list[Row], k: int) -> tuple[int, int]:
    """Most minus least frequent (place, condition), and ordered pair of neighbours."""
    places = Counter((place, label) for row in rows for place, label in enumerate(row))
    pairs = Counter(pair for row in rows for pair in itertools.pairwise(row))
    at = [places[cell] for cell in itertools.product(range(k), repeat=2)]
    after = [pairs[pair] for pair in itertools.permutations(range(k), 2)]
    return max(at) - min(at), max(after) - min(after)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 8, 9])
def test_williams_rows_balance_places_and_neighbours(k: int) -> None:
    rows = williams_rows(k)
    assert len(set(rows)) == (k if k % 2 == 0 else 2 * k)
    assert differences(rows, k) == (0, 0)


def test_williams_rows_for_five_start_as_the_protocol_says() -> None:
    assert williams_rows(5)[0] == (0, 1, 4, 2, 3)
    assert williams_rows(5)[5] == (3, 2, 4, 1, 0)
    assert balanced_rows(5, 30) == williams_rows(5) * 3


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("count", range(1, 41))
def test_balanced_rows_reach_what_is_possible(k: int, count: int) -> None:
    rows = balanced_rows(k, count)
    assert len(rows) == count and all(sorted(row) == list(range(k)) for row in rows)
    places, neighbours = differences(rows, k)
    assert places <= (0 if count % k == 0 else 1)
    assert neighbours == least_difference(k, count)


@pytest.mark.parametrize("k", [7, 9])
def test_many_odd_conditions_are_within_two(k: int) -> None:
    for count in range(1, 4 * k):
        places, neighbours = differences(balanced_rows(k, count), k)
        assert places <= 1 and neighbours <= (0 if count % (2 * k) == 0 else 2)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7])
def test_every_group_of_rows_meets_different_conditions(k: int) -> None:
    for count in range(1, 45):
        rows = balanced_rows(k, count)
        for start in range(0, count, k):
            for labels in zip(*rows[start : start + k], strict=True):
                assert len(set(labels)) == len(labels)


def test_three_conditions_have_no_better_rows() -> None:
    """All sets of 2, 3 and 4 rows of three, tried out."""
    every = list(itertools.permutations(range(3)))
    for count in (2, 3, 4):
        found = [
            neighbours
            for rows in itertools.combinations_with_replacement(every, count)
            for places, neighbours in [differences(list(rows), 3)]
            if places <= 1
        ]
        assert min(found) == 2 == least_difference(3, count)


def test_examples_in_the_docstrings_are_true() -> None:
    assert doctest.testmod(williams)[0] == 0


@pytest.mark.long
@pytest.mark.parametrize("count", [4, 5, 6])
def test_five_conditions_have_no_better_rows(count: int) -> None:
    """Integer programming over all 120 rows finds no set within one, as it does for any other."""
    assert not _exists_within_one(5, count)
    assert _exists_within_one(5, 3) and _exists_within_one(5, 7)


def _exists_within_one(k: int, count: int) -> bool:
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    every = list(itertools.permutations(range(k)))
    cells = [[row[p] == c for row in every] for p in range(k) for c in range(k)]
    pairs = [
        [pair in itertools.pairwise(row) for row in every]
        for pair in itertools.permutations(range(k), 2)
    ]
    total = count * (k - 1)
    low = [count // k] * len(cells) + [total // len(pairs)] * len(pairs)
    high = [-(-count // k)] * len(cells) + [-(-total // len(pairs))] * len(pairs)
    matrix = np.array([*cells, *pairs, [True] * len(every)], dtype=float)
    found = milp(
        np.zeros(len(every)),
        constraints=LinearConstraint(matrix, [*low, count], [*high, count]),
        integrality=np.ones(len(every)),
        bounds=Bounds(0, count),
    )
    return found.x is not None
