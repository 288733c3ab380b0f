"""What a report is computed from: the counted ratings and the sealed model judgements, as rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import F, OuterRef, Subquery

from dilemmas.canonical import sha256
from dilemmas.models import BlindedPart, Criterion, ModelJudgement, Response
from ratings.models import Batch, Judge, Panel, Rating, Slot, Submission


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
            }
        )


def read_inputs(panel: Panel) -> Inputs:
    """Read what counts: the newest submission of every main slot at its first occasion."""
    newest = (
        Submission.objects.filter(slot=OuterRef("submission__slot"))
        .order_by("-number")
        .values("pk")[:1]
    )
    rows = (
        Rating.objects.filter(
            submission__slot__judge__panel=panel,
            submission__slot__batch__phase=Batch.Phase.MAIN,
            submission__slot__occasion=1,
        )
        .alias(newest=Subquery(newest))
        .filter(submission=F("newest"))
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
            Response.objects.filter(response_set=panel.response_set).values_list(
                "pk", "external_id", "dilemma__code", "condition__label", "generator",
                "replicate", "cluster",
            )
        )
    }  # fmt: skip
    judgements = [
        JudgementRow(*row)
        for row in ModelJudgement.objects.filter(
            response__response_set=panel.response_set, sealed_at__isnull=False
        )
        .order_by("pk")
        .values_list("judge", "repetition", "response", "criterion", "score")
        .iterator(chunk_size=20_000)
    ]
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
        flow=_flow(panel, scores),
    )


def _flow(panel: Panel, scores: Sequence[ScoreRow]) -> dict[str, Any]:
    """From imported to analysed: what was served, done, never done, not judged."""
    slots = Slot.objects.filter(judge__panel=panel, batch__phase=Batch.Phase.MAIN)
    done = slots.filter(submissions__isnull=False).distinct().count()
    reasons: dict[str, int] = {}
    for row in scores:
        if row.missing:
            reasons[row.missing] = reasons.get(row.missing, 0) + 1
    without_text = BlindedPart.objects.filter(
        blinding__version__response__response_set=panel.response_set, text=""
    ).values("blinding__version__response")
    return {
        "responses": Response.objects.filter(response_set=panel.response_set).count(),
        "judges": Judge.objects.filter(panel=panel).count(),
        "slots": slots.count(),
        "done": done,
        "never_done": slots.count() - done,
        "cannot_judge": reasons,
        "without_text": without_text.distinct().count(),
        "served_order_known": panel.origin == Panel.Origin.NATIVE,
    }
