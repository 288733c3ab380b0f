"""E-mails, plain text, in the language of the person who reads them."""

import logging
from dataclasses import dataclass
from datetime import date

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.formats import date_format

from ratings.models import Invitation, Judge
from ratings.services.ordering import plan_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SentInvitation:
    """The personal link, and whether the mail server took the message."""

    link: str
    is_sent: bool


@dataclass(frozen=True)
class Letter:
    """An e-mail as its reader gets it."""

    subject: str
    body: str


def letter(*, invitation: Invitation, link: str, coordinator: str) -> Letter:
    """Write an invitation, which need not be stored, in its own language."""
    panel = invitation.panel
    document = panel.protocol.document
    with translation.override(invitation.language):
        ends_on = document["ends_on"]
        context = {
            "panel": panel,
            "role": invitation.role,
            "greeting": invitation.greeting,
            "link": link,
            "decline": f"{link}decline/",
            "expiry": date_format(invitation.expires_at, "DATE_FORMAT"),
            "count": plan_of(panel).length,
            "ends_on": date_format(date.fromisoformat(ends_on), "DATE_FORMAT") if ends_on else "",
            "judges": document["judges_planned"],
            "asks_reasons": document["rationales"] != "none",
            "responsible": document["controller"],
            "coordinator": coordinator,
        }
        subject = render_to_string("ratings/mail/invitation_subject.txt", context)
        body = render_to_string("ratings/mail/invitation.txt", context)
    return Letter(" ".join(subject.split()), body)


def send_invitation(*, invitation: Invitation, token: str, coordinator: str) -> SentInvitation:
    """Send the personal link; nothing in the message can be used up by a scanner.

    A mail server that fails raises nothing: the invitation stands, and its link can be passed on.
    """
    link = f"{settings.SITE_URL}/invitation/{token}/"
    written = letter(invitation=invitation, link=link, coordinator=coordinator)
    message = EmailMessage(
        written.subject, written.body, to=[invitation.email], reply_to=[coordinator]
    )
    try:
        message.send()
    except OSError:  # every failure of smtplib and of the network is one
        _log.exception("An invitation could not be e-mailed.")
        return SentInvitation(link, is_sent=False)
    return SentInvitation(link, is_sent=True)


def reminder(*, judge: Judge, coordinator: str) -> Letter:
    """Write a reminder in the judge's language: what is left, where it is, that leaving is possible."""
    assert judge.user is not None
    left = judge.batches.filter(handed_in_at=None).count()
    with translation.override(judge.user.language or "ca"):
        ends_on = judge.panel.protocol.document["ends_on"]
        context = {
            "panel": judge.panel,
            "left": left,
            "link": f"{settings.SITE_URL}/judge/",
            "ends_on": date_format(date.fromisoformat(ends_on), "DATE_FORMAT") if ends_on else "",
            "coordinator": coordinator,
        }
        subject = render_to_string("ratings/mail/reminder_subject.txt", context)
        body = render_to_string("ratings/mail/reminder.txt", context)
    return Letter(" ".join(subject.split()), body)


def send_reminder(*, judge: Judge, coordinator: str) -> bool:
    """Send it; return whether the mail server took it."""
    assert judge.user is not None
    written = reminder(judge=judge, coordinator=coordinator)
    message = EmailMessage(
        written.subject, written.body, to=[judge.user.email], reply_to=[coordinator]
    )
    try:
        message.send()
    except OSError:
        _log.exception("A reminder could not be e-mailed.")
        return False
    return True
