"""The one translation: judge → rater, (response, part) → unit, score → value."""

from ratings.agreement.matrix import RatingMatrix
from ratings.reports.inputs import Inputs


def build_matrix(inputs: Inputs, criterion: str) -> RatingMatrix:
    """Return the ratings on one criterion, clustered by dilemma (or the coarser imported cluster)."""
    rows = [
        (inputs.unit(row.response, row.part), row.judge, row.score)
        for row in inputs.by_criterion[criterion]
    ]
    units = {unit for unit, _judge, _score in rows}
    return RatingMatrix.from_long(
        rows,
        scale=inputs.scales[criterion],
        clusters={unit: inputs.responses[inputs.rated[unit]].cluster for unit in units},
    )
