"""Importing a study that was rated elsewhere: closed from the start, never registered beforehand."""

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
    ResponseSet,
    ResponseVersion,
    Rubric,
    RubricVersion,
)
from dilemmas.services import provenance
from dilemmas.services.importing import refuse_one, write_rubric
from dilemmas.services.judgements import write_judgements
from dilemmas.services.known import known_responses
from dilemmas.services.planner import look_again
from dilemmas.services.reading import Problems
from dilemmas.services.responses import write_responses
from ratings.models import Batch, Judge, Membership, Panel, Rating, Slot, Submission
from ratings.models.people import Role
from ratings.services import audit
from ratings.services.assigning import slot_code
from ratings.services.protocols import DEFAULTS
from ratings.services.study_files import Score, Study, StudyFiles, parse_scale, read_study

ALGORITHM = "unknown (imported)"
RESERVED = ("new", "import", "rubrics")  # pages that stand where a panel's would
_BATCH = 2_000
_SEED = 20_261_201  # nothing was registered, so the seed is the same for every imported study


@dataclass(frozen=True)
class StudyOutcome:
    panel: Panel
    is_new: bool
    items: int
    ratings: int
    judgements: int
    without_text: int
    notes: Sequence[str] = ()


def check_study(*, files: StudyFiles, slug: str, scale: str, repair: bool = False) -> Study | None:
    """Return a study as it would be written, or None if it is here already.

    Raises `ImportRefused` with every bad row of every file.
    """
    existing = Panel.objects.filter(slug=slug).first()
    if existing is not None:
        _refuse_another(existing, files, scale)
        return None
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", slug) or slug in RESERVED:
        raise refuse_one(
            "",
            _("«%s» cannot be an address.") % slug,
            _("Small letters, figures and hyphens; it becomes part of the address."),
        )
    return read_study(files, scale=scale, repair=repair)


