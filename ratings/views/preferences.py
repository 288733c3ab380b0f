"""How this person wants to read on this device; a cookie keeps it."""

from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from awb_panel.preferences import AGE_S, COOKIE, Preferences
from ratings.views.requests import inside


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_not_required
def reading(request: HttpRequest) -> HttpResponse:
    """GET shows the choices beside a sample; POST keeps them and goes back to where one was."""
    target = inside(request.POST.get("next") or request.GET.get("next", "")) or "/"
    if request.method != "POST":
        return render(request, "preferences.html", {"next": target})
    chosen = Preferences() if "reset" in request.POST else Preferences.chosen(request.POST.dict())
    messages.success(request, _("Set for this device."))
    here = f"{reverse('preferences')}?{urlencode({'next': target})}"
    response = redirect(here if "stay" in request.POST else target)
    response.set_cookie(
        COOKIE,
        chosen.text(),
        max_age=AGE_S,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
    )
    return response
