"""Which panels there are, where one of them stands and what comes next, and its record."""

import csv
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dilemmas.models import ResponseSet
from ratings import words
from ratings.forms.coordinating import PanelForm
from ratings.models import AuditEvent, Panel
from ratings.models.people import Role
from ratings.permissions import owner_only, panel_for, writes_rubrics
from ratings.services import audit as audit_service
from ratings.services import panels as panel_service
from ratings.services import planning, registering, running
from ratings.services.archiving import archived
from ratings.services.errors import Refused
from ratings.services.freezing import obstacles
from ratings.services.progress import judge_progress
from ratings.views.requests import PersonRequest, page_of

# where each obstacle is taken away; what is not here comes with an import
_PLACES = {
    "no_policy": "protocol",
    "blinding_undecided": "blinding",
    "blinding_missing": "blinding",
    "blinding_unconfirmed": "blinding",
    "rubric_incomplete": "panel_rubric",
    "criteria_not_shown": "panel_rubric",
    "levels_without_text": "panel_rubric",
    "empty_responses": "blinding",
}


SHOWN_EVENTS = 100  # on a page
_CHECKED_S = 600
_SHORT_CHAIN = 2_000  # events


@require_safe
def panels(request: PersonRequest) -> HttpResponse:
    mine = (
        request.user.memberships.exclude(role=Role.JUDGE)
        .select_related("panel")
        .order_by("-panel__created_at")
    )
    away = archived([one.panel for one in mine])
    rows = [
        {
            "panel": one.panel,
            "state": words.STATES[one.panel.state],
            "runs": one.role == Role.COORDINATOR,
            "resolves": one.role == Role.ADJUDICATOR,
            "is_away": one.panel_id in away,
        }
        for one in mine
    ]
    if not request.user.is_owner and not rows:
        raise Http404
    context = {
        "rows": rows,
        "at_work": [row for row in rows if not row["is_away"]],
        "away": [row for row in rows if row["is_away"]],
        "rubrics": writes_rubrics(request.user),
    }
    return render(request, "ratings/coordinating/panels.html", context)


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
    native = panel.origin == Panel.Origin.NATIVE
    progress = judge_progress(panel)
    context = {
        "panel": panel,
        "state": words.STATES[panel.state],
        "freeze": getattr(panel, "freeze", None),
        "obstacles": (found := _obstacles(panel, may_import=request.user.is_owner)),
        "checklist": _checklist(panel, found, may_import=request.user.is_owner),
        "deposited": native and bool(registering.deposits(panel)),
        "progress": progress,
        "here": sum(row.judge.withdrawn_at is None for row in progress),
        "planned": panel.protocol.document["judges_planned"] if native else 0,
        "flags": (flags := running.flag_queue(panel)).count(),
        "waiting": flags.filter(waits=True).count(),
        "report": panel.reports.order_by("-number").first(),
        "native": native,
        "is_away": panel.pk in archived([panel]),
    }
    return render(request, "ratings/coordinating/overview.html", context)


def _obstacles(panel: Panel, *, may_import: bool) -> list[dict[str, Any]]:
    if panel.state != Panel.State.DRAFT:
        return []
    return [
        {
            "text": words.OBSTACLES[one.code],
            "count": one.count,
            "place": _PLACES.get(one.code),
            "is_imported": may_import and one.code not in _PLACES,
        }
        for one in obstacles(panel)
    ]


def _checklist(
    panel: Panel, found: list[dict[str, Any]], *, may_import: bool
) -> list[dict[str, Any]]:
    """Return what a panel needs before its freeze, done or not, each with its place."""
    if panel.state != Panel.State.DRAFT or panel.origin != Panel.Origin.NATIVE:
        return []
    document, slug = panel.protocol.document, panel.slug
    missing = {one["place"] for one in found}
    imports = any(one["is_imported"] or one["place"] is None for one in found)
    invited = panel.invitations.filter(role=Role.JUDGE, revoked_at=None, declined_at=None).count()
    planned = document["judges_planned"]
    texts = reverse("import") if may_import else reverse("blinding", args=[slug])

    def row(text: Any, address: str, is_done: bool, note: str = "", must: bool = True) -> Any:
        state = "done" if is_done else "missing" if must else "optional"
        return {"text": text, "address": address, "state": state, "note": note}

    return [
        row(_("Dilemmas and responses"), texts, not imports),
        row(_("Blinding"), reverse("blinding", args=[slug]), "blinding" not in missing),
        row(_("Rubric"), reverse("panel_rubric", args=[slug]), "panel_rubric" not in missing),
        row(_("Protocol"), reverse("protocol", args=[slug]), "protocol" not in missing),
        row(
            _("Simulation of what it can show"),
            f"{reverse('protocol', args=[slug])}#planning",
            planning.is_of_this_design(panel),
            must=False,
        ),
        row(
            _("Judges and invitations"),
            reverse("judges", args=[slug]),
            invited >= planned,
            f"{invited} / {planned}",
            must=False,
        ),
    ]


