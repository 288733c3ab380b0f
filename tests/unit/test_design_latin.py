"""The old order, which panels frozen with it go on with: it must never change."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratings.design.latin import serving_orders
from ratings.design.random64 import Random64

Items = list[tuple[str, str, str]]


def by_round(order: list[str], items: Items) -> dict[str, list[int]]:
    """Count each condition as the t-th of its dilemma, for each t."""
    of_key = {key: (d, c) for d, c, key in items}
    met: Counter[str] = Counter()
    table: dict[str, Counter[int]] = {}
    for key in order:
        dilemma, condition = of_key[key]
        table.setdefault(condition, Counter())[met[dilemma]] += 1
        met[dilemma] += 1
    return {c: [table[c][t] for t in range(max(met.values()))] for c in sorted(table)}


def complete(dilemmas: int, conditions: int, replicates: int = 1) -> Items:
    return [
        (f"d{d:02}", "ABCDEFG"[c], f"d{d:02}{'ABCDEFG'[c]}{r}")
        for d in range(dilemmas)
        for c in range(conditions)
        for r in range(replicates)
    ]


def test_v1_panel_is_balanced_for_every_judge() -> None:
    items = complete(30, 5)
    orders = serving_orders(items, judges=3, seed=20261)
    of_key = {key: (d, c) for d, c, key in items}
    for order in orders:
        assert sorted(order) == sorted(of_key)
        assert by_round(order, items) == {c: [6] * 5 for c in "ABCDE"}
        dilemmas = [of_key[key][0] for key in order]
        last: dict[str, int] = {}
        for slot, dilemma in enumerate(dilemmas):
            assert slot - last.get(dilemma, -99) >= 15
            last[dilemma] = slot
    for slot in zip(*orders, strict=True):
        assert len({of_key[key][1] for key in slot}) == 3


def test_places_and_neighbours_within_a_dilemma_are_balanced_over_a_v1_panel() -> None:
    items = complete(30, 5)
    of_key = {key: (d, c) for d, c, key in items}
    (order,) = serving_orders(items, judges=1, seed=4)
    within: dict[str, list[str]] = {}
    for key in order:
        within.setdefault(of_key[key][0], []).append(of_key[key][1])
    pairs = Counter(pair for row in within.values() for pair in itertools.pairwise(row))
    assert len(pairs) == 20 and set(pairs.values()) == {6}


def test_order_does_not_depend_on_the_sequence_of_the_items_nor_on_more_judges() -> None:
    items = complete(6, 5)
    shuffled = Random64(9).shuffled(items)
    assert serving_orders(items, judges=3, seed=5) == serving_orders(shuffled, judges=3, seed=5)
    assert serving_orders(items, judges=2, seed=5) == serving_orders(items, judges=7, seed=5)[:2]


def test_other_seeds_give_other_orders() -> None:
    items = complete(6, 5)
    orders = {tuple(serving_orders(items, judges=1, seed=seed)[0]) for seed in range(20)}
    assert len(orders) == 20


def test_small_order_never_changes() -> None:
    orders = serving_orders(complete(2, 3), judges=2, seed=1)
    assert [" ".join(order) for order in orders] == [
        "d00C0 d01B0 d00B0 d01A0 d00A0 d01C0",
        "d00B0 d01A0 d00A0 d01C0 d00C0 d01B0",
    ]


def test_demo_of_two_dilemmas_alternates() -> None:
    for order in serving_orders(complete(2, 5), judges=3, seed=8):
        assert all(a[:3] != b[:3] for a, b in itertools.pairwise(order))


def test_replicates_are_all_served_and_balanced() -> None:
    items = complete(10, 5, replicates=2)
    for order in serving_orders(items, judges=3, seed=2):
        assert sorted(order) == sorted(key for _, _, key in items)
        assert by_round(order, items) == {c: [2] * 10 for c in "ABCDE"}


def test_nothing_to_serve_is_an_empty_order() -> None:
    assert serving_orders([], judges=2, seed=1) == [[], []]


def test_one_dilemma_is_served_though_it_must_follow_itself() -> None:
    (order,) = serving_orders(complete(1, 3), judges=1, seed=1)
    assert len(order) == 3


@pytest.mark.parametrize(
    ("items", "judges"), [([("d", "A", "x"), ("d", "B", "x")], 1), ([("d", "A", "x")], 0)]
)
def test_impossible_input_is_refused(items: Items, judges: int) -> None:
    with pytest.raises(ValueError):
        serving_orders(items, judges=judges, seed=1)


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 5), st.integers(0, 1)), min_size=1),
    st.integers(0, 2**64),
)
def test_gaps_lose_nothing_and_dilemmas_stay_apart(
    cells: set[tuple[int, int, int]], seed: int
) -> None:
    items = [(d, c, (d, c, r)) for d, c, r in cells]
    most = max(Counter(d for d, _, _ in cells).values())
    for order in serving_orders(items, judges=2, seed=seed):
        assert sorted(order) == sorted(cells)
        touching = sum(a[0] == b[0] for a, b in itertools.pairwise(order))
        assert touching <= max(0, 2 * most - len(cells) - 1)
