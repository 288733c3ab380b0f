"""While a panel is open: how far it is, notes from judges, seats, texts taken out. Never a score."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dilemmas.models import Response
from ratings import words
from ratings.forms.running import ReasonForm, ReminderRuleForm, ReplyForm
from ratings.models import Batch, Flag, Judge, Panel, Reopening, Slot
from ratings.permissions import panel_for
from ratings.services import reminding, running
from ratings.services.errors import Refused
from ratings.services.mail import reminder, send_reminder
from ratings.services.progress import batch_progress, dilemma_progress, judge_progress
from ratings.views.requests import PersonRequest, page_of

_FLAGS = 20  # on a page
_FEW = 5_000  # places whose batches and dilemmas are shown unasked
_RESPONSES = 400  # in one list to choose from


def _native(request: PersonRequest, slug: str) -> Panel:
    panel = panel_for(request.user, slug, "setup")
    if panel.origin != Panel.Origin.NATIVE:
        raise Http404
    return panel


@require_safe
def progress(request: PersonRequest, slug: str) -> HttpResponse:
    """By judge, batch and dilemma; asks itself again every minute while the panel is open."""
    panel, now = _native(request, slug), timezone.now()
    rows = judge_progress(panel, with_pace=True)
    # Of thousands of places the parts are counted when somebody asks for them.
    in_parts = "parts" in request.GET or sum(row.slots for row in rows) <= _FEW
    batches = batch_progress(panel) if in_parts else {}
    context = {
        "panel": panel,
        "progress": rows,
        "now": now,
        "ends": {row.judge.pk: row.projected_end(now) for row in rows},
        "batches": [(row, batches.get(row.judge.pk, [])) for row in rows] if in_parts else [],
        "dilemmas": dilemma_progress(panel) if in_parts else [],
        "in_parts": in_parts,
        "live": panel.state == Panel.State.OPEN,
    }
    part = "_running.html" if request.htmx else "progress.html"
    return render(request, f"ratings/coordinating/{part}", context)


@require_http_methods(["GET", "HEAD", "POST"])
def reminders(request: PersonRequest, slug: str) -> HttpResponse:
    """After how many silent days judges are reminded, who is next, and what they are sent."""
    panel = _native(request, slug)
    rule = reminding.rule_of(panel)
    form = ReminderRuleForm(request.POST or None, initial={"days": rule.days if rule else 0})
    if request.method == "POST" and form.is_valid():
        try:
            reminding.set_rule(
                panel=panel,
                days=form.cleaned_data["days"],
                actor=request.user.opaque_id,
                at=timezone.now(),
            )
            messages.success(request, _("Saved."))
            return redirect("reminders", slug=slug)
        except Refused as refused:
            form.add_error("days", words.sentence(refused))
    upcoming = reminding.next_reminders(panel, rule) if rule else []
    context = {
        "panel": panel,
        "form": form,
        "rule": rule,
        "live": panel.state in (Panel.State.FROZEN, Panel.State.OPEN),
        "now": timezone.now(),
        "rows": [
            (judge, due, reminder(judge=judge, coordinator=request.user.email))
            for judge, due in upcoming
        ],
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/reminders.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def flags(request: PersonRequest, slug: str) -> HttpResponse:
    """Every note from a judge, those that wait first; POST answers one."""
    panel = _native(request, slug)
    form, wrong = None, None
    if request.method == "POST":
        found = get_object_or_404(
            Flag.objects.select_related("slot__judge"),
            pk=_whole(request.POST.get("flag", "")),
            slot__judge__panel=panel,
        )
        form = ReplyForm(request.POST)
        if form.is_valid():
            try:
                running.reply(
                    flag=found,
                    actor=request.user.opaque_id,
                    at=timezone.now(),
                    **form.cleaned_data,
                )
                messages.success(request, _("Kept; the judge reads it on their desk."))
                return redirect("flags", slug=slug)
            except Refused as refused:
                form.add_error("text", words.sentence(refused))
        wrong = found.pk
    queue = running.flag_queue(panel)
    page = page_of(request, queue, _FLAGS)
    rows: list[dict[str, Any]] = [
        {
            "row": row,
            "text": words.FLAGS[row.flag.kind],
            "state": words.FLAG_STATES[row.state],
            "replies": [(one, words.FLAG_STATES[one.state]) for one in row.replies],
            "form": form if row.flag.pk == wrong else ReplyForm(auto_id=f"id_%s_{row.flag.pk}"),
        }
        for row in running.told(queue.filter(pk__in=[one.pk for one in page.object_list]))
    ]
    waiting = queue.filter(waits=True).count()
    context = {"panel": panel, "rows": rows, "page": page, "waiting": waiting}
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/flags.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def seat(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """One judge: leaving, coming back, being reminded, one response opened again."""
    panel = _native(request, slug)
    judge = get_object_or_404(Judge.objects.select_related("panel", "user"), panel=panel, pk=pk)
    form = ReasonForm(request.POST or None)
    act = request.POST.get("act", "")
    refusal = ""
    if request.method == "POST":
        try:
            if act in ("leave", "reopen") and not form.is_valid():
                raise Refused("reason_needed")
            _act(
                request, judge, act, form.cleaned_data.get("reason", "") if form.is_valid() else ""
            )
            return redirect("seat", slug=slug, pk=pk)
        except Refused as refused:
            refusal = words.sentence(refused)
    slots = (
        Slot.objects.filter(judge=judge, batch__handed_in_at__isnull=False)
        .select_related("batch", "response__dilemma")
        .order_by("-batch__phase", "batch__number", "position")
    )
    numbers: list[int] = []
    if slots.count() > _RESPONSES:  # then the batch is chosen first
        main = judge.batches.filter(phase=Batch.Phase.MAIN, handed_in_at__isnull=False)
        numbers = list(main.order_by("number").values_list("number", flat=True))
        number = _whole(request.GET.get("batch", ""))
        number = number if number in numbers else numbers[0]
        slots = slots.filter(batch__phase=Batch.Phase.MAIN, batch__number=number)
    opened = set(
        Reopening.objects.filter(slot__judge=judge).waiting().values_list("slot", flat=True)  # type: ignore[attr-defined]
    )
    context: dict[str, Any] = {
        "panel": panel,
        "judge": judge,
        "row": judge_progress(panel, judge)[0],
        "slots": slots,
        "batches": numbers,
        "batch": number if numbers else 0,
        "opened": opened,
        "reopenings": Reopening.objects.filter(slot__judge=judge).select_related("slot"),
        "replacement": getattr(getattr(judge, "replaced_by", None), "judge", None),
        "stands_for": getattr(getattr(judge, "replacement_of", None), "left_by", None),
        "reminded": running.last_reminder(judge),
        "letter": reminder(judge=judge, coordinator=request.user.email) if judge.user else None,
        "refusal": refusal,
        "act": act,
        "reason": request.POST.get("reason", "") if refusal else "",
        "live": panel.state == Panel.State.OPEN,
    }
    status = 422 if refusal else 200
    return render(request, "ratings/coordinating/seat.html", context, status=status)


def _act(request: PersonRequest, judge: Judge, act: str, reason: str) -> None:
    """Do one thing to a seat. Raises `Refused`; an act that is none of these is refused too."""
    who, now = request.user.opaque_id, timezone.now()
    if act == "leave":
        running.leave(judge=judge, reason=reason, actor=who, at=now)
        messages.success(request, _("Noted. Invite somebody to take the seat, or wait."))
    elif act == "return":
        running.come_back(judge=judge, actor=who, at=now)
        messages.success(request, _("The seat is theirs again, as it was left."))
    elif act == "remind":
        running.note_reminder(judge=judge, actor=who, at=now)
        if send_reminder(judge=judge, coordinator=request.user.email):
            messages.success(request, _("The reminder is on its way."))
        else:
            messages.error(request, _("The e-mail could not be sent. Write to the judge yourself."))
    elif act == "reopen":
        code = request.POST.get("slot", "")
        slot = get_object_or_404(Slot.objects.select_related("judge"), judge=judge, code=code)
        running.reopen(slot=slot, reason=reason, actor=who, at=now)
        messages.success(request, _("Opened again: the judge finds it on their desk."))
    else:
        raise Refused("unknown_act")


@require_http_methods(["GET", "HEAD", "POST"])
def texts_out(request: PersonRequest, slug: str) -> HttpResponse:
    """The panel's responses; POST takes one out, with a reason, for every judge and every figure."""
    panel = _native(request, slug)
    form = ReasonForm(request.POST or None)
    refusal, chosen = "", None
    if request.method == "POST":
        chosen = get_object_or_404(
            Response,
            response_set=panel.response_set_id,
            pk=_whole(request.POST.get("response", "")),
        )
        try:
            if not form.is_valid():
                raise Refused("reason_needed")
            running.take_out(
                panel=panel,
                response=chosen,
                reason=form.cleaned_data["reason"],
                actor=request.user.opaque_id,
                at=timezone.now(),
            )
            messages.success(request, _("Taken out. It is counted in the report, with the reason."))
            return redirect("texts_out", slug=slug)
        except Refused as refused:
            refusal = words.sentence(refused)
    kept = Response.objects.kept().filter(response_set=panel.response_set_id)  # type: ignore[attr-defined]
    codes = list(kept.values_list("dilemma__code", flat=True).distinct().order_by("dilemma__code"))
    asked = request.GET.get("dilemma", "") or (chosen.dilemma.code if chosen else "")
    # A list of thousands is no list: then the dilemma is chosen first.
    by_dilemma = len(codes) > 1 and kept.count() > _RESPONSES
    rows = kept.exclude(withdrawals__panel=panel)
    if by_dilemma:
        rows = rows.filter(dilemma__code=asked if asked in codes else codes[0])
    context = {
        "panel": panel,
        "codes": codes if by_dilemma else [],
        "dilemma": asked,
        "responses": rows.select_related("dilemma", "condition").order_by(
            "dilemma__code", "condition__label", "pk"
        ),
        "out": panel.withdrawals.select_related("response__dilemma", "response__condition"),
        "refusal": refusal,
        "chosen": chosen,
        "live": panel.state == Panel.State.OPEN,
    }
    status = 422 if refusal else 200
    return render(request, "ratings/coordinating/texts_out.html", context, status=status)


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 19 else 0
