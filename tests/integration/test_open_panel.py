"""Running an open panel: leaving, replacing, opening again, taking out, answering, reminding."""

import json
import re
from datetime import timedelta

import pytest
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from ratings.models import (
    Batch,
    FlagReply,
    Judge,
    Rating,
    ReminderRule,
    Replacement,
    Slot,
    Submission,
    Withdrawal,
)
from ratings.services import judging, reminding, running
from ratings.services.errors import Refused
from ratings.services.judging import Change
from ratings.services.panels import close_panel
from ratings.services.progress import batch_progress, dilemma_progress, judge_progress
from ratings.services.reporting import compute_report
from tests.cast import CRITERIA, NOW, Cast, join, open_cast, rate_slot

pytestmark = pytest.mark.django_db
ONES = dict.fromkeys(CRITERIA, 1)


def as_(user) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def at(cast: Cast, name: str, *more) -> str:
    return reverse(name, args=[cast.panel.slug, *more])


def refused(act) -> str:
    with pytest.raises(Refused) as refusal, transaction.atomic():
        act()
    return refusal.value.code


def handed_in(cast: Cast, number: int) -> Slot:
    for slot in cast.slots(number):
        rate_slot(slot, ONES)
    for batch in Batch.objects.filter(judge=cast.seat(number)):
        judging.hand_in(batch=batch, at=NOW)
    return cast.slots(number)[0]


# leaving and replacing


def test_what_a_judge_did_stays_and_the_next_one_gets_the_rest():
    cast = open_cast(judges=2, dilemmas=3, batch_size=5)
    for slot in cast.slots(0)[:6]:
        rate_slot(slot, ONES)
    done = {slot.response_id for slot in cast.slots(0)[:6]}
    running.leave(judge=cast.seat(0), reason="illness", actor="", at=NOW)
    cast.judges.append(join(cast, "new@panel.test"))
    new = cast.seat(2)
    assert Replacement.objects.get(judge=new).left_by == cast.seat(0)
    served = {slot.response_id for slot in cast.slots(2)}
    assert len(served) == 9 and not served & done
    assert Submission.objects.filter(slot__judge=cast.seat(0)).count() == 6
    third = join(cast, "third@panel.test")
    assert Slot.objects.filter(judge__user=third).count() == 15, "one seat is taken over once"


def test_a_replacement_who_leaves_is_replaced_too():
    cast = open_cast(judges=1, dilemmas=3)
    for number in range(3):
        for slot in cast.slots(number)[:4]:
            rate_slot(slot, ONES)
        running.leave(judge=cast.seat(number), reason="", actor="", at=NOW)
        cast.judges.append(join(cast, f"next{number}@panel.test"))
    assert [len(cast.slots(number)) for number in range(4)] == [15, 11, 7, 3]
    everything = [slot.response_id for n in range(4) for slot in cast.slots(n) if n == 3]
    done = set(Submission.objects.values_list("slot__response", flat=True))
    assert not done & set(everything) and len(done) == 12


