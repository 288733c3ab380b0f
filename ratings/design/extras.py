"""What is served beside the responses: repeats, controls, practice. The order itself stays.

Repeats and controls are put between mini-blocks, so that every block stays whole.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Generic, NamedTuple, TypeVar

from ratings.design.random64 import Random64

Key = TypeVar("Key", bound=Hashable)

REPEAT_AFTER = 60  # slots from the first time that a response is served to the second, at least


class Place(NamedTuple, Generic[Key]):
    """What stands in a slot, and whether it is there for the first time or the second."""

    key: Key
    occasion: int = 1


def with_extras(
    blocks: Sequence[Sequence[Key]],
    *,
    about: Mapping[Key, tuple[Any, Any]],
    random: Random64,
    repeats: int = 0,
    controls: Sequence[Key] = (),
) -> list[Place[Key]]:
    """Return all slots of a judge: the blocks, with repeats and controls at their borders.

    Parameters
    ----------
    blocks : sequence of sequences of keys
        The judge's order.
    about : mapping
        key → (dilemma, condition), of every key in the blocks.
    random : Random64
        The judge's own stream.
    repeats : int
        How many responses to serve once more, `REPEAT_AFTER` slots or more after the first time.
        One is served at a border, and beside nothing of its dilemma or condition; conditions are
        repeated equally often, as far as that goes. Fewer are served where there is no room.
    controls : sequence of keys
        All are served, spread over the whole order.
    """
    borders = range(1, len(blocks))
    at: dict[int, list[Place[Key]]] = {}
    spread = _spread(borders or [len(blocks)], len(controls), random)
    for border, key in zip(spread, random.shuffled(controls), strict=True):
        at.setdefault(border, []).append(Place(key))
    free = [border for border in borders if border not in at]
    for border, key in _repeats(blocks, free, repeats, about, random):
        at[border] = [Place(key, occasion=2)]
    return [
        place
        for number, block in enumerate([*blocks, ()])
        for place in (*at.get(number, ()), *map(Place, block))
    ]


def practised(keys: Sequence[Key], random: Random64) -> list[Key]:
    """Return the practice items in an order of the judge's own; they come first, in own batches."""
    return random.shuffled(keys)


def _spread(borders: Sequence[int], count: int, random: Random64) -> list[int]:
    """Draw one border from each of `count` equal stretches."""
    drawn = []
    for number in range(count):
        low, high = (len(borders) * end // count for end in (number, number + 1))
        drawn.append(borders[low + random.below(max(1, high - low))])
    return drawn


def _repeats(
    blocks: Sequence[Sequence[Key]],
    free: Sequence[int],
    count: int,
    about: Mapping[Key, tuple[Any, Any]],
    random: Random64,
) -> Iterator[tuple[int, Key]]:
    """Yield borders with what is repeated there.

    First only a condition that was repeated least may come, at any border that has room for it;
    then any. Dilemmas that were repeated least come first.
    """
    before = [0, *accumulate(map(len, blocks))]  # border → slots before it
    late = [border for border in free if before[border] >= REPEAT_AFTER]
    chosen = _spread(late, min(count, len(late)), random)
    waiting = chosen + random.shuffled([border for border in late if border not in chosen])
    done: set[Key] = set()
    dilemmas: Counter[Any] = Counter()
    conditions = Counter({condition: 0 for _, condition in about.values()})
    for any_condition in (False, True):
        for border in list(waiting):
            least = min(conditions.values())
            fitting = [
                key
                for key in _fitting(blocks, border, before[border] - REPEAT_AFTER, about)
                if key not in done and (any_condition or conditions[about[key][1]] == least)
            ]
            if len(done) == count or not fitting:
                continue
            rested = min(dilemmas[about[key][0]] for key in fitting)
            fitting = [key for key in fitting if dilemmas[about[key][0]] == rested]
            key = fitting[random.below(len(fitting))]
            waiting.remove(border)
            done.add(key)
            dilemmas[about[key][0]] += 1
            conditions[about[key][1]] += 1
            yield border, key


def _fitting(
    blocks: Sequence[Sequence[Key]], border: int, last: int, about: Mapping[Key, tuple[Any, Any]]
) -> list[Key]:
    """Return the keys up to slot `last` with nothing of theirs beside the border.

    That is: the condition is not that of a slot beside it, the dilemma not in a block beside it.
    """
    keys = [key for block in blocks for key in block][: last + 1]
    dilemmas = {about[key][0] for block in blocks[border - 1 : border + 1] for key in block}
    beside = {about[blocks[border - 1][-1]][1], about[blocks[border][0]][1]}
    return [key for key in keys if about[key][0] not in dilemmas and about[key][1] not in beside]
