"""Computing and keeping reports. The heavy part runs outside the transaction, in the worker."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction

from dilemmas.canonical import canonical, sha256
from ratings.models import Panel, Report
from ratings.reports.assemble import assemble
from ratings.reports.inputs import read_inputs
from ratings.services import audit
from ratings.services.errors import Refused
from ratings.services.studies import unregistered_protocol


def compute_report(
    *,
    panel: Panel,
    at: datetime,
    reason: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Compute the next report of a panel that is over, and keep it.

    Raises `Refused` if the panel is not closed, or if another report was kept meanwhile.
    """
    panel = Panel.objects.select_related("rubric_version__rubric").get(pk=panel.pk)
    if not panel.is_over:
        raise Refused("panel_not_closed")
    native = panel.origin == Panel.Origin.NATIVE
    protocol: dict[str, Any] = panel.protocol.document if native else unregistered_protocol()
    before = panel.reports.count()
    inputs = read_inputs(
        panel,
        judges_planned=protocol["judges_planned"] if native else None,
        each=protocol.get("judges_per_response"),
    )
    document = assemble(panel, inputs, protocol=protocol, progress=progress)
    return _keep(panel, document, number=before + 1, reason=reason, at=at)


@transaction.atomic
def _keep(
    panel: Panel, document: dict[str, Any], *, number: int, reason: str, at: datetime
) -> Report:
    Panel.objects.select_for_update().get(pk=panel.pk)
    if panel.reports.count() >= number:
        raise Refused("newer_report", number=number)
    gate = document["gate"]
    report = Report.objects.create(
        panel=panel,
        number=number,
        document=canonical(document).decode(),
        sha256=sha256(document),
        inputs_sha256=document["inputs_sha256"],
        verdict=gate["verdict"] if gate else Report.Verdict.NONE,
        reason=reason,
        at=at,
    )
    payload = {"number": report.number, "sha256": report.sha256, "verdict": report.verdict}
    audit.record(panel=panel, kind="report_computed", payload=payload, actor="", at=at)
    return report
