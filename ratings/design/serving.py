"""Served orders: which judge reads which response when. Orders are stored, never computed again.

``williams-1``: work is cut into rounds, in each of which a judge meets each dilemma once. Which
condition it is follows from the dilemma's row (`williams`); judge j has every condition moved on
by j, so that at any slot the judges see different conditions, as long as they are no more than the
conditions. A round is cut into mini-blocks that hold every condition once, in orders from a chain
(`chain`) in which no condition follows itself. Then each judge's dilemmas are mixed: two that meet
the same condition in the same round change places if responses to one dilemma stay far apart. No
count of conditions can change by that.

``grouped-1``: all responses to a dilemma together in the order of its row, the dilemmas in an own
sequence for each judge.

Everything is drawn from the panel's seed and the judge's number, so that judges may come one by
one, and nobody's order depends on who else comes.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from ratings.design.apart import apart
from ratings.design.chain import chained
from ratings.design.random64 import Random64, stream
from ratings.design.williams import Row, balanced_rows

Key = TypeVar("Key", bound=Hashable)
# (dilemma, condition, key of the response); dilemmas and conditions sort among themselves.
Item = tuple[Any, Any, Key]

_SWAPS, _PER_SLOTS = 80, 3  # tries: 4,000 for 30 dilemmas and 5 conditions


def crossed(
    items: Sequence[Item[Key]], *, judges: Iterable[int], seed: int
) -> list[list[list[Key]]]:
    """Return orders by ``williams-1``, one a judge: mini-blocks of keys, every key once.

    Parameters
    ----------
    items : sequence of (dilemma, condition, key)
        In any sequence: the result does not depend on it. Several keys of one dilemma and
        condition are replicates; cells without a key are skipped, which costs balance.
    judges : iterable of int
        The judges' numbers, from 0. No order depends on who else is asked for.
    seed : int
        The panel's, below 2**64.

    Raises
    ------
    ValueError
        If a key comes twice, or a judge's number or the seed is out of range.
    """
    if not items:
        return [[] for _ in judges]
    shared = stream(seed)
    study = _Study.drawn(items, shared)
    frame = _frame(len(study.dilemmas), len(study.conditions), study.layers, shared)
    orders = []
    for judge in judges:
        dilemmas = _mixed(frame, stream(seed, judge))
        slots = [
            study.slot(dilemma, label, layer=number // len(study.conditions), judge=judge)
            for dilemma, label, number in zip(dilemmas, frame.labels, frame.rounds, strict=True)
        ]
        orders.append(study.served(slots, frame.lengths))
    return orders


def grouped(
    items: Sequence[Item[Key]], *, judges: Iterable[int], seed: int
) -> list[list[list[Key]]]:
    """Return orders by ``grouped-1``, one a judge: a block for each dilemma. The rest as `crossed`."""
    if not items:
        return [[] for _ in judges]
    study = _Study.drawn(items, stream(seed))
    k = len(study.conditions)
    rows = balanced_rows(k, len(study.dilemmas))
    orders = []
    for judge in judges:
        random = stream(seed, judge)
        sequence = chained(random.shuffled(rows), conditions=k, random=random)
        slots = [
            study.slot(dilemma, (label + layer) % k, layer=layer, judge=judge)
            for dilemma, row in zip(_dealt(rows, sequence, random), sequence, strict=True)
            for layer in range(study.layers)
            for label in row
        ]
        orders.append(study.served(slots, [k * study.layers] * len(rows), together=True))
    return orders


def _dealt(rows: Sequence[Row], sequence: Sequence[Row], random: Random64) -> list[int]:
    """Return a dilemma for each row of the sequence: one of those whose row it is."""
    having: dict[Row, list[int]] = {}
    for dilemma, row in enumerate(rows):
        having.setdefault(row, []).append(dilemma)
    waiting = {row: random.shuffled(dilemmas) for row, dilemmas in having.items()}
    return [waiting[row].pop() for row in sequence]


@dataclass(frozen=True)
class _Study(Generic[Key]):
    """What is to be served: dilemmas and conditions in secret sequences, and what is in each cell."""

    dilemmas: Sequence[Any]
    conditions: Sequence[Any]
    cells: Mapping[tuple[Any, Any], Sequence[Key]]

    @classmethod
    def drawn(cls, items: Sequence[Item[Key]], random: Random64) -> "_Study[Key]":
        keys = [key for _, _, key in items]
        if len(set(keys)) != len(keys):
            raise ValueError("a response stands in the list twice")
        cells: dict[tuple[Any, Any], list[Key]] = {}
        for dilemma, condition, key in sorted(items):  # so that the caller's sequence is no matter
            cells.setdefault((dilemma, condition), []).append(key)
        conditions = random.shuffled(sorted({condition for _, condition in cells}))
        return cls(random.shuffled(sorted({dilemma for dilemma, _ in cells})), conditions, cells)

    @property
    def layers(self) -> int:
        """How many replicates the fullest cell has."""
        return max(map(len, self.cells.values()), default=0)

    def slot(self, dilemma: int, label: int, *, layer: int, judge: int) -> Item[Key] | None:
        """Return what stands in a slot; None if its cell has nothing in this layer."""
        where = self.dilemmas[dilemma], self.conditions[(label + judge) % len(self.conditions)]
        replicates = self.cells.get(where, ())
        if layer >= len(replicates):
            return None
        return *where, replicates[(layer + judge) % len(replicates)]

    def served(
        self, slots: Sequence[Item[Key] | None], lengths: Sequence[int], *, together: bool = False
    ) -> list[list[Key]]:
        """Cut the slots into blocks and skip what is empty; part whom that brought together."""
        each = iter(slots)
        blocks = [[slot for slot in islice(each, n) if slot is not None] for n in lengths]
        present = [slot for block in blocks for slot in block]
        if len(present) < len(slots) and not together:
            present = apart(apart(present, _same_dilemma_or_condition), _same_dilemma)
        rest = iter(present)
        return [[key for _, _, key in islice(rest, len(block))] for block in blocks if block]


def _same_dilemma(one: Item[Any], other: Item[Any]) -> bool:
    return bool(one[0] == other[0])


def _same_dilemma_or_condition(one: Item[Any], other: Item[Any]) -> bool:
    return bool(one[0] == other[0] or one[1] == other[1])


@dataclass(frozen=True)
class _Frame:
    """What all judges share. Per slot: its round, its condition as judge 0 has it, and the dilemma
    before the mixing. `lengths` are those of the blocks; `gap` is kept between responses to one
    dilemma, counted from slot to slot.
    """

    rounds: Sequence[int]
    labels: Sequence[int]
    dilemmas: Sequence[int]
    lengths: Sequence[int]
    gap: int


def _frame(n: int, k: int, layers: int, random: Random64) -> _Frame:
    """Draw the frame of `layers` times k rounds, in each of which n dilemmas are met once.

    A block is a group of k dilemmas whose rows are a Latin square, so that in every round they meet
    all conditions; the last group may be smaller. The groups keep their sequence, so that before
    the mixing responses to one dilemma are a round apart, give or take a block.
    """
    rows = balanced_rows(k, n)
    groups = [range(start, min(start + k, n)) for start in range(0, n, k)]
    meet = [
        {(rows[dilemma][number % k] + number // k) % k: dilemma for dilemma in group}
        for number in range(k * layers)
        for group in groups
    ]  # block → condition → dilemma
    whole = random.shuffled(balanced_rows(k, sum(len(block) == k for block in meet)))
    blocks = [
        whole.pop() if len(block) == k else tuple(random.shuffled(sorted(block))) for block in meet
    ]
    gap = -(-2 * n // 3)
    far_anyway = n - min(n, k) + 1 >= gap

    def shortfall(blocks: Sequence[Row]) -> int:
        return sum(max(0, gap - found) ** 2 for found in _gaps(_dilemmas(blocks, meet)))

    blocks = chained(blocks, conditions=k, random=random, burden=None if far_anyway else shortfall)
    dilemmas = _dilemmas(blocks, meet)
    return _Frame(
        rounds=[slot // n for slot in range(len(dilemmas))],
        labels=[label for block in blocks for label in block],
        dilemmas=dilemmas,
        lengths=[len(block) for block in blocks],
        gap=min([gap, *_gaps(dilemmas)]),
    )


def _dilemmas(blocks: Sequence[Row], meet: Sequence[Mapping[int, int]]) -> list[int]:
    return [who[label] for block, who in zip(blocks, meet, strict=True) for label in block]


def _gaps(dilemmas: Sequence[int]) -> Iterator[int]:
    """Yield how far each slot is from the one before it with the same dilemma."""
    last: dict[int, int] = {}
    for slot, dilemma in enumerate(dilemmas):
        if dilemma in last:
            yield slot - last[dilemma]
        last[dilemma] = slot


def _mixed(frame: _Frame, random: Random64) -> list[int]:
    """Return the dilemma of each slot after seeded swaps within a round and condition."""
    dilemmas = list(frame.dilemmas)
    alike: dict[tuple[int, int], list[int]] = {}
    places: dict[int, list[int]] = {}  # dilemma → its slots by round
    for slot, where in enumerate(zip(frame.rounds, frame.labels, strict=True)):
        alike.setdefault(where, []).append(slot)
        places.setdefault(dilemmas[slot], []).append(slot)
    peers = [alike[where] for where in zip(frame.rounds, frame.labels, strict=True)]
    most = max(map(len, peers), default=1)

    def fits(dilemma: int, number: int, slot: int) -> bool:
        own = places[dilemma]
        before = number == 0 or slot - own[number - 1] >= frame.gap
        return before and (number + 1 == len(own) or own[number + 1] - slot >= frame.gap)

    for _ in range(len(dilemmas) * _SWAPS // _PER_SLOTS if most > 1 else 0):
        slot, choice = divmod(random.below(len(dilemmas) * most), most)
        if choice >= len(peers[slot]) or (other := peers[slot][choice]) == slot:
            continue
        one, two, number = dilemmas[slot], dilemmas[other], frame.rounds[slot]
        if fits(one, number, other) and fits(two, number, slot):
            dilemmas[slot], dilemmas[other] = two, one
            places[one][number], places[two][number] = other, slot
    return dilemmas
