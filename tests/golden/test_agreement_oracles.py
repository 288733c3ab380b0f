"""Our coefficients beside other people's packages, on random tables: development dependencies only.

irrCAC (Gwet's coefficients with gaps), pingouin (intraclass correlation) and scikit-learn (Cohen's
kappa). Each is used in the one way in which it is right: see the mistakes that they invite in
`test_agreement_published`.
"""

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from ratings.agreement.analyse import evaluate
from ratings.agreement.matrix import RatingMatrix
from ratings.agreement.results import CriterionAgreement

SCALE = (0.0, 1.0, 2.0, 3.0)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
SEEDS = range(3)


def panel(seed: int, gaps: float) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    true = random.normal(1.5, 1, size=(40, 1))
    values = np.clip(np.rint(true + random.normal(0, 0.8, size=(40, 4))), 0, 3)
    values[random.random(values.shape) < gaps] = np.nan
    return values[~np.isnan(values).all(axis=1)]


def ours(values: NDArray[np.float64]) -> CriterionAgreement:
    units = tuple(f"{row:02}" for row in range(len(values)))
    raters = tuple("abcd"[: values.shape[1]])
    matrix = RatingMatrix(values, SCALE, raters, units, units)
    return evaluate({"s": matrix}, draws=0, seed=1)["s"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_irrcac_with_gaps(seed: int, gaps: float) -> None:
    raw = pytest.importorskip("irrCAC.raw", reason="irrCAC is not installed")
    pandas = pytest.importorskip("pandas")
    values = panel(seed, gaps)
    found = ours(values).coefficients
    for weights, keys in {
        "identity": {
            "fleiss": "fleiss_kappa",
            "conger": "conger_kappa",
            "gwet": "gwet_ac1",
            "krippendorff": "krippendorff_alpha_nominal",
        },
        "linear": {"fleiss": "fleiss_kappa_linear", "gwet": "gwet_ac2_linear"},
        "quadratic": {
            "fleiss": "fleiss_kappa_quadratic",
            "gwet": "gwet_ac2_quadratic",
            "krippendorff": "krippendorff_alpha_interval",
        },
    }.items():
        cac = raw.CAC(pandas.DataFrame(values), weights=weights, categories=list(SCALE), digits=12)
        for method, key in keys.items():
            theirs = getattr(cac, method)()["est"]["coefficient_value"]
            assert found[key].value() == pytest.approx(theirs, abs=1e-9), (weights, method)


@pytest.mark.parametrize("seed", SEEDS)
def test_pingouin_on_complete_data(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pingouin = pytest.importorskip("pingouin", reason="pingouin is not installed")
    pandas = pytest.importorskip("pandas")
    values = panel(seed, 0.0)
    rows = [(u, r, x) for u, row in enumerate(values) for r, x in enumerate(row)]
    table = pingouin.intraclass_corr(pandas.DataFrame(rows, columns=["u", "r", "x"]), "u", "r", "x")
    theirs = dict(zip(table["Type"], table["ICC"], strict=True))
    found = ours(values).coefficients
    names = {"icc_1_1": "ICC(1,1)", "icc_2_1": "ICC(A,1)", "icc_3_1": "ICC(C,1)"}
    names |= {"icc_1_k": "ICC(1,k)", "icc_2_k": "ICC(A,k)", "icc_3_k": "ICC(C,k)"}
    for key, name in names.items():
        assert found[key].value() == pytest.approx(theirs[name], abs=1e-9), name


@pytest.mark.parametrize("seed", SEEDS)
def test_scikit_learn_by_pair(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    values = panel(seed, 0.2)
    found = ours(values).pairs
    for key, pair in found.items():
        columns = ["abcd".index(name) for name in key.split("|")]
        both = values[:, columns]
        one, other = both[~np.isnan(both).any(axis=1)].astype(int).T
        for weights, kappa in (
            (None, pair.cohen_kappa),
            ("linear", pair.cohen_kappa_linear),
            ("quadratic", pair.cohen_kappa_quadratic),
        ):
            theirs = metrics.cohen_kappa_score(one, other, labels=[0, 1, 2, 3], weights=weights)
            assert kappa == pytest.approx(theirs, abs=1e-12)
