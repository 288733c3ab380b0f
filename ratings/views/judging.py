"""The judge's desk and the rating page. Everything here is the signed-in judge's own."""

import csv
import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import time_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dilemmas.models import Condition
from ratings import words
from ratings.forms.judging import ConsentForm, FlagForm, posted_changes, sent_changes
from ratings.models import Batch, Clarification, Flag, Judge, Rating, Reopening, Slot
from ratings.permissions import batch_for, judge_for, slot_for, slot_to_read
from ratings.services import clarifying, guessing, judging, running
from ratings.services.answers import CANNOT
from ratings.services.errors import Clash, Conflict, Gap, Incomplete, Refused
from ratings.services.pace import time_left
from ratings.services.serving import CriterionItem, blinded_item, instructions_text, rubric_item
from ratings.views.refusals import sign_in_first
from ratings.views.requests import PersonRequest, inside

View = Callable[..., HttpResponse]
_WRITTEN = ("rationale", "evidence", "note")  # fields of a criterion that are text


def carries_text(view: View) -> View:
    """Mark a view whose posted text is carried through signing in instead of being lost."""
    view.refusal = sign_in_first  # type: ignore[attr-defined]
    return view


@require_safe
def desk(request: PersonRequest) -> HttpResponse:
    """What waits for me, and how much is left."""
    judges = (
        Judge.objects.for_user(request.user)
        .active()
        .select_related("panel__protocol")
        .order_by("panel__created_at")
    )
    slots = Slot.objects.for_judge(request.user).with_progress().filter(is_taken_out=False)
    counts: dict[int, list[int]] = {}
    for batch_id, is_done in slots.values_list("batch_id", "is_done"):
        row = counts.setdefault(batch_id, [0, 0])
        row[0] += int(is_done)
        row[1] += 1
    batches: dict[int, list[dict[str, Any]]] = {}
    for one in Batch.objects.for_judge(request.user).order_by("judge", "-phase", "number"):
        done, total = counts.get(one.pk, [0, 0])
        batches.setdefault(one.judge_id, []).append({"batch": one, "done": done, "total": total})
    seats = [_seat(judge, batches.get(judge.pk, [])) for judge in judges]
    return render(request, "ratings/judging/desk.html", {"seats": seats})


