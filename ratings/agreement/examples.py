"""Published tables, for the examples in docstrings and for the tests. One string per rater."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.sums import sum_table
from ratings.agreement.weighted import Estimates, Weighted, everything

# "." is missing, "X" is 10. The scale is given beside the raters.
TABLES = MappingProxyType(
    {
        # Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, example C: 12 units.
        "krippendorff2011": (
            (1, 2, 3, 4, 5),
            ("123321412...", "1233224125.3", ".3332342251.", "12332441251."),
        ),
        # Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., 12 subjects.
        "gwet_raw4raters": (
            (1, 2, 3, 4, 5),
            ("123321412...", "1233224125..", ".33323422513", "12332441251."),
        ),
        # Shrout & Fleiss 1979, Psychol. Bull. 86, 420-428, table 2: six targets, four judges.
        "shrout_fleiss1979": (
            (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
            ("9687X6", "214152", "536264", "828697"),
        ),
    }
)


def example(name: str) -> RatingMatrix:
    """Return a published table; each unit is its own cluster."""
    scale, raters = TABLES[name]
    rows = [
        (f"{unit:02}", f"r{rater}", None if mark == "." else int(mark.replace("X", "10")))
        for rater, marks in enumerate(raters)
        for unit, mark in enumerate(marks)
    ]
    return RatingMatrix.from_long(rows, scale=scale)


def evaluated(
    name: str, function: Callable[..., Estimates], *arguments: Any, digits: int = 4
) -> float:
    """Return a coefficient of a published table, rounded as it was printed."""
    matrix = example(name)
    found = function(Weighted.of(sum_table(matrix, matrix.units), everything), *arguments)
    return round(float(found.values[0]), digits)
