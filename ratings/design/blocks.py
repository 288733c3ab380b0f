"""Balanced incomplete blocks: who judges what, where not every judge judges everything.

Whole dilemmas are given out. Each judge then meets every condition of a dilemma or none, so that
differences between conditions stay within the judge, and judge × condition is as even as the
dilemmas are.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from ratings.design.random64 import Random64, stream

_STEPS = 300  # tries per dilemma


def allocated(dilemmas: int, *, judges: int, each: int, seed: int) -> list[tuple[int, ...]]:
    """Return for each dilemma the numbers of its judges, in ascending order.

    Parameters
    ----------
    dilemmas : int
        How many; 0 or more.
    judges : int
        How many there are, numbered from 0.
    each : int
        How many of them judge each dilemma, at most all.
    seed : int
        The panel's, below 2**64.

    Returns
    -------
    list of tuples
        Dilemmas per judge are equal within one. Dilemmas that two judges share are made as equal
        as a seeded descent can; `ratings.design.balance` says how equal that is. All equal is a
        balanced incomplete block design (F. Yates 1936, "Incomplete randomized blocks", Ann. Eugen.
        7, 121-140), which does not exist for all numbers.

    Raises
    ------
    ValueError
        If a dilemma would have no judge, or more than there are.

    Examples
    --------
    >>> allocated(4, judges=4, each=3, seed=1)
    [(0, 1, 2), (1, 2, 3), (0, 2, 3), (0, 1, 3)]
    """
    if not 1 <= each <= judges:
        raise ValueError("each dilemma has at least one judge, and at most all of them")
    random = stream(seed, judges, each, dilemmas)
    order = random.shuffled(range(judges))
    start = [{order[(each * i + j) % judges] for j in range(each)} for i in range(dilemmas)]
    teams = random.shuffled(start)
    _even_out(teams, judges, random)
    return [tuple(sorted(team)) for team in teams]


def _even_out(teams: Sequence[set[int]], judges: int, random: Random64) -> None:
    """Let judges change dilemmas until all pairs of judges share equally many, or nearly so.

    A judge leaves one dilemma for another, and one of that other comes instead: nobody's number of
    dilemmas changes.
    """
    shared = Counter(pair for team in teams for pair in combinations(sorted(team), 2))
    pairs = judges * (judges - 1) // 2
    each, more = divmod(sum(shared.values()), max(1, pairs))
    least = (pairs - more) * each**2 + more * (each + 1) ** 2
    cost = sum(count**2 for count in shared.values())
    for _ in range(_STEPS * len(teams)):
        if cost <= least:
            return
        here, there = teams[random.below(len(teams))], teams[random.below(len(teams))]
        leaving, coming = sorted(here - there), sorted(there - here)
        if not leaving:
            continue
        one, other = leaving[random.below(len(leaving))], coming[random.below(len(coming))]
        rest, others = here - there - {one}, there - here - {other}
        change = _moved(shared, one, rest, others) + _moved(shared, other, others, rest)
        if change > 0:  # back again
            _moved(shared, one, others, rest)
            _moved(shared, other, rest, others)
            continue
        cost += change
        here ^= {one, other}
        there ^= {one, other}


def _moved(shared: Counter[tuple[int, int]], judge: int, leave: set[int], join: set[int]) -> int:
    """Count the judge's pairs anew, and return by how much the sum of squares changes."""
    change = 0
    for colleague in leave:
        pair = min(judge, colleague), max(judge, colleague)
        shared[pair] -= 1
        change -= 2 * shared[pair] + 1
    for colleague in join:
        pair = min(judge, colleague), max(judge, colleague)
        change += 2 * shared[pair] + 1
        shared[pair] += 1
    return change
