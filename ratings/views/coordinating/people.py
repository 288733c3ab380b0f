"""Judges and observers: inviting them, withdrawing an invitation, who has come in."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from ratings import words
from ratings.forms.coordinating import ClarificationForm, InvitationForm
from ratings.models import Invitation, Panel
from ratings.permissions import panel_for
from ratings.services import clarifying, invitations
from ratings.services.errors import Refused
from ratings.services.mail import send_invitation
from ratings.views.requests import PersonRequest


@require_http_methods(["GET", "HEAD", "POST"])
def judges(request: PersonRequest, slug: str) -> HttpResponse:
    """GET lists; POST invites, and shows the personal link this once: only its hash is kept."""
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    blank = InvitationForm(initial={"language": request.LANGUAGE_CODE})
    if request.method != "POST":
        return _page(request, panel, form=blank)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, panel, form=form, status=422)
    try:
        invited = invitations.invite(
            panel=panel, actor=request.user.opaque_id, at=timezone.now(), **form.cleaned_data
        )
    except Refused as refused:
        form.add_error("email", words.sentence(refused))
        return _page(request, panel, form=form, status=422)
    sent = send_invitation(
        invitation=invited.invitation, token=invited.token, coordinator=request.user.email
    )
    return _page(request, panel, form=blank, sent=sent, invited=invited.invitation)


def _page(request: PersonRequest, panel: Panel, *, status: int = 200, **more: Any) -> HttpResponse:
    now = timezone.now()
    context = more | {
        "panel": panel,
        "invitations": [
            {"invitation": one, "state": _state(one, now)}
            for one in Invitation.objects.filter(panel=panel).order_by("created_at", "pk")
        ],
        "judges": panel.judges.all(),
    }
    return render(request, "ratings/coordinating/judges.html", context, status=status)


def _state(invitation: Invitation, now: datetime) -> str:
    if invitation.accepted_at:
        return "accepted"
    if invitation.declined_at:
        return "declined"
    if invitation.revoked_at:
        return "withdrawn"
    return "expired" if invitation.expires_at <= now else "waiting"


@require_POST
def revoke(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    found = get_object_or_404(Invitation, panel=panel, pk=pk)
    try:
        invitations.revoke(invitation=found, actor=request.user.opaque_id, at=timezone.now())
    except Refused as refused:
        messages.error(request, words.sentence(refused))
    return redirect("judges", slug=slug)


@require_http_methods(["GET", "HEAD", "POST"])
def clarify(request: PersonRequest, slug: str) -> HttpResponse:
    """Say something to all judges alike; dated, and never changed afterwards."""
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    form = ClarificationForm(request.POST or None)
    context = {
        "panel": panel,
        "form": form,
        "possible": panel.state in (Panel.State.FROZEN, Panel.State.OPEN),
        "clarifications": panel.clarifications.annotate(read=Count("readings")).order_by("-number"),
    }
    if request.method != "POST" or not form.is_valid():
        status = 422 if request.method == "POST" else 200
        return render(request, "ratings/coordinating/clarify.html", context, status=status)
    try:
        clarifying.clarify(
            panel=panel,
            text=form.cleaned_data["text"],
            actor=request.user.opaque_id,
            at=timezone.now(),
        )
    except Refused as refused:
        context["refused"] = words.sentence(refused)
        return render(request, "ratings/coordinating/clarify.html", context, status=422)
    messages.success(request, _("Said to all judges: each sees it once, at the next page."))
    return redirect("clarify", slug=slug)
