"""The gate's truth table."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratings.gate import (
    H1,
    LITERAL,
    ORDINAL,
    POLICIES,
    CriterionInput,
    Policy,
    Reason,
    Verdict,
    changes_to_turn_panel,
    decide,
    reaches,
)

MET, NOT_MET, UNDECIDABLE = Verdict.MET, Verdict.NOT_MET, Verdict.UNDECIDABLE


def criterion(**changes: object) -> CriterionInput:
    values: dict[str, object] = {
        "name": "synthesis",
        "estimate": 0.7,
        "lower95": 0.65,
        "undefined": None,
        "required": 60,
        "rated": 60,
        "varies": True,
    }
    return CriterionInput(**(values | changes))  # type: ignore[arg-type]


def one(policy: Policy, **changes: object) -> tuple[Verdict, Reason]:
    (decided,) = decide([criterion(**changes)], policy).criteria
    return decided.verdict, decided.reason


@pytest.mark.parametrize(
    ("policy", "value", "verdict"),
    [
        (LITERAL, 0.6, MET),
        (LITERAL, 1 - (1 - 0.8) / (1 - 0.5), MET),  # .6000000000000001
        (LITERAL, 0.5999999999999999, MET),
        (LITERAL, 0.6 - 2e-12, NOT_MET),
        (LITERAL, float(Fraction(3, 5)), MET),
        (LITERAL, 40 / 67, NOT_MET),
        (LITERAL, -0.2, NOT_MET),
        (ORDINAL, 0.6, MET),
        (ORDINAL, 0.599, NOT_MET),
        (H1, 0.8, NOT_MET),
        (H1, 0.8 + 5e-13, NOT_MET),
        (H1, 0.8 + 2e-12, MET),
    ],
)
def test_value_against_threshold(policy: Policy, value: float, verdict: Verdict) -> None:
    other = "lower95" if policy.statistic == "estimate" else "estimate"
    changes = {policy.statistic: value, other: 0.1}
    assert one(policy, **changes)[0] is verdict


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"unsubmitted": 1}, Reason.UNSUBMITTED),
        ({"rated": 56}, Reason.TOO_MUCH_MISSING),
        ({"required": 0, "rated": 0}, Reason.TOO_MUCH_MISSING),
        ({"varies": False}, Reason.NO_VARIATION),
        ({"varies": False, "estimate": 1.0, "lower95": 1.0}, Reason.NO_VARIATION),
        ({"estimate": None, "lower95": None, "undefined": "no_overlap"}, Reason.UNDEFINED),
        ({"undefined": "no_overlap"}, Reason.UNDEFINED),
        ({"estimate": None}, Reason.UNDEFINED),
        ({"estimate": float("nan")}, Reason.UNDEFINED),
        ({"unsubmitted": 2, "rated": 0, "varies": False}, Reason.UNSUBMITTED),
    ],
)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_what_cannot_be_decided(policy: Policy, changes: dict, reason: Reason) -> None:
    assert one(policy, **changes) == (UNDECIDABLE, reason)


@pytest.mark.parametrize("bound", [None, float("nan"), float("-inf")])
def test_missing_lower_bound_decides_only_where_it_is_registered(bound: float | None) -> None:
    assert one(ORDINAL, lower95=bound) == (UNDECIDABLE, Reason.NO_LOWER_BOUND)
    assert one(LITERAL, lower95=bound) == (MET, Reason.REACHES_THRESHOLD)


def test_five_per_cent_missing_is_allowed_and_more_is_not() -> None:
    assert one(LITERAL, rated=57)[0] is MET
    assert one(LITERAL, rated=56)[0] is UNDECIDABLE


def test_unsubmitted_slots_are_allowed_only_if_the_policy_says_so() -> None:
    policy = Policy.from_dict(LITERAL.to_dict() | {"every_slot_submitted": False})
    assert one(policy, unsubmitted=1, rated=58)[0] is MET


@pytest.mark.parametrize(
    ("verdicts", "panel"),
    [
        ((), UNDECIDABLE),
        ((MET,), MET),
        ((MET, MET), MET),
        ((NOT_MET,), NOT_MET),
        ((UNDECIDABLE,), UNDECIDABLE),
        ((MET, NOT_MET), NOT_MET),
        ((MET, UNDECIDABLE), UNDECIDABLE),
        ((UNDECIDABLE, NOT_MET), NOT_MET),
        ((MET, UNDECIDABLE, NOT_MET, MET), NOT_MET),
    ],
)
def test_panel_follows_from_its_criteria(verdicts: tuple[Verdict, ...], panel: Verdict) -> None:
    inputs = {
        MET: criterion(),
        NOT_MET: criterion(estimate=0.1),
        UNDECIDABLE: criterion(varies=False),
    }
    decision = decide([inputs[verdict] for verdict in verdicts], LITERAL)
    assert decision.verdict is panel
    assert tuple(one.verdict for one in decision.criteria) == verdicts


STRICT = Policy.from_dict(LITERAL.to_dict() | {"name": "strict", "comparator": ">"})


@pytest.mark.parametrize(
    ("policy", "estimate", "lower95", "reached"),
    [
        (LITERAL, 0.6, None, True),
        (LITERAL, 0.5, 0.9, False),
        (STRICT, 0.6, None, False),
        (STRICT, 0.5999999999999999, None, False),
        (STRICT, 0.6 + 2e-12, None, True),
        (ORDINAL, 0.9, 0.6, True),
        (ORDINAL, 0.9, 0.5, False),
        (ORDINAL, 0.9, None, False),
        (LITERAL, None, None, False),
        (LITERAL, float("nan"), None, False),
        (H1, 0.9, 0.8, False),
    ],
)
def test_rule_on_figures_alone(
    policy: Policy, estimate: float | None, lower95: float | None, reached: bool
) -> None:
    assert reaches(policy, estimate, lower95) is reached
    if estimate is not None and lower95 is not None:
        assert (one(policy, estimate=estimate, lower95=lower95)[0] is MET) is reached


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_defaults_of_every_ready_made_policy(policy: Policy) -> None:
    assert policy.every_slot_submitted
    assert policy.max_missing_share == 0.05


@pytest.mark.parametrize(
    ("estimates", "changes", "turned"),
    [
        ((0.7, 0.8), (4, 9), 4),  # met: the nearest criterion turns it
        ((0.7, 0.8), (None, 9), 9),
        ((0.7, 0.8), (None, None), None),
        ((0.1, 0.8), (5, 9), 5),  # not met: the one that misses must turn
        ((0.1, 0.2), (5, 9), 14),  # not met: both must
        ((0.1, 0.2), (5, None), None),
        ((0.1, None), (5, None), 5),  # then it cannot be decided, which is another verdict
        ((0.7, None), (4, None), None),  # cannot be decided: no question of scores
        ((), (), None),
    ],
)
def test_changes_that_turn_the_panel(
    estimates: tuple[float | None, ...], changes: tuple[int | None, ...], turned: int | None
) -> None:
    inputs = [criterion(name=str(n), estimate=value) for n, value in enumerate(estimates)]
    decision = decide(inputs, LITERAL)
    by_name = {str(n): number for n, number in enumerate(changes)}
    assert changes_to_turn_panel(decision, by_name) == turned


def test_rounded_value_is_shown_beside_the_one_compared() -> None:
    (decided,) = decide([criterion(estimate=40 / 67)], LITERAL).criteria
    assert (decided.shown, decided.value, decided.verdict) == ("0.60", 40 / 67, NOT_MET)
    assert decided.reason_details == {"comparator": ">=", "threshold": 0.6}


def test_minus_zero_is_shown_as_zero() -> None:
    (decided,) = decide([criterion(estimate=-0.001)], LITERAL).criteria
    assert decided.shown == "0.00"


def test_decision_is_written_in_plain_values() -> None:
    document = decide([criterion(rated=50)], LITERAL).to_dict()
    assert document == {
        "verdict": "undecidable",
        "criteria": [
            {
                "name": "synthesis",
                "verdict": "undecidable",
                "value": 0.7,
                "shown": "0.70",
                "reason": "too_much_missing",
                "reason_details": {"missing": 10, "required": 60, "max_share": 0.05},
            }
        ],
    }


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_policy_survives_being_written_out(policy: Policy) -> None:
    assert Policy.from_dict(policy.to_dict()) == policy


def test_ready_made_policies_are_the_protocols() -> None:
    rules = {
        name: (p.coefficient, p.statistic, p.comparator, p.threshold)
        for name, p in POLICIES.items()
    }
    assert rules == {
        "literal": ("fleiss_kappa", "estimate", ">=", 0.6),
        "ordinal": ("krippendorff_alpha_ordinal", "lower95", ">=", 0.6),
        "h1": ("krippendorff_alpha_ordinal", "lower95", ">", 0.8),
    }


@pytest.mark.parametrize(
    "change",
    [
        {"statistic": "upper"},
        {"comparator": "<"},
        {"threshold": float("nan")},
        {"threshold": "0.6"},
        {"threshold": True},
        {"threshold": None},
        {"threshold": 10**400},
        {"max_missing_share": 2},
        {"max_missing_share": False},
        {"max_missing_share": "0"},
        {"every_slot_submitted": "no"},
        {"every_slot_submitted": 0},
        {"coefficient": "fleiss"},
        {"coefficient": None},
        {"coefficient": ["fleiss_kappa"]},
        {"statistic": None},
        {"name": ""},
        {"name": 7},
        {"surprise": 1},
        {3: 1},
    ],
)
def test_unknown_policy_is_refused(change: dict) -> None:
    with pytest.raises(ValueError):
        Policy.from_dict(LITERAL.to_dict() | change)


@pytest.mark.parametrize("document", [None, [], "literal", 3])
def test_what_is_no_table_is_no_policy(document: object) -> None:
    with pytest.raises(ValueError):
        Policy.from_dict(document)  # type: ignore[arg-type]


def test_incomplete_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="incomplete"):
        Policy.from_dict({"name": "literal"})


numbers = st.none() | st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.lists(
        st.builds(
            CriterionInput,
            name=st.text(),
            estimate=numbers,
            lower95=numbers,
            undefined=st.none() | st.text(),
            required=st.integers(-5, 500),
            rated=st.integers(-5, 500),
            varies=st.booleans(),
            unsubmitted=st.integers(-1, 5),
        )
    ),
    st.sampled_from(sorted(POLICIES)),
)
def test_gate_is_total_and_meets_nothing_undefined(
    criteria: list[CriterionInput], name: str
) -> None:
    decision = decide(criteria, POLICIES[name])
    assert decision.verdict in Verdict
    for given_, decided in zip(criteria, decision.criteria, strict=True):
        if decided.verdict is MET:
            assert given_.undefined is None and given_.varies and given_.unsubmitted <= 0
