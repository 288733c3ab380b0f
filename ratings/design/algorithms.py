"""The orders by name: each batch stores which made it, and a frozen panel goes on with its own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ratings.design.latin import serving_orders
from ratings.design.serving import Item, Key, crossed, grouped


class Algorithm(Protocol):
    """Returns for each judge's number an order, as blocks of keys; none depends on another."""

    def __call__(
        self, items: Sequence[Item[Any]], *, judges: Iterable[int], seed: int
    ) -> list[list[list[Any]]]: ...


def _latin(
    items: Sequence[Item[Key]], *, judges: Iterable[int], seed: int
) -> list[list[list[Key]]]:
    """``latin-1`` knows no blocks: an order is one."""
    numbers = list(judges)
    orders = serving_orders(items, judges=max(numbers, default=0) + 1, seed=seed)
    return [[orders[number]] for number in numbers]


ALGORITHMS: Mapping[str, Algorithm] = {
    "williams-1": crossed,
    "grouped-1": grouped,
    "latin-1": _latin,
}
DEFAULT = "williams-1"
