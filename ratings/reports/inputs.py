"""What a report is computed from: the counted ratings and the sealed model judgements, as rows."""

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from dilemmas.canonical import sha256, sha256_of_text
from dilemmas.models import (
    BlindedPart,
    Blinding,
    Criterion,
    ModelJudgement,
    Response,
    ResponseVersion,
)
from ratings.models import (
    Batch,
    Consent,
    Judge,
    Panel,
    Rating,
    Reopening,
    Slot,
    Submission,
)
from ratings.reports import blinding
from ratings.reports.traces import Traces, read_traces


class ScoreRow(NamedTuple):
    """One counted rating. `score` is None where `missing` says why."""

    judge: str
    response: int
    part: int
    criterion: str
    score: float | None
    missing: str


class JudgementRow(NamedTuple):
    judge: str
    repetition: int
    response: int
    criterion: str
    score: float | None


@dataclass(frozen=True)
class ResponseInfo:
    """A response as reports name it: by its imported id, or by its dilemma, condition, …"""

    name: str
    dilemma: str
    condition: str
    cluster: str


@dataclass(frozen=True)
class Inputs:
    scores: Sequence[ScoreRow]
    judgements: Sequence[JudgementRow]
    responses: dict[int, ResponseInfo]
    scales: dict[str, list[float]]  # criterion → its levels, in the rubric's order of criteria
    titles: dict[str, dict[str, str]]  # criterion → language → name
    professions: dict[str, str]  # judge → profession
    flow: dict[str, Any]
    blinding: dict[str, Any] | None = None  # of the texts, which are hashed by the freeze
    traces: Traces = field(default_factory=Traces)
    texts_judged: dict[str, dict[str, int]] = field(default_factory=dict)  # see `_judgements`

    # What every criterion asks of a million rows is read off them once.
    @cached_property
    def by_criterion(self) -> dict[str, list[ScoreRow]]:
        """The rows of each criterion; an unknown one has none."""
        found: dict[str, list[ScoreRow]] = defaultdict(list)
        for row in self.scores:
            found[row.criterion].append(row)
        return found

    @cached_property
    def rated(self) -> dict[str, int]:
        """Each unit's label → its response."""
        places = dict.fromkeys((row.response, row.part) for row in self.scores)
        return {self.unit(response, part): response for response, part in places}

    @cached_property
    def condition_of(self) -> dict[str, str]:
        """Each unit's label → its condition."""
        return {unit: self.responses[pk].condition for unit, pk in self.rated.items()}

    @cached_property
    def _labels(self) -> dict[tuple[int, int], str]:
        return {}

    def unit(self, response: int, part: int) -> str:
        """Return the unit's label; part 0 is the whole response."""
        label = self._labels.get((response, part))
        if label is None:
            name = self.responses[response].name
            label = self._labels[response, part] = f"{name}#{part}" if part else name
        return label

    def sha256(self) -> str:
        """Return the hash of everything that the figures follow from, by imported names."""
        name = {pk: info.name for pk, info in self.responses.items()}
        ratings = sorted(
            [r.judge, name[r.response], r.part, r.criterion, r.score, r.missing]
            for r in self.scores
        )
        judgements = sorted(
            ([j.judge, j.repetition, name[j.response], j.criterion, j.score]
             for j in self.judgements),
            key=lambda row: row[:4],
        )  # fmt: skip
        responses = sorted(
            [i.name, i.dilemma, i.condition, i.cluster] for i in self.responses.values()
        )
        return sha256(
            {
                "ratings": ratings,
                "judgements": judgements,
                "responses": responses,
                "scales": self.scales,
                "traces": self.traces.to_hash(name),
            }
        )


