"""Affinity to the rubric and the reward of length, worked out by hand and by plain regression."""

import math

import numpy as np
import pytest
from scipy import stats

from ratings.agreement.affinity import affinities, least_detectable, model_totals
from ratings.agreement.contrasts import contrasts
from ratings.agreement.length import length_association, residualised
from ratings.agreement.matrix import RatingMatrix

CONDITIONS = ("A", "D", "E")


def totals(seed=0, dilemmas=10):
    """Two judges' totals (0 to 12) and two repetitions of a model's, favouring E by 3."""
    random = np.random.default_rng(seed)
    cells = [(f"d{d:02}", c) for d in range(dilemmas) for c in CONDITIONS]
    rows, model = [], {1: {}, 2: {}}
    for d, c in cells:
        for judge in ("ann", "bob"):
            rows.append((d + c, judge, int(random.integers(2, 8))))
        for repetition in model:
            model[repetition][d + c] = float(random.integers(2, 8)) + (3 if c == "E" else 0)
    matrix = RatingMatrix.from_long(rows, scale=range(13), clusters={d + c: d for d, c in cells})
    return matrix, model, {d + c: c for d, c in cells}


def test_affinity_is_the_contrast_by_the_model_minus_that_by_the_panel():
    matrix, model, conditions = totals()
    values = model_totals(matrix, {"total": model})
    (one, control) = affinities(
        matrix, values, conditions, [("E", "D"), ("D", "A")], maximum=12, draws=2000, seed=1
    )
    panel = contrasts(matrix, conditions, [("E", "D")], draws=10, seed=1, maximum=12)[0]
    assert one.panel == pytest.approx(panel.estimate)
    apart = []
    for d in sorted(set(matrix.clusters)):
        of_model = sum(model[r][d + "E"] - model[r][d + "D"] for r in (1, 2)) / 2
        e, a = (matrix.values[matrix.units.index(d + c)] for c in "ED")
        apart.append((of_model - (e - a).mean()) / 12)
    low, high = stats.t.interval(0.95, 9, np.mean(apart), stats.sem(apart))
    assert one.difference.estimate == pytest.approx(np.mean(apart))
    assert one.difference.ci95 == pytest.approx((low, high))
    assert one.difference.estimate == pytest.approx(one.model - one.panel)
    assert one.percentile95[0] == pytest.approx(low, abs=0.04)
    assert (one.shown, control.shown) == (True, False)
    assert one.difference.n_clusters == 10
    # Spreads within dilemmas, pooled.
    means = np.nanmean(values, axis=1).reshape(10, 3) / 12
    assert one.model_sd == pytest.approx(math.sqrt(means.var(axis=1, ddof=1).mean()))
    assert one.standardised.estimate == pytest.approx(
        one.model / one.model_sd - one.panel / one.panel_sd
    )
    assert one.standardised.ci95[0] < one.standardised.estimate < one.standardised.ci95[1]
    assert one.to_dict()["difference"]["ci95"] == list(one.difference.ci95)


def panels(count, affinity):
    """Affinities of simulated panels: 30 dilemmas, three judges and a model of the same judgement.

    Judges and model see dilemma, response and condition alike, each with noise of an own; the model
    favours E by `affinity` levels of the 12 more than they do.
    """
    random = np.random.default_rng(2026)
    units = [(f"d{d:02}", c) for d in range(30) for c in ("D", "E")]
    labels = {d + c: c for d, c in units}
    ids, clusters = tuple(d + c for d, c in units), tuple(d for d, _ in units)
    is_e = np.array([c == "E" for _, c in units])
    for _ in range(count):
        seen = 6 + np.repeat(random.normal(0, 1, 30), 2) + random.normal(0, 1.2, 60) + 0.8 * is_e
        scores = np.clip(np.round(seen[:, None] + random.normal(0, 1.2, (60, 3))), 0, 12)
        model = np.round(seen + affinity * is_e + random.normal(0, 1, 60), 2)
        matrix = RatingMatrix(scores, tuple(map(float, range(13))), ("a", "b", "c"), ids, clusters)
        values = model_totals(matrix, {"total": {1: dict(zip(ids, model.tolist(), strict=True))}})
        yield affinities(matrix, values, labels, [("E", "D")], maximum=12, draws=1, seed=1)[0]


def test_an_affinity_known_by_construction_is_found():
    found = [one.difference.estimate * 12 for one in panels(60, affinity=1.5)]
    assert np.mean(found) == pytest.approx(1.5, abs=4 * np.std(found) / math.sqrt(60))
    assert np.mean([one.shown for one in panels(60, affinity=1.5)]) > 0.9


@pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.long)])
def test_without_an_affinity_the_interval_covers_zero_as_often_as_it_says(count):
    covered = np.mean([not one.shown for one in panels(count, affinity=0.0)])
    # .93 to .965 of 2,000; of 300 the same give or take two and a half standard errors more
    slack = 0 if count == 2000 else 0.03
    assert 0.93 - slack <= covered <= 0.965 + slack


def test_a_dilemma_counts_where_both_sides_have_a_difference():
    matrix, model, conditions = totals()
    del model[1]["d00E"], model[2]["d00E"]
    values = model_totals(matrix, {"total": model})
    (one,) = affinities(matrix, values, conditions, [("E", "D")], maximum=12, draws=10, seed=1)
    assert one.difference.n_clusters == 9
    (none,) = affinities(
        matrix, values * np.nan, conditions, [("E", "D")], maximum=12, draws=10, seed=1
    )
    assert none.difference.undefined == "no_overlap"
    assert none.shown is None


def test_a_models_total_needs_every_criterion():
    matrix, model, _ = totals(dilemmas=1)
    second = {1: dict(model[1]), 2: {k: v for k, v in model[2].items() if k != "d00A"}}
    values = model_totals(matrix, {"one": model, "two": second})
    row = matrix.units.index("d00A")
    assert values[row, 0] == 2 * model[1]["d00A"]
    assert np.isnan(values[row, 1])


def test_without_spread_there_is_no_standardised_difference():
    matrix, _, conditions = totals()
    values = np.full((len(matrix.units), 1), 5.0)
    (one,) = affinities(matrix, values, conditions, [("E", "D")], maximum=12, draws=0, seed=1)
    assert one.standardised.undefined == "no_variation"
    assert one.percentile95 is None


def test_least_detectable_has_the_power_it_says():
    sd, k = 0.11, 30
    effect = least_detectable(sd, k)
    limit = stats.t.ppf(0.975, k - 1)
    power = stats.nct.sf(limit, k - 1, effect / sd * math.sqrt(k))
    assert power == pytest.approx(0.8, abs=0.005)


def two_way(seed=1, dilemmas=15, conditions=4):
    random = np.random.default_rng(seed)
    n = dilemmas * conditions
    dilemma = [f"d{u // conditions}" for u in range(n)]
    condition = [f"c{u % conditions}" for u in range(n)]
    words = np.round(np.exp(random.normal(6, 0.4, n)) * (1 + np.arange(n) % conditions))
    return words, condition, dilemma, random


def test_residuals_are_those_of_a_regression_on_dummies():
    words, condition, dilemma, random = two_way()
    keep = random.random(len(words)) < 0.8
    condition = [c for c, k in zip(condition, keep, strict=True) if k]
    dilemma = [d for d, k in zip(dilemma, keep, strict=True) if k]
    y = np.log(words[keep])
    design = np.array(
        [[c == one for one in sorted(set(condition))] + [d == one for one in sorted(set(dilemma))]
         for c, d in zip(condition, dilemma, strict=True)], dtype=float,
    )  # fmt: skip
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    mine = residualised(y[:, None], condition, dilemma)[:, 0]
    assert mine == pytest.approx(y - fitted, abs=1e-8)


def test_length_counts_only_beyond_condition_and_dilemma():
    words, condition, dilemma, random = two_way()
    by_condition = np.arange(len(words)) % 4 * 1.0
    rewarded = by_condition + 2 * np.log(words)
    found = length_association(rewarded, words, condition, dilemma)
    assert found.estimate == pytest.approx(1)
    assert (found.n, found.n_clusters) == (60, 15)
    indifferent = length_association(
        by_condition + random.normal(size=60), words, condition, dilemma
    )
    assert abs(indifferent.estimate) < 0.3
    assert indifferent.ci95[0] < 0 < indifferent.ci95[1]


@pytest.mark.parametrize(
    ("scores", "words", "reason"),
    [
        ([np.nan] * 4, [5.0] * 4, "no_overlap"),
        ([1.0, np.nan, np.nan, np.nan], [5.0] * 4, "too_few_pairs"),
        ([1.0, 2.0, 3.0, 5.0], [7.0] * 4, "constant_rater"),
        ([2.0] * 4, [3.0, 9.0, 4.0, 50.0], "constant_rater"),
        ([1.0, 2.0, 3.0, 4.0], [np.nan, 0.0, 5.0, np.nan], "too_few_pairs"),
    ],
)
def test_length_is_undefined_with_a_reason(scores, words, reason):
    found = length_association(np.array(scores), np.array(words), list("ABAB"), list("ddee"))
    assert (found.estimate, found.undefined) == (None, reason)
