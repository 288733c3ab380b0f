"""Files between preview and confirmation: bytes in a table, with owner and expiry."""

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from awb_panel.accounts.models import User
from dilemmas.services.formats import DILEMMAS, JUDGEMENTS, RESPONSES
from dilemmas.services.importing import Outcome, Progress, import_dilemmas, import_rubric
from dilemmas.services.reading import KNOWN, UNREADABLE, Format, ImportRefused, read_table
from dilemmas.services.responses import import_judgements, import_responses
from dilemmas.services.rubrics import preview_rubric
from ratings.models import Upload
from ratings.services.studies import StudyFiles, check_study, import_study
from ratings.services.study_files import RATINGS

LIFETIME = timedelta(hours=24)
LARGE = 1024 * 1024  # from here on a worker reads it
_LARGE_ZIPPED = 128 * 1024  # of a workbook, which unpacks to many times its size
_FORMATS = {"dilemmas": DILEMMAS, "responses": RESPONSES, "judgements": JUDGEMENTS}
_SAMPLE = 5  # rows shown before importing
_CELL = 160  # characters of a cell shown


@dataclass(frozen=True)
class Sample:
    """The first rows of a file as they were read, and how many there are."""

    total: int
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Look:
    """What importing did or would do; or what stands in its way, as sentences. Plain values only."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    facts: str = ""
    notes: Sequence[str] = ()
    problems: Sequence[str] = ()
    count: int = 0  # of problems, shown and not shown
    may_update: bool = False  # all of them would go away if known content were replaced
    may_repair: bool = False  # all of them would go away if unreadable characters were replaced
    columns: Sequence[str] = ()  # needed, and not found
    headers: Sequence[str] = ()  # among which somebody may name them
    panel: str = ""  # the address of the study that was imported

    @property
    def did_something(self) -> bool:
        return bool(self.created or self.changed)


@transaction.atomic
def keep_upload(
    *,
    owner: User,
    kind: str,
    name: str,
    content: bytes,
    at: datetime,
    target: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> Upload:
    """Keep a file until it is confirmed; what has expired goes."""
    Upload.objects.filter(expires_at__lt=at).delete()
    return Upload.objects.create(
        owner=owner,
        kind=kind,
        parameters={"target": target, **(parameters or {})},
        name=name[:255],
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
        expires_at=at + LIFETIME,
    )


def choose(
    *, upload: Upload, update: bool, repair: bool, columns: Mapping[str, str] | None = None
) -> None:
    """Remember what was decided about known content, unreadable characters, and columns."""
    if upload.finished_at:
        return
    known = upload.parameters.get("columns", {}) | dict(columns or {})
    upload.parameters |= {"update": update, "repair": repair, "columns": known}
    upload.result = None
    upload.save(update_fields=["parameters", "result"])


def is_large(upload: Upload) -> bool:
    """Tell whether a worker must read the file."""
    content = bytes(upload.content)
    return len(content) > (_LARGE_ZIPPED if content.startswith(b"PK") else LARGE)


def preview(*, upload: Upload, at: datetime, progress: Progress | None = None) -> Look:
    """Say what confirming would do; nothing is written and no lock is held."""
    try:
        if upload.kind == "rubric":
            content = bytes(upload.content)
            return _look(preview_rubric(content=content, name=upload.name)[0])
        if upload.kind == "study":
            return _preview_study(upload)
        return _look(_run(upload, at=at, dry_run=True, progress=progress))
    except ImportRefused as refused:
        return _refused(refused)


def confirm(*, upload: Upload, at: datetime, progress: Progress | None = None) -> Look:
    """Import the file and forget its bytes; if it is refused, nothing is written and it stays."""
    try:
        look = _import(upload, at=at, progress=progress)
    except ImportRefused as refused:
        return _refused(refused)
    Upload.objects.filter(pk=upload.pk).update(
        content=b"", finished_at=at, result={"look": asdict(look)}
    )
    return look


def work(*, upload: Upload, act: str, at: datetime, progress: Progress | None = None) -> None:
    """Do in a worker what a page asked for (look or import) and keep what came of it.

    A look keeps the first rows too. Asking twice is harmless: what is imported is not imported
    again.
    """
    if upload.finished_at:
        return
    with translation.override(upload.owner.language):
        if act == "import":
            look = confirm(upload=upload, at=at, progress=progress)
            if not look.count:
                return
        else:
            look = preview(upload=upload, at=at, progress=progress)
        result: dict[str, Any] = {"look": asdict(look)}
        if not look.count:
            result["sample"] = asdict(sample(upload))
    Upload.objects.filter(pk=upload.pk).update(result=result)


def sample(upload: Upload) -> Sample:
    """Return the first rows; of a rubric, its criteria. Raises `ImportRefused` if unreadable."""
    content, name, repair = (
        bytes(upload.content),
        upload.name,
        bool(upload.parameters.get("repair")),
    )
    if upload.kind == "rubric":
        _outcome, criteria = preview_rubric(content=content, name=name)
        levels = [
            (one["key"], ", ".join(f"{level['value']:g}" for level in one["levels"]))
            for one in criteria
        ]
        return Sample(len(levels), (_("criterion"), _("levels")), levels)
    if upload.kind == "study":
        return _sample(unpack_study(upload).ratings, name, RATINGS, repair=repair)
    columns = upload.parameters.get("columns")
    return _sample(content, name, _FORMATS[upload.kind], repair=repair, columns=columns)


def pack_study(files: StudyFiles) -> bytes:
    """Return a study's files as one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("items", files.items)
        archive.writestr("ratings", files.ratings)
        if files.judgements is not None:
            archive.writestr("judgements", files.judgements)
    return packed.getvalue()


