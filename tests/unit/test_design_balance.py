"""What was reached, beside what counting allows: on orders that are easy to count by hand."""

from ratings.design.algorithms import ALGORITHMS
from ratings.design.balance import Balance, Measure, balance

ABOUT = {f"{d}{c}": (d, c) for d in "123456" for c in "AB"} | {
    f"{d}{c}": (d, c) for d in "123456" for c in "C"
}
TWO = {key: value for key, value in ABOUT.items() if value[1] != "C"}


def measured(*orders: str) -> Balance:
    """Blocks are parted by a bar, keys by spaces."""
    found = [[block.split() for block in order.split("|")] for order in orders]
    about = {key: ABOUT[key] for order in found for block in order for key in block}
    return balance(found, about)


def test_counts_of_one_order_by_hand() -> None:
    found = measured("1A 2B | 1B 2A | 3A 3B")
    assert found.rounds == Measure(1, 2, 1, 2)  # A first of dilemmas 1 and 3
    assert found.places == Measure(1, 2, 1, 2)  # A in front twice
    assert found.neighbours == Measure(1, 2, 1, 2)  # AB twice, BA once
    assert found.followers == Measure(1, 2, 1, 2)  # AB twice (1A 2B, 3A 3B), BA once
    assert found.repeated == Measure(2, 2, 0, 0)  # 2B 1B and 2A 3A
    assert found.gap == Measure(1, 1, 3, 3)
    assert found.conditions == Measure(3, 3, 3, 3)
    assert (found.coincidences, found.shared) == (None, None)
    assert found.load == Measure(3, 3, 3, 3)


def test_pairs_of_judges_by_hand() -> None:
    found = measured("1A 2B", "2A 1B", "1A 1B")
    # A A A at the first slot and B B B at the second are 3 pairs each; at best it is 1 each
    assert found.coincidences == Measure(6, 6, 2, 2)
    assert found.load == Measure(1, 2, 1, 2)
    assert found.shared == Measure(1, 2, 1, 2)


def test_least_possible_is_two_where_no_better_rows_exist() -> None:
    about = {(d, c): (d, c) for d in range(4) for c in "ABCDE"}
    items = [(d, c, (d, c)) for d, c in about]
    found = balance(ALGORITHMS["williams-1"](items, judges=[0], seed=1), about)
    assert found.neighbours == Measure(0, 2, 0, 2) and found.neighbours.is_best


def test_v1_panel_is_as_balanced_as_can_be() -> None:
    about = {(d, c): (d, c) for d in range(30) for c in "ABCDE"}
    items = [(d, c, (d, c)) for d, c in about]
    found = balance(ALGORITHMS["williams-1"](items, judges=range(3), seed=1), about)
    assert found.gap == Measure(20, 20, 30, 30)
    rest = [value for name, value in vars(found).items() if name != "gap"]
    assert all(value is not None and value.is_best for value in rest)
    old = balance(ALGORITHMS["latin-1"](items, judges=range(3), seed=1), about)
    assert old.followers is not None and not old.followers.is_best


def test_nothing_is_measured_of_nothing() -> None:
    assert set(vars(balance([], {})).values()) == {None}
    found = measured("1A")
    assert (found.gap, found.followers, found.repeated) == (None, None, None)
