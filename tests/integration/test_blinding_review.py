"""The review of texts: hold back, confirm by two persons, who did what; and what the panel makes of it."""

import json
import re

import pytest
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from awb_panel.accounts.models import User
from dilemmas.finder import finder_version
from dilemmas.models import Blinding, BlindingConfirmation, Provenance, Response
from dilemmas.services.blinding import (
    BlindingRefused,
    confirm_blinding,
    decide_blinding,
    hold_back,
)
from ratings.models import Invitation, Membership, Panel, Slot
from ratings.models.people import Role
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel, obstacles
from ratings.services.invitations import accept, invite
from ratings.services.ordering import plan_of
from ratings.services.panels import close_panel, open_panel
from ratings.services.protocols import write_protocol
from ratings.services.reporting import compute_report
from tests.cast import CONDITIONS, CRITERIA, NOW, draft_panel, join, rate_slot
from tests.integration.test_blinding import CODED, as_, newest, reimport, text_of

pytestmark = pytest.mark.django_db
LIST = "/coordinate/panel/blinding/"


def second_coordinator(cast) -> User:
    person = User.objects.create_user("second@panel.test", language="en")
    Membership.objects.create(panel=cast.panel, user=person, role=Role.COORDINATOR)
    return person


def page_of(row: Blinding) -> str:
    return f"{LIST}{row.pk}/"


# what a page shows


def test_each_finding_stands_in_its_sentence_with_what_becomes_of_it():
    cast = draft_panel()
    reimport(cast, CODED)
    html = as_(cast.coordinator).get(page_of(newest(cast))).content.decode()
    found = re.findall(r'<li><q class="kept">(.*?)</q>.*?<span class="soft">(.*?)</span>', html)
    assert found == [
        ("**<mark>FEN — Phenomenon.</mark>** It rains.",
         "heading of the scaffold: becomes «Phenomenon.»"),
        ("The figure<mark> (OBJ)</mark> says so, and MON contexts agree.",
         "code of the scaffold: is left out"),
        ("The figure (OBJ) says so, and <mark>MON</mark> contexts agree.",
         "code of the scaffold: left for you to rewrite"),
    ]  # fmt: skip


def test_differences_are_in_the_markup_and_in_words():
    cast = draft_panel()
    reimport(cast, CODED)
    html = as_(cast.coordinator).get(page_of(newest(cast))).content.decode()
    assert '<del><span class="visually-hidden">(removed:) </span>' in html
    gone = re.sub(r"<[^>]+>", "", "".join(re.findall(r"<del>.*?</del>", html, flags=re.S)))
    assert "FEN" in gone and "OBJ" in gone and "MON" not in gone


def test_differences_can_be_looked_at_without_saving():
    cast = draft_panel()
    reimport(cast, CODED)
    row = newest(cast)
    sent = {"decision": "look", "text-1": "**Phenomenon.** It snows."}
    page = as_(cast.coordinator).post(page_of(row), sent)
    assert page.status_code == 200
    assert '<ins><span class="visually-hidden">(new:) </span>snows' in page.content.decode()
    assert newest(cast).pk == row.pk


def test_history_says_who_when_and_with_which_finder():
    cast = draft_panel()
    reimport(cast, CODED)
    client = as_(cast.coordinator)
    client.post(page_of(newest(cast)), {"decision": "edit", "text-1": "It rains."})
    client.post(page_of(newest(cast)), {"decision": "hold", "reason": "It names its author."})
    page = client.get(page_of(newest(cast)))
    said = text_of(page)[text_of(page).index("Decisions on this text") :]
    assert [said.index(word) for word in ("held back", "edited", "waits for a decision")] == sorted(
        said.index(word) for word in ("held back", "edited", "waits for a decision")
    )
    assert said.count(cast.coordinator.email) == 2 and "the program" in said
    assert said.count(finder_version()) == 3
    assert "It names its author." in said
    kinds = Provenance.objects.order_by("-number").values_list("payload", flat=True)[:1]
    assert json.loads(kinds[0])["finder"] == finder_version()


