"""Judges and observers: inviting them, withdrawing an invitation, who has come in."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ratings import words
from ratings.forms.coordinating import ClarificationForm, InvitationForm, InvitationListForm
from ratings.models import Invitation, Panel
from ratings.models.people import Role
from ratings.permissions import panel_for
from ratings.services import clarifying, invitations
from ratings.services.errors import Refused
from ratings.services.mail import letter, send_invitation
from ratings.views.requests import PersonRequest


@require_http_methods(["GET", "HEAD", "POST"])
def judges(request: PersonRequest, slug: str) -> HttpResponse:
    """GET lists; POST invites one, or a list, and shows the links this once: only hashes are kept."""
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    if request.method != "POST":
        return _page(request, panel)
    if "list-people" in request.POST:
        return _invite_list(request, panel)
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
    return _page(request, panel, sent=[_sent(request, invited)])


def _invite_list(request: PersonRequest, panel: Panel) -> HttpResponse:
    form = InvitationListForm(request.POST, prefix="list")
    if not form.is_valid():
        return _page(request, panel, list_form=form, status=422)
    try:
        made = invitations.invite_all(
            panel=panel,
            guests=form.cleaned_data["people"],
            role=Role.JUDGE,
            language=form.cleaned_data["language"],
            actor=request.user.opaque_id,
            at=timezone.now(),
        )
    except invitations.GuestsRefused as refused:
        for line, refusal in refused.refusals:
            sentence = _("Line %(line)s: %(why)s")
            form.add_error("people", sentence % {"line": line, "why": words.sentence(refusal)})
        return _page(request, panel, list_form=form, status=422)
    return _page(request, panel, sent=[_sent(request, one) for one in made])


def _sent(request: PersonRequest, invited: invitations.Invited) -> dict[str, Any]:
    """Send one invitation; return what became of it."""
    return {
        "invitation": invited.invitation,
        "mail": send_invitation(
            invitation=invited.invitation, token=invited.token, coordinator=request.user.email
        ),
    }


@require_POST
def resend(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """A new link to the same person; the one before stops working."""
    panel = panel_for(request.user, slug, "setup")
    found = get_object_or_404(Invitation, panel=panel, pk=pk)
    try:
        invited = invitations.resend(
            invitation=found, actor=request.user.opaque_id, at=timezone.now()
        )
    except Refused as refused:
        messages.error(request, words.sentence(refused))
        return redirect("judges", slug=slug)
    return _page(request, panel, sent=[_sent(request, invited)])


@require_safe
def preview_mail(request: PersonRequest, slug: str) -> HttpResponse:
    """The invitation as a judge would get it, in every language; nothing is sent."""
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    now = timezone.now()
    letters = []
    for code, name in settings.LANGUAGES:
        invitation = Invitation(
            panel=panel, role=Role.JUDGE, language=code, expires_at=now + invitations.LIFETIME
        )
        link = f"{settings.SITE_URL}/invitation/…/"
        written = letter(invitation=invitation, link=link, coordinator=request.user.email)
        letters.append({"code": code, "name": name, "letter": written})
    context = {"panel": panel, "letters": letters}
    return render(request, "ratings/coordinating/mail.html", context)


def _page(request: PersonRequest, panel: Panel, *, status: int = 200, **more: Any) -> HttpResponse:
    now = timezone.now()
    initial = {"language": request.LANGUAGE_CODE}
    context = {
        "form": InvitationForm(initial=initial),
        "list_form": InvitationListForm(initial=initial, prefix="list"),
    } | more
    context |= {
        "panel": panel,
        "invitations": [
            {"invitation": one, "state": _state(one, now), "role": words.ROLES[one.role]}
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