def test_figures_hold_after_a_replacement():
    cast = open_cast(judges=3, dilemmas=2)
    for slot in cast.slots(0)[:3]:
        rate_slot(slot, ONES)
    running.leave(judge=cast.seat(0), reason="", actor="", at=NOW)
    cast.judges.append(join(cast, "new@panel.test"))
    for number in (1, 2, 3):
        for slot in cast.slots(number):
            rate_slot(slot, dict.fromkeys(CRITERIA, slot.response_id % 4))
    close_panel(panel=cast.panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    flow = document["flow"]
    assert (flow["judges"], flow["judges_withdrawn"], flow["judges_replaced"]) == (4, 1, 1)
    assert flow["unfilled"] == 0
    assert document["criteria"]["synthesis"]["n_ratings"] == 30
    assert document["gate"]["verdict"] != "undecidable"


def test_coming_back_needs_an_empty_seat():
    cast = open_cast(judges=1)
    running.leave(judge=cast.seat(0), reason="", actor="", at=NOW)
    assert refused(lambda: rate_slot(cast.slots(0)[0], ONES)) == "judge_withdrawn"
    assert refused(lambda: running.leave(judge=cast.seat(0), reason="", actor="", at=NOW)) == (
        "judge_has_left"
    )
    running.come_back(judge=cast.seat(0), actor="", at=NOW)
    rate_slot(cast.slots(0)[0], ONES)
    running.leave(judge=cast.seat(0), reason="", actor="", at=NOW)
    join(cast, "new@panel.test")
    assert refused(lambda: running.come_back(judge=cast.seat(0), actor="", at=NOW)) == (
        "seat_is_taken"
    )


# opening again


def test_one_response_is_opened_again_and_both_versions_are_kept():
    cast = open_cast(judges=1)
    slot = handed_in(cast, 0)
    other = cast.slots(0)[1]
    assert refused(lambda: rate_slot(slot, dict.fromkeys(CRITERIA, 2))) == "batch_handed_in"
    running.reopen(slot=slot, reason="5 for 1 by a slip", actor="", at=NOW)
    assert refused(lambda: rate_slot(other, dict.fromkeys(CRITERIA, 2))) == "batch_handed_in"
    desk = text_of(as_(cast.judges[0]).get(reverse("desk")))
    assert "opened again for you: 5 for 1 by a slip" in desk
    rate_slot(slot, dict.fromkeys(CRITERIA, 2))
    versions = Rating.objects.filter(submission__slot=slot, criterion__key="synthesis")
    assert list(versions.order_by("submission__number").values_list("score", flat=True)) == [1, 2]
    assert refused(lambda: rate_slot(slot, dict.fromkeys(CRITERIA, 3))) == "batch_handed_in"
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.create(slot=slot, number=3, draft_version=99, at=NOW)
    close_panel(panel=cast.panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    assert document["flow"]["reopened"] == 1


def test_only_what_is_handed_in_is_opened_and_once_at_a_time():
    cast = open_cast(judges=1)
    slot = cast.slots(0)[0]
    rate_slot(slot, ONES)
    assert (
        refused(lambda: running.reopen(slot=slot, reason="x", actor="", at=NOW)) == "batch_is_open"
    )
    slot = handed_in(cast, 0)
    running.reopen(slot=slot, reason="x", actor="", at=NOW)
    assert refused(lambda: running.reopen(slot=slot, reason="x", actor="", at=NOW)) == (
        "open_again_already"
    )


def test_the_judge_rates_it_again_on_the_page():
    cast = open_cast(judges=1)
    slot = handed_in(cast, 0)
    client, address = as_(cast.judges[0]), reverse("rate", args=[slot.batch.code, slot.position])
    assert "can no longer be changed" in text_of(client.get(address))
    running.reopen(slot=slot, reason="x", actor="", at=NOW)
    page = client.get(address)
    assert "opened again for you" in text_of(page)
    data = {f"0-{key}-answer": "3" for key in CRITERIA}
    data |= {f"was-0-{key}-answer": "1" for key in CRITERIA}
    sent = client.post(address, data | {"action": "done"})
    assert sent.url == reverse("desk")
    assert "can no longer be changed" in text_of(client.get(address))


# taking out


def test_what_is_taken_out_is_owed_by_nobody_and_in_no_figure():
    cast = open_cast(judges=2, dilemmas=2)
    first = cast.slots(0)[0]
    rate_slot(first, ONES)
    running.take_out(
        panel=cast.panel, response=first.response, reason="cut in half", actor="", at=NOW
    )
    assert refused(lambda: rate_slot(first, dict.fromkeys(CRITERIA, 2))) == "response_taken_out"
    assert [row.slots for row in judge_progress(cast.panel)] == [9, 9]
    page = as_(cast.judges[0]).get(reverse("rate", args=[first.batch.code, first.position]))
    assert "taken out of the panel" in text_of(page)
    for number in range(2):
        for slot in cast.slots(number):
            if slot.response_id != first.response_id:
                rate_slot(slot, dict.fromkeys(CRITERIA, slot.response_id % 4))
        for batch in Batch.objects.filter(judge=cast.seat(number)):
            judging.hand_in(batch=batch, at=NOW)
    close_panel(panel=cast.panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    assert document["flow"]["responses"] == 9
    assert document["flow"]["taken_out"]["by_reason"] == {"cut in half": 1}
    assert document["criteria"]["synthesis"]["n_units"] == 9
    assert document["gate"]["verdict"] != "undecidable" or document["flow"]["unfilled"] > 0
    kept = Rating.objects.filter(submission__slot=first).count()
    assert kept == 4, "what was written of it stays"


def test_taking_out_needs_a_reason_an_open_panel_and_happens_once():
    cast = open_cast(judges=1)
    response = cast.slots(0)[0].response

    def take(reason="x"):
        running.take_out(panel=cast.panel, response=response, reason=reason, actor="", at=NOW)

    assert refused(lambda: take(" ")) == "reason_needed"
    take()
    assert refused(take) == "response_taken_out"
    close_panel(panel=cast.panel, actor="", at=NOW)
    with pytest.raises(IntegrityError), transaction.atomic():
        Withdrawal.objects.create(
            panel=cast.panel, response=cast.slots(0)[1].response, reason="late", at=NOW
        )


# notes


def test_no_note_vanishes_and_its_judge_reads_the_answer():
    cast = open_cast(judges=2)
    slot = cast.slots(0)[0]
    judging.flag(slot=slot, kind="damaged", note="<b>half</b> is missing", at=NOW)
    judging.flag(slot=cast.slots(1)[0], kind="attention", note="", at=NOW)
    client = as_(cast.coordinator)
    page = client.get(at(cast, "flags"))
    assert "2 wait for an answer." in text_of(page)
    assert "&lt;b&gt;half&lt;/b&gt; is missing" in page.content.decode()
    flag = slot.flags.get()
    empty = client.post(at(cast, "flags"), {"flag": flag.pk, "state": "answered", "text": ""})
    assert empty.status_code == 422 and "Write an answer." in text_of(empty)
    client.post(at(cast, "flags"), {"flag": flag.pk, "state": "looking", "text": ""})
    client.post(at(cast, "flags"), {"flag": flag.pk, "state": "answered", "text": "It is whole."})
    assert "One waits for an answer." in text_of(client.get(at(cast, "flags")))
    assert FlagReply.objects.filter(flag=flag).count() == 2
    assert "It is whole." in text_of(as_(cast.judges[0]).get(reverse("desk")))
    assert "It is whole." not in text_of(as_(cast.judges[1]).get(reverse("desk")))
    other = open_cast(slug="other", judges=1)
    theirs = other.slots(0)[0]
    judging.flag(slot=theirs, kind="attention", note="", at=NOW)
    away = client.post(
        at(cast, "flags"), {"flag": theirs.flags.get().pk, "state": "settled", "text": ""}
    )
    assert away.status_code == 404


# reminders


def test_reminder_is_shown_sent_in_the_judges_language_and_at_most_weekly(settings):
    cast = open_cast(judges=1, ends_on="2027-01-31")
    judge = cast.judges[0]
    judge.language = "ca"
    judge.save(update_fields=["language"])
    client, seat = as_(cast.coordinator), at(cast, "seat", cast.seat(0).pk)
    shown = text_of(client.get(seat))
    assert "encara us queda una tanda per fer" in shown and not mail.outbox
    client.post(seat, {"act": "remind"})
    assert len(mail.outbox) == 1 and "31 de gener de 2027" in mail.outbox[0].body
    again = client.post(seat, {"act": "remind"})
    assert again.status_code == 422 and "last seven days" in text_of(again)
    later = running.last_reminder(cast.seat(0)) + timedelta(days=7)
    running.note_reminder(judge=cast.seat(0), actor="", at=later)
    handed_in(cast, 0)
    assert (
        refused(lambda: running.note_reminder(judge=cast.seat(0), actor="", at=later))
        == "judge_has_finished"
    )


def rule(cast, days):
    reminding.set_rule(panel=cast.panel, days=days, actor=cast.coordinator.opaque_id, at=NOW)


def test_judges_are_reminded_by_rule_after_silence_once_a_week_and_not_when_done():
    cast = open_cast(judges=3, ends_on="2027-01-31")
    panel, who = cast.panel, cast.coordinator
    assert reminding.remind_due(at=NOW + timedelta(days=90)) == 0, "there is no rule"
    assert refused(lambda: rule(cast, 3)) == "at_most_weekly"
    rule(cast, 10)
    handed_in(cast, 2)
    rate_slot(cast.slots(1)[0], ONES, at=NOW + timedelta(days=4))
    first = reminding.next_reminders(panel, reminding.rule_of(panel))
    assert [(judge.code, due) for judge, due in first] == [
        (cast.seat(0).code, NOW + timedelta(days=10)),
        (cast.seat(1).code, NOW + timedelta(days=14)),
    ]
    assert reminding.remind_due(at=NOW + timedelta(days=9)) == 0
    assert reminding.remind_due(at=NOW + timedelta(days=10)) == 1
    assert reminding.remind_due(at=NOW + timedelta(days=10)) == 0, "a second worker finds the note"
    assert (mail.outbox[0].to, mail.outbox[0].reply_to) == ([cast.judges[0].email], [who.email])
    assert reminding.remind_due(at=NOW + timedelta(days=16)) == 1, "the other; the first was lately"
    assert reminding.remind_due(at=NOW + timedelta(days=17)) == 1
    running.leave(judge=cast.seat(0), reason="x", actor="", at=NOW + timedelta(days=18))
    rule(cast, 0)
    assert reminding.remind_due(at=NOW + timedelta(days=60)) == 0
    assert ReminderRule.objects.count() == 2, "history stays"


def test_reminders_page_shows_who_is_next_with_the_letter():
    cast = open_cast(judges=1)
    client, page = as_(cast.coordinator), at(cast, "reminders")
    assert "Nobody is reminded by itself" in text_of(client.get(page))
    for wrong in ("3", "61", "-1", "soon", ""):
        assert client.post(page, {"days": wrong}).status_code == 422
    assert client.post(page, {"days": "7"}).status_code == 302
    shown = text_of(client.get(page))
    assert "has saved nothing for 7 days" in shown
    assert cast.seat(0).code in shown and "http://" in shown, "the letter with its link"
    assert not mail.outbox


# pages


def test_seat_page_does_what_its_buttons_say():
    cast = open_cast(judges=1)
    slot = handed_in(cast, 0)
    client, seat = as_(cast.coordinator), at(cast, "seat", cast.seat(0).pk)
    bare = client.post(seat, {"act": "reopen", "slot": slot.code, "reason": ""})
    assert bare.status_code == 422 and "Write a reason." in text_of(bare)
    assert (
        client.post(seat, {"act": "reopen", "slot": slot.code, "reason": "slip"}).status_code == 302
    )
    assert "slip" in text_of(client.get(seat))
    assert client.post(seat, {"act": "leave", "reason": "moved away"}).status_code == 302
    assert Judge.objects.get(pk=cast.seat(0).pk).withdrawn_at is not None
    assert client.post(seat, {"act": "return"}).status_code == 302
    assert client.post(seat, {"act": "delete"}).status_code == 422
    foreign = open_cast(slug="other", judges=1)
    assert client.get(at(cast, "seat", foreign.seat(0).pk)).status_code == 404


def test_progress_says_the_same_everywhere_and_never_a_score():
    cast = open_cast(judges=2, dilemmas=2, batch_size=4)
    for slot in cast.slots(0)[:5]:
        rate_slot(slot, ONES)
    judging.save(slot=cast.slots(0)[5], changes={"0-synthesis-answer": Change("", "2")}, at=NOW)
    rows = judge_progress(cast.panel, with_pace=True)
    assert [(row.done, row.drafts, row.slots) for row in rows] == [(5, 1, 10), (0, 0, 10)]
    parts = batch_progress(cast.panel)[cast.seat(0).pk]
    assert [(part.done, part.slots) for part in parts] == [(4, 4), (1, 4), (0, 2)]
    assert sum(part.done for part in dilemma_progress(cast.panel)) == 5
    page = as_(cast.coordinator).get(at(cast, "progress"))
    assert "5 / 10" in text_of(page) and "hx-get" in page.content.decode()
    part = as_(cast.coordinator).get(at(cast, "progress"), headers={"hx-request": "true"})
    assert part.content.decode().lstrip().startswith('<div id="running"')
    assert rows[0].projected_end(NOW + timedelta(days=5)) == NOW + timedelta(days=10)


def test_nothing_of_it_waits_after_closing():
    cast = open_cast(judges=1)
    slot = handed_in(cast, 0)
    close_panel(panel=cast.panel, actor="", at=NOW)
    for act in (
        lambda: running.reopen(slot=slot, reason="x", actor="", at=NOW),
        lambda: running.leave(judge=cast.seat(0), reason="x", actor="", at=NOW),
        lambda: running.take_out(
            panel=cast.panel, response=slot.response, reason="x", actor="", at=NOW
        ),
    ):
        assert refused(act) == "panel_not_open"


def test_all_of_it_is_in_the_audit():
    cast = open_cast(judges=1)
    slot = handed_in(cast, 0)
    running.reopen(slot=slot, reason="x", actor="", at=NOW)
    running.take_out(
        panel=cast.panel, response=cast.slots(0)[1].response, reason="x", actor="", at=NOW
    )
    running.leave(judge=cast.seat(0), reason="x", actor="", at=NOW)
    running.come_back(judge=cast.seat(0), actor="", at=NOW)
    kinds = set(cast.panel.events.values_list("kind", flat=True))
    assert {"response_reopened", "response_taken_out", "judge_left", "judge_came_back"} <= kinds
    page = text_of(as_(cast.coordinator).get(at(cast, "audit")))
    for said in ("response opened again", "response taken out", "judge left", "judge came back"):
        assert said in page