# going on


def test_a_decision_goes_on_to_the_next_text_that_waits_and_round_to_the_first():
    cast = draft_panel()
    for condition in CONDITIONS[:3]:
        reimport(cast, CODED, condition=condition)
    client = as_(cast.coordinator)
    order = sorted(CONDITIONS[:3])
    start = newest(cast, order[1])
    sent = {"decision": "edit", "text-1": "It rains."}
    first = client.post(page_of(start), sent).url
    assert first == page_of(newest(cast, order[2])) + "#text"
    second = client.post(first.partition("#")[0], sent).url
    assert second == page_of(newest(cast, order[0])) + "#text", "the one before is not forgotten"
    assert client.post(second.partition("#")[0], sent).url == LIST


# holding back


def test_a_held_back_response_is_judged_by_nobody_and_counted():
    cast = draft_panel(publish_missed=True)
    row = newest(cast)
    client = as_(cast.coordinator)
    refused = client.post(page_of(row), {"decision": "hold", "reason": " "})
    assert refused.status_code == 422 and "Say why this response is held back" in text_of(refused)
    assert client.post(page_of(row), {"decision": "hold", "reason": "Damaged."}).url == LIST
    response = row.version.response_id
    assert response not in {item[2] for item in plan_of(cast.panel).items}
    assert "9 responses" in text_of(client.get("/coordinate/panel/freeze/"))
    assert "held back: 1" in text_of(client.get(LIST))
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    panel = open_panel(panel=Panel.objects.get(slug="panel"), actor="", at=NOW)
    cast.panel = panel
    for number in range(3):
        cast.judges.append(join(cast, f"j{number}@panel.test"))
        for slot in cast.slots(number):
            rate_slot(slot, dict.fromkeys(CRITERIA, 1))
    assert Slot.objects.count() == 27
    assert not Slot.objects.filter(response=response).exists()
    panel = close_panel(panel=panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=panel, at=NOW).document)
    assert document["flow"]["responses"] == 9 and document["flow"]["unfilled"] == 0
    assert document["flow"]["held_back"] == {
        "responses": 1, "by_condition": {CONDITIONS[0]: 1}, "by_reason": {"Damaged.": 1},
    }  # fmt: skip
    assert document["blinding"]["still_tells"]["n_responses"] == 9
    page = text_of(client.get("/report/panel/"))
    assert "One response was held back before the freeze" in page
    assert "ZEBRA-CONTROL 1. Why: Damaged. (1)" in page


def test_what_is_held_back_stands_in_the_way_of_nothing_and_comes_in_again():
    cast = draft_panel()
    reimport(cast, CODED, language="fr")
    codes = {one.code for one in obstacles(cast.panel)}
    assert codes == {"blinding_undecided", "responses_in_another_language"}
    hold_back(blinding_=newest(cast), reason="French.", actor="x", at=NOW)
    assert obstacles(cast.panel) == []
    assert Response.objects.kept().count() == 9
    decide_blinding(blinding_=newest(cast), texts={1: "Il pleut."}, actor="x", at=NOW)
    assert Response.objects.kept().count() == 10


def test_a_panel_with_everything_held_back_has_no_responses():
    cast = draft_panel()
    for row in Blinding.objects.newest_in(cast.panel.response_set):
        hold_back(blinding_=row, reason="Why not.", actor="x", at=NOW)
    assert "no_responses" in {one.code for one in obstacles(cast.panel)}


