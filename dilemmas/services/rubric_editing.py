"""Writing rubrics: a new one, the next version of one, another content of one that is not sealed."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from awb_panel.accounts.models import User
from dilemmas.canonical import sha256
from dilemmas.models import Rubric, RubricVersion
from dilemmas.services import provenance
from dilemmas.services.rubric_documents import Document, RubricProblem, check, document_of
from dilemmas.services.rubrics import write_rubric, write_rubric_content


class RubricRefused(Exception):
    """Nothing was written. The sentence says why; `problems` where, if it is the content."""

    def __init__(self, message: str, problems: Sequence[RubricProblem] = ()) -> None:
        super().__init__(message)
        self.problems = list(problems)


class ChangedMeanwhile(RubricRefused):
    """The page was of an older content than what is stored."""


@transaction.atomic
def create_rubric(
    *,
    code: str,
    title: str,
    languages: Sequence[str],
    author: User,
    at: datetime,
    like: RubricVersion | None = None,
) -> RubricVersion:
    """Create a rubric with its first version, empty or with the content of another one's.

    Raises `RubricRefused` if the code is taken.
    """
    if Rubric.objects.filter(code=code).exists():
        raise RubricRefused(_("There is another rubric with this code. Choose another one."))
    if like is not None:
        document = document_of(like)
    else:
        document = {
            "title": {language: title for language in languages},
            "norms": dict.fromkeys(languages, ""),
            "instructions": dict.fromkeys(languages, ""),
            "criteria": [],
        }
    rubric = Rubric.objects.create(code=code, author=author)
    version = write_rubric(rubric, 1, document | {"code": code, "version_label": ""})
    _record("rubric_created", version, author.opaque_id, at)
    return version


@transaction.atomic
def new_version(*, version: RubricVersion, actor: str, at: datetime) -> RubricVersion:
    """Create the next version of the rubric, with the content of this one, to be changed."""
    rubric = Rubric.objects.select_for_update().get(pk=version.rubric_id)
    last = rubric.versions.order_by("-number").values_list("number", flat=True).first() or 0
    document = document_of(version) | {"version_label": ""}
    made = write_rubric(rubric, last + 1, document)
    _record("rubric_version_created", made, actor, at, like=version.number)
    return made


@transaction.atomic
def save_rubric(
    *, version: RubricVersion, document: Document, base_sha256: str, actor: str, at: datetime
) -> RubricVersion:
    """Give a version that is not sealed another content.

    Raises `RubricRefused` if it is sealed or the content cannot be written down, and
    `ChangedMeanwhile` if `base_sha256` is not of the content that is stored.
    """
    Rubric.objects.select_for_update().get(pk=version.rubric_id)
    version = RubricVersion.objects.select_for_update().get(pk=version.pk)
    if version.sealed_at:
        raise RubricRefused(_("This version is sealed by a frozen panel and never changes."))
    if version.content_sha256 != base_sha256:
        raise ChangedMeanwhile(
            _(
                "The rubric was changed meanwhile, here or in another window. Nothing is saved "
                "yet: what you wrote is below. Save again to put it in place of what is stored."
            )
        )
    problems = check(document)
    if problems:
        raise RubricRefused(_("Nothing is saved yet: something must be mended first."), problems)
    before, digest = version.content_sha256, sha256(document)
    if digest == before:
        return version
    version.texts.all().delete()
    version.criteria.all().delete()
    version.label = document["version_label"]
    version.provenance = document["provenance"]
    version.content_sha256 = digest
    version.save(update_fields=["label", "provenance", "content_sha256"])
    write_rubric_content(version, document)
    _record("rubric_edited", version, actor, at, before=before)
    return version


def _record(kind: str, version: RubricVersion, actor: str, at: datetime, **more: str | int) -> None:
    payload = {
        "code": version.rubric.code,
        "number": version.number,
        "sha256": version.content_sha256,
    }
    provenance.record(kind=kind, payload=payload | more, actor=actor, at=at)
