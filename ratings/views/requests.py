"""The request as a view behind the sign-in sees it."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from awb_panel.accounts.models import User


class PersonRequest(HttpRequest):
    """A request of somebody who is signed in; for annotations only."""

    user: User  # type: ignore[assignment]
    htmx: HtmxDetails
    LANGUAGE_CODE: str
