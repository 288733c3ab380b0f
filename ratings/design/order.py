"""Serving orders: which judge reads which response when.

Algorithm ``latin-1``. Work is cut into rounds; in a round each judge meets each dilemma once.
Which condition it is follows from a row of a Williams design (E. J. Williams 1949, "Experimental
designs balanced for the estimation of residual effects of treatments", Aust. J. Sci. Res. A 2,
149-168), shifted by judge and dilemma, under a seeded secret relabelling of the conditions.

What holds: every judge gets every response once; in each round every condition comes equally
often where the number of dilemmas is a multiple of the number of conditions, else within one for
each started group; at any slot of a complete design the judges see different conditions, as long
as there are no more judges than conditions; responses to one dilemma are about half a round
apart and never adjacent where that is possible. Orders are stored, never computed again.
"""

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

from ratings.design.random64 import Random64

ALGORITHM = "latin-1"

Key = TypeVar("Key", bound=Hashable)
# (dilemma, condition, key of the response); dilemmas and conditions sort among themselves.
Item = tuple[Any, Any, Key]


def williams_rows(conditions: int) -> list[list[int]]:
    """Return the rows of a Williams design: k rows for even k, 2k rows for odd k.

    Over all rows every condition stands at each place equally often, and each ordered pair of
    conditions is adjacent equally often.

    >>> williams_rows(4)
    [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
    """
    k = conditions
    first = [(place + 1) // 2 if place % 2 else -(place // 2) % k for place in range(k)]
    starts = [first] if k % 2 == 0 else [first, first[::-1]]
    return [[(label + shift) % k for label in start] for start in starts for shift in range(k)]


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
        orders.append([key for _, key in _apart(present)])
    return orders


def balance(order: Sequence[Key], items: Sequence[Item[Key]]) -> dict[Any, list[int]]:
    """Count each condition in each round of one judge's order.

    A response belongs to round t if it is the t-th of its dilemma, so the table also fits an
    order that somebody else made.
    """
    of_key = {key: (dilemma, condition) for dilemma, condition, key in items}
    met: dict[Any, int] = {}
    seen: list[tuple[Any, int]] = []
    for key in order:
        dilemma, condition = of_key[key]
        met[dilemma] = met.get(dilemma, 0) + 1
        seen.append((condition, met[dilemma] - 1))
    rounds = max(met.values(), default=0)
    table = {condition: [0] * rounds for condition in sorted({c for _, c, _ in items})}
    for condition, number in seen:
        table[condition][number] += 1
    return table


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


def _apart(slots: Sequence[tuple[Any, Key]]) -> list[tuple[Any, Key]]:
    """Part neighbours of one dilemma, which only missing cells and replicates can cause.

    The nearest later slot of another dilemma is moved forward; at the end of the sequence, the
    slot is moved back to the nearest place where it touches none of its own.
    """
    result = list(slots)
    for i in range(1, len(result)):
        if result[i][0] != result[i - 1][0]:
            continue
        later = next((j for j in range(i + 1, len(result)) if result[j][0] != result[i][0]), None)
        if later is not None:
            result.insert(i, result.pop(later))
            continue
        slot = result.pop(i)
        result.insert(_place_before(result, i, slot[0]), slot)
    return result


def _place_before(slots: Sequence[tuple[Any, Key]], end: int, dilemma: Any) -> int:
    for place in range(end, -1, -1):
        before = place > 0 and slots[place - 1][0] == dilemma
        after = place < len(slots) and slots[place][0] == dilemma
        if not before and not after:
            return place
    return end
