"""Conditions, groups of judges, and people against a model, worked out by hand."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratings.agreement.comparison import (
    compare_with_model,
    condition_means,
    condition_shares,
    group_agreement,
    rater_means,
    total_matrix,
)
from ratings.agreement.contrasts import contrasts, holm, sign_test
from ratings.agreement.matrix import MatrixError, RatingMatrix
from ratings.agreement.resampling import draw_weights

# Two conditions in three dilemmas, two judges; "bob" did not read d3's E.
SCORES = {
    ("d1", "A"): {"ann": 0, "bob": 1},
    ("d1", "E"): {"ann": 2, "bob": 2},
    ("d2", "A"): {"ann": 1, "bob": 3},
    ("d2", "E"): {"ann": 2, "bob": 2},
    ("d3", "A"): {"ann": 3, "bob": 0},
    ("d3", "E"): {"ann": 3, "bob": None},
}


def matrix_of(scores: dict[Any, dict[str, Any]] = SCORES) -> RatingMatrix:
    rows = [(d + c, rater, x) for (d, c), given_ in scores.items() for rater, x in given_.items()]
    clusters = {d + c: d for d, c in scores}
    return RatingMatrix.from_long(rows, scale=[0, 1, 2, 3], clusters=clusters)


CONDITIONS = {d + c: c for d, c in SCORES}


def test_condition_mean_is_over_responses_of_the_mean_over_judges() -> None:
    means = condition_means({"synthesis": matrix_of()}, CONDITIONS)
    assert means["A"]["synthesis"] == {
        "mean": pytest.approx((0.5 + 2 + 1.5) / 3),
        "n_units": 3,
        "n_ratings": 6,
    }
    assert means["E"]["synthesis"]["mean"] == pytest.approx((2 + 2 + 3) / 3)


def test_condition_without_a_rating_has_no_mean() -> None:
    matrix = RatingMatrix.from_long([("u", "ann", None)], scale=[0, 1])
    means = condition_means({"s": matrix}, {"u": "A"})
    assert means == {"A": {"s": {"mean": None, "n_units": 0, "n_ratings": 0}}}


def test_rater_mean() -> None:
    means = rater_means({"synthesis": matrix_of()})
    assert means["ann"]["synthesis"] == {"mean": pytest.approx(11 / 6), "n_ratings": 6}
    assert means["bob"]["synthesis"] == {"mean": pytest.approx(8 / 5), "n_ratings": 5}


def test_contrast_takes_only_judges_who_rated_both() -> None:
    (one,) = contrasts(matrix_of(), CONDITIONS, [("E", "A")], draws=1000, seed=1, maximum=3)
    # d1: (2 + 1) / 2; d2: (1 - 1) / 2, a tie; d3: ann alone, 0, a tie.
    assert one.estimate == pytest.approx(0.5 / 3)
    assert (one.n_for, one.n_against, one.n_ties, one.n_clusters) == (1, 0, 2, 3)
    assert one.p_sign == one.p_holm == 1.0
    half = 4.302652730 * 0.5 / 3
    assert one.ci95 == (pytest.approx(0.5 / 3 - half), pytest.approx(0.5 / 3 + half))
    assert one.percentile95 == (0.0, pytest.approx(0.5))
    assert one.to_dict()["ci95"] == list(one.ci95)


@pytest.mark.parametrize(
    ("margin", "by_estimate", "lower_above"),
    [(0.3, True, False), (0.31, False, False), (0.1, True, True), (None, None, None)],
)
def test_margin_gives_two_statements(margin, by_estimate, lower_above) -> None:
    # Eight dilemmas, differences of 0.2 and 0.4 in turn: mean .3, all eight for (p = .0078).
    scores = {}
    for n in range(8):
        scores |= {(f"d{n}", "A"): {"ann": 0}, (f"d{n}", "E"): {"ann": 1 + n % 2}}
    labels = {d + c: c for d, c in scores}
    (one,) = contrasts(
        matrix_of(scores), labels, [("E", "A")], draws=10, seed=1, maximum=5, margin=margin
    )
    assert one.ci95 is not None and 0.2 < one.ci95[0] < 0.3
    assert (one.margin, one.met_by_estimate, one.lower_above_margin) == (
        margin,
        by_estimate,
        lower_above,
    )


def test_margin_needs_the_test_too() -> None:
    scores = {("d1", "A"): {"ann": 0}, ("d1", "E"): {"ann": 3}}
    (one,) = contrasts(
        matrix_of(scores), {"d1A": "A", "d1E": "E"}, [("E", "A")], draws=10, seed=1, margin=0.1
    )
    assert (one.p_holm, one.met_by_estimate, one.lower_above_margin) == (1.0, False, None)


def test_draws_of_a_contrast_are_the_exact_fractions() -> None:
    scores, exact = {}, []
    for n in range(7):
        judges = {f"j{k}": (k * n) % 4 for k in range(3 if n % 2 else 2)}
        scores |= {(f"d{n}", "A"): judges, (f"d{n}", "E"): {j: (n + 1) % 4 for j in judges}}
        apart = [Fraction((n + 1) % 4 - score) for score in judges.values()]
        exact.append(sum(apart, Fraction(0)) / len(apart))
    labels = {d + c: c for d, c in scores}
    (one,) = contrasts(matrix_of(scores), labels, [("E", "A")], draws=500, seed=1)
    (weights,) = draw_weights(7, draws=500, seed=1)
    means = [
        float(sum((int(w) * x for w, x in zip(row, exact, strict=True)), Fraction(0)) / 7)
        for row in weights
    ]
    assert one.percentile95 == tuple(np.quantile(means, [0.025, 0.975]))


def test_share_of_the_total_by_condition() -> None:
    total = total_matrix({"a": matrix_of(), "b": matrix_of()})
    shares = condition_shares(total, CONDITIONS)
    assert shares["E"] == {"mean": pytest.approx((4 + 4 + 6) / 3 / 6), "n_units": 3, "n_ratings": 5}


def test_contrast_without_common_clusters_is_none() -> None:
    scores = {("d1", "A"): {"ann": 0}, ("d2", "E"): {"ann": 1}, ("d1", "E"): {"bob": 2}}
    labels = {d + c: c for d, c in scores}
    one, other = contrasts(matrix_of(scores), labels, [("E", "A"), ("E", "Z")], draws=50, seed=1)
    for found in (one, other):
        assert found.estimate is found.ci95 is found.percentile95 is found.p_holm is None
        assert (found.n_clusters, found.n_without) == (0, 2)


def test_ties_are_decided_on_fractions() -> None:
    # .1 + .2 against .3 differs in floating point and is a tie all the same.
    rows = [("a1", "r", 0.1), ("a2", "r", 0.2), ("b1", "r", 0.3), ("b2", "r", 0.0)]
    matrix = RatingMatrix.from_long(
        rows, scale=[0, 0.1, 0.2, 0.3], clusters=dict.fromkeys(["a1", "a2", "b1", "b2"], "d")
    )
    (one,) = contrasts(matrix, {u: u[0] for u in matrix.units}, [("a", "b")], draws=0, seed=1)
    assert (one.n_ties, one.estimate, one.percentile95) == (1, 0.0, None)


def test_replicates_are_averaged_within_the_judge() -> None:
    rows = [("a1", "r", 0), ("a2", "r", 3), ("b1", "r", 1), ("a1", "s", 3), ("b1", "s", 1)]
    matrix = RatingMatrix.from_long(
        rows, scale=[0, 1, 3], clusters={"a1": "d", "a2": "d", "b1": "d"}
    )
    (one,) = contrasts(matrix, {u: u[0] for u in matrix.units}, [("a", "b")], draws=0, seed=1)
    assert one.estimate == pytest.approx((0.5 + 2) / 2)


def test_unit_without_condition_is_refused() -> None:
    with pytest.raises(MatrixError, match="no condition"):
        contrasts(matrix_of(), {}, [("E", "A")], draws=0, seed=1)


def test_sign_test_of_the_benchmarks_page() -> None:
    assert sign_test(24, 3) == pytest.approx(4.9e-5, rel=0.01)
    assert sign_test(3, 24) == sign_test(24, 3)
    assert sign_test(0, 0) == 1.0


@given(st.integers(0, 40), st.integers(0, 40))
def test_sign_test_equals_its_definition(n_for: int, n_against: int) -> None:
    n = n_for + n_against
    as_uneven = [k for k in range(n + 1) if abs(2 * k - n) >= abs(n_for - n_against)]
    exact = Fraction(sum(math.comb(n, k) for k in as_uneven), 2**n)
    assert sign_test(n_for, n_against) == pytest.approx(float(min(exact, Fraction(1))))


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_holm_is_over_the_contrasts_given_together() -> None:
    scores = {(f"d{d}", c): {"ann": {"A": 0, "C": 1, "E": 2}[c]} for d in range(8) for c in "ACE"}
    labels = {d + c: c for d, c in scores}
    found = contrasts(
        matrix_of(scores), labels, [("E", "A"), ("E", "C"), ("E", "X")], draws=0, seed=1
    )
    assert [one.p_sign for one in found] == [2 / 256, 2 / 256, None]
    assert [one.p_holm for one in found] == [4 / 256, 4 / 256, None]


def test_total_needs_all_criteria() -> None:
    first = matrix_of()
    second = matrix_of({**SCORES, ("d1", "A"): {"ann": 3, "bob": None}})
    total = total_matrix({"a": first, "b": second})
    assert total.scale == (0, 1, 2, 3, 4, 5, 6)
    row = total.units.index("d1A")
    assert total.values[row, 0] == 3 and math.isnan(total.values[row, 1])
    assert total.clusters == first.clusters


def test_total_of_criteria_with_other_units_keeps_every_unit() -> None:
    some = RatingMatrix.from_long([("u1", "ann", 1), ("u2", "ann", 1)], scale=[0, 1])
    other = RatingMatrix.from_long([("u2", "bob", 1), ("u2", "ann", 0)], scale=[0, 1])
    total = total_matrix({"a": some, "b": other})
    assert (total.units, total.raters) == (("u1", "u2"), ("ann", "bob"))
    assert total.present.tolist() == [[False, False], [True, False]]
    with pytest.raises(MatrixError):
        total_matrix({})


def test_model_against_the_mean_of_the_judges() -> None:
    model = {"d1A": [1, 2], "d1E": [2], "d2A": [None], "d2E": [3.5], "other": [9]}
    found = compare_with_model(matrix_of(), model)
    # people .5, 2, 2; model 1.5, 2, 3.5
    assert found.n_units == 3
    assert found.mean_difference == pytest.approx((1 + 0 + 1.5) / 3)
    assert found.mean_absolute_error == pytest.approx(2.5 / 3)
    assert found.spearman == pytest.approx(math.sqrt(3) / 2)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ({}, "no_overlap"),
        ({"d1A": [None], "d1E": [float("nan")]}, "no_overlap"),
        ({"d1A": [2]}, "too_few_pairs"),
        ({"d1A": [2], "d1E": [2], "d2A": [2]}, "constant_rater"),
        ({"d1E": [1], "d2A": [2], "d2E": [3]}, "constant_rater"),
    ],
)
def test_rank_correlation_is_undefined_with_its_reason(
    model: dict[str, list[float | None]], reason: str
) -> None:
    found = compare_with_model(matrix_of(), model)
    assert (found.spearman, found.undefined) == (None, reason)
    assert (found.mean_difference is None) == (found.n_units == 0)


def test_agreement_within_and_between_professions() -> None:
    rows = []
    for unit, levels in enumerate(["0011", "1122", "2233", "3300"]):
        rows += [(f"u{unit}", rater, int(x)) for rater, x in zip("abcd", levels, strict=True)]
    matrix = RatingMatrix.from_long(rows, scale=[0, 1, 2, 3])
    groups = {"a": "physician", "b": "physician", "c": "philosopher", "d": "philosopher"}
    found = group_agreement(matrix, groups | {"e": "jurist"})
    for group in ("physician", "philosopher"):
        assert found["within"][group] == {"n_raters": 2, "krippendorff_alpha_ordinal": 1.0}
    # differences 1, 1, 1, 3: Do = 12/4; De over the two same margins = 2 * 1.25
    assert found["between"] == {
        "philosopher|physician": {
            "cohen_kappa_quadratic": pytest.approx(1 - 3 / 2.5),
            "n_pairs": 4,
            "n_undefined": 0,
        }
    }


def test_lone_and_silent_judges_have_no_group_agreement() -> None:
    rows = [("u1", "a", 1), ("u2", "a", 2), ("u1", "b", 1), ("u2", "b", None), ("u1", "c", None)]
    matrix = RatingMatrix.from_long(rows, scale=[1, 2])
    found = group_agreement(matrix, {"a": "x", "b": "y", "c": "y"})
    assert found["within"] == {}
    assert found["between"] == {
        "x|y": {"cohen_kappa_quadratic": None, "n_pairs": 0, "n_undefined": 1}
    }
