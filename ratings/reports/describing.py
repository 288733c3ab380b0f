"""The report's descriptive parts: confusions, levels, condition means with intervals, costs, controls."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Avg, Count, Exists, OuterRef

from dilemmas.models import ModelJudgement, Response
from ratings.agreement.describe import (
    cluster_means,
    condition_intervals,
    confusions,
    level_shares,
)
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.results import CriterionAgreement
from ratings.models import Panel, Rating, Slot


def described(found: CriterionAgreement, matrix: RatingMatrix) -> dict[str, Any]:
    """Return what stands beside a criterion's coefficients: levels, confusions, specific agreement."""
    shares = level_shares(matrix)
    return {
        "levels": [
            {"level": level, "share": share}
            for level, share in zip(matrix.scale, shares, strict=False)
        ],
        "confusions": confusions(matrix),
        "specific": [
            {"level": level} | one.to_dict() for level, one in sorted(found.specific.items())
        ],
    }


def with_intervals(
    table: dict[Any, dict[str, dict[str, Any]]],
    matrices: Mapping[str, RatingMatrix],
    conditions: Mapping[str, str],
) -> dict[Any, dict[str, dict[str, Any]]]:
    """Return means by condition with the interval of each."""
    by = {key: condition_intervals(matrix, conditions) for key, matrix in matrices.items()}
    return {
        condition: {
            key: one | {"ci95": by[key].get(condition)} for key, one in by_criterion.items()
        }
        for condition, by_criterion in table.items()
    }


def totals_with_intervals(
    table: dict[Any, dict[str, Any]], total: RatingMatrix, conditions: Mapping[str, str]
) -> dict[Any, dict[str, Any]]:
    """Return shares of the maximum by condition with the interval of each."""
    maximum = total.scale[-1]
    if maximum <= 0:
        return {condition: one | {"ci95": None} for condition, one in table.items()}
    by = condition_intervals(total, conditions, maximum=maximum)
    return {condition: one | {"ci95": by.get(condition)} for condition, one in table.items()}


def by_dilemma(
    total: RatingMatrix | None, conditions: Mapping[str, str]
) -> dict[str, dict[Any, float]]:
    """Return each dilemma's share of the maximum by condition; {} without a total."""
    if total is None or total.scale[-1] <= 0:
        return {}
    return cluster_means(total, conditions, maximum=total.scale[-1])


def costs(panel: Panel) -> dict[str, dict[str, Any]]:
    """Return by condition the mean cost and latency that were imported; only where there is any."""
    kept = Response.objects.kept()  # type: ignore[attr-defined]
    rows = (
        kept.filter(response_set=panel.response_set_id, kind=Response.Kind.RESPONSE)
        .values("condition__label")
        .annotate(
            n_cost=Count("cost"), n_latency=Count("latency_s"),
            cost=Avg("cost"), latency_s=Avg("latency_s"),
        )
        .order_by("condition__label")
    )  # fmt: skip
    return {
        row["condition__label"]: {
            key: row[key] for key in ("cost", "n_cost", "latency_s", "n_latency")
        }
        for row in rows
        if row["n_cost"] or row["n_latency"]
    }


def controls(panel: Panel) -> list[dict[str, Any]]:
    """Return each control response's mean by criterion: people's, and each model judge's.

    Controls enter no agreement and no contrast. `people` and `models` hold {criterion: {"mean",
    "n"}} and {judge: {criterion: {"mean", "n"}}}.
    """
    served = Slot.objects.filter(judge__panel=panel, response=OuterRef("pk"))
    found = list(
        Response.objects.filter(Exists(served), kind=Response.Kind.CONTROL)
        .order_by("pk")
        .values_list("pk", "dilemma__code", "condition__label", "external_id")
    )
    if not found:
        return []
    people = (
        Rating.objects.newest_of(panel)
        .filter(submission__slot__response__kind=Response.Kind.CONTROL)
        .filter(score__isnull=False)
        .values("submission__slot__response", "criterion__key")
        .annotate(mean=Avg("score"), n=Count("pk"))
        .order_by()
    )
    models = (
        ModelJudgement.objects.filter(response__in=[pk for pk, *_ in found], score__isnull=False)
        .values("response", "judge", "criterion")
        .annotate(mean=Avg("score"), n=Count("pk"))
        .order_by()
    )
    rows: dict[int, dict[str, Any]] = {
        pk: {"dilemma": dilemma, "condition": label, "id": external, "people": {}, "models": {}}
        for pk, dilemma, label, external in found
    }
    for one in people:
        rows[one["submission__slot__response"]]["people"][one["criterion__key"]] = {
            "mean": one["mean"], "n": one["n"],
        }  # fmt: skip
    for judged in models:
        by_judge = rows[judged["response"]]["models"].setdefault(judged["judge"], {})
        by_judge[judged["criterion"]] = {"mean": judged["mean"], "n": judged["n"]}
    return list(rows.values())
