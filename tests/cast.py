"""The fixed cast of the tests: content made through the services, and people in their roles."""

import csv
import io
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from awb_panel.accounts.models import User
from dilemmas.models import Blinding, ResponseSet, RubricVersion
from dilemmas.services.blinding import decide_blinding
from dilemmas.services.importing import import_dilemmas, import_rubric
from dilemmas.services.responses import import_responses
from ratings.models import Batch, Judge, Membership, Panel, Slot
from ratings.services import judging
from ratings.services.freezing import freeze_panel
from ratings.services.invitations import accept, invite
from ratings.services.judging import Change
from ratings.services.panels import close_panel, create_panel, open_panel
from ratings.services.protocols import write_protocol

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
CONDITIONS = ("ZEBRA-CONTROL", "OKAPI", "TAPIR", "LEMUR", "IBIS")
CRITERIA = ("opposition", "synthesis", "anchoring", "coherence")


def table(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as the bytes of a CSV file."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def rubric_document(
    code: str = "small",
    criteria: tuple[str, ...] = CRITERIA,
    boundary: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "code": code,
        "title": {"en": "A small rubric", "ca": "Una rúbrica petita"},
        "norms": {"en": "Length earns nothing."},
        "criteria": [
            {
                "key": key,
                "name": {"en": key.title()},
                "question": {"en": f"Is there {key}?"},
                "boundary": {"text": {"en": "Ask."}} | boundary if boundary else {},
                "levels": [
                    {"value": v, "short": {"en": f"{key} {v}"}, "full": {"en": f"Level {v}."}}
                    for v in range(4)
                ],
            }
            for key in criteria
        ],
    }


def make_rubric(**options: Any) -> RubricVersion:
    content = json.dumps(rubric_document(**options)).encode()
    version, _new = import_rubric(content=content, name="rubric.json", actor="", at=NOW)
    return version


def make_set(
    name: str = "set", *, dilemmas: int = 2, practice: int = 0, uploader: User | None = None
) -> ResponseSet:
    """Import `dilemmas` × 5 conditions, and responses to practise on, each to a dilemma of its own.

    The texts say nothing of their condition.
    """
    codes = [f"HND-{n:03}" for n in range(1, dilemmas + 1)]
    practised = [f"PRA-{n:03}" for n in range(1, practice + 1)]
    places = [(c, k, "response") for c in codes for k in CONDITIONS]
    places += [(c, "QUAGGA", "practice") for c in practised]
    import_dilemmas(
        content=table(
            [
                {"code": c, "family": "personal", "language": "en", "title": f"Title {c}",
                 "context": f"You must decide about {c}.", "stage": "",
                 "required_axes": "D2 D4", "required_components": "spirituality"}
                for c in codes + practised
            ]
        ),
        name="dilemmas.csv",
        collection=name,
        actor="",
        at=NOW,
    )  # fmt: skip
    import_responses(
        content=table(
            [
                {"dilemma": c, "condition": condition, "language": "en", "kind": kind,
                 "text": f"Text {n} about the case.\n\nIt has two paragraphs.",
                 "my note": f"made by {condition}", "score": 5}
                for n, (c, condition, kind) in enumerate(places)
            ]
        ),
        name="responses.csv",
        set_name=name,
        collection=name,
        uploader=uploader,
        at=NOW,
    )  # fmt: skip
    return ResponseSet.objects.get(name=name)


@dataclass
class Cast:
    """A panel and the people around it."""

    panel: Panel
    owner: User
    coordinator: User
    judges: list[User] = field(default_factory=list)
    observer: User | None = None
    stranger: User | None = None

    def seat(self, number: int) -> Judge:
        return Judge.objects.get(panel=self.panel, user=self.judges[number])

    def slots(self, number: int) -> list[Slot]:
        return list(Slot.objects.filter(judge=self.seat(number)).order_by("batch", "position"))


