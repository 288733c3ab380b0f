"""Middleware about the person: language, closed doors, private pages."""

import zoneinfo
from collections.abc import Callable

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone, translation

Handler = Callable[[HttpRequest], HttpResponse]


class PersonLocaleMiddleware:
    """Use the language and time zone that the person chose, if one is signed in."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            if request.user.language:
                translation.activate(request.user.language)
                request.LANGUAGE_CODE = translation.get_language()
            if request.user.time_zone:
                timezone.activate(zoneinfo.ZoneInfo(request.user.time_zone))
            else:
                timezone.deactivate()
        response = self.get_response(request)
        response.headers["Content-Language"] = translation.get_language() or ""
        return response


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Every page asks for signing in unless it says otherwise; posted text is carried, not lost."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        refusal = getattr(view_func, "refusal", None)
        reads_json = request.headers.get("Accept", "").startswith("application/json")
        if refusal is not None and (request.method == "POST" or reads_json):
            return refusal(request)
        return super().handle_no_permission(request, view_func)


class PrivatePagesMiddleware:
    """Pages of a signed-in person are not kept by caches, so that nobody else meets them."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.user.is_authenticated and "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = "private, no-store"
        return response
