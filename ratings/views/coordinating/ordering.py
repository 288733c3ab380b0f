"""The order, before it is fixed: what its balance comes to, beside what is possible."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dilemmas.models import Condition
from ratings import words
from ratings.design.balance import Measure, balance, tables
from ratings.design.extras import Place
from ratings.design.plan import Plan
from ratings.models import Panel
from ratings.permissions import panel_for
from ratings.reports.charts import lanes, range_beside
from ratings.services.ordering import plan_of
from ratings.views.requests import PersonRequest

_DRAWN = 6  # judges whose orders are drawn
_OF_SOME = ("load", "conditions", "shared")  # say something only where not all judge all
_IN_STEP = ("coincidences",)  # and this only where judges go through rounds side by side


@require_safe
def order(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    plan = plan_of(panel)
    context: dict[str, Any] = {
        "panel": panel,
        "plan": plan,
        "frozen": panel.state != Panel.State.DRAFT,
    }
    if plan.items:
        labels = dict(
            Condition.objects.filter(response_set=panel.response_set).values_list("pk", "label")
        )
        context |= _measured(plan, labels)
    return render(request, "ratings/coordinating/order.html", context)


def _measured(plan: Plan[int], labels: Mapping[int, str]) -> dict[str, Any]:
    orders, about = plan.orders(), plan.about
    shared = plan.each < plan.judges
    in_step = not shared and plan.algorithm != "grouped-1"
    hidden = (*(() if shared else _OF_SOME), *(() if in_step else _IN_STEP))
    found = vars(balance(orders, about)).items()
    rounds, followers = tables(orders[0], about)
    conditions = sorted(rounds)
    drawn = [plan.places(judge, seat) for judge, seat in enumerate(plan.seats()[:_DRAWN])]
    cells = len({(dilemma, condition) for dilemma, condition in about.values()})
    dilemmas = len({dilemma for dilemma, _condition in about.values()})
    return {
        "dilemmas": dilemmas,
        "conditions": [labels[one] for one in conditions],
        "incomplete": cells < dilemmas * len(conditions),
        "rows": [_row(name, one) for name, one in found if one is not None and name not in hidden],
        "rounds": [(labels[one], rounds[one]) for one in conditions],
        "followers": [(labels[one], followers[one]) for one in conditions],
        "numbers": range(1, max(map(len, rounds.values())) + 1),
        "orders": [_drawn(n, places, plan, labels) for n, places in enumerate(drawn, start=1)],
        "repeated": min(sum(place.occasion == 2 for place in places) for places in drawn),
    }


def _row(name: str, measure: Measure) -> dict[str, Any]:
    label = str(words.BALANCE[name])
    reached = _span(measure.low, measure.high)
    best = _span(measure.best_low, measure.best_high)
    description = _("Reached: %(reached)s. Best possible: %(best)s.") % {
        "reached": reached,
        "best": best,
    }
    picture = range_beside(
        low=measure.low,
        high=measure.high,
        best_low=measure.best_low,
        best_high=measure.best_high,
        title=label,
        description=description,
    )
    return {"label": label, "reached": reached, "best": best, "picture": _safe(picture)}


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _drawn(
    number: int, places: list[Place[int]], plan: Plan[int], labels: Mapping[int, str]
) -> dict[str, Any]:
    conditions = sorted({condition for _dilemma, condition in plan.about.values()})
    lane = {condition: place for place, condition in enumerate(conditions)}
    dilemmas = {plan.about[place.key][0] for place in places if place.key in plan.about}
    marks = [
        (lane[plan.about[place.key][1]] if place.key in plan.about else None, place.occasion > 1)
        for place in places
    ]
    title = _("Judge %(number)s") % {"number": number}
    picture = lanes(
        [labels[condition] for condition in conditions],
        marks,
        every=len(dilemmas) if len(marks) == len(dilemmas) * len(conditions) else 0,
        title=title,
        description=_(
            "From left to right the responses as served, each in the lane of its condition."
        ),
    )
    return {"title": title, "picture": _safe(picture)}


def _safe(picture: str) -> SafeString:
    return mark_safe(picture)  # noqa: S308 (made of numbers and escaped texts)
