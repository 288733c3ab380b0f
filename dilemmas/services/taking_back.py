"""Taking an import back, until something of it is sealed. What was taken back stays in the provenance."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model, ProtectedError

from dilemmas.models import (
    BlindedPart,
    Blinding,
    BlindingConfirmation,
    Collection,
    Condition,
    Dilemma,
    DilemmaVersion,
    ModelJudgement,
    Response,
    ResponsePart,
    ResponseSet,
    ResponseVersion,
    Rubric,
    RubricVersion,
)
from dilemmas.services import provenance


class CannotTakeBack(Exception):
    """`code` names the sentence that people read."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Taken:
    """How much goes, or has gone: of what was imported, and of what was decided on it since."""

    rows: int
    judgements: int = 0
    decisions: int = 0


@transaction.atomic
def take_back_responses(
    *, response_set: ResponseSet, actor: str, at: datetime, dry_run: bool = False
) -> Taken:
    """Empty a response set: its responses, conditions, decisions on texts and model judges' scores.

    The set itself goes too unless a panel is made of it; then it can be filled anew.
    Raises `CannotTakeBack` if a text of it is sealed or was confirmed by a second person.
    """
    ResponseSet.objects.select_for_update().get(pk=response_set.pk)
    responses = Response.objects.filter(response_set=response_set)
    blindings = Blinding.objects.filter(version__response__response_set=response_set)
    judgements = ModelJudgement.objects.filter(response__response_set=response_set)
    versions = ResponseVersion.objects.filter(response__response_set=response_set)
    if any(
        rows.filter(sealed_at__isnull=False).exists() for rows in (versions, blindings, judgements)
    ):  # type: ignore[attr-defined]
        raise CannotTakeBack("sealed")
    if BlindingConfirmation.objects.filter(blinding__in=blindings).exists():
        raise CannotTakeBack("confirmed")
    taken = Taken(
        rows=responses.count(),
        judgements=judgements.count(),
        decisions=blindings.filter(state__in=Blinding.BY_A_PERSON).count(),
    )
    if dry_run:
        return taken
    judgements.delete()
    BlindedPart.objects.filter(blinding__in=blindings).delete()
    blindings.delete()
    ResponsePart.objects.filter(version__in=versions).delete()
    versions.delete()
    responses.delete()
    Condition.objects.filter(response_set=response_set).delete()
    _delete_unless_used(response_set)
    _record("responses", {"set": response_set.name}, taken, actor=actor, at=at)
    return taken


@transaction.atomic
def take_back_judgements(
    *, response_set: ResponseSet, judge: str, actor: str, at: datetime, dry_run: bool = False
) -> Taken:
    """Take back every score of one model judge. Raises `CannotTakeBack` if one is sealed."""
    ResponseSet.objects.select_for_update().get(pk=response_set.pk)
    rows = ModelJudgement.objects.filter(response__response_set=response_set, judge=judge)
    if rows.filter(sealed_at__isnull=False).exists():
        raise CannotTakeBack("sealed")
    taken = Taken(rows=rows.count())
    if not dry_run:
        rows.delete()
        of = {"set": response_set.name, "judge": judge}
        _record("judgements", of, taken, actor=actor, at=at)
    return taken


@transaction.atomic
def take_back_dilemmas(
    *, collection: Collection, actor: str, at: datetime, dry_run: bool = False
) -> Taken:
    """Take back a collection. Raises `CannotTakeBack` if one is sealed or has responses."""
    Collection.objects.select_for_update().get(pk=collection.pk)
    dilemmas = Dilemma.objects.filter(collection=collection)
    versions = DilemmaVersion.objects.filter(dilemma__collection=collection)
    if versions.filter(sealed_at__isnull=False).exists():
        raise CannotTakeBack("sealed")
    if Response.objects.filter(dilemma__collection=collection).exists():
        raise CannotTakeBack("has_responses")
    taken = Taken(rows=dilemmas.count())
    if not dry_run:
        versions.delete()
        dilemmas.delete()
        _delete_unless_used(collection)
        _record("dilemmas", {"collection": collection.name}, taken, actor=actor, at=at)
    return taken


@transaction.atomic
def take_back_rubric(*, rubric: Rubric, actor: str, at: datetime, dry_run: bool = False) -> Taken:
    """Take back a rubric with all its versions.

    Raises `CannotTakeBack` if a version is sealed, or a panel is judged with one.
    """
    Rubric.objects.select_for_update().get(pk=rubric.pk)
    versions = RubricVersion.objects.filter(rubric=rubric)
    if versions.filter(sealed_at__isnull=False).exists():
        raise CannotTakeBack("sealed")
    taken = Taken(rows=versions.count())
    try:
        with transaction.atomic():
            versions.delete()
            rubric.delete()
            # Whether something else stands on it is known only by trying: content knows no panels.
            transaction.set_rollback(dry_run)
    except ProtectedError as error:
        raise CannotTakeBack("rubric_in_use") from error
    if not dry_run:
        _record("rubric", {"code": rubric.code}, taken, actor=actor, at=at)
    return taken


def _delete_unless_used(row: Model) -> None:
    with suppress(ProtectedError), transaction.atomic():
        row.delete()


def _record(what: str, of: Mapping[str, Any], taken: Taken, *, actor: str, at: datetime) -> None:
    payload = {"what": what} | dict(of) | {"rows": taken.rows, "decisions": taken.decisions}
    provenance.record(kind="taken_back", payload=payload, actor=actor, at=at)
