"""What was observed beside the counted scores: places, repeats, guesses, edits, flags, lengths."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from dilemmas.markdown import flatten
from dilemmas.models import BlindedPart, Blinding, Response
from ratings.models import Batch, Flag, Guess, Panel, Rating, Slot, Submission
from ratings.reports import blinding


class Place(NamedTuple):
    """Where a judge was served a response: among all slots, and among its dilemma's, from 1."""

    judge: str
    response: int
    position: int
    order: int


class Repeated(NamedTuple):
    """A score of the second occasion; None where there was none."""

    judge: str
    response: int
    part: int
    criterion: str
    score: float | None


class Spent(NamedTuple):
    """How long a judge worked at a response, pauses left out."""

    judge: str
    response: int
    active_ms: int


class Guessed(NamedTuple):
    """`guessed` is None for "don't know"."""

    judge: str
    response: int
    guessed: str | None
    why: str


@dataclass(frozen=True)
class Traces:
    """All of it for one panel; nothing of it is known of a study that was judged elsewhere.

    Attributes
    ----------
    edited, flagged : set of response
        Marked done more than once by a judge; flagged by one.
    left : set of response
        The text still holds what blinding looks for.
    words : mapping of response to int
        Of the text as judges read it.
    texts : mapping of response to list of str
        Ways in which a model may have been given the text that judges read.
    """

    places: Sequence[Place] = ()
    repeats: Sequence[Repeated] = ()
    guesses: Sequence[Guessed] = ()
    times: Sequence[Spent] = ()
    edited: frozenset[int] = frozenset()
    flagged: frozenset[int] = frozenset()
    left: frozenset[int] = frozenset()
    words: dict[int, int] = field(default_factory=dict)
    texts: dict[int, list[str]] = field(default_factory=dict)

    def only(self, responses: Container[int]) -> "Traces":
        """Return what is of these responses: what was taken out of the panel left traces too."""
        return Traces(
            places=[one for one in self.places if one.response in responses],
            repeats=[one for one in self.repeats if one.response in responses],
            guesses=[one for one in self.guesses if one.response in responses],
            times=[one for one in self.times if one.response in responses],
            edited=frozenset(pk for pk in self.edited if pk in responses),
            flagged=frozenset(pk for pk in self.flagged if pk in responses),
            left=frozenset(pk for pk in self.left if pk in responses),
            words={pk: n for pk, n in self.words.items() if pk in responses},
            texts={pk: ways for pk, ways in self.texts.items() if pk in responses},
        )

    def to_hash(self, names: dict[int, str]) -> dict[str, Any]:
        """Write what figures follow from, by the responses' imported names."""
        # Of panels from before time was measured the hash stays what it was.
        times = sorted([t.judge, names[t.response], t.active_ms] for t in self.times)
        return ({"times": times} if times else {}) | {
            "places": sorted(
                [p.judge, names[p.response], p.position, p.order] for p in self.places
            ),
            "repeats": sorted(
                ([r.judge, names[r.response], r.part, r.criterion, r.score] for r in self.repeats),
                key=lambda row: row[:4],
            ),
            "guesses": sorted(
                [g.judge, names[g.response], g.guessed or "", g.why] for g in self.guesses
            ),
            "edited": sorted(names[pk] for pk in self.edited),
            "flagged": sorted(names[pk] for pk in self.flagged),
            "left": sorted(names[pk] for pk in self.left),
            "words": sorted([names[pk], n] for pk, n in self.words.items()),
        }


def read_traces(panel: Panel, *, by: datetime | None, left: Iterable[int]) -> Traces:
    """Read what was observed of a panel whose texts were fixed `by` then."""
    slots = Slot.objects.filter(judge__panel=panel, batch__phase=Batch.Phase.MAIN)
    first = slots.filter(occasion=1, response__kind=Response.Kind.RESPONSE)
    texts = _texts(panel, by=by)
    native = panel.origin == Panel.Origin.NATIVE
    edited = first.annotate(times=Count("submissions")).filter(times__gt=1)
    flags = Flag.objects.filter(slot__in=first)
    return Traces(
        places=_places(slots) if native else (),
        repeats=_repeats(panel),
        guesses=_guesses(panel),
        times=_times(first) if native else (),
        edited=frozenset(edited.values_list("response", flat=True)),
        flagged=frozenset(flags.values_list("slot__response", flat=True)),
        left=frozenset(left),
        words={pk: len(ways[-1].split()) for pk, ways in texts.items()},
        texts=texts,
    )


def _places(slots: QuerySet[Slot]) -> list[Place]:
    """Count places over everything served, of which controls and repeats are part but no row."""
    rows = slots.order_by("judge__code", "batch__number", "position").values_list(
        "judge__code", "response", "response__dilemma", "response__kind", "occasion"
    )
    position, order = Counter[str](), Counter[tuple[str, int]]()
    places = []
    for judge, response, dilemma, kind, occasion in rows.iterator(chunk_size=20_000):
        position[judge] += 1
        if kind == Response.Kind.RESPONSE and occasion == 1:
            order[judge, dilemma] += 1
            places.append(Place(judge, response, position[judge], order[judge, dilemma]))
    return places


def _repeats(panel: Panel) -> list[Repeated]:
    rows = (
        Rating.objects.newest_of(panel)
        .filter(
            submission__slot__batch__phase=Batch.Phase.MAIN,
            submission__slot__occasion=2,
        )
        .order_by("pk")
    )
    return [
        Repeated(*row)
        for row in rows.values_list(
            "submission__slot__judge__code",
            "submission__slot__response",
            "part",
            "criterion__key",
            "score",
        )
    ]


def _times(slots: QuerySet[Slot]) -> list[Spent]:
    rows = (
        Submission.objects.filter(slot__in=slots, active_ms__isnull=False)
        .order_by("slot", "number")
        .values_list("slot", "slot__judge__code", "slot__response", "active_ms")
    )
    newest = {
        slot: Spent(judge, response, active_ms or 0)
        for slot, judge, response, active_ms in rows.iterator(chunk_size=20_000)
    }
    return list(newest.values())


def _guesses(panel: Panel) -> list[Guessed]:
    rows = Guess.objects.filter(slot__judge__panel=panel).order_by("slot")
    return [
        Guessed(*row)
        for row in rows.values_list(
            "slot__judge__code", "slot__response", "condition__label", "why"
        )
    ]


def _texts(panel: Panel, *, by: datetime | None) -> dict[int, list[str]]:
    """Return the text of each response, its parts with a blank line between: as kept, as shown."""
    if panel.origin == Panel.Origin.NATIVE:
        rows = blinding.sealed(panel, by=by)
    else:
        rows = Blinding.objects.newest_in(panel.response_set)  # type: ignore[attr-defined]
    parts = (
        BlindedPart.objects.filter(blinding__in=rows)
        .order_by("blinding__number", "number")
        .values_list("blinding__version__response", "blinding", "text")
    )
    newest: dict[int, int] = {}
    pieces: dict[int, list[str]] = {}
    for response, version, text in parts.iterator(chunk_size=5_000):
        if newest.get(response) != version:
            newest[response], pieces[response] = version, []
        pieces[response].append(text)
    flattened = panel.display == "flattened"
    return {
        response: ["\n\n".join(texts)]
        + (["\n\n".join(flatten(text) for text in texts)] if flattened else [])
        for response, texts in pieces.items()
        if any(texts)
    }
