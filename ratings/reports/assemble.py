"""Computing a report: one JSON document that every page and file is rendered from."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from itertools import combinations
from typing import Any

from django.conf import settings

from ratings.agreement.analyse import evaluate
from ratings.agreement.comparison import (
    compare_with_model,
    condition_means,
    condition_shares,
    group_agreement,
    rater_means,
    total_matrix,
)
from ratings.agreement.contrasts import contrasts
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.results import CriterionAgreement
from ratings.gate import CriterionInput, Policy, decide
from ratings.models import Panel
from ratings.reports.against_model import human_model
from ratings.reports.beside import beside_gate
from ratings.reports.describing import (
    by_dilemma,
    controls,
    costs,
    described,
    totals_with_intervals,
    with_intervals,
)
from ratings.reports.inputs import Inputs, unsubmitted
from ratings.reports.judging import guesses, judge_figures, judge_times
from ratings.reports.matrix import build_matrix

# 2: judge_figures, condition_totals, human_model, guesses, gate_beside. 3: levels, confusions and
# specific agreement, intervals of means, dilemmas, costs, controls, points, deposits. 4: judge_times.
SCHEMA_VERSION = 4
Document = dict[str, Any]
_PACKAGES = ("numpy", "scipy", "krippendorff", "statsmodels", "django")


def assemble(
    panel: Panel,
    inputs: Inputs,
    *,
    protocol: Mapping[str, Any],
    progress: Callable[[int, int], None] | None = None,
) -> Document:
    """Compute every figure of a closed panel. Unrounded; None where there is no value."""
    draws, seed = protocol["bootstrap_draws"], protocol["bootstrap_seed"]
    matrices = {key: build_matrix(inputs, key) for key in inputs.scales}
    matrices = {key: matrix for key, matrix in matrices.items() if matrix.units}
    evaluated = evaluate(matrices, draws=draws, seed=seed, progress=progress)
    criteria = {key: _criterion(one, matrices[key], inputs) for key, one in evaluated.items()}
    native = panel.origin == Panel.Origin.NATIVE
    conditions = inputs.condition_of
    total = total_matrix(matrices) if matrices and matrices.keys() == inputs.scales.keys() else None
    pairs = _pairs(sorted(set(conditions.values())), protocol, registered=native)
    gate, beside = None, None
    if native:
        policy = Policy.from_dict(protocol["policy"])
        decision = decide(_gate_inputs(criteria, inputs, policy), policy)
        gate = decision.to_dict() | {"policy": policy.to_dict()}
        beside = beside_gate(matrices, total, decision, policy, inputs, draws=draws, seed=seed)
    return {
        "schema_version": SCHEMA_VERSION,
        "code_version": settings.VERSION,
        "software": {"python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
        "panel": _panel(panel, protocol, registered=native),
        "rubric": [{"key": key, "title": title} for key, title in inputs.titles.items()],
        "inputs_sha256": inputs.sha256(),
        "criteria": criteria,
        "groups": _groups(matrices, inputs.professions),
        "conditions": with_intervals(condition_means(matrices, conditions), matrices, conditions),
        "judges": rater_means(matrices),
        "judge_figures": judge_figures(matrices, inputs),
        "judge_times": judge_times(inputs),
        "condition_totals": totals_with_intervals(
            condition_shares(total, conditions), total, conditions
        )
        if total
        else {},
        "dilemmas": by_dilemma(total, conditions),
        "costs": costs(panel),
        "controls": controls(panel),
        "contrasts": _contrasts(
            matrices, total, conditions, pairs, protocol, registered=native, draws=draws, seed=seed
        ),
        "model_judges": _model_judges(inputs, matrices),
        "human_model": human_model(matrices, total, pairs, inputs, draws=draws, seed=seed),
        "guesses": guesses(inputs),
        "gate": gate,
        "gate_beside": beside,
        "flow": inputs.flow,
        "blinding": inputs.blinding,
    }


def _panel(panel: Panel, protocol: Mapping[str, Any], *, registered: bool) -> Document:
    freeze = getattr(panel, "freeze", None)
    return {
        "slug": panel.slug,
        "title": panel.title,
        "origin": panel.origin,
        "is_demo": panel.is_demo,
        "content_language": panel.content_language,
        "registered": registered,
        "frozen_at": freeze.at.isoformat() if freeze else None,
        "freeze_sha256": freeze.sha256 if freeze else None,
        "opened_at": panel.opened_at.isoformat() if panel.opened_at else None,
        "closed_at": panel.closed_at.isoformat() if panel.closed_at else None,
        "protocol": dict(protocol),
        "deposits": _deposits(panel),
        "earlier_rounds": _earlier_rounds(protocol),
        "rubric": f"{panel.rubric_version.rubric.code} {panel.rubric_version.number}",
    }


def _earlier_rounds(protocol: Mapping[str, Any]) -> list[Document]:
    """Return the panels that this one follows, newest first, each with its verdict."""
    found: list[Document] = []
    slug = protocol.get("previous_round") or ""
    while slug and slug not in {one["slug"] for one in found}:
        panel = Panel.objects.filter(slug=slug).select_related("protocol").first()
        if panel is None:
            break
        report = panel.reports.order_by("-number").first()
        found.append(
            {"slug": slug, "title": panel.title, "verdict": report.verdict if report else None}
        )
        slug = panel.protocol.document.get("previous_round") or ""
    return found


def _deposits(panel: Panel) -> list[Document]:
    """Return where the registration was deposited, as was said; see `services.registering`."""
    events = panel.events.filter(kind="registration_deposited").order_by("number")
    return [
        {"address": json.loads(one.payload)["address"], "at": one.at.isoformat()} for one in events
    ]


def _criterion(found: CriterionAgreement, matrix: RatingMatrix, inputs: Inputs) -> Document:
    """Return what is kept of a criterion: the agreement, and how much of it was missing."""
    entry = found.to_dict()
    for key, one in found.coefficients.items():
        entry["coefficients"][key] |= {
            "n_clusters": one.n_clusters,
            "undefined_draws": one.undefined_draws,
        }
    answers = len(inputs.by_criterion[found.name])
    return (
        entry
        | described(found, matrix)
        | {
            "title": inputs.titles[found.name],
            "varies": matrix.varies,
            "n_clusters": len(set(matrix.clusters)),
            "missing": answers - entry["n_ratings"],
            "required": answers + unsubmitted(inputs.flow),
        }
    )


def _groups(matrices: Mapping[str, RatingMatrix], professions: Mapping[str, str]) -> dict[str, Any]:
    if len(set(professions.values())) < 2:
        return {}
    return {key: group_agreement(matrix, professions) for key, matrix in matrices.items()}


def _pairs(
    labels: Sequence[str], protocol: Mapping[str, Any], *, registered: bool
) -> list[tuple[str, str]]:
    """Return the protocol's contrasts; of an imported study all there are, as exploration."""
    if not registered:
        return list(combinations(labels, 2))
    return [(a, b) for a, b in protocol["contrasts"] if a in labels and b in labels]


