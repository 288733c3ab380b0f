"""How a text and its decision are shown: findings in place, in their sentence, and what differs."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dilemmas.differences import Piece, compare
from ratings import words

Pieces = list[dict[str, Any]]
SHOWN = 100  # findings that a page says in their sentence
_AROUND = 160  # characters of a sentence shown before and after a finding
_ENDS = re.compile(r"[.!?…]\s|\n")


def side_by_side(
    raw: str, text: str, part: int, findings: Sequence[dict[str, Any]]
) -> tuple[Pieces, Pieces]:
    """Return the raw text, with what was found and what is gone, and the other, with what is new."""
    before, after = compare(raw, text)
    return marked(raw, part, findings, before), [vars(piece) for piece in after]


def marked(
    text: str, part: int, findings: Sequence[dict[str, Any]], changes: Sequence[Piece] = ()
) -> Pieces:
    """Cut a text where a finding or a change begins or ends.

    Each piece says whether it is `changed`, and inside a finding whether it is for a person
    (`by_hand`); the last piece of a finding has its `kind` in words, so that it is said once.
    """
    spans = _without_overlaps(part, findings)
    edges, at = {0, len(text)}, 0
    gone: set[tuple[int, int]] = set()
    for change in changes:
        edges.add(at)
        if change.changed:
            gone.add((at, at + len(change.text)))
        at += len(change.text)
    for finding in spans:
        edges |= {finding["start"], finding["end"]}
    cuts = sorted(edge for edge in edges if edge <= len(text))
    pieces: Pieces = []
    stretches = sorted(gone)
    for start, end in pairwise(cuts):
        while spans and spans[0]["end"] <= start:
            spans.pop(0)
        while stretches and stretches[0][1] <= start:
            stretches.pop(0)
        inside = spans[0] if spans and spans[0]["start"] <= start else None
        ends = inside is not None and inside["end"] == end
        pieces.append(
            {
                "text": text[start:end],
                "changed": bool(stretches) and stretches[0][0] <= start,
                "found": inside is not None,
                "kind": kind_of(inside) if inside and ends else "",
                "by_hand": inside is not None and inside.get("suggestion") is None,
            }
        )
    return pieces


def in_sentences(raw: str, part: int, findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each finding with the sentence around it and what becomes of it."""
    found = []
    for finding in _without_overlaps(part, findings)[:SHOWN]:
        start, end = finding["start"], finding["end"]
        ends = list(_ENDS.finditer(raw, max(0, start - _AROUND), start))
        begin = ends[-1].end() if ends else max(0, start - _AROUND)
        stop = _ENDS.search(raw, end, min(len(raw), end + _AROUND))
        finish = stop.start() + 1 if stop else min(len(raw), end + _AROUND)
        found.append(
            {
                "before": ("" if ends or begin == 0 else "… ") + raw[begin:start].lstrip(),
                "text": raw[start:end],
                "after": raw[end:finish].rstrip() + ("" if stop or finish == len(raw) else " …"),
                "kind": kind_of(finding),
                "suggestion": finding.get("suggestion"),
            }
        )
    return found


def kind_of(finding: dict[str, Any]) -> str:
    return str(words.FINDINGS.get(finding["kind"], finding["kind"]))


def _without_overlaps(part: int, findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    mine = (finding for finding in findings if finding["part"] == part)
    for finding in sorted(mine, key=lambda one: (one["start"], -one["end"])):
        if not kept or finding["start"] >= kept[-1]["end"]:
            kept.append(finding)
    return kept