@require_safe
def audit(request: PersonRequest, slug: str) -> HttpResponse:
    """Who did what when; by kind, person and day; the whole of it as a file."""
    panel = panel_for(request.user, slug, "audit")
    codes = dict(panel.judges.exclude(user=None).values_list("user__opaque_id", "code"))
    events = panel.events.order_by("-number")
    asked = {
        key: request.GET.get(key, "").strip()[:64] for key in ("kind", "who", "since", "until")
    }
    if asked["kind"]:
        events = events.filter(kind=asked["kind"])
    if asked["who"]:
        ids = [opaque for opaque, code in codes.items() if code == asked["who"]]
        events = events.filter(actor__in=ids) if ids else events.filter(actor=asked["who"])
    since, until = parse_date(asked["since"] or "-"), parse_date(asked["until"] or "-")
    if since:
        events = events.filter(at__date__gte=since)
    if until:
        events = events.filter(at__date__lte=until)
    kinds = panel.events.values_list("kind", flat=True).distinct().order_by("kind")
    people = panel.events.exclude(actor="").values_list("actor", flat=True).distinct()
    page = page_of(request, events, SHOWN_EVENTS)
    context = {
        "panel": panel,
        "events": [
            {
                "event": event,
                "what": words.EVENTS.get(event.kind, event.kind),
                "who": codes.get(event.actor, event.actor[:8]),
                "details": json.loads(event.payload),
            }
            for event in page.object_list
        ],
        "page": page,
        "kinds": [(kind, words.EVENTS.get(kind, kind)) for kind in kinds],
        "people": sorted((codes.get(one, one[:8]), codes.get(one, one)) for one in people),
        "asked": asked,
        "total": page.paginator.count,
        "query": urlencode({key: value for key, value in asked.items() if value}),
        **_checked(panel, again="check" in request.GET),
        "runs": request.user.memberships.filter(panel=panel, role=Role.COORDINATOR).exists(),
    }
    return render(request, "ratings/coordinating/audit.html", context)


def _checked(panel: Panel, *, again: bool) -> dict[str, Any]:
    """Return where the chain is broken, if anywhere, and when that was looked at. Of a long chain it
    takes half a second, so what was found is kept for ten minutes; a short one is looked at each
    time."""
    newest = panel.events.order_by("-number").values_list("number", "sha256").first()
    key = f"audit-{panel.pk}-{newest[1] if newest else 0}"
    is_short = newest is None or newest[0] <= _SHORT_CHAIN
    found: dict[str, Any] | None = None if again or is_short else cache.get(key)
    if found is None:
        found = {"broken": audit_service.broken_at(panel), "checked_at": timezone.now()}
        cache.set(key, found, timeout=_CHECKED_S)
    return found


@require_safe
def audit_file(request: PersonRequest, slug: str, ending: str) -> StreamingHttpResponse:
    """The whole chain, oldest first, with its hashes: enough to verify it elsewhere."""
    panel = panel_for(request.user, slug, "audit")
    events = panel.events.order_by("number").iterator(chunk_size=2_000)
    columns = ("number", "at", "actor", "kind", "payload", "previous", "sha256")

    def values(event: AuditEvent) -> list[Any]:
        return [event.at.isoformat() if key == "at" else getattr(event, key) for key in columns]

    def as_csv() -> Iterator[str]:
        writer = csv.writer(_Echo())
        yield writer.writerow(columns)
        for event in events:
            yield writer.writerow(values(event))

    def as_lines() -> Iterator[str]:
        for event in events:
            row = dict(zip(columns, values(event), strict=True))
            yield json.dumps(row, ensure_ascii=False) + "\n"

    lines, kind = (
        (as_csv(), "text/csv") if ending == "csv" else (as_lines(), "application/x-ndjson")
    )
    response = StreamingHttpResponse(lines, content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-audit.{ending}"'
    return response


class _Echo:
    def write(self, text: str) -> str:
        return text
