"""The rating matrix: what it accepts, what it refuses, and what it says then."""

from typing import Any

import numpy as np
import pandas as pd
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


@pytest.mark.parametrize(
    "scale", [[], [1], [1, 1], ["low", "high"], [0, float("inf")], [False, True]]
)
def test_impossible_scale_is_refused(scale: Any) -> None:
    with pytest.raises(MatrixError, match="scale"):
        RatingMatrix.from_long([], scale=scale)


@pytest.mark.parametrize("nobody", [None, True, False, float("nan"), "", pd.NA, pd.NaT, np.True_])
def test_unit_or_rater_without_a_name_is_refused(nobody: Any) -> None:
    for row, what in (((nobody, "ann", 1), "unit"), (("u1", nobody, 1), "rater")):
        with pytest.raises(MatrixError, match=f"^Row 2 .* has no {what}: give each {what} a name"):
            RatingMatrix.from_long([("u0", "ann", 1), row], scale=SCALE)
    with pytest.raises(MatrixError, match="has no cluster"):
        RatingMatrix.from_long([("u0", "ann", 1)], scale=SCALE, clusters={"u0": nobody})


@pytest.mark.parametrize("missing", [None, float("nan"), "", "  ", pd.NA, pd.NaT, np.nan])
def test_missing_is_missing_however_it_is_written(missing: Any) -> None:
    matrix = RatingMatrix.from_long([("u", "ann", 1), ("u", "bob", missing)], scale=SCALE)
    assert matrix.present.tolist() == [[True, False]]


@pytest.mark.parametrize("score", [True, np.False_, "1_0", [1], object(), 1j])
def test_score_that_only_python_would_read_is_refused(score: Any) -> None:
    with pytest.raises(MatrixError, match=r"^Row 1 \(unit u, rater ann\) has the score"):
        RatingMatrix.from_long([("u", "ann", score)], scale=[0, 1, 10])


def direct(**changes: Any) -> RatingMatrix:
    parts: dict[str, Any] = {
        "values": np.array([[0.0, 1.0], [np.nan, 3.0]]),
        "scale": (0.0, 1.0, 2.0, 3.0),
        "raters": ("ann", "bob"),
        "units": ("u1", "u2"),
        "clusters": ("d", "d"),
    }
    return RatingMatrix(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"values": np.array([[0.0, 4.0], [0, 0]])}, "unit u1 by rater bob has the score 4, which"),
        ({"values": np.array([[0.0, 0.5], [0, 0]])}, "which is not on the scale"),
        ({"values": np.array([[0.0, np.inf], [0, 0]])}, "has the score inf"),
        ({"values": np.array([["x", "y"], ["z", "z"]])}, "holds what is no number"),
        ({"values": np.zeros((2, 3))}, "shape is not units x raters"),
        ({"raters": ("ann", "ann")}, "rater ann is there twice"),
        ({"units": ("u1", "u1")}, "unit u1 is there twice"),
        ({"units": ("u1", None)}, "unit None is no text"),
        ({"raters": (1, 2)}, "rater 1 is no text"),
        ({"clusters": ("d", 3)}, "cluster 3 is no text"),
        ({"clusters": ("d",)}, "needs a cluster label"),
        ({"scale": (0.0, 1.0, 1.0, 3.0)}, "two different levels"),
        ({"scale": ()}, "two different levels"),
        ({"scale": (0.0, 1.0, float("nan"), 3.0)}, "not a finite number"),
    ],
)
def test_table_built_directly_is_checked_too(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(MatrixError, match=says):
        direct(**changes)


def test_scale_given_in_another_sequence_is_sorted_and_sums_of_levels_are_levels() -> None:
    matrix = direct(scale=(3, 1, 0.3, 0), values=np.array([[0.1 + 0.2, 1], [np.nan, 3]]))
    assert matrix.scale == (0, 0.3, 1, 3)
    assert matrix.values[0, 0] == 0.3
    assert matrix.places.tolist() == [[1, 2], [-1, 3]]


def test_part_of_a_table_is_a_table() -> None:
    part = direct().only_raters(["bob"])
    assert (part.raters, part.units, part.places.tolist()) == (("bob",), ("u1", "u2"), [[1], [3]])
    with pytest.raises(ValueError, match="read-only"):
        part.values[0, 0] = 1


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
