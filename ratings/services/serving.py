"""What a judge is given to read and to score with: frozen values that have no condition to leak."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import FilteredRelation, OuterRef, Q, Subquery

from dilemmas.markdown import flatten
from dilemmas.models import BlindedPart, Criterion, DilemmaText, Level, RubricText, RubricVersion
from ratings.models import Panel, Slot


@dataclass(frozen=True)
class BlindedPartItem:
    """One stage: what was asked, and the blinded response to it."""

    number: int
    title: str
    context: str
    response: str


@dataclass(frozen=True)
class BlindedItem:
    """One place in a batch, as its judge may know it."""

    position: int
    code: str
    language: str
    parts: Sequence[BlindedPartItem]
    flattened: bool = False


@dataclass(frozen=True)
class LevelItem:
    value: str  # as a number is written: 0, 1, 0.5
    short: str
    full: str


@dataclass(frozen=True)
class CriterionItem:
    key: str
    name: str
    question: str
    boundary: str
    between: str  # the levels that it tells apart, as in "2 → 3"; empty if they are not named
    asks_rationale: bool
    applies: str  # in words, when it applies; empty if always
    levels: Sequence[LevelItem]


@dataclass(frozen=True)
class RubricItem:
    key: str  # names the content: another content has another
    title: str
    norms: str
    language: str
    criteria: Sequence[CriterionItem]


_KEPT = 32  # rubrics in the languages that are asked for
_RUBRICS: dict[tuple[int, str, str], RubricItem] = {}


def blinded_item(slot: Slot, panel: Panel) -> BlindedItem:
    """Return what the judge reads at this slot, in the panel's content language (2 queries).

    If the protocol says so, responses lose their Markdown, whatever their condition.
    """
    language, flattened = panel.content_language, panel.display == "flattened"
    texts = {
        stage: (title, context)
        for stage, title, context in DilemmaText.objects.filter(
            version__dilemma__responses=slot.response_id,
            version__sealed_at__isnull=False,
            language=language,
        )
        .order_by("version__number")
        .values_list("stage", "title", "context")
    }
    parts = [
        BlindedPartItem(number, *texts.get(number, ("", "")), flatten(text) if flattened else text)
        for number, text in BlindedPart.objects.filter(blinding=slot.blinding_id)
        .order_by("number")
        .values_list("number", "text")
    ]
    return BlindedItem(slot.position, slot.code, language, parts, flattened)


def instructions_text(version: RubricVersion, *, language: str) -> str:
    """Return the rubric's instructions for judges, as Markdown; empty if it has none (1 query)."""
    texts = RubricText.objects.filter(version=version, language=language)
    return texts.values_list("instructions", flat=True).first() or ""


def rubric_item(version: RubricVersion, *, language: str) -> RubricItem:
    """Return the rubric in one language (2 queries at first; texts that are missing are empty).

    A version's content never changes, so a process keeps it by its hash.
    """
    key = (version.pk, version.content_sha256, language)
    if key not in _RUBRICS:
        if len(_RUBRICS) >= _KEPT:
            _RUBRICS.pop(next(iter(_RUBRICS)), None)
        _RUBRICS[key] = _read_rubric(version, language)
    return _RUBRICS[key]


def _read_rubric(version: RubricVersion, language: str) -> RubricItem:
    own = RubricText.objects.filter(version=OuterRef("version"), language=language)
    criteria = (
        Criterion.objects.filter(version=version)
        .annotate(
            text=FilteredRelation("texts", condition=Q(texts__language=language)),
            norms=Subquery(own.values("norms")[:1]),
            title=Subquery(own.values("title")[:1]),
        )
        .order_by("position")
        .values_list(
            "pk", "key", "text__name", "text__question", "text__boundary", "asks_rationale",
            "norms", "title", "boundary_lower", "boundary_upper", "applicability",
        )
    )  # fmt: skip
    levels: dict[int, list[LevelItem]] = {}
    rows = (
        Level.objects.filter(criterion__version=version)
        .annotate(text=FilteredRelation("texts", condition=Q(texts__language=language)))
        .order_by("value")
        .values_list("criterion", "value", "text__short", "text__full")
    )
    for criterion, value, short, full in rows:
        levels.setdefault(criterion, []).append(LevelItem(f"{value:g}", short or "", full or ""))
    items, norms, title = [], "", ""
    for (
        pk, key, name, question, boundary, asks, its_norms, its_title, lower, upper, applicability
    ) in criteria:  # fmt: skip
        norms, title = its_norms or "", its_title or ""
        items.append(
            CriterionItem(
                key=key,
                name=name or key,
                question=question or "",
                boundary=boundary or "",
                between="" if lower is None else f"{lower:g} → {upper:g}",
                asks_rationale=asks,
                applies=applicability.get("text", {}).get(language, ""),
                levels=levels.get(pk, []),
            )
        )
    return RubricItem(f"{version.pk}-{version.content_sha256}", title, norms, language, items)
