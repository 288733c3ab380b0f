"""The gate: a pure, total function of figures and a registered policy.

No clock, no database, no heavy import. Its rules are those of the protocol: the registered
coefficient decides alone, unrounded, each criterion on its own; what cannot be decided is said.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from ratings.agreement.results import KEYS

# A kappa of exactly 3/5 evaluates to .5999999999999999 in floating point.
TOLERANCE = 1e-12
STATISTICS = ("estimate", "lower95")
COMPARATORS = (">=", ">")


class Verdict(StrEnum):
    """What can be said of a criterion, and of a panel."""

    MET = "met"
    NOT_MET = "not_met"
    UNDECIDABLE = "undecidable"


class Reason(StrEnum):
    """Why a criterion has its verdict; the wording is the pages' concern."""

    REACHES_THRESHOLD = "reaches_threshold"
    MISSES_THRESHOLD = "misses_threshold"
    UNSUBMITTED = "unsubmitted"
    TOO_MUCH_MISSING = "too_much_missing"
    NO_VARIATION = "no_variation"
    UNDEFINED = "undefined"
    NO_LOWER_BOUND = "no_lower_bound"


def _lies_in(value: object, low: float, high: float) -> bool:
    """Whether it is such a number; True and "0.6" are none, nor is NaN, which compares false."""
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and low <= value <= high  # type: ignore[operator]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The registered rule. It applies to every criterion, each on its own.

    Attributes
    ----------
    coefficient : str
        A key of the agreement report, its level or weights included, e.g. ``fleiss_kappa``.
        Unknown ones are refused.
    statistic : {"estimate", "lower95"}
        The point estimate, or the one-sided 95 % lower bound.
    comparator : {">=", ">"}
    threshold : float
    max_missing_share : float
        Largest share of "cannot judge" per criterion with which the gate is still decided.
    every_slot_submitted : bool
        Whether a slot that was never submitted makes the criterion undecidable.
    """

    name: str
    coefficient: str
    statistic: str
    comparator: str
    threshold: float
    max_missing_share: float = 0.05
    every_slot_submitted: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"name is a text, not {self.name!r}")
        if self.coefficient not in KEYS:
            raise ValueError(f"coefficient is one of {', '.join(KEYS)}, not {self.coefficient!r}")
        if self.statistic not in STATISTICS:
            raise ValueError(f"statistic is one of {STATISTICS}, not {self.statistic!r}")
        if self.comparator not in COMPARATORS:
            raise ValueError(f"comparator is one of {COMPARATORS}, not {self.comparator!r}")
        if not _lies_in(self.threshold, -1, 1):
            raise ValueError(f"threshold is a number in [-1, 1], not {self.threshold!r}")
        if not _lies_in(self.max_missing_share, 0, 1):
            raise ValueError(f"max_missing_share lies in [0, 1], not {self.max_missing_share!r}")
        if not isinstance(self.every_slot_submitted, bool):
            raise ValueError(
                f"every_slot_submitted is yes or no, not {self.every_slot_submitted!r}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Write the policy out in full, as a protocol keeps it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Policy":
        """Read a policy; raises `ValueError` for a key or value that it does not know."""
        if not isinstance(document, Mapping):
            raise ValueError(f"a policy is a table of its rules, not {document!r}")
        unknown = set(document) - {known.name for known in fields(cls)}
        if unknown:
            raise ValueError(f"a policy has no {', '.join(sorted(map(str, unknown)))}")
        try:
            return cls(**document)
        except TypeError as error:
            raise ValueError(f"the policy is incomplete: {error}") from error


LITERAL = Policy(
    name="literal",
    coefficient="fleiss_kappa",
    statistic="estimate",
    comparator=">=",
    threshold=0.6,
)
ORDINAL = Policy(
    name="ordinal",
    coefficient="krippendorff_alpha_ordinal",
    statistic="lower95",
    comparator=">=",
    threshold=0.6,
)
H1 = Policy(
    name="h1",
    coefficient="krippendorff_alpha_ordinal",
    statistic="lower95",
    comparator=">",
    threshold=0.8,
)
POLICIES: dict[str, Policy] = {policy.name: policy for policy in (LITERAL, ORDINAL, H1)}


@dataclass(frozen=True, kw_only=True)
class CriterionInput:
    """What the gate may know of one criterion.

    Attributes
    ----------
    estimate, lower95 : float or None
        The registered coefficient and its one-sided 95 % lower bound, unrounded.
    undefined : str or None
        Why the coefficient is undefined, if it is.
    required, rated : int
        Scores that a complete panel would have, and scores that are there.
    varies : bool
        Whether two different levels were used on this criterion.
    unsubmitted : int
        Slots that no judge marked as done.
    """

    name: str
    estimate: float | None
    lower95: float | None
    undefined: str | None
    required: int
    rated: int
    varies: bool
    unsubmitted: int = 0


@dataclass(frozen=True)
class CriterionDecision:
    """The verdict on one criterion; `shown` is the value as printed, `value` what was compared."""

    name: str
    verdict: Verdict
    value: float | None
    shown: str | None
    reason: Reason
    reason_details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """The panel's verdict and the criteria it follows from."""

    verdict: Verdict
    criteria: tuple[CriterionDecision, ...]

    def to_dict(self) -> dict[str, Any]:
        """Write the decision with plain strings, numbers and None, for the report's JSON."""
        return {
            "verdict": self.verdict.value,
            "criteria": [
                {
                    "name": one.name,
                    "verdict": one.verdict.value,
                    "value": one.value,
                    "shown": one.shown,
                    "reason": one.reason.value,
                    "reason_details": dict(one.reason_details),
                }
                for one in self.criteria
            ],
        }


