"""The judge's desk beside the saving: passages, clarifications, guesses, pace, preferences."""

import re
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from awb_panel.preferences import CHOICES, Preferences
from dilemmas.models import BlindedPart
from ratings.models import Clarification, Draft, Evidence, Guess, Rating, Submission
from ratings.services import clarifying, guessing, judging
from ratings.services.errors import Incomplete, Refused
from ratings.services.judging import Change
from ratings.services.pace import TimeLeft, time_left
from ratings.services.progress import judge_progress
from tests.cast import CONDITIONS, CRITERIA, NOW, draft_panel, open_cast, rate_all, rate_slot

pytestmark = pytest.mark.django_db


def as_(user) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def finished(**options):
    """A panel whose judges have handed everything in."""
    cast = open_cast(**options)
    rate_all(cast, lambda judge, dilemma, condition, criterion: 1)
    return cast


# passages


def test_marked_passage_is_a_reason_and_is_kept_with_its_place():
    cast = open_cast(judges=1, rationales="one")
    slot = next(one for one in cast.slots(0) if one.rationales == "one")
    text = BlindedPart.objects.get(blinding=slot.blinding, number=1).text
    words = text.split()
    passage, start = " ".join(words[1:4]), " ".join(text.split()).index(" ".join(words[1:4]))
    changes = {f"0-{key}-answer": Change("", "2") for key in CRITERIA}
    judging.save(slot=slot, changes=changes, at=NOW)
    with pytest.raises(Incomplete) as incomplete:
        judging.done(slot=slot, language="en", at=NOW)
    assert [gap.code for gap in incomplete.value.gaps] == ["one_rationale"]
    marked = {"0-synthesis-evidence": Change("", f"{passage}\n  not   there \n{passage}")}
    judging.save(slot=slot, changes=marked, at=NOW)
    judging.done(slot=slot, language="en", at=NOW)
    kept = Evidence.objects.values_list(
        "rating__criterion__key", "number", "quotation", "part", "start"
    )
    assert list(kept) == [
        ("synthesis", 1, passage, 1, start),
        ("synthesis", 2, "not there", None, None),
    ]
    assert Rating.objects.count() == 4
    with pytest.raises(IntegrityError), transaction.atomic():
        Evidence.objects.update(quotation="another")


def test_passages_are_on_the_page_and_work_without_scripts():
    cast = open_cast(judges=1)
    slot = cast.slots(0)[0]
    client = as_(cast.judges[0])
    path = f"/judge/batch/{slot.batch.code}/{slot.position}/"
    client.post(path, {"0-opposition-evidence": "these words", "was-0-opposition-evidence": ""})
    html = client.get(path).content.decode()
    assert 'name="was-0-opposition-evidence" value="these words"' in html
    assert ">these words</textarea>" in html


# clarifications


def test_clarification_is_shown_once_to_every_judge():
    cast = open_cast(judges=2)
    coordinator = as_(cast.coordinator)
    page = coordinator.post("/coordinate/panel/clarify/", {"text": "«Synthesis» is not a summary."})
    assert page.status_code == 302
    judge, other = as_(cast.judges[0]), as_(cast.judges[1])
    rate = f"/judge/batch/{cast.slots(0)[0].batch.code}/1/"
    assert "has said something to all judges" in text_of(judge.get(rate))
    assert "has said something to all judges" in text_of(judge.get("/judge/"))
    assert "«Synthesis» is not a summary." in text_of(judge.get("/judge/panel/clarifications/"))
    after = judge.post("/judge/panel/clarifications/", {"next": rate})
    assert after.url == rate
    assert "has said something" not in text_of(judge.get(rate))
    assert "has said something" in text_of(other.get("/judge/"))
    assert (
        judge.post("/judge/panel/clarifications/", {"next": "https://elsewhere.test/"}).url
        == "/judge/"
    )
    assert "Read by one judge." in text_of(coordinator.get("/coordinate/panel/clarify/"))
    with pytest.raises(IntegrityError), transaction.atomic():
        Clarification.objects.update(text="another")


def test_clarification_needs_a_frozen_or_open_panel():
    cast = draft_panel()
    with pytest.raises(Refused):
        clarifying.clarify(panel=cast.panel, text="x", actor="", at=NOW)
    page = as_(cast.coordinator).post("/coordinate/panel/clarify/", {"text": "x"})
    assert page.status_code == 422
    assert as_(cast.coordinator).post("/coordinate/panel/clarify/", {"text": ""}).status_code == 422


# guesses


def test_guesses_are_asked_once_after_the_last_batch_and_of_each_condition():
    cast = open_cast(judges=1, guesses=5)
    client = as_(cast.judges[0])
    assert client.get("/judge/panel/guess/").status_code == 404
    with pytest.raises(IntegrityError), transaction.atomic():
        Guess.objects.create(slot=cast.slots(0)[0], condition=None, at=NOW)
    rate_all(cast, lambda *where: 1)
    batch = cast.seat(0).batches.get()
    assert "One last question" in text_of(client.post(f"/judge/batch/{batch.code}/", {}))
    slots = guessing.asked(cast.seat(0))
    assert sorted(s.response.condition.label for s in slots) == sorted(CONDITIONS)
    assert slots == guessing.asked(cast.seat(0)), "asking again asks the same"
    page = text_of(client.get("/judge/panel/guess/"))
    assert all(label in page for label in CONDITIONS)
    first, second = slots[0], slots[1]
    bad = {f"condition-{first.code}": "GIRAFFE"}
    assert client.post("/judge/panel/guess/", bad).status_code == 422
    given = {f"condition-{first.code}": "OKAPI", f"why-{first.code}": "wording",
             f"condition-{second.code}": ""}  # fmt: skip
    assert client.post("/judge/panel/guess/", given).status_code == 302
    kept = {g.slot_id: (g.condition and g.condition.label, g.why) for g in Guess.objects.all()}
    assert len(kept) == 5
    assert kept[first.pk] == ("OKAPI", "wording") and kept[second.pk] == (None, "")
    assert client.get("/judge/panel/guess/").status_code == 404, "asked once"
    assert "One last question" not in text_of(client.get("/judge/"))


