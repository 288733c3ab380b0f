"""The one translation: judge → rater, (response, part) → unit, score → value."""

from ratings.agreement.matrix import RatingMatrix
from ratings.reports.inputs import Inputs


def unit_of(inputs: Inputs, response: int, part: int) -> str:
    """Return the unit's label; part 0 is the whole response."""
    name = inputs.responses[response].name
    return f"{name}#{part}" if part else name


def build_matrix(inputs: Inputs, criterion: str) -> RatingMatrix:
    """Return the ratings on one criterion, clustered by dilemma (or the coarser imported cluster)."""
    rows = [row for row in inputs.scores if row.criterion == criterion]
    clusters = {
        unit_of(inputs, row.response, row.part): inputs.responses[row.response].cluster
        for row in rows
    }
    return RatingMatrix.from_long(
        ((unit_of(inputs, row.response, row.part), row.judge, row.score) for row in rows),
        scale=inputs.scales[criterion],
        clusters=clusters,
    )
