"""What everybody may read: published results, rendered from the published report alone."""

import json

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from ratings.models import Publication
from ratings.reports.render import view_of
from ratings.views.reporting import document_response


@require_safe
@login_not_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Publication.objects.select_related("panel").order_by("-at")
    return render(request, "public/index.html", {"rows": rows})


def _published(slug: str) -> Publication:
    found = Publication.objects.select_related("panel", "report").filter(panel__slug=slug)
    return get_object_or_404(found)


@require_safe
@login_not_required
def panel(request: HttpRequest, slug: str) -> HttpResponse:
    publication = _published(slug)
    context = {
        "publication": publication,
        "panel": publication.panel,
        "report": publication.report,
    } | view_of(json.loads(publication.report.document))
    return render(request, "public/panel.html", context)


@require_safe
@login_not_required
def report_json(request: HttpRequest, slug: str) -> HttpResponse:
    return document_response(_published(slug).report, slug)
