"""The report's part on each judge, and on what judges took responses for."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ratings.agreement.alternative_annotator import row_means
from ratings.agreement.blinding_indices import Guess, blinding
from ratings.agreement.judges import (
    Repeat,
    Served,
    self_agreement,
    severity,
    trends,
    use_of_levels,
)
from ratings.agreement.length import length_association
from ratings.agreement.matrix import RatingMatrix
from ratings.reports.inputs import Inputs


def judge_figures(matrices: Mapping[str, RatingMatrix], inputs: Inputs) -> dict[str, Any]:
    """Return by criterion: severity, use of levels, drift and order, repeats, reward of length."""
    return {
        key: {
            "severity": {rater: one.to_dict() for rater, one in severity(matrix).items()},
            "levels": use_of_levels(matrix),
            "trends": _trends(key, inputs),
            "repeats": _repeats(key, inputs),
            "length": _length(matrix, inputs),
        }
        for key, matrix in matrices.items()
    }


def judge_times(inputs: Inputs) -> dict[str, Any]:
    """Return each judge's minutes of work, of all and of the median response; pauses are left out."""
    by_judge: dict[str, list[float]] = {}
    for one in inputs.traces.times:
        by_judge.setdefault(one.judge, []).append(one.active_ms / 60_000)
    return {
        judge: {
            "n": len(minutes),
            "total_minutes": float(np.sum(minutes)),
            "median_minutes": float(np.median(minutes)),
        }
        for judge, minutes in sorted(by_judge.items())
    }


def guesses(inputs: Inputs) -> dict[str, Any] | None:
    """Return the blinding indices over all guesses, and without those from quality; None if nobody
    was asked."""
    asked = [
        Guess(inputs.responses[one.response].condition, one.guessed, one.why)
        for one in inputs.traces.guesses
    ]
    if not asked:
        return None
    # Of controls nothing is guessed: their conditions are no answer.
    judged = set(inputs.condition_of.values())
    conditions = sorted(judged | {one.condition for one in asked})
    leaks = [one.leak_only() for one in asked]
    return {
        "all": blinding(asked, conditions).to_dict(),
        "leaks": blinding(leaks, conditions).to_dict(),
        "n_judges": len({one.judge for one in inputs.traces.guesses}),
    }


def words_of(matrix: RatingMatrix, inputs: Inputs) -> np.ndarray:
    """Return the words of each unit's text; NaN where they are not known, or a part is judged."""
    by_unit = {
        inputs.unit(response, 0): float(words) for response, words in inputs.traces.words.items()
    }
    return np.array([by_unit.get(unit, np.nan) for unit in matrix.units])


def conditions_of(matrix: RatingMatrix, inputs: Inputs) -> list[str]:
    """Return each unit's condition."""
    return [inputs.condition_of[unit] for unit in matrix.units]


def _trends(criterion: str, inputs: Inputs) -> dict[str, Any]:
    """Return the trends by judge and, under "", of all; nothing where no order is known."""
    places = {(one.judge, one.response): one for one in inputs.traces.places}
    rows = []
    for row in inputs.by_criterion[criterion]:
        place = places.get((row.judge, row.response))
        if row.score is not None and place is not None:
            info = inputs.responses[row.response]
            rows.append(
                Served(
                    row.judge, info.cluster, info.condition, row.score, place.position, place.order
                )
            )
    return {rater: one.to_dict() for rater, one in trends(rows).items()} if rows else {}


def _repeats(criterion: str, inputs: Inputs) -> dict[str, Any]:
    if not inputs.traces.repeats:
        return {}
    first = {
        (row.judge, row.response, row.part): row.score for row in inputs.by_criterion[criterion]
    }
    rows = [
        Repeat(
            one.judge,
            inputs.unit(one.response, one.part),
            inputs.responses[one.response].cluster,
            first.get((one.judge, one.response, one.part)),
            one.score,
        )
        for one in inputs.traces.repeats
        if one.criterion == criterion
    ]
    found = self_agreement(rows, scale=inputs.scales[criterion])
    return {rater: one.to_dict() for rater, one in found.items()}


def _length(matrix: RatingMatrix, inputs: Inputs) -> dict[str, Any]:
    words, labels = words_of(matrix, inputs), conditions_of(matrix, inputs)

    def associated(scores: np.ndarray) -> dict[str, Any]:
        return length_association(scores, words, labels, matrix.clusters).to_dict()

    return {
        "panel": associated(row_means(matrix.values)),
        "judges": {
            rater: associated(matrix.values[:, column])
            for column, rater in enumerate(matrix.raters)
        },
    }
