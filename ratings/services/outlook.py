"""What closing an open panel means for its requirement, told without looking at a score."""

from dataclasses import dataclass, replace
from typing import Literal

from django.db.models import Count

from dilemmas.models import Criterion, Response
from ratings.gate import CriterionInput, Decision, Policy, decide
from ratings.models import Batch, Panel, Rating
from ratings.reports.inputs import served, unsubmitted

Case = Literal["best", "worst"]
_AGREEMENT: dict[Case, float] = {"best": 1.0, "worst": -1.0}


@dataclass(frozen=True)
class CriterionOutlook:
    """How much of one criterion is missing, and how much may be for it to be decided."""

    key: str
    required: int
    cannot_judge: int
    unsubmitted: int
    allowed: int
    decidable_now: bool
    decidable_finished: bool

    @property
    def missing(self) -> int:
        return self.cannot_judge + self.unsubmitted


@dataclass(frozen=True)
class Outlook:
    """The verdict if judges agreed perfectly or not at all: closed now, and with everything done.

    `finished` supposes that whoever still owes a response scores all of it.
    """

    criteria: list[CriterionOutlook]
    now: dict[Case, str]
    finished: dict[Case, str]


def outlook(panel: Panel) -> Outlook:
    """Read counts of an open panel and ask the gate what it could say (8 queries)."""
    protocol = panel.protocol.document
    policy = Policy.from_dict(protocol["policy"])
    flow = served(
        panel, judges_planned=protocol["judges_planned"], each=protocol.get("judges_per_response")
    )
    owed = unsubmitted(flow)
    cannot = _cannot_judge(panel)
    keys = list(
        Criterion.objects.filter(version=panel.rubric_version)
        .order_by("position")
        .values_list("key", flat=True)
    )
    required = flow["done"] + owed
    now = [
        CriterionInput(
            name=key,
            estimate=None,
            lower95=None,
            undefined=None,
            required=required,
            rated=required - owed - cannot.get(key, 0),
            varies=True,
            unsubmitted=owed,
        )
        for key in keys
    ]
    finished = [replace(one, rated=one.rated + owed, unsubmitted=0) for one in now]
    decisions = {True: _suppose(now, policy, "best"), False: _suppose(finished, policy, "best")}
    decidable = {
        is_now: {one.name: one.verdict != "undecidable" for one in decision.criteria}
        for is_now, decision in decisions.items()
    }
    return Outlook(
        criteria=[
            CriterionOutlook(
                key=one.name,
                required=required,
                cannot_judge=cannot.get(one.name, 0),
                unsubmitted=owed,
                allowed=int(policy.max_missing_share * required + 1e-9),
                decidable_now=decidable[True][one.name],
                decidable_finished=decidable[False][one.name],
            )
            for one in now
        ],
        now={case: _suppose(now, policy, case).verdict.value for case in _AGREEMENT},
        finished={case: _suppose(finished, policy, case).verdict.value for case in _AGREEMENT},
    )


def _suppose(criteria: list[CriterionInput], policy: Policy, case: Case) -> Decision:
    value = _AGREEMENT[case]
    return decide([replace(one, estimate=value, lower95=value) for one in criteria], policy)


def _cannot_judge(panel: Panel) -> dict[str, int]:
    """Criterion → answers «I cannot judge this» among what would count."""
    rows = (
        Rating.objects.newest_of(panel)
        .filter(
            submission__slot__batch__phase=Batch.Phase.MAIN,
            submission__slot__occasion=1,
            submission__slot__response__kind=Response.Kind.RESPONSE,
        )
        .exclude(missing="")
        .exclude(submission__slot__response__withdrawals__panel=panel)
        .values_list("criterion__key")
        .annotate(n=Count("pk"))
        .order_by()
    )
    return dict(rows)
