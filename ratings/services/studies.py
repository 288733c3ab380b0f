"""Importing a study that was rated elsewhere: closed from the start, never registered beforehand."""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from awb_panel.accounts.models import User
from dilemmas.models import (
    Blinding,
    Collection,
    Criterion,
    Dilemma,
    DilemmaText,
    DilemmaVersion,
    ModelJudgement,
    Response,
    ResponseSet,
    ResponseVersion,
    Rubric,
    RubricVersion,
)
from dilemmas.services import provenance
from dilemmas.services.importing import refuse_one, write_rubric
from dilemmas.services.reading import Problems, Row, number, read_rows
from dilemmas.services.responses import Incoming, known_responses, write_judgements, write_responses
from ratings.models import Batch, Judge, Membership, Panel, Rating, Slot, Submission
from ratings.models.people import Role
from ratings.services import audit
from ratings.services.assigning import slot_code
from ratings.services.protocols import DEFAULTS

ITEM_COLUMNS = (
    "item_id", "prompt_id", "prompt_text", "condition", "response_text", "cluster_id",
)  # fmt: skip
RATING_COLUMNS = ("item_id", "rater_id", "criterion", "score", "rationale")
JUDGEMENT_COLUMNS = ("item_id", "judge", "repetition", "criterion", "score")
ALGORITHM = "unknown (imported)"
RESERVED = ("new", "import", "rubrics")  # pages that stand where a panel's would
_BATCH = 2_000
_SEED = 20_261_201  # nothing was registered, so the seed is the same for every imported study


@dataclass(frozen=True)
class StudyFiles:
    """The bytes of a study's files; `judgements` may be absent."""

    items: bytes
    ratings: bytes
    judgements: bytes | None = None

    def sha256(self) -> dict[str, str]:
        named = {"items": self.items, "ratings": self.ratings, "judgements": self.judgements}
        return {
            name: hashlib.sha256(content).hexdigest()
            for name, content in named.items()
            if content is not None
        }


@dataclass(frozen=True)
class StudyOutcome:
    panel: Panel
    is_new: bool
    items: int
    ratings: int
    judgements: int
    without_text: int


@dataclass(frozen=True)
class _Score:
    line: int
    item: str
    rater: str
    criterion: str
    score: float | None
    rationale: str


def parse_scale(text: str) -> list[float]:
    """Return the levels of a scale such as `1-5` or `0,0.5,1`. Raises `ImportRefused`."""
    match = re.fullmatch(r"\s*(-?\d+)\s*-\s*(-?\d+)\s*", text)
    if match:
        low, high = int(match[1]), int(match[2])
        levels = [float(value) for value in range(low, high + 1)]
    else:
        try:
            levels = sorted({float(part) for part in text.split(",")})
        except ValueError:
            levels = []
    if not 2 <= len(levels) <= 1_001:
        raise refuse_one(
            "", _("«%s» is not a scale.") % text, _("Write the lowest and the highest level: 1-5.")
        )
    return levels


