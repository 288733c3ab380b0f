"""Ratings as tables, for whoever may see them after closing."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from dilemmas.models import ResponsePart
from ratings.models import Panel, Rating, Slot

COLUMNS = (
    "judge", "response", "dilemma", "condition", "generator", "replicate", "part", "criterion",
    "score", "missing", "missing_note", "rationale", "submission", "at", "batch", "position",
    "opened_at", "active_ms",
)  # fmt: skip


def rating_rows(panel: Panel) -> Iterator[tuple[Any, ...]]:
    """Yield every rating of every submission, the superseded ones too, oldest first."""
    slot = "submission__slot"
    rows = (
        Rating.objects.filter(submission__slot__judge__panel=panel)
        .order_by(f"{slot}__judge", f"{slot}__batch", f"{slot}__position", "submission", "pk")
        .values_list(
            f"{slot}__judge__code",
            f"{slot}__response__external_id",
            f"{slot}__response__dilemma__code",
            f"{slot}__response__condition__label",
            f"{slot}__response__generator",
            f"{slot}__response__replicate",
            "part",
            "criterion__key",
            "score",
            "missing",
            "missing_note",
            "rationale",
            "submission__number",
            "submission__at",
            f"{slot}__batch__number",
            f"{slot}__position",
            "submission__opened_at",
            "submission__active_ms",
        )
        .iterator(chunk_size=5_000)
    )
    for row in rows:
        yield tuple(one.isoformat() if isinstance(one, datetime) else one for one in row)


def response_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    """Yield each part of each response by our key and by its own names, with its other columns."""
    response = "version__response"
    fields = {
        "key": f"{response}_id",
        "response": f"{response}__external_id",
        "dilemma": f"{response}__dilemma__code",
        "condition": f"{response}__condition__label",
        "generator": f"{response}__generator",
        "replicate": f"{response}__replicate",
        "part": "number",
        "other_columns": "extra",
    }
    served = Slot.objects.filter(judge__panel=panel).values("blinding__version")
    rows = (
        ResponsePart.objects.filter(version__in=served)
        .order_by("version__response", "number")
        .values_list(*fields.values())
    )
    return (dict(zip(fields, row, strict=True)) for row in rows.iterator(chunk_size=2_000))
