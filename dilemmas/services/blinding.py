"""What judges will read of each response: the text that the program proposes, and a person's decision."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from dilemmas import blinding
from dilemmas.finder import finder_version
from dilemmas.models import (
    BlindedPart,
    Blinding,
    BlindingConfirmation,
    Condition,
    ResponseSet,
    ResponseVersion,
)
from dilemmas.models.responses import BlindingQuerySet
from dilemmas.services import provenance


class BlindingRefused(Exception):
    """The decision cannot be recorded; the sentence says why, for a person."""


class StillTells(BlindingRefused):
    """The text as decided has findings that the person has not said yes to."""

    def __init__(self, findings: Sequence[tuple[int, blinding.Finding]]) -> None:
        super().__init__(_("This text may still tell its condition. Nothing has been saved yet."))
        self.findings = findings


def look_again(response_set: ResponseSet, *, labels: Sequence[str]) -> int:
    """Hold texts that were found clean and name a condition which came later; return how many.

    Inside the caller's transaction. What a person has decided on stays as decided.
    """
    newest: BlindingQuerySet = Blinding.objects.newest_in(response_set)  # type: ignore[attr-defined]
    held = 0
    clean = newest.filter(state=Blinding.State.CLEAN, sealed_at=None, version__sealed_at=None)
    for row in clean.select_related("version"):
        raw = dict(row.version.parts.values_list("number", "raw"))
        found = [
            {"part": part, **asdict(finding)}
            for part, text in raw.items()
            for finding in blinding.find(
                text, condition_labels=labels, language=row.version.language
            )
        ]
        if found:
            again = Blinding.objects.create(
                version=row.version,
                number=row.number + 1,
                state=Blinding.State.HELD,
                findings=found,
                finder=finder_version(),
            )
            BlindedPart.objects.bulk_create(
                BlindedPart(blinding=again, number=part, text=text) for part, text in raw.items()
            )
            held += 1
    return held


@transaction.atomic
def decide_blinding(
    *,
    blinding_: Blinding,
    texts: Mapping[int, str],
    actor: str,
    at: datetime,
    knowing: bool = True,
) -> Blinding:
    """Record a person's decision: accepted if the texts are the raw ones, else edited.

    Raises `BlindingRefused` if the version is sealed or a text is empty; unless the person decides
    `knowing` what is left, `StillTells` if the texts still have something that tells.
    """
    version, newest = _open(blinding_)
    raw = dict(version.parts.values_list("number", "raw"))
    if set(texts) != set(raw) or any(not text.strip() for text in texts.values()):
        raise BlindingRefused(_("The text is empty. Write what judges will read."))
    left = [] if knowing else list(_left(version, texts))
    if left:
        raise StillTells(left)
    state = Blinding.State.ACCEPTED if texts == raw else Blinding.State.EDITED
    return _append(newest, state=state, texts=texts, actor=actor, at=at)


@transaction.atomic
def hold_back(*, blinding_: Blinding, reason: str, actor: str, at: datetime) -> Blinding:
    """Take a response out of what is judged, and say why; another decision takes it in again.

    Raises `BlindingRefused` if the version is sealed or no reason is given.
    """
    _version, newest = _open(blinding_)
    if not reason.strip():
        raise BlindingRefused(_("Say why this response is held back: the report says so too."))
    texts = dict(newest.parts.values_list("number", "text"))
    state = Blinding.State.HELD_BACK
    return _append(newest, state=state, texts=texts, actor=actor, at=at, reason=reason.strip())


@transaction.atomic
def confirm_blinding(*, blinding_: Blinding, actor: str, at: datetime) -> BlindingConfirmation:
    """Record a second person's yes to the decision that was read. Saying so twice changes nothing.

    Raises `BlindingRefused` if it was decided anew meanwhile, is the person's own decision or
    nobody's, or the version is sealed.
    """
    version, newest = _open(blinding_)
    if newest.pk != blinding_.pk:
        raise BlindingRefused(_("Somebody has decided anew meanwhile: read the text again."))
    if newest.state not in Blinding.BY_A_PERSON:
        raise BlindingRefused(
            _("Nobody has decided on this text yet: there is nothing to confirm.")
        )
    if newest.actor == actor:
        raise BlindingRefused(_("This is your own decision: another person must confirm it."))
    given, made = BlindingConfirmation.objects.get_or_create(
        blinding=newest, defaults={"actor": actor, "at": at}
    )
    if made:
        payload = {"version": version.pk, "number": newest.number}
        provenance.record(kind="blinding_confirmed", payload=payload, actor=actor, at=at)
    return given


def _open(blinding_: Blinding) -> tuple[ResponseVersion, Blinding]:
    """Return the version, locked, and its newest blinding. Raises `BlindingRefused` if sealed."""
    # The set first, as an import and a freeze do.
    ResponseSet.objects.select_for_update(of=("self",)).get(
        responses__versions=blinding_.version_id
    )
    version = ResponseVersion.objects.select_for_update().get(pk=blinding_.version_id)
    newest = version.blindings.order_by("-number").first()
    if version.sealed_at or newest is None or newest.sealed_at:
        raise BlindingRefused(_("The panel is frozen: this text can no longer be changed."))
    return version, newest


def _append(
    newest: Blinding,
    *,
    state: Blinding.State,
    texts: Mapping[int, str],
    actor: str,
    at: datetime,
    reason: str = "",
) -> Blinding:
    decided = Blinding.objects.create(
        version_id=newest.version_id,
        number=newest.number + 1,
        state=state,
        findings=newest.findings,
        finder=finder_version(),
        reason=reason,
        actor=actor,
    )
    BlindedPart.objects.bulk_create(
        BlindedPart(blinding=decided, number=part, text=text) for part, text in texts.items()
    )
    payload: dict[str, Any] = {
        "version": decided.version_id,
        "state": state.value,
        "number": decided.number,
        "finder": decided.finder,
    }
    payload |= {"reason": reason} if reason else {}
    provenance.record(kind="blinding_decided", payload=payload, actor=actor, at=at)
    return decided


def _left(
    version: ResponseVersion, texts: Mapping[int, str]
) -> Iterator[tuple[int, blinding.Finding]]:
    conditions = Condition.objects.filter(response_set=version.response.response_set_id)
    labels = sorted(conditions.values_list("label", flat=True))
    for part, text in sorted(texts.items()):
        for finding in blinding.find(text, condition_labels=labels, language=version.language):
            yield part, finding
