"""Putting panels away: they leave the list of those at work; nothing of them changes."""

from datetime import datetime

from django.db import transaction

from ratings.models import AuditEvent, Panel
from ratings.services import audit
from ratings.services.errors import Refused

_AWAY, _BACK = "panel_archived", "panel_taken_back"


def archived(panels: "list[Panel]") -> set[int]:
    """Return which of the panels are put away: the newest event says so (1 query)."""
    events = AuditEvent.objects.filter(panel__in=panels, kind__in=(_AWAY, _BACK))
    newest = dict(events.order_by("panel", "number").values_list("panel", "kind"))
    return {pk for pk, kind in newest.items() if kind == _AWAY}


@transaction.atomic
def archive(*, panel: Panel, is_away: bool, actor: str, at: datetime) -> None:
    """Put a panel away or take it back; saying so twice changes nothing.

    Raises `Refused` for a panel that is not over.
    """
    panel = Panel.objects.select_for_update().get(pk=panel.pk)
    if not panel.is_over:
        raise Refused("archive_not_now")
    if (panel.pk in archived([panel])) != is_away:
        kind = _AWAY if is_away else _BACK
        audit.record(panel=panel, kind=kind, payload={}, actor=actor, at=at)