def read_inputs(panel: Panel, *, judges_planned: int | None, each: int | None = None) -> Inputs:
    """Read what counts: the newest submission of every main slot at its first occasion.

    Of controls nothing counts. `judges_planned` is how many judges the protocol promised, and
    `each` how many for each response; None is all of them, and nothing if no judge was promised.
    """
    rows = (
        Rating.objects.newest_of(panel)
        .filter(
            submission__slot__batch__phase=Batch.Phase.MAIN,
            submission__slot__occasion=1,
            submission__slot__response__kind=Response.Kind.RESPONSE,
        )
        .exclude(submission__slot__response__withdrawals__panel=panel)
        .order_by("pk")
        .values_list(
            "submission__slot__judge__code",
            "submission__slot__response",
            "part",
            "criterion__key",
            "score",
            "missing",
        )
    )
    scores = [ScoreRow(*row) for row in rows.iterator(chunk_size=20_000)]
    responses = {
        pk: ResponseInfo(
            external or "/".join((dilemma, condition, generator, str(replicate))),
            dilemma,
            condition,
            cluster or dilemma,
        )
        for pk, external, dilemma, condition, generator, replicate, cluster in (
            _responses(panel).values_list(
                "pk", "external_id", "dilemma__code", "condition__label", "generator",
                "replicate", "cluster",
            )
        )
    }  # fmt: skip
    by = _sealed_by(panel)
    left = blinding.findings_left(panel, blinding.sealed(panel, by=by))
    traces = read_traces(panel, by=by, left=left).only(responses)
    judgements, texts_judged = _judgements(panel, traces, responses, by=by)
    criteria = Criterion.objects.filter(version=panel.rubric_version).prefetch_related(
        "texts", "levels"
    )
    return Inputs(
        scores=scores,
        judgements=judgements,
        responses=responses,
        scales={c.key: [level.value for level in c.levels.all()] for c in criteria},
        titles={c.key: {t.language: t.name for t in c.texts.all()} for c in criteria},
        professions={
            code: profession
            for code, profession in Judge.objects.filter(panel=panel).values_list(
                "code", "profession"
            )
            if profession
        },
        flow=_flow(panel, judges_planned=judges_planned, each=each)
        | {
            "cannot_judge": dict(
                sorted(Counter(row.missing for row in scores if row.missing).items())
            )
        },
        blinding=blinding.document_of(panel, by=by, left=left),
        traces=traces,
        texts_judged=texts_judged,
    )


def _judgements(
    panel: Panel, traces: Traces, served: Container[int], *, by: datetime | None
) -> tuple[list[JudgementRow], dict[str, dict[str, int]]]:
    """Return the model judgements of the texts that judges read, and how many are which.

    By judge: "same" hash, no hash or text to compare ("unknown"; they count, and the report says
    so), "other" text (they do not count). Several parts are one text, a blank line between.
    """
    hashes = {pk: {sha256_of_text(text) for text in ways} for pk, ways in traces.texts.items()}
    rows = (
        ModelJudgement.objects.filter(response__response_set=panel.response_set, sealed_at__lte=by)
        .order_by("pk")
        .values_list("judge", "repetition", "response", "criterion", "score", "text_sha256")
    )
    kept: list[JudgementRow] = []
    counts: dict[str, dict[str, int]] = {}
    for judge, repetition, response, criterion, score, digest in rows.iterator(chunk_size=20_000):
        if response not in served:  # it is held back
            continue
        judgement = JudgementRow(judge, repetition, response, criterion, score)
        known = hashes.get(judgement.response)
        text = "unknown" if not digest or not known else "same" if digest in known else "other"
        told = counts.setdefault(judgement.judge, {"same": 0, "unknown": 0, "other": 0})
        told[text] += 1
        if text != "other":
            kept.append(judgement)
    return kept, dict(sorted(counts.items()))


def _sealed_by(panel: Panel) -> datetime | None:
    """When the panel's content was fixed: what a later panel seals in the same set is not its."""
    freeze = getattr(panel, "freeze", None)
    return freeze.at if freeze else panel.closed_at


def _responses(panel: Panel) -> QuerySet[Response]:
    sealed = ResponseVersion.objects.filter(
        response=OuterRef("pk"), sealed_at__lte=_sealed_by(panel)
    )
    kept: QuerySet[Response] = Response.objects.kept()  # type: ignore[attr-defined]
    return (
        kept.filter(Exists(sealed), response_set=panel.response_set)
        .exclude(kind=Response.Kind.PRACTICE)
        .exclude(withdrawals__panel=panel)
    )


