"""Judges: severity, levels, repeats and trends, against hand work and statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from ratings.agreement.clustered import mean_of, one_way, slope
from ratings.agreement.judges import (
    Repeat,
    Served,
    self_agreement,
    severity,
    trends,
    use_of_levels,
)
from ratings.agreement.matrix import MatrixError, RatingMatrix

SCALE = [0, 1, 2, 3]


def matrix_of(table, clusters=None) -> RatingMatrix:
    rows = [
        (f"u{u}", f"r{r}", score)
        for u, scores in enumerate(table)
        for r, score in enumerate(scores)
    ]
    labels = None if clusters is None else {f"u{u}": c for u, c in enumerate(clusters)}
    return RatingMatrix.from_long(rows, scale=SCALE, clusters=labels)


def test_severity_is_the_mean_deviation_from_the_others_on_common_units():
    found = severity(matrix_of([[3, 1, 2], [2, None, 0], [None, 3, None]], ["a", "b", "b"]))
    assert found["r0"].estimate == pytest.approx((1.5 + 2) / 2)
    assert found["r1"].estimate == pytest.approx(-1.5), "u2 has nobody to compare with"
    assert found["r2"].estimate == pytest.approx((0 - 2) / 2)
    assert (found["r0"].n, found["r0"].n_clusters) == (2, 2)
    # Two clusters of one value each: the usual t(1) interval of a mean.
    assert found["r0"].ci95 == pytest.approx((1.75 - 12.7062047 * 0.25, 1.75 + 12.7062047 * 0.25))


def test_severity_without_a_common_unit_is_undefined():
    found = severity(matrix_of([[1, None], [None, 2]]))
    assert {one.undefined for one in found.values()} == {"no_overlap"}
    assert found["r0"].to_dict() == {
        "estimate": None, "undefined": "no_overlap", "ci95": None, "n": 0, "n_clusters": 0,
    }  # fmt: skip


def test_severity_in_one_cluster_has_no_interval():
    assert severity(matrix_of([[1, 2], [2, 2]], ["a", "a"]))["r0"].ci95 is None


def test_interval_of_a_mean_over_equal_clusters_is_that_of_their_means():
    values, labels = np.array([1.0, 2.0, 5.0, 6.0, 0.0, 1.0]), list("aabbcc")
    means = np.array([1.5, 5.5, 0.5])
    half = 4.30265273 * means.std(ddof=1) / 3**0.5
    found = mean_of(values, labels)
    assert found.estimate == pytest.approx(2.5)
    assert found.ci95 == pytest.approx((2.5 - half, 2.5 + half))


def test_every_declared_level_is_counted():
    table = use_of_levels(matrix_of([[3, 1], [3, None], [0, None]]))
    assert [one["n"] for one in table["r0"]] == [1, 0, 0, 2]
    assert [one["share"] for one in table["r1"]] == [0, 1, 0, 0]
    empty = use_of_levels(matrix_of([[3, None]]))["r1"]
    assert [(one["n"], one["share"]) for one in empty] == [(0, None)] * 4


def repeats(pairs) -> list[Repeat]:
    return [Repeat("r0", f"u{n}", f"d{n}", *pair) for n, pair in enumerate(pairs)]


def test_self_agreement_counts_what_has_two_scores():
    found = self_agreement(repeats([(0, 0), (1, 2), (3, None), (3, 3)]), scale=SCALE)["r0"]
    assert (found.n, found.n_same) == (3, 2)
    assert found.mean_difference == pytest.approx(1 / 3)
    # Squared distances: observed 1/3; expected (4 + 1 + 10 + ...) by all nine pairs.
    first, second = np.array([0, 1, 3]), np.array([0, 2, 3])
    expected = ((first[:, None] - second) ** 2).mean()
    assert found.kappa_quadratic.estimate == pytest.approx(1 - (1 / 3) / expected)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [([(2, 2), (2, 2)], "no_variation"), ([(1, 2)], "too_few_pairs"), ([(1, None)], "no_overlap")],
)
def test_self_agreement_is_undefined_with_a_reason(pairs, reason):
    found = self_agreement(repeats(pairs), scale=SCALE)["r0"]
    assert found.kappa_quadratic.undefined == reason


def test_constant_second_occasion_has_kappa_zero_exactly():
    found = self_agreement(repeats([(0, 1), (1, 1), (3, 1)]), scale=SCALE)["r0"]
    assert found.kappa_quadratic.estimate == 0.0


def served(random, judges=3, dilemmas=12, conditions=4, drift=0.0) -> list[Served]:
    rows = []
    for judge in range(judges):
        for place, number in enumerate(random.permutation(dilemmas * conditions)):
            dilemma, condition = divmod(int(number), conditions)
            score = float(random.integers(0, 4)) + drift * place
            rows.append(Served(f"r{judge}", f"d{dilemma}", f"c{condition}", score, place + 1, 0))
    seen: dict = {}
    counted = []
    for row in rows:
        key = (row.rater, row.cluster)
        seen[key] = seen.get(key, 0) + 1
        counted.append(row._replace(order=seen[key]))
    return counted


@pytest.mark.parametrize("unbalanced", [False, True])
def test_trend_is_least_squares_with_dummies_and_clustered_errors_as_in_statsmodels(unbalanced):
    rows = served(np.random.default_rng(3), drift=0.01)
    if unbalanced:
        rows = [row for n, row in enumerate(rows) if n % 7]
    cells = sorted({(row.rater, row.condition) for row in rows})
    design = np.array(
        [[float((row.rater, row.condition) == cell) for cell in cells] for row in rows]
    )
    scores = np.array([row.score for row in rows])
    groups = np.array([int(row.cluster[1:]) for row in rows])
    found = trends(rows)[""]
    for name, along in (
        ("drift", np.array([row.position / 100 for row in rows])),
        ("order", np.array([float(row.order) for row in rows])),
    ):
        fitted = sm.OLS(scores, np.column_stack([along, design])).fit(
            cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}, use_t=True
        )
        mine = getattr(found, name)
        assert mine.estimate == pytest.approx(fitted.params[0], abs=1e-10)
        assert mine.ci95 == pytest.approx(tuple(fitted.conf_int()[0]), abs=1e-9)
        assert (mine.n, mine.n_clusters) == (len(rows), 12)
    assert set(trends(rows)) == {"", "r0", "r1", "r2"}


def test_trend_without_variation_is_undefined():
    same = [row._replace(score=2.0) for row in served(np.random.default_rng(1))]
    found = trends(same)["r0"]
    assert found.drift.undefined == found.order.undefined == "no_variation"
    assert trends(same[:2])["r0"].drift.undefined == "too_few_pairs"
    assert trends([])[""].drift.undefined == "too_few_pairs"


def test_place_below_one_is_refused():
    with pytest.raises(MatrixError):
        trends([Served("r0", "d", "c", 1.0, 0, 1)])


@given(st.integers(0, 2**32), st.floats(-5, 5))
def test_slope_moves_with_the_scores_and_not_with_their_level(seed, tilt):
    random = np.random.default_rng(seed)
    along, scores = np.arange(30.0), random.normal(size=30)
    cells, clusters = [n % 2 for n in range(30)], [n % 6 for n in range(30)]
    plain = slope(scores, along, cells, clusters, per=1)
    tilted = slope(scores + tilt * along + 7, along, cells, clusters, per=1)
    assert tilted.estimate == pytest.approx(plain.estimate + tilt, abs=1e-9)
    assert tilted.ci95[1] - tilted.ci95[0] == pytest.approx(plain.ci95[1] - plain.ci95[0])


def test_one_way_needs_two_groups_and_a_group_of_two():
    assert one_way(np.array([1.0, 2.0]), ["a", "a"]) is None
    assert one_way(np.array([1.0, 2.0]), ["a", "b"]) is None
