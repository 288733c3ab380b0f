"""People against a model: published and synthetic cases that independent packages confirm.

`model_judge.json` holds the cases, each with its source. The data sets of the paper on alternative
annotators are not among them: they may not be copied.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ratings.agreement import libraries
from ratings.agreement.alternative_annotator import against_judges, benjamini_yekutieli
from ratings.agreement.blinding_indices import bang, james
from ratings.agreement.clustered import rank_correlation
from ratings.agreement.contrasts import sign_test
from ratings.agreement.limits import Limits, repeated, replicated, single
from ratings.agreement.matrix import RatingMatrix

HERE = Path(__file__).parent
CASES = json.loads((HERE / "model_judge.json").read_text())["cases"]


def cases(kind: str) -> Any:
    chosen = [pytest.param(case, id=case["name"]) for case in CASES if case["kind"] == kind]
    assert chosen
    return pytest.mark.parametrize("case", chosen)


def close(mine: Any, expected: Any, decimals: int) -> None:
    if expected is None:
        assert mine is None
    elif isinstance(expected, list):
        for one, other in zip(mine, expected, strict=True):
            close(one, other, decimals)
    else:
        assert mine == pytest.approx(float(expected), abs=0.5 * 10**-decimals)


def humans_of(case: dict[str, Any]) -> tuple[RatingMatrix, np.ndarray]:
    rows = [(u, j, x) for j, scores in case["humans"].items() for u, x in scores.items()]
    matrix = RatingMatrix.from_long(rows, scale=sorted({float(x) for _, _, x in rows} | {-1.0}))
    model = np.array([case["model"].get(unit, math.nan) for unit in matrix.units], dtype=float)
    return matrix, model


@cases("alt_test")
def test_alternative_annotator(case: dict[str, Any]) -> None:
    matrix, model = humans_of(case)
    (found,) = against_judges(
        {"score": matrix},
        {"score": model[np.newaxis]},
        alignment=case["scoring"],
        epsilon=case["epsilon"],
        over="units",
        fewest=case["min_items_per_human"],
        q=case["q_fdr"],
    )
    expected = case["expected"]
    assert found.omega["score"] == pytest.approx(expected["omega"], abs=1e-10)
    assert found.rho["score"] == pytest.approx(expected["rho"], abs=1e-10)
    for one in expected.get("per_human", ()):
        mine = found.tests["score"][one["human"]]
        assert (mine.n, mine.beaten) == (one["n"], one["reject"])
        close(mine.rho_model, one["rho_f"], 10)
        close(mine.rho_judge, one["rho_h"], 10)
        close(mine.p, one["p"], 10)
        assert mine.t == pytest.approx(
            float(one["t"].replace("inity", "") if isinstance(one["t"], str) else one["t"])
        )
    if case["name"].endswith("eps0.0"):
        assert {one.undefined for one in found.tests["score"].values()} == {"no_variation"}


@cases("benjamini_yekutieli")
def test_benjamini_yekutieli(case: dict[str, Any]) -> None:
    adjusted = benjamini_yekutieli(case["p"])
    close(adjusted, case["expected"]["p_adjusted"], case["expected"]["decimals"])
    assert [p <= case["q"] for p in adjusted] == case["expected"]["reject"]


def compare(found: Limits | None, expected: dict[str, Any]) -> None:
    assert found is not None
    decimals = expected["decimals"]
    for name, key in (
        ("bias", "bias"),
        ("sd", "sd"),
        ("limits", "loa"),
        ("bias_ci95", "bias_ci95"),
        ("lower_ci95", "loa_lower_ci95"),
        ("upper_ci95", "loa_upper_ci95"),
        ("between", "between_var"),
        ("within", "within_var"),
        ("n", "n"),
    ):
        if key in expected:
            close(
                list(getattr(found, name))
                if "ci95" in name or name == "limits"
                else getattr(found, name),
                expected[key],
                decimals,
            )


@cases("bland_altman")
def test_limits_of_single_differences(case: dict[str, Any]) -> None:
    compare(single(np.array(case["x"], dtype=float) - np.array(case["y"])), case["expected"])


@cases("bland_altman_repeated_constant_truth")
def test_limits_of_replicates(case: dict[str, Any]) -> None:
    first, second = (np.array(case[key], dtype=float) for key in "xy")
    compare(replicated(first, second), case["expected"])
    for readings, key in ((first, "within_var_x"), (second, "within_var_y")):
        close(readings.var(axis=1, ddof=1).mean(), case["expected"][key], 6)


@cases("bland_altman_repeated_varying_truth")
def test_limits_where_the_true_value_varies(case: dict[str, Any]) -> None:
    apart = np.array(case["x"], dtype=float) - np.array(case["y"])
    compare(repeated(apart, case["cluster"]), case["expected"])


@cases("rank_correlation")
def test_rank_correlations(case: dict[str, Any]) -> None:
    x, y = (np.array(case[key], dtype=float) for key in "xy")
    labels = list(range(len(x)))
    for key, function in (
        ("spearman", libraries.spearman),
        ("kendall_tau_b", libraries.kendall_tau_b),
    ):
        found = rank_correlation(x, y, labels, function)
        close(found.estimate, case["expected"][key], case["expected"]["decimals"])
        assert (found.undefined == "constant_rater") == (case["expected"][key] is None)


@cases("sign_test")
def test_sign_test(case: dict[str, Any]) -> None:
    n_for = case["n_positive"]
    close(sign_test(n_for, case["n_nonzero"] - n_for), case["expected"]["p_two_sided"], 12)


@cases("blinding_index")
def test_blinding_indices(case: dict[str, Any]) -> None:
    table = np.array(case["x"], dtype=float).reshape(3, 2)
    expected, decimals = case["expected"], case["expected"]["decimals"]
    overall = james(table)
    close(overall.estimate, expected["james"], decimals)
    close(overall.standard_error, expected["james_se"], decimals)
    close(overall.ci95, expected["james_ci95"], decimals)
    for name, found in zip(("treatment", "placebo"), bang(table), strict=True):
        one = expected[f"bang_{name}"]
        close(found.estimate, one["est"], decimals)
        close(found.standard_error, one["se"], decimals)
        if one["onesided_lower95"] is not None:
            limits = [one["onesided_lower95"], one["onesided_upper95"]]
            close(found.onesided95, limits, decimals)
