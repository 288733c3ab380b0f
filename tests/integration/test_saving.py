"""The save protocol: what was acknowledged is there, nothing is stored twice."""

import contextlib
import random

import pytest
from django.test import Client
from django.urls import reverse

from ratings.forms.judging import posted_changes
from ratings.models import Draft, DraftCheckpoint, Rating, Submission
from ratings.services import judging
from ratings.services.errors import Conflict, Incomplete, Refused
from ratings.services.judging import Change
from tests.cast import CRITERIA, NOW, open_cast, rate_slot

pytestmark = pytest.mark.django_db
FIELD, OTHER = "0-opposition-rationale", "0-synthesis-rationale"


@pytest.fixture
def slot():
    return open_cast(judges=1).slots(0)[0]


def save(slot, changes, *, client="a", sequence=1):
    return judging.save(
        slot=slot,
        changes={name: Change(*pair) for name, pair in changes.items()},
        client=client,
        sequence=sequence,
        at=NOW,
    )


def stored(slot):
    return {k: v["value"] for k, v in Draft.objects.get(slot=slot).fields.items()}


def test_save_repeated_changes_nothing(slot):
    first = save(slot, {FIELD: ("", "one")})
    again = save(slot, {FIELD: ("", "one")})
    assert (first.version, again.version) == (1, 1)
    assert stored(slot) == {FIELD: "one"}


def test_later_save_of_the_same_page_wins_though_its_base_is_old(slot):
    save(slot, {FIELD: ("", "on")}, sequence=1)
    save(slot, {FIELD: ("", "one")}, sequence=2)
    assert stored(slot) == {FIELD: "one"}


def test_save_that_arrives_after_a_later_one_is_ignored(slot):
    save(slot, {FIELD: ("", "one two")}, sequence=2)
    reply = save(slot, {FIELD: ("", "one")}, sequence=1)
    assert stored(slot) == {FIELD: "one two"}
    assert reply.fields[FIELD] == "one two"


def test_different_fields_of_two_pages_merge(slot):
    save(slot, {FIELD: ("", "one")}, client="a")
    save(slot, {OTHER: ("", "two")}, client="b")
    assert stored(slot) == {FIELD: "one", OTHER: "two"}


def test_same_field_of_two_pages_conflicts_and_keeps_both_texts(slot):
    save(slot, {FIELD: ("", "one")}, client="a")
    with pytest.raises(Conflict) as conflict:
        save(slot, {FIELD: ("", "uno"), OTHER: ("", "two")}, client="b")
    assert [vars(c) for c in conflict.value.clashes] == [
        {"name": FIELD, "mine": "uno", "theirs": "one"}
    ]
    assert stored(slot) == {FIELD: "one", OTHER: "two"}, "the other field is stored all the same"
    kept = DraftCheckpoint.objects.get(slot=slot, reason="conflict")
    assert kept.fields == {FIELD: "uno"}


def test_conflict_resolved_for_mine_is_stored(slot):
    save(slot, {FIELD: ("", "one")}, client="a")
    with pytest.raises(Conflict):
        save(slot, {FIELD: ("", "uno")}, client="b")
    save(slot, {FIELD: ("one", "uno")}, client="b", sequence=2)
    assert stored(slot)[FIELD] == "uno"


def test_without_scripts_the_text_the_page_was_made_with_decides(slot):
    judging.save(slot=slot, changes={FIELD: Change("", "one")}, at=NOW)
    judging.save(slot=slot, changes={FIELD: Change("one", "one more")}, at=NOW)
    with pytest.raises(Conflict):
        judging.save(slot=slot, changes={FIELD: Change("one", "stale")}, at=NOW)
    assert stored(slot)[FIELD] == "one more"


def test_field_that_was_not_touched_is_not_erased(slot):
    save(slot, {FIELD: ("", "one")}, client="a")
    save(slot, {FIELD: ("", ""), OTHER: ("", "two")}, client="b")
    assert stored(slot)[FIELD] == "one"


def test_unknown_fields_are_not_stored(slot):
    save(slot, {"csrf": ("", "x"), "0-../../x-answer": ("", "1"), FIELD: ("", "one")})
    assert stored(slot) == {FIELD: "one"}


def test_done_twice_is_one_submission(slot):
    rate_slot(slot, dict.fromkeys(CRITERIA, 2))
    judging.done(slot=slot, language="en", at=NOW)
    assert Submission.objects.filter(slot=slot).count() == 1
    assert Rating.objects.filter(submission__slot=slot).count() == 4


