"""What two texts do not share, word by word, for a page that shows both. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

_WORDS = re.compile(r"\w+\s*|[^\w\s]+\s*|\s+")
_MOST = 10_000  # pieces that are compared one by one; beyond, lines are, and then all at once


@dataclass(frozen=True)
class Piece:
    """A stretch of one of the texts; `changed` if the other text does not have it there."""

    text: str
    changed: bool


def compare(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces, those that the other one lacks marked as changed.

    Joined, the pieces are the texts. Of long texts whole lines are marked, so that time is bounded.
    """
    for cut in (_WORDS.findall, _lines):
        old, new = cut(before), cut(after)
        head = _shared(old, new)
        tail = _shared(old[head:][::-1], new[head:][::-1])
        ends = len(old) - tail, len(new) - tail
        if ends[0] + ends[1] - 2 * head <= _MOST:
            break
    else:
        return _marked(old, {*range(head, ends[0])}), _marked(new, {*range(head, ends[1])})
    gone, come = set(range(head, ends[0])), set(range(head, ends[1]))
    matcher = SequenceMatcher(None, old[head : ends[0]], new[head : ends[1]])
    for block in matcher.get_matching_blocks():
        gone -= set(range(head + block.a, head + block.a + block.size))
        come -= set(range(head + block.b, head + block.b + block.size))
    return _marked(old, gone), _marked(new, come)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many pieces both begin with."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _marked(pieces: Sequence[str], changed: set[int]) -> list[Piece]:
    numbered = groupby(enumerate(pieces), key=lambda pair: pair[0] in changed)
    return [Piece("".join(text for _at, text in group), mark) for mark, group in numbered]
