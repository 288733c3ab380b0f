"""What an analysis says: frozen, unrounded, undefined with its reason. Imports nothing heavy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

UndefinedReason = Literal[
    "no_variation", "too_few_pairs", "no_overlap", "constant_rater", "no_true_zero"
]
REASONS: tuple[UndefinedReason, ...] = (
    "no_variation",
    "too_few_pairs",
    "no_overlap",
    "constant_rater",
    "no_true_zero",
)

# Every coefficient of a criterion, in the sequence of reports, with its name.
NAMES: Mapping[str, str] = MappingProxyType(
    {
        "percent_agreement": "Percent agreement",
        "light_kappa": "Light's kappa",
        "light_kappa_linear": "Light's kappa, linear weights",
        "light_kappa_quadratic": "Light's kappa, quadratic weights",
        "fleiss_kappa": "Fleiss' kappa",
        "fleiss_kappa_linear": "Fleiss' kappa, linear weights",
        "fleiss_kappa_quadratic": "Fleiss' kappa, quadratic weights",
        "conger_kappa": "Conger's kappa",
        "krippendorff_alpha_nominal": "Krippendorff's alpha, nominal",
        "krippendorff_alpha_ordinal": "Krippendorff's alpha, ordinal",
        "krippendorff_alpha_interval": "Krippendorff's alpha, interval",
        "krippendorff_alpha_ratio": "Krippendorff's alpha, ratio",
        "gwet_ac1": "Gwet's AC1",
        "gwet_ac2_linear": "Gwet's AC2, linear weights",
        "gwet_ac2_quadratic": "Gwet's AC2, quadratic weights",
        "icc_1_1": "ICC(1,1) = ICC(1)",
        "icc_2_1": "ICC(2,1) = ICC(A,1)",
        "icc_3_1": "ICC(3,1) = ICC(C,1)",
        "icc_1_k": "ICC(1,k) = ICC(k)",
        "icc_2_k": "ICC(2,k) = ICC(A,k)",
        "icc_3_k": "ICC(3,k) = ICC(C,k)",
        "kendall_w": "Kendall's W",
    }
)
KEYS: tuple[str, ...] = tuple(NAMES)
# Over the units that every rater rated; the others are left out and counted.
LISTWISE = frozenset(key for key in KEYS if key.startswith(("icc_", "kendall_")))
# What the bootstrap's lower bound of these promises held least: in .854 to .950 of simulated panels
# for .95, the jackknife's in .890 to .961 (tests/studies/coverage.py; docs/statistics.md).
BOUND_BY_JACKKNIFE = frozenset(key for key in KEYS if key.startswith(("percent_", "gwet_")))


class Undefined(Exception):
    """A coefficient has no value here.

    Attributes
    ----------
    reason : str
        ``no_variation`` (0/0: one level only, or units that do not differ), ``too_few_pairs``,
        ``no_overlap`` (no unit with two ratings), ``constant_rater`` (for rank correlations) or
        ``no_true_zero`` (a ratio coefficient on a scale with negative levels).
    detail : str
        What it is about where that is not evident, e.g. the pair of judges.
    """

    def __init__(self, reason: UndefinedReason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """One coefficient on one criterion: enough to write the sentence in a paper.

    Attributes
    ----------
    key : str
        Its name with level or weights, e.g. ``krippendorff_alpha_ordinal``.
    estimate : float or None
        Unrounded; None if undefined.
    undefined : str or None
        The reason; see `Undefined`. `detail` names the pair of judges where one is to blame.
    components : mapping of str to float
        What the estimate is made of, e.g. observed and expected disagreement, or mean squares; in
        the scale's own units.
    n_units, n_raters, n_ratings, n_pairs : int
        Units used (with two ratings or more; for ICC and W with a rating by every judge), the
        judges who rated them, those ratings, and the pairs of ratings among them.
    n_left_out : int
        Units that somebody rated and that are not among those.
    n_clusters : int
        Clusters that contribute; the jackknife has n_clusters - 1 degrees of freedom.
    ci95 : (float, float) or None
        Two-sided 95 % interval: cluster jackknife with t. None if a replicate is undefined. This
        and what follows needs `analyse.SMALLEST_RESAMPLED` clusters.
    percentile95 : (float, float) or None
        Two-sided 95 % interval: cluster percentile bootstrap over the defined draws.
    lower95 : float or None
        One-sided 95 % lower bound: the 5 % point of the same draws, undefined ones counted as
        the lowest; of `BOUND_BY_JACKKNIFE` that of the jackknife. None if it is undefined.
    draws, undefined_draws : int
        Bootstrap draws made, and those in which the coefficient is undefined.
    """

    key: str
    estimate: float | None
    undefined: str | None = None
    detail: str = ""
    n_units: int = 0
    n_raters: int = 0
    n_ratings: int = 0
    n_pairs: int = 0
    n_left_out: int = 0
    n_clusters: int = 0
    components: Mapping[str, float] = field(default_factory=dict)
    ci95: Interval | None = None
    percentile95: Interval | None = None
    lower95: float | None = None
    draws: int = 0
    undefined_draws: int = 0

    @property
    def method(self) -> str:
        """How `ci95`, `percentile95` and `lower95` came about, in this sequence."""
        bound = "jackknife" if self.key in BOUND_BY_JACKKNIFE else "percentile"
        return (
            "cluster jackknife, t(K-1); cluster percentile bootstrap, quantile type 7; "
            f"one-sided bound of the {bound}"
        )

    def value(self) -> float:
        """Return the estimate; raises `Undefined` if there is none."""
        if self.estimate is None:
            raise Undefined(self.undefined or "no_variation", self.detail)  # type: ignore[arg-type]
        return self.estimate

    def to_dict(self) -> dict[str, Any]:
        """Write what the report's JSON holds of a coefficient."""
        return {
            "estimate": self.estimate,
            "undefined": self.undefined,
            "ci95": _listed(self.ci95),
            "percentile95": _listed(self.percentile95),
            "lower95": self.lower95,
            "n_units": self.n_units,
        }


