"""The report's part on people against each model judge."""

from collections.abc import Mapping, Sequence
from typing import Any

from ratings.agreement.affinity import affinities, model_totals
from ratings.agreement.alternative_annotator import EPSILON_EXPERTS, alternative_annotator
from ratings.agreement.describe import points
from ratings.agreement.length import length_association
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.model_comparison import ModelScores, human_against_model
from ratings.reports.inputs import Inputs
from ratings.reports.judging import conditions_of, words_of

Repetitions = dict[int, dict[str, float | None]]  # repetition → unit → score


def human_model(
    matrices: Mapping[str, RatingMatrix],
    total: RatingMatrix | None,
    pairs: Sequence[tuple[str, str]],
    inputs: Inputs,
    *,
    draws: int,
    seed: int,
) -> dict[str, Any]:
    """Return by model judge everything under "Human against model" of the statistics.

    `total` is the judges' totals, if every criterion was rated; `pairs` are the contrasts whose
    affinity is asked. Only judgements of the text that judges read are in `inputs.judgements`.
    """
    found = {}
    for judge, scores in _by_judge(inputs).items():
        known = {key: scores[key] for key in matrices if key in scores}
        numbers = sorted({number for by in known.values() for number in by})
        every = {key: {n: by.get(n, {}) for n in numbers} for key, by in known.items()}
        arranged = {key: ModelScores.of(matrices[key], by) for key, by in every.items()}
        found[judge] = {
            "text": inputs.texts_judged.get(judge),
            "repetitions": len(numbers),
            "criteria": {
                key: human_against_model(matrices[key], one, draws=draws, seed=seed).to_dict()
                | {"points": _points(matrices[key], every[key])}
                for key, one in arranged.items()
            },
            "length": {
                key: length_association(
                    one.means,
                    words_of(matrices[key], inputs),
                    conditions_of(matrices[key], inputs),
                    matrices[key].clusters,
                ).to_dict()
                for key, one in arranged.items()
            },
            "alternative_annotator": _annotator(matrices, arranged, inputs, seed=seed),
            "affinity": _affinity(total, every, matrices, pairs, inputs, draws=draws, seed=seed),
        }
    return found


def _points(matrix: RatingMatrix, repetitions: Repetitions) -> list[tuple[float, float]]:
    by_unit: dict[str, list[float | None]] = {}
    for scores in repetitions.values():
        for unit, score in scores.items():
            by_unit.setdefault(unit, []).append(score)
    return points(matrix, by_unit)


def _by_judge(inputs: Inputs) -> dict[str, dict[str, Repetitions]]:
    found: dict[str, dict[str, Repetitions]] = {}
    for row in inputs.judgements:
        by_repetition = found.setdefault(row.judge, {}).setdefault(row.criterion, {})
        unit = inputs.unit(row.response, 0)
        by_repetition.setdefault(row.repetition, {})[unit] = row.score
    return dict(sorted(found.items()))


def _annotator(
    matrices: Mapping[str, RatingMatrix],
    arranged: Mapping[str, ModelScores],
    inputs: Inputs,
    *,
    seed: int,
) -> dict[str, Any]:
    """Return the alternative-annotator test over responses, and over means of dilemmas."""
    if not arranged:
        return {}
    judged = {key: matrices[key] for key in arranged}
    document: dict[str, Any] = {"epsilon": EPSILON_EXPERTS, "alignment": "neg_rmse"}
    for over in ("units", "clusters"):
        document[over] = alternative_annotator(
            judged,
            {key: one.values for key, one in arranged.items()},
            {key: conditions_of(matrix, inputs) for key, matrix in judged.items()},
            alignment="neg_rmse",
            epsilon=EPSILON_EXPERTS,
            over=over,
            seed=seed,
        ).to_dict()
    return document


def _affinity(
    total: RatingMatrix | None,
    repetitions: Mapping[str, Repetitions],
    matrices: Mapping[str, RatingMatrix],
    pairs: Sequence[tuple[str, str]],
    inputs: Inputs,
    *,
    draws: int,
    seed: int,
) -> list[dict[str, Any]]:
    if total is None or total.scale[-1] <= 0 or repetitions.keys() != matrices.keys():
        return []
    labels = dict(zip(total.units, conditions_of(total, inputs), strict=True))
    found = affinities(
        total,
        model_totals(total, repetitions),
        labels,
        pairs,
        maximum=total.scale[-1],
        draws=draws,
        seed=seed,
    )
    return [one.to_dict() for one in found]