def unpack_study(upload: Upload) -> StudyFiles:
    """Return the files that `pack_study` put together."""
    with zipfile.ZipFile(io.BytesIO(bytes(upload.content))) as archive:
        there = "judgements" in archive.namelist()
        return StudyFiles(
            archive.read("items"),
            archive.read("ratings"),
            archive.read("judgements") if there else None,
            upload.parameters["names"],
        )


def _sample(
    content: bytes,
    name: str,
    format_: Format,
    *,
    repair: bool,
    columns: Mapping[str, str] | None = None,
) -> Sample:
    table = read_table(content, name=name, format_=format_, repair=repair, columns=columns)
    rows: list[list[str]] = []
    for row in table:
        if len(rows) < _SAMPLE:
            cells = {**row.extra, **row.values}
            rows.append([_short(cells.get(column, "")) for column in table.columns])
    return Sample(table.total, table.columns, rows)


def _short(text: str) -> str:
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


def _look(outcome: Outcome) -> Look:
    return Look(
        outcome.created, outcome.changed, outcome.unchanged, outcome.facts, list(outcome.notes)
    )


def _refused(refused: ImportRefused) -> Look:
    return Look(
        notes=refused.notes,
        problems=refused.lines(),
        count=refused.count,
        may_update=refused.is_only(KNOWN),
        may_repair=refused.is_only(UNREADABLE),
        columns=refused.columns,
        headers=refused.headers,
    )


def _preview_study(upload: Upload) -> Look:
    study = check_study(
        files=unpack_study(upload),
        slug=upload.parameters["slug"],
        scale=upload.parameters["scale"],
        repair=bool(upload.parameters.get("repair")),
    )
    if study is None:
        return Look(unchanged=1)
    return Look(created=len(study.items), notes=list(study.notes))


def _import(upload: Upload, *, at: datetime, progress: Progress | None) -> Look:
    if upload.kind == "rubric":
        content, actor = bytes(upload.content), upload.owner.opaque_id
        version, is_new = import_rubric(content=content, name=upload.name, actor=actor, at=at)
        is_first = is_new and version.number == 1
        return Look(int(is_first), int(is_new and not is_first), int(not is_new))
    if upload.kind == "study":
        outcome = import_study(
            files=unpack_study(upload),
            slug=upload.parameters["slug"],
            title=upload.parameters["title"],
            scale=upload.parameters["scale"],
            repair=bool(upload.parameters.get("repair")),
            coordinator=upload.owner,
            at=at,
            progress=progress,
        )
        return Look(
            created=outcome.items,
            unchanged=int(not outcome.is_new),
            notes=list(outcome.notes),
            panel=outcome.panel.slug,
        )
    return _look(_run(upload, at=at, dry_run=False, progress=progress))


def _run(upload: Upload, *, at: datetime, dry_run: bool, progress: Progress | None) -> Outcome:
    common: dict[str, Any] = {
        "content": bytes(upload.content),
        "name": upload.name,
        "at": at,
        "update": bool(upload.parameters.get("update")),
        "repair": bool(upload.parameters.get("repair")),
        "columns": upload.parameters.get("columns"),
        "dry_run": dry_run,
        "progress": progress,
    }
    target, actor = upload.parameters["target"], upload.owner.opaque_id
    if upload.kind == "dilemmas":
        return import_dilemmas(collection=target, actor=actor, **common)
    if upload.kind == "responses":
        collection = upload.parameters.get("collection", "")
        return import_responses(
            set_name=target, collection=collection, uploader=upload.owner, **common
        )
    return import_judgements(set_name=target, actor=actor, **common)
