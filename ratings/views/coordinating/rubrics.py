"""The rubric editor: versions, criteria, levels, and how judges see them. Sealed ones only to read."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dilemmas.models import RubricVersion
from dilemmas.services import rubric_documents as documents
from dilemmas.services import rubric_editing as editing
from dilemmas.services.rubric_documents import Document, RubricProblem
from dilemmas.services.rubric_editing import ChangedMeanwhile, RubricRefused
from ratings import words
from ratings.forms.rubrics import (
    KINDS,
    CriterionForm,
    NewCriterionForm,
    NewRubricForm,
    RubricChoiceForm,
    RubricForm,
)
from ratings.models import Panel
from ratings.models.people import Role
from ratings.permissions import (
    others_use,
    panel_for,
    rubric_version_for,
    rubric_versions_for,
    writes_rubrics,
)
from ratings.services import panels as panel_service
from ratings.services.errors import Refused
from ratings.services.serving import instructions_text, rubric_item
from ratings.views.requests import PersonRequest

_MOST = 50  # missing texts that a page lists


@require_http_methods(["GET", "HEAD", "POST"])
def rubrics(request: PersonRequest) -> HttpResponse:
    """GET lists the rubrics that the person may work on; POST starts one."""
    if not writes_rubrics(request.user):
        raise Http404
    versions = rubric_versions_for(request.user)
    initial = {"languages": [request.LANGUAGE_CODE]}
    form = NewRubricForm(request.POST or None, versions=versions, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            made = editing.create_rubric(
                author=request.user, at=timezone.now(), **form.cleaned_data
            )
            return redirect("rubric", pk=made.pk)
        except RubricRefused as refused:
            form.add_error("code", str(refused))
    context = {"versions": versions, "form": form}
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/rubrics.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def rubric(request: PersonRequest, pk: int) -> HttpResponse:
    """One version: what holds for all of it, and its criteria. Each button of the page is a POST."""
    version = rubric_version_for(request.user, pk)
    action = request.POST.get("action", "")
    if request.method == "POST" and action == "version":
        made = editing.new_version(version=version, actor=request.user.opaque_id, at=timezone.now())
        messages.success(request, _("This is the new version. The one before stays as it is."))
        return redirect("rubric", pk=made.pk)
    document = documents.document_of(version)
    form = RubricForm(request.POST if action == "save" else None, document=document)
    adding = NewCriterionForm(
        request.POST if action == "add" else None, initial={"lowest": 0, "highest": 3}
    )
    refused, problems = _why_not(request, version), list[RubricProblem]()
    if request.method == "POST" and not refused:
        changed = _changed(request, document, form, adding)
        if changed is not None:
            try:
                _save(request, version, changed)
                messages.success(request, _("Saved."))
                return redirect(_after(version, changed, action))
            except RubricRefused as error:
                refused = str(error)
                problems = error.problems
                version.refresh_from_db()
    context = _about(request, version) | {
        "form": form,
        "adding": adding,
        "refused": refused if request.method == "POST" else "",
        "problems": problems,
        "criteria": _rows(document),
        "missing": documents.missing(document)[:_MOST],
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/rubric.html", context, status=status)


def _changed(
    request: PersonRequest, document: Document, form: RubricForm, adding: NewCriterionForm
) -> Document | None:
    """Return the document as the pressed button would have it; None if what was typed is wrong."""
    action, _colon, number = request.POST.get("action", "").partition(":")
    if action == "save":
        return form.changed_document() if form.is_valid() else None
    if action == "add":
        if not adding.is_valid():
            return None
        return documents.with_criterion(document, **adding.cleaned_data)
    if action in ("up", "down") and number.isascii() and number.isdigit():
        return documents.moved(document, int(number) - 1, -1 if action == "up" else 1)
    return None


def _save(request: PersonRequest, version: RubricVersion, document: Document) -> None:
    editing.save_rubric(
        version=version,
        document=document,
        base_sha256=request.POST.get("base", ""),
        actor=request.user.opaque_id,
        at=timezone.now(),
    )


def _after(version: RubricVersion, document: Document, action: str) -> str:
    if action == "add":
        return reverse("rubric_criterion", args=[version.pk, len(document["criteria"])])
    return reverse("rubric", args=[version.pk]) + ("" if action == "save" else "#criteria")


@require_http_methods(["GET", "HEAD", "POST"])
def criterion(request: PersonRequest, pk: int, position: int) -> HttpResponse:
    """One criterion with its levels, in every language. One more level is asked for by a POST too."""
    version = rubric_version_for(request.user, pk)
    document = documents.document_of(version)
    if not 1 <= position <= len(document["criteria"]):
        raise Http404
    item, languages = document["criteria"][position - 1], document["languages"]
    action = request.POST.get("action", "")
    refused = _why_not(request, version)
    if request.method == "POST" and not refused and action == "more":
        form = CriterionForm(request.POST, item=item, languages=languages, more=1)
        form.is_valid()  # what was typed stays on the page, with what is wrong in it
        said = _("One more level is at the end. Nothing is saved yet.")
        return _criterion_page(request, version, document, position, form, said=said)
    form = CriterionForm(request.POST if action == "save" else None, item=item, languages=languages)
    if request.method == "POST" and not refused:
        try:
            if action == "remove":
                _save(request, version, documents.without_criterion(document, position - 1))
                return redirect(reverse("rubric", args=[pk]) + "#criteria")
            if action == "save" and form.is_valid():
                changed = documents.with_item(document, position - 1, form.changed_item())
                _save(request, version, changed)
                messages.success(request, _("Saved."))
                return redirect("rubric_criterion", pk=pk, position=position)
        except RubricRefused as error:
            refused = str(error)
            form.show(error.problems, position - 1)
            if isinstance(error, ChangedMeanwhile):
                version.refresh_from_db()
    status = 422 if request.method == "POST" else 200
    refused = refused if request.method == "POST" else ""
    return _criterion_page(
        request, version, document, position, form, refused=refused, status=status
    )


def _criterion_page(
    request: PersonRequest,
    version: RubricVersion,
    document: Document,
    position: int,
    form: CriterionForm,
    *,
    status: int = 200,
    **more: str,
) -> HttpResponse:
    found = [one for one in documents.missing(document) if one.position == position - 1]
    context = _about(request, version) | {
        "form": form,
        "position": position,
        "total": len(document["criteria"]),
        "item": document["criteria"][position - 1],
        "missing": found[:_MOST],
    }
    return render(
        request, "ratings/coordinating/rubric_criterion.html", context | more, status=status
    )


@require_safe
def rubric_preview(request: PersonRequest, pk: int) -> HttpResponse:
    """The instructions and the criteria, with the very parts of the judges' pages."""
    version = rubric_version_for(request.user, pk)
    languages = documents.document_of(version)["languages"] or [settings.LANGUAGE_CODE]
    language = request.GET.get("language", "")
    if language not in languages:
        language = request.LANGUAGE_CODE if request.LANGUAGE_CODE in languages else languages[0]
    shown = rubric_item(version, language=language)
    context = {
        "version": version,
        "spoken": [(one, documents.language_name(one)) for one in languages],
        "language": language,
        "instructions": instructions_text(version, language=language),
        "rubric": shown,
        "rows": [
            {"criterion": one, "prefix": f"0-{one.key}", "gaps": []} for one in shown.criteria
        ],
        "reasons": words.said(words.REASONS),
    }
    return render(request, "ratings/coordinating/rubric_preview.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def panel_rubric(request: PersonRequest, slug: str) -> HttpResponse:
    """Which rubric a panel is judged with: chosen in draft, clarified and never changed afterwards."""
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    versions = rubric_versions_for(request.user)
    form = RubricChoiceForm(
        request.POST or None, versions=versions, initial={"rubric_version": panel.rubric_version}
    )
    refused = ""
    if request.method == "POST" and form.is_valid():
        try:
            panel_service.choose_rubric(
                panel=panel, actor=request.user.opaque_id, at=timezone.now(), **form.cleaned_data
            )
            messages.success(request, _("The panel is judged with this rubric."))
            return redirect("panel_rubric", slug=slug)
        except Refused as error:
            refused = words.sentence(error)
    version = versions.filter(pk=panel.rubric_version_id).first()
    gaps = documents.missing(documents.document_of(version)) if version else []
    needed = [one for one in gaps if one.language in ("", panel.content_language)]
    context = {
        "panel": panel,
        "form": form,
        "refused": refused,
        "version": version,
        "draft": panel.state == Panel.State.DRAFT,
        "can_clarify": panel.state in (Panel.State.FROZEN, Panel.State.OPEN),
        "missing": needed[:_MOST],
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/panel_rubric.html", context, status=status)


def _why_not(request: PersonRequest, version: RubricVersion) -> str:
    """Return why the person cannot change this version, as a sentence; empty if they can."""
    if version.sealed_at:
        return str(words.SEALED_RUBRIC)
    if others_use(request.user, version):
        return str(words.RUBRIC_OF_OTHERS)
    return ""


def _about(request: PersonRequest, version: RubricVersion) -> dict[str, Any]:
    panels = Panel.objects.for_member(request.user, Role.COORDINATOR)
    return {
        "version": version,
        "locked": _why_not(request, version),
        "panels": panels.filter(rubric_version=version).order_by("title"),
    }


def _rows(document: Document) -> list[dict[str, Any]]:
    """Return the criteria for a table, each with how much is missing in it."""
    gaps = [one.position for one in documents.missing(document)]
    return [
        {
            "position": position,
            "key": item["key"],
            "name": next(filter(None, item["name"].values()), item["key"]),
            "kind": KINDS[item["kind"]],
            "levels": len(item["levels"]),
            "missing": gaps.count(position - 1),
        }
        for position, item in enumerate(document["criteria"], start=1)
    ]
