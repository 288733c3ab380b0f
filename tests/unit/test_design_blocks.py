"""Balanced incomplete blocks: everybody judges as much, and with everybody else, as the others."""

import doctest
import hashlib
import itertools
from collections import Counter

import pytest

from ratings.design import blocks
from ratings.design.blocks import allocated


def loads(teams: list[tuple[int, ...]], judges: int) -> list[int]:
    found = Counter(judge for team in teams for judge in team)
    return [found[judge] for judge in range(judges)]


def shared(teams: list[tuple[int, ...]], judges: int) -> list[int]:
    found = Counter(pair for team in teams for pair in itertools.combinations(team, 2))
    return [found[pair] for pair in itertools.combinations(range(judges), 2)]


@pytest.mark.parametrize("judges", range(2, 10))
def test_loads_are_within_one_for_any_numbers(judges: int) -> None:
    for each in range(1, judges + 1):
        for dilemmas in (*range(2, 13), 30, 37, 40):
            teams = allocated(dilemmas, judges=judges, each=each, seed=dilemmas)
            assert len(teams) == dilemmas
            assert all(len(set(team)) == each and list(team) == sorted(team) for team in teams)
            assert max(loads(teams, judges)) - min(loads(teams, judges)) <= 1
            pairs = shared(teams, judges)
            assert max(pairs) - min(pairs) <= 3


@pytest.mark.parametrize(
    ("dilemmas", "judges", "each", "times"),
    [(30, 4, 2, 5), (30, 5, 3, 9), (30, 6, 3, 6), (28, 7, 3, 4), (14, 7, 4, 4), (36, 9, 3, 3),
     (30, 6, 2, 2), (20, 5, 4, 12), (36, 9, 2, 1)],
)  # fmt: skip
def test_pairs_are_equal_where_a_design_exists(
    dilemmas: int, judges: int, each: int, times: int
) -> None:
    for seed in range(5):
        teams = allocated(dilemmas, judges=judges, each=each, seed=seed)
        assert set(shared(teams, judges)) == {times}


@pytest.mark.parametrize(("dilemmas", "judges", "each"), [(30, 9, 3), (30, 7, 3), (29, 6, 2)])
def test_pairs_are_within_one_elsewhere(dilemmas: int, judges: int, each: int) -> None:
    for seed in range(5):
        pairs = shared(allocated(dilemmas, judges=judges, each=each, seed=seed), judges)
        assert max(pairs) - min(pairs) == 1


def test_all_judges_judge_all_where_each_is_all() -> None:
    assert allocated(3, judges=3, each=3, seed=1) == [(0, 1, 2)] * 3
    assert allocated(0, judges=3, each=2, seed=1) == []


def test_allocation_never_changes() -> None:
    teams = allocated(6, judges=4, each=2, seed=1)
    assert teams == [(0, 2), (1, 2), (1, 3), (0, 1), (2, 3), (0, 3)]
    teams = allocated(30, judges=9, each=3, seed=20261)
    assert hashlib.sha256(repr(teams).encode()).hexdigest()[:16] == "fe96455857290f6c"


@pytest.mark.parametrize("each", [0, 4])
def test_impossible_number_of_judges_is_refused(each: int) -> None:
    with pytest.raises(ValueError, match="at least one judge"):
        allocated(5, judges=3, each=each, seed=1)


def test_examples_in_the_docstrings_are_true() -> None:
    assert doctest.testmod(blocks)[0] == 0
