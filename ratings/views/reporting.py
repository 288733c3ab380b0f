"""The report and its files, rendered from the stored document alone."""

import csv
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from ratings import tasks, words
from ratings.models import Job, Report
from ratings.permissions import panel_for
from ratings.reports.export import COLUMNS, rating_rows, response_rows
from ratings.reports.rationales import ORDERS, read_page
from ratings.reports.render import view_of
from ratings.views.requests import PersonRequest


@require_safe
def report(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "figures")
    newest = panel.reports.order_by("-number").first()
    may_run = request.user.memberships.filter(panel=panel, role="coordinator").exists()
    job = panel.jobs.filter(kind="report").first()
    context: dict[str, Any] = {
        "panel": panel,
        "report": newest,
        "job": job,
        "running": job is not None and job.state in (Job.State.WAITING, Job.State.RUNNING),
        "may_run": may_run,
    }
    if request.htmx:  # the waiting page asks whether the report is there
        return render(request, "ratings/reporting/_job.html", context)
    if newest is not None:
        context |= view_of(json.loads(newest.document))
    return render(request, "ratings/reporting/report.html", context)


@require_safe
def rationales(request: PersonRequest, slug: str) -> HttpResponse:
    """What judges wrote, response by response, beside the model's reasons; only after closing."""
    panel = panel_for(request.user, slug, "ratings")
    asked = {
        "search": request.GET.get("search", "").strip()[:200],
        "dilemma": request.GET.get("dilemma", "").strip()[:100],
        "order": request.GET.get("order", ""),
    }
    if asked["order"] not in ORDERS:
        asked["order"] = "served"
    number = request.GET.get("page", "")
    page = read_page(panel, number=int(number) if number.isdecimal() else 1, **asked)
    language = (get_language() or "ca")[:2]
    titles = {
        criterion.key: next(
            (t.name for t in criterion.texts.all() if t.language == language), criterion.key
        )
        for criterion in panel.rubric_version.criteria.prefetch_related("texts")
    }
    context = {
        "panel": panel,
        "page": page,
        "titles": titles,
        "asked": asked,
        "reasons": words.REASONS,
        "dilemmas": panel.response_set.responses.values_list("dilemma__code", flat=True)
        .distinct()
        .order_by("dilemma__code"),
        "query": urlencode({key: value for key, value in asked.items() if value}),
    }
    return render(request, "ratings/reporting/rationales.html", context)


@require_POST
def compute(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    panel_for(request.user, slug, "figures")
    if not panel.reports.exists() or request.POST.get("reason", "").strip():
        tasks.ask(
            kind="report",
            panel=panel,
            parameters={"reason": request.POST.get("reason", "").strip()[:2000]},
        )
    return redirect("report", slug=slug)


@require_safe
def report_json(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "figures")
    newest = get_object_or_404(Report.objects.filter(panel=panel).order_by("-number")[:1])
    return document_response(newest, slug)


def document_response(kept: Report, slug: str) -> HttpResponse:
    """Return the stored bytes: what was hashed is what is sent."""
    response = HttpResponse(kept.document, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-report-{kept.number}.json"'
    return response


class _Echo:
    def write(self, text: str) -> str:
        return text


@require_safe
def ratings_csv(request: PersonRequest, slug: str) -> StreamingHttpResponse:
    panel = panel_for(request.user, slug, "ratings")
    writer = csv.writer(_Echo())

    def lines() -> Iterator[str]:
        yield writer.writerow(COLUMNS)
        for row in rating_rows(panel):
            yield writer.writerow([*row[:-1], row[-1].isoformat()])

    response = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-ratings.csv"'
    return response


@require_safe
def ratings_json(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "ratings")
    rows = [
        dict(zip(COLUMNS, (*row[:-1], row[-1].isoformat()), strict=True))
        for row in rating_rows(panel)
    ]
    document = {
        "schema_version": 1,
        "panel": slug,
        "exported_at": timezone.now().isoformat(),
        "ratings": rows,
        "responses": list(response_rows(panel)),
    }
    response = HttpResponse(
        json.dumps(document, ensure_ascii=False), content_type="application/json; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-ratings.json"'
    return response
