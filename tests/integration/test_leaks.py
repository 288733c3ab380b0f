"""A condition called ZEBRA-CONTROL is on the coordinator's pages, and in no byte that a judge gets."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dilemmas.models import DilemmaVersion
from ratings.models import Batch
from ratings.services.panels import close_panel
from tests.cast import CONDITIONS, CRITERIA, NOW, open_cast, rate_all, rate_slot

pytestmark = pytest.mark.django_db
SECRET = "ZEBRA"


def everything(response) -> str:
    """Return all that a response sends: status line, headers, cookies, body."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    heads = "\n".join(f"{name}: {value}" for name, value in response.items())
    return "\n".join([heads, response.cookies.output(), body.decode("utf-8", "replace")])


@pytest.fixture
def cast():
    return open_cast(judges=2)


def judge_requests(cast, client):
    """Yield every request that a judge can make, good and bad."""
    slug = cast.panel.slug
    batch = Batch.objects.get(judge=cast.seat(0))
    base = f"/judge/batch/{batch.code}/"
    for path in (
        "/", "/judge/", f"/judge/{slug}/consent/", f"/judge/{slug}/instructions/",
        f"/judge/{slug}/my-ratings.csv", base, f"{base}?hand-in", f"{base}99/",
        f"/coordinate/{slug}/", f"/coordinate/{slug}/blinding/", f"/report/{slug}/",
        f"/report/{slug}/ratings.csv", f"/published/{slug}/", "/published/", "/nothing/",
    ):  # fmt: skip
        yield client.get(path)
    for slot in cast.slots(0):
        page = f"{base}{slot.position}/"
        yield client.get(page)
        yield client.get(f"{page}draft/", headers={"accept": "application/json"})
        yield client.post(page, {"action": "done"})
        yield client.post(page, {"action": "done"} | {f"0-{k}-answer": "7" for k in CRITERIA})
        yield client.post(page, {f"0-{CRITERIA[0]}-answer": "1"})
        yield client.post(
            f"{page}draft/",
            {"client": "a", "sequence": 1, "fields": {f"0-{CRITERIA[0]}-answer": ["", "2"]}},
            content_type="application/json",
        )
        yield client.post(f"{page}draft/", "not json", content_type="application/json")
        yield client.post(f"{page}flag/", {"kind": "attention", "note": "look"})
        yield client.post(f"{page}flag/", {"kind": "nothing"})
    yield client.post(base, {})
    yield client.put(base)


def test_condition_is_found_where_it_may_be(cast):
    client = Client()
    client.force_login(cast.coordinator)
    page = client.get(f"/coordinate/{cast.panel.slug}/blinding/")
    assert SECRET in everything(page)


def test_no_judge_meets_a_condition(cast):
    client = Client()
    client.force_login(cast.judges[0])
    seen = 0
    for response in judge_requests(cast, client):
        text = everything(response)
        for label in CONDITIONS:
            assert label not in text and label.split("-")[0] not in text, response.request
        seen += 1
    assert seen > 90
    anonymous = Client()
    for response in judge_requests(cast, anonymous):
        assert SECRET not in everything(response)


def test_no_judge_meets_a_condition_when_all_is_rated_and_closed(cast):
    rate_all(cast, lambda judge, dilemma, condition, key: 1)
    close_panel(panel=cast.panel, actor="", at=NOW)
    client = Client()
    client.force_login(cast.judges[0])
    for response in judge_requests(cast, client):
        assert SECRET not in everything(response)


def test_no_judge_meets_what_a_dilemma_requires(cast):
    """The masks are read for no page of a judge, neither while the panel runs nor afterwards."""
    assert DilemmaVersion.objects.filter(required_axes=["D2", "D4"]).count() == 2
    client = Client()
    client.force_login(cast.judges[0])
    for after in (False, True):
        if after:
            rate_all(cast, lambda judge, dilemma, condition, key: 1)
            close_panel(panel=cast.panel, actor="", at=NOW)
        with CaptureQueriesContext(connection) as queries:
            for response in judge_requests(cast, client):
                found = re.search(r"\bD[1-4]\b|spirituality|required_\w+", everything(response))
                assert not found, (found, response.request)
        assert not [q["sql"] for q in queries if "required_" in q["sql"]]


def test_pages_name_no_response_by_its_key(cast):
    """Two judges' codes of one response differ, and its keys stand in no address or attribute."""
    first, second = cast.slots(0)[0], None
    for slot in cast.slots(1):
        if slot.response_id == first.response_id:
            second = slot
    assert second is not None and first.code != second.code
    client = Client()
    client.force_login(cast.judges[0])
    page = client.get(f"/judge/batch/{first.batch.code}/{first.position}/").content.decode()
    assert second.code not in page
    first.response.refresh_from_db()
    for key in (f"response={first.response_id}", f"/{first.response.pk}-", f"slot-{first.pk}"):
        assert key not in page
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    assert {n for n, _v in hidden if not n.startswith("was-")} <= {
        "csrfmiddlewaretoken", "client", "sequence", "shown",
    }  # fmt: skip


def test_no_judge_meets_another_judges_words(cast):
    slot = cast.slots(1)[0]
    rate_slot(slot, dict.fromkeys(CRITERIA, 3))
    from ratings.services import judging
    from ratings.services.judging import Change

    judging.save(slot=slot, changes={"0-opposition-rationale": Change("", "QUINCE-WORDS")}, at=NOW)
    client = Client()
    client.force_login(cast.judges[0])
    for response in judge_requests(cast, client):
        assert "QUINCE" not in everything(response)


def test_coordinator_sees_no_score_before_closing(cast):
    slot = cast.slots(0)[0]
    rate_slot(slot, dict.fromkeys(CRITERIA, 3))
    from ratings.services import judging
    from ratings.services.judging import Change

    judging.save(slot=slot, changes={"0-opposition-rationale": Change("", "QUINCE-WORDS")}, at=NOW)
    client = Client()
    client.force_login(cast.coordinator)
    slug = cast.panel.slug
    for path in ("", "blinding/", "protocol/", "judges/", "audit/", "close/", "publish/"):
        assert "QUINCE" not in everything(client.get(f"/coordinate/{slug}/{path}"))
    for path in ("", "report.json", "ratings.csv", "ratings.json"):
        assert client.get(f"/report/{slug}/{path}").status_code == 404


@pytest.mark.parametrize("dilemmas", [2, 6])
def test_rating_page_costs_at_most_eight_queries(dilemmas):
    cast = open_cast(judges=1, dilemmas=dilemmas)
    client = Client()
    client.force_login(cast.judges[0])
    slot = cast.slots(0)[0]
    path = f"/judge/batch/{slot.batch.code}/{slot.position}/"
    with CaptureQueriesContext(connection) as queries:
        page = client.get(path)
    assert page.status_code == 200
    assert len(queries) <= 8, "\n".join(q["sql"][:300] for q in queries)
