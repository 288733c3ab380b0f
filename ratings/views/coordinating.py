"""The coordinator's desk: set a panel up, watch it, close it, publish it. No score before closing."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dilemmas.models import Blinding, Condition, ResponseSet
from dilemmas.services.reading import ImportRefused
from dilemmas.services.responses import decide_blinding
from ratings import words
from ratings.forms.coordinating import InvitationForm, PanelForm, ProtocolForm
from ratings.models import Flag, Invitation, Panel
from ratings.models.people import Role
from ratings.permissions import owner_only, panel_for
from ratings.services import audit as audit_service
from ratings.services import invitations, protocols
from ratings.services import panels as panel_service
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel, obstacles
from ratings.services.mail import send_invitation
from ratings.services.progress import judge_progress
from ratings.views.requests import PersonRequest

_PLACES = {
    "no_policy": "protocol",
    "blinding_undecided": "blinding",
    "blinding_missing": "blinding",
    "empty_responses": "blinding",
}


@require_safe
def panels(request: PersonRequest) -> HttpResponse:
    mine = (
        request.user.memberships.exclude(role=Role.JUDGE)
        .select_related("panel")
        .order_by("-panel__created_at")
    )
    rows = [
        {"panel": one.panel, "state": words.STATES[one.panel.state], "role": one.role}
        for one in mine
    ]
    if not request.user.is_owner and not rows:
        raise Http404
    return render(request, "ratings/coordinating/panels.html", {"rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def new_panel(request: PersonRequest) -> HttpResponse:
    owner_only(request.user)
    form = PanelForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            panel = panel_service.create_panel(
                coordinator=request.user, at=timezone.now(), **form.cleaned_data
            )
            return redirect("overview", slug=panel.slug)
        except Refused as refused:
            form.add_error("slug", words.sentence(refused))
    context = {"form": form, "has_sets": ResponseSet.objects.filter(uploader=request.user).exists()}
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/new_panel.html", context, status=status)


@require_safe
def overview(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    draft = panel.state == Panel.State.DRAFT
    context = {
        "panel": panel,
        "state": words.STATES[panel.state],
        "freeze": getattr(panel, "freeze", None),
        "obstacles": [
            {"text": words.OBSTACLES[o.code], "count": o.count, "place": _PLACES.get(o.code)}
            for o in (obstacles(panel) if draft else [])
        ],
        "progress": judge_progress(panel),
        "planned": panel.protocol.document["judges_planned"] if _native(panel) else 0,
        "flags": Flag.objects.filter(slot__judge__panel=panel).select_related("slot__judge")[:50],
        "flag_words": words.FLAGS,
        "report": panel.reports.order_by("-number").first(),
        "native": _native(panel),
    }
    return render(request, "ratings/coordinating/overview.html", context)


def _native(panel: Panel) -> bool:
    return panel.origin == Panel.Origin.NATIVE


@require_safe
def blinding(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    rows = (
        Blinding.objects.newest_in(panel.response_set)
        .select_related("version__response__dilemma", "version__response__condition")
        .order_by("version__response__dilemma__code", "version__response__condition__label", "pk")
    )
    held = [row for row in rows if row.state == Blinding.State.HELD]
    rest = [row for row in rows if row.state != Blinding.State.HELD]
    context = {"panel": panel, "rows": held + rest, "held": len(held)}
    return render(request, "ratings/coordinating/blinding.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def blind_one(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    newest = Blinding.objects.newest_in(panel.response_set)
    row = get_object_or_404(
        newest.select_related("version__response__dilemma", "version__response__condition"), pk=pk
    )
    raw = dict(row.version.parts.values_list("number", "raw"))
    proposed = dict(row.parts.values_list("number", "text"))
    problem = ""
    if request.method == "POST":
        proposed = {n: request.POST.get(f"text-{n}", "").replace("\r\n", "\n") for n in raw}
        texts = raw if request.POST.get("decision") == "accept" else proposed
        try:
            decide_blinding(
                blinding_=row, texts=texts, actor=request.user.opaque_id, at=timezone.now()
            )
            following = newest.undecided().order_by("pk").first()
            if following is not None:
                return redirect("blind_one", slug=slug, pk=following.pk)
            return redirect("blinding", slug=slug)
        except ImportRefused as refused:
            problem = " ".join(refused.lines())
    context = {
        "panel": panel,
        "row": row,
        "parts": [
            {"number": n, "pieces": _marked(raw[n], n, row.findings), "text": proposed.get(n, "")}
            for n in sorted(raw)
        ],
        "problem": problem,
        "sealed": row.sealed_at is not None,
    }
    status = 422 if problem else 200
    return render(request, "ratings/coordinating/blind_one.html", context, status=status)


def _marked(text: str, part: int, findings: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Cut a raw text into pieces, those that were found with their kind."""
    pieces, at = [], 0
    for finding in sorted(
        (f for f in findings if f["part"] == part), key=lambda f: (f["start"], -f["end"])
    ):
        if finding["start"] < at:
            continue
        pieces.append({"text": text[at : finding["start"]], "kind": ""})
        pieces.append({"text": text[finding["start"] : finding["end"]], "kind": finding["kind"]})
        at = finding["end"]
    pieces.append({"text": text[at:], "kind": ""})
    return [piece for piece in pieces if piece["text"]]