def test_no_guess_is_asked_unless_the_protocol_does():
    cast = finished(judges=1)
    assert guessing.asked(cast.seat(0)) == []
    assert as_(cast.judges[0]).get("/judge/panel/guess/").status_code == 404


# pace


def test_time_left_is_a_range_from_the_own_pace():
    cast = open_cast(judges=1)
    judge, slots = cast.seat(0), cast.slots(0)
    minutes = (0, 4, 8, 14, 60, 70)  # between the fourth and the fifth there was a pause
    for slot, minute in zip(slots[:4], minutes, strict=False):
        rate_slot(slot, dict.fromkeys(CRITERIA, 1), at=NOW + timedelta(minutes=minute))
    assert time_left(judge, responses=6) is None, "four tell no pace"
    for slot, minute in zip(slots[4:6], minutes[4:], strict=True):
        rate_slot(slot, dict.fromkeys(CRITERIA, 1), at=NOW + timedelta(minutes=minute))
    # gaps 4, 4, 6, 10 minutes: quartiles 4 and 6 (nearest ranks), times 4 responses
    assert time_left(judge, responses=4) == TimeLeft(15, 25)
    assert time_left(judge, responses=0) is None
    page = text_of(as_(cast.judges[0]).get("/judge/"))
    assert "the rest takes between 15 and 25 minutes" in page
    assert Submission.objects.count() == 6


def test_time_at_work_leaves_out_what_was_a_pause():
    cast = open_cast(judges=1)
    slot, field = cast.slots(0)[0], "0-opposition-rationale"

    def write(text, minutes, *, shown=None):
        judging.save(
            slot=slot,
            changes={field: Change(text[:-1], text)},
            at=NOW + timedelta(minutes=minutes),
            shown=NOW + timedelta(minutes=shown) if shown is not None else None,
        )

    write("a", 2, shown=0)
    write("ab", 3, shown=0)
    write("abc", 63, shown=0)  # an hour away, on the same page
    write("abcd", 65, shown=64)  # the page was opened anew
    draft = Draft.objects.get(slot=slot)
    assert draft.active_ms == (2 + 1 + 0 + 1) * 60_000
    assert draft.opened_at == NOW
    write("abcde", 66, shown=400)  # a clock that runs ahead: what is known counts
    assert Draft.objects.get(slot=slot).active_ms == 5 * 60_000
    (row,) = judge_progress(cast.panel)
    assert row.active == timedelta(minutes=5)


def test_the_page_says_when_it_was_made_and_a_submission_keeps_the_time():
    cast = open_cast(judges=1)
    slot, client = cast.slots(0)[0], as_(cast.judges[0])
    address = f"/judge/batch/{slot.batch.code}/{slot.position}/"
    shown = re.search(r'name="shown" value="(\d+)"', client.get(address).content.decode())[1]
    earlier = str(int(shown) - 120)
    for wrong in ("", "x", "9" * 40, "-5"):
        assert client.post(address, {"shown": wrong, "0-opposition-answer": ""}).status_code == 302
    answers = {f"0-{key}-answer": "2" for key in CRITERIA} | {"0-opposition-rationale": "because"}
    reply = client.post(address, answers | {"shown": earlier, "action": "done"})
    assert reply.status_code == 302
    submission = Submission.objects.get(slot=slot)
    assert 120_000 <= submission.active_ms < 130_000
    assert submission.opened_at.timestamp() == int(earlier)


# preferences


def test_preferences_are_kept_on_the_device_and_set_the_page():
    client = Client(headers={"accept-language": "en"})
    chosen = {
        "theme": "dark",
        "size": "larger",
        "measure": "wide",
        "contrast": "high",
        "shortcuts": "off",
    }
    reply = client.post("/reading/", chosen | {"next": "/published/"})
    assert reply.url == "/published/"
    cookie = reply.cookies["awb_reading"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"
    html = client.get("/").content.decode()
    assert 'data-theme="dark" data-size="larger" data-measure="wide" data-contrast="high"' in html
    client.post("/reading/", {"reset": "1", "next": "//elsewhere.test/"})
    assert 'data-theme="auto" data-size="normal"' in client.get("/").content.decode()


@pytest.mark.parametrize("cookie", ["", "x", "theme:<script>", "size:huge.theme:dark", ":" * 500])
def test_a_spoilt_cookie_is_the_default_where_it_is_spoilt(cookie):
    read = Preferences.read(cookie)
    assert all(getattr(read, name) in choices for name, choices in CHOICES.items())
    assert Preferences.read(read.text()) == read