def test_change_after_done_is_another_submission_and_keeps_the_first(slot):
    rate_slot(slot, dict.fromkeys(CRITERIA, 2))
    rate_slot(slot, {"opposition": 3})
    scores = Rating.objects.filter(submission__slot=slot, criterion__key="opposition")
    assert list(scores.order_by("submission__number").values_list("score", flat=True)) == [2, 3]


def test_done_with_gaps_names_each_and_keeps_the_draft(slot):
    save(slot, {"0-opposition-answer": ("", "1"), FIELD: ("", "because")})
    with pytest.raises(Incomplete) as incomplete:
        judging.done(slot=slot, language="en", at=NOW)
    assert [gap.criterion for gap in incomplete.value.gaps] == list(CRITERIA[1:])
    assert stored(slot)[FIELD] == "because"


@pytest.mark.parametrize("value", ["4", "-1", "1.5", "nan", "x", "cannot:nothing"])
def test_done_refuses_what_is_no_level_and_no_reason(slot, value):
    changes = {f"0-{key}-answer": ("", "1") for key in CRITERIA}
    save(slot, changes | {"0-opposition-answer": ("", value)})
    with pytest.raises(Refused):
        judging.done(slot=slot, language="en", at=NOW)
    assert not Submission.objects.filter(slot=slot).exists()


def test_cannot_judge_is_an_answer(slot):
    changes = {f"0-{key}-answer": ("", "1") for key in CRITERIA}
    save(slot, changes | {"0-opposition-answer": ("", "cannot:knowledge")})
    judging.done(slot=slot, language="en", at=NOW)
    rating = Rating.objects.get(submission__slot=slot, criterion__key="opposition")
    assert (rating.score, rating.missing) == (None, "knowledge")


def test_nothing_is_written_after_handing_in():
    cast = open_cast(judges=1)
    for slot in cast.slots(0):
        rate_slot(slot, dict.fromkeys(CRITERIA, 1))
    judging.hand_in(batch=slot.batch, at=NOW)
    with pytest.raises(Refused):
        save(slot, {FIELD: ("", "late")})
    assert FIELD not in stored(slot)


def test_hand_in_refuses_while_something_is_not_done(slot):
    with pytest.raises(Refused) as refused:
        judging.hand_in(batch=slot.batch, at=NOW)
    assert refused.value.code == "batch_incomplete"


SEEDS = [*range(50), *(pytest.param(n, marks=pytest.mark.long) for n in range(50, 1000))]


@pytest.mark.parametrize("seed", SEEDS)
def test_tabs_on_a_lossy_network_lose_nothing_acknowledged_and_store_nothing_twice(slot, seed):
    """Three tabs type into several fields and press «Done» now and then, twice at times; requests
    are dropped, repeated, delayed and reordered, and tabs are loaded anew.

    A page counts a text as safe only when a reply says so; at the end every such text is the
    stored one, or was knowingly replaced, or lies in a checkpoint.
    """
    rng = random.Random(seed)
    names = [FIELD, OTHER, "0-anchoring-rationale"]
    pages = {
        name: {"acked": dict.fromkeys(names, ""), "now": dict.fromkeys(names, ""), "seq": 0,
               "wire": []}
        for name in ("a", "b", "c")
    }  # fmt: skip
    acknowledged = []
    judging.save(slot=slot, changes={f"0-{k}-answer": Change("", "2") for k in CRITERIA}, at=NOW)
    for step in range(80):
        client = rng.choice(list(pages))
        page = pages[client]
        action = rng.random()
        if action < 0.04:  # loaded anew: it shows what is stored, and is another client
            shown = dict.fromkeys(names, "") | {k: v for k, v in stored(slot).items() if k in names}
            unsent = {n: page["now"][n] for n in names if page["now"][n] != page["acked"][n]}
            del pages[client]
            pages[f"{client}{step}"] = {"acked": dict(shown), "seq": 0, "wire": [],
                                        "now": shown | _brought_back(unsent, shown)}  # fmt: skip
        elif action < 0.1:
            for _press in range(rng.choice((1, 2))):
                with contextlib.suppress(Incomplete):
                    judging.done(slot=slot, language="en", at=NOW)
        elif action < 0.55:
            field = rng.choice(names)
            page["now"][field] += f"{client}{step} "
            dirty = {n: (page["acked"][n], page["now"][n]) for n in names
                     if page["now"][n] != page["acked"][n]}  # fmt: skip
            page["seq"] += 1
            page["wire"].append((page["seq"], dirty))
        elif page["wire"]:
            index = rng.randrange(len(page["wire"]))
            sequence, dirty = page["wire"][index]
            fate = rng.random()
            if fate < 0.2:
                page["wire"].pop(index)
                continue  # lost on the way there
            if fate < 0.8:
                page["wire"].pop(index)  # else it stays and comes again
            try:
                reply = save(slot, dirty, client=client, sequence=sequence)
            except Conflict as conflict:
                lost = {clash.name for clash in conflict.clashes}
                if sequence == page["seq"]:
                    for name in names:
                        if name in dirty and name not in lost:
                            page["acked"][name] = dirty[name][1]
                            acknowledged.append((name, dirty[name][1]))
                        elif name in lost:  # the judge keeps both
                            theirs = conflict.fields[name]
                            page["acked"][name] = theirs
                            page["now"][name] = theirs + page["now"][name]
                continue
            if rng.random() < 0.3:
                continue  # the reply is lost: nothing counts as acknowledged
            if sequence != page["seq"]:
                continue  # the page waits for the reply to its newest save
            for name, (_initial, value) in dirty.items():
                page["acked"][name] = value
                acknowledged.append((name, value))
            for name, value in reply.fields.items():
                if name in names and page["now"][name] == page["acked"][name]:
                    page["acked"][name] = page["now"][name] = value
    final = stored(slot)
    kept = [c.fields for c in DraftCheckpoint.objects.filter(slot=slot)]
    for name, text in acknowledged:
        words = text.split()
        here = final.get(name, "").split()
        safe = set(words) <= set(here) or any(
            set(words) <= set(k.get(name, "").split()) for k in kept
        )
        assert safe, f"{name}: {text!r} was acknowledged and is gone"
    for name in names:
        text = final.get(name, "")
        assert text.count(" ") == len(text.split()), "texts are whole"
    versions = list(Submission.objects.filter(slot=slot).values_list("draft_version", flat=True))
    assert len(versions) == len(set(versions)), "a draft is submitted once"
    assert Rating.objects.count() == len(CRITERIA) * len(versions), "no rating twice"


