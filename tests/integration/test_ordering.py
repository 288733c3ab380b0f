"""Orders from the protocol to the slots: by seed and number, for all or some judges, shown before."""

import json
import re
from collections import Counter
from itertools import combinations

import pytest
from django.test import Client

from awb_panel.accounts.models import User
from dilemmas.models import Response
from ratings.design.latin import serving_orders
from ratings.models import Batch, Judge, Membership, Panel, Protocol, Slot
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel
from ratings.services.ordering import plan_of
from ratings.services.panels import close_panel, open_panel
from ratings.services.protocols import write_protocol
from ratings.services.reporting import compute_report
from ratings.services.studies import import_study
from tests.cast import CRITERIA, NOW, Cast, draft_panel, join, open_cast, rate_all, rate_slot
from tests.integration.test_studies import small_study

pytestmark = pytest.mark.django_db


def as_(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def served(cast: Cast, number: int) -> list[tuple[int, int]]:
    return [(slot.response_id, slot.occasion) for slot in cast.slots(number)]


def dilemmas(cast: Cast, number: int) -> frozenset[int]:
    return frozenset(slot.response.dilemma_id for slot in cast.slots(number))


def planned(cast: Cast, number: int) -> list[tuple[int, int]]:
    plan = plan_of(cast.panel)
    everything = {dilemma for dilemma, _, _ in plan.items}
    return [(place.key, place.occasion) for place in plan.places(number, everything)]


def test_new_panels_are_served_by_the_new_order_and_each_batch_says_so():
    cast = open_cast(judges=2, dilemmas=3)
    assert {batch.algorithm for batch in Batch.objects.all()} == {"williams-1"}
    seed = str(cast.panel.protocol.document["order_seed"])
    assert {batch.order_seed for batch in Batch.objects.all()} == {seed}
    assert [served(cast, n) for n in (0, 1)] == [planned(cast, n) for n in (0, 1)]


def test_judges_may_come_before_the_opening_or_one_by_one():
    cast = draft_panel(dilemmas=3)
    cast.judges.append(join(cast, "first@panel.test"))
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    cast.judges.append(join(cast, "second@panel.test"))
    open_panel(panel=cast.panel, actor="", at=NOW)
    cast.panel.refresh_from_db()
    cast.judges += [join(cast, f"{n}@panel.test") for n in range(3)]  # more than were planned
    assert [served(cast, n) for n in range(5)] == [planned(cast, n) for n in range(5)]
    assert len({tuple(served(cast, n)) for n in range(5)}) == 5


def test_panel_frozen_with_the_old_order_goes_on_with_it():
    """Its protocol has none of the newer keys, and a judge who comes today gets the old order."""
    cast = draft_panel(dilemmas=3)
    newer = ("judges_per_response", "repeats")
    document = {k: v for k, v in cast.panel.protocol.document.items() if k not in newer}
    Protocol.objects.update(document=document | {"order": "latin-1"})
    cast.panel = Panel.objects.get()
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    open_panel(panel=cast.panel, actor="", at=NOW)
    cast.judges += [join(cast, f"{n}@panel.test") for n in range(2)]
    items = list(Response.objects.values_list("dilemma_id", "condition_id", "pk"))
    orders = serving_orders(items, judges=3, seed=document["order_seed"])
    assert [[pk for pk, _ in served(cast, n)] for n in range(2)] == orders[:2]
    assert {batch.algorithm for batch in Batch.objects.all()} == {"latin-1"}
    assert as_(cast.coordinator).get("/coordinate/panel/order/").status_code == 200


def test_grouped_panel_serves_the_responses_to_a_dilemma_together():
    cast = open_cast(judges=2, dilemmas=4, order="grouped-1")
    for number in (0, 1):
        met = [slot.response.dilemma_id for slot in cast.slots(number)]
        assert all(len(set(met[start : start + 5])) == 1 for start in range(0, 20, 5))


# k of n judges


def test_some_of_the_judges_read_each_response_and_share_dilemmas_evenly():
    cast = open_cast(judges=4, dilemmas=6, judges_planned=4, judges_per_response=2)
    assert [len(cast.slots(n)) for n in range(4)] == [15] * 4
    readers = Counter(pk for n in range(4) for pk, _ in served(cast, n))
    assert set(readers.values()) == {2} and len(readers) == 30
    for one, two in combinations(range(4), 2):
        assert len(dilemmas(cast, one) & dilemmas(cast, two)) == 1
    for number in range(4):
        found = Counter(slot.response.condition_id for slot in cast.slots(number))
        assert set(found.values()) == {3}


def test_replacement_takes_the_dilemmas_of_the_judge_who_left():
    cast = open_cast(judges=2, dilemmas=6, judges_planned=4, judges_per_response=2)
    Judge.objects.filter(pk=cast.seat(0).pk).update(withdrawn_at=NOW)
    cast.judges += [join(cast, f"late{n}@panel.test") for n in range(4)]
    assert dilemmas(cast, 2) == dilemmas(cast, 0), "the first free seat is the one that was left"
    assert [pk for pk, _ in served(cast, 2)] != [pk for pk, _ in served(cast, 0)]
    seats = plan_of(cast.panel).seats()
    assert [dilemmas(cast, n) for n in (3, 4)] == seats[2:], "then those nobody has had"
    assert dilemmas(cast, 5) in seats, "and who is too many shares one"


def test_report_asks_for_as_many_judges_as_were_promised_for_each_response():
    def scores(judge, dilemma, condition, key):
        return (len(condition) + int(dilemma[-1]) + len(key)) % 4

    cast = open_cast(judges=4, dilemmas=6, judges_planned=4, judges_per_response=2)
    rate_all(cast, scores)
    close_panel(panel=cast.panel, actor="", at=NOW)
    report = compute_report(panel=cast.panel, at=NOW)
    assert json.loads(report.document)["flow"]["unfilled"] == 0
    assert report.verdict == "met"


# repeats


def test_repeats_are_served_again_and_never_counted():
    cast = open_cast(judges=2, dilemmas=20, repeats=3, batch_size=40)
    for number in (0, 1):
        order = served(cast, number)
        again = [i for i, (_, occasion) in enumerate(order) if occasion == 2]
        assert len(order) == 103 and len(again) == 3
        assert all(i - order.index((order[i][0], 1)) >= 60 for i in again)
    page = as_(cast.judges[0]).get("/judge/panel/instructions/").content.decode()
    assert "Some responses come a second time" in page
    twice = Slot.objects.filter(judge=cast.seat(0), occasion=2).first()
    once = Slot.objects.get(judge=cast.seat(0), occasion=1, response=twice.response)
    rate_slot(once, dict.fromkeys(CRITERIA, 0))
    rate_slot(twice, dict.fromkeys(CRITERIA, 3))
    close_panel(panel=cast.panel, actor="", at=NOW)
    document = json.loads(compute_report(panel=cast.panel, at=NOW).document)
    assert document["flow"]["slots"] == 200
    assert document["judges"]["J1"]["opposition"] == {"mean": 0.0, "n_ratings": 1}


def test_all_reasons_are_asked_for_at_the_first_time_only():
    open_cast(judges=3, dilemmas=20, repeats=4, rationales="one")
    first = Slot.objects.filter(occasion=1, rationales="all")
    assert first.count() == 60, "one response a dilemma, for each judge"
    assert len({slot.response_id for slot in first}) == 20, "the same for all"
    again = Slot.objects.filter(occasion=2)
    assert again.count() == 12 and {slot.rationales for slot in again} == {"one"}


def test_controls_are_served_to_all_and_never_counted():
    cast = draft_panel(dilemmas=3)
    control = Response.objects.order_by("pk").first()
    Response.objects.filter(pk=control.pk).update(kind=Response.Kind.CONTROL)
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    open_panel(panel=cast.panel, actor="", at=NOW)
    cast.judges += [join(cast, f"{n}@panel.test") for n in range(2)]
    cast.panel.refresh_from_db()
    assert all(control.pk in [pk for pk, _ in served(cast, n)] for n in (0, 1))
    close_panel(panel=cast.panel, actor="", at=NOW)
    assert json.loads(compute_report(panel=cast.panel, at=NOW).document)["flow"]["slots"] == 28


# what a protocol may say


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"order": "by-hand"}, "protocol_unknown_order"),
        ({"judges_per_response": 1}, "protocol_judges_per_response"),
        ({"judges_per_response": 4}, "protocol_judges_per_response"),
        ({"repeats": -1}, "protocol_repeats"),
        ({"repeats": 51}, "protocol_repeats"),
    ],
)
def test_impossible_order_is_refused(changes, code):
    cast = draft_panel()
    with pytest.raises(Refused) as refused:
        write_protocol(panel=cast.panel, changes=changes, actor="", at=NOW)
    assert refused.value.code == code