def test_why_a_response_is_held_back_is_part_of_the_freeze():
    hashes = []
    for slug, reason in (("one", "Damaged."), ("two", "")):
        cast = draft_panel(slug=slug)
        if reason:
            row = Blinding.objects.newest_in(cast.panel.response_set).first()
            hold_back(blinding_=row, reason=reason, actor="", at=NOW)
        freeze = freeze_panel(panel=cast.panel, actor="", at=NOW)
        hashes.append(json.loads(freeze.manifest)["texts"])
        row = Blinding.objects.newest_in(cast.panel.response_set).first()
        with pytest.raises(BlindingRefused, match="frozen"):
            hold_back(blinding_=row, reason="Later.", actor="", at=NOW)
    assert hashes[0] != hashes[1]


def test_the_database_asks_for_a_reason():
    cast = draft_panel()
    version = newest(cast).version
    with pytest.raises(IntegrityError), transaction.atomic():
        Blinding.objects.create(version=version, number=9, state="held_back")


# two persons


def test_freeze_waits_for_the_second_person():
    cast = draft_panel(two_person_blinding=True)
    reimport(cast, CODED)
    decide_blinding(
        blinding_=newest(cast), texts={1: "It rains."}, actor=cast.coordinator.opaque_id, at=NOW
    )
    [obstacle] = obstacles(cast.panel)
    assert (obstacle.code, obstacle.count) == ("blinding_unconfirmed", 1)
    with pytest.raises(Refused):
        freeze_panel(panel=cast.panel, actor="", at=NOW)
    overview = as_(cast.coordinator).get("/coordinate/panel/")
    assert "wait for a second person" in text_of(overview)
    confirm_blinding(blinding_=newest(cast), actor="second", at=NOW)
    assert obstacles(cast.panel) == []
    freeze_panel(panel=cast.panel, actor="", at=NOW)


def test_nobody_confirms_an_own_decision_nor_what_nobody_decided():
    cast = draft_panel(two_person_blinding=True)
    reimport(cast, CODED)
    row = newest(cast)
    with pytest.raises(BlindingRefused, match="Nobody has decided"):
        confirm_blinding(blinding_=row, actor="one", at=NOW)
    decided = decide_blinding(blinding_=row, texts={1: "It rains."}, actor="one", at=NOW)
    with pytest.raises(BlindingRefused, match="your own decision"):
        confirm_blinding(blinding_=decided, actor="one", at=NOW)
    with pytest.raises(IntegrityError), transaction.atomic():
        BlindingConfirmation.objects.create(blinding=decided, actor="one", at=NOW)
    with pytest.raises(IntegrityError), transaction.atomic():
        BlindingConfirmation.objects.create(blinding=decided, actor="", at=NOW)


def test_a_decision_taken_anew_is_confirmed_anew():
    cast = draft_panel(two_person_blinding=True)
    reimport(cast, CODED)
    first = decide_blinding(blinding_=newest(cast), texts={1: "It rains."}, actor="one", at=NOW)
    confirm_blinding(blinding_=first, actor="two", at=NOW)
    confirm_blinding(blinding_=first, actor="two", at=NOW)  # twice changes nothing
    assert BlindingConfirmation.objects.count() == 1
    with pytest.raises(IntegrityError), transaction.atomic():
        BlindingConfirmation.objects.update(actor="three")
    decide_blinding(blinding_=first, texts={1: "It snows."}, actor="one", at=NOW)
    assert [one.code for one in obstacles(cast.panel)] == ["blinding_unconfirmed"]
    with pytest.raises(BlindingRefused, match="decided anew"):
        confirm_blinding(blinding_=first, actor="two", at=NOW)


