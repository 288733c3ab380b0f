"""Importing in the browser: choose, look at what would happen, confirm."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from dilemmas.models import Collection, ResponseSet
from dilemmas.services.reading import ImportRefused
from ratings.forms.coordinating import ImportForm
from ratings.models import Upload
from ratings.permissions import owner_only
from ratings.services import uploads
from ratings.views.requests import PersonRequest

_SHIPPED_RUBRIC = settings.BASE_DIR / "fixtures" / "rubrics" / "awb-semantic.json"
_LARGEST = 64 * 1024 * 1024


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: PersonRequest) -> HttpResponse:
    owner_only(request.user)
    if request.POST.get("shipped") == "rubric":
        content, name = _SHIPPED_RUBRIC.read_bytes(), _SHIPPED_RUBRIC.name
        return _kept(request, "rubric", name, content, "")
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        if file.size <= _LARGEST:
            data = form.cleaned_data
            return _kept(request, data["kind"], file.name, file.read(), data["target"].strip())
        form.add_error("file", _("The file is larger than 64 MB. Use the command instead."))
    context = {
        "form": form,
        "sets": ResponseSet.objects.filter(uploader=request.user).order_by("name"),
        "collections": Collection.objects.exclude(name__startswith="study:").order_by("name"),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/import.html", context, status=status)


def _kept(
    request: PersonRequest, kind: str, name: str, content: bytes, target: str
) -> HttpResponse:
    foreign = ResponseSet.objects.filter(name=target).exclude(uploader=request.user)
    if kind in ("responses", "judgements") and foreign.exists():
        messages.error(request, _("Somebody else's response set has this name. Choose another."))
        return redirect("import")
    upload = uploads.keep_upload(
        owner=request.user, kind=kind, name=name, content=content, target=target, at=timezone.now()
    )
    return redirect("import_preview", pk=upload.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: PersonRequest, pk: int) -> HttpResponse:
    """GET says what confirming would do; POST does it."""
    owner_only(request.user)
    now = timezone.now()
    upload = get_object_or_404(Upload, pk=pk, owner=request.user, expires_at__gt=now)
    update = "update" in request.POST or "update" in request.GET
    context: dict[str, Any] = {
        "upload": upload,
        "kind": upload.kind.split(":")[0],
        "update": update,
        "size": len(upload.content),
    }
    try:
        if request.method == "POST":
            outcome = uploads.confirm(upload=upload, update=update, at=now)
            messages.success(
                request,
                _("Imported: %(created)d new, %(changed)d changed, %(unchanged)d as they were.")
                % vars(outcome),
            )
            return redirect("import")
        context["outcome"] = uploads.preview(upload=upload, update=update, at=now)
        context["sample"] = uploads.sample(upload)
    except ImportRefused as refused:
        context |= {"lines": refused.lines(), "count": len(refused.problems)}
        return render(request, "ratings/coordinating/preview.html", context, status=422)
    return render(request, "ratings/coordinating/preview.html", context)
