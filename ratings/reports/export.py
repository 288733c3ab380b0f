"""Ratings as tables, for whoever may see them after closing."""

from collections.abc import Iterator
from typing import Any

from ratings.models import Panel, Rating

COLUMNS = (
    "judge", "response", "dilemma", "condition", "generator", "replicate", "part", "criterion",
    "score", "missing", "missing_note", "rationale", "submission", "at",
)  # fmt: skip


def rating_rows(panel: Panel) -> Iterator[tuple[Any, ...]]:
    """Yield every rating of every submission, the superseded ones too, oldest first."""
    slot = "submission__slot"
    return (
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
        )
        .iterator(chunk_size=5_000)
    )
