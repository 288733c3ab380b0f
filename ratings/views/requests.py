"""The request as a view behind the sign-in sees it."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language
from django_htmx.middleware import HtmxDetails

from awb_panel.accounts.models import User
from ratings.models import Panel


class PersonRequest(HttpRequest):
    """A request of somebody who is signed in; for annotations only."""

    user: User  # type: ignore[assignment]
    htmx: HtmxDetails
    LANGUAGE_CODE: str


def inside(address: str) -> str:
    """Return an address to go back to if it is one of this site's, else an empty text."""
    is_ours = url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if is_ours and address.startswith("/") else ""


def page_of(request: HttpRequest, rows: Any, size: int, count: int | None = None) -> "Page[Any]":
    """Return the page that the address asks for; the first or the last if there is no such one.

    Templates show its neighbours with `ratings/_pages.html`. `count` saves counting the rows.
    """
    pages = Paginator(rows, size)
    if count is not None:
        pages.count = count  # type: ignore[misc]
    return pages.get_page(request.GET.get("page"))


def criterion_titles(panel: Panel) -> dict[str, str]:
    """Return each criterion's name in the reader's language; its key where there is none."""
    language = (get_language() or "ca")[:2]
    criteria = panel.rubric_version.criteria.prefetch_related("texts")
    return {
        one.key: next((t.name for t in one.texts.all() if t.language == language), one.key)
        for one in criteria
    }