def _seat(judge: Judge, batches: list[dict[str, Any]]) -> dict[str, Any]:
    """One panel on the desk: what is done, what comes next, about how long it may take."""
    upcoming = next((row for row in batches if not row["batch"].handed_in_at), None)
    practising = upcoming is not None and upcoming["batch"].phase == Batch.Phase.PRACTICE
    main = [row for row in batches if row["batch"].phase == Batch.Phase.MAIN]
    for row in main:
        row["waits"] = practising
    done, total = sum(row["done"] for row in main), sum(row["total"] for row in main)
    return {
        "judge": judge,
        "batches": batches,
        "done": done,
        "total": total,
        "next": upcoming,
        "practising": practising,
        "time_left": time_left(judge, responses=total - done),
        "reopened": Reopening.objects.filter(slot__judge=judge)
        .waiting()  # type: ignore[attr-defined]
        .select_related("slot__batch"),
        "answers": [
            {"row": one, "about": words.FLAGS[one.flag.kind]} for one in running.answers_for(judge)
        ],
        "unread": Clarification.objects.unread_by(judge).count(),
        "guesses": 0 if upcoming else len(guessing.asked(judge)),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: PersonRequest, slug: str) -> HttpResponse:
    judge = judge_for(request.user, slug)
    if judge.consents.exists():
        return redirect("desk")
    form = ConsentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        judging.consent(
            judge=judge,
            language=get_language() or "",
            conflicts=form.cleaned_data["conflicts"],
            exposure=form.cleaned_data["exposure"],
            at=timezone.now(),
        )
        return redirect("instructions", slug=slug)
    document = judge.panel.protocol.document
    context = {
        "form": form,
        "judge": judge,
        "count": judge.slots.filter(batch__phase=Batch.Phase.MAIN).count(),
        "practice": judge.slots.filter(batch__phase=Batch.Phase.PRACTICE).count(),
        "protocol": document,
        "version": judging.consent_version(judge.panel),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/judging/consent.html", context, status=status)


@require_safe
def instructions(request: PersonRequest, slug: str) -> HttpResponse:
    judge = judge_for(request.user, slug)
    panel = judge.panel
    context = {
        "judge": judge,
        "rubric": rubric_item(panel.rubric_version, language=panel.content_language),
        "instructions": instructions_text(panel.rubric_version, language=panel.content_language),
        "rationales": panel.protocol.document["rationales"],
        "repeats": panel.protocol.document.get("repeats", 0),
        "next": judge.batches.filter(handed_in_at=None).first(),
    }
    return render(request, "ratings/judging/instructions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def clarifications(request: PersonRequest, slug: str) -> HttpResponse:
    """What was said to all judges since the freeze; POST confirms that it was read."""
    judge = judge_for(request.user, slug)
    if request.method == "POST":
        clarifying.confirm_read(judge=judge, at=timezone.now())
        return redirect(inside(request.POST.get("next", "")) or "desk")
    context = {
        "judge": judge,
        "clarifications": judge.panel.clarifications.order_by("-number"),
        "unread": Clarification.objects.unread_by(judge).exists(),
        "next": inside(request.GET.get("next", "")),
    }
    return render(request, "ratings/judging/clarifications.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def guess(request: PersonRequest, slug: str) -> HttpResponse:
    """Which condition some responses seem to come from: only after the last batch is locked."""
    judge = judge_for(request.user, slug)
    slots = guessing.asked(judge)
    if not slots:
        raise Http404
    context: dict[str, Any] = {
        "judge": judge,
        "rows": [{"slot": slot, "item": blinded_item(slot, judge.panel)} for slot in slots],
        "labels": list(
            Condition.objects.judged(judge.panel.response_set).values_list("label", flat=True)
        ),
        "whys": words.WHYS,
    }
    if request.method != "POST":
        return render(request, "ratings/judging/guess.html", context)
    answers = {
        slot.pk: (
            request.POST.get(f"condition-{slot.code}", ""),
            request.POST.get(f"why-{slot.code}", ""),
        )
        for slot in slots
    }
    try:
        guessing.guess(judge=judge, answers=answers, at=timezone.now())
    except Refused as refused:
        context["refused"] = words.sentence(refused)
        return render(request, "ratings/judging/guess.html", context, status=422)
    messages.success(request, _("Thank you: your answers are kept."))
    return redirect("desk")


@require_safe
def my_ratings(request: PersonRequest, slug: str) -> HttpResponse:
    """A judge's own copy of what they submitted."""
    judge = judge_for(request.user, slug)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="my-ratings-{slug}.csv"'
    writer = csv.writer(response)
    writer.writerow(
        ["phase", "batch", "position", "code", "version", "at", "criterion", "score", "missing", "note",
         "rationale"]
    )  # fmt: skip
    rows = Rating.objects.filter(submission__slot__judge=judge).order_by(
        "-submission__slot__batch__phase",
        "submission__slot__batch__number",
        "submission__slot__position",
        "submission__number",
        "pk",
    )
    writer.writerows(
        rows.values_list(
            "submission__slot__batch__phase",
            "submission__slot__batch__number",
            "submission__slot__position",
            "submission__slot__code",
            "submission__number",
            "submission__at",
            "criterion__key",
            "score",
            "missing",
            "missing_note",
            "rationale",
        )
    )
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@carries_text
def batch(request: PersonRequest, code: str) -> HttpResponse:
    """Review of a batch before it is handed in; POST hands it in, once and for good."""
    mine = batch_for(request.user, code)
    if not mine.judge.consents.exists():
        return redirect("consent", slug=mine.judge.panel.slug)
    if mine.phase == Batch.Phase.MAIN and mine.has_practice_left:
        return _practice_first(request)
    slots = list(mine.slots.with_progress().order_by("position"))
    undone = [slot for slot in slots if slot.is_owed]
    context: dict[str, Any] = {
        "batch": mine,
        "slots": slots,
        "undone": undone,
        "panel": mine.judge.panel,
        "confirm": "hand-in" in request.GET and not undone,
        "time_left": time_left(mine.judge, responses=len(undone)),
    }
    if request.method != "POST":
        return render(request, "ratings/judging/batch.html", context)
    try:
        judging.hand_in(batch=mine, at=timezone.now())
    except Refused as refused:
        context["refused"] = words.sentence(refused)
        return render(request, "ratings/judging/batch.html", context, status=422)
    left = Batch.objects.for_judge(request.user).filter(judge=mine.judge, handed_in_at=None).count()
    context |= {
        "left": left,
        "count": mine.judge.slots.filter(batch__phase=Batch.Phase.MAIN).count(),
        "guesses": 0 if left else len(guessing.asked(mine.judge)),
    }
    return render(request, "ratings/judging/handed_in.html", context)


def _practice_first(request: PersonRequest) -> HttpResponse:
    """Lead to the desk, where the practice round is what comes next."""
    messages.info(request, _("The practice round comes first. The study begins after it."))
    return redirect("desk")


@require_http_methods(["GET", "HEAD", "POST"])
@carries_text
def rate(request: PersonRequest, code: str, position: int) -> HttpResponse:
    """The rating page. POST saves, and with `action=done` marks the response done."""
    slot = slot_to_read(request.user, code, position)
    if not slot.has_consent:
        return redirect("consent", slug=slot.judge.panel.slug)
    if request.method != "POST":
        if slot.has_practice_left and slot.batch.phase == Batch.Phase.MAIN:
            return _practice_first(request)
        return _rating_page(request, slot)
    sequence = request.POST.get("sequence", "")
    try:
        judging.save(
            slot=slot,
            changes=posted_changes(request.POST.dict()),
            client=request.POST.get("client", "")[:40] if sequence else "",
            sequence=_whole(sequence) if sequence else None,
            at=timezone.now(),
            field_left=True,
            shown=_moment(request.POST.get("shown", "")),
        )
        if request.POST.get("action") == "done":
            judging.done(slot=slot, language=get_language() or "", at=timezone.now())
            return redirect(_after(slot))
    except Conflict as conflict:
        return _rating_page(request, slot, status=409, conflict=conflict)
    except Incomplete as incomplete:
        return _rating_page(request, slot, status=422, gaps=incomplete.gaps)
    except Refused as refused:
        kept = {k: v.value for k, v in posted_changes(request.POST.dict()).items()}
        sentence = words.sentence(refused)
        return _rating_page(request, slot, status=422, refused=sentence, typed=kept)
    return redirect("rate", code=code, position=position)


@require_http_methods(["GET", "POST"])
@carries_text
def draft(request: PersonRequest, code: str, position: int) -> HttpResponse:
    """The page's own saving. GET: the draft as it stands, and a fresh form token."""
    slot = slot_for(request.user, code, position)
    if request.method == "GET":
        return JsonResponse(_reply(_saved_state(slot)) | {"token": get_token(request)})
    if not slot.has_consent:
        return JsonResponse({"refused": "no_consent", "message": ""}, status=423)
    try:
        body = json.loads(request.body)
        saved = judging.save(
            slot=slot,
            changes=sent_changes(body["fields"]),
            client=str(body["client"])[:40],
            sequence=int(body["sequence"]),
            field_left=bool(body.get("left")),
            shown=_moment(body.get("shown", "")),
            at=timezone.now(),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return JsonResponse({"refused": "unreadable"}, status=400)
    except Refused as refused:
        message = words.sentence(refused)
        return JsonResponse({"refused": refused.code, "message": message}, status=423)
    except Conflict as conflict:
        clashes = [vars(clash) for clash in conflict.clashes]
        reply = {"version": conflict.version, "fields": conflict.fields, "clashes": clashes}
        return JsonResponse(reply, status=409)
    return JsonResponse(_reply(saved))


@require_POST
@carries_text
def flag(request: PersonRequest, code: str, position: int) -> HttpResponse:
    slot = slot_to_read(request.user, code, position)
    form = FlagForm(request.POST)
    if form.is_valid():
        judging.flag(slot=slot, at=timezone.now(), **form.cleaned_data)
        messages.success(request, _("Sent. You can go on rating."))
        return redirect("rate", code=code, position=position)
    return _rating_page(request, slot, status=422, flag_error=True)


def _rating_page(
    request: PersonRequest,
    slot: Slot,
    *,
    status: int = 200,
    conflict: Conflict | None = None,
    gaps: list[Gap] | None = None,
    refused: str = "",
    typed: dict[str, str] | None = None,
    flag_error: bool = False,
) -> HttpResponse:
    if request.method == "POST":
        slot.draft.refresh_from_db()
    panel = slot.judge.panel
    values = {name: field["value"] for name, field in slot.draft.fields.items()} | (typed or {})
    rubric = rubric_item(slot.batch.rubric_version, language=panel.content_language)
    context = {
        "slot": slot,
        "panel": panel,
        "item": blinded_item(slot, panel),
        "rubric": rubric,
        "keys": _keys(rubric),
        "rows": [_row(criterion, values, conflict, gaps or []) for criterion in rubric.criteria],
        "answered": sum(f"0-{c.key}-answer" in values for c in rubric.criteria),
        "total": slot.of,
        "first_reading": slot.draft.version == 0,
        "client": secrets.token_hex(8),
        "shown": int(timezone.now().timestamp()),
        "locked": panel.state != panel.State.OPEN
        or slot.was_taken_out
        or (slot.batch.handed_in_at is not None and not slot.is_reopened),
        "gaps": gaps or [],
        "conflict": conflict,
        "refused": refused,
        "flag_error": flag_error,
        "flag_kinds": Flag.Kind.values,
        "reasons": words.said(words.REASONS),
        "flags": words.said(words.FLAGS),
        "saved_state": words.said(words.SAVING),
    }
    return render(request, "ratings/judging/rate.html", context, status=status)


def _row(
    criterion: Any, values: dict[str, str], conflict: Conflict | None, gaps: list[Gap]
) -> dict[str, Any]:
    """One criterion with what was typed, what is missing and what clashes."""
    prefix = f"0-{criterion.key}"
    clashes = {c.name: c for c in conflict.clashes} if conflict else {}
    return {
        "criterion": criterion,
        "prefix": prefix,
        "answer": values.get(f"{prefix}-answer", ""),
        "note": values.get(f"{prefix}-note", ""),
        "rationale": values.get(f"{prefix}-rationale", ""),
        "evidence": values.get(f"{prefix}-evidence", ""),
        "unable": (answer := values.get(f"{prefix}-answer", "")).startswith(CANNOT),
        "cannot": answer.removeprefix(CANNOT) if answer.startswith(CANNOT) else "",
        "gaps": [
            {"field": gap.field, "sentence": words.GAPS[gap.code]}
            for gap in gaps
            if gap.criterion == criterion.key
        ],
        "answer_clash": _in_words(criterion, clashes.get(f"{prefix}-answer")),
        **{f"{name}_clash": clashes.get(f"{prefix}-{name}") for name in _WRITTEN},
    }


def _in_words(criterion: CriterionItem, clash: Clash | None) -> dict[str, str] | None:
    """Two answers as the page names them, not as the form spells them."""
    if clash is None:
        return None
    unable = _("I cannot judge this")
    said = {level.value: f"{level.value} {level.short}" for level in criterion.levels}
    said |= {"": _("no answer"), CANNOT: unable}
    said |= {f"{CANNOT}{key}": f"{unable} ({text})" for key, text in words.REASONS.items()}
    return {
        name: said.get(value, value)
        for name, value in (("mine", clash.mine), ("theirs", clash.theirs))
    }


def _keys(rubric: Any) -> list[str]:
    """The first and the last level that a digit can choose; none where levels need two digits."""
    values = sorted({level.value for criterion in rubric.criteria for level in criterion.levels})
    return [values[0], values[-1]] if all(len(value) == 1 for value in values) else []


def _after(slot: Slot) -> str:
    """The next place that is not done, from here on; after the last one, the review."""
    if slot.is_reopened:
        return reverse("desk")
    open_ones = [s.position for s in slot.batch.slots.with_progress() if s.is_owed]
    later = [p for p in sorted(open_ones) if p > slot.position] or sorted(open_ones)
    base = f"/judge/batch/{slot.batch.code}/"
    return f"{base}{later[0]}/" if later else base


def _saved_state(slot: Slot) -> judging.Saved:
    values = {name: field["value"] for name, field in slot.draft.fields.items()}
    return judging.Saved(slot.draft.version, values, slot.draft.saved_at)


def _reply(saved: judging.Saved) -> dict[str, Any]:
    at = time_format(timezone.localtime(saved.at), "H:i") if saved.at else ""
    return {"version": saved.version, "fields": dict(saved.fields), "at": at}


def _moment(text: object) -> datetime | None:
    """Read the seconds at which a page was made; what is none of it is not known."""
    seconds = _whole(text, digits=11) if isinstance(text, str) else 0
    return datetime.fromtimestamp(seconds, tz=UTC) if seconds else None


def _whole(text: str, *, digits: int = 9) -> int:
    return int(text) if text.isdecimal() and len(text) <= digits else 0