def test_order_is_asked_in_the_protocol():
    cast = draft_panel()
    client = as_(cast.coordinator)
    page = client.get("/coordinate/panel/protocol/").content.decode()
    assert re.search(r'name="order" value="williams-1" checked', page)
    answers = {"policy": "literal", "rationales": "none", "judges_planned": 4, "batch_size": 10}
    asked = {"order": "grouped-1", "judges_per_response": 2, "repeats": 3}
    assert client.post("/coordinate/panel/protocol/", answers | asked).status_code == 302
    document = Protocol.objects.get().document
    assert {key: document[key] for key in asked} == asked
    assert client.post("/coordinate/panel/protocol/", answers).status_code == 302
    document = Protocol.objects.get().document
    assert (document["order"], document["judges_per_response"]) == ("grouped-1", None)
    refused = client.post("/coordinate/panel/protocol/", answers | {"judges_per_response": 5})
    assert refused.status_code == 422 and b"no more than are planned" in refused.content


# the page


def cells(html: str, label: str) -> list[str]:
    row = re.search(rf'<th scope="row">{label}</th>(.*?)</tr>', html, flags=re.S)[1]
    return re.findall(r'<td class="number">([^<]*)</td>', row)


def test_page_shows_what_the_order_reaches_before_the_freeze():
    cast = draft_panel(dilemmas=10)
    page = as_(cast.coordinator).get("/coordinate/panel/order/").content.decode()
    assert cells(page, "A condition after another, within a dilemma") == ["2", "2"]
    assert cells(page, "A condition after another, as served") == ["2–3", "2–3"]
    assert cells(page, "A condition after itself, as served") == ["0", "0"]
    assert cells(page, "Two judges with one condition at the same slot") == ["0", "0"]
    assert cells(page, "OKAPI")[:5] == ["2"] * 5
    assert page.count("<svg") == 7 + 3 and "Nothing is fixed yet" in page
    assert not re.search(r"\sstyle=|<style|<script(?![^>]*\ssrc=)", page)
    assert Batch.objects.count() == 0, "looking at a page writes nothing"


