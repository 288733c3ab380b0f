"""The protocol: four questions before the freeze, a page to read after it."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from dilemmas.models import Condition
from ratings import words
from ratings.forms.coordinating import ProtocolForm
from ratings.models import Panel
from ratings.permissions import panel_for
from ratings.services import protocols
from ratings.services.errors import Refused
from ratings.views.requests import PersonRequest


@require_http_methods(["GET", "HEAD", "POST"])
def protocol(request: PersonRequest, slug: str) -> HttpResponse:
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    document = panel.protocol.document
    conditions = Condition.objects.judged(panel.response_set).order_by("label")
    labels = list(conditions.values_list("label", flat=True))
    initial = (
        protocols.DEFAULTS
        | document
        | {
            "policy": document["policy"]["name"] if document["policy"] else None,
            "contrasts": "\n".join(f"{a} - {b}" for a, b in document["contrasts"]),
        }
    )
    form = ProtocolForm(request.POST or None, initial=initial, conditions=labels)
    frozen = panel.state != Panel.State.DRAFT
    if request.method == "POST" and form.is_valid():
        try:
            protocols.write_protocol(
                panel=panel,
                changes=form.cleaned_data,
                actor=request.user.opaque_id,
                at=timezone.now(),
            )
            messages.success(request, _("The protocol is saved."))
            return redirect("overview", slug=slug)
        except Refused as refused:
            form.add_error(None, words.sentence(refused))
    context = {
        "panel": panel,
        "form": form,
        "document": document,
        "frozen": frozen,
        "labels": labels,
        "freeze": getattr(panel, "freeze", None),
        "chosen": {
            name: form[name].value() for name in ("policy", "rationales", "markdown", "order")
        },
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/protocol.html", context, status=status)
