"""Every form of every page, for everybody, with every button: nothing that was written goes away."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import resolve

from ratings.models import (
    AuditEvent,
    Batch,
    Consent,
    Decision,
    DraftCheckpoint,
    Evidence,
    Flag,
    Guess,
    Rating,
    Report,
    Submission,
)
from ratings.services import judging, resolving
from ratings.services.clarifying import clarify
from ratings.services.invitations import accept, invite
from ratings.services.judging import Change
from ratings.services.panels import close_panel, publish
from ratings.services.reporting import compute_report
from tests.cast import CRITERIA, NOW, make_set, open_cast, rate_slot
from tests.integration.test_permissions import MATRIX

pytestmark = pytest.mark.django_db
KEPT = (
    Rating, Submission, Evidence, DraftCheckpoint, Flag, Guess, Consent, AuditEvent, Decision, Report,
)  # fmt: skip
PEOPLE = ("anonymous", "stranger", "judge", "finished", "observer", "adjudicator", "coordinator",
          "owner")  # fmt: skip
STATES = ("open", "closed", "published")


@dataclass
class Form:
    """One form as it stands on a page: where it goes, its fields with the values to choose from."""

    action: str
    method: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)


class Reader(HTMLParser):
    """Reads the links and the forms of a page."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address, self.links, self.forms = address, set[str](), list[Form]()
        self._by_id: dict[str, Form] = {}
        self._inside: Form | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in of:
            self.links.add(urljoin(self.address, of["href"]))
        elif tag == "form":
            action = urljoin(self.address, of.get("action") or urlsplit(self.address).path)
            self._inside = Form(action, of.get("method", "get").lower())
            self.forms.append(self._inside)
            self._by_id[of.get("id", "")] = self._inside
        form = self._by_id.get(of["form"]) if "form" in of else self._inside
        if form is None or "disabled" in of:
            return
        name, value = of.get("name", ""), of.get("value", "")
        if tag == "button" and of.get("type", "submit") == "submit":
            form.buttons.append((name, value))
        elif tag == "input" and of.get("type") == "file":
            form.files.append(name)
        elif tag in ("input", "textarea") and name:
            form.fields.setdefault(name, []).append(value)
        elif tag == "select" and name:
            self._select = name
            form.fields[name] = []
        elif tag == "option" and self._select:
            form.fields[self._select].append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = None
        if tag == "select":
            self._select = ""


def fills(form: Form) -> Iterator[dict[str, object]]:
    """The form as it is, and with its last choices and something in every empty field."""
    csv = b"code,language,title,context\nD-1,en,Another,Another text\n"
    for button, value in form.buttons or [("", "")]:
        for filled in (False, True):
            data: dict[str, object] = {
                name: (values[-1] or "because") if filled else values[0]
                for name, values in form.fields.items()
                if values
            }
            if filled:
                data |= {name: SimpleUploadedFile("x.csv", csv) for name in form.files}
            yield data | ({button: value} if button else {})


def world(state: str) -> dict[str, object]:
    """A filled panel: one judge half-way with notes and drafts, two finished, differences drawn."""
    cast = open_cast(
        judges=3, dilemmas=2, adjudication_from=1, publish_missed=True, guesses=1, batch_size=5
    )
    make_set("unused", uploader=cast.owner)
    for number in range(3):
        for place, slot in enumerate(cast.slots(number)):
            if number or place < 5 or state != "open":
                rate_slot(slot, dict.fromkeys(CRITERIA, (place + number) % 4))
        if number or state != "open":
            for batch in Batch.objects.filter(judge=cast.seat(number)):
                judging.hand_in(batch=batch, at=NOW)
    if state == "open":
        last = cast.slots(0)[5]
        judging.save(slot=last, changes={"0-opposition-rationale": Change("", "half")}, at=NOW)
        judging.flag(slot=last, kind=Flag.Kind.values[0], note="what is this?", at=NOW)
    waiting = invite(
        panel=cast.panel, email="a@panel.test", role="adjudicator", language="en", actor="", at=NOW
    )
    adjudicator = accept(invitation=waiting.invitation, at=NOW)
    if state != "open":
        actor = cast.coordinator.opaque_id
        panel = close_panel(panel=cast.panel, actor=actor, at=NOW)
        compute_report(panel=panel, at=NOW)
        resolving.draw(panel=panel, actor=actor, at=NOW)
        if state == "published":
            publish(panel=panel, actor=actor, at=NOW)
    else:
        clarify(panel=cast.panel, text="A word to all.", actor="", at=NOW)
        invite(
            panel=cast.panel, email="new@panel.test", role="judge", language="en", actor="", at=NOW
        )
    return {
        "stranger": cast.stranger,
        "judge": cast.judges[0],
        "finished": cast.judges[1],
        "observer": cast.observer,
        "adjudicator": adjudicator,
        "coordinator": cast.coordinator,
        "owner": cast.owner,
    }


def forms_found(client: Client) -> list[Form]:
    """Follow every link from the first page on; return each form once."""
    waiting, seen, forms = ["/"], set[str](), dict[str, Form]()
    while waiting:
        address = waiting.pop()
        parts = urlsplit(address)
        if parts.netloc or parts.scheme or f"{parts.path}?{parts.query}" in seen:
            continue
        seen.add(f"{parts.path}?{parts.query}")
        assert len(seen) < 400, "pages lead to pages without end"
        reply = client.get(address)
        if reply.status_code in (301, 302):
            waiting.append(urljoin(address, reply["Location"]))
        if reply.streaming or "html" not in reply["Content-Type"]:
            continue
        assert reply.status_code < 500, address
        page = Reader(address)
        page.feed(reply.content.decode())
        waiting += page.links
        for form in page.forms:
            if form.method == "post":
                forms[f"{form.action} {sorted(form.fields)} {form.buttons}"] = form
    return list(forms.values())


def kept() -> dict[type, dict[int, tuple[object, ...]]]:
    return {
        model: {row[0]: row for row in model.objects.values_list()}  # type: ignore[attr-defined]
        for model in KEPT
    }


@pytest.mark.parametrize("state", STATES)
def test_nothing_anybody_can_click_takes_away_or_changes_what_was_written(state):
    people, before = world(state), kept()
    assert len(before[Rating]) >= 100
    pressed: dict[str, set[str]] = {}
    for person in PEOPLE:
        client = Client(headers={"accept-language": "en"})
        if person != "anonymous":
            client.force_login(people[person])
        for form in forms_found(client):
            for data in fills(form):
                place = transaction.savepoint()
                reply = client.post(form.action, data)
                after = kept()
                transaction.savepoint_rollback(place)
                if person != "anonymous":
                    client.force_login(people[person])  # one of the buttons signs out
                assert reply.status_code < 500, (person, form.action, data)
                pressed.setdefault(resolve(urlsplit(form.action).path).url_name, set()).add(person)
                for model, rows in before.items():
                    lost = [row for pk, row in rows.items() if after[model].get(pk) != row]
                    assert not lost, (person, form.action, data, model.__name__, lost[0])
    if state == "open":
        posts = {name for name, methods in MATRIX.items() if "POST" in methods}
        # The page's own saving is no form; nothing waits for the rest in a panel that is open.
        apart = {
            "new_panel","draft", "demo", "first_owner", "import_preview", "guess", "case", "report_compute",
                 "archive", "publish", "freeze", "open", "planning", "registration", "resolution",
                 "protocol", "panel_rubric", "blind_one", "rubric", "rubric_criterion"}  # fmt: skip
        assert posts - apart <= set(pressed), "a form that nobody finds"
