"""The rating matrix: what it accepts, what it refuses, and what it says then."""

from typing import Any

import numpy as np
import pytest

from ratings.agreement.matrix import MatrixError, RatingMatrix

SCALE = [0, 1, 2, 3]


def test_sequence_of_rows_is_no_matter() -> None:
    rows = [("u2", "bob", 1), ("u1", "ann", 0), ("u2", "ann", None)]
    matrix = RatingMatrix.from_long(rows, scale=SCALE, clusters={"u1": "d", "u2": "e"})
    assert (matrix.units, matrix.raters, matrix.clusters) == (
        ("u1", "u2"),
        ("ann", "bob"),
        ("d", "e"),
    )
    np.testing.assert_array_equal(matrix.values, [[0, np.nan], [np.nan, 1]])


def test_numbers_written_as_text_and_empty_fields_are_read() -> None:
    matrix = RatingMatrix.from_long(
        [("u", "ann", "2"), ("u", "bob", ""), ("u", "cy", float("nan"))],  # type: ignore[list-item]
        scale=["3", "1", "2"],  # type: ignore[list-item]
    )
    assert matrix.scale == (1, 2, 3)
    assert matrix.present.tolist() == [[True, False, False]]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("u1", "ann", 4), "not on the scale (0, 1, 2, 3): correct it"),
        (("u1", "ann", -1), "not on the scale"),
        (("u1", "ann", 99), "leave it empty if it is missing"),
        (("u1", "ann", "high"), "give levels as numbers"),
        (("u0", "ann", 1), "a second time: remove one"),
        (("u9", "ann", 1), "without a cluster"),
    ],
)
def test_bad_row_is_named_with_its_remedy(row: Any, says: str) -> None:
    rows = [("u0", "ann", 1), row]
    with pytest.raises(MatrixError) as refused:
        RatingMatrix.from_long(rows, scale=SCALE, clusters={"u0": "d", "u1": "d"})
    assert str(refused.value).startswith(f"Row 2 (unit {row[0]}, rater ann)")
    assert says in str(refused.value)


@pytest.mark.parametrize("scale", [[], [1], [1, 1], ["low", "high"], [0, float("inf")]])
def test_impossible_scale_is_refused(scale: Any) -> None:
    with pytest.raises(MatrixError, match="scale"):
        RatingMatrix.from_long([], scale=scale)


def test_values_are_read_only_and_not_the_callers() -> None:
    values = np.array([[0.0, 1.0]])
    matrix = RatingMatrix(values, (0.0, 1.0), ("a", "b"), ("u",), ("u",))
    values[0, 0] = 1
    assert matrix.values[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        matrix.values[0, 0] = 1


def test_shapes_must_agree() -> None:
    with pytest.raises(MatrixError):
        RatingMatrix(np.zeros((1, 2)), (0.0, 1.0), ("a",), ("u",), ("u",))
    with pytest.raises(MatrixError):
        RatingMatrix(np.zeros((1, 1)), (0.0, 1.0), ("a",), ("u",), ())


def test_raters_can_be_left_out() -> None:
    rows = [("u", rater, level) for level, rater in enumerate(["ann", "bob", "cy"])]
    matrix = RatingMatrix.from_long(rows, scale=SCALE)
    assert matrix.without_rater("bob").values.tolist() == [[0, 2]]
    assert matrix.only_raters(["cy", "bob"]).raters == ("bob", "cy")
    with pytest.raises(KeyError):
        matrix.without_rater("dee")
    with pytest.raises(KeyError):
        matrix.only_raters(["dee"])


def test_varies() -> None:
    assert RatingMatrix.from_long([("u", "a", 1), ("v", "a", 2)], scale=SCALE).varies
    assert not RatingMatrix.from_long([("u", "a", 1), ("v", "a", 1)], scale=SCALE).varies
    assert not RatingMatrix.from_long([("u", "a", None)], scale=SCALE).varies
