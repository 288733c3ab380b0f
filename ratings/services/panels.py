"""A panel's life: created, opened, closed, published. The freeze is in `freezing`."""

from datetime import datetime

from django.db import transaction

from awb_panel.accounts.models import User
from dilemmas.models import ResponseSet, RubricVersion
from ratings.models import Judge, Membership, Panel, Protocol, Publication, Report
from ratings.models.people import Role
from ratings.services import audit
from ratings.services.assigning import assign
from ratings.services.errors import Refused
from ratings.services.protocols import new_document


@transaction.atomic
def create_panel(
    *,
    slug: str,
    title: str,
    response_set: ResponseSet,
    rubric_version: RubricVersion,
    content_language: str,
    coordinator: User,
    at: datetime,
    is_demo: bool = False,
) -> Panel:
    """Create a draft panel with its coordinator and a protocol of defaults.

    Raises `Refused` if the slug is taken.
    """
    if Panel.objects.filter(slug=slug).exists():
        raise Refused("slug_taken", slug=slug)
    panel = Panel.objects.create(
        slug=slug,
        title=title,
        response_set=response_set,
        rubric_version=rubric_version,
        content_language=content_language,
        is_demo=is_demo,
    )
    Membership.objects.create(panel=panel, user=coordinator, role=Role.COORDINATOR)
    Protocol.objects.create(panel=panel, document=new_document())
    payload = {"slug": slug, "set": response_set.pk, "rubric_version": rubric_version.pk}
    audit.record(
        panel=panel, kind="panel_created", payload=payload, actor=coordinator.opaque_id, at=at
    )
    return panel


@transaction.atomic
def choose_rubric(
    *, panel: Panel, rubric_version: RubricVersion, actor: str, at: datetime
) -> Panel:
    """Let a draft panel be judged with another rubric or version. Raises `Refused` once frozen."""
    panel = _locked(panel)
    if panel.state != Panel.State.DRAFT:
        raise Refused("panel_is_frozen")
    panel.rubric_version = rubric_version
    panel.save(update_fields=["rubric_version"])
    payload = {"rubric_version": rubric_version.pk, "sha256": rubric_version.content_sha256}
    audit.record(panel=panel, kind="rubric_chosen", payload=payload, actor=actor, at=at)
    return panel


@transaction.atomic
def open_panel(*, panel: Panel, actor: str, at: datetime) -> Panel:
    """Open a frozen panel and give every judge who has accepted their batches."""
    panel = _locked(panel)
    if panel.state != Panel.State.FROZEN:
        raise Refused("panel_not_frozen")
    panel.state, panel.opened_at = Panel.State.OPEN, at
    panel.save(update_fields=["state", "opened_at"])
    audit.record(panel=panel, kind="panel_opened", payload={}, actor=actor, at=at)
    for judge in Judge.objects.filter(panel=panel).active():  # type: ignore[attr-defined]
        assign(judge=judge, at=at)
    return panel


@transaction.atomic
def close_panel(*, panel: Panel, actor: str, at: datetime) -> Panel:
    """Close an open panel, for good. What was never marked done is left out of the figures."""
    panel = _locked(panel)
    if panel.state != Panel.State.OPEN:
        raise Refused("panel_not_open")
    panel.state, panel.closed_at = Panel.State.CLOSED, at
    panel.save(update_fields=["state", "closed_at"])
    audit.record(panel=panel, kind="panel_closed", payload={}, actor=actor, at=at)
    return panel


def publication_kind(panel: Panel, report: Report) -> Publication.Kind:
    """Return as what this report may be published. Raises `Refused` if it may not."""
    if panel.origin == Panel.Origin.IMPORTED:
        return Publication.Kind.NOT_REGISTERED
    if report.verdict == Report.Verdict.MET:
        return Publication.Kind.V1
    if panel.protocol.document["publish_missed"]:
        return Publication.Kind.MISSED_GATE
    raise Refused("gate_not_met", verdict=report.verdict)


@transaction.atomic
def publish(*, panel: Panel, actor: str, at: datetime) -> Publication:
    """Publish the newest report of a closed panel, as what its verdict and protocol allow."""
    panel = _locked(panel)
    if panel.state != Panel.State.CLOSED:
        raise Refused("panel_not_closed")
    report = panel.reports.order_by("-number").first()
    if report is None:
        raise Refused("no_report")
    kind = publication_kind(panel, report)
    publication = Publication.objects.create(
        panel=panel, report=report, kind=kind, at=at, actor=actor
    )
    panel.state = Panel.State.PUBLISHED
    panel.save(update_fields=["state"])
    payload = {"kind": kind.value, "report": report.number, "sha256": report.sha256}
    audit.record(panel=panel, kind="panel_published", payload=payload, actor=actor, at=at)
    return publication


def _locked(panel: Panel) -> Panel:
    return Panel.objects.select_for_update().get(pk=panel.pk)