def _brought_back(unsent, shown):
    """What a page loaded anew makes of the browser's copy: both texts, where they differ."""
    return {name: shown[name] + text for name, text in unsent.items() if text != shown[name]}


def test_unable_without_a_reason_is_kept_and_missed_when_done(slot):
    changes = {f"0-{key}-answer": ("", "2") for key in CRITERIA}
    save(slot, changes | {FIELD: ("", "one"), "0-synthesis-answer": ("", "cannot:")})
    with pytest.raises(Incomplete) as incomplete:
        judging.done(slot=slot, language="en", at=NOW)
    assert [(gap.criterion, gap.code) for gap in incomplete.value.gaps] == [("synthesis", "reason")]
    save(slot, {"0-synthesis-answer": ("cannot:", "cannot:other")}, sequence=2)
    with pytest.raises(Incomplete) as incomplete:
        judging.done(slot=slot, language="en", at=NOW)
    assert [gap.code for gap in incomplete.value.gaps] == ["note"], "another reason needs its words"


def test_two_radio_groups_of_a_plain_form_are_one_answer():
    data = {
        "0-opposition-answer": "cannot",
        "0-opposition-reason": "personal",
        "was-0-opposition-answer": "1",
        "0-synthesis-answer": "2",
        "0-synthesis-reason": "between",
    }
    assert posted_changes(data) == {
        "0-opposition-answer": Change("1", "cannot:personal"),
        "0-synthesis-answer": Change("", "2"),
    }


def test_without_scripts_every_field_that_clashes_shows_both_versions(slot):
    prefix = "0-opposition"
    save(
        slot,
        {
            f"{prefix}-answer": ("", "2"),
            f"{prefix}-rationale": ("", "saved reason"),
            f"{prefix}-evidence": ("", "saved passage"),
            f"{prefix}-note": ("", "saved note"),
        },
    )
    client = Client(headers={"accept-language": "en"})
    client.force_login(slot.judge.user)
    typed = {"answer": "cannot", "reason": "knowledge", "rationale": "my reason",
             "evidence": "my passage", "note": "my note"}  # fmt: skip
    data = {f"{prefix}-{name}": value for name, value in typed.items()}
    data |= {f"was-{prefix}-{name}": "" for name in ("answer", "rationale", "evidence", "note")}
    page = client.post(reverse("rate", args=[slot.batch.code, slot.position]), data)
    assert page.status_code == 409
    text = page.content.decode()
    for name in ("reason", "passage", "note"):
        assert f"saved {name}" in text and f"my {name}" in text, name
    assert "I cannot judge this (I lack the" in text
    assert "on this page, 2 opposition 2 in the saved one" in text
