"""Who sees what in which state. The look-up is the check: what is not yours is not found."""

from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest

from awb_panel.accounts.models import User
from dilemmas.models import RubricVersion
from ratings.models import (
    Batch,
    Case,
    Clarification,
    Consent,
    Judge,
    Panel,
    Reopening,
    Slot,
    Withdrawal,
)
from ratings.models.people import Role

_ALL = frozenset(Panel.State.values)
_OVER = frozenset({Panel.State.CLOSED.value, Panel.State.PUBLISHED.value})
_PUBLISHED = frozenset({Panel.State.PUBLISHED.value})

_PRACTICE_LEFT = Exists(Batch.objects.practice_left(OuterRef("judge")))

# what → role → the states in which a member with that role sees it
SEES: dict[str, dict[str, frozenset[str]]] = {
    "setup": {Role.COORDINATOR: _ALL},  # content, conditions, protocol, people, progress
    "figures": {Role.COORDINATOR: _OVER, Role.OBSERVER: _OVER, Role.JUDGE: _PUBLISHED},
    "ratings": {Role.COORDINATOR: _OVER, Role.OBSERVER: _OVER},
    "audit": {Role.COORDINATOR: _ALL, Role.OBSERVER: _OVER},
    "own_slots": {Role.JUDGE: _ALL},
    "cases": {Role.ADJUDICATOR: _OVER},  # differences to resolve, blind to the condition
}


def panel_for(user: User, slug: str, what: str) -> Panel:
    """Return the panel if the person sees `what` of it now; unknown and forbidden look the same."""
    membership = (
        user.memberships.filter(panel__slug=slug)
        .select_related("panel", "panel__rubric_version", "panel__response_set", "panel__protocol")
        .first()
    )
    if membership is None:
        raise Http404
    if membership.panel.state not in SEES[what].get(membership.role, frozenset()):
        raise Http404
    return membership.panel


def owner_only(user: User) -> None:
    """Content and new panels are the owner's; to everybody else the page does not exist."""
    if not user.is_owner:
        raise Http404


def rubric_versions_for(user: User) -> "QuerySet[RubricVersion]":
    """Return every version of the rubrics that the person may work on.

    The owner's are all; a coordinator's, those of an own panel and those that they have written.
    """
    versions = RubricVersion.objects.exclude(rubric__code__startswith="study-")
    versions = versions.select_related("rubric").order_by("rubric__code", "number")
    if user.is_owner:
        return versions
    panels = Panel.objects.for_member(user, Role.COORDINATOR)
    if not panels.exists():
        return versions.none()
    return versions.filter(
        Q(rubric__author=user) | Q(rubric__in=panels.values("rubric_version__rubric"))
    )


def rubric_version_for(user: User, pk: int) -> RubricVersion:
    """Return one of them."""
    version = rubric_versions_for(user).filter(pk=pk).first()
    if version is None:
        raise Http404
    return version


def writes_rubrics(user: User) -> bool:
    """Whether the person may start a rubric: the owner, and who coordinates a panel."""
    return user.is_owner or Panel.objects.for_member(user, Role.COORDINATOR).exists()


def others_use(user: User, version: RubricVersion) -> bool:
    """Whether a panel that the person does not coordinate would change with the version."""
    own = user.memberships.filter(panel=OuterRef("pk"), role=Role.COORDINATOR)
    return Panel.objects.filter(~Exists(own), rubric_version=version).exists()


def judge_for(user: User, slug: str) -> Judge:
    """Return the person's own seat in the panel."""
    judge = (
        Judge.objects.for_user(user)
        .active()
        .filter(panel__slug=slug)
        .select_related("panel", "panel__rubric_version", "panel__protocol", "user")
        .first()
    )
    if judge is None:
        raise Http404
    return judge


def batch_for(user: User, code: str) -> Batch:
    """Return one of the person's own batches."""
    batch: Any = (
        Batch.objects.for_judge(user)
        .filter(code=code)
        .annotate(practice_left=_PRACTICE_LEFT)
        .select_related("judge__panel", "judge__user", "rubric_version")
        .first()
    )
    if batch is None:
        raise Http404
    batch.has_practice_left = batch.practice_left
    found: Batch = batch
    return found


def slot_for(user: User, code: str, position: int) -> Slot:
    """Return one of the person's own slots, by batch and position; never by a response."""
    return _found(_own(_slots(), user, code, position))


def slot_to_read(user: User, code: str, position: int) -> Slot:
    """Return the same with what the rating page shows: draft, rubric, places, news."""
    return _found(_own(_slots_to_read(), user, code, position))


def _own(slots: "QuerySet[Slot]", user: User, code: str, position: int) -> "QuerySet[Slot]":
    return slots.for_judge(user).filter(batch__code=code, position=position)  # type: ignore[attr-defined, no-any-return]


# Half of what a look-up costs is writing down its parts; they are the same for everybody.
@cache
def _slots() -> "QuerySet[Slot]":
    consented = Exists(Consent.objects.filter(judge=OuterRef("judge")))
    return Slot.objects.select_related("judge__panel", "judge__user").annotate(consented=consented)


@cache
def _slots_to_read() -> "QuerySet[Slot]":
    batch = Slot.objects.filter(batch=OuterRef("batch")).order_by().values("batch")
    unread = Clarification.objects.filter(panel=OuterRef("judge__panel")).exclude(
        readings__judge=OuterRef("judge")
    )
    taken_out = Withdrawal.objects.filter(
        panel=OuterRef("judge__panel"), response=OuterRef("response")
    )
    reopened = Reopening.objects.filter(slot=OuterRef("pk")).waiting()  # type: ignore[attr-defined]
    return (
        _slots()
        .select_related("batch__rubric_version", "judge__panel__protocol", "judge__user", "draft")
        .annotate(
            places=Subquery(batch.annotate(n=Count("pk")).values("n")),
            reopened=Exists(reopened),
            taken_out=Exists(taken_out),
            practice_left=_PRACTICE_LEFT,
            unread=Exists(unread),
        )
    )


def _found(slots: "QuerySet[Any]") -> Slot:
    try:
        slot = slots.get()  # a batch has each place once
    except Slot.DoesNotExist:
        raise Http404 from None
    slot.has_consent = slot.consented
    slot.is_reopened = getattr(slot, "reopened", False)
    slot.was_taken_out = getattr(slot, "taken_out", False)
    slot.has_practice_left = getattr(slot, "practice_left", False)
    slot.has_unread, slot.of = getattr(slot, "unread", False), getattr(slot, "places", 0)
    found: Slot = slot
    return found


def case_for(user: User, slug: str, code: str) -> Case:
    """Return a case of a panel whose adjudicator the person is, after closing."""
    panel = panel_for(user, slug, "cases")
    case = (
        Case.objects.for_adjudicator(user)
        .filter(panel=panel, code=code)
        .select_related("panel__protocol", "panel__rubric_version", "criterion")
        .first()
    )
    if case is None:
        raise Http404
    return case


def demo_sign_in_allowed(request: HttpRequest) -> bool:
    """One-click sign-in: start-up flag, loopback bind, localhost Host, no forwarding headers."""
    forwarded = any(
        name.startswith(("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA"))
        for name in request.META
    )
    host = request.get_host().rsplit(":", 1)[0]
    bind = settings.BIND.rsplit(":", 1)[0]
    return (
        settings.DEMO
        and bind in ("127.0.0.1", "localhost", "[::1]")
        and host in ("127.0.0.1", "localhost", "[::1]")
        and request.META.get("REMOTE_ADDR") in ("127.0.0.1", "::1")
        and not forwarded
    )
