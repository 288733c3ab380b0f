"""Importing in the browser: choose, look at what would happen, confirm; what files look like."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dilemmas.models import Collection, ModelJudgement, ResponseSet, Rubric
from dilemmas.services import formats as known
from dilemmas.services import taking_back
from dilemmas.services.reading import Format
from dilemmas.services.taking_back import CannotTakeBack
from ratings import tasks, words
from ratings.forms.coordinating import ImportForm, StudyForm
from ratings.models import Job, Upload
from ratings.permissions import owner_only
from ratings.services import study_files, uploads
from ratings.views.requests import PersonRequest

_SHIPPED_RUBRIC = settings.BASE_DIR / "fixtures" / "rubrics" / "awb-semantic.json"
_EXAMPLES = settings.BASE_DIR / "docs" / "examples"
# what is described, in the order of importing: its formats, and an example of each
_DESCRIBED = (
    ("dilemmas", (known.DILEMMAS,), ("dilemmas.csv", "dilemmas.json")),
    ("responses", (known.RESPONSES,), ("responses.csv",)),
    ("rubric", (known.RUBRIC, known.CRITERION), ("rubric.json",)),
    ("judgements", (known.JUDGEMENTS,), ("judgements.csv",)),
    ("study", (study_files.ITEMS,), ("study/items.csv",)),
    ("study_ratings", (study_files.RATINGS,), ("study/ratings.csv",)),
    ("study_judgements", (study_files.STUDY_JUDGEMENTS,), ("study/model_judgements.csv",)),
)


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: PersonRequest) -> HttpResponse:
    owner_only(request.user)
    if request.POST.get("shipped") == "rubric":
        content, name = _SHIPPED_RUBRIC.read_bytes(), _SHIPPED_RUBRIC.name
        return _kept(request, kind="rubric", name=name, content=content)
    is_study = request.POST.get("what") == "study"
    data, files = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = ImportForm(None if is_study else data, None if is_study else files)
    study = StudyForm(data if is_study else None, files if is_study else None, prefix="study")
    sent = study if is_study else form
    if request.method == "POST" and _fits(request, sent) and sent.is_valid():
        return _keep_study(request, study) if is_study else _keep_content(request, form)
    context = {"form": form, "study": study} | _what_is_here(request)
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/import.html", context, status=status)


def _fits(request: PersonRequest, form: ImportForm | StudyForm) -> bool:
    """Say that a file is too large. Django reads none of a request that is larger than allowed."""
    most = settings.FILE_UPLOAD_MAX_MEMORY_SIZE
    if int(request.headers.get("content-length") or 0) <= most:
        return True
    form.is_valid()
    form.errors.clear()
    message = _("The file is larger than %d MB. Use the command instead.") % (most // 1024**2)
    form.add_error(None, message)
    return False


def _what_is_here(request: PersonRequest) -> dict[str, Any]:
    sets = ResponseSet.objects.filter(uploader=request.user).order_by("name")
    scores = ModelJudgement.objects.filter(response__response_set__in=sets)
    return {
        "collections": Collection.objects.exclude(name__startswith="study:")
        .annotate(n=Count("dilemmas"))
        .order_by("name"),
        "sets": sets.annotate(n=Count("responses")),
        "rubrics": Rubric.objects.exclude(code__startswith="study-")
        .annotate(n=Count("versions"))
        .order_by("code"),
        "scores": scores.values("response__response_set__name", "judge")
        .annotate(n=Count("pk"))
        .order_by("response__response_set__name", "judge"),
    }


def _keep_content(request: PersonRequest, form: ImportForm) -> HttpResponse:
    data = form.cleaned_data
    target, collection = data["target"].strip(), data["collection"]
    foreign = ResponseSet.objects.filter(name=target).exclude(uploader=request.user)
    if data["kind"] in ("responses", "judgements") and foreign.exists():
        messages.error(request, _("Somebody else's response set has this name. Choose another."))
        return redirect("import")
    return _kept(
        request,
        kind=data["kind"],
        name=data["file"].name,
        content=data["file"].read(),
        target=target,
        parameters={"collection": collection.name if collection else ""},
    )


def _keep_study(request: PersonRequest, form: StudyForm) -> HttpResponse:
    data = form.cleaned_data
    files: list[UploadedFile | None] = [data[key] for key in ("items", "ratings", "judgements")]
    contents = [file.read() if file else None for file in files]
    names = [file.name if file else "" for file in files]
    assert contents[0] is not None and contents[1] is not None
    packed = uploads.pack_study(
        study_files.StudyFiles(contents[0], contents[1], contents[2], names)  # type: ignore[arg-type]
    )
    parameters = {key: data[key] for key in ("title", "slug", "scale")} | {"names": names}
    return _kept(request, kind="study", name=data["title"], content=packed, parameters=parameters)


def _kept(request: PersonRequest, **file: Any) -> HttpResponse:
    upload = uploads.keep_upload(owner=request.user, at=timezone.now(), **file)
    if uploads.is_large(upload):
        _ask(upload, "look")
    return redirect("import_preview", pk=upload.pk)


def _ask(upload: Upload, act: str) -> None:
    tasks.ask(kind="import", parameters={"upload": upload.pk, "act": act})


@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: PersonRequest, pk: int) -> HttpResponse:
    """GET says what confirming would do, or what it did; POST does it, or looks again."""
    owner_only(request.user)
    now = timezone.now()
    upload = get_object_or_404(Upload, pk=pk, owner=request.user, expires_at__gt=now)
    is_large = uploads.is_large(upload)
    if request.method == "POST":
        return _act(request, upload, is_large=is_large)
    context: dict[str, Any] = {"upload": upload, "kind": upload.kind, "size": len(upload.content)}
    if upload.result:
        context |= {"sample": upload.result.get("sample")}
        context["look"] = uploads.Look(**upload.result["look"])
    if is_large and not upload.finished_at:
        job = Job.objects.filter(kind="import", parameters__upload=pk).first()
        running = job is not None and job.state in (Job.State.WAITING, Job.State.RUNNING)
        context |= {"job": job, "running": running, "is_large": True}
        if request.htmx:  # the waiting page asks whether the worker is done
            return render(request, "ratings/coordinating/_import_job.html", context)
    elif not upload.finished_at:
        context["look"] = uploads.preview(upload=upload, at=now)
        if not context["look"].count:
            context["sample"] = uploads.sample(upload)
    return _page(request, context)


def _act(request: PersonRequest, upload: Upload, *, is_large: bool) -> HttpResponse:
    act = "look" if request.POST.get("action") == "look" else "import"
    if act == "look":
        named = {
            key.removeprefix("column-"): value[:200]
            for key, value in request.POST.items()
            if key.startswith("column-") and isinstance(value, str)
        }
        uploads.choose(
            upload=upload,
            update="update" in request.POST,
            repair="repair" in request.POST,
            columns=named,
        )
    if upload.finished_at:
        pass  # a second click: the page says what the first one did
    elif is_large:
        _ask(upload, act)
    elif act == "import":
        look = uploads.confirm(upload=upload, at=timezone.now())
        if look.count:
            return _page(request, {"upload": upload, "kind": upload.kind, "look": look})
    return redirect("import_preview", pk=upload.pk)


def _page(request: PersonRequest, context: dict[str, Any]) -> HttpResponse:
    look = context.get("look")
    status = 422 if look and look.count and not context.get("running") else 200
    return render(request, "ratings/coordinating/preview.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def take_back(request: PersonRequest) -> HttpResponse:
    """Ask once, then take back what was imported; what is sealed stays, and the page says why."""
    owner_only(request.user)
    given = request.POST if request.method == "POST" else request.GET
    kind, judge = given.get("kind", ""), given.get("judge", "")
    name = given.get("name", "")
    act = _taking(request, kind, name, judge)
    context: dict[str, Any] = {"kind": kind, "name": name, "judge": judge}
    try:
        if request.method == "POST":
            act(dry_run=False)
            messages.success(request, _("Taken back. The provenance says that it was here."))
            return redirect("import")
        context["taken"] = act(dry_run=True)
    except CannotTakeBack as refused:
        context["refused"] = words.TAKING_BACK[refused.code]
    status = 422 if request.method == "POST" else 200
    return render(request, "ratings/coordinating/take_back.html", context, status=status)


def _taking(request: PersonRequest, kind: str, name: str, judge: str) -> Callable[..., Any]:
    """Return what takes this back; 404 for what is not here, or is another person's."""
    made: dict[str, Any] = {"actor": request.user.opaque_id, "at": timezone.now()}
    if kind == "dilemmas":
        collections = Collection.objects.exclude(name__startswith="study:")
        return partial(
            taking_back.take_back_dilemmas,
            collection=get_object_or_404(collections, name=name),
            **made,
        )
    if kind == "rubric":
        rubric = get_object_or_404(Rubric, code=name)
        return partial(taking_back.take_back_rubric, rubric=rubric, **made)
    made["response_set"] = get_object_or_404(ResponseSet, name=name, uploader=request.user)
    if kind == "responses":
        return partial(taking_back.take_back_responses, **made)
    if kind == "judgements":
        return partial(taking_back.take_back_judgements, judge=judge, **made)
    raise Http404


@require_safe
def formats(request: PersonRequest) -> HttpResponse:
    """What each kind of file has in it, with an example to take away."""
    owner_only(request.user)
    sections = [
        {
            "key": key,
            "title": words.FORMATS[key],
            "tables": [{"key": one.key, "rows": _described(one)} for one in described],
            "examples": [name.rpartition("/")[2] for name in examples],
        }
        for key, described, examples in _DESCRIBED
    ]
    return render(request, "ratings/coordinating/formats.html", {"sections": sections})


def _described(format_: Format) -> list[dict[str, Any]]:
    return [
        {
            "name": column.name,
            "kind": words.COLUMN_KINDS[column.kind],
            "required": column.when or (_("yes") if column.required else _("no")),
            "default": column.default,
            "meaning": column.meaning,
            "example": column.example,
        }
        for column in format_.columns
    ]


@require_safe
def example(request: PersonRequest, name: str) -> FileResponse:
    owner_only(request.user)
    paths = {one.rpartition("/")[2]: one for _key, _formats, every in _DESCRIBED for one in every}
    if name not in paths:
        raise Http404
    file = (_EXAMPLES / paths[name]).open("rb")
    return FileResponse(file, as_attachment=True, filename=name)
