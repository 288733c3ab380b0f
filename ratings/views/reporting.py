"""The report and its files, rendered from the stored document alone."""

import csv
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from ratings import tasks, words
from ratings.models import Job, Panel, Report
from ratings.permissions import panel_for
from ratings.reports.export import COLUMNS, rating_rows, response_rows
from ratings.reports.rationales import ORDERS, Asked, read_page
from ratings.reports.render import view_of
from ratings.reports.resolved import resolved
from ratings.views.requests import PersonRequest, criterion_titles


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
    codes = list(panel.judges.order_by("pk").values_list("code", flat=True))
    kept = {
        key: request.GET.get(key, "").strip()[:200]
        for key in ("search", "dilemma", "family", "criterion", "first", "second", "order")
    }
    if kept["order"] not in ORDERS:
        kept["order"] = "served"
    pair = (kept["first"], kept["second"])
    is_pair = pair[0] != pair[1] and all(code in codes for code in pair)
    asked = Asked(
        search=kept["search"],
        dilemma=kept["dilemma"],
        family=kept["family"],
        criterion=kept["criterion"],
        pair=pair if is_pair else None,
        order=kept["order"],
    )
    number = request.GET.get("page", "")
    page = read_page(panel, asked, number=int(number) if number.isdecimal() else 1)
    titles = criterion_titles(panel)
    context = {
        "panel": panel,
        "page": page,
        "titles": titles,
        "asked": kept,
        "half_a_pair": any(pair) and not is_pair,
        "judges": codes,
        "reasons": words.REASONS,
        "dilemmas": _distinct(panel, "dilemma__code"),
        "families": [name for name in _distinct(panel, "dilemma__versions__family") if name],
        "has_cases": panel.cases.exists(),
        "query": urlencode({key: value for key, value in kept.items() if value}),
    }
    return render(request, "ratings/reporting/rationales.html", context)


def _distinct(panel: Panel, field: str) -> list[str]:
    values = panel.response_set.responses.values_list(field, flat=True)
    return list(values.distinct().order_by(field))


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
        yield from map(writer.writerow, rating_rows(panel))

    response = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-ratings.csv"'
    return response


@require_safe
def decisions_csv(request: PersonRequest, slug: str) -> HttpResponse:
    """Every case with the judges' scores and each adjudicator's newest decision."""
    panel = panel_for(request.user, slug, "ratings")
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-decisions.csv"'
    writer = csv.writer(response)
    writer.writerow(
        ["case", "dilemma", "condition", "criterion", "scores", "adjudicator", "decision", "reason"]
    )
    for one in resolved(panel):
        scores = " ".join(f"{who}:{_level(score)}" for who, score in one.scores)
        for who, score, reason in one.decisions or [("", None, "")]:
            writer.writerow(
                [one.code, one.dilemma, one.condition, one.criterion, scores, who, _level(score),
                 reason]
            )  # fmt: skip
    return response


def _level(score: float | None) -> str:
    return "" if score is None else f"{score:g}"


@require_safe
def ratings_json(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "ratings")
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in rating_rows(panel)]
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
