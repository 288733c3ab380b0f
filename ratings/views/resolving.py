"""The adjudicator's desk: differences between judges, one by one, blind to the condition."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from ratings import words
from ratings.forms.resolving import UNDECIDED, DecisionForm
from ratings.models import Case, Decision
from ratings.permissions import case_for, panel_for
from ratings.services import resolving
from ratings.services.errors import Refused
from ratings.services.serving import rubric_item
from ratings.views.requests import PersonRequest


@require_safe
def cases(request: PersonRequest, slug: str) -> HttpResponse:
    """What is to be decided, and how much of it the person has decided."""
    panel = panel_for(request.user, slug, "cases")
    mine = Decision.objects.filter(case__panel=panel, actor=request.user.opaque_id)
    decided = set(mine.values_list("case", flat=True))
    every = Case.objects.for_adjudicator(request.user).filter(panel=panel).order_by("position")
    rubric = rubric_item(panel.rubric_version, language=panel.content_language)
    names = {criterion.key: criterion.name for criterion in rubric.criteria}
    rows = [
        {"code": code, "position": position, "criterion": names[key], "is_decided": pk in decided}
        for pk, code, position, key in every.values_list("pk", "code", "position", "criterion__key")
    ]
    context = {
        "panel": panel,
        "rows": rows,
        "decided": len(decided),
        "next": next((row for row in rows if not row["is_decided"]), None),
    }
    return render(request, "ratings/resolving/cases.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def case(request: PersonRequest, slug: str, code: str) -> HttpResponse:
    """One difference: the text, what judges gave and why; POST decides."""
    found = case_for(request.user, slug, code)
    panel = found.panel
    rubric = rubric_item(panel.rubric_version, language=panel.content_language)
    criterion = next(one for one in rubric.criteria if one.key == found.criterion.key)
    before = found.decisions.filter(actor=request.user.opaque_id).order_by("-number").first()
    initial = {}
    if before is not None:
        score = UNDECIDED if before.score is None else f"{before.score:g}"
        initial = {"score": score, "reason": before.reason}
    levels = [(level.value, f"{level.value} {level.short}") for level in criterion.levels]
    form = DecisionForm(request.POST or None, levels=levels, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            resolving.decide(case=found, user=request.user, at=timezone.now(), **form.cleaned_data)
            messages.success(request, _("Your decision is kept."))
            return redirect(_next(request, found))
        except Refused as refused:
            form.add_error(None, words.sentence(refused))
    context = {
        "panel": panel,
        "item": resolving.case_item(found),
        "criterion": criterion,
        "rubric": rubric,
        "total": panel.cases.count(),
        "before": before,
        "form": form,
        "reasons": words.said(words.REASONS),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/resolving/case.html", context, status=status)


def _next(request: PersonRequest, case: Case) -> str:
    """The next case that the person has not decided; the list when there is none."""
    decided = Decision.objects.filter(case__panel=case.panel, actor=request.user.opaque_id)
    left = case.panel.cases.exclude(pk__in=decided.values("case")).order_by("position")
    after = left.filter(position__gt=case.position).first() or left.first()
    base = f"/resolve/{case.panel.slug}/"
    return f"{base}{after.code}/" if after else base
