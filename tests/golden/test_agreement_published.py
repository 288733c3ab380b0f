"""Published and synthetic tables with values that independent packages confirm.

`published.json` holds the data sets that may be copied, each with its source; more are read from
the workshop's shared folder (beside the project, or where AWB_SHARED says) where it is present.
`KEYS` says what is computed.
"""

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ratings.agreement.analyse import evaluate
from ratings.agreement.coefficients import COEFFICIENTS, Drawn, Weighted
from ratings.agreement.comparison import compare_with_model, condition_means, rater_means
from ratings.agreement.contrasts import sign_test
from ratings.agreement.matrix import MatrixError, RatingMatrix
from ratings.agreement.results import CriterionAgreement
from ratings.agreement.sums import sum_table

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("AWB_SHARED") or HERE.parents[2] / "shared")
PUBLISHED = json.loads((HERE / "published.json").read_text())["datasets"]
KEYS = {
    "percent_agreement": "percent_agreement",
    "light": "light_kappa",
    "light_linear": "light_kappa_linear",
    "light_quadratic": "light_kappa_quadratic",
    "fleiss": "fleiss_kappa",
    "fleiss_linear": "fleiss_kappa_linear",
    "fleiss_quadratic": "fleiss_kappa_quadratic",
    "alpha_nominal": "krippendorff_alpha_nominal",
    "alpha_ordinal": "krippendorff_alpha_ordinal",
    "alpha_interval": "krippendorff_alpha_interval",
    "alpha_ratio": "krippendorff_alpha_ratio",
    "conger": "conger_kappa",
    "gwet_ac1": "gwet_ac1",
    "gwet_ac2_linear": "gwet_ac2_linear",
    "gwet_ac2_quadratic": "gwet_ac2_quadratic",
    "ICC(1,1)": "icc_1_1",
    "ICC(2,1)": "icc_2_1",
    "ICC(3,1)": "icc_3_1",
    "ICC(1,k)": "icc_1_k",
    "ICC(2,k)": "icc_2_k",
    "ICC(3,k)": "icc_3_k",
    "kendall_w": "kendall_w",
}
# Not computed here: the unanimous share, Brennan and Prediger's coefficient, W without its
# correction, Gwet's "ordinal" weights, and variance components by REML.
COHEN = {
    "cohen": "cohen_kappa",
    "cohen_linear": "cohen_kappa_linear",
    "cohen_quadratic": "cohen_kappa_quadratic",
}
# What means nothing where the table is of counts and its raters are nobody in particular.
OF_RATERS = {name for name in KEYS if name.startswith(("light", "conger", "ICC", "kendall"))}
# Where our rules say otherwise than the packages: what Light's kappa is instead.
# A pair with one joint unit has no kappa here; scikit-learn gives it 0 if the two disagree.
# A rater who rated nothing is dropped: with two raters left, W follows from their Spearman's rho.
# The file's gaps for Stuart's data are filled by the one package that computed them, R irr.
OUR_RULE: dict[str, dict[str, float | None]] = {
    "gwet_raw5observers": {"light": None, "light_linear": None, "light_quadratic": None},
    "irr_vision_stuart1953": {
        "fleiss": 0.5953606615690409,
        "conger": 0.595388828089434,
        "kendall_w": 0.853212920838871,
    },
    "edge_one_item_disagree": {"light": None, "light_linear": None, "light_quadratic": None},
    "edge_all_missing_rater": {
        "light": 7 / 13,
        "light_linear": 13 / 19,
        "light_quadratic": 9 / 11,
        "conger": 7 / 13,
        "kendall_w": 41 / 44,
    },
}


def shared(path: str) -> Path:
    """Return a file of the shared folder, or skip the test and say so."""
    if not (SHARED / path).exists():
        pytest.skip(f"needs the shared folder ({path}), which is not part of the project")
    return SHARED / path


