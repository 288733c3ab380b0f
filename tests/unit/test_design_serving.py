"""Served orders: every invariant of the order section, counted here anew and not by the product."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratings.design.algorithms import ALGORITHMS
from ratings.design.random64 import Random64
from ratings.design.serving import crossed, grouped

Key = tuple[int, str]  # (dilemma, condition)
Order = list[list[Key]]


def complete(n: int, k: int) -> list[tuple[int, str, Key]]:
    return [(d, c, (d, c)) for d in range(n) for c in "ABCDEFGHI"[:k]]


def flat(order: Order) -> list[Key]:
    return [key for block in order for key in block]


def rows(order: list[Key]) -> dict[int, list[str]]:
    """Dilemma → its conditions in the order in which the judge meets them."""
    met: dict[int, list[str]] = {}
    for dilemma, condition in order:
        met.setdefault(dilemma, []).append(condition)
    return met


def gaps(order: list[Key]) -> Iterator[int]:
    last: dict[int, int] = {}
    for slot, (dilemma, _) in enumerate(order):
        if dilemma in last:
            yield slot - last[dilemma]
        last[dilemma] = slot


def counts(pairs: Counter[tuple[str, str]], k: int) -> list[int]:
    return [pairs[pair] for pair in itertools.permutations("ABCDEFGHI"[:k], 2)]


def neighbours(order: list[Key]) -> Counter[tuple[str, str]]:
    return Counter(pair for row in rows(order).values() for pair in itertools.pairwise(row))


def followers(order: list[Key]) -> Counter[tuple[str, str]]:
    return Counter(itertools.pairwise(condition for _, condition in order))


def check_v1(seed: int) -> None:
    orders = crossed(complete(30, 5), judges=range(3), seed=seed)
    for order in orders:
        served = flat(order)
        assert sorted(served) == [(d, c) for d in range(30) for c in "ABCDE"]
        # each mini-block holds all five, and position × condition = 6
        assert [sorted(c for _, c in block) for block in order] == [list("ABCDE")] * 30
        places = Counter((p, c) for block in order for p, (_, c) in enumerate(block))
        assert list(places.values()) == [6] * 25
        # condition × round = 6, and each round serves each dilemma once
        for start in range(0, 150, 30):
            part = served[start : start + 30]
            assert sorted(d for d, _ in part) == list(range(30))
            assert set(Counter(c for _, c in part).values()) == {6}
        # the order within the dilemmas: each of the ten rows three times, each pair six times
        assert set(Counter(map(tuple, rows(served).values())).values()) == {3}
        assert counts(neighbours(served), 5) == [6] * 20
        # served pairs 11 × 7 + 9 × 8 = 149, nothing after itself, 1 to 2 at the borders
        assert Counter(counts(followers(served), 5)) == {7: 11, 8: 9}
        borders = Counter((a[-1][1], b[0][1]) for a, b in itertools.pairwise(order))
        assert set(counts(borders, 5)) == {1, 2} and borders.total() == 29
        assert min(gaps(served)) >= 20
    for slot in zip(*map(flat, orders), strict=True):
        assert len({condition for _, condition in slot}) == 3
    for dilemma in range(30):
        for place in zip(*(rows(flat(order))[dilemma] for order in orders), strict=True):
            assert len(set(place)) == 3


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_v1_panel_holds_every_invariant(first: int) -> None:
    for seed in range(first, first + 20):
        check_v1(seed)


def check_general(n: int, k: int, seed: int, judges: list[int]) -> None:
    """The rules for any n dilemmas × k conditions; `judges` are some judges' numbers."""
    orders = [flat(order) for order in crossed(complete(n, k), judges=judges, seed=seed)]
    cells = set(itertools.product(range(n), "ABCDEFGHI"[:k]))
    for order in orders:
        assert len(order) == n * k and set(order) == cells
        for start in range(0, n * k, n):
            part = order[start : start + n]
            assert len({d for d, _ in part}) == n
            found = Counter(c for _, c in part)
            at = [found[c] for c in "ABCDEFGHI"[:k]]
            assert max(at) - min(at) <= (0 if n % k == 0 else 1)
        within = counts(neighbours(order), k)
        hard = (k == 3 and n % 6 in (2, 3, 4)) or (k == 5 and n in (4, 5, 6))
        exact = n % (k if k % 2 == 0 else 2 * k) == 0
        assert max(within) - min(within) <= (0 if exact else 2 if hard else 1)
        served = followers(order)
        assert max(counts(served, k)) - min(counts(served, k)) <= 2
        assert k == 2 or not any(a == b for a, b in served)
        assert min(gaps(order)) >= (1 if n == 2 and k in (4, 6) else -(-2 * n // 3))
    for slot in zip(*orders, strict=True):
        alike = Counter(condition for _, condition in slot)
        assert max(alike.values()) == -(-len(judges) // k)  # consecutive numbers


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_general_rules_hold_for_any_numbers(k: int) -> None:
    for n in range(2, 41):
        check_general(n, k, seed=n + 100 * k, judges=[0, 1, 2])


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("n", range(2, 41))
def test_general_rules_hold_for_two_to_nine_judges(n: int, k: int) -> None:
    """An order does not depend on who else judges, so nine judges stand for fewer."""
    for seed in range(3):
        check_general(n, k, seed=seed, judges=list(range(9)))


def test_nine_judges_differ_as_far_as_they_can() -> None:
    orders = [flat(order) for order in crossed(complete(20, 4), judges=range(9), seed=1)]
    for slot in zip(*orders, strict=True):
        assert sorted(Counter(condition for _, condition in slot).values()) == [2, 2, 2, 3]
    assert len(set(map(tuple, orders))) == 9


def test_orders_are_those_of_seed_and_number_alone() -> None:
    items = complete(12, 5)
    for algorithm in (crossed, grouped):
        everybody = algorithm(items, judges=range(5), seed=7)
        assert algorithm(Random64(3).shuffled(items), judges=[4], seed=7) == [everybody[4]]
        assert algorithm(items, judges=[2, 1], seed=7) == [everybody[2], everybody[1]]
        assert algorithm(items, judges=[0], seed=8) != everybody[:1]


def test_judges_meet_the_dilemmas_in_different_sequences() -> None:
    orders = crossed(complete(30, 5), judges=range(3), seed=5)
    sequences = [[dilemma for dilemma, _ in flat(order)] for order in orders]
    for one, two in itertools.combinations(sequences, 2):
        assert sum(a == b for a, b in zip(one, two, strict=True)) < 40  # 150 before the mixing


def test_dilemmas_do_not_keep_their_part_of_the_round() -> None:
    """The mixing reaches everybody: over seeds, a dilemma is early and late in the last round."""
    places = [
        [d for d, _ in flat(crossed(complete(30, 5), judges=[0], seed=s)[0])][120:].index(3)
        for s in range(40)
    ]
    assert min(places) < 6 and max(places) >= 24 and len(set(places)) > 12


@pytest.mark.parametrize("n", [4, 7, 30])
def test_grouped_keeps_a_dilemma_together_and_its_rows_balanced(n: int) -> None:
    orders = grouped(complete(n, 5), judges=range(3), seed=n)
    for order in orders:
        assert [len({d for d, _ in block}) for block in order] == [1] * n
        assert sorted(flat(order)) == sorted(key for _, _, key in complete(n, 5))
        served = followers(flat(order))
        assert not any(a == b for a, b in served)
        within = counts(neighbours(flat(order)), 5)
        assert max(within) - min(within) == {4: 2, 7: 1, 30: 0}[n]
    assert max(counts(followers(flat(orders[0])), 5)) <= {4: 2, 7: 2, 30: 8}[n]
    for dilemma in range(n):
        for place in zip(*(rows(flat(order))[dilemma] for order in orders), strict=True):
            assert len(set(place)) == 3
    first = {tuple(block[0][0] for block in order) for order in orders}
    assert len(first) == 3


# --- golden orders: the same on every Python, for ever -------------------------------------------


def written(order: Order) -> str:
    return " ".join("".join(f"{d}{c}" for d, c in block) for block in order)


def digest(name: str, n: int, k: int) -> str:
    orders = ALGORITHMS[name](complete(n, k), judges=range(3), seed=20261)
    return hashlib.sha256("\n".join(map(written, orders)).encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        ("williams-1", ["0A1B2C 0B1C2A 0C2B1A", "0B1C2A 0C1A2B 0A2C1B"]),
        ("grouped-1", ["0A0B0C 1B1C1A 2C2A2B", "0B0C0A 1C1A1B 2A2B2C"]),
    ],
)
def test_small_orders_never_change(name: str, orders: list[str]) -> None:
    found = ALGORITHMS[name](complete(3, 3), judges=range(2), seed=1)
    assert [written(order) for order in found] == orders


@pytest.mark.parametrize(
    ("name", "n", "k", "expected"),
    [
        ("williams-1", 30, 5, "519b656fdff802a1"),
        ("williams-1", 7, 5, "e8b0e529f2ea0086"),
        ("williams-1", 12, 4, "e45f4c81b4ef9066"),
        ("williams-1", 10, 2, "8dbe0b26f15089d7"),
        ("grouped-1", 30, 5, "209657346f3e52b9"),
        ("grouped-1", 7, 5, "fabe0c9b51688545"),
        ("latin-1", 30, 5, "59015d1e4fab911d"),
        ("latin-1", 7, 5, "77fff65d0e4bec9c"),
    ],
)
def test_orders_never_change(name: str, n: int, k: int, expected: str) -> None:
    assert digest(name, n, k) == expected


# --- what is not a plain crossing ----------------------------------------------------------------


def test_two_dilemmas_alternate() -> None:
    for order in crossed(complete(2, 5), judges=range(3), seed=8):
        assert min(gaps(flat(order))) == 2


def test_replicates_are_all_served_in_balance() -> None:
    items = [(d, c, (d, f"{c}{r}")) for d in range(10) for c in "ABCDE" for r in range(2)]
    for order in crossed(items, judges=range(3), seed=2):
        served = flat(order)
        assert sorted(served) == sorted(key for _, _, key in items)
        assert [sorted(c[0] for _, c in block) for block in order] == [list("ABCDE")] * 20
        for start in range(0, 100, 10):
            assert sorted(d for d, _ in served[start : start + 10]) == list(range(10))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_nothing_to_serve_is_an_empty_order(name: str) -> None:
    assert [flat(order) for order in ALGORITHMS[name]([], judges=range(2), seed=1)] == [[], []]


@pytest.mark.parametrize("k", [1, 3])
def test_one_dilemma_is_served_though_it_must_follow_itself(k: int) -> None:
    (order,) = crossed(complete(1, k), judges=[0], seed=1)
    assert len(flat(order)) == k


@pytest.mark.parametrize(
    ("items", "judges", "seed"),
    [
        ([(0, "A", "x"), (0, "B", "x")], [0], 1),
        ([(0, "A", "x")], [-1], 1),
        ([(0, "A", "x")], [0], 2**64),
        ([(0, "A", "x")], [0], -1),
    ],
)
def test_impossible_input_is_refused(
    items: list[tuple[int, str, str]], judges: list[int], seed: int
) -> None:
    for algorithm in (crossed, grouped):
        with pytest.raises(ValueError):
            algorithm(items, judges=judges, seed=seed)


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 5), st.integers(0, 1)), min_size=1),
    st.integers(0, 2**64 - 1),
)
def test_gaps_lose_nothing_and_dilemmas_stay_apart(
    cells: set[tuple[int, int, int]], seed: int
) -> None:
    items = [(d, c, (d, c, r)) for d, c, r in cells]
    most = max(Counter(d for d, _, _ in cells).values())
    for order in crossed(items, judges=range(2), seed=seed):
        served = [key for block in order for key in block]
        assert sorted(served) == sorted(cells)
        if len(cells) < len({d for d, _, _ in cells}) * len({c for _, c, _ in cells}) * (
            1 + max(r for *_, r in cells)
        ):  # something is missing: neighbours of one dilemma are parted as far as that goes
            touching = sum(a[0] == b[0] for a, b in itertools.pairwise(served))
            assert touching <= max(0, 2 * most - len(cells) - 1)
    for order in grouped(items, judges=range(2), seed=seed):
        assert sorted(key for block in order for key in block) == sorted(cells)
        assert all(len({key[0] for key in block}) == 1 for block in order)
