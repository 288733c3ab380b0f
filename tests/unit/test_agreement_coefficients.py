"""Coefficients against their definitions, and what must hold whatever the table."""

import doctest
import importlib
import math
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratings import agreement
from ratings.agreement.analyse import evaluate, point_estimates
from ratings.agreement.coefficients import COEFFICIENTS, Drawn, Weighted, Without
from ratings.agreement.crosscheck import EngineDisagreement, check_coefficient, check_pairs
from ratings.agreement.examples import example
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.results import LISTWISE, PairAgreement, Undefined
from ratings.agreement.sums import sum_table
from ratings.gate import LITERAL, CriterionInput, decide
from tests.unit.agreement_by_definition import Units, complete, every_coefficient, specific

SCALE = [0, 1, 2, 4]
KEYS = tuple(COEFFICIENTS)
ALPHAS = tuple(key for key in KEYS if "alpha" in key)
GWETS = tuple(key for key in KEYS if "gwet" in key)


def matrix_of(units: Units, scale: list[Any] = SCALE, clusters: int = 3) -> RatingMatrix:
    rows = [
        (f"u{number:03}", f"r{rater}", level)
        for number, unit in enumerate(units)
        for rater, level in enumerate(unit)
    ]
    labels = {f"u{number:03}": f"c{number % clusters}" for number in range(len(units))}
    return RatingMatrix.from_long(rows, scale=scale, clusters=labels)


def tables(levels: list[int] = SCALE) -> st.SearchStrategy[Units]:
    cell = st.none() | st.sampled_from(levels)
    return st.integers(2, 4).flatmap(
        lambda raters: st.lists(
            st.lists(cell, min_size=raters, max_size=raters), min_size=1, max_size=9
        )
    )


def agrees(ours: float | None, exact: Fraction | None) -> bool:
    if ours is None or exact is None:
        return ours is None and exact is None
    return math.isclose(ours, exact, rel_tol=0, abs_tol=1e-9)


@settings(max_examples=250, deadline=None)
@given(tables())
def test_engine_equals_the_definition_and_the_libraries(units: Units) -> None:
    result = evaluate({"score": matrix_of(units)}, draws=0, seed=1)["score"]  # checks libraries
    for key, exact in every_coefficient(units, SCALE).items():
        one = result.coefficients[key]
        assert agrees(one.estimate, exact), (key, one, exact)
        assert (one.estimate is None) == (one.undefined is not None)


