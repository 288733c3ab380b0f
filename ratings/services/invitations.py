"""Inviting people by e-mail: a personal link, accepted once by a POST, opened as often as needed."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from awb_panel.accounts.models import User
from dilemmas.models import ResponseSet
from ratings.models import Invitation, Judge, Membership, Panel
from ratings.models.people import Role
from ratings.services import audit
from ratings.services.assigning import assign
from ratings.services.errors import Refused

LIFETIME = timedelta(days=30)


@dataclass(frozen=True)
class Invited:
    """A new invitation and its token, which is known only now: the database keeps its hash."""

    invitation: Invitation
    token: str


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def invite(
    *,
    panel: Panel,
    email: str,
    role: str,
    language: str,
    actor: str,
    at: datetime,
    profession: str = "",
    greeting: str = "",
) -> Invited:
    """Invite an address to a role. One that waits must be withdrawn before another is sent.

    Raises `Refused` if the panel is over, the address has an invitation that still works (sending
    a page again must not void the first link), or belongs to somebody who cannot judge it.
    """
    panel = Panel.objects.select_for_update().get(pk=panel.pk)
    email = email.strip().lower()
    if panel.is_over and role == Role.JUDGE:
        raise Refused("panel_is_over")
    person = User.objects.filter(email=email).first()
    if person is not None:
        _refuse_if_unfit(panel, person, role)
    unanswered = Invitation.objects.filter(
        panel=panel, email=email, accepted_at=None, revoked_at=None, declined_at=None
    )
    if unanswered.filter(expires_at__gt=at).exists():
        raise Refused("already_invited", email=email)
    unanswered.update(revoked_at=at)
    if Invitation.objects.filter(
        panel=panel, email=email, revoked_at=None, declined_at=None
    ).exists():
        raise Refused("already_accepted", email=email)
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        panel=panel,
        email=email,
        role=role,
        profession=profession,
        greeting=greeting,
        language=language,
        token_sha256=hash_token(token),
        expires_at=at + LIFETIME,
    )
    payload = {"invitation": invitation.pk, "role": role}
    audit.record(panel=panel, kind="invited", payload=payload, actor=actor, at=at)
    return Invited(invitation, token)


@dataclass(frozen=True)
class Guest:
    """One person to invite, and the line on which they stand."""

    line: int
    email: str
    profession: str = ""
    greeting: str = ""
    language: str = ""


class GuestsRefused(Exception):
    """Some of a list cannot be invited, so nobody was: (line, refusal) of each."""

    def __init__(self, refusals: Sequence[tuple[int, Refused]]) -> None:
        super().__init__(f"{len(refusals)} of the list")
        self.refusals = refusals


@transaction.atomic
def invite_all(
    *, panel: Panel, guests: Sequence[Guest], role: str, language: str, actor: str, at: datetime
) -> list[Invited]:
    """Invite everybody on a list, or nobody. `language` is of the e-mails of who named none.

    Raises `GuestsRefused` with every line that cannot be invited.
    """
    made, refusals = [], []
    for guest in guests:
        try:
            with transaction.atomic():
                invited = invite(
                    panel=panel,
                    email=guest.email,
                    role=role,
                    language=guest.language or language,
                    profession=guest.profession,
                    greeting=guest.greeting,
                    actor=actor,
                    at=at,
                )
            made.append(invited)
        except Refused as refused:
            refusals.append((guest.line, refused))
    if refusals:
        raise GuestsRefused(refusals)
    return made


@transaction.atomic
def resend(*, invitation: Invitation, actor: str, at: datetime) -> Invited:
    """Withdraw an invitation that was not accepted and invite the same person again.

    Its link stops working: only the hash of it is kept, so it cannot be sent a second time.
    Raises `Refused` if it was accepted, or the person said no.
    """
    old = _locked(invitation)
    if old.accepted_at:
        raise Refused("invitation_used")
    if old.declined_at:
        raise Refused("invitation_declined")
    revoke(invitation=old, actor=actor, at=at)
    return invite(
        panel=old.panel,
        email=old.email,
        role=old.role,
        language=old.language,
        profession=old.profession,
        greeting=old.greeting,
        actor=actor,
        at=at,
    )


@transaction.atomic
def accept(*, invitation: Invitation, at: datetime) -> User:
    """Accept an invitation once: the person, the role, and for a judge the seat and the batches.

    Raises `Refused` if it was used, withdrawn or is over, or if the person cannot have the role.
    """
    invitation = _locked(invitation)
    panel = invitation.panel
    if invitation.revoked_at or invitation.declined_at or invitation.expires_at <= at:
        raise Refused("invitation_over")
    if invitation.accepted_at:
        raise Refused("invitation_used")
    if panel.is_over and invitation.role == Role.JUDGE:
        raise Refused("panel_is_over")
    person = User.objects.filter(email=invitation.email).first()
    if person is None:
        person = User.objects.create_user(invitation.email, language=invitation.language)
    _refuse_if_unfit(panel, person, invitation.role)
    Membership.objects.create(panel=panel, user=person, role=invitation.role)
    invitation.accepted_at, invitation.accepted_by = at, person
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    payload = {"invitation": invitation.pk, "role": invitation.role}
    audit.record(
        panel=panel, kind="invitation_accepted", payload=payload, actor=person.opaque_id, at=at
    )
    if invitation.role == Role.JUDGE:
        judge = Judge.objects.create(
            panel=panel,
            user=person,
            code=f"J{panel.judges.count() + 1}",
            profession=invitation.profession,
        )
        if panel.state == Panel.State.OPEN:
            assign(judge=judge, at=at)
    return person


@transaction.atomic
def decline(*, invitation: Invitation, at: datetime) -> None:
    """Decline an invitation that was not accepted; saying so twice changes nothing."""
    invitation = _locked(invitation)
    if invitation.accepted_at:
        raise Refused("invitation_used")
    if invitation.declined_at is None:
        invitation.declined_at = at
        invitation.save(update_fields=["declined_at"])
        audit.record(
            panel=invitation.panel,
            kind="invitation_declined",
            payload={"invitation": invitation.pk},
            actor="",
            at=at,
        )


@transaction.atomic
def revoke(*, invitation: Invitation, actor: str, at: datetime) -> None:
    """Withdraw an invitation that was not accepted."""
    invitation = _locked(invitation)
    if invitation.accepted_at:
        raise Refused("invitation_used")
    if invitation.revoked_at is None:
        invitation.revoked_at = at
        invitation.save(update_fields=["revoked_at"])
        audit.record(
            panel=invitation.panel,
            kind="invitation_revoked",
            payload={"invitation": invitation.pk},
            actor=actor,
            at=at,
        )


def _locked(invitation: Invitation) -> Invitation:
    """Return the invitation with its panel, both locked, the panel first, as everywhere."""
    panel = Panel.objects.select_for_update().get(pk=invitation.panel_id)
    invitation = Invitation.objects.select_for_update().get(pk=invitation.pk)
    invitation.panel = panel
    return invitation


def _refuse_if_unfit(panel: Panel, person: User, role: str) -> None:
    """Nobody judges, or decides between judges, what they have uploaded, own or coordinate; nor
    sees what they judge."""
    if Membership.objects.filter(panel=panel, user=person).exists():
        raise Refused("already_member", email=person.email)
    if role != Role.JUDGE:
        if Judge.objects.filter(user=person, panel__response_set=panel.response_set_id).exists():
            raise Refused("judges_these_responses", email=person.email)
        if role != Role.ADJUDICATOR:
            return
    sees_conditions = (
        person.is_owner
        or ResponseSet.objects.filter(pk=panel.response_set_id, uploader=person).exists()
        or Membership.objects.filter(
            panel__response_set=panel.response_set_id,
            user=person,
            role__in=(Role.COORDINATOR, Role.OBSERVER),
        ).exists()
    )
    if sees_conditions:
        raise Refused("knows_the_conditions", email=person.email)


@transaction.atomic
def create_owner(*, email: str, at: datetime) -> User:
    """Make the installation's owner, who creates panels and sees no scores.

    Raises `Refused` if the person already judges a panel: an owner sees the conditions.
    """
    email = email.strip().lower()
    person = User.objects.filter(email=email).first() or User.objects.create_user(email)
    if Judge.objects.filter(user=person).exists():
        raise Refused("knows_the_conditions", email=email)
    person.is_owner = True
    person.save(update_fields=["is_owner"])
    return person
