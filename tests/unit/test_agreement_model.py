"""People against a model: each figure against its definition, written out."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratings.agreement.alternative_annotator import (
    SHUFFLES,
    against_judges,
    alternative_annotator,
    benjamini_yekutieli,
)
from ratings.agreement.limits import repeated, replicated, single
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.model_comparison import ModelScores, human_against_model, to_levels

SCALE = (0, 1, 2, 3)


def panel(seed=0, dilemmas=12, conditions=4, judges=3, missing=0.0, noise=0.6):
    """Return judges' scores, three repetitions of a model, and each unit's condition."""
    random = np.random.default_rng(seed)
    n = dilemmas * conditions
    truth = random.normal(1.5, 1, n)
    table = np.clip(np.round(truth[:, None] + random.normal(0, noise, (n, judges))), 0, 3)
    table[random.random(table.shape) < missing] = np.nan
    model = np.clip(np.round(truth[:, None] + 0.3 + random.normal(0, noise, (n, 3))), 0, 3)
    rows = [
        (f"u{u:03}", f"j{j}", None if math.isnan(table[u, j]) else table[u, j])
        for u in range(n)
        for j in range(judges)
    ]
    clusters = {f"u{u:03}": f"d{u // conditions:02}" for u in range(n)}
    matrix = RatingMatrix.from_long(rows, scale=SCALE, clusters=clusters)
    return matrix, model, [f"c{u % conditions}" for u in range(n)]


def kappa(x, y) -> float:
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    return 1 - ((x - y) ** 2).mean() / ((x[:, None] - y) ** 2).mean()


def test_every_figure_follows_from_its_definition():
    matrix, model, _ = panel(missing=0.1)
    model[3], model[5, 0] = np.nan, np.nan
    found = human_against_model(matrix, ModelScores(model), draws=200, seed=1)
    common = matrix.present.any(axis=1) & ~np.isnan(model).all(axis=1)
    values, scores = matrix.values[common], model[common]
    assert found.n_units == common.sum()
    assert (found.repetitions, found.constant, found.n_rounded) == (3, False, 0)
    human, machine = np.nanmean(values, axis=1), np.nanmean(scores, axis=1)
    assert found.bias.estimate == pytest.approx((machine - human).mean())
    assert found.mean_absolute_error.estimate == pytest.approx(np.abs(machine - human).mean())
    for column, rater in enumerate(matrix.raters):
        one = found.judges[rater]
        expected = np.mean([kappa(values[:, column], scores[:, r]) for r in range(3)])
        assert one.kappa_quadratic == pytest.approx(expected)
        there = ~np.isnan(values[:, column])
        assert one.n == there.sum()
        assert one.bias == pytest.approx((machine - values[:, column])[there].mean())
    assert found.people["j0|j1"].kappa_quadratic == pytest.approx(kappa(values[:, 0], values[:, 1]))
    assert list(found.people) == ["j0|j1", "j0|j2", "j1|j2"]
    median, moved = to_levels(np.nanmedian(values, axis=1), SCALE)
    assert found.n_median_rounded == moved > 0
    singly = np.mean([kappa(median, scores[:, r]) for r in range(3)])
    assert found.median_judge.estimate == pytest.approx(singly)
    assert found.median_judge_ensemble.estimate == pytest.approx(
        kappa(median, to_levels(machine, SCALE)[0])
    )
    assert found.limits is not None
    assert found.limits.bias == pytest.approx(found.bias.estimate)
    assert found.alpha.difference.estimate == found.alpha.with_model - found.alpha.without
    low, high = found.alpha.percentile95
    assert low < found.alpha.difference.estimate < high
    for name in ("spearman", "kendall_tau_b", "median_judge", "bias"):
        figure = getattr(found, name)
        assert figure.ci95[0] < figure.estimate < figure.ci95[1]
        assert figure.n_clusters == 12


def test_a_model_that_is_the_median_of_the_judges_agrees_with_it():
    matrix, _, _ = panel()
    median = np.median(matrix.values, axis=1)
    found = human_against_model(matrix, ModelScores(median[:, None]), draws=50, seed=1)
    assert found.median_judge.estimate == 1.0
    assert found.alpha.difference.estimate > 0
    assert found.consistency.icc_1_1.undefined == "too_few_pairs", "it was asked once"


def test_a_constant_model_has_kappa_zero_and_no_rank_correlation():
    matrix, model, _ = panel()
    found = human_against_model(matrix, ModelScores(np.full_like(model, 2.0)), draws=50, seed=1)
    assert found.constant
    assert found.median_judge.estimate == 0.0
    assert found.spearman.undefined == found.kendall_tau_b.undefined == "constant_rater"
    assert found.judges["j0"].kappa_quadratic == 0.0
    assert found.judges["j0"].ranks_undefined == "constant_rater"
    assert found.consistency.icc_1_1.undefined == "no_variation"
    assert found.consistency.alpha_interval.undefined == "no_variation"


def test_a_model_that_judged_nothing_of_it_is_undefined_throughout():
    matrix, model, _ = panel(dilemmas=2)
    found = human_against_model(matrix, ModelScores(np.full_like(model, np.nan)), draws=5, seed=1)
    assert found.n_units == 0
    assert found.limits is None
    assert {found.bias.undefined, found.spearman.undefined} == {"no_overlap"}
    assert found.to_dict()["alpha"]["difference"]["undefined"] == "no_overlap"


def test_scores_between_levels_are_counted_and_used_as_they_are_for_differences():
    matrix, model, _ = panel()
    found = human_against_model(matrix, ModelScores(model[:, :1] + 0.25), draws=10, seed=1)
    whole = human_against_model(matrix, ModelScores(model[:, :1]), draws=10, seed=1)
    assert found.n_rounded == len(model)
    assert found.median_judge.estimate == whole.median_judge.estimate
    assert found.bias.estimate == pytest.approx(whole.bias.estimate + 0.25)


def test_halves_do_not_all_go_one_way():
    put, moved = to_levels(np.array([0.5, 1.5, 2.5, -1.0, 9.0]), SCALE)
    assert put.tolist() == [0, 2, 2, 0, 3]
    assert moved == 5
    assert to_levels(np.array([3.0]), (1.0, 3.0))[0].tolist() == [3.0]


def test_consistency_over_repetitions_with_gaps():
    matrix, model, _ = panel()
    model[0, 1:] = np.nan  # one repetition: not counted
    found = human_against_model(matrix, ModelScores(model), draws=5, seed=1).consistency
    rows = model[1:]
    means = rows.mean(axis=1)
    between = 3 * ((means - rows.mean()) ** 2).sum() / (len(rows) - 1)
    within = ((rows - means[:, None]) ** 2).sum() / (2 * len(rows))
    assert found.icc_1_1.estimate == pytest.approx((between - within) / (between + 2 * within))
    assert found.icc_1_k.estimate == pytest.approx((between - within) / between)
    assert found.icc_1_1.n == len(rows)


def by_definition(values, model, column, clusters, epsilon, over):
    """The alternative-annotator test, one unit at a time."""
    f, h, names = [], [], []
    for row, scores in enumerate(values):
        others = [s for j, s in enumerate(scores) if j != column and not math.isnan(s)]
        if math.isnan(scores[column]) or not others:
            continue
        s_model = -math.sqrt(sum((model[row] - o) ** 2 for o in others) / len(others))
        s_judge = -math.sqrt(sum((scores[column] - o) ** 2 for o in others) / len(others))
        f.append(s_model >= s_judge)
        h.append(s_judge >= s_model)
        names.append(clusters[row])
    d = np.array(h, dtype=float) - np.array(f, dtype=float)
    if over == "clusters":
        d = np.array([d[[n == c for n in names]].mean() for c in sorted(set(names))])
    t = (d.mean() - epsilon) / (d.std(ddof=1) / math.sqrt(len(d)))
    return np.mean(f), t, len(d)


@pytest.mark.parametrize("over", ["units", "clusters"])
def test_alternative_annotator_follows_from_its_definition(over):
    matrix, model, conditions = panel(missing=0.1)
    found = alternative_annotator(
        {"s": matrix},
        {"s": model},
        {"s": conditions},
        alignment="neg_rmse",
        epsilon=0.2,
        over=over,
        seed=4,
    )
    for column, rater in enumerate(matrix.raters):
        for repetition, one in enumerate(found.judges["s"][rater]):
            rho, t, n = by_definition(
                matrix.values, model[:, repetition], column, matrix.clusters, 0.2, over
            )
            assert (one.n, one.t) == (n, pytest.approx(t))
            if over == "units":
                assert one.rho_model == pytest.approx(rho)
    tested = [one for rows in found.judges["s"].values() for one in rows]
    assert found.omega["s"] == pytest.approx(np.mean([one.beaten for one in tested]))
    assert set(found.constant["s"]) == set(SCALE)
    document = found.to_dict()["s"]
    assert document["shuffled"] == {"omega": found.shuffled["s"], "n": SHUFFLES}
    assert len(document["judges"]["j0"]) == 3


def test_a_test_that_a_constant_can_pass_is_not_interpreted():
    """Nine in ten responses are a 2: always saying 2 beats every judge."""
    random = np.random.default_rng(1)
    table = np.where(random.random((60, 3)) < 0.9, 2.0, random.integers(0, 4, (60, 3)))
    rows = [(f"u{u:02}", f"j{j}", table[u, j]) for u in range(60) for j in range(3)]
    matrix = RatingMatrix.from_long(rows, scale=SCALE)
    found = alternative_annotator(
        {"s": matrix},
        {"s": np.full((60, 1), 2.0)},
        {"s": ["c"] * 60},
        alignment="neg_rmse",
        epsilon=0.2,
        over="units",
        seed=1,
    )
    assert found.omega["s"] == found.constant["s"][2.0] == 1.0
    assert found.interpretable["s"] is False
    assert found.passes["s"] is None


def test_a_model_that_shares_the_judges_view_passes_where_nothing_else_does():
    matrix, _, conditions = panel(dilemmas=30, conditions=5, noise=0.4, seed=2)
    found = alternative_annotator(
        {"s": matrix}, {"s": np.round(np.median(matrix.values, axis=1))[:, None]},
        {"s": conditions}, alignment="neg_rmse", epsilon=0.2, over="clusters", seed=1,
    )  # fmt: skip
    assert found.passes["s"] is True
    assert found.shuffled["s"] < 0.5


def test_too_few_units_leave_a_judge_out_of_omega():
    matrix, model, _ = panel(dilemmas=5)
    (found,) = against_judges(
        {"s": matrix}, {"s": model[:, :1].T}, alignment="accuracy", epsilon=0.2, over="units"
    )
    assert {one.undefined for one in found.tests["s"].values()} == {"too_few_pairs"}
    assert found.omega["s"] is found.rho["s"] is None


def test_shuffles_stay_within_conditions_and_are_the_same_for_a_seed():
    matrix, model, conditions = panel()
    for place, condition in enumerate(sorted(set(conditions))):
        model[[c == condition for c in conditions]] = place
    arguments = {"alignment": "neg_rmse", "epsilon": 0.2, "over": "units", "fewest": 2}
    one, other = (
        alternative_annotator({"s": matrix}, {"s": model}, {"s": conditions}, seed=9, **arguments)
        for _ in range(2)
    )
    assert one == other
    assert one.shuffled["s"] == one.omega["s"], "within a condition all of its scores are alike"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_yekutieli_keeps_the_sequence_and_never_helps(values):
    adjusted = benjamini_yekutieli(values)
    assert all(a >= p - 1e-15 for a, p in zip(adjusted, values, strict=True))
    ranked = sorted(zip(values, adjusted, strict=True))
    assert all(a[1] <= b[1] for a, b in pairwise(ranked))


def test_limits_need_two_of_something():
    assert single(np.array([1.0])) is None
    assert replicated(np.ones((1, 2)), np.ones((1, 2))) is None
    assert repeated(np.array([1.0, 2.0]), ["a", "a"]) is None
    assert repeated(np.array([1.0, 2.0]), ["a", "b"]) is None
    found = repeated(np.array([1.0, 2.0, 4.0]), ["a", "a", "b"])
    assert found is not None and found.bias_ci95 is None, "without a cluster nothing is left"


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.floats(-10, 10))
def test_limits_move_with_the_differences(seed, shift):
    random = np.random.default_rng(seed)
    apart, labels = random.normal(size=24), [n // 4 for n in range(24)]
    plain, moved = repeated(apart, labels), repeated(apart + shift, labels)
    assert moved.sd == pytest.approx(plain.sd)
    assert moved.limits[0] == pytest.approx(plain.limits[0] + shift)
    assert moved.to_dict()["lower_ci95"][0] == pytest.approx(plain.lower_ci95[0] + shift)
