"""Draws and intervals: the same for ever, whatever the blocks; undefined draws are counted."""

import math
import subprocess
import sys

import numpy as np
import pytest

from ratings.agreement.analyse import analyse, bootstrap, cluster_labels, evaluate
from ratings.agreement.coefficients import COEFFICIENTS, Drawn, Estimates, Weighted
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.resampling import (
    draw_weights,
    jackknife_bound,
    jackknife_interval,
    lower_bound,
    mean_interval,
    percentile_interval,
)
from ratings.agreement.results import BOUND_BY_JACKKNIFE, KEYS, Undefined
from ratings.agreement.sums import sum_table


def panel(seed: int = 5, clusters: int = 12, gaps: float = 0.1) -> RatingMatrix:
    random = np.random.default_rng(seed)
    rows = []
    for number in range(clusters * 5):
        true = random.normal()
        for rater in ("ann", "bob", "cy"):
            level = int(np.clip(round(1.5 + true + random.normal() * 0.7), 0, 3))
            rows.append((f"{number:03}", rater, None if random.random() < gaps else level))
    labels = {f"{number:03}": f"c{number // 5:02}" for number in range(clusters * 5)}
    return RatingMatrix.from_long(rows, scale=[0, 1, 2, 3], clusters=labels)


def test_draws_never_change() -> None:
    (block,) = draw_weights(5, draws=2, seed=20261)
    assert block.tolist() == [[1.0, 0.0, 2.0, 1.0, 1.0], [0.0, 1.0, 1.0, 2.0, 1.0]]


def test_fewer_draws_are_the_first_of_more() -> None:
    few = np.concatenate(list(draw_weights(7, draws=600, seed=3)))
    many = np.concatenate(list(draw_weights(7, draws=1200, seed=3)))
    assert few.shape == (600, 7)
    np.testing.assert_array_equal(few, many[:600])


def test_every_cluster_is_drawn_equally_often() -> None:
    weights = np.concatenate(list(draw_weights(30, draws=10_000, seed=1)))
    assert (weights.sum(axis=1) == 30).all()
    assert abs(weights.mean(axis=0) - 1).max() < 0.05
    assert weights.var() == pytest.approx(1 - 1 / 30, abs=0.02)


def test_estimates_are_the_same_to_the_last_bit_whatever_the_block() -> None:
    matrix = panel()
    table = sum_table(matrix, sorted(set(matrix.clusters)))
    weights = np.concatenate(list(draw_weights(12, draws=700, seed=9)))
    for function in COEFFICIENTS.values():
        whole = function(Weighted.of(table, Drawn(weights))).values
        for size in (1, 7, 333):
            parts = [
                function(Weighted.of(table, Drawn(weights[start : start + size]))).values
                for start in range(0, 700, size)
            ]
            np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_estimates_are_the_same_to_the_last_bit_whatever_the_workers() -> None:
    matrices = {"one": panel(seed=5), "two": panel(seed=6, gaps=0.3)}
    tables = {
        name: sum_table(matrix, cluster_labels(matrices)) for name, matrix in matrices.items()
    }
    functions = {name: dict(COEFFICIENTS) for name in tables}
    alone, *others = (
        bootstrap(tables, functions, draws=2_300, seed=4, workers=workers) for workers in (1, 2, 7)
    )
    for other in others:
        for name, by_key in alone.items():
            for key, found in by_key.items():
                assert found.values.tobytes() == other[name][key].values.tobytes()
                assert found.codes.tobytes() == other[name][key].codes.tobytes()


def test_what_breaks_in_a_worker_is_raised_and_the_others_stop() -> None:
    matrix, called = panel(), []

    def breaks(sums: Weighted) -> Estimates:
        called.append(sums)
        raise ZeroDivisionError

    tables = {"s": sum_table(matrix, sorted(set(matrix.clusters)))}
    with pytest.raises(ZeroDivisionError):
        bootstrap(tables, {"s": {"x": breaks}}, draws=50_000, seed=1, workers=2)
    assert len(called) < 100  # of as many blocks


def test_sequence_of_the_data_is_no_matter_to_the_last_bit() -> None:
    matrix = panel()
    rows = [
        (unit, rater, None if math.isnan(value) else value)
        for unit, values in zip(matrix.units, matrix.values.tolist(), strict=True)
        for rater, value in zip(matrix.raters, values, strict=True)
    ]
    labels = dict(zip(matrix.units, matrix.clusters, strict=True))
    other = RatingMatrix.from_long(rows[::-1], scale=matrix.scale, clusters=labels)
    one = analyse({"s": matrix}, draws=500, seed=2)
    assert analyse({"s": other}, draws=500, seed=2) == one


def test_lower_bound_is_the_five_per_cent_point() -> None:
    values = np.arange(101.0)[::-1]
    assert lower_bound(values, 0) == 5.0
    assert lower_bound(np.arange(10.0), 0) == pytest.approx(0.45)


