"""The freeze: what stands in its way, the manifest of hashes, and the seal on content."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count

from dilemmas.canonical import canonical, sha256, sha256_of_text
from dilemmas.models import (
    BlindedPart,
    Blinding,
    Collection,
    Criterion,
    DilemmaText,
    DilemmaVersion,
    ModelJudgement,
    Response,
    ResponseSet,
    ResponseVersion,
    Rubric,
)
from dilemmas.services import provenance
from ratings.models import Freeze, Panel
from ratings.services import audit
from ratings.services.errors import Refused

_DESIGN = (
    "order", "order_seed", "judges_per_response", "repeats", "practice", "batch_size", "rationales",
)  # fmt: skip


@dataclass(frozen=True)
class Obstacle:
    """One thing that stands before the freeze; `code` names its sentence and its place."""

    code: str
    count: int = 1


def obstacles(panel: Panel) -> list[Obstacle]:
    """Return what is missing before the panel can be frozen; an empty list means nothing."""
    found = []
    blindings = Blinding.objects.newest_in(panel.response_set)  # type: ignore[attr-defined]
    held = blindings.undecided().count()
    of_set = Response.objects.filter(response_set=panel.response_set)
    responses = of_set.count()
    if not of_set.kept().filter(kind=Response.Kind.RESPONSE).exists():  # type: ignore[attr-defined]
        found.append(Obstacle("no_responses"))
    if held:
        found.append(Obstacle("blinding_undecided", held))
    if responses != blindings.count():
        found.append(Obstacle("blinding_missing", responses - blindings.count()))
    if panel.protocol.document.get("two_person_blinding") and blindings.unconfirmed().exists():
        found.append(Obstacle("blinding_unconfirmed", blindings.unconfirmed().count()))
    empty = BlindedPart.objects.filter(blinding__in=blindings.kept(), text="").count()
    if empty:
        found.append(Obstacle("empty_responses", empty))
    if panel.protocol.document["policy"] is None:
        found.append(Obstacle("no_policy"))
    criteria = Criterion.objects.filter(version=panel.rubric_version)
    without_scale = criteria.annotate(n=Count("levels")).filter(n__lt=2).count()
    if without_scale or not criteria.exists():
        found.append(Obstacle("rubric_incomplete", max(1, without_scale)))
    # The rating page shows levels of the whole response only, at every stage, so far.
    unlike = sum(
        one.kind != Criterion.Kind.ORDINAL
        or one.scope != Criterion.Scope.WHOLE
        or bool(one.applicability.get("stages"))
        for one in criteria
    )
    if unlike:
        found.append(Obstacle("criteria_not_shown", unlike))
    without = _levels_without_text(panel)
    if without:
        found.append(Obstacle("levels_without_text", without))
    foreign = _responses_in_another_language(panel)
    if foreign:
        found.append(Obstacle("responses_in_another_language", foreign))
    practised = _practised_and_judged(panel)
    if practised:
        found.append(Obstacle("practice_on_judged_dilemmas", practised))
    untitled = _dilemmas_without_text(panel)
    if untitled:
        found.append(Obstacle("dilemmas_without_text", untitled))
    return found


@transaction.atomic
def freeze_panel(*, panel: Panel, actor: str, at: datetime) -> Freeze:
    """Fix protocol, rubric, texts, plan and model judgements; seal the content; hash it all.

    Raises `Refused` if anything stands in the way (`obstacles` says what).
    """
    panel = Panel.objects.select_for_update().get(pk=panel.pk)
    if panel.state != Panel.State.DRAFT:
        raise Refused("panel_is_frozen")
    _lock_content(panel)
    in_the_way = obstacles(panel)
    if in_the_way:
        raise Refused("obstacles", codes=[obstacle.code for obstacle in in_the_way])
    salt = secrets.token_hex(32)
    parts = manifest_parts(panel, salt=salt)
    manifest = {name: sha256(part) for name, part in parts.items()}
    manifest["provenance_head"] = provenance.head()
    freeze = Freeze.objects.create(
        panel=panel,
        manifest=canonical(manifest).decode(),
        sha256=sha256(manifest),
        key_salt=salt,
        at=at,
        actor=actor,
    )
    _seal(panel, at)
    panel.state = Panel.State.FROZEN
    panel.save(update_fields=["state"])
    payload = {"sha256": freeze.sha256, "provenance_head": manifest["provenance_head"]}
    audit.record(panel=panel, kind="panel_frozen", payload=payload, actor=actor, at=at)
    return freeze


def _lock_content(panel: Panel) -> None:
    """Wait for whoever imports, decides on texts or writes the rubric, and let nobody begin.

    Everything else that writes to these takes one of these rows first.
    """
    ResponseSet.objects.select_for_update().get(pk=panel.response_set_id)
    Collection.objects.select_for_update().get(pk=panel.response_set.collection_id)
    Rubric.objects.select_for_update().get(pk=panel.rubric_version.rubric_id)


def manifest_parts(panel: Panel, *, salt: str) -> dict[str, Any]:
    """Return the parts whose hashes make up the manifest.

    The condition key and the dilemmas' masks, if they have any, are salted, so that their hashes can
    be printed before they may be known.
    """
    document = panel.protocol.document
    plan = {key: document[key] for key in ("judges_planned", "judges_qualification")}
    masks = _masks(panel)
    hidden = {"dilemma_masks": {"salt": salt, "masks": masks}} if masks else {}
    design = {key: document[key] for key in _DESIGN if key in document}
    return {
        "protocol": document,
        "rubric": rubric_document(panel),
        "texts": _texts(panel),
        "design": design,
        "judges_plan": plan,
        "model_judgements": _judgements(panel),
        "condition_key": {"salt": salt, "key": _condition_key(panel)},
        **hidden,
    }


def rubric_document(panel: Panel) -> dict[str, Any]:
    """Return the whole rubric, every language, as hashed."""
    version = panel.rubric_version
    criteria = Criterion.objects.filter(version=version).prefetch_related(
        "texts", "levels", "levels__texts"
    )
    return {
        "code": version.rubric.code,
        "number": version.number,
        "texts": {
            t.language: {"title": t.title, "norms": t.norms}
            | ({"instructions": t.instructions} if t.instructions else {})
            for t in version.texts.all()
        },
        "criteria": [
            {
                "key": criterion.key,
                "kind": criterion.kind,
                "scope": criterion.scope,
                "asks_rationale": criterion.asks_rationale,
                "applicability": criterion.applicability,
                "texts": {
                    t.language: {"name": t.name, "question": t.question, "boundary": t.boundary}
                    for t in criterion.texts.all()
                },
                "levels": [
                    {
                        "value": level.value,
                        "texts": {
                            t.language: {"short": t.short, "full": t.full}
                            for t in level.texts.all()
                        },
                    }
                    for level in criterion.levels.all()
                ],
                **_boundary(criterion),
            }
            for criterion in criteria
        ],
    }


def _boundary(criterion: Criterion) -> dict[str, Any]:
    lower, upper = criterion.boundary_lower, criterion.boundary_upper
    return {} if lower is None else {"boundary": {"lower": lower, "upper": upper}}


def _texts(panel: Panel) -> dict[str, Any]:
    versions = _dilemma_versions(panel)
    texts = DilemmaText.objects.filter(
        version__in=versions, language=panel.content_language
    ).select_related("version__dilemma")
    newest = Blinding.objects.newest_in(panel.response_set)  # type: ignore[attr-defined]
    parts = BlindedPart.objects.filter(blinding__in=newest.kept()).values_list(
        "blinding__version__response_id", "number", "text"
    )
    held_back = newest.filter(state=Blinding.State.HELD_BACK).values_list(
        "version__response_id", "reason"
    )
    return {
        "language": panel.content_language,
        "dilemmas": sorted(
            [t.version.dilemma.code, t.stage, t.title, sha256_of_text(t.context), *_more(t)]
            for t in texts
        ),
        "responses": sorted([pk, number, sha256_of_text(text)] for pk, number, text in parts),
        **({"held_back": sorted(map(list, held_back))} if held_back else {}),
    }


def _more(text: DilemmaText) -> list[dict[str, str]]:
    """What not every dilemma has, hashed where there is any."""
    given = {"actors": text.actors, "costs": text.costs}
    more = {name: sha256_of_text(value) for name, value in given.items() if value}
    return [more] if more else []


def _masks(panel: Panel) -> list[list[Any]]:
    versions = DilemmaVersion.objects.filter(pk__in=_dilemma_versions(panel))
    rows = versions.values_list("dilemma__code", "required_axes", "required_components")
    return sorted(list(row) for row in rows if row[1] or row[2])


def _judgements(panel: Panel) -> list[list[Any]]:
    rows = ModelJudgement.objects.filter(response__response_set=panel.response_set)
    return sorted(
        [
            list(row)
            for row in rows.values_list(
                "response_id", "judge", "repetition", "criterion", "score", "text_sha256"
            )
        ],
        key=lambda row: row[:4],
    )


def _condition_key(panel: Panel) -> list[list[Any]]:
    rows = Response.objects.filter(response_set=panel.response_set).order_by("pk")
    return [list(row) for row in rows.values_list("pk", "condition__label")]


def _dilemma_versions(panel: Panel) -> list[int]:
    """The newest version of each dilemma that has a response in the set."""
    newest: dict[int, int] = {}
    rows = (
        DilemmaVersion.objects.filter(dilemma__responses__response_set=panel.response_set)
        .order_by("number")
        .values_list("dilemma_id", "pk")
    )
    for dilemma, version in rows:
        newest[dilemma] = version
    return list(newest.values())


def _levels_without_text(panel: Panel) -> int:
    criteria = Criterion.objects.filter(version=panel.rubric_version, kind=Criterion.Kind.ORDINAL)
    return sum(
        1
        for criterion in criteria.prefetch_related("levels__texts")
        for level in criterion.levels.all()
        if not any(t.short and t.language == panel.content_language for t in level.texts.all())
    )


def _dilemmas_without_text(panel: Panel) -> int:
    versions = set(_dilemma_versions(panel))
    with_text = DilemmaText.objects.filter(
        version__in=versions, language=panel.content_language
    ).exclude(context="")
    return len(versions - set(with_text.values_list("version_id", flat=True)))


def _practised_and_judged(panel: Panel) -> int:
    """Dilemmas that judges would meet in practice and again in the study."""
    of_set = Response.objects.filter(response_set=panel.response_set)
    judged = of_set.filter(kind=Response.Kind.RESPONSE).values("dilemma")
    practice = of_set.filter(kind=Response.Kind.PRACTICE, dilemma__in=judged)
    return practice.values("dilemma").distinct().count()


def _responses_in_another_language(panel: Panel) -> int:
    """Responses whose file said a language that is not the panel's; those that said none may stay."""
    blindings = Blinding.objects.newest_in(panel.response_set)  # type: ignore[attr-defined]
    kept = blindings.kept().exclude(version__language="")
    said = kept.values_list("version__language", flat=True)
    return sum(_main_language(one) != _main_language(panel.content_language) for one in said)


def _main_language(tag: str) -> str:
    """Return `ca` for `ca`, `CA` and `ca-ES`."""
    return tag.replace("_", "-").split("-")[0].casefold()


def _seal(panel: Panel, at: datetime) -> None:
    of_set = {"response__response_set": panel.response_set, "sealed_at": None}
    blindings = Blinding.objects.newest_in(panel.response_set)  # type: ignore[attr-defined]
    newest = list(blindings.values_list("pk", "version_id"))
    Blinding.objects.filter(pk__in=[pk for pk, _ in newest], sealed_at=None).update(sealed_at=at)
    ResponseVersion.objects.filter(pk__in=[v for _, v in newest], sealed_at=None).update(
        sealed_at=at
    )
    DilemmaVersion.objects.filter(pk__in=_dilemma_versions(panel), sealed_at=None).update(
        sealed_at=at
    )
    ModelJudgement.objects.filter(**of_set).update(sealed_at=at)
    type(panel.rubric_version).objects.filter(pk=panel.rubric_version_id, sealed_at=None).update(
        sealed_at=at
    )