WITH_EXAMPLES = [
    path.stem
    for path in sorted(Path(agreement.__file__).parent.glob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_in_docstrings(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"ratings.agreement.{module}"))
    assert found.attempted and not found.failed


@settings(max_examples=60, deadline=None)
@given(tables())
def test_specific_agreement_equals_the_definition_and_sums_to_percent(units: Units) -> None:
    result = evaluate({"score": matrix_of(units)}, draws=0, seed=1)["score"]
    shares = Fraction(0)
    paired = [[x for x in unit if x is not None] for unit in units]
    paired = [unit for unit in paired if len(unit) >= 2]
    for level, one in result.specific.items():
        exact = specific(units, int(level))
        assert agrees(one.estimate, exact)
        assert one.key == f"specific_agreement_{level:g}"
        share = sum(Fraction(unit.count(int(level)), len(unit)) for unit in paired)
        shares += share * (exact or 0)
    if paired:
        percent = result.coefficients["percent_agreement"].value()
        assert percent == pytest.approx(float(shares / len(paired)))


@settings(max_examples=60, deadline=None)
@given(tables())
def test_counts_and_components_are_of_what_is_used(units: Units) -> None:
    result = evaluate({"score": matrix_of(units)}, draws=0, seed=1)["score"]
    rated = sum(any(x is not None for x in unit) for unit in units)
    for key, one in result.coefficients.items():
        used = [[x for x in unit if x is not None] for unit in units]
        used = complete(units) if key in LISTWISE else [unit for unit in used if len(unit) >= 2]
        assert (one.n_units, one.n_ratings) == (len(used), sum(map(len, used)))
        assert one.n_pairs == sum(len(unit) * (len(unit) - 1) // 2 for unit in used)
        assert one.n_left_out == rated - one.n_units
        if one.estimate is not None and key.startswith(("fleiss", "conger", "kripp", "gwet")):
            observed = one.components["observed_disagreement"]
            expected = one.components["expected_disagreement"]
            assert one.estimate == pytest.approx(1 - observed / expected, abs=1e-9)


def test_components_of_icc_are_the_published_mean_squares() -> None:
    result = evaluate({"s": example("shrout_fleiss1979")}, draws=0, seed=1)["s"]
    assert {k: round(v, 2) for k, v in result.coefficients["icc_2_1"].components.items()} == {
        "ms_units": 11.24,
        "ms_raters": 32.49,
        "ms_within": 6.26,
        "ms_error": 1.02,
    }


def test_ratio_alpha_needs_a_true_zero() -> None:
    matrix = matrix_of([[0, 1], [-1, 1], [1, 1]], [-1, 0, 1])
    one = evaluate({"s": matrix}, draws=20, seed=1)["s"].coefficients["krippendorff_alpha_ratio"]
    assert (one.estimate, one.undefined) == (None, "no_true_zero")


@settings(max_examples=60, deadline=None)
@given(tables(), st.data())
def test_permuting_units_and_raters_changes_nothing(units: Units, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(units))
    order = data.draw(st.permutations(range(len(units[0]))))
    permuted = [[unit[rater] for rater in order] for unit in shuffled]
    before = point_estimates(matrix_of(units), KEYS)
    after = point_estimates(matrix_of(permuted), KEYS)
    assert before == {key: pytest.approx(value, abs=1e-12) for key, value in after.items()}


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from(SCALE))
def test_unit_with_one_rating_changes_alpha_not_at_all(units: Units, level: int) -> None:
    single: list[int | None] = [level] + [None] * (len(units[0]) - 1)
    before = point_estimates(matrix_of(units), ALPHAS)
    assert point_estimates(matrix_of([*units, single]), ALPHAS) == before


@settings(max_examples=60, deadline=None)
@given(tables())
def test_monotone_transform_leaves_ordinal_alpha_alone(units: Units) -> None:
    stretched = [[None if x is None else 10 * x * x + 3 for x in unit] for unit in units]
    scale = [10 * x * x + 3 for x in SCALE]
    key = "krippendorff_alpha_ordinal"
    before = point_estimates(matrix_of(units), [key])
    assert point_estimates(matrix_of(stretched, scale), [key]) == before


@settings(max_examples=60, deadline=None)
@given(tables(), st.permutations(SCALE))
def test_relabelling_leaves_nominal_coefficients_alone(units: Units, other: list[int]) -> None:
    new = dict(zip(SCALE, other, strict=True))
    relabelled = [[None if x is None else new[x] for x in unit] for unit in units]
    keys = [
        "percent_agreement",
        "light_kappa",
        "fleiss_kappa",
        "conger_kappa",
        "krippendorff_alpha_nominal",
        "gwet_ac1",
    ]
    before, after = (point_estimates(matrix_of(some), keys) for some in (units, relabelled))
    assert before == {key: pytest.approx(value, abs=1e-12) for key, value in after.items()}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(SCALE), min_size=1, max_size=8))
def test_perfect_agreement_is_one_or_undefined(levels: list[int]) -> None:
    found = point_estimates(matrix_of([[level] * 3 for level in levels]), KEYS)
    # Where nothing varies these two say 1 as they are defined; the gate does not decide by it.
    for key in ("percent_agreement", *GWETS):
        assert found.pop(key) == 1
    expected = 1 if len(set(levels)) > 1 else None
    assert set(found.values()) == {expected}


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(0, 2**32))
def test_weighted_sums_equal_the_repeated_data(units: Units, seed: int) -> None:
    matrix = matrix_of(units)
    clusters = sorted(set(matrix.clusters))
    weights = np.random.default_rng(seed).integers(0, 3, size=len(clusters))
    sums = Weighted.of(sum_table(matrix, clusters), Drawn(weights[np.newaxis].astype(float)))
    repeated = [
        [None if math.isnan(x) else int(x) for x in row]
        for row, label in zip(matrix.values.tolist(), matrix.clusters, strict=True)
        for _ in range(weights[clusters.index(label)])
    ]
    exact = every_coefficient(repeated, SCALE) if repeated else dict.fromkeys(KEYS)
    for key, function in COEFFICIENTS.items():
        found = function(sums)
        needs_all = key.startswith("light") or key in LISTWISE
        if needs_all and len(sums.table.raters) < len(matrix.raters):
            continue
        if needs_all and not all(
            any(row[r] is not None for row in repeated) for r in range(len(matrix.raters))
        ):
            assert not found.defined[0]  # a judge whom the draw silences makes it undefined
            continue
        assert agrees(float(found.values[0]) if found.defined[0] else None, exact[key]), key
        assert not np.isnan(found.values).any()