@require_http_methods(["GET", "HEAD", "POST"])
def protocol(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    if not _native(panel):
        raise Http404
    document = panel.protocol.document
    labels = list(
        Condition.objects.filter(response_set=panel.response_set).values_list("label", flat=True)
    )
    initial = document | {
        "policy": document["policy"]["name"] if document["policy"] else None,
        "contrasts": "\n".join(f"{a} - {b}" for a, b in document["contrasts"]),
    }
    form = ProtocolForm(request.POST or None, initial=initial, conditions=labels)
    frozen = panel.state != Panel.State.DRAFT
    if request.method == "POST":
        try:
            if form.is_valid():
                if frozen:
                    raise Refused("panel_is_frozen")
                protocols.write_protocol(
                    panel=panel,
                    changes=form.cleaned_data,
                    actor=request.user.opaque_id,
                    at=timezone.now(),
                )
                messages.success(request, _("The protocol is saved."))
                return redirect("overview", slug=slug)
        except Refused as refused:
            form.add_error(None, words.sentence(refused))
    context = {
        "panel": panel,
        "form": form,
        "document": document,
        "frozen": frozen,
        "labels": labels,
        "freeze": getattr(panel, "freeze", None),
        "chosen": {"policy": form["policy"].value(), "rationales": form["rationales"].value()},
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/protocol.html", context, status=status)


def _step(
    request: PersonRequest,
    slug: str,
    template: str,
    act: Callable[[Panel], Any],
    describe: Callable[[Panel], dict[str, Any]],
) -> HttpResponse:
    """A page that asks once, and an act that cannot be taken back."""
    panel = panel_for(request.user, slug, "setup")
    context = {"panel": panel} | describe(panel)
    if request.method != "POST":
        return render(request, template, context)
    try:
        act(panel)
    except Refused as refused:
        context["refused"] = words.sentence(refused)
        return render(request, template, context, status=422)
    return redirect("overview", slug=slug)


@require_http_methods(["GET", "HEAD", "POST"])
def freeze(request: PersonRequest, slug: str) -> HttpResponse:
    return _step(
        request,
        slug,
        "ratings/coordinating/freeze.html",
        lambda panel: freeze_panel(panel=panel, actor=request.user.opaque_id, at=timezone.now()),
        lambda panel: {
            "obstacles": [
                words.OBSTACLES[o.code]
                for o in (obstacles(panel) if panel.state == Panel.State.DRAFT else [])
            ]
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
def open_(request: PersonRequest, slug: str) -> HttpResponse:
    return _step(
        request,
        slug,
        "ratings/coordinating/open.html",
        lambda panel: panel_service.open_panel(
            panel=panel, actor=request.user.opaque_id, at=timezone.now()
        ),
        lambda panel: {"judges": panel.judges.count()},
    )


@require_http_methods(["GET", "HEAD", "POST"])
def close(request: PersonRequest, slug: str) -> HttpResponse:
    return _step(
        request,
        slug,
        "ratings/coordinating/close.html",
        lambda panel: panel_service.close_panel(
            panel=panel, actor=request.user.opaque_id, at=timezone.now()
        ),
        lambda panel: {
            "undone": sum(row.slots - row.done for row in judge_progress(panel)),
            "judges": panel.judges.count(),
            "planned": panel.protocol.document["judges_planned"] if _native(panel) else 0,
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: PersonRequest, slug: str) -> HttpResponse:
    return _step(
        request,
        slug,
        "ratings/coordinating/publish.html",
        lambda panel: panel_service.publish(
            panel=panel, actor=request.user.opaque_id, at=timezone.now()
        ),
        _publishable,
    )


def _publishable(panel: Panel) -> dict[str, Any]:
    report = panel.reports.order_by("-number").first()
    if report is None:
        return {"why_not": words.REFUSALS["no_report"]}
    try:
        return {"kind": panel_service.publication_kind(panel, report).value, "report": report}
    except Refused as refused:
        return {"why_not": words.sentence(refused), "report": report}


@require_http_methods(["GET", "HEAD", "POST"])
def judges(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    if not _native(panel):
        raise Http404
    form = InvitationForm(request.POST or None, initial={"language": request.LANGUAGE_CODE})
    if request.method == "POST" and form.is_valid():
        try:
            invited = invitations.invite(
                panel=panel, actor=request.user.opaque_id, at=timezone.now(), **form.cleaned_data
            )
            link = send_invitation(
                invitation=invited.invitation, token=invited.token, coordinator=request.user.email
            )
            context = _people(panel) | {
                "form": InvitationForm(initial={"language": request.LANGUAGE_CODE}),
                "link": link,
                "invited": invited.invitation,
            }
            return render(request, "ratings/coordinating/judges.html", context)
        except Refused as refused:
            form.add_error("email", words.sentence(refused))
    status = 422 if request.method == "POST" else 200
    context = _people(panel) | {"form": form}
    return render(request, "ratings/coordinating/judges.html", context, status=status)


def _people(panel: Panel) -> dict[str, Any]:
    return {
        "panel": panel,
        "invitations": Invitation.objects.filter(panel=panel).order_by("created_at"),
        "judges": panel.judges.all(),
        "now": timezone.now(),
    }


@require_POST
def revoke(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    found = get_object_or_404(Invitation, panel=panel, pk=pk)
    try:
        invitations.revoke(invitation=found, actor=request.user.opaque_id, at=timezone.now())
    except Refused as refused:
        messages.error(request, words.sentence(refused))
    return redirect("judges", slug=slug)


@require_safe
def audit(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "audit")
    events = panel.events.order_by("-number")[:500]
    rows = [{"event": event} for event in events]
    context = {"panel": panel, "rows": rows, "broken": audit_service.broken_at(panel)}
    return render(request, "ratings/coordinating/audit.html", context)