def decide(criteria: Sequence[CriterionInput], policy: Policy) -> Decision:
    """Decide every criterion, then the panel.

    The panel is *not met* if any criterion is not met; otherwise *undecidable* if any is, or if
    there is none; otherwise *met*. Requiring all is intersection-union: no correction is due.
    """
    decided = tuple(_decide_one(criterion, policy) for criterion in criteria)
    verdicts = {one.verdict for one in decided}
    if Verdict.NOT_MET in verdicts:
        return Decision(Verdict.NOT_MET, decided)
    if Verdict.UNDECIDABLE in verdicts or not decided:
        return Decision(Verdict.UNDECIDABLE, decided)
    return Decision(Verdict.MET, decided)


def changes_to_turn_panel(decision: Decision, changes: Mapping[str, int | None]) -> int | None:
    """Return how many changed ratings would turn the panel's verdict, from those of its criteria.

    One criterion turns *met*; *not met* turns when every criterion that is not met does. None for a
    verdict that is no question of scores, or if a criterion that is needed has no number.
    """
    needed = [changes.get(one.name) for one in decision.criteria if one.verdict is decision.verdict]
    known = [number for number in needed if number is not None]
    if decision.verdict is Verdict.MET:
        return min(known, default=None)
    if decision.verdict is Verdict.NOT_MET and len(known) == len(needed):
        return sum(known)
    return None


def reaches(policy: Policy, estimate: float | None, lower95: float | None) -> bool:
    """Return whether the registered statistic reaches the threshold; False if it has no value."""
    value = _finite(lower95 if policy.statistic == "lower95" else estimate)
    return value is not None and _reaches(value, policy)


def _decide_one(criterion: CriterionInput, policy: Policy) -> CriterionDecision:
    value = _finite(criterion.lower95 if policy.statistic == "lower95" else criterion.estimate)
    shown = None if value is None else _shown(value)
    obstacle = _obstacle(criterion, policy, value)
    if obstacle is not None:
        reason, details = obstacle
        return CriterionDecision(criterion.name, Verdict.UNDECIDABLE, value, shown, reason, details)
    assert value is not None  # _obstacle has said so
    details = {"comparator": policy.comparator, "threshold": policy.threshold}
    if _reaches(value, policy):
        verdict, reason = Verdict.MET, Reason.REACHES_THRESHOLD
    else:
        verdict, reason = Verdict.NOT_MET, Reason.MISSES_THRESHOLD
    return CriterionDecision(criterion.name, verdict, value, shown, reason, details)


def _obstacle(
    criterion: CriterionInput, policy: Policy, value: float | None
) -> tuple[Reason, dict[str, Any]] | None:
    """Return why the criterion cannot be decided, the most telling reason first, or None."""
    if policy.every_slot_submitted and criterion.unsubmitted > 0:
        return Reason.UNSUBMITTED, {"slots": criterion.unsubmitted}
    missing = criterion.required - criterion.rated
    # The slack is for products such as .05 * 60, which may fall below 3.
    if criterion.required <= 0 or missing > policy.max_missing_share * criterion.required + 1e-9:
        details = {"missing": missing, "required": criterion.required}
        return Reason.TOO_MUCH_MISSING, details | {"max_share": policy.max_missing_share}
    if not criterion.varies:
        return Reason.NO_VARIATION, {}
    if criterion.undefined is not None:
        return Reason.UNDEFINED, {"because": criterion.undefined}
    if _finite(criterion.estimate) is None:
        return Reason.UNDEFINED, {"because": None}
    if value is None:
        return Reason.NO_LOWER_BOUND, {}
    return None


def _reaches(value: float, policy: Policy) -> bool:
    equal = abs(value - policy.threshold) <= TOLERANCE
    if policy.comparator == ">=":
        return equal or value > policy.threshold
    return not equal and value > policy.threshold


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _shown(value: float) -> str:
    rounded = f"{value:.2f}"
    return "0.00" if rounded == "-0.00" else rounded