def test_undefined_draws_count_as_the_lowest() -> None:
    assert lower_bound(np.arange(3.0, 101.0), 3) == 5.0
    assert lower_bound(np.arange(10.0), 1) is None
    assert lower_bound(np.zeros(0), 5) is None
    assert lower_bound(np.zeros(0), 0) is None
    assert lower_bound(np.array([0.5]), 0) == 0.5


def test_percentile_interval_is_type_7() -> None:
    assert percentile_interval(np.arange(41.0)) == (1.0, 39.0)
    assert percentile_interval(np.zeros(0)) is None


def test_mean_interval_is_students() -> None:
    low, high = mean_interval(np.array([1.0, 2.0, 3.0, 4.0]))  # type: ignore[misc]
    half = 3.182446305 * math.sqrt(5 / 3 / 4)
    assert (low, high) == (pytest.approx(2.5 - half), pytest.approx(2.5 + half))
    assert mean_interval(np.array([1.0])) is None


def test_jackknife_of_a_mean_is_the_means_interval() -> None:
    values = np.array([1.0, 2.0, 4.0, 9.0])
    left_out = (values.sum() - values) / 3
    ours = jackknife_interval(4.0, Estimates(left_out, np.zeros(4, dtype=np.int8)))
    assert ours == pytest.approx(mean_interval(values))


def test_jackknife_needs_every_replicate_and_two_clusters() -> None:
    codes = np.array([0, 1, 0], dtype=np.int8)
    assert jackknife_interval(0.5, Estimates(np.ones(3), codes)) is None
    assert jackknife_interval(0.5, Estimates(np.ones(1), codes[:1])) is None


def test_jackknife_bound_of_a_mean_is_students() -> None:
    data = np.array([1.0, 2.0, 4.0, 7.0, 1.5])
    replicates = np.array([np.delete(data, i).mean() for i in range(5)])
    found = jackknife_bound(data.mean(), Estimates(replicates, np.zeros(5, dtype=np.int8)))
    # t with 4 degrees of freedom, one-sided .95: 2.1318 (any printed table)
    error = data.std(ddof=1) / math.sqrt(5)
    assert found == pytest.approx(data.mean() - 2.131846786 * error, abs=1e-9)
    codes = np.array([0, 0, 1, 0, 0], dtype=np.int8)
    assert jackknife_bound(data.mean(), Estimates(replicates, codes)) is None


def test_bound_is_the_jackknifes_where_the_coverage_study_says_so() -> None:
    found = evaluate({"s": panel()}, draws=1_000, seed=1)["s"].coefficients
    k = 12
    for key in KEYS:
        one = found[key]
        assert one.estimate is not None and one.ci95 is not None and one.lower95 is not None
        half = one.estimate - one.ci95[0]
        # t with 11 degrees of freedom: .95 and .975 (any printed table)
        by_jackknife = one.estimate - half * 1.795884819 / 2.200985160
        is_so = key.startswith(("percent", "gwet"))
        assert (abs(one.lower95 - by_jackknife) < 1e-9) == is_so, key
        assert one.n_clusters == k and ("of the jackknife" in one.method) == is_so


def test_criterion_with_one_disagreement_counts_its_undefined_draws() -> None:
    rows = [(f"u{n}", r, int(n == 0 and r == "b")) for n in range(6) for r in "ab"]
    matrix = RatingMatrix.from_long(rows, scale=[0, 1])
    one = evaluate({"s": matrix}, draws=1000, seed=1)["s"].coefficients["fleiss_kappa"]
    # A draw misses the one varying unit with probability (5/6)**6 = .335.
    assert one.draws == 1000 and 280 < one.undefined_draws < 390
    assert one.lower95 is None and one.ci95 is None
    assert one.percentile95 is not None


@pytest.mark.parametrize(("clusters", "has"), [(1, False), (2, False), (3, False), (4, True)])
def test_fewer_than_four_clusters_have_no_interval(clusters: int, has: bool) -> None:
    found = evaluate({"s": panel(clusters=clusters)}, draws=1000, seed=1)["s"]
    one = found.coefficients["krippendorff_alpha_ordinal"]
    assert one.estimate is not None and one.n_clusters == clusters
    assert (one.lower95 is not None) is has
    assert (one.percentile95 is not None) is has
    assert (one.ci95 is not None) is has