def _contrasts(
    matrices: Mapping[str, RatingMatrix],
    total: RatingMatrix | None,
    conditions: Mapping[str, str],
    pairs: Sequence[tuple[str, str]],
    protocol: Mapping[str, Any],
    *,
    registered: bool,
    draws: int,
    seed: int,
) -> dict[str, list[Document]]:
    """Return the contrasts of the total, if every criterion was rated, and of each criterion."""
    if not pairs or not matrices:
        return {}
    compared = ({"total": total} if total else {}) | dict(matrices)
    found: dict[str, list[Document]] = {}
    for key, matrix in compared.items():
        of_total = key == "total" and matrix is total
        rows = contrasts(
            matrix,
            conditions,
            pairs,
            draws=draws,
            seed=seed,
            maximum=matrix.scale[-1] if of_total and matrix.scale[-1] > 0 else 1.0,
            margin=protocol.get("margin") if of_total and registered else None,
        )
        # Holm is over the registered contrasts; among unregistered ones it would correct nothing.
        said = {"registered": True} if registered else {"registered": False, "p_holm": None}
        found[key] = [row.to_dict() | said for row in rows]
    return found


def _model_judges(inputs: Inputs, matrices: Mapping[str, RatingMatrix]) -> dict[str, Any]:
    by_judge: dict[str, dict[str, dict[str, list[float | None]]]] = {}
    repetitions: dict[str, set[int]] = {}
    for row in inputs.judgements:
        unit = inputs.unit(row.response, 0)
        by_judge.setdefault(row.judge, {}).setdefault(row.criterion, {}).setdefault(
            unit, []
        ).append(row.score)
        repetitions.setdefault(row.judge, set()).add(row.repetition)
    return {
        judge: {
            criterion: compare_with_model(matrices[criterion], scores).to_dict()
            | {"repetitions": len(repetitions[judge])}
            for criterion, scores in by_criterion.items()
            if criterion in matrices
        }
        for judge, by_criterion in sorted(by_judge.items())
    }


def _gate_inputs(
    criteria: Mapping[str, Document], inputs: Inputs, policy: Policy
) -> Sequence[CriterionInput]:
    found = []
    for key in inputs.scales:
        entry = criteria.get(key)
        coefficient = entry["coefficients"][policy.coefficient] if entry else {}
        found.append(
            CriterionInput(
                name=key,
                estimate=coefficient.get("estimate"),
                lower95=coefficient.get("lower95"),
                undefined=coefficient.get("undefined"),
                required=entry["required"] if entry else unsubmitted(inputs.flow),
                rated=entry["n_ratings"] if entry else 0,
                varies=entry["varies"] if entry else False,
                unsubmitted=unsubmitted(inputs.flow),
            )
        )
    return found