def taken_out(panel: Panel) -> dict[str, Any]:
    """Return how many responses were taken out while the panel was open, by condition and reason."""
    rows = list(panel.withdrawals.values_list("response__condition__label", "reason"))
    return {
        "responses": len(rows),
        "by_condition": dict(sorted(Counter(label for label, _ in rows).items())),
        "by_reason": dict(sorted(Counter(reason for _, reason in rows).items())),
    }


def unsubmitted(flow: Mapping[str, Any]) -> int:
    """Responses that a judge owes: given and never done, or promised and given to nobody."""
    return int(flow["never_done"] - flow["left_by_withdrawn"] + flow["unfilled"])


def served(panel: Panel, *, judges_planned: int | None, each: int | None = None) -> dict[str, int]:
    """Count what was given to judges, done and never done; no score is read (6 queries).

    `unfilled` counts what the protocol promised and nobody was given: a drop-out whom a
    replacement stands in for leaves no gap, a judge who never came does.
    """
    each = each or judges_planned or 0
    slots = Slot.objects.filter(
        judge__panel=panel,
        batch__phase=Batch.Phase.MAIN,
        occasion=1,
        response__kind=Response.Kind.RESPONSE,
    ).exclude(response__withdrawals__panel=panel)
    slots = slots.annotate(done=Exists(Submission.objects.filter(slot=OuterRef("pk"))))
    never_done = slots.filter(done=False)
    responses = _responses(panel).filter(kind=Response.Kind.RESPONSE)
    held = Counter(
        slots.exclude(done=False, judge__withdrawn_at__isnull=False).values_list(
            "response", flat=True
        )
    )
    known = list(responses.values_list("pk", flat=True))
    return {
        "responses": len(known),
        "slots": slots.count(),
        "done": slots.filter(done=True).count(),
        "never_done": never_done.count(),
        "left_by_withdrawn": never_done.filter(judge__withdrawn_at__isnull=False).count(),
        "unfilled": sum(max(0, each - held[pk]) for pk in known),
    }


def _flow(panel: Panel, *, judges_planned: int | None, each: int | None) -> dict[str, Any]:
    """From imported to analysed: what was served, done and never done, and by whom."""
    without_text = BlindedPart.objects.filter(
        blinding__in=Blinding.objects.newest_in(panel.response_set),  # type: ignore[attr-defined]
        text="",
    ).values("blinding__version__response")
    judges = Judge.objects.filter(panel=panel)
    exposure = dict(
        Consent.objects.filter(judge__panel=panel).order_by("pk").values_list("judge", "exposure")
    )
    return served(panel, judges_planned=judges_planned, each=each) | {
        "held_back": _held_back(panel),
        "judges": judges.count(),
        "judges_planned": judges_planned,
        "judges_withdrawn": judges.filter(withdrawn_at__isnull=False).count(),
        "professions": dict(sorted(Counter(judges.values_list("profession", flat=True)).items())),
        "exposure": dict(sorted(Counter(exposure.values()).items())),
        "taken_out": taken_out(panel),
        "reopened": Reopening.objects.filter(slot__judge__panel=panel).count(),
        "judges_replaced": judges.filter(replaced_by__isnull=False).count(),
        "without_text": without_text.distinct().count(),
        "served_order_known": panel.origin == Panel.Origin.NATIVE,
    }


def _held_back(panel: Panel) -> dict[str, Any]:
    """Count the responses that a coordinator took out before the freeze, by condition and reason."""
    rows = list(
        blinding.held_back(panel, by=_sealed_by(panel)).values_list(
            "version__response__condition__label", "reason"
        )
    )
    return {
        "responses": len(rows),
        "by_condition": dict(sorted(Counter(label for label, _reason in rows).items())),
        "by_reason": dict(sorted(Counter(reason for _label, reason in rows).items())),
    }