def read_matrix(by_rater: list[list[float | None]], levels: list[float] | None) -> RatingMatrix:
    rows = [
        (f"{unit:04}", f"r{rater:02}", score)
        for rater, scores in enumerate(by_rater)
        for unit, score in enumerate(scores)
    ]
    used = {score for scores in by_rater for score in scores if score is not None}
    return RatingMatrix.from_long(rows, scale=levels or sorted(used))


def evaluate_one(matrix: RatingMatrix) -> CriterionAgreement:
    return evaluate({"score": matrix}, draws=0, seed=1)["score"]


def compare(dataset: dict[str, Any], *, counts_only: bool) -> int:
    """Compare every value that we compute; return how many."""
    result = evaluate_one(read_matrix(dataset["data"], dataset["categories"]))
    compared = 0
    for name, expected in dataset["expected"].items():
        if name in KEYS and not (counts_only and name in OF_RATERS):
            ours = result.coefficients[KEYS[name]].estimate
        elif name in COHEN and len(result.pairs) == 1:
            (pair,) = result.pairs.values()
            ours = getattr(pair, COHEN[name])
        else:
            continue
        compared += 1
        value = None if expected["undefined"] else expected["value"]
        value = OUR_RULE.get(dataset["name"], {}).get(name, value)
        if value is None:
            assert ours is None, name
        else:
            assert ours == pytest.approx(value, abs=0.51 * 10 ** -expected["decimals"]), name
    return compared


@pytest.mark.parametrize("dataset", PUBLISHED, ids=lambda one: one["name"])
def test_published_table(dataset: dict[str, Any]) -> None:
    assert compare(dataset, counts_only=dataset["counts_only"]) >= 3


def test_every_shared_table() -> None:
    datasets = json.loads(shared("reference/golden.json").read_text())["datasets"]
    compared = 0
    for dataset in datasets:
        compared += compare(dataset, counts_only="counts-only" in (dataset["notes"] or ""))
    assert len(datasets) == 36 and compared == 681


KNOWN = {
    "kappa": "fleiss_kappa",
    "alpha": "krippendorff_alpha_ordinal",
    "percent_agreement": "percent_agreement",
    "po": "percent_agreement",
    "alpha_nominal": "krippendorff_alpha_nominal",
    "alpha_ordinal": "krippendorff_alpha_ordinal",
    "alpha_interval": "krippendorff_alpha_interval",
    "fleiss": "fleiss_kappa",
    "fleiss_generalised": "fleiss_kappa",
    "fleiss_quadratic": "fleiss_kappa_quadratic",
    "light_unweighted": "light_kappa",
    "light_quadratic": "light_kappa_quadratic",
    "ac1": "gwet_ac1",
    "ac2_quadratic": "gwet_ac2_quadratic",
    "cohen": "light_kappa",  # of two raters they are the same
    "cohen_quadratic": "light_kappa_quadratic",
}


def test_known_answers() -> None:
    for case in json.loads(shared("reference/known_answers.json").read_text()):
        result = evaluate_one(read_matrix(case["raters"], case["scale"]))
        for name, expected in case["expect"].items():
            if name in ("gate", "gate_0_6", "message"):  # verdicts and sentences: tested with them
                continue
            ours = result.coefficients[KNOWN[name]].estimate
            if expected == "undefined":
                assert ours is None, case["id"]
            else:
                assert ours == pytest.approx(expected, abs=6e-5), (case["id"], name)


def test_one_shared_unit_is_too_few_pairs() -> None:
    matrix = read_matrix([[1, 2, 3, 4, 5], [None, None, 3, None, None]], [1, 2, 3, 4, 5])
    result = evaluate_one(matrix)
    reasons = {key: one.undefined for key, one in result.coefficients.items()}
    assert reasons.pop("percent_agreement") is None
    assert set(reasons.values()) == {"too_few_pairs"}


