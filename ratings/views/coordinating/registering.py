"""The protocol: four questions before the freeze; its simulation; the registration after it."""

import json
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from awb_panel import pdf
from dilemmas.models import Condition
from ratings import tasks, words
from ratings.agreement.matrix import MatrixError
from ratings.forms.coordinating import DepositForm, ProtocolForm
from ratings.models import Job, Panel
from ratings.models.people import Role
from ratings.permissions import panel_for
from ratings.reports.render import rule
from ratings.services import planning, protocols, registering
from ratings.services.errors import Refused
from ratings.services.serving import rubric_item
from ratings.views.requests import PersonRequest


@require_http_methods(["GET", "HEAD", "POST"])
def protocol(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    document = panel.protocol.document
    conditions = Condition.objects.judged(panel.response_set).order_by("label")
    labels = list(conditions.values_list("label", flat=True))
    initial = (
        protocols.DEFAULTS
        | document
        | {
            "policy": document["policy"]["name"] if document["policy"] else None,
            "contrasts": "\n".join(f"{a} - {b}" for a, b in document["contrasts"]),
        }
    )
    over = Panel.objects.for_member(request.user, Role.COORDINATOR).exclude(pk=panel.pk)
    rounds = over.filter(state__in=(Panel.State.CLOSED, Panel.State.PUBLISHED))
    form = ProtocolForm(
        request.POST or None,
        initial=initial,
        conditions=labels,
        rounds=list(rounds.values_list("slug", "title")),
    )
    frozen = panel.state != Panel.State.DRAFT
    if request.method == "POST" and form.is_valid():
        try:
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
        "sentences": _sentences(document["policy"]),
        "chosen": {
            name: form[name].value() for name in ("policy", "rationales", "markdown", "order")
        },
    }
    status = 422 if request.method == "POST" else 200
    context |= _planned(panel)
    return render(request, "ratings/coordinating/protocol.html", context, status=status)


def _sentences(policy: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return the requirement as the paper will print it, in each language of the interface."""
    if policy is None:
        return []
    found = []
    for code, _name in settings.LANGUAGES:
        with translation.override(code):
            sentence = _(
                "The result is published as V1 only if this holds on every criterion: %(rule)s."
            )
            found.append((code, sentence % {"rule": rule(policy)}))
    return found


def _planned(panel: Panel) -> dict[str, Any]:
    """Return what the page says of the simulation: the one attached, or the one that runs."""
    job = panel.jobs.filter(kind="plan").first()
    attached = panel.protocol.document.get("planning")
    shares = attached["design"]["shares"] if attached else []
    return {
        "job": job,
        "planning_runs": job is not None and job.state in (Job.State.WAITING, Job.State.RUNNING),
        "plan": attached,
        "plan_is_current": panel.state != Panel.State.DRAFT or planning.is_of_this_design(panel),
        "shares": " ".join(f"{share:g}" for share in shares),
        "frozen": panel.state != Panel.State.DRAFT,
    }


@require_http_methods(["GET", "HEAD", "POST"])
def plan(request: PersonRequest, slug: str) -> HttpResponse:
    """POST has the panel simulated by the worker; GET is the part of the page that waits for it."""
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    if request.method != "POST":
        if request.htmx:
            context = {"panel": panel} | _planned(panel)
            return render(request, "ratings/coordinating/_planning.html", context)
        return redirect(f"{reverse('protocol', args=[slug])}#planning")
    typed = request.POST.get("shares", "")
    try:
        if panel.state != Panel.State.DRAFT:
            raise Refused("planning_not_now")
        shares = _shares(typed)
        planning.design_of(panel, shares)
    except (Refused, MatrixError) as error:
        fallback = Refused("shares_do_not_fit")
        messages.error(request, words.sentence(error if isinstance(error, Refused) else fallback))
        return redirect(f"{reverse('protocol', args=[slug])}#planning")
    parameters = {"shares": shares, "actor": request.user.opaque_id}
    tasks.ask(kind="plan", panel=panel, parameters=parameters)
    return redirect(f"{reverse('protocol', args=[slug])}#planning")


def _shares(text: str) -> list[float]:
    """Read shares, with points or commas in them, blanks or semicolons between them."""
    parts = text.replace(";", " ").split()
    try:
        shares = [float(part.strip(",").replace(",", ".")) for part in parts]
    except ValueError as error:
        raise Refused("shares_do_not_fit") from error
    if shares and (min(shares) < 0 or abs(sum(shares) - 1) > 0.01):
        raise Refused("shares_do_not_fit")
    return [share / sum(shares) for share in shares]


@require_http_methods(["GET", "HEAD", "POST"])
def registration(request: PersonRequest, slug: str) -> HttpResponse:
    """What was fixed, to print or to deposit; POST notes where it was deposited."""
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    form = DepositForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            registering.deposit(
                panel=panel,
                address=form.cleaned_data["address"],
                actor=request.user.opaque_id,
                at=timezone.now(),
            )
            messages.success(request, _("Noted, with today's date."))
            return redirect("registration", slug=slug)
        except Refused as refused:
            form.add_error("address", words.sentence(refused))
    context = _registered(panel) | {"form": form}
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/registration.html", context, status=status)


def _registered(panel: Panel) -> dict[str, Any]:
    document = registering.registration(panel)
    return {
        "panel": panel,
        "has_pdf": pdf.is_available(),
        "registration": document,
        "freeze": getattr(panel, "freeze", None),
        "rule": rule(document["protocol"]["policy"]) if document["protocol"]["policy"] else "",
        "declared": [
            (ProtocolForm.base_fields[key].label, document["protocol"].get(key, ""))
            for key in protocols.DECLARATIONS
        ],
        "rationales": words.RATIONALES[document["protocol"]["rationales"]],
        "markdown": words.MARKDOWN[document["protocol"].get("markdown", "shown")],
        "rubric": rubric_item(panel.rubric_version, language=panel.content_language),
        "deposits": registering.deposits(panel),
    }


@require_safe
def registration_json(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE or panel.state == Panel.State.DRAFT:
        raise Http404
    text = json.dumps(registering.registration(panel), ensure_ascii=False, indent=1)
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-registration.json"'
    return response


@require_safe
def registration_pdf(request: PersonRequest, slug: str) -> HttpResponse:
    """The same page on paper's terms; without the extra there is none, and the page says how to print."""
    panel = panel_for(request.user, slug, "setup")
    is_there = panel.origin == Panel.Origin.NATIVE and panel.state != Panel.State.DRAFT
    if not is_there or not pdf.is_available():
        raise Http404
    context = _registered(panel) | {"form": DepositForm()}
    html = render(request, "ratings/coordinating/registration.html", context).content.decode()
    response = HttpResponse(pdf.pdf_of(html), content_type="application/pdf")
    response["Content-Disposition"] = f'attachment; filename="{slug}-registration.pdf"'
    return response
