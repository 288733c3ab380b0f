"""Files between preview and confirmation: bytes in a table, with owner and expiry."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from awb_panel.accounts.models import User
from dilemmas.models import RubricVersion
from dilemmas.services.importing import Outcome, import_dilemmas, import_rubric
from dilemmas.services.reading import read_json, read_rows
from dilemmas.services.responses import import_judgements, import_responses
from ratings.models import Upload

LIFETIME = timedelta(hours=24)
KINDS = ("dilemmas", "rubric", "responses", "judgements")


_SAMPLE = 5  # rows shown before importing
_CELL = 160  # characters of a cell shown


@dataclass(frozen=True)
class Sample:
    """The first rows of a file as they were read, and how many there are."""

    total: int
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class _PreviewOnly(Exception):
    """Rolls a tried import back."""


@transaction.atomic
def keep_upload(
    *, owner: User, kind: str, name: str, content: bytes, target: str, at: datetime
) -> Upload:
    """Keep a file until it is confirmed; what has expired goes."""
    Upload.objects.filter(expires_at__lt=at).delete()
    return Upload.objects.create(
        owner=owner,
        kind=f"{kind}:{target}",
        name=name[:255],
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
        expires_at=at + LIFETIME,
    )


def preview(*, upload: Upload, update: bool, at: datetime) -> Outcome:
    """Say what confirming would do, by doing it and rolling it back. Raises `ImportRefused`."""
    outcome = Outcome(0, 0, 0)
    try:
        with transaction.atomic():
            outcome = _run(upload, update=update, at=at)
            raise _PreviewOnly
    except _PreviewOnly:
        return outcome


def sample(upload: Upload) -> Sample:
    """Return the first rows; of a rubric, its criteria. Raises `ImportRefused` if unreadable."""
    content, name = bytes(upload.content), upload.name
    if upload.kind.split(":", 1)[0] == "rubric":
        criteria = read_json(content, name=name)["criteria"]
        return Sample(
            len(criteria),
            ("key", "levels"),
            [
                (one["key"], ", ".join(str(level["value"]) for level in one.get("levels", ())))
                for one in criteria
            ],
        )
    rows = read_rows(content, name=name, required=(), known=())
    columns = list(dict.fromkeys(column for row in rows[:_SAMPLE] for column in row.values))
    return Sample(
        len(rows), columns, [[_short(row.get(c)) for c in columns] for row in rows[:_SAMPLE]]
    )


def _short(text: str) -> str:
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


@transaction.atomic
def confirm(*, upload: Upload, update: bool, at: datetime) -> Outcome:
    """Import the file and forget it. Raises `ImportRefused`; then nothing is written."""
    outcome = _run(upload, update=update, at=at)
    upload.delete()
    return outcome


def _run(upload: Upload, *, update: bool, at: datetime) -> Outcome:
    kind, target = upload.kind.split(":", 1)
    content, name, actor = bytes(upload.content), upload.name, upload.owner.opaque_id
    if kind == "dilemmas":
        return import_dilemmas(
            content=content, name=name, collection=target, actor=actor, at=at, update=update
        )
    if kind == "rubric":
        _version, is_new = import_rubric(content=content, name=name, actor=actor, at=at)
        assert isinstance(_version, RubricVersion)
        return Outcome(int(is_new), 0, int(not is_new))
    if kind == "responses":
        return import_responses(
            content=content,
            name=name,
            set_name=target,
            uploader=upload.owner,
            at=at,
            update=update,
        )
    return import_judgements(
        content=content, name=name, set_name=target, actor=actor, at=at, update=update
    )
