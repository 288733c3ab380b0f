"""Rationales side by side: what each judge wrote of a response, beside the model judge's reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, Max, Min, OuterRef, Q

from dilemmas.models import BlindedPart, ModelJudgement, Response
from ratings.models import Batch, Panel, Rating, Slot

PAGE = 10  # responses
ORDERS = ("served", "apart", "together")
Titles = dict[str, str]  # criterion → its name in the reader's language


@dataclass(frozen=True)
class Said:
    """One answer: a level or why there is none, and the reason in full."""

    who: str
    score: float | None
    missing: str
    rationale: str
    is_model: bool = False


@dataclass
class Row:
    """A response with what was said of it, by criterion."""

    pk: int
    dilemma: str
    condition: str
    text: str
    spread: float
    criteria: dict[str, list[Said]] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    rows: Sequence[Row]
    number: int
    pages: int
    total: int


def counted(panel: Panel) -> Any:
    """Return the ratings that count: the newest submission of each main slot's first occasion."""
    return Rating.objects.newest_of(panel).filter(
        submission__slot__batch__phase=Batch.Phase.MAIN,
        submission__slot__occasion=1,
    )


def read_page(
    panel: Panel, *, search: str = "", dilemma: str = "", order: str = "served", number: int = 1
) -> Page:
    """Return one page of responses with all that was said of them (6 queries).

    `search` is looked for in reasons, judges' and model judges'; `order` is by place, by the largest
    difference of two judges on a criterion, or by the least. Only after closing: the caller checks.
    """
    ratings = counted(panel)
    spreads: dict[int, float] = {}
    for response, _criterion, low, high in (
        ratings.filter(score__isnull=False)
        .values_list("submission__slot__response", "criterion")
        .annotate(low=Min("score"), high=Max("score"))
        .order_by()
    ):
        spreads[response] = max(spreads.get(response, 0.0), high - low)
    responses = Response.objects.filter(
        Exists(Slot.objects.filter(judge__panel=panel, response=OuterRef("pk")))
    )
    if dilemma:
        responses = responses.filter(dilemma__code=dilemma)
    if search:
        said = ratings.filter(rationale__icontains=search).values("submission__slot__response")
        judged = ModelJudgement.objects.filter(
            response__response_set=panel.response_set_id, reason__icontains=search
        ).values("response")
        responses = responses.filter(Q(pk__in=said) | Q(pk__in=judged))
    keys = list(responses.order_by("dilemma__code", "pk").values_list("pk", flat=True))
    if order != "served":
        keys.sort(key=lambda pk: spreads.get(pk, 0.0), reverse=order == "apart")
    pages = max(1, -(-len(keys) // PAGE))
    number = min(max(1, number), pages)
    shown = keys[(number - 1) * PAGE : number * PAGE]
    return Page(_rows(panel, shown, ratings, spreads), number, pages, len(keys))


def _rows(panel: Panel, keys: Sequence[int], ratings: Any, spreads: dict[int, float]) -> list[Row]:
    about = {
        pk: (code, label)
        for pk, code, label in Response.objects.filter(pk__in=keys).values_list(
            "pk", "dilemma__code", "condition__label"
        )
    }
    served = Slot.objects.filter(judge__panel=panel, response__in=keys)
    texts: dict[int, str] = {}
    for response, text in (
        BlindedPart.objects.filter(blinding__in=served.values("blinding"))
        .order_by("number")
        .values_list("blinding__version__response", "text")
    ):
        texts[response] = f"{texts[response]}\n\n{text}" if response in texts else text
    rows = {pk: Row(pk, *about[pk], texts.get(pk, ""), spreads.get(pk, 0.0)) for pk in keys}
    for response, criterion, who, score, missing, rationale in (
        ratings.filter(submission__slot__response__in=keys)
        .order_by("criterion__position", "submission__slot__judge")
        .values_list(
            "submission__slot__response", "criterion__key", "submission__slot__judge__code",
            "score", "missing", "rationale",
        )
    ):  # fmt: skip
        said = Said(who, score, missing, rationale)
        rows[response].criteria.setdefault(criterion, []).append(said)
    for response, criterion, who, repetition, score, reason in (
        ModelJudgement.objects.filter(response__in=keys, sealed_at__isnull=False)
        .order_by("judge", "repetition")
        .values_list("response", "criterion", "judge", "repetition", "score", "reason")
    ):
        said = Said(f"{who} · {repetition}", score, "", reason, is_model=True)
        rows[response].criteria.setdefault(criterion, []).append(said)
    return [rows[pk] for pk in keys]
