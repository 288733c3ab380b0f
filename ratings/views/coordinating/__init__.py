"""The coordinator's desk: set a panel up, watch it, close it, publish it. No score before closing."""

from ratings.views.coordinating.desk import audit, audit_file, new_panel, overview, panels
from ratings.views.coordinating.ordering import order
from ratings.views.coordinating.people import clarify, judges, preview_mail, resend, revoke
from ratings.views.coordinating.registering import (
    plan,
    protocol,
    registration,
    registration_json,
    registration_pdf,
)
from ratings.views.coordinating.resolving import archive, resolution
from ratings.views.coordinating.rubrics import (
    criterion,
    panel_rubric,
    rubric,
    rubric_preview,
    rubrics,
)
from ratings.views.coordinating.running import flags, progress, reminders, seat, texts_out
from ratings.views.coordinating.steps import close, freeze, open_, publish
from ratings.views.coordinating.texts import blind_one, blinding

__all__ = [
    "archive",
    "audit",
    "audit_file",
    "blind_one",
    "blinding",
    "clarify",
    "close",
    "criterion",
    "flags",
    "freeze",
    "judges",
    "new_panel",
    "open_",
    "order",
    "overview",
    "panel_rubric",
    "panels",
    "plan",
    "preview_mail",
    "progress",
    "protocol",
    "publish",
    "registration",
    "registration_json",
    "registration_pdf",
    "reminders",
    "resend",
    "resolution",
    "revoke",
    "rubric",
    "rubric_preview",
    "rubrics",
    "seat",
    "texts_out",
]
