"""Parting neighbours that should not stand beside each other, where gaps brought them together."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Slot = TypeVar("Slot")
Clash = Callable[[Slot, Slot], bool]


def apart(slots: Sequence[Slot], clash: Clash[Slot]) -> list[Slot]:
    """Return the slots with as few clashing neighbours as moving single slots can leave.

    The nearest later slot that does not clash is moved forward; where there is none, the slot is
    moved back to the nearest place where it clashes with neither neighbour.
    """
    result = list(slots)
    for i in range(1, len(result)):
        before = result[i - 1]
        if not clash(before, result[i]):
            continue
        later = (j for j in range(i + 1, len(result)) if not clash(before, result[j]))
        found = next(later, None)
        if found is not None:
            result.insert(i, result.pop(found))
            continue
        slot = result.pop(i)
        result.insert(_place_before(result, i, slot, clash), slot)
    return result


def _place_before(slots: Sequence[Slot], end: int, slot: Slot, clash: Clash[Slot]) -> int:
    for place in range(end, -1, -1):
        before = place > 0 and clash(slots[place - 1], slot)
        after = place < len(slots) and clash(slot, slots[place])
        if not before and not after:
            return place
    return end
