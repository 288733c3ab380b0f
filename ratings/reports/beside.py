"""What stands beside the gate's verdict and never decides: fills, changes, and parts of the data."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.agreement.coefficients import COEFFICIENTS
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.turning import Measured, changes_to_turn, fills, measure
from ratings.gate import Decision, Policy, Verdict, changes_to_turn_panel, reaches
from ratings.reports.inputs import Inputs

LIMIT = 100  # changed ratings that are tried on a criterion
_MOST_MISSING = 200
_MOST_RATINGS = 20_000  # of a criterion, on which missing scores are filled in
_MOST_TURNED = 2_000  # and on which changes are tried: on 900 it takes seconds
_TOTAL = ("icc_2_1", "icc_2_k")  # ICC(A,1) and ICC(A,k) of the total

Mask = NDArray[np.bool_]


def beside_gate(
    matrices: Mapping[str, RatingMatrix],
    total: RatingMatrix | None,
    decision: Decision,
    policy: Policy,
    inputs: Inputs,
    *,
    draws: int,
    seed: int,
) -> dict[str, Any]:
    """Return what stands beside the verdict, by criterion and for the panel.

    Fills are of what judges could not judge; what nobody handed in is counted in the flow alone.
    On more than 2,000 ratings no changes are tried, and `changes_tried` is 0; on more than 20,000, or
    more than 200 missing, none are filled.
    """
    drawn = draws if policy.statistic == "lower95" else 0
    responses = inputs.rated
    decided = {one.name: one for one in decision.criteria}
    criteria: dict[str, Any] = {}
    for key, matrix in matrices.items():
        seen = _Seen(matrix, policy.coefficient, draws, seed)
        turnable = decided[key].verdict is not Verdict.UNDECIDABLE
        criteria[key] = {
            "fills": _fills(key, matrix, policy, inputs, draws=draws, seed=seed),
            "changes": _changes(matrix, policy, draws=drawn, seed=seed) if turnable else None,
            "parts": {
                name: seen.without(kept) for name, kept in _parts(matrix, responses, inputs).items()
            },
        }
    changes = {key: one["changes"] for key, one in criteria.items()}
    return {
        "criteria": criteria,
        "changes": changes_to_turn_panel(decision, changes),
        "changes_tried": LIMIT
        if all(matrix.present.sum() <= _MOST_TURNED for matrix in matrices.values())
        else 0,
        "total": {
            key: asdict(measure(total, key, draws=draws, seed=seed))
            for key in _TOTAL
            if total is not None and key in COEFFICIENTS
        },
    }


class _Seen:
    """The registered coefficient on parts of one criterion's ratings."""

    def __init__(self, matrix: RatingMatrix, key: str, draws: int, seed: int) -> None:
        self.matrix, self.key, self.draws, self.seed = matrix, key, draws, seed

    def without(self, kept: Mask) -> dict[str, Any] | None:
        """Return the figures on the ratings kept; None if that is all of them."""
        if not (self.matrix.present & ~kept).any():
            return None
        part = replace(self.matrix, values=np.where(kept, self.matrix.values, np.nan))
        found = measure(part, self.key, draws=self.draws, seed=self.seed)
        return asdict(found) | {"n_ratings": int(part.present.sum())}


def _parts(matrix: RatingMatrix, responses: Mapping[str, int], inputs: Inputs) -> dict[str, Mask]:
    """Return which ratings are kept without units of a kind, and of first-seen responses alone."""
    traces = inputs.traces
    repeated = {one.response for one in traces.repeats}
    shape = matrix.values.shape

    def but(left_out: Callable[[int], bool]) -> Mask:
        rows = np.array([not left_out(responses[unit]) for unit in matrix.units], dtype=bool)
        return np.broadcast_to(rows[:, np.newaxis], shape)

    parts = {
        "without_edited": but(traces.edited.__contains__),
        "without_flagged": but(traces.flagged.__contains__),
        "without_repeated": but(repeated.__contains__),
        "without_imperfectly_blinded": but(traces.left.__contains__),
    }
    if traces.places:
        first = {(one.judge, one.response) for one in traces.places if one.order == 1}
        parts["first_seen"] = np.array(
            [
                [(rater, responses[unit]) in first for rater in matrix.raters]
                for unit in matrix.units
            ]
        ).reshape(shape)
    return parts


def _fills(
    key: str, matrix: RatingMatrix, policy: Policy, inputs: Inputs, *, draws: int, seed: int
) -> dict[str, Any] | None:
    owed = np.zeros(matrix.values.shape, dtype=bool)
    rows = {unit: row for row, unit in enumerate(matrix.units)}
    columns = {rater: column for column, rater in enumerate(matrix.raters)}
    for score in inputs.by_criterion[key]:
        if score.score is None:
            unit = inputs.unit(score.response, score.part)
            owed[rows[unit], columns[score.judge]] = True
    if int(owed.sum()) > _MOST_MISSING or matrix.present.sum() > _MOST_RATINGS:
        return None
    found = fills(matrix, owed, policy.coefficient, draws=draws, seed=seed)

    def said(one: Measured) -> dict[str, Any]:
        return asdict(one) | {"reaches": reaches(policy, one.estimate, one.lower95)}

    return {"missing": found.missing, "best": said(found.best), "worst": said(found.worst)}


def _changes(matrix: RatingMatrix, policy: Policy, *, draws: int, seed: int) -> int | None:
    def reached(table: RatingMatrix) -> bool:
        found = measure(table, policy.coefficient, draws=draws, seed=seed)
        return reaches(policy, found.estimate, found.lower95)

    if matrix.present.sum() > _MOST_TURNED:
        return None
    return changes_to_turn(matrix, policy.coefficient, reached, limit=LIMIT)
