"""Coming in: the front page, invitations, the first owner, the interface's language."""

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from awb_panel.accounts.models import User
from ratings import words
from ratings.forms.entering import OwnerForm
from ratings.models import Invitation, Judge, Membership, Panel
from ratings.services import invitations
from ratings.services.errors import Refused
from ratings.views.requests import inside

OWNER_SALT = "first owner"
_OWNER_TOKEN_S = 24 * 3600


@require_safe
@login_not_required
def home(request: HttpRequest) -> HttpResponse:
    """A member goes to the own desk; everybody else reads what this is."""
    if not request.user.is_authenticated:
        return render(request, "public/home.html", {"published": Panel.objects.published()[:20]})
    if Judge.objects.for_user(request.user).active().exists():
        return redirect("desk")
    if request.user.is_owner or Membership.objects.filter(user=request.user).exists():
        return redirect("panels")
    return render(request, "public/home.html", {"published": Panel.objects.published()[:20]})


@require_POST
@login_not_required
def language(request: HttpRequest) -> HttpResponse:
    code = request.POST.get("language", "")
    if code not in dict(settings.LANGUAGES):
        raise Http404
    response = redirect(inside(request.POST.get("next", "")) or "/")
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        code,
        max_age=365 * 24 * 3600,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
    )
    if request.user.is_authenticated:
        User.objects.filter(pk=request.user.pk).update(language=code)
    return response


def owner_token() -> str:
    """Return a token that makes the first owner; it is void once there is one."""
    return signing.dumps("owner", salt=OWNER_SALT)


@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_not_required
def first_owner(request: HttpRequest, token: str) -> HttpResponse:
    try:
        signing.loads(token, salt=OWNER_SALT, max_age=_OWNER_TOKEN_S)
    except signing.BadSignature:
        raise Http404 from None
    if User.objects.filter(is_owner=True).exists():
        raise Http404
    form = OwnerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        owner = invitations.create_owner(email=form.cleaned_data["email"], at=timezone.now())
        login(request, owner)
        return redirect("panels")
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/entering/owner.html", {"form": form}, status=status)


def _invitation(token: str) -> Invitation:
    usable = Invitation.objects.usable(at=timezone.now()).select_related("panel")
    found = usable.filter(token_sha256=invitations.hash_token(token)).first()
    if found is None:
        raise Http404
    return found


@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_not_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """A personal link: the page has a button, so that a mail scanner cannot use it up."""
    found = _invitation(token)
    panel = found.panel
    context = {
        "invitation": found,
        "token": token,
        "count": panel.response_set.responses.kept().count() if panel.response_set else 0,
        "ends_on": panel.protocol.document["ends_on"],
    }
    if request.method != "POST" or found.accepted_at:
        return render(request, "ratings/entering/invitation.html", context)
    try:
        person = invitations.accept(invitation=found, at=timezone.now())
    except Refused as refused:
        context["refused"] = words.sentence(refused)
        return render(request, "ratings/entering/invitation.html", context, status=422)
    if request.user.is_authenticated and request.user.pk != person.pk:
        logout(request)
    login(request, person)
    return redirect("home")


@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_not_required
def decline(request: HttpRequest, token: str) -> HttpResponse:
    found = _invitation(token)
    context = {"invitation": found, "token": token}
    if request.method == "POST":
        try:
            invitations.decline(invitation=found, at=timezone.now())
            context["declined"] = True
        except Refused as refused:
            context["refused"] = words.sentence(refused)
    return render(request, "ratings/entering/decline.html", context)