ALPHA = "krippendorff_alpha_"
# The right answer's name, "" where there is but one, and our key of it.
BUGS: dict[str, dict[str, str]] = {
    "irr_complete_multirater_alpha": {"nominal": ALPHA + "nominal", "ordinal": ALPHA + "ordinal"},
    "none_in_object_array": {"": ALPHA + "ordinal"},
    "transposed_input": {"": ALPHA + "ordinal"},
    "default_level_interval": {"": ALPHA + "ordinal"},
    "unsorted_value_domain": {"": ALPHA + "ordinal"},
    "single_value_alpha": {
        "alpha": ALPHA + "ordinal",
        "cohen": "light_kappa",
        "fleiss": "fleiss_kappa",
        "percent_agreement": "percent_agreement",
        "gwet_ac1_domain_0_3": "gwet_ac1",
    },
    "swapped_pair_negative": {"": ALPHA + "nominal"},
    "one_disagreement_zero": {"": ALPHA + "ordinal"},
    "sklearn_weights_absent_category": {
        "linear": "light_kappa_linear",
        "quadratic": "light_kappa_quadratic",
    },
    "irrcac_string_order": {"": ALPHA + "interval"},
    "sklearn_labels_drops_rows": {"": "light_kappa"},
    "sklearn_nan": {"": "light_kappa"},
    "statsmodels_nan_category": {"": "fleiss_kappa"},
    "statsmodels_ragged_assert": {"": "fleiss_kappa"},
    "statsmodels_ratings_as_table": {"": "fleiss_kappa"},
    "listwise_fleiss_irr": {"": "fleiss_kappa"},
    "irrcac_domain_default": {
        "ac1": "gwet_ac1",
        "ac2_linear": "gwet_ac2_linear",
        "ac2_quadratic": "gwet_ac2_quadratic",
    },
    "irrcac_ordinal_alpha_is_other_metric": {"": ALPHA + "ordinal"},
    "r_irrcac_empty_item": {"gwet_ac1_domain_0_3": "gwet_ac1", "fleiss": "fleiss_kappa"},
    "irrcac_confidence_arg": {"fleiss": "fleiss_kappa"},
    "nltk_weighted_kappa_maxdist": {"": "light_kappa_quadratic"},
    "pingouin_unbalanced": {"listwise_ICC(2,1)": "icc_2_1"},
    "pingouin_type_labels": {"ICC(2,1)": "icc_2_1", "ICC(3,1)": "icc_3_1"},
}
# Not about a value of ours: one is a p-value of a coefficient that we do not give, one is speed.
NOT_VALUES = {"irrcac_bp_pvalue_one_sided", "pingouin_slow"}
WORDS = {"low": 0, "mid": 1, "high": 2}


def test_mistakes_that_packages_make() -> None:
    cases = {c["id"]: c for c in json.loads(shared("reference/bug_cases.json").read_text())}
    assert BUGS.keys() | NOT_VALUES == cases.keys()
    for name, keys in BUGS.items():
        right = cases[name]["right_answer"]
        data = [[WORDS.get(score, score) for score in scores] for scores in cases[name]["data"]]
        highest = max(score for scores in data for score in scores if score is not None)
        result = evaluate_one(read_matrix(data, list(range(max(highest, 3) + 1))))
        for part, key in keys.items():
            expected = right[part] if part else right
            if expected is None:
                assert result.coefficients[key].undefined == "no_variation", (name, part)
            else:
                assert result.coefficients[key].estimate == pytest.approx(expected, abs=1e-5), name