def test_the_second_coordinator_is_led_through_what_waits():
    cast = draft_panel(two_person_blinding=True)
    second = second_coordinator(cast)
    for condition in CONDITIONS[:2]:
        reimport(cast, CODED, condition=condition)
        decide_blinding(
            blinding_=newest(cast, condition), texts={1: "It rains."},
            actor=cast.coordinator.opaque_id, at=NOW,
        )  # fmt: skip
    rows = [newest(cast, condition) for condition in sorted(CONDITIONS[:2])]
    mine, theirs = as_(cast.coordinator), as_(second)
    assert "Confirm this decision" not in text_of(mine.get(page_of(rows[0])))
    assert "2 decisions wait for a second person." in text_of(theirs.get(LIST))
    assert "Confirm this decision" in text_of(theirs.get(page_of(rows[0])))
    own = mine.post(page_of(rows[0]), {"decision": "confirm"})
    assert own.status_code == 422 and "your own decision" in text_of(own)
    done = theirs.post(page_of(rows[0]), {"decision": "confirm"})
    assert done.url == page_of(rows[1]) + "#text"
    assert theirs.post(page_of(rows[1]), {"decision": "confirm"}).url == LIST
    assert f"Confirmed by {second.email}" in text_of(mine.get(page_of(rows[0])))


def test_without_the_rule_nobody_is_asked_to_confirm():
    cast = draft_panel()
    assert cast.panel.protocol.document["two_person_blinding"] is False
    row = decide_blinding(blinding_=newest(cast), texts={1: "It rains."}, actor="one", at=NOW)
    assert obstacles(cast.panel) == []
    assert "Confirm this decision" not in text_of(as_(cast.coordinator).get(page_of(row)))


def test_protocol_page_has_the_rule():
    cast = draft_panel()
    client, path = as_(cast.coordinator), "/coordinate/panel/protocol/"
    data = {"policy": "literal", "rationales": "none", "judges_planned": 3, "batch_size": 10}
    assert client.post(path, data | {"two_person_blinding": "on"}).status_code == 302
    assert Panel.objects.get(slug="panel").protocol.document["two_person_blinding"] is True
    box = re.search(
        r'<input[^>]*name="two_person_blinding"[^>]*>', client.get(path).content.decode()
    )
    assert "checked" in box.group()
    old = Panel.objects.get(slug="panel").protocol
    del old.document["two_person_blinding"]
    old.save()
    assert client.get(path).status_code == client.get(LIST).status_code == 200
    write_protocol(panel=cast.panel, changes={"batch_size": 5}, actor="", at=NOW)


def test_a_second_coordinator_is_invited_unless_a_judge_of_these_responses():
    cast = draft_panel()
    client = as_(cast.coordinator)
    data = {"email": "second@panel.test", "role": "coordinator", "language": "en"}
    assert client.post("/coordinate/panel/judges/", data).status_code == 200
    [message] = mail.outbox
    assert message.subject == 'Invitation to run the panel "Panel panel"'
    assert "so you could not judge it" in message.body
    link = re.search(r"/invitation/[\w-]+/", message.body)[0]
    assert "You are invited to run this panel" in text_of(
        Client().get(link, headers={"accept-language": "en"})
    )
    accept(invitation=Invitation.objects.get(panel=cast.panel), at=timezone.now())
    second = User.objects.get(email="second@panel.test")
    assert as_(second).get(LIST).status_code == 200
    judge = join(cast, "judge@panel.test")
    other = draft_panel(slug="other")
    other.panel.response_set = cast.panel.response_set
    other.panel.save()
    with pytest.raises(Refused) as refused:
        invite(panel=other.panel, email=judge.email, role="coordinator", language="en", actor="",
               at=NOW)  # fmt: skip
    assert refused.value.code == "judges_these_responses"


def test_review_pages_are_bounded_in_queries(django_assert_max_num_queries):
    for dilemmas in (2, 6):
        cast = draft_panel(slug=f"p{dilemmas}", dilemmas=dilemmas, two_person_blinding=True)
        client = as_(cast.coordinator)
        row = Blinding.objects.newest_in(cast.panel.response_set).first()
        client.get(f"/coordinate/{cast.panel.slug}/blinding/")  # what still tells is kept
        with django_assert_max_num_queries(14):
            client.get(f"/coordinate/{cast.panel.slug}/blinding/")
        with django_assert_max_num_queries(16):
            client.get(f"/coordinate/{cast.panel.slug}/blinding/{row.pk}/")