def draft_panel(
    *,
    dilemmas: int = 2,
    practice_responses: int = 0,
    slug: str = "panel",
    boundary: dict[str, Any] | None = None,
    **protocol: Any,
) -> Cast:
    """A draft panel with everything decided, and its coordinator, an owner and a stranger."""
    owner = User.objects.create_user(f"owner@{slug}.test", is_owner=True, language="en")
    coordinator = User.objects.create_user(f"coordinator@{slug}.test", language="en")
    response_set = make_set(
        slug, dilemmas=dilemmas, practice=practice_responses, uploader=coordinator
    )
    for held in Blinding.objects.newest_in(response_set).undecided():
        texts = dict(held.version.parts.values_list("number", "raw"))
        decide_blinding(blinding_=held, texts=texts, actor="", at=NOW)
    panel = create_panel(
        slug=slug,
        title=f"Panel {slug}",
        response_set=response_set,
        rubric_version=make_rubric(code=slug, boundary=boundary),
        content_language="en",
        coordinator=coordinator,
        at=NOW,
    )
    changes = {"policy": "literal", "rationales": "none"} | protocol
    write_protocol(panel=panel, changes=changes, actor=coordinator.opaque_id, at=NOW)
    panel = Panel.objects.get(pk=panel.pk)  # with the protocol as it was written
    stranger = User.objects.create_user(f"stranger@{slug}.test", language="en")
    return Cast(panel, owner, coordinator, stranger=stranger)


def open_cast(*, judges: int = 3, consent: bool = True, **options: Any) -> Cast:
    """An open panel whose judges have accepted and consented."""
    cast = draft_panel(**options)
    actor = cast.coordinator.opaque_id
    freeze_panel(panel=cast.panel, actor=actor, at=NOW)
    open_panel(panel=cast.panel, actor=actor, at=NOW)
    cast.panel.refresh_from_db()
    for number in range(judges):
        cast.judges.append(join(cast, f"judge{number}@{cast.panel.slug}.test"))
        if consent:
            judging.consent(
                judge=cast.seat(number), language="en", conflicts="", exposure="no", at=NOW
            )
    cast.observer = User.objects.create_user(f"observer@{cast.panel.slug}.test", language="en")
    Membership.objects.create(panel=cast.panel, user=cast.observer, role="observer")
    return cast


def join(cast: Cast, email: str, *, profession: str = "physician") -> User:
    invited = invite(
        panel=cast.panel,
        email=email,
        role="judge",
        language="en",
        profession=profession,
        actor="",
        at=NOW,
    )
    return accept(invitation=invited.invitation, at=NOW + timedelta(minutes=1))


def rate_slot(slot: Slot, scores: dict[str, int], *, at: datetime = NOW) -> None:
    """Save and submit scores for one slot, as the page would."""
    slot.refresh_from_db()
    current = slot.draft.fields
    changes = {
        f"0-{key}-answer": Change(
            current.get(f"0-{key}-answer", {"value": ""})["value"], str(score)
        )
        for key, score in scores.items()
    }
    judging.save(slot=slot, changes=changes, at=at)
    judging.done(slot=slot, language="en", at=at)


def rate_all(cast: Cast, scores: Any) -> None:
    """Rate and hand in everything; `scores(judge, dilemma code, condition, criterion)` → level."""
    for number in range(len(cast.judges)):
        for batch in Batch.objects.filter(judge=cast.seat(number)):
            for slot in batch.slots.select_related("response__dilemma", "response__condition"):
                names = slot.response.dilemma.code, slot.response.condition.label
                rate_slot(slot, {key: scores(number, *names, key) for key in CRITERIA})
            judging.hand_in(batch=batch, at=NOW)


def closed_cast(scores: Any, **options: Any) -> Cast:
    cast = open_cast(**options)
    rate_all(cast, scores)
    close_panel(panel=cast.panel, actor=cast.coordinator.opaque_id, at=NOW)
    cast.panel.refresh_from_db()
    return cast
