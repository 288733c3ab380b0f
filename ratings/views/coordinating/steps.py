"""The steps that cannot be taken back: each is a page that asks once."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dilemmas.models import Response
from ratings import tasks, words
from ratings.models import Judge, Panel
from ratings.permissions import panel_for
from ratings.reports.render import rule
from ratings.services import panels as panel_service
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel, obstacles
from ratings.services.outlook import outlook
from ratings.services.progress import judge_progress
from ratings.views.requests import PersonRequest, criterion_titles

Act = Callable[..., Any]


def _step(
    request: PersonRequest,
    slug: str,
    *,
    name: str,
    before: Panel.State,
    act: Act,
    describe: Callable[[Panel], dict[str, Any]],
) -> HttpResponse:
    """Ask on GET, act on POST; in any state but `before` the page only says where things are."""
    template = f"ratings/coordinating/{name}.html"
    panel = panel_for(request.user, slug, "setup")
    context = {
        "panel": panel,
        "state": words.STATES[panel.state],
        "possible": panel.state == before,
        "freeze": getattr(panel, "freeze", None),
    } | describe(panel)
    if request.method != "POST":
        return render(request, template, context)
    try:
        act(panel=panel, actor=request.user.opaque_id, at=timezone.now())
    except Refused as refused:
        context["refused"] = words.sentence(refused)
        return render(request, template, context, status=422)
    return redirect("overview", slug=slug)


@require_http_methods(["GET", "HEAD", "POST"])
def freeze(request: PersonRequest, slug: str) -> HttpResponse:
    return _step(
        request,
        slug,
        name="freeze",
        before=Panel.State.DRAFT,
        act=freeze_panel,
        describe=_in_the_way,
    )


def _in_the_way(panel: Panel) -> dict[str, Any]:
    if panel.state != Panel.State.DRAFT:
        return {}
    found = obstacles(panel)
    protocol = panel.protocol.document
    kept: QuerySet[Response] = Response.objects.kept()  # type: ignore[attr-defined]
    responses = kept.filter(response_set=panel.response_set_id)
    return {
        "obstacles": [{"text": words.OBSTACLES[one.code], "count": one.count} for one in found],
        "protocol": protocol,
        "summary": {
            "responses": responses.count(),
            "conditions": responses.values("condition").distinct().count(),
            "language": dict(settings.LANGUAGES).get(panel.content_language),
            "here": Judge.objects.filter(panel=panel).active().count(),  # type: ignore[attr-defined]
            "rule": rule(protocol["policy"]) if protocol["policy"] else "",
            "rationales": words.RATIONALES[protocol["rationales"]],
            "markdown": words.MARKDOWN[protocol.get("markdown", "shown")],
        },
    }


@require_http_methods(["GET", "HEAD", "POST"])
def open_(request: PersonRequest, slug: str) -> HttpResponse:
    return _step(
        request,
        slug,
        name="open",
        before=Panel.State.FROZEN,
        act=panel_service.open_panel,
        describe=_who_is_here,
    )


def _who_is_here(panel: Panel) -> dict[str, Any]:
    return {
        "judges": Judge.objects.filter(panel=panel).active().count(),  # type: ignore[attr-defined]
        "planned": panel.protocol.document["judges_planned"],
    }


@require_http_methods(["GET", "HEAD", "POST"])
def close(request: PersonRequest, slug: str) -> HttpResponse:
    return _step(
        request,
        slug,
        name="close",
        before=Panel.State.OPEN,
        act=_close_and_report,
        describe=_left_undone,
    )


@transaction.atomic
def _close_and_report(*, panel: Panel, actor: str, at: datetime) -> None:
    """Close, and ask for the report in the same breath: nobody has to remember it."""
    closed = panel_service.close_panel(panel=panel, actor=actor, at=at)
    tasks.ask(kind="report", panel=closed, parameters={"reason": ""})


def _left_undone(panel: Panel) -> dict[str, Any]:
    progress = judge_progress(panel)
    native = panel.origin == Panel.Origin.NATIVE
    foreseen = outlook(panel) if native and panel.state == Panel.State.OPEN else None
    titles = criterion_titles(panel) if foreseen else {}
    return {
        "outlook": foreseen,
        "criteria": [(titles[one.key], one) for one in foreseen.criteria] if foreseen else [],
        "progress": progress,
        "undone": sum(row.slots - row.done for row in progress),
        "judges": sum(row.judge.withdrawn_at is None for row in progress),
        "planned": panel.protocol.document["judges_planned"] if native else 0,
    }


@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: PersonRequest, slug: str) -> HttpResponse:
    return _step(
        request,
        slug,
        name="publish",
        before=Panel.State.CLOSED,
        act=panel_service.publish,
        describe=_publishable,
    )


def _publishable(panel: Panel) -> dict[str, Any]:
    if not panel.is_over:
        return {"why_not": words.REFUSALS["panel_not_closed"]}
    report = panel.reports.order_by("-number").first()
    if report is None:
        return {"why_not": words.REFUSALS["no_report"]}
    try:
        return {"kind": panel_service.publication_kind(panel, report).value}
    except Refused as refused:
        return {"why_not": words.sentence(refused)}
