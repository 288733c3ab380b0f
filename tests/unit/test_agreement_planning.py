"""Planning: the latent model does what it says, and the chances are those of the gate."""

import math

import numpy as np
import pytest

from ratings.agreement.latent import (
    Design,
    Population,
    assignment,
    from_pilot,
    noise_for,
    simulated,
)
from ratings.agreement.matrix import MatrixError, RatingMatrix
from ratings.agreement.planning import plan

SMALL = Design(dilemmas=12, responses=3, criteria=2)


def by_point(outcomes):
    verdicts = [
        "undecidable" if one.estimate is None else "met" if one.estimate >= 0.6 else "not_met"
        for one in outcomes
    ]
    panel = next((v for v in ("not_met", "undecidable") if v in verdicts), "met")
    return verdicts, panel


def planned(design=SMALL, **options):
    arguments = {
        "grid": (0.4, 0.6, 0.8),
        "panels": 40,
        "draws": 50,
        "seed": 3,
        "sample": 6000,
    } | options
    return plan(design, coefficient_key="krippendorff_alpha_ordinal", decide=by_point, **arguments)


def test_chances_rise_with_the_true_value_and_are_a_half_at_the_threshold():
    found = planned(panels=100)
    met = [point.criterion.met for point in found.points]
    assert met[0] < 0.1
    assert 0.35 < met[1] < 0.65
    assert met[2] > 0.9
    for point in found.points:
        one = point.criterion
        assert one.met + one.not_met + one.undecidable == pytest.approx(1)
        assert one.error == pytest.approx(math.sqrt(one.met * (1 - one.met) / 100))
        assert point.jointly.met <= point.criterion.met
        assert point.true_value == pytest.approx(point.aimed_at, abs=0.01)
        assert 0 < point.true_value_error < 0.02
        assert point.half_width_median < point.half_width_90
        assert "fleiss_kappa" in point.others
    assert 0.6 < found.needed_for_80["criterion"] < found.needed_for_80["jointly"] < 0.8
    assert found.unreachable == ()


def test_the_same_seed_gives_the_same_plan():
    one, same, other = (planned(panels=10, grid=(0.6,), seed=seed) for seed in (3, 3, 4))
    assert one.to_dict() == same.to_dict()
    assert one.points != other.points


def test_progress_reaches_its_end_and_alternatives_are_simulated():
    told = []
    found = planned(
        expected=0.6, grid=(0.6,), panels=11, progress=lambda done, of: told.append((done, of))
    )
    assert told[-1] == (11 * 8, 11 * 8)
    assert [one.changed for one in found.alternatives][:3] == [
        {},
        {"dilemmas": 18},
        {"dilemmas": 24},
    ]
    same, _, twice, *_ = found.alternatives
    assert twice.point.half_width_median < same.point.half_width_median
    assert (same.hours_per_judge, twice.hours_per_judge) == (3.6, 7.2)
    assert found.alternatives[-1].changed == {"judges": 5, "per_response": 5}


def test_differences_follow_from_their_spread():
    found = planned(
        Design(criteria=1, dilemmas=30, responses=2), grid=(), contrast_sd=0.11, margin=0.1,
        affinity_sd=0.1125,
    )  # fmt: skip
    assert found.contrast.half_width == pytest.approx(2.04523 * 0.11 / math.sqrt(30), rel=1e-5)
    assert found.contrast.least_above_margin == 0.1 + found.contrast.least_detectable
    assert round(found.affinity.least_detectable, 2) == 0.06, "as the statistics page says"
    assert found.affinity.least_above_margin is None


def test_unknown_coefficient_is_refused():
    with pytest.raises(KeyError):
        plan(SMALL, coefficient_key="kappa", decide=by_point, seed=1)


@pytest.mark.parametrize(
    "changes",
    [
        {"dilemmas": 1},
        {"per_response": 4},
        {"per_response": 1},
        {"shares": (0.5, 0.5)},
        {"shares": (0.5, 0.3, 0.1, 0.0)},
        {"shares": (1.0, 0.0, 0.0, 0.0)},
        {"noise": (1.0, 2.0)},
        {"noise": (1.0, 2.0, 0.0)},
        {"correlation": 1.0},
        {"missing": -0.1},
        {"severity": -1.0},
    ],
)
def test_impossible_design_is_refused(changes):
    with pytest.raises(MatrixError):
        Design(**changes)


def test_k_of_n_in_turn():
    design = Design(judges=5, per_response=2)
    who = assignment(design, 150)
    assert (who.sum(axis=1) == 2).all()
    assert who.sum(axis=0).tolist() == [60] * 5


def test_levels_have_their_shares_and_judges_their_severities():
    design = Design(shares=(0.05, 0.15, 0.6, 0.2), severity=1.0)
    sample, cuts = Population.drawn(design, 1, ratings=60_000).at(0.5)
    shares = [(sample.values == level).mean() for level in design.scale]
    assert shares == pytest.approx(design.shares, abs=1e-3)
    means = sample.values.mean(axis=0)
    assert means[0] < means[1] < means[2]
    tables = simulated(design, 0.5, cuts, np.random.default_rng(1))
    assert [table.values.shape for table in tables] == [(150, 3)] * 4
    together = np.concatenate([table.values.ravel() for table in tables])
    assert (together == 2).mean() == pytest.approx(0.6, abs=0.06)


def test_criteria_correlate_as_planned():
    values = {}
    for r in (0.0, 0.9):
        design = Design(dilemmas=400, criteria=2, correlation=r, severity=0.0)
        _, cuts = Population.drawn(design, 1, ratings=60_000).at(0.7)
        one, two = simulated(design, 0.7, cuts, np.random.default_rng(2))
        values[r] = np.corrcoef(one.values.ravel(), two.values.ravel())[0, 1]
    assert abs(values[0.0]) < 0.06
    assert values[0.9] > 0.75


def test_missing_scores_are_missing():
    design = Design(missing=0.2)
    _, cuts = Population.drawn(design, 1, ratings=60_000).at(0.5)
    table = simulated(design, 0.5, cuts, np.random.default_rng(2))[0]
    assert 1 - table.present.mean() == pytest.approx(0.2, abs=0.06)


def test_noise_out_of_reach_is_none():
    noises, values = np.array([0.0, 1.0, 2.0]), np.array([0.9, 0.5, 0.2])
    assert noise_for(noises, values, 0.7) == pytest.approx(0.5)
    assert noise_for(noises, values, 0.95) is None
    assert noise_for(noises, values, 0.1) is None


def test_pilot_gives_back_the_design_it_was_drawn_from():
    design = Design(
        dilemmas=800, criteria=1, scale=tuple(map(float, range(21))), shares=(1 / 21,) * 21,
        between_dilemmas=0.6, severity=0.8,
    )  # fmt: skip
    _, cuts = Population.drawn(design, 1, ratings=60_000).at(0.6)
    (pilot,) = simulated(design, 0.6, cuts, np.random.default_rng(5))
    start = Design(criteria=1, scale=design.scale, shares=design.shares)
    found = from_pilot(pilot, start)
    assert found.between_dilemmas == pytest.approx(0.6, abs=0.06)
    assert found.severity == pytest.approx(0.8, abs=0.1)
    assert found.dilemmas == start.dilemmas
    assert max(abs(a - b) for a, b in zip(found.shares, design.shares, strict=True)) < 0.02


def test_pilot_on_another_scale_is_refused():
    pilot = RatingMatrix.from_long([("u", "a", 1), ("u", "b", 2)], scale=[1, 2])
    with pytest.raises(MatrixError):
        from_pilot(pilot, SMALL)