@settings(max_examples=60, deadline=None)
@given(tables())
def test_leaving_out_a_rater_equals_the_data_without_him(units: Units) -> None:
    matrix = matrix_of(units)
    found = evaluate({"score": matrix}, draws=0, seed=1)["score"].leave_one_out
    for place, rater in enumerate(matrix.raters):
        if rater in found:  # else he rated nothing
            rest: Units = [unit[:place] + unit[place + 1 :] for unit in units]
            for key, exact in every_coefficient(rest, SCALE).items():
                assert agrees(found[rater][key], exact), (key, rater)
            again = point_estimates(matrix.without_rater(rater), KEYS)
            assert found[rater] == again  # to the last bit


def test_leaving_out_a_cluster_equals_the_data_without_it() -> None:
    units: Units = [[0, 1, 1], [2, 2, 4], [4, 4, None], [0, 0, 1], [1, 2, 2], [4, 2, 4]]
    matrix = matrix_of(units)
    sums = Weighted.of(sum_table(matrix, ["c0", "c1", "c2"]), Without(0, 3))
    for left_out in range(3):
        rest = [unit for number, unit in enumerate(units) if number % 3 != left_out]
        for key, exact in every_coefficient(rest, SCALE).items():
            assert agrees(float(COEFFICIENTS[key](sums).values[left_out]), exact)


def test_constant_rater_has_kappa_zero_exactly() -> None:
    units: Units = [[1, 0], [1, 2], [1, 4], [1, 1], [1, 1], [1, 4], [1, 0]]
    (pair,) = evaluate({"s": matrix_of(units)}, draws=0, seed=1)["s"].pairs.values()
    assert (pair.cohen_kappa, pair.cohen_kappa_linear, pair.cohen_kappa_quadratic) == (0, 0, 0)


def test_one_unit_with_any_disagreement_has_alpha_zero_exactly() -> None:
    for unit in ([0, 1], [0, 1, 4], [1, 1, 2, 4], [0, 0, 0, 0, 2]):
        found = point_estimates(matrix_of([list(unit)]), ALPHAS)
        assert set(found.values()) == {0}


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([[1, 1], [1, 1], [1, None]], "no_variation"),
        ([[1, None], [None, 2], [0, None]], "no_overlap"),
        ([[1, 1], [2, None], [None, 4]], "too_few_pairs"),
        ([[1], [2]], "no_overlap"),
        ([[None, None]], "no_overlap"),
    ],
)
def test_undefined_has_its_reason(units: Units, reason: str) -> None:
    result = evaluate({"s": matrix_of(units)}, draws=20, seed=1)["s"]
    for key, one in result.coefficients.items():
        if key in GWETS and reason == "no_variation":
            assert one.estimate == 1  # levels that nobody used are part of its chance
        elif key != "percent_agreement":
            assert (one.estimate, one.undefined) == (None, reason), key
            assert one.ci95 is one.percentile95 is one.lower95 is None
            with pytest.raises(Undefined, match=reason):
                one.value()


def test_lights_kappa_names_the_pair_that_undefines_it() -> None:
    units: Units = [[0, 0, 1], [1, 1, None], [2, 1, None], [4, 4, 4]]
    units = [unit if unit[2] is None else [unit[0], None, unit[2]] for unit in units]
    one = evaluate({"s": matrix_of(units)}, draws=0, seed=1)["s"].coefficients["light_kappa"]
    assert (one.undefined, one.detail) == ("no_overlap", "r1|r2")


def test_silent_rater_is_dropped_and_counted() -> None:
    units: Units = [[0, 0, None], [1, 2, None], [4, 4, None]]
    result = evaluate({"s": matrix_of(units)}, draws=0, seed=1)["s"]
    assert (result.n_raters, result.silent_raters) == (2, ("r2",))
    assert result.coefficients["light_kappa"].estimate == result.pairs["r0|r1"].cohen_kappa
    assert set(result.leave_one_out) == {"r0", "r1"}


