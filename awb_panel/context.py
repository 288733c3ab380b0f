"""What every template may know about the installation."""

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    return {"demo": settings.DEMO, "languages": settings.LANGUAGES}