@transaction.atomic
def import_study(
    *,
    files: StudyFiles,
    slug: str,
    title: str,
    scale: str,
    at: datetime,
    coordinator: User | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StudyOutcome:
    """Import a rated study as a closed panel. The same files again change nothing.

    Raises `ImportRefused` with every bad row; nothing is written then.
    """
    existing = Panel.objects.filter(slug=slug).first()
    if existing is not None:
        return _unchanged(existing, files, scale)
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", slug) or slug in RESERVED:
        raise refuse_one(
            "",
            _("«%s» cannot be an address.") % slug,
            _("Small letters, figures and hyphens; it becomes part of the address."),
        )
    levels = parse_scale(scale)
    items, prompts = _read_items(files.items)
    scores = _read_scores(files.ratings, items, levels)
    response_set = _write_content(slug, items, prompts, progress)
    rubric_version = _write_rubric(slug, scores, levels)
    panel = Panel.objects.create(
        slug=slug,
        title=title or slug,
        state=Panel.State.OPEN,
        origin=Panel.Origin.IMPORTED,
        content_language="und",
        response_set=response_set,
        rubric_version=rubric_version,
        opened_at=at,
    )
    judgements = 0
    if files.judgements is not None:
        judgements = _write_judgements(response_set, files.judgements, progress)
    _seal(response_set, rubric_version, at)
    _write_ratings(panel, scores, at, progress)
    if coordinator is not None:
        Membership.objects.create(panel=panel, user=coordinator, role=Role.COORDINATOR)
    payload = {"files": files.sha256(), "scale": scale, "ratings": len(scores)}
    actor = coordinator.opaque_id if coordinator else ""
    provenance.record(kind="study_imported", payload=payload, actor=actor, at=at)
    audit.record(panel=panel, kind="study_imported", payload=payload, actor=actor, at=at)
    panel.state, panel.closed_at = Panel.State.CLOSED, at
    panel.save(update_fields=["state", "closed_at"])
    without_text = sum(1 for item in items.values() if not item.parts[1].strip())
    return StudyOutcome(panel, True, len(items), len(scores), judgements, without_text)


def unregistered_protocol() -> dict[str, Any]:
    """Return what a report of an imported study uses: the defaults, registered by nobody."""
    return DEFAULTS | {"bootstrap_seed": _SEED, "order_seed": 0}


def _unchanged(panel: Panel, files: StudyFiles, scale: str) -> StudyOutcome:
    event = panel.events.filter(kind="study_imported").first()

    payload = json.loads(event.payload) if event else {}
    if payload.get("files") != files.sha256() or payload.get("scale") != scale:
        raise refuse_one(
            "",
            _("There is another panel «%s».") % panel.slug,
            _("Choose another slug; an imported study is never changed."),
        )
    return StudyOutcome(panel, False, 0, 0, 0, 0)


def _read_items(content: bytes) -> tuple[dict[str, Incoming], dict[str, str]]:
    """Return the items by id and the prompts' texts by prompt id."""
    name = "items.csv"
    rows = read_rows(
        content, name=name, required=("item_id", "prompt_id", "condition"), known=ITEM_COLUMNS
    )
    problems = Problems(name)
    items: dict[str, Incoming] = {}
    prompts: dict[str, str] = {}
    for row in rows:
        key, prompt = row.get("item_id").strip(), row.get("prompt_id").strip()
        for column in ("item_id", "prompt_id", "condition"):
            if not row.get(column).strip():
                problems.add(row.line, column, _("The cell is empty."), _("Fill it in."))
        if key in items:
            message = _("«%s» stands twice.") % key
            problems.add(row.line, "item_id", message, _("Keep one."))
            continue
        text = row.get("prompt_text")
        if prompts.setdefault(prompt, text) != text:
            message = _("The prompt «%s» has another text further up.") % prompt
            problems.add(row.line, "prompt_text", message, _("Give it another prompt_id."))
        items[key] = _incoming(row, key, prompt)
    problems.refuse()
    return items, prompts


def _incoming(row: Row, key: str, prompt: str) -> Incoming:
    return Incoming(
        line=row.line,
        key=(key,),
        dilemma=prompt,
        condition=row.get("condition").strip(),
        generator="",
        replicate=1,
        external_id=key,
        language="",
        kind=Response.Kind.RESPONSE.value,
        cluster=row.get("cluster_id").strip(),
        latency_s=None,
        cost=None,
        parts={1: row.get("response_text")},
    )


def _read_scores(
    content: bytes, items: Mapping[str, Incoming], levels: Sequence[float]
) -> list[_Score]:
    name = "ratings.csv"
    required = ("item_id", "rater_id", "criterion", "score")
    rows = read_rows(content, name=name, required=required, known=RATING_COLUMNS)
    problems = Problems(name)
    allowed = set(levels)
    seen: dict[tuple[str, str, str], int] = {}
    scores = []
    for row in rows:
        item, rater, criterion = (row.get(c).strip() for c in ("item_id", "rater_id", "criterion"))
        score = number(row, "score", problems)
        if item not in items:
            message = _("There is no item «%s».") % item
            problems.add(row.line, "item_id", message, _("Add it to items.csv."))
        if not rater or not criterion:
            problems.add(row.line, "rater_id", _("The cell is empty."), _("Fill it in."))
        if score is not None and score not in allowed:
            message = _("%(score)g is not on the scale %(low)g–%(high)g.") % {
                "score": score,
                "low": levels[0],
                "high": levels[-1],
            }
            problems.add(row.line, "score", message, _("Mend it, or leave a missing score empty."))
        first = seen.setdefault((item, rater, criterion), row.line)
        if first != row.line:
            message = _("This rating stands twice (first on line %d).") % first
            problems.add(row.line, "item_id", message, _("Keep one."))
        scores.append(_Score(row.line, item, rater, criterion, score, row.get("rationale")))
    problems.refuse()
    return scores


def _write_content(
    slug: str,
    items: Mapping[str, Incoming],
    prompts: Mapping[str, str],
    progress: Callable[[int, int], None] | None,
) -> ResponseSet:
    collection = Collection.objects.create(name=f"study:{slug}")
    dilemmas = Dilemma.objects.bulk_create(
        [Dilemma(collection=collection, code=code) for code in prompts], batch_size=_BATCH
    )
    versions = DilemmaVersion.objects.bulk_create(
        [DilemmaVersion(dilemma=dilemma, number=1) for dilemma in dilemmas], batch_size=_BATCH
    )
    DilemmaText.objects.bulk_create(
        [
            DilemmaText(version=version, language="und", context=prompts[dilemma.code])
            for version, dilemma in zip(versions, dilemmas, strict=True)
        ],
        batch_size=_BATCH,
    )
    response_set = ResponseSet.objects.create(name=f"study:{slug}", collection=collection)
    write_responses(
        response_set=response_set,
        incoming=list(items.values()),
        dilemmas={dilemma.code: dilemma for dilemma in dilemmas},
        problems=Problems("items.csv"),
        update=False,
        progress=progress,
        look=False,  # judged elsewhere as they were: there is nothing left to blind
    )
    return response_set


def _write_rubric(slug: str, scores: Sequence[_Score], levels: Sequence[float]) -> RubricVersion:
    keys = list(dict.fromkeys(score.criterion for score in scores))
    document = {
        "code": f"study-{slug}",
        "provenance": "Imported with the study; the levels' texts are not known.",
        "criteria": [
            {"key": key, "name": {"und": key}, "levels": [{"value": level} for level in levels]}
            for key in keys
        ],
    }
    rubric, _made = Rubric.objects.get_or_create(code=document["code"])
    return write_rubric(rubric, rubric.versions.count() + 1, document)


def _write_judgements(
    response_set: ResponseSet, content: bytes, progress: Callable[[int, int], None] | None
) -> int:
    name = "model_judgements.csv"
    required = ("item_id", "judge", "criterion", "score")
    rows = read_rows(content, name=name, required=required, known=JUDGEMENT_COLUMNS)
    problems = Problems(name)
    known = known_responses(response_set)
    wanted = []
    for row in rows:
        response = known.get((row.get("item_id").strip(),))
        if response is None:
            message = _("There is no item «%s».") % row.get("item_id")
            problems.add(row.line, "item_id", message, _("Add it to items.csv."))
            continue
        judgement = ModelJudgement(
            response=response,
            judge=row.get("judge").strip(),
            repetition=int(number(row, "repetition", problems, whole=True, default=1) or 1),
            criterion=row.get("criterion").strip(),
            score=number(row, "score", problems),
        )
        wanted.append((row.line, judgement))
    problems.refuse()
    return write_judgements(
        response_set=response_set,
        judgements=wanted,
        problems=problems,
        update=False,
        progress=progress,
    ).created


def _seal(response_set: ResponseSet, rubric_version: RubricVersion, at: datetime) -> None:
    of_set = {"response__response_set": response_set}
    Blinding.objects.filter(version__response__response_set=response_set).update(sealed_at=at)
    ResponseVersion.objects.filter(**of_set).update(sealed_at=at)
    ModelJudgement.objects.filter(**of_set).update(sealed_at=at)
    DilemmaVersion.objects.filter(dilemma__collection=response_set.collection).update(sealed_at=at)
    RubricVersion.objects.filter(pk=rubric_version.pk).update(sealed_at=at)


def _write_ratings(
    panel: Panel,
    scores: Sequence[_Score],
    at: datetime,
    progress: Callable[[int, int], None] | None,
) -> None:
    """One batch per rater, its slots in file order: the served positions are unknown."""
    blindings = {
        external: (response, blinding)
        for external, response, blinding in Blinding.objects.filter(
            version__response__response_set=panel.response_set
        ).values_list("version__response__external_id", "version__response_id", "pk")
    }
    criteria = {c.key: c for c in Criterion.objects.filter(version=panel.rubric_version)}
    by_rater: dict[str, dict[str, list[_Score]]] = {}
    for score in scores:
        by_rater.setdefault(score.rater, {}).setdefault(score.item, []).append(score)
    for rater, by_item in by_rater.items():
        judge = Judge.objects.create(panel=panel, code=rater)
        batch = Batch.objects.create(
            judge=judge,
            number=1,
            code=secrets.token_hex(8),
            rubric_version=panel.rubric_version,
            algorithm=ALGORITHM,
        )
        slots = Slot.objects.bulk_create(
            [
                Slot(
                    batch=batch,
                    judge=judge,
                    position=position,
                    code=slot_code(),
                    response_id=blindings[item][0],
                    blinding_id=blindings[item][1],
                    rationales=Slot.Rationales.NONE,
                )
                for position, item in enumerate(by_item, start=1)
            ],
            batch_size=_BATCH,
        )
        submissions = Submission.objects.bulk_create(
            [Submission(slot=slot, number=1, at=at) for slot in slots], batch_size=_BATCH
        )
        Rating.objects.bulk_create(
            [
                _rating(submission, criteria[score.criterion], score)
                for submission, rows in zip(submissions, by_item.values(), strict=True)
                for score in rows
            ],
            batch_size=_BATCH,
        )
        Batch.objects.filter(pk=batch.pk).update(handed_in_at=at)
        if progress:
            progress(len(by_item), len(by_item))


def _rating(submission: Submission, criterion: Criterion, score: _Score) -> Rating:
    missing = "" if score.score is not None else "other"
    return Rating(
        submission=submission,
        criterion=criterion,
        score=score.score,
        missing=missing,
        missing_note="empty in the imported file" if missing else "",
        rationale=score.rationale,
    )


__all__ = ["StudyFiles", "StudyOutcome", "import_study", "parse_scale", "unregistered_protocol"]