@dataclass(frozen=True, kw_only=True)
class PairAgreement:
    """Two judges over the `n` units that both rated; a kappa is None where it is undefined.

    `undefined` is the reason. Below ten units the page warns.
    """

    first: str
    second: str
    n: int
    cohen_kappa: float | None
    cohen_kappa_linear: float | None
    cohen_kappa_quadratic: float | None
    undefined: str | None = None

    @property
    def key(self) -> str:
        return pair_key(self.first, self.second)

    def to_dict(self) -> dict[str, Any]:
        """Write what the report's JSON holds of a pair."""
        return {
            "n": self.n,
            "cohen_kappa": self.cohen_kappa,
            "cohen_kappa_linear": self.cohen_kappa_linear,
            "cohen_kappa_quadratic": self.cohen_kappa_quadratic,
        }


@dataclass(frozen=True, kw_only=True)
class CriterionAgreement:
    """Everything about agreement on one criterion.

    Attributes
    ----------
    n_units, n_raters, n_ratings : int
        What was rated at all: units with a rating, judges with a rating, ratings.
    specific : mapping of level to Coefficient
        Agreement specific to each declared level.
    silent_raters : tuple of str
        Judges who rated nothing: left out of the pairs, and counted here.
    """

    name: str
    n_units: int
    n_raters: int
    n_ratings: int
    coefficients: Mapping[str, Coefficient]
    pairs: Mapping[str, PairAgreement]
    leave_one_out: Mapping[str, Mapping[str, float | None]]
    specific: Mapping[float, Coefficient] = field(default_factory=dict)
    silent_raters: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Write the criterion's part of the report's JSON."""
        return {
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "coefficients": {key: one.to_dict() for key, one in self.coefficients.items()},
            "pairs": {key: one.to_dict() for key, one in self.pairs.items()},
            "leave_one_out": {rater: dict(row) for rater, row in self.leave_one_out.items()},
        }


def pair_key(first: str, second: str) -> str:
    """Return the key of a pair; a bar in a name is escaped, so that no two pairs share a key.

    >>> pair_key("ann", "bob"), pair_key("a|b", "c")
    ('ann|bob', 'a\\\\|b|c')
    """
    one, other = (name.replace("\\", "\\\\").replace("|", "\\|") for name in (first, second))
    return f"{one}|{other}"


def _listed(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
