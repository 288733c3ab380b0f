"""Importing a model judge's scores for a response set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from dilemmas.models import ModelJudgement, Response, ResponseSet
from dilemmas.services import provenance
from dilemmas.services.formats import JUDGEMENTS
from dilemmas.services.known import Key, known_responses
from dilemmas.services.outcomes import Outcome, Progress, file_sha256
from dilemmas.services.planner import look_again
from dilemmas.services.reading import (
    KNOWN,
    Problems,
    Row,
    Table,
    number,
    read_table,
    refuse_one,
    whole,
)

_BATCH = 2_000
_COMPARED = ("score", "reason", "model_version", "prompt_sha256", "text_sha256", "judged_on")
# what the judge was and what it saw
_SAW = {
    "model_version": "model_version",
    "prompt_sha256": "prompt_sha256",
    "text_sha256": "text_sha256",
    "date": "judged_on",
}
Numbered = tuple[int, ModelJudgement]  # its line


def import_judgements(
    *,
    content: bytes,
    name: str,
    set_name: str,
    actor: str,
    at: datetime,
    update: bool = False,
    repair: bool = False,
    columns: Mapping[str, str] | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Import a model judge's scores for a set.

    A known score that is another one now is refused unless `update`, and always if it is sealed.
    With `dry_run` nothing is written. Raises `ImportRefused` with every bad row.
    """
    response_set = ResponseSet.objects.filter(name=set_name).first()
    table = read_table(content, name=name, format_=JUDGEMENTS, repair=repair, columns=columns)
    if response_set is None:
        raise refuse_one(
            name, _("There is no set «%s».") % set_name, _("Import the responses first.")
        )
    known = known_responses(response_set)
    wanted = [one for row in table if (one := _judgement(row, known, table.problems))]
    table.refuse()
    if dry_run:
        plan = _plan(response_set, wanted, table.problems, update=update)
        return _outcome(plan, wanted, table)
    with transaction.atomic():
        look_again("dilemmas")
        ResponseSet.objects.select_for_update().get(pk=response_set.pk)
        plan = _plan(response_set, wanted, table.problems, update=update)
        _write(plan, progress)
        outcome = _outcome(plan, wanted, table)
        if outcome.did_something:
            payload = {
                "set": set_name,
                "sha256": file_sha256(content),
                "created": outcome.created,
            }
            provenance.record(kind="judgements_imported", payload=payload, actor=actor, at=at)
    return outcome


def write_judgements(
    *,
    response_set: ResponseSet,
    judgements: Sequence[Numbered],
    problems: Problems,
    progress: Progress | None = None,
) -> int:
    """Write the checked judgements of a new set; inside the caller's transaction."""
    plan = _plan(response_set, judgements, problems, update=False)
    _write(plan, progress)
    return len(plan.fresh)


@dataclass
class _Plan:
    fresh: list[ModelJudgement] = field(default_factory=list)
    revised: list[ModelJudgement] = field(default_factory=list)
    unchanged: int = 0


def _outcome(plan: _Plan, judgements: Sequence[Numbered], table: Table) -> Outcome:
    """Return the outcome, with what nobody will know of the judge because the file does not say it."""
    notes = table.notes()
    unsaid = [
        column
        for column, name in _SAW.items()
        if not all(getattr(one, name) for _line, one in judgements)
    ]
    if unsaid:
        text = _("Not said for every score, and then not known to who reads the report: %s.")
        notes.append(text % ", ".join(unsaid))
    return Outcome(len(plan.fresh), len(plan.revised), plan.unchanged, table.facts, notes)


def _plan(
    response_set: ResponseSet, judgements: Sequence[Numbered], problems: Problems, *, update: bool
) -> _Plan:
    """Compare what the file says with what is there. Raises `ImportRefused`."""
    plan = _Plan()
    existing = {
        _key(j): j for j in ModelJudgement.objects.filter(response__response_set=response_set)
    }
    seen: dict[tuple[int, str, int, str], int] = {}
    for line, judgement in judgements:
        first = seen.setdefault(_key(judgement), line)
        old = existing.get(_key(judgement))
        if first != line:
            message = _("This judgement stands twice (first on line %d).") % first
            problems.add(line, "repetition", message, _("Keep one."))
        elif old is None:
            plan.fresh.append(judgement)
        elif all(getattr(old, name) == getattr(judgement, name) for name in _COMPARED):
            plan.unchanged += 1
        elif old.sealed_at:
            message = _("This judgement is sealed by a frozen panel.")
            problems.add(line, "score", message, _("Import it as another judge."))
        elif not update:
            message = _("This judgement is known otherwise.")
            remedy = _("Ask for an update (--update) if it is meant to replace it.")
            problems.add(line, "score", message, remedy, kind=KNOWN)
        else:
            judgement.pk = old.pk
            plan.revised.append(judgement)
    problems.refuse()
    return plan


def _key(judgement: ModelJudgement) -> tuple[int, str, int, str]:
    return (
        judgement.response_id, judgement.judge, judgement.repetition, judgement.criterion,
    )  # fmt: skip


def _write(plan: _Plan, progress: Progress | None) -> None:
    for start in range(0, len(plan.fresh), _BATCH):
        ModelJudgement.objects.bulk_create(plan.fresh[start : start + _BATCH])
        if progress:
            progress(min(start + _BATCH, len(plan.fresh)), len(plan.fresh))
    ModelJudgement.objects.bulk_update(plan.revised, _COMPARED, batch_size=500)


def _judgement(row: Row, known: Mapping[Key, Response], problems: Problems) -> Numbered | None:
    external = row.get("response")
    named = (
        row.get("dilemma"),
        row.get("condition"),
        row.get("generator"),
        str(whole(row, "replicate", problems)),
    )
    key: Key = (external,) if external else named
    score = number(row, "score", problems)
    repetition = whole(row, "repetition", problems)
    response = known.get(key)
    if response is None:
        problems.add(
            row.line,
            "response" if external else "dilemma",
            _("No such response in the set: %s.") % " · ".join(part for part in key if part),
            _("Name it by id, or by dilemma, condition, generator and replicate."),
        )
        return None
    return row.line, ModelJudgement(
        response=response,
        judge=row.get("judge"),
        repetition=repetition,
        criterion=row.get("criterion"),
        score=score,
        reason=row.get("reason"),
        model_version=row.get("model_version"),
        prompt_sha256=row.get("prompt_sha256"),
        text_sha256=row.get("text_sha256"),
        judged_on=row.get("date"),
    )
