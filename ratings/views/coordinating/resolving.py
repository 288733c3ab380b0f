"""Differences between judges after closing: giving them to adjudicators, and what was decided."""

from collections import Counter

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from ratings import words
from ratings.models import Decision, Panel
from ratings.models.people import Role
from ratings.permissions import panel_for
from ratings.services import archiving, resolving
from ratings.services.errors import Refused
from ratings.views.requests import PersonRequest


@require_http_methods(["GET", "HEAD", "POST"])
def resolution(request: PersonRequest, slug: str) -> HttpResponse:
    """The rule, the adjudicators and how far they are; POST gives the cases out. No decision here:
    what was decided is read with the rationales."""
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    refused = ""
    if request.method == "POST":
        try:
            count = resolving.draw(panel=panel, actor=request.user.opaque_id, at=timezone.now())
            messages.success(
                request,
                ngettext("One case is given out.", "%(n)d cases are given out.", count)
                % {"n": count},
            )
            return redirect("resolution", slug=slug)
        except Refused as refusal:
            refused = words.sentence(refusal)
    people = list(
        panel.memberships.filter(role=Role.ADJUDICATOR)
        .order_by("pk")
        .values_list("user__email", "user__opaque_id")
    )
    decided = Counter(
        actor
        for actor, _case in Decision.objects.filter(case__panel=panel)
        .values_list("actor", "case")
        .distinct()
    )
    document = panel.protocol.document
    context = {
        "panel": panel,
        "distance": document.get("adjudication_from"),
        "named": document.get("adjudication_named", False),
        "people": [(email, decided[actor]) for email, actor in people],
        "cases": panel.cases.count(),
        "is_drawn": panel.events.filter(kind="cases_drawn").exists(),
        "refused": refused,
    }
    status = 422 if refused else 200
    return render(request, "ratings/coordinating/resolution.html", context, status=status)


@require_POST
def archive(request: PersonRequest, slug: str) -> HttpResponse:
    """Put a panel that is over away, or take it back: only where it is listed changes."""
    panel = panel_for(request.user, slug, "setup")
    try:
        archiving.archive(
            panel=panel,
            is_away="back" not in request.POST,
            actor=request.user.opaque_id,
            at=timezone.now(),
        )
    except Refused as refused:
        messages.error(request, words.sentence(refused))
        return redirect("overview", slug=slug)
    return redirect("panels")
