"""Differences that adjudicators resolved: a layer beside the scores, which no figure reads."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dilemmas.models import Response
from ratings.models import Batch, Decision, Panel, Rating


def standing(panel: Panel) -> Any:
    """Return the ratings that a difference is made of: the newest of each main slot's first
    occasion, of responses that were not taken out; controls are none of them."""
    return (
        Rating.objects.newest_of(panel)
        .filter(
            submission__slot__batch__phase=Batch.Phase.MAIN,
            submission__slot__occasion=1,
            submission__slot__response__kind=Response.Kind.RESPONSE,
        )
        .exclude(submission__slot__response__withdrawals__panel=panel)
    )


@dataclass
class Resolved:
    """A case with judges' scores and the newest decision of each adjudicator."""

    code: str
    dilemma: str
    condition: str
    response: int
    criterion: str
    scores: list[tuple[str, float | None]] = field(default_factory=list)
    decisions: list[tuple[str, float | None, str]] = field(default_factory=list)


def resolved(panel: Panel, responses: Sequence[int] | None = None) -> list[Resolved]:
    """Return every case, or those of some responses, in dilemma order (3 queries). Only after
    closing: the caller checks.

    Adjudicators are A1, A2, … in the order of their first decision.
    """
    cases = panel.cases.order_by("response__dilemma__code", "response", "criterion__position")
    if responses is not None:
        cases = cases.filter(response__in=responses)
    rows = {
        pk: Resolved(code, dilemma, condition, response, key)
        for pk, code, dilemma, condition, response, key in cases.values_list(
            "pk", "code", "response__dilemma__code", "response__condition__label", "response",
            "criterion__key",
        )
    }  # fmt: skip
    places = {(row.response, row.criterion): row for row in rows.values()}
    for response, key, who, score in (
        standing(panel)
        .filter(submission__slot__response__in={row.response for row in rows.values()})
        .order_by("submission__slot__judge")
        .values_list(
            "submission__slot__response", "criterion__key", "submission__slot__judge__code", "score"
        )
    ):
        if (response, key) in places:
            places[response, key].scores.append((who, score))
    names: dict[str, str] = {}
    newest: dict[tuple[int, str], tuple[str, float | None, str]] = {}
    decisions = Decision.objects.filter(case__panel=panel).order_by("id")
    for case, actor, score, reason in decisions.values_list("case", "actor", "score", "reason"):
        newest[case, actor] = (names.setdefault(actor, f"A{len(names) + 1}"), score, reason)
    for (case, _actor), decision in newest.items():
        if case in rows:
            rows[case].decisions.append(decision)
    return list(rows.values())
