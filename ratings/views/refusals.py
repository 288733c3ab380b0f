"""Pages that refuse a POST without losing what was typed: no session, or a stale form token."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

_NOT_CARRIED = {"csrfmiddlewaretoken", "action", "password", "code", "login"}


def wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """Refuse with 401 and carry the posted text; nothing is stored unauthenticated."""
    if wants_json(request):
        return JsonResponse({"refused": "signed_out"}, status=401)
    return _carry(request, status=401, signed_out=True)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show the posted text again with a fresh form token: one button sends it."""
    if wants_json(request):
        return JsonResponse({"refused": "stale_form"}, status=403)
    return _carry(request, status=403, signed_out=not request.user.is_authenticated)


def _carry(request: HttpRequest, *, status: int, signed_out: bool) -> HttpResponse:
    carried = [(name, value) for name, value in request.POST.items() if name not in _NOT_CARRIED]
    context = {
        "carried": carried,
        "texts": [
            (name, value) for name, value in carried if name.endswith("-rationale") and value
        ],
        "action": request.POST.get("action", ""),
        "signed_out": signed_out,
    }
    return render(request, "refusals/carry.html", context, status=status)
