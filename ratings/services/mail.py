"""E-mails, plain text, in the language of the person who reads them."""

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.formats import date_format

from ratings.models import Invitation, Slot


def send_invitation(*, invitation: Invitation, token: str, coordinator: str) -> str:
    """Send the personal link and return it. Nothing in the message can be used up by a scanner."""
    panel = invitation.panel
    link = f"{settings.SITE_URL}/invitation/{token}/"
    document = panel.protocol.document
    with translation.override(invitation.language):
        from_rows = Slot.objects.filter(judge__panel=panel).values("response").distinct().count()
        context = {
            "panel": panel,
            "role": invitation.role,
            "greeting": invitation.greeting,
            "link": link,
            "decline": f"{link}decline/",
            "expiry": date_format(invitation.expires_at, "DATE_FORMAT"),
            "count": from_rows or panel.response_set.responses.count(),
            "ends_on": document["ends_on"],
            "judges": document["judges_planned"],
            "coordinator": coordinator,
        }
        subject = render_to_string("ratings/mail/invitation_subject.txt", context).strip()
        body = render_to_string("ratings/mail/invitation.txt", context)
    send_mail(subject, body, None, [invitation.email])
    return link
