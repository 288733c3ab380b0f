"""What judges will read: every response, what was found in it, and the persons' decisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Case, Count, Max, Q, When
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from awb_panel.accounts.models import User
from dilemmas.models import Blinding
from dilemmas.models.responses import BlindingQuerySet
from dilemmas.services import blinding as blinding_service
from dilemmas.services.blinding import BlindingRefused, StillTells
from dilemmas.telling import METHOD
from ratings import words
from ratings.models import Panel
from ratings.models.people import Role
from ratings.permissions import panel_for
from ratings.reports.blinding import still_tells
from ratings.reports.render import telling_view
from ratings.views.coordinating.marking import SHOWN, in_sentences, kind_of, side_by_side
from ratings.views.requests import PersonRequest, page_of

_PAGE = 100  # texts in the list
_ORDER = (
    "version__response__dilemma__code",
    "version__response__condition__label",
    "version__response",
)
_HISTORY = 10  # decisions on one text that a page shows


@dataclass(frozen=True)
class _Reviewer:
    """Who looks, and by which rule: what waits for one coordinator may not wait for another."""

    me: str
    two_persons: bool

    def waits(self, row: Blinding) -> bool:
        return row.state == Blinding.State.HELD or self.may_confirm(row)

    def may_confirm(self, row: Blinding) -> bool:
        return self.unconfirmed(row) and row.actor != self.me

    def waiting_first(self, rows: BlindingQuerySet) -> BlindingQuerySet:
        """Those that this person can decide on or confirm, those that wait for another, the rest."""
        held = When(state=Blinding.State.HELD, then=0)
        whens = [held]
        if self.two_persons:
            open_ = Q(state__in=Blinding.BY_A_PERSON, confirmation=None)
            whens += [When(open_ & ~Q(actor=self.me), then=0), When(open_, then=1)]
        return rows.annotate(turn=Case(*whens, default=2)).order_by("turn", *_ORDER)

    def unconfirmed(self, row: Blinding) -> bool:
        decided = row.state in Blinding.BY_A_PERSON
        return self.two_persons and decided and not hasattr(row, "confirmation")


def _reviewer(request: PersonRequest, panel: Panel) -> _Reviewer:
    rule = panel.protocol.document.get("two_person_blinding", False)
    return _Reviewer(request.user.opaque_id, bool(rule))


def _newest(panel: Panel) -> BlindingQuerySet:
    """The blinding that counts of each response, in an order that a decision does not change."""
    newest: BlindingQuerySet = Blinding.objects.newest_in(panel.response_set)  # type: ignore[attr-defined]
    return newest.select_related(
        "version__response__dilemma", "version__response__condition", "confirmation"
    ).order_by(*_ORDER)


@require_safe
def blinding(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    reviewer, names = _reviewer(request, panel), _names(panel)
    newest = _newest(panel)
    states = {
        state: (n, last)
        for state, n, last in newest.order_by()
        .values_list("state")
        .annotate(n=Count("pk"), last=Max("pk"))
    }
    counts = {state: n for state, (n, _last) in states.items()}
    total, last = sum(counts.values()), max((last for _n, last in states.values()), default=None)
    page = page_of(request, reviewer.waiting_first(newest), _PAGE, total)
    rows: list[dict[str, Any]] = [
        {
            "row": row,
            "state": words.BLINDING[row.state],
            "by_hand": sum(finding.get("suggestion") is None for finding in row.findings),
            "who": names.get(row.actor, row.actor[:8]),
            "unconfirmed": reviewer.unconfirmed(row),
        }
        for row in page.object_list
    ]
    context = {
        "panel": panel,
        "rows": rows,
        "page": page,
        "held": counts.get(Blinding.State.HELD, 0),
        "counts": [
            (word, counts[state]) for state, word in words.BLINDING.items() if counts.get(state)
        ],
        "two_persons": reviewer.two_persons,
        "unconfirmed": newest.unconfirmed().count() if reviewer.two_persons else 0,
        "telling": telling_view(_still_tells(panel, total, last)),
        "markdown": words.MARKDOWN[panel.display],
    }
    return render(request, "ratings/coordinating/blinding.html", context)


def _names(panel: Panel) -> dict[str, str]:
    """Return who the panel's coordinators are, by opaque id; others stay opaque."""
    people = User.objects.filter(memberships__panel=panel, memberships__role=Role.COORDINATOR)
    return {"": _("the program")} | dict(people.values_list("opaque_id", "email"))


def _still_tells(panel: Panel, texts: int, newest: int | None) -> dict[str, Any]:
    """Measure what still tells, once for each state of the texts: they only ever grow in number."""
    rows = _newest(panel)
    key = f"telling-{METHOD}-{panel.pk}-{panel.display}-{texts}-{newest}"
    found: dict[str, Any] | None = cache.get(key)
    if found is None:
        found = still_tells(panel, rows)
        cache.set(key, found, timeout=7 * 24 * 3600)
    return found