def import_study(
    *,
    files: StudyFiles,
    slug: str,
    title: str,
    scale: str,
    at: datetime,
    coordinator: User | None = None,
    repair: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> StudyOutcome:
    """Import a rated study as a closed panel. The same files again change nothing.

    Raises `ImportRefused` with every bad row; nothing is written then.
    """
    study = check_study(files=files, slug=slug, scale=scale, repair=repair)
    if study is None:
        return StudyOutcome(Panel.objects.get(slug=slug), False, 0, 0, 0, 0)
    with transaction.atomic():
        look_again("dilemmas", "ratings")
        panel = _write(study, slug, title or slug, at, progress)
        if coordinator is not None:
            Membership.objects.create(panel=panel, user=coordinator, role=Role.COORDINATOR)
        payload = {"files": files.sha256(), "scale": scale, "ratings": len(study.scores)}
        actor = coordinator.opaque_id if coordinator else ""
        provenance.record(kind="study_imported", payload=payload, actor=actor, at=at)
        audit.record(panel=panel, kind="study_imported", payload=payload, actor=actor, at=at)
        panel.state, panel.closed_at = Panel.State.CLOSED, at
        panel.save(update_fields=["state", "closed_at"])
    return StudyOutcome(
        panel=panel,
        is_new=True,
        items=len(study.items),
        ratings=len(study.scores),
        judgements=len(study.judged),
        without_text=study.without_text,
        notes=study.notes,
    )


def _write(
    study: Study,
    slug: str,
    title: str,
    at: datetime,
    progress: Callable[[int, int], None] | None,
) -> Panel:
    """Write all but the events; the panel is left open, for its ratings to be written."""
    response_set = _write_content(slug, study, progress)
    rubric_version = _write_rubric(slug, study)
    panel = Panel.objects.create(
        slug=slug,
        title=title,
        state=Panel.State.OPEN,
        origin=Panel.Origin.IMPORTED,
        content_language="und",
        response_set=response_set,
        rubric_version=rubric_version,
        opened_at=at,
    )
    _write_judgements(response_set, study, progress)
    _seal(response_set, rubric_version, at)
    _write_ratings(panel, study.scores, at, progress)
    return panel


def unregistered_protocol() -> dict[str, Any]:
    """Return what a report of an imported study uses: the defaults, registered by nobody."""
    return DEFAULTS | {"bootstrap_seed": _SEED, "order_seed": 0}


def _refuse_another(panel: Panel, files: StudyFiles, scale: str) -> None:
    event = panel.events.filter(kind="study_imported").first()
    payload = json.loads(event.payload) if event else {}
    if payload.get("files") != files.sha256() or payload.get("scale") != scale:
        raise refuse_one(
            "",
            _("There is another panel «%s».") % panel.slug,
            _("Choose another address; an imported study is never changed."),
        )


def _write_content(
    slug: str, study: Study, progress: Callable[[int, int], None] | None
) -> ResponseSet:
    collection = Collection.objects.create(name=f"study:{slug}")
    dilemmas = Dilemma.objects.bulk_create(
        [Dilemma(collection=collection, code=code) for code in study.prompts], batch_size=_BATCH
    )
    versions = DilemmaVersion.objects.bulk_create(
        [DilemmaVersion(dilemma=dilemma, number=1) for dilemma in dilemmas], batch_size=_BATCH
    )
    DilemmaText.objects.bulk_create(
        [
            DilemmaText(version=version, language="und", context=study.prompts[dilemma.code])
            for version, dilemma in zip(versions, dilemmas, strict=True)
        ],
        batch_size=_BATCH,
    )
    response_set = ResponseSet.objects.create(name=f"study:{slug}", collection=collection)
    write_responses(
        response_set=response_set,
        incoming=list(study.items.values()),
        dilemmas={dilemma.code: dilemma for dilemma in dilemmas},
        progress=progress,
    )
    return response_set


def _write_rubric(slug: str, study: Study) -> RubricVersion:
    keys = list(dict.fromkeys(score.criterion for score in study.scores))
    document = {
        "code": f"study-{slug}",
        "provenance": "Imported with the study; the levels' texts are not known.",
        "criteria": [
            {
                "key": key,
                "name": {"und": key},
                "levels": [{"value": level} for level in study.levels],
            }
            for key in keys
        ],
    }
    rubric, _made = Rubric.objects.get_or_create(code=document["code"])
    return write_rubric(rubric, rubric.versions.count() + 1, document)


def _write_judgements(
    response_set: ResponseSet, study: Study, progress: Callable[[int, int], None] | None
) -> None:
    known: Mapping[tuple[str, ...], Any] = known_responses(response_set) if study.judged else {}
    judgements = [
        ModelJudgement(
            response=known[(one.item,)],
            judge=one.judge,
            repetition=one.repetition,
            criterion=one.criterion,
            score=one.score,
        )
        for one in study.judged
    ]
    write_judgements(
        response_set=response_set,
        judgements=list(enumerate(judgements)),
        problems=Problems(),
        progress=progress,
    )


def _seal(response_set: ResponseSet, rubric_version: RubricVersion, at: datetime) -> None:
    of_set = {"response__response_set": response_set}
    Blinding.objects.filter(version__response__response_set=response_set).update(sealed_at=at)
    ResponseVersion.objects.filter(**of_set).update(sealed_at=at)
    ModelJudgement.objects.filter(**of_set).update(sealed_at=at)
    DilemmaVersion.objects.filter(dilemma__collection=response_set.collection).update(sealed_at=at)
    RubricVersion.objects.filter(pk=rubric_version.pk).update(sealed_at=at)


def _write_ratings(
    panel: Panel,
    scores: Sequence[Score],
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
    by_rater: dict[str, dict[str, list[Score]]] = {}
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


def _rating(submission: Submission, criterion: Criterion, score: Score) -> Rating:
    missing = "" if score.score is not None else "other"
    return Rating(
        submission=submission,
        criterion=criterion,
        score=score.score,
        missing=missing,
        missing_note="empty in the imported file" if missing else "",
        rationale=score.rationale,
    )


__all__ = [
    "StudyFiles", "StudyOutcome", "check_study", "import_study", "parse_scale",
    "unregistered_protocol",
]  # fmt: skip
