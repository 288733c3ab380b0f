"""What judges will read: every response, what was found in it, and the person's decision."""

from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from dilemmas.models import Blinding
from dilemmas.models.responses import BlindingQuerySet
from dilemmas.services.blinding import BlindingRefused, StillTells, decide_blinding
from dilemmas.telling import METHOD
from ratings import words
from ratings.models import Panel
from ratings.permissions import panel_for
from ratings.reports.blinding import still_tells
from ratings.reports.render import telling_view
from ratings.views.requests import PersonRequest


def _newest(panel: Panel) -> BlindingQuerySet:
    """The blinding that counts of each response, in an order that a decision does not change."""
    newest: BlindingQuerySet = Blinding.objects.newest_in(panel.response_set)  # type: ignore[attr-defined]
    return newest.select_related(
        "version__response__dilemma", "version__response__condition"
    ).order_by(
        "version__response__dilemma__code",
        "version__response__condition__label",
        "version__response",
    )


@require_safe
def blinding(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    rows = list(_newest(panel))
    for row in rows:
        row.by_hand = sum(finding.get("suggestion") is None for finding in row.findings)  # type: ignore[attr-defined]
    held = [row for row in rows if row.state == Blinding.State.HELD]
    rest = [row for row in rows if row.state != Blinding.State.HELD]
    context = {
        "panel": panel,
        "rows": held + rest,
        "held": len(held),
        "telling": telling_view(_still_tells(panel)),
        "markdown": words.MARKDOWN[panel.display],
    }
    return render(request, "ratings/coordinating/blinding.html", context)


def _still_tells(panel: Panel) -> dict[str, Any]:
    """Measure what still tells, once for each state of the texts: they only ever grow in number."""
    rows = _newest(panel)
    state = rows.order_by().aggregate(n=Count("pk"), newest=Max("pk"))
    key = f"telling-{METHOD}-{panel.pk}-{panel.display}-{state['n']}-{state['newest']}"
    found: dict[str, Any] | None = cache.get(key)
    if found is None:
        found = still_tells(panel, rows)
        cache.set(key, found, timeout=7 * 24 * 3600)
    return found


@require_http_methods(["GET", "HEAD", "POST"])
def blind_one(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    rows = _newest(panel)
    # A page left open, or found again by the back button, may name an earlier decision.
    asked = get_object_or_404(
        Blinding, pk=pk, version__response__response_set=panel.response_set_id
    )
    row = get_object_or_404(rows, version=asked.version_id)
    if request.method != "POST" and row.pk != pk:
        return redirect("blind_one", slug=slug, pk=row.pk)
    raw = dict(row.version.parts.values_list("number", "raw"))
    proposed = dict(row.parts.values_list("number", "text"))
    problem = ""
    left: list[dict[str, Any]] = []
    if request.method == "POST":
        proposed = {n: request.POST.get(f"text-{n}", "").replace("\r\n", "\n") for n in raw}
        accepted = request.POST.get("decision") == "accept"
        try:
            decide_blinding(
                blinding_=row,
                texts=raw if accepted else proposed,
                actor=request.user.opaque_id,
                at=timezone.now(),
                knowing=accepted or "knowing" in request.POST,
            )
            following = rows.undecided().first()
            if following is not None:
                return redirect("blind_one", slug=slug, pk=following.pk)
            return redirect("blinding", slug=slug)
        except BlindingRefused as refused:
            problem = str(refused)
            if isinstance(refused, StillTells):
                left = [_in_words(vars(finding)) for _part, finding in refused.findings]
    context = _place_among(rows, row) | {
        "panel": panel,
        "row": row,
        "parts": [
            {"number": n, "pieces": marked(raw[n], n, row.findings), "text": proposed.get(n, "")}
            for n in sorted(raw)
        ],
        "by_hand": [_in_words(f) for f in row.findings if f.get("suggestion") is None],
        "left": left,
        "problem": problem,
        "sealed": row.sealed_at is not None,
    }
    status = 422 if problem else 200
    return render(request, "ratings/coordinating/blind_one.html", context, status=status)


def _in_words(finding: dict[str, Any]) -> dict[str, Any]:
    return {
        "text": finding["text"].strip(),
        "kind": words.FINDINGS.get(finding["kind"], finding["kind"]),
    }


def _place_among(rows: BlindingQuerySet, row: Blinding) -> dict[str, Any]:
    keys = list(rows.values_list("pk", flat=True))
    at = keys.index(row.pk)
    return {
        "position": at + 1,
        "total": len(keys),
        "previous": keys[at - 1] if at else None,
        "following": keys[at + 1] if at + 1 < len(keys) else None,
    }


def marked(text: str, part: int, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cut a raw text into pieces, those that were found with their kind in words."""
    pieces: list[dict[str, Any]] = []
    at = 0
    for finding in sorted(
        (f for f in findings if f["part"] == part), key=lambda f: (f["start"], -f["end"])
    ):
        if finding["start"] < at:
            continue
        kind = words.FINDINGS.get(finding["kind"], finding["kind"])
        pieces.append({"text": text[at : finding["start"]], "kind": ""})
        piece = {"text": text[finding["start"] : finding["end"]], "kind": kind}
        pieces.append(piece | {"by_hand": finding.get("suggestion") is None})
        at = finding["end"]
    pieces.append({"text": text[at:], "kind": ""})
    return [piece for piece in pieces if piece["text"]]