@require_http_methods(["GET", "HEAD", "POST"])
def blind_one(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """One text: what was found, what judges will read, and the decision."""
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
    texts = dict(row.parts.values_list("number", "text"))
    context: dict[str, Any] = {"left": [], "problem": "", "reason": row.reason}
    reviewer = _reviewer(request, panel)
    if request.method == "POST":
        if any(f"text-{n}" in request.POST for n in raw):
            texts = {n: request.POST.get(f"text-{n}", "").replace("\r\n", "\n") for n in raw}
        context["reason"] = request.POST.get("reason", "")
        try:
            if _decide(request.POST, asked, row, raw, texts, actor=reviewer.me):
                return redirect(_next_waiting(panel, rows, row.version_id, reviewer))
        except BlindingRefused as refused:
            context["problem"] = str(refused)
            if isinstance(refused, StillTells):
                context["left"] = [_in_words(vars(finding)) for _part, finding in refused.findings]
    names = _names(panel)
    context |= _place_among(rows, row)
    context |= {
        "panel": panel,
        "row": row,
        "state": words.BLINDING[row.state],
        "who": names.get(row.actor, row.actor[:8]),
        "parts": [
            _part(n, raw[n], texts.get(n, ""), row, level=2 if len(raw) == 1 else 3)
            for n in sorted(raw)
        ],
        "by_hand": [_in_words(f) for f in row.findings if f.get("suggestion") is None],
        "more_findings": max(0, len(row.findings) - SHOWN),
        "history": _history(row, raw, names),
        "may_confirm": reviewer.may_confirm(row),
        "unconfirmed": reviewer.unconfirmed(row),
        "sealed": row.sealed_at is not None,
    }
    status = 422 if context["problem"] else 200
    return render(request, "ratings/coordinating/blind_one.html", context, status=status)


def _decide(
    data: QueryDict,
    asked: Blinding,
    row: Blinding,
    raw: Mapping[int, str],
    texts: Mapping[int, str],
    *,
    actor: str,
) -> bool:
    """Do what the button says; return whether anything was decided."""
    decision = data.get("decision")
    by: dict[str, Any] = {"actor": actor, "at": timezone.now()}
    if decision == "look":
        return False
    if decision == "hold":
        blinding_service.hold_back(blinding_=row, reason=data.get("reason", ""), **by)
    elif decision == "confirm":
        blinding_service.confirm_blinding(blinding_=asked, **by)
    else:
        accepted = decision == "accept"
        blinding_service.decide_blinding(
            blinding_=row,
            texts=raw if accepted else texts,
            knowing=accepted or "knowing" in data,
            **by,
        )
    return True


def _next_waiting(panel: Panel, rows: BlindingQuerySet, version: int, reviewer: _Reviewer) -> str:
    """Return where the next text is that waits, after this one and then from the start; or the list."""
    every = list(rows.all())
    here = next(at for at, row in enumerate(every) if row.version_id == version)
    for row in every[here + 1 :] + every[:here]:
        if reviewer.waits(row):
            return reverse("blind_one", args=[panel.slug, row.pk]) + "#text"
    return reverse("blinding", args=[panel.slug])


def _part(number: int, raw: str, text: str, row: Blinding, *, level: int) -> dict[str, Any]:
    before, after = side_by_side(raw, text, number, row.findings)
    return {
        "number": number,
        "level": level,
        "before": before,
        "after": after,
        "text": text,
        "findings": in_sentences(raw, number, row.findings),
    }


def _history(
    row: Blinding, raw: Mapping[int, str], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the newest decisions on the version, each with what it changed, newest first."""
    found = Blinding.objects.filter(version=row.version_id).order_by("-number")
    decisions = list(found.select_related("confirmation").prefetch_related("parts")[:_HISTORY])
    shown = []
    for one, before in zip(decisions, [*decisions[1:], None], strict=True):
        texts = {part.number: part.text for part in one.parts.all()}
        was = {part.number: part.text for part in before.parts.all()} if before else dict(raw)
        sides = [side_by_side(was.get(n, ""), texts[n], n, []) for n in sorted(texts)]
        confirmation = getattr(one, "confirmation", None)
        shown.append(
            {
                "one": one,
                "state": words.BLINDING[one.state],
                "who": names.get(one.actor, one.actor[:8]),
                "confirmed": confirmation,
                "confirmed_by": names.get(confirmation.actor, confirmation.actor[:8])
                if confirmation
                else "",
                "sides": [{"before": a, "after": b} for a, b in sides if was != texts],
            }
        )
    return shown


def _in_words(finding: dict[str, Any]) -> dict[str, Any]:
    return {"text": finding["text"].strip(), "kind": kind_of(finding)}


def _place_among(rows: BlindingQuerySet, row: Blinding) -> dict[str, Any]:
    keys = list(rows.values_list("pk", flat=True))
    at = keys.index(row.pk)
    return {
        "position": at + 1,
        "total": len(keys),
        "previous": keys[at - 1] if at else None,
        "following": keys[at + 1] if at + 1 < len(keys) else None,
    }