def test_words_without_numbers_are_refused() -> None:
    with pytest.raises(MatrixError, match="give levels as numbers in their order"):
        RatingMatrix.from_long([("u", "r", "low")], scale=[0, 1, 2])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("summeval_experts", range(1, 6)),
        ("summeval_op", range(1, 6)),
        ("squality", range(101)),
    ],
)
def test_real_study_equals_its_facts(name: str, scale: range) -> None:
    folder = shared(f"data/{name}/facts.json").parent
    facts = json.loads((folder / "facts.json").read_text())
    items = {row["item_id"]: row for row in read_csv(folder / "items.csv")}
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for row in read_csv(folder / "ratings.csv"):
        rows.setdefault(row["criterion"], []).append(
            (row["item_id"], row["rater_id"], row["score"])
        )
    clusters = {item: row["prompt_id"] for item, row in items.items()}
    matrices = {
        criterion: RatingMatrix.from_long(some, scale=scale, clusters=clusters)  # type: ignore[arg-type]
        for criterion, some in rows.items()
    }

    means = condition_means(matrices, {item: row["condition"] for item, row in items.items()})
    for condition, by_criterion in facts["condition_means"].items():
        for criterion, mean in by_criterion.items():
            assert means[condition][criterion]["mean"] == pytest.approx(mean, abs=6e-4)
    of_rater = rater_means(matrices)
    for rater, by_criterion in facts["rater_means"].items():
        for criterion, mean in by_criterion.items():
            assert of_rater[rater][criterion]["mean"] == pytest.approx(mean, abs=6e-4)

    results = evaluate(matrices, draws=0, seed=1)
    for criterion, alphas in facts["alpha"].items():
        result = results[criterion]
        for label, value in alphas.items():
            level, _, rater = label.partition("_without_")
            key = f"krippendorff_alpha_{level}"
            found = {key: result.coefficients[key].estimate}
            ours = (result.leave_one_out[rater] if rater else found)[key]
            assert ours == pytest.approx(value, abs=1e-6), (criterion, label)

    models: dict[tuple[str, str], dict[str, list[float]]] = {}
    if (folder / "model_judgements.csv").exists():
        for row in read_csv(folder / "model_judgements.csv"):
            if row["score"]:
                scores = models.setdefault((row["judge"], row["criterion"]), {})
                scores.setdefault(row["item_id"], []).append(float(row["score"]))
    for judge, by_criterion in facts.get("judge_vs_humanmean_spearman", {}).items():
        for criterion, (rho, n) in by_criterion.items():
            compared = compare_with_model(matrices[criterion], models[judge, criterion])
            assert (compared.spearman, compared.n_units) == (pytest.approx(rho, abs=6e-5), n)


def test_sign_tests_and_rank_correlations() -> None:
    cases = json.loads(shared("reference/golden_model_judge.json").read_text())["cases"]
    for case in cases:
        if case["kind"] == "sign_test":
            n_for, n = case["n_positive"], case["n_nonzero"]
            assert sign_test(n_for, n - n_for) == pytest.approx(
                case["expected"]["p_two_sided"], abs=1e-12
            )
        if case["kind"] == "rank_correlation":
            people = {f"u{i:03}": score for i, score in enumerate(case["x"])}
            rows = [(unit, "r", score) for unit, score in people.items()]
            matrix = RatingMatrix.from_long(rows, scale=sorted(set(people.values())))
            model = {f"u{i:03}": [score] for i, score in enumerate(case["y"])}
            expected = case["expected"]["spearman"]
            ours = compare_with_model(matrix, model).spearman
            assert ours == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_exact_bootstrap_of_five_clusters() -> None:
    cases = json.loads(shared("reference/golden_model_judge.json").read_text())["cases"]
    (case,) = (case for case in cases if case["kind"] == "exact_bootstrap")
    rows = [
        (f"{unit:02}", f"r{rater}", score)
        for rater, scores in enumerate(case["data"])
        for unit, score in enumerate(scores)
    ]
    clusters = {f"{unit:02}": label for unit, label in enumerate(case["cluster"])}
    matrix = RatingMatrix.from_long(rows, scale=case["categories"], clusters=clusters)
    every = np.stack(np.meshgrid(*[np.arange(5)] * 5, indexing="ij"), axis=-1).reshape(-1, 5)
    weights = np.stack([(every == cluster).sum(axis=1) for cluster in range(5)], axis=1)
    sums = Weighted.of(sum_table(matrix, list("01234")), Drawn(weights.astype(np.float64)))
    drawn = COEFFICIENTS["krippendorff_alpha_ordinal"](sums)
    expected = case["expected"]
    assert drawn.defined.all()
    assert drawn.values.mean() == pytest.approx(expected["alpha_boot_mean"], abs=1e-10)
    for probability, value in expected["alpha_quantiles"].items():
        quantile = np.quantile(drawn.values, float(probability))
        assert quantile == pytest.approx(value, abs=1e-10)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
