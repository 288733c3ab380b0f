"""Planning a panel before it: the pure simulation under the gate's own rule. Nothing is stored."""

from collections.abc import Sequence
from typing import Any

from ratings.agreement.latent import Design
from ratings.agreement.planning import Decide, Outcome, Plan, Verdict, plan
from ratings.gate import CriterionInput, Policy, decide


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