def test_sixty_raters_of_whom_three_rate_each_unit() -> None:
    random = np.random.default_rng(1)
    rows = [
        (f"{u:03}", f"r{r:02}", int(random.integers(0, 4)))
        for u in range(400)
        for r in random.choice(60, size=3, replace=False)
    ]
    clusters = {f"{u:03}": u // 4 for u in range(400)}
    matrix = RatingMatrix.from_long(rows, scale=[0, 1, 2, 3], clusters=clusters)
    found = evaluate({"s": matrix}, draws=2000, seed=1)["s"]
    one = found.coefficients["light_kappa"]
    assert (one.estimate, one.draws, len(found.pairs)) == (None, 0, 60 * 59 // 2)
    assert found.coefficients["krippendorff_alpha_ordinal"].draws == 2000


def test_criteria_share_their_draws_and_do_not_disturb_each_other() -> None:
    one, other = panel(1), panel(2)
    both = analyse({"a": one, "b": other}, draws=500, seed=4)
    assert both["a"] == analyse({"a": one}, draws=500, seed=4)["a"]


def test_shape_of_the_report() -> None:
    report = analyse({"synthesis": panel()}, draws=100, seed=4)["synthesis"]
    assert set(report) == {
        "n_units",
        "n_raters",
        "n_ratings",
        "coefficients",
        "pairs",
        "leave_one_out",
    }
    assert set(report["coefficients"]) == set(COEFFICIENTS)
    for key, one in report["coefficients"].items():
        assert set(one) == {
            "estimate",
            "undefined",
            "ci95",
            "percentile95",
            "lower95",
            "n_units",
        }
        assert type(one["estimate"]) is float and type(one["n_units"]) is int
        assert one["ci95"][0] < one["estimate"] < one["ci95"][1]
        two_sided = one["ci95" if key in BOUND_BY_JACKKNIFE else "percentile95"]
        assert two_sided[0] < one["lower95"] < one["estimate"]
    assert set(report["pairs"]) == {"ann|bob", "ann|cy", "bob|cy"}
    assert set(report["leave_one_out"]) == {"ann", "bob", "cy"}


def test_nothing_rated_is_undefined_and_no_draws_give_no_bound() -> None:
    assert analyse({}, draws=10, seed=1) == {}
    empty = RatingMatrix.from_long([], scale=[0, 1])
    report = analyse({"s": empty}, draws=10, seed=1)["s"]
    assert {one["undefined"] for one in report["coefficients"].values()} == {"no_overlap"}
    one = analyse({"s": panel()}, draws=0, seed=1)["s"]["coefficients"]["fleiss_kappa"]
    assert one["percentile95"] is None and one["lower95"] is None and one["ci95"]


def test_progress_is_told_after_every_thousand() -> None:
    told: list[tuple[int, int]] = []
    analyse({"s": panel()}, draws=2_200, seed=1, progress=lambda *step: told.append(step))
    assert told == [(1000, 2200), (2000, 2200), (2200, 2200)]


def test_long_scale_with_gaps_is_feasible() -> None:
    random = np.random.default_rng(1)
    rows = [
        (f"{u:03}", f"r{r}", int(np.clip(random.normal(50, 20) + u % 30, 0, 100)))
        for u in range(300)
        for r in range(4)
        if random.random() > 0.25
    ]
    clusters = {f"{u:03}": u // 3 for u in range(300)}
    matrix = RatingMatrix.from_long(rows, scale=range(101), clusters=clusters)
    one = analyse({"s": matrix}, draws=1000, seed=1)["s"]["coefficients"]
    assert all(found["lower95"] is not None for found in one.values())


def test_names_with_a_bar_make_different_keys() -> None:
    rows = [(u, rater, int(u)) for u in "01" for rater in ("a", "b|c", "a|b", "c", "a\\", "\\")]
    matrix = RatingMatrix.from_long(rows, scale=[0, 1])
    assert len(evaluate({"s": matrix}, draws=0, seed=1)["s"].pairs) == 15


def test_scale_without_short_fractions_is_the_same_to_the_last_bit_too() -> None:
    scale = [0.0, math.sqrt(2), math.pi, 10.0]
    random = np.random.default_rng(3)
    rows = [(f"{u:02}", r, scale[random.integers(4)]) for u in range(40) for r in "abc"]
    clusters = {f"{u:02}": u // 4 for u in range(40)}
    matrix = RatingMatrix.from_long(rows, scale=scale, clusters=clusters)
    table = sum_table(matrix, sorted(set(matrix.clusters)))
    weights = np.concatenate(list(draw_weights(10, draws=500, seed=9)))
    for function in COEFFICIENTS.values():
        whole = function(Weighted.of(table, Drawn(weights))).values
        for size in (1, 3, 77):
            parts = [
                function(Weighted.of(table, Drawn(weights[start : start + size]))).values
                for start in range(0, 500, size)
            ]
            np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_undefined_carries_its_reason() -> None:
    error = Undefined("no_overlap", "ann|bob")
    assert (error.reason, error.detail, str(error)) == (
        "no_overlap",
        "ann|bob",
        "no_overlap: ann|bob",
    )


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("ratings.gate", {"numpy", "django"}),
        ("ratings.design.algorithms", {"numpy", "django"}),
        ("ratings.agreement.results", {"numpy", "django"}),
        ("ratings.agreement.comparison", {"scipy", "statsmodels", "pandas", "django"}),
    ],
)
def test_slow_libraries_wait_until_they_are_needed(module: str, absent: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not absent & set(run.stdout.split())