def test_half_levels_are_as_exact_as_whole_ones() -> None:
    units: Units = [[0, 1], [2, 2], [4, 2], [1, 1], [0, 4]]
    halves = [[None if x is None else x / 2 + 0.1 for x in unit] for unit in units]
    scale = [x / 2 + 0.1 for x in SCALE]
    keys = [key for key in KEYS if key != "krippendorff_alpha_ratio"]  # which knows where 0 is
    assert point_estimates(matrix_of(halves, scale), keys) == point_estimates(  # type: ignore[arg-type]
        matrix_of(units), keys
    )


def test_scale_without_short_fractions_is_right_to_rounding() -> None:
    scale = [0.0, math.sqrt(2), math.pi, 10.0]
    units = [[scale[(i * j + i) % 4] for j in range(3)] for i in range(12)]
    matrix = matrix_of(units, scale)  # type: ignore[arg-type]
    evaluate({"s": matrix}, draws=50, seed=1)  # the libraries agree


def test_disagreeing_library_refuses_the_report() -> None:
    matrix = matrix_of([[0, 1], [2, 2], [4, 4]])
    right = point_estimates(matrix, KEYS)
    check_coefficient(matrix, "fleiss_kappa", right["fleiss_kappa"])  # type: ignore[arg-type]
    for key in ("fleiss_kappa", "krippendorff_alpha_ordinal"):
        with pytest.raises(EngineDisagreement, match=key):
            check_coefficient(matrix, key, right[key] + 2e-9)  # type: ignore[operator]
    wrong = PairAgreement(
        first="r0",
        second="r1",
        n=3,
        cohen_kappa=None,
        cohen_kappa_linear=0.5,
        cohen_kappa_quadratic=None,
    )
    with pytest.raises(EngineDisagreement, match="linear"):
        check_pairs(matrix, [wrong])


@pytest.mark.parametrize(("off", "is_refused"), [(2e-9, True), (5e-10, False), (math.nan, True)])
def test_nothing_is_evaluated_where_a_library_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, off: float, is_refused: bool
) -> None:
    right = krippendorff.alpha
    monkeypatch.setattr(krippendorff, "alpha", lambda **named: right(**named) + off)
    expected = pytest.raises(EngineDisagreement) if is_refused else nullcontext()
    with expected:
        evaluate({"s": matrix_of([[0, 1], [2, 2], [4, 4]])}, draws=0, seed=1)


# Three judges, ten responses; each string is one response.
THREE_FIFTHS = "000 000 011 012 013 111 111 111 222 222"
# P = 22/30; levels used 9, 13, 7, 1 times of 30: Pe = 300/900; (22/30 - 1/3) / (2/3) = 3/5
FORTY_67THS = "000 000 000 111 113 122 123 222 223 333"
# P = 21/30; levels used 9, 7, 8, 6 times of 30: Pe = 230/900; (63/90 - 23/90) / (67/90) = 40/67


@pytest.mark.parametrize(
    ("table", "exact", "verdict"),
    [(THREE_FIFTHS, Fraction(3, 5), "met"), (FORTY_67THS, Fraction(40, 67), "not_met")],
)
def test_hand_worked_fleiss_and_the_literal_gate(table: str, exact: Fraction, verdict: str) -> None:
    units: Units = [[int(level) for level in unit] for unit in table.split()]
    assert every_coefficient(units, [0, 1, 2, 3])["fleiss_kappa"] == exact
    matrix = matrix_of(units, [0, 1, 2, 3])
    result = evaluate({"s": matrix}, draws=0, seed=1)["s"]
    one = result.coefficients["fleiss_kappa"]
    assert one.value() == pytest.approx(float(exact), abs=1e-15)
    criterion = CriterionInput(
        name="s",
        estimate=one.estimate,
        lower95=one.lower95,
        undefined=one.undefined,
        required=30,
        rated=result.n_ratings,
        varies=matrix.varies,
    )
    decision = decide([criterion], LITERAL)
    assert (decision.verdict, decision.criteria[0].shown) == (verdict, "0.60")
