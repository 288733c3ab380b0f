"""How balanced orders are: what was reached, beside what counting allows at best.

Measures any orders, however they came about.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, TypeVar

from ratings.design.williams import least_difference

Key = TypeVar("Key", bound=Hashable)
Slots = Sequence[tuple[Any, Any]]  # (dilemma, condition), as one judge is served them


@dataclass(frozen=True)
class Measure:
    """The least and the most that was reached over all cells and judges, and at best could be."""

    low: int
    high: int
    best_low: int
    best_high: int

    @property
    def is_best(self) -> bool:
        return self.best_low <= self.low and self.high <= self.best_high


@dataclass(frozen=True)
class Balance:
    """What was reached by the orders of some judges. None where there is nothing to measure.

    Attributes
    ----------
    rounds
        How often a condition is the t-th of its dilemma, for each t (within a judge).
    places
        How often a condition stands at a place of a mini-block that holds all of them.
    neighbours
        How often one condition comes next after another among the responses to one dilemma.
    followers
        How often one condition follows another in the served order.
    repeated
        How often a condition follows itself (the worst judge).
    gap
        Slots from one response to a dilemma to the next one, at least (the worst judge).
    coincidences
        How often two judges meet the same condition at the same slot (over all pairs of judges).
    load
        Dilemmas per judge.
    conditions
        How many responses of a condition a judge has.
    shared
        Dilemmas that two judges share.
    """

    rounds: Measure | None
    places: Measure | None
    neighbours: Measure | None
    followers: Measure | None
    repeated: Measure | None
    gap: Measure | None
    coincidences: Measure | None
    load: Measure | None
    conditions: Measure | None
    shared: Measure | None


def balance(
    orders: Sequence[Sequence[Sequence[Key]]], about: Mapping[Key, tuple[Any, Any]]
) -> Balance:
    """Measure the orders of all judges.

    Parameters
    ----------
    orders : sequence of sequences of blocks
        One order a judge, each a sequence of blocks of keys.
    about : mapping
        key → (dilemma, condition), of every key in the orders.
    """
    judges = [[[about[key] for key in block] for block in order] for order in orders]
    served = [[slot for block in blocks for slot in block] for blocks in judges]
    conditions = sorted({condition for _, condition in about.values()})
    return Balance(
        rounds=_joined(_rounds(slots, conditions) for slots in served),
        places=_joined(_places(blocks, conditions) for blocks in judges),
        neighbours=_joined(_neighbours(slots, conditions) for slots in served),
        followers=_joined(_followers(slots, conditions) for slots in served),
        repeated=_joined(_repeated(slots, conditions) for slots in served),
        gap=_joined(map(_gap, served)),
        coincidences=_coincidences(served, len(conditions)),
        load=_even([len(_by_dilemma(slots)) for slots in served]),
        conditions=_joined(
            _even([sum(one == condition for _, one in slots) for slots in served])
            for condition in conditions
        ),
        shared=_shared(served),
    )


def _even(counts: Sequence[int]) -> Measure | None:
    """Measure counts that at best are equal within one."""
    if not counts:
        return None
    total = sum(counts)
    return Measure(min(counts), max(counts), total // len(counts), -(-total // len(counts)))


def _exact(reached: int, best: int) -> Measure:
    return Measure(reached, reached, best, best)


def _joined(measures: Iterable[Measure | None]) -> Measure | None:
    """The widest of all."""
    found = [one for one in measures if one is not None]
    if not found:
        return None
    return Measure(
        min(one.low for one in found),
        max(one.high for one in found),
        min(one.best_low for one in found),
        max(one.best_high for one in found),
    )


def _by_dilemma(slots: Slots) -> dict[Any, list[Any]]:
    """Dilemma → its conditions in the order in which the judge meets them."""
    met: dict[Any, list[Any]] = {}
    for dilemma, condition in slots:
        met.setdefault(dilemma, []).append(condition)
    return met


def _rounds(slots: Slots, conditions: Sequence[Any]) -> Measure | None:
    rounds: dict[int, Counter[Any]] = {}
    for met in _by_dilemma(slots).values():
        for number, condition in enumerate(met):
            rounds.setdefault(number, Counter())[condition] += 1
    return _joined(_even([found[one] for one in conditions]) for found in rounds.values())


def _places(blocks: Sequence[Slots], conditions: Sequence[Any]) -> Measure | None:
    whole = [block for block in blocks if len({one for _, one in block}) == len(conditions)]
    whole = [block for block in whole if len(block) == len(conditions)]
    if not whole:
        return None
    found = Counter(
        (place, condition) for block in whole for place, (_, condition) in enumerate(block)
    )
    return _even([found[place, one] for place in range(len(conditions)) for one in conditions])


def _neighbours(slots: Slots, conditions: Sequence[Any]) -> Measure | None:
    met = _by_dilemma(slots).values()
    found = Counter(pair for row in met for pair in pairwise(row))
    measure = _pairs(found, conditions)
    k = len(conditions)
    complete = all(len(row) == len(set(row)) == k for row in met)
    if measure is None or not complete or least_difference(k, len(met)) < 2:
        return measure
    nearest = (2 * len(met) + k) // (2 * k)
    return Measure(measure.low, measure.high, nearest - 1, nearest + 1)


def _followers(slots: Slots, conditions: Sequence[Any]) -> Measure | None:
    return _pairs(Counter(pairwise(condition for _, condition in slots)), conditions)


def _pairs(found: Counter[tuple[Any, Any]], conditions: Sequence[Any]) -> Measure | None:
    return _even([found[one, two] for one in conditions for two in conditions if one != two])


def _repeated(slots: Slots, conditions: Sequence[Any]) -> Measure | None:
    if len(conditions) < 2:
        return None
    return _exact(sum(one[1] == two[1] for one, two in pairwise(slots)), 0)


def _gap(slots: Slots) -> Measure | None:
    last: dict[Any, int] = {}
    gaps = []
    for slot, (dilemma, _) in enumerate(slots):
        if dilemma in last:
            gaps.append(slot - last[dilemma])
        last[dilemma] = slot
    return _exact(min(gaps), len(last)) if gaps else None


def _coincidences(served: Sequence[Slots], k: int) -> Measure | None:
    if len(served) < 2:
        return None
    reached = best = 0
    for slot in range(max(map(len, served))):
        here = [slots[slot][1] for slots in served if slot < len(slots)]
        each, more = divmod(len(here), k)
        reached += sum(n * (n - 1) // 2 for n in Counter(here).values())
        best += (k - more) * each * (each - 1) // 2 + more * each * (each + 1) // 2
    return _exact(reached, best)


def _shared(served: Sequence[Slots]) -> Measure | None:
    dilemmas = [set(_by_dilemma(slots)) for slots in served]
    return _even([len(one & two) for one, two in combinations(dilemmas, 2)])


def tables(
    order: Sequence[Sequence[Key]], about: Mapping[Key, tuple[Any, Any]]
) -> tuple[dict[Any, list[int]], dict[Any, list[int]]]:
    """Return the counts of one judge's order, a row a condition.

    The first table counts how often it is the t-th of its dilemma, the second how often each
    condition, in ascending order, follows it.
    """
    slots = [about[key] for block in order for key in block]
    conditions = sorted({condition for _, condition in about.values()})
    met = _by_dilemma(slots).values()
    after = Counter(pairwise(condition for _, condition in slots))
    rounds = Counter((row[t], t) for row in met for t in range(len(row)))
    most = max(map(len, met), default=0)
    return (
        {one: [rounds[one, t] for t in range(most)] for one in conditions},
        {one: [after[one, two] for two in conditions] for one in conditions},
    )
