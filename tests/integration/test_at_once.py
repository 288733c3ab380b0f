"""Two people act at once: one consistent outcome, a clear refusal for whoever came second."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from dilemmas.canonical import sha256
from dilemmas.models import Blinding, Provenance
from dilemmas.services import blinding as blinding_service
from dilemmas.services import provenance
from dilemmas.services.blinding import BlindingRefused
from dilemmas.services.reading import ImportRefused
from dilemmas.services.responses import import_responses
from ratings.models import AuditEvent, Freeze, Judge, Membership, Panel, Reopening, Slot
from ratings.services import audit, freezing, judging, running
from ratings.services.erasing import erase
from ratings.services.errors import Incomplete, Refused
from ratings.services.freezing import freeze_panel, manifest_parts
from ratings.services.invitations import accept, invite, revoke
from ratings.services.panels import close_panel, open_panel
from ratings.services.protocols import write_protocol
from tests.cast import CONDITIONS, CRITERIA, NOW, draft_panel, open_cast, rate_slot, table

pytestmark = pytest.mark.django_db(transaction=True)
PAUSE_S = 0.4  # in which the other one would do harm


def together(*acts: Callable[[], object]) -> list[str]:
    """Run acts in threads of their own, begun together; "done", or why it was refused."""
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> str:
        try:
            start.wait(10)
            act()
            return "done"
        except Refused as refused:
            return refused.code
        except (BlindingRefused, ImportRefused):
            return "sealed"
        except Incomplete:
            return "incomplete"
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, acts))


@pytest.fixture
def slow_freeze(monkeypatch):
    """A freeze that pauses after it has read what it hashes; `reading` says that it has."""
    reading = threading.Event()
    parts = freezing.manifest_parts

    def pausing(*args, **kwargs):
        found = parts(*args, **kwargs)
        reading.set()
        threading.Event().wait(PAUSE_S)
        return found

    monkeypatch.setattr(freezing, "manifest_parts", pausing)
    return reading


def freeze(cast) -> Callable[[], object]:
    return lambda: freeze_panel(panel=cast.panel, actor="", at=NOW)


def assert_frozen_as_hashed(panel: Panel) -> None:
    """What stands in the database is what the manifest says."""
    panel = Panel.objects.get(pk=panel.pk)
    kept = Freeze.objects.get(panel=panel)
    manifest = json.loads(kept.manifest)
    for name, part in manifest_parts(panel, salt=kept.key_salt).items():
        assert sha256(part) == manifest[name], name


def test_a_freeze_and_a_change_of_the_protocol(slow_freeze):
    cast = draft_panel()

    def change():
        slow_freeze.wait(10)
        write_protocol(panel=cast.panel, changes={"pay": "nothing"}, actor="", at=NOW)

    assert together(freeze(cast), change) == ["done", "panel_is_frozen"]
    assert_frozen_as_hashed(cast.panel)


def test_a_freeze_and_an_import_into_its_set(slow_freeze):
    cast = draft_panel()
    name = cast.panel.response_set.name
    content = table(
        [{"dilemma": "HND-001", "condition": CONDITIONS[0], "language": "en", "text": "Another."}]
    )

    def bring():
        slow_freeze.wait(10)
        import_responses(content=content, name="responses.csv", set_name=name, collection=name,
                         uploader=cast.coordinator, at=NOW, update=True)  # fmt: skip

    assert together(freeze(cast), bring) == ["done", "sealed"]
    assert_frozen_as_hashed(cast.panel)


def test_a_freeze_and_a_decision_on_a_text(slow_freeze):
    cast = draft_panel()
    one = Blinding.objects.newest_in(cast.panel.response_set).first()

    def decide():
        slow_freeze.wait(10)
        blinding_service.hold_back(blinding_=one, reason="no", actor="", at=NOW)

    assert together(freeze(cast), decide) == ["done", "sealed"]
    assert_frozen_as_hashed(cast.panel)


def test_two_freezes_two_openings_two_closings():
    cast = draft_panel()
    for act, refusal in (
        (freeze_panel, "panel_is_frozen"),
        (open_panel, "panel_not_frozen"),
        (close_panel, "panel_not_open"),
    ):
        act_now = lambda act=act: act(panel=cast.panel, actor="", at=NOW)  # noqa: E731
        assert sorted(together(act_now, act_now)) == ["done", refusal]
    kinds = list(AuditEvent.objects.filter(panel=cast.panel).values_list("kind", flat=True))
    assert [kinds.count(f"panel_{one}") for one in ("frozen", "opened", "closed")] == [1, 1, 1]


def test_closing_while_a_judge_hands_in():
    cast = open_cast(judges=1)
    for slot in cast.slots(0):
        rate_slot(slot, dict.fromkeys(CRITERIA, 1))
    batch = cast.slots(0)[0].batch
    closed, handed = together(
        lambda: close_panel(panel=cast.panel, actor="", at=NOW),
        lambda: judging.hand_in(batch=batch, at=NOW),
    )
    batch.refresh_from_db()
    assert closed == "done"
    assert (handed, batch.handed_in_at is not None) in (("done", True), ("panel_not_open", False))
    assert audit.broken_at(cast.panel) is None


def test_closing_while_a_judge_writes():
    cast = open_cast(judges=1)
    slot = cast.slots(0)[0]
    change = {f"0-{key}-answer": judging.Change("", "2") for key in CRITERIA}
    outcomes = together(
        lambda: close_panel(panel=cast.panel, actor="", at=NOW),
        lambda: judging.save(slot=slot, changes=change, at=NOW),
        lambda: judging.done(slot=slot, language="en", at=NOW),
    )
    assert outcomes[0] == "done" and set(outcomes[1:]) <= {"done", "panel_not_open", "incomplete"}


def test_replacing_a_judge_while_a_response_is_opened_again():
    cast = open_cast(judges=2, batch_size=5)
    first = cast.slots(0)[:5]
    for slot in first:
        rate_slot(slot, dict.fromkeys(CRITERIA, 1))
    judging.hand_in(batch=first[0].batch, at=NOW)
    running.leave(judge=cast.seat(0), reason="ill", actor="", at=NOW)
    waiting = invite(panel=cast.panel, email="new@panel.test", role="judge", language="en",
                     actor="", at=NOW).invitation  # fmt: skip
    came_back, _joined, opened = together(
        lambda: running.come_back(judge=cast.seat(0), actor="", at=NOW),
        lambda: accept(invitation=waiting, at=NOW),
        lambda: running.reopen(slot=first[0], reason="slip", actor="", at=NOW),
    )
    replaced = hasattr(Judge.objects.get(user=cast.judges[0]), "replaced_by")
    assert replaced == (came_back == "seat_is_taken")
    assert Reopening.objects.exists() == (opened == "done")
    slots = Slot.objects.filter(judge__panel=cast.panel).exclude(judge__user=cast.judges[1])
    left = slots.filter(judge__user=cast.judges[0]).count()
    assert slots.count() - left in (5, 10), "the rest of the seat, or a seat of one's own"


def test_withdrawing_an_invitation_while_it_is_accepted():
    cast = open_cast(judges=0)
    waiting = invite(panel=cast.panel, email="new@panel.test", role="judge", language="en",
                     actor="", at=NOW).invitation  # fmt: skip
    outcome = together(
        lambda: accept(invitation=waiting, at=NOW),
        lambda: revoke(invitation=waiting, actor="", at=NOW),
    )
    assert outcome in (["done", "invitation_used"], ["invitation_over", "done"])
    joined = Membership.objects.filter(panel=cast.panel, user__email="new@panel.test").exists()
    assert joined == (outcome[0] == "done")


def test_erasing_somebody_who_is_accepting_another_invitation():
    cast = open_cast(judges=1)
    other = open_cast(judges=0, slug="other")
    waiting = invite(panel=other.panel, email=cast.judges[0].email, role="judge", language="en",
                     actor="", at=NOW).invitation  # fmt: skip
    together(
        lambda: erase(user=cast.judges[0], actor="", at=NOW),
        lambda: accept(invitation=waiting, at=NOW),
    )
    assert audit.broken_at(cast.panel) is None and audit.broken_at(other.panel) is None


def test_many_events_of_content_at_once_are_one_chain():
    acts = [
        lambda n=n: provenance.record(kind="tried", payload={"n": n}, actor="", at=NOW)
        for n in range(6)
    ]
    provenance.record(kind="tried", payload={"n": -1}, actor="", at=NOW)
    assert together(*acts) == ["done"] * 6
    assert provenance.broken_at() is None and Provenance.objects.count() == 7
