"""Erasing a person: personal data goes, what was rated stays under the judge's code."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from awb_panel.accounts.models import User
from ratings.models import Invitation, Judge, Panel
from ratings.services import audit
from ratings.services.errors import Refused


@dataclass(frozen=True)
class Erased:
    """How many seats were cut loose, and how many invitations lost their address."""

    seats: int
    invitations: int


@transaction.atomic
def erase(*, user: User, actor: str, at: datetime) -> Erased:
    """Take everything that names a person out of the database, for good.

    Ratings, drafts and consents stay with the judge's code; the audit, which knows people by an
    opaque id only, stays valid to the last byte. A judge who is still at work leaves first.
    Raises `Refused` for the installation's owner and for a panel's only coordinator.
    """
    own = Panel.objects.filter(Q(memberships__user=user) | Q(invitations__email=user.email)).values(
        "pk"
    )
    panels = list(Panel.objects.select_for_update().filter(pk__in=own).order_by("pk"))
    user = User.objects.select_for_update().get(pk=user.pk)
    if user.is_owner:
        raise Refused("owner_stays")
    for membership in user.memberships.filter(role="coordinator").select_related("panel"):
        others = membership.panel.memberships.filter(role="coordinator").exclude(user=user)
        if not others.exists():
            raise Refused("only_coordinator", panel=membership.panel.slug)
    seats = Judge.objects.filter(user=user)
    for judge in seats.filter(withdrawn_at=None, panel__state__in=("frozen", "open")):
        judge.withdrawn_at = at
        judge.save(update_fields=["withdrawn_at"])
    count = seats.update(user=None)
    invitations = Invitation.objects.filter(email=user.email)
    for number, invitation in enumerate(invitations):
        invitation.email = f"erased-{invitation.pk}-{number}@erased.invalid"
        invitation.greeting = ""
        invitation.save(update_fields=["email", "greeting"])
    for panel in panels:
        if not panel.memberships.filter(user=user).exists():
            continue
        audit.record(
            panel=panel,
            kind="person_erased",
            payload={"person": user.opaque_id},
            actor=actor,
            at=at,
        )
    erased = Erased(count, len(invitations))
    user.memberships.all().delete()
    user.delete()
    return erased