@pytest.mark.parametrize(
    ("language", "heading"), [("en", "Balance"), ("ca", "Equilibri"), ("es", "Equilibrio")]
)
def test_page_speaks_three_languages(language, heading):
    cast = draft_panel(dilemmas=2, repeats=5)
    cast.coordinator.language = language
    cast.coordinator.save()
    page = as_(cast.coordinator).get(
        "/coordinate/panel/order/", headers={"accept-language": language}
    )
    assert f"<h2>{heading}</h2>" in page.content.decode()


def test_page_says_where_balance_is_lost():
    cast = draft_panel(dilemmas=4)
    missing = Response.objects.order_by("pk").first()
    Response.objects.filter(pk=missing.pk).update(kind=Response.Kind.CONTROL)
    page = as_(cast.coordinator).get("/coordinate/panel/order/").content.decode()
    assert "balance is lost there" in page


def test_page_of_a_shared_panel_counts_what_judges_share():
    cast = draft_panel(dilemmas=6, judges_planned=8, judges_per_response=2, repeats=4)
    page = as_(cast.coordinator).get("/coordinate/panel/order/").content.decode()
    assert cells(page, "Dilemmas of a judge") == ["1–2", "1–2"]
    assert "Only the first 6 judges are drawn." in page and "0 / 4" in page


def test_page_takes_the_same_queries_however_many_judges(django_assert_num_queries):
    cast = draft_panel(dilemmas=6)
    client = as_(cast.coordinator)
    for judges in (2, 9):
        write_protocol(panel=cast.panel, changes={"judges_planned": judges}, actor="", at=NOW)
        with django_assert_num_queries(6):
            client.get("/coordinate/panel/order/")


def test_panel_without_responses_says_what_comes_next():
    cast = draft_panel()
    Response.objects.update(kind=Response.Kind.CONTROL)
    page = as_(cast.coordinator).get("/coordinate/panel/order/")
    assert b"The set has no responses yet." in page.content


def test_imported_study_has_no_planned_order():
    import_study(files=small_study(), slug="small", title="", scale="1-3", at=NOW)
    coordinator = User.objects.create_user("coordinator@panel.test")
    panel = Panel.objects.get(slug="small")
    Membership.objects.create(panel=panel, user=coordinator, role="coordinator")
    client = as_(coordinator)
    assert client.get("/coordinate/small/").status_code == 200
    assert client.get("/coordinate/small/order/").status_code == 404
