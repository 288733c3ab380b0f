"""Who judged it: panels, judges, batches, ratings, reports, and the trail of all of it."""

from ratings.models.audit import AuditEvent
from ratings.models.clarifications import Clarification, ClarificationReading
from ratings.models.jobs import Job, Upload
from ratings.models.panels import Freeze, Panel, Protocol
from ratings.models.people import Consent, Invitation, Judge, Membership
from ratings.models.rating import (
    Draft,
    DraftCheckpoint,
    Evidence,
    Flag,
    Guess,
    Rating,
    Submission,
)
from ratings.models.reporting import Publication, Report
from ratings.models.resolving import Case, Decision
from ratings.models.running import FlagReply, ReminderRule, Reopening, Replacement, Withdrawal
from ratings.models.serving import Batch, Slot

__all__ = [
    "AuditEvent",
    "Batch",
    "Case",
    "Clarification",
    "ClarificationReading",
    "Consent",
    "Decision",
    "Draft",
    "DraftCheckpoint",
    "Evidence",
    "Flag",
    "FlagReply",
    "Freeze",
    "Guess",
    "Invitation",
    "Job",
    "Judge",
    "Membership",
    "Panel",
    "Protocol",
    "Publication",
    "Rating",
    "ReminderRule",
    "Reopening",
    "Replacement",
    "Report",
    "Slot",
    "Submission",
    "Upload",
    "Withdrawal",
]
