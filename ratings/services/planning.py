"""Planning a panel before it: the pure simulation under the gate's own rule, attached to a protocol."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from dilemmas.models import Criterion
from ratings.agreement.latent import Design
from ratings.agreement.planning import Decide, Outcome, Plan, Verdict, plan
from ratings.gate import CriterionInput, Policy, decide
from ratings.models import Panel
from ratings.services.errors import Refused
from ratings.services.ordering import plan_of
from ratings.services.protocols import write_protocol

PANELS, DRAWS, SEED = 400, 500, 1  # of a plan that is asked for in the browser
GRID = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


def decide_by(policy: Policy) -> Decide:
    """Return the gate under one policy as the simulation asks for it."""

    def decided(outcomes: Sequence[Outcome]) -> tuple[Sequence[Verdict], Verdict]:
        criteria = [
            CriterionInput(
                name=str(number),
                estimate=one.estimate,
                lower95=one.lower95,
                undefined=one.undefined,
                required=one.required,
                rated=one.rated,
                varies=one.varies,
            )
            for number, one in enumerate(outcomes)
        ]
        decision = decide(criteria, policy)
        return [one.verdict.value for one in decision.criteria], decision.verdict.value

    return decided


def plan_panel(design: Design, policy: Policy, **options: Any) -> Plan:
    """Simulate a design under a policy; see `ratings.agreement.planning.plan` for the options."""
    return plan(design, coefficient_key=policy.coefficient, decide=decide_by(policy), **options)


def design_of(panel: Panel, shares: Sequence[float] = ()) -> Design:
    """Return a draft panel's design as the simulation takes it; levels evenly used if not said.

    Raises `Refused` if there is no requirement yet, or too little to plan with.
    """
    document, order = panel.protocol.document, plan_of(panel)
    if document["policy"] is None:
        raise Refused("no_policy_yet")
    dilemmas = {dilemma for dilemma, _condition, _key in order.items}
    criteria = Criterion.objects.filter(version=panel.rubric_version).prefetch_related("levels")
    scales = [sorted(level.value for level in one.levels.all()) for one in criteria]
    if len(dilemmas) < 2 or not scales or len(scales[0]) < 2:
        raise Refused("nothing_to_plan")
    levels = len(scales[0])
    if shares and len(shares) != levels:
        raise Refused("shares_do_not_fit", levels=levels)
    return Design(
        dilemmas=len(dilemmas),
        responses=max(1, round(len(order.items) / len(dilemmas))),
        judges=order.judges,
        per_response=order.each,
        scale=tuple(scales[0]),
        shares=tuple(shares) or (1 / levels,) * levels,
        criteria=len(scales),
    )


def attach_plan(
    *,
    panel: Panel,
    shares: Sequence[float],
    actor: str,
    at: datetime,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Simulate the panel as its protocol stands and attach what came of it.

    Raises `Refused` if the panel was frozen meanwhile, or cannot be planned.
    """
    if panel.state != Panel.State.DRAFT:
        raise Refused("planning_not_now")
    design = design_of(panel, shares)
    policy = Policy.from_dict(panel.protocol.document["policy"])
    found = plan_panel(
        design,
        policy,
        grid=GRID,
        panels=PANELS,
        draws=DRAWS,
        seed=SEED,
        margin=panel.protocol.document.get("margin"),
        progress=progress,
    )
    attached = found.to_dict() | {"policy": panel.protocol.document["policy"]}
    write_protocol(panel=panel, changes={"planning": attached}, actor=actor, at=at)


def is_of_this_design(panel: Panel) -> bool:
    """Whether the plan that is attached is of the protocol as it stands."""
    attached = panel.protocol.document.get("planning")
    if not attached:
        return False
    try:
        design = design_of(panel, attached["design"]["shares"])
    except Refused:
        return False
    return bool(
        attached["design"] == design.to_dict()
        and attached["policy"] == panel.protocol.document["policy"]
    )
