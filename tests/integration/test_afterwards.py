"""After a panel, and around it: the audit as a file, people erased, the next round."""

import csv
import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from awb_panel.accounts.models import User
from dilemmas import canonical
from dilemmas.canonical import GENESIS
from ratings.models import Invitation, Judge, Membership, Panel, Rating
from ratings.services import audit
from ratings.services.erasing import erase
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel
from ratings.services.panels import close_panel, open_panel
from ratings.services.protocols import write_protocol
from ratings.services.reporting import compute_report
from tests.cast import NOW, closed_cast, draft_panel, open_cast, rate_all

pytestmark = pytest.mark.django_db


def as_(user) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def body(response) -> str:
    return b"".join(response.streaming_content).decode()


def wavering(judge, dilemma, condition, key):
    return (len(condition) + int(dilemma[-1]) + len(key) + judge % 2) % 4


# audit


def test_the_exported_chain_can_be_verified_elsewhere():
    cast = closed_cast(wavering)
    client = as_(cast.coordinator)
    rows = list(csv.DictReader(io.StringIO(body(client.get(reverse("audit_csv", args=["panel"]))))))
    lines = body(client.get(reverse("audit_jsonl", args=["panel"]))).splitlines()
    assert len(rows) == len(lines) == cast.panel.events.count()
    previous = GENESIS
    for row, line in zip(rows, map(json.loads, lines), strict=True):
        assert row["previous"] == previous == line["previous"]
        event = cast.panel.events.get(number=int(row["number"]))
        assert row["sha256"] == canonical.link(
            previous, event.number, event.at, row["actor"], row["kind"], row["payload"]
        )
        previous = row["sha256"]
    assert "@" not in body(client.get(reverse("audit_csv", args=["panel"])))


def test_the_audit_is_found_by_kind_person_and_day():
    cast = closed_cast(wavering)
    client, address = as_(cast.coordinator), reverse("audit", args=["panel"])
    everything = cast.panel.events.count()
    assert f"{everything} events." in text_of(client.get(address))
    done = cast.panel.events.filter(kind="response_done").count()
    page = text_of(client.get(address, {"kind": "response_done"}))
    assert f"{done} events." in page and "panel frozen" not in page.split("Details")[1]
    mine = text_of(client.get(address, {"kind": "response_done", "who": "J2"}))
    assert f"{done // 3} events." in mine
    assert "0 events." in text_of(client.get(address, {"since": "2027-01-01"}))
    assert f"{everything} events." in text_of(client.get(address, {"since": "nonsense"}))


# erasing


def test_a_person_is_erased_and_ratings_and_chain_stay():
    cast = open_cast(judges=2)
    rate_all(cast, wavering)
    person, seat = cast.judges[0], cast.seat(0)
    opaque, email = person.opaque_id, person.email
    before = list(Rating.objects.order_by("pk").values_list("pk", "score"))
    erased = erase(user=person, actor="", at=NOW)
    assert (erased.seats, erased.invitations) == (1, 1)
    assert not User.objects.filter(email=email).exists()
    assert not Invitation.objects.filter(email=email).exists()
    seat = Judge.objects.get(pk=seat.pk)
    assert seat.user is None and seat.code == "J1" and seat.withdrawn_at is not None
    assert list(Rating.objects.order_by("pk").values_list("pk", "score")) == before
    assert audit.broken_at(cast.panel) is None
    assert cast.panel.events.filter(kind="person_erased", payload__contains=opaque).exists()
    call_command("check_audit", verbosity=0)
    close_panel(panel=cast.panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    assert set(document["judges"]) == {"J1", "J2"}
    assert email not in json.dumps(document)


def test_owners_and_only_coordinators_stay():
    cast = open_cast(judges=1)
    for user, code in ((cast.owner, "owner_stays"), (cast.coordinator, "only_coordinator")):
        with pytest.raises(Refused) as refused:
            erase(user=user, actor="", at=NOW)
        assert refused.value.code == code
    other = User.objects.create_user("second@panel.test")
    Membership.objects.create(panel=cast.panel, user=other, role="coordinator")
    erase(user=cast.coordinator, actor="", at=NOW)


def test_command_says_what_it_would_do_first(capsys):
    cast = open_cast(judges=1)
    email = cast.judges[0].email
    call_command("erase_person", email)
    assert "panel J1" in capsys.readouterr().out
    assert User.objects.filter(email=email).exists()
    call_command("erase_person", email, "--yes")
    assert not User.objects.filter(email=email).exists()
    with pytest.raises(CommandError):
        call_command("erase_person", email, "--yes")
    with pytest.raises(CommandError):
        call_command("erase_person", cast.owner.email, "--yes")


# the next round


def test_a_next_round_names_its_predecessor_and_its_verdict():
    first = closed_cast(wavering)
    compute_report(panel=first.panel, at=NOW)
    second = draft_panel(slug="second")
    Membership.objects.create(panel=first.panel, user=second.coordinator, role="coordinator")
    page = as_(second.coordinator).get(reverse("protocol", args=["second"])).content.decode()
    assert '<option value="panel">Panel panel</option>' in page
    changes = {"previous_round": "panel", "what_changed": "Levels reworded."}
    write_protocol(panel=second.panel, changes=changes, actor="", at=NOW)
    freeze_panel(panel=Panel.objects.get(slug="second"), actor="", at=NOW)
    panel = open_panel(panel=Panel.objects.get(slug="second"), actor="", at=NOW)
    close_panel(panel=panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=panel, at=NOW).document)
    verdict = first.panel.reports.get().verdict
    assert document["panel"]["earlier_rounds"] == [
        {"slug": "panel", "title": "Panel panel", "verdict": verdict}
    ]
    shown = text_of(as_(second.coordinator).get(reverse("report", args=["second"])))
    assert "Earlier round: Panel panel" in shown and "Levels reworded." in shown
