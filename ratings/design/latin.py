"""Algorithm ``latin-1``, kept as it was for panels that were frozen with it; nothing new uses it.

Work is cut into rounds; in a round each judge meets each dilemma once. Which condition it is
follows from a row of a Williams design, shifted by judge and dilemma, under a seeded secret
relabelling of the conditions.

What holds: every judge gets every response once; in each round every condition comes equally
often where the number of dilemmas is a multiple of the number of conditions, else within one for
each started group; at any slot of a complete design the judges see different conditions, as long
as there are no more judges than conditions; responses to one dilemma are about half a round
apart and never adjacent where that is possible. Orders are stored, never computed again.
"""

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

from ratings.design.apart import apart
from ratings.design.random64 import Random64
from ratings.design.williams import williams_rows

Key = TypeVar("Key", bound=Hashable)
# (dilemma, condition, key of the response); dilemmas and conditions sort among themselves.
Item = tuple[Any, Any, Key]


def serving_orders(items: Sequence[Item[Key]], *, judges: int, seed: int) -> list[list[Key]]:
    """Return for each judge every key once, in the order in which it is served.

    Parameters
    ----------
    items : sequence of (dilemma, condition, key)
        In any sequence: the result does not depend on it. Several keys of one dilemma and
        condition are replicates; cells without a key are skipped.
    judges : int
        Judge j gets the j-th order; more judges leave the earlier orders as they are.
    seed : int

    Raises
    ------
    ValueError
        If a key comes twice or there is no judge.
    """
    if judges < 1:
        raise ValueError("an order needs at least one judge")
    keys = [key for _, _, key in items]
    if len(set(keys)) != len(keys):
        raise ValueError("a response stands in the list twice")
    if not items:
        return [[] for _ in range(judges)]
    random = Random64(seed)
    dilemmas = random.shuffled(sorted({dilemma for dilemma, _, _ in items}))
    conditions = random.shuffled(sorted({condition for _, condition, _ in items}))
    cells = _cells(items)
    layers = max(len(replicates) for replicates in cells.values())
    rounds = _rounds(len(dilemmas), len(conditions) * layers, random)
    orders = []
    for judge in range(judges):
        served = [
            (dilemmas[place], cells.get((dilemmas[place], conditions[label]), ()), layer)
            for place, label, layer in _plan(rounds, len(conditions), judge)
        ]
        present = [
            (dilemma, replicates[(layer + judge) % len(replicates)])
            for dilemma, replicates, layer in served
            if layer < len(replicates)
        ]
        orders.append([key for _, key in apart(present, _same_dilemma)])
    return orders


def _cells(items: Sequence[Item[Key]]) -> dict[tuple[Any, Any], list[Key]]:
    cells: dict[tuple[Any, Any], list[Key]] = {}
    for dilemma, condition, key in sorted(items):  # so that the caller's sequence is no matter
        cells.setdefault((dilemma, condition), []).append(key)
    return cells


def _rounds(dilemmas: int, rounds: int, random: Random64) -> list[list[int]]:
    """Return the sequence of dilemmas in each round.

    Each half of a round is a shuffle of the same half of the round before: the dilemmas' places
    change, yet responses to one dilemma stay at least half a round apart.
    """
    everybody = list(range(dilemmas))
    middle = dilemmas // 2
    return [
        random.shuffled(everybody[:middle]) + random.shuffled(everybody[middle:])
        for _ in range(rounds)
    ]


def _plan(rounds: Sequence[Sequence[int]], k: int, judge: int) -> list[tuple[int, int, int]]:
    """Return (dilemma, condition label, layer of replicates) for every slot of a judge."""
    rows = williams_rows(k)
    squares = len(rows) // k
    plan = []
    for number, sequence in enumerate(rounds):
        layer, place = divmod(number, k)
        for dilemma in sequence:
            group, member = divmod(dilemma, k)
            row = rows[group % squares * k + (member + judge + layer) % k]
            plan.append((dilemma, row[place], layer))
    return plan


def _same_dilemma(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return bool(one[0] == other[0])
