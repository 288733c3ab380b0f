"""Repeats come late and beside nothing of theirs; controls are spread; the order itself stays."""

from collections import Counter

import pytest

from ratings.design.extras import REPEAT_AFTER, Place, practised, with_extras
from ratings.design.random64 import stream
from ratings.design.serving import crossed

ABOUT = {(d, c): (d, c) for d in range(30) for c in "ABCDE"}


def served(seed: int, **extras: object) -> list[Place[object]]:
    blocks = crossed([(d, c, (d, c)) for d, c in ABOUT], judges=[0], seed=seed)[0]
    places = with_extras(blocks, about=ABOUT, random=stream(seed, 0, 1), **extras)  # type: ignore[arg-type]
    main = [place.key for place in places if place.occasion == 1 and place.key in ABOUT]
    assert main == [key for block in blocks for key in block]
    return places  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(20))
def test_repeats_come_at_least_sixty_slots_later_beside_nothing_of_theirs(seed: int) -> None:
    places = served(seed, repeats=10, controls=["x", "y"])
    first = {place.key: i for i, place in enumerate(places) if place.occasion == 1}
    again = [(i, place.key) for i, place in enumerate(places) if place.occasion == 2]
    assert len(again) == len({key for _, key in again}) == 10
    for i, key in again:
        assert i - first[key] >= REPEAT_AFTER
        for beside in (places[i - 1].key, places[i + 1].key):
            assert ABOUT[beside][0] != ABOUT[key][0] and ABOUT[beside][1] != ABOUT[key][1]  # type: ignore[index]
    conditions = Counter(ABOUT[key][1] for _, key in again)  # type: ignore[index]
    assert max(conditions.values()) - min(conditions[c] for c in "ABCDE") <= 1
    assert len({ABOUT[key][0] for _, key in again}) == 10  # type: ignore[index]


@pytest.mark.parametrize("seed", range(20))
def test_extras_stand_at_the_borders_of_mini_blocks(seed: int) -> None:
    places = served(seed, repeats=8, controls=list("vwxyz"))
    assert len(places) == 150 + 8 + 5
    main = 0
    for place in places:
        is_extra = place.occasion == 2 or place.key not in ABOUT
        assert not is_extra or (main % 5 == 0 and 0 < main < 150)
        main += not is_extra
    at = [i for i, place in enumerate(places) if place.key not in ABOUT]
    assert all(30 * n <= i < 30 * (n + 1) + 8 for n, i in enumerate(at))


def test_repeats_without_room_are_left_out() -> None:
    blocks = [[(d, c) for c in "ABCDE"] for d in range(12)]
    assert len(with_extras(blocks, about=ABOUT, random=stream(1), repeats=5)) == 60
    assert len(with_extras(blocks * 2, about=ABOUT, random=stream(1), repeats=99)) == 120 + 10


def test_more_controls_than_borders_are_all_served() -> None:
    places = with_extras([[(0, "A")]], about=ABOUT, random=stream(1), controls=list("xyz"))
    assert sorted(str(place.key) for place in places[1:]) == list("xyz")
    assert with_extras([], about={}, random=stream(1)) == []


def test_extras_never_change() -> None:
    places = served(5, repeats=10, controls=["x", "y"])
    found = [(i, p.key) for i, p in enumerate(places) if p.occasion == 2 or p.key in ("x", "y")]
    assert found == [
        (35, "y"), (71, (2, "E")), (82, (16, "B")), (88, (26, "C")), (99, (28, "D")), (105, (5, "A")),
        (116, (29, "A")), (127, (7, "E")), (133, (14, "B")), (139, "x"), (145, (12, "C")),
        (156, (0, "D")),
    ]  # fmt: skip


def test_practice_is_in_an_own_order() -> None:
    orders = {tuple(practised("abcdef", stream(1, judge, 2))) for judge in range(5)}
    assert len(orders) == 5 and all(sorted(order) == list("abcdef") for order in orders)
