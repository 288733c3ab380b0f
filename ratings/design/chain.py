"""Blocks of conditions in a sequence: which follows which, over the borders too.

Knows nothing of dilemmas or judges. A block that holds all conditions keeps their order inside (a
row that was chosen for its balance), and such blocks change places. A block that holds some of
them keeps its place, and its conditions change theirs.
"""

from collections.abc import Callable, Iterable, Sequence

from ratings.design.random64 import Random64
from ratings.design.williams import Row

Burden = Callable[[Sequence[Row]], int]

_STARTS = 10  # descents, until one leaves nothing to wish for
_STEPS = 60  # tries per block in each; most chains need fewer than ten
_REPEAT = 1000  # cost of a condition that follows itself
_BURDEN = 100  # cost of one unit of burden


def chained(
    blocks: Sequence[Row], *, conditions: int, random: Random64, burden: Burden | None = None
) -> list[Row]:
    """Return the blocks so that no condition follows itself and all pairs follow equally often.

    Seeded descent: two places change if that makes nothing worse, until every ordered pair is
    within one or the steps run out. The best of a few descents is taken; if there is a burden, the
    last of them may change the order inside whole blocks too.

    Parameters
    ----------
    blocks : sequence of rows
        The sequence to start from; none is empty.
    conditions : int
        k. Below three a condition may follow itself: the order could be guessed otherwise.
    random : Random64
    burden : callable, optional
        What else to avoid, as a whole number for a whole sequence; 0 is nothing.
    """
    best = _Chain(blocks, conditions, burden)
    _descend(best, random)
    for start in range(1, _STARTS):
        if best.is_perfect:
            break
        other = _Chain(_reshuffled(blocks, conditions, random), conditions, burden)
        _descend(other, random, inside=burden is not None and start > _STARTS // 4)
        best = min(best, other, key=lambda chain: chain.cost)
    return best.blocks


def _descend(chain: "_Chain", random: Random64, *, inside: bool = False) -> None:
    for _ in range(_STEPS * len(chain.blocks)):
        if chain.is_perfect:
            return
        changes = _change(chain, random, inside=inside)
        kept = {i: chain.blocks[i] for i in changes}
        cost = chain.cost
        chain.put(changes)
        if chain.cost > cost:
            chain.put(kept)


def _change(chain: "_Chain", random: Random64, *, inside: bool) -> dict[int, Row]:
    """Draw a change: of two whole blocks, or of two conditions in one block."""
    one = random.below(len(chain.blocks))
    block = chain.blocks[one]
    if len(block) == chain.conditions and not (inside and random.below(2)):
        other = chain.whole[random.below(len(chain.whole))]
        return {one: chain.blocks[other], other: block}
    first, second = random.below(len(block)), random.below(len(block))
    changed = list(block)
    changed[first], changed[second] = block[second], block[first]
    return {one: tuple(changed)}


def _reshuffled(blocks: Sequence[Row], conditions: int, random: Random64) -> list[Row]:
    whole = random.shuffled([block for block in blocks if len(block) == conditions])
    return [
        whole.pop() if len(block) == conditions else tuple(random.shuffled(block))
        for block in blocks
    ]


class _Chain:
    """The sequence and what it costs: repeats, the squares of the pairs' counts, the burden."""

    def __init__(self, blocks: Sequence[Row], conditions: int, burden: Burden | None) -> None:
        self.blocks = list(blocks)
        self.conditions = conditions
        self.whole = [i for i, block in enumerate(blocks) if len(block) == conditions]
        self._labels = [label for block in blocks for label in block]
        self._starts = [0]
        for block in blocks:
            self._starts.append(self._starts[-1] + len(block))
        self._counts = [[0] * conditions for _ in range(conditions)]
        self._of_pairs = 0
        self._add(range(len(self._labels) - 1))
        self._burden = burden
        self._weight = burden(self.blocks) if burden else 0

    @property
    def cost(self) -> int:
        return self._of_pairs + _BURDEN * self._weight

    @property
    def is_perfect(self) -> bool:
        """Nothing follows itself, all pairs are within one, and there is no burden."""
        return self._weight == 0 and self._of_pairs <= self._least

    @property
    def _least(self) -> int:
        if self.conditions < 3:
            return 0
        pairs = self.conditions * (self.conditions - 1)
        each, more = divmod(max(0, len(self._labels) - 1), pairs)
        return (pairs - more) * each**2 + more * (each + 1) ** 2

    def put(self, changes: dict[int, Row]) -> None:
        """Set blocks, by their place in the sequence, to others of the same length."""
        touched = {
            pair
            for i in changes
            for pair in range(max(0, self._starts[i] - 1), self._starts[i + 1])
            if pair < len(self._labels) - 1
        }
        self._take(touched)
        for i, block in changes.items():
            self.blocks[i] = block
            self._labels[self._starts[i] : self._starts[i + 1]] = block
        self._add(touched)
        if self._burden:
            self._weight = self._burden(self.blocks)

    def _add(self, pairs: Iterable[int]) -> None:
        for pair in pairs:
            before, after = self._labels[pair], self._labels[pair + 1]
            self._of_pairs += self._price(before, after)
            self._counts[before][after] += 1

    def _take(self, pairs: Iterable[int]) -> None:
        for pair in pairs:
            before, after = self._labels[pair], self._labels[pair + 1]
            self._counts[before][after] -= 1
            self._of_pairs -= self._price(before, after)

    def _price(self, before: int, after: int) -> int:
        """What one more of this pair costs: the squares' difference."""
        if self.conditions < 3:
            return 0
        return _REPEAT if before == after else 2 * self._counts[before][after] + 1
