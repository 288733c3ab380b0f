"""The demo's one-click sign-in, behind every guard of `permissions.demo_sign_in_allowed`."""

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from awb_panel.accounts.models import User
from ratings.models import Judge
from ratings.permissions import demo_sign_in_allowed


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_not_required
def door(request: HttpRequest) -> HttpResponse:
    if not demo_sign_in_allowed(request):
        raise Http404
    people = User.objects.filter(is_demo=True, is_active=True).order_by("pk")
    if request.method == "POST":
        person = get_object_or_404(people, opaque_id=request.POST.get("person", ""))
        logout(request)
        login(request, person)
        return redirect("home")
    cast = people.prefetch_related("memberships__panel")
    progress = {
        person: (done, total)
        for person, done, total in Judge.objects.filter(user__in=people)
        .annotate(
            done=Count("slots", filter=Q(slots__submissions__isnull=False), distinct=True),
            total=Count("slots", distinct=True),
        )
        .values_list("user", "done", "total")
    }
    rows = [{"person": person, "progress": progress.get(person.pk)} for person in cast]
    return render(request, "demo/door.html", {"rows": rows})
