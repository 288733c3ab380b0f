"""Rationales side by side: what each judge wrote of a response, beside the model judge's reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Exists, Max, Min, OuterRef, Q

from dilemmas.canonical import sha256
from dilemmas.models import BlindedPart, DilemmaVersion, ModelJudgement, Response
from ratings.models import Batch, Panel, Rating, Slot
from ratings.reports.resolved import resolved

PAGE = 10  # responses
_KEPT_S = 24 * 3600
ORDERS = ("served", "apart", "together", "cases")
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
    decisions: dict[str, list[Said]] = field(default_factory=dict)  # adjudicators', by criterion


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


@dataclass(frozen=True)
class Asked:
    """What a reader wants to see. Empty means all.

    `search` is looked for in reasons, judges' and model judges'. `pair` is two judges' codes: only
    what both scored is shown, and only their two answers. `order` is by place, by the largest
    difference on a criterion, by the least, or only the cases given to adjudicators.
    """

    search: str = ""
    dilemma: str = ""
    family: str = ""
    criterion: str = ""
    pair: tuple[str, str] | None = None
    order: str = "served"


def read_page(panel: Panel, asked: Asked, *, number: int = 1) -> Page:
    """Return one page of responses with all that was said of them (8 queries).

    Only after closing: the caller checks.
    """
    ratings = counted(panel)
    if asked.criterion:
        ratings = ratings.filter(criterion__key=asked.criterion)
    if asked.pair:
        ratings = ratings.filter(submission__slot__judge__code__in=asked.pair)
    sorts = asked.order in ("apart", "together")
    spreads = _kept_spreads(panel, ratings, asked) if sorts or asked.pair else {}
    responses = Response.objects.filter(
        Exists(Slot.objects.filter(judge__panel=panel, response=OuterRef("pk")))
    )
    if asked.dilemma:
        responses = responses.filter(dilemma__code=asked.dilemma)
    if asked.family:
        of_family = DilemmaVersion.objects.filter(family=asked.family, sealed_at__isnull=False)
        responses = responses.filter(dilemma__in=of_family.values("dilemma"))
    if asked.pair:
        responses = responses.filter(pk__in=spreads)
    if asked.order == "cases":
        cases = panel.cases.all()
        if asked.criterion:
            cases = cases.filter(criterion__key=asked.criterion)
        responses = responses.filter(pk__in=cases.values("response"))
    if asked.search:
        said = ratings.filter(rationale__icontains=asked.search)
        judged = ModelJudgement.objects.filter(
            response__response_set=panel.response_set_id, reason__icontains=asked.search
        )
        responses = responses.filter(
            Q(pk__in=said.values("submission__slot__response"))
            | Q(pk__in=judged.values("response"))
        )
    keys = list(responses.order_by("dilemma__code", "pk").values_list("pk", flat=True))
    if sorts:
        keys.sort(key=lambda pk: spreads.get(pk, 0.0), reverse=asked.order == "apart")
    pages = max(1, -(-len(keys) // PAGE))
    number = min(max(1, number), pages)
    shown = keys[(number - 1) * PAGE : number * PAGE]
    return Page(_rows(panel, shown, ratings, asked), number, pages, len(keys))


def _kept_spreads(panel: Panel, ratings: Any, asked: Asked) -> dict[int, float]:
    """Return the differences by which a list is sorted. Nothing of a closed panel's ratings changes,
    and of a million it takes a second to go through them: so they are kept."""
    key = f"spreads-{panel.pk}-{sha256([asked.criterion, asked.pair])[:32]}"
    found: dict[int, float] | None = cache.get(key)
    if found is None:
        found = _spreads(ratings, of_pair=asked.pair is not None)
        cache.set(key, found, timeout=_KEPT_S)
    return found


def _spreads(ratings: Any, *, of_pair: bool) -> dict[int, float]:
    """Return the largest difference on a criterion, by response; of a pair where both scored it."""
    found: dict[int, float] = {}
    for response, _criterion, low, high, n in (
        ratings.filter(score__isnull=False)
        .values_list("submission__slot__response", "criterion")
        .annotate(low=Min("score"), high=Max("score"), n=Count("pk"))
        .order_by()
    ):
        if not of_pair or n > 1:
            found[response] = max(found.get(response, 0.0), high - low)
    return found


def _rows(panel: Panel, keys: Sequence[int], ratings: Any, asked: Asked) -> list[Row]:
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
    spreads = _spreads(ratings.filter(submission__slot__response__in=keys), of_pair=False)
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
    judgements = ModelJudgement.objects.filter(response__in=keys, sealed_at__isnull=False)
    if asked.criterion:
        judgements = judgements.filter(criterion=asked.criterion)
    for response, criterion, who, repetition, score, reason in judgements.order_by(
        "judge", "repetition"
    ).values_list("response", "criterion", "judge", "repetition", "score", "reason"):
        said = Said(f"{who} · {repetition}", score, "", reason, is_model=True)
        rows[response].criteria.setdefault(criterion, []).append(said)
    for one in resolved(panel, responses=keys):
        if not asked.criterion or one.criterion == asked.criterion:
            rows[one.response].decisions[one.criterion] = [
                Said(who, score, "", reason) for who, score, reason in one.decisions
            ]
    return [rows[pk] for pk in keys]
