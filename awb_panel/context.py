"""What every template may know about the installation."""

from django.conf import settings
from django.http import HttpRequest

from awb_panel import preferences
from awb_panel.accounts.models import User
from dilemmas.canonical import sha256_of_text


def browser_key(person: User) -> str:
    """Name a person's texts in the browser's storage without saying who it is."""
    return sha256_of_text(f"browser {person.opaque_id}")[:16]


def site(request: HttpRequest) -> dict[str, object]:
    person = getattr(request, "user", None)
    cookie = request.COOKIES.get(preferences.COOKIE, "")
    return {
        "demo": settings.DEMO,
        "languages": settings.LANGUAGES,
        "browser_key": browser_key(person) if person and person.is_authenticated else "",
        "reading": preferences.Preferences.read(cookie),
    }
