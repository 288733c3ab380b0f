"""The practice round: first, apart, and counting nowhere."""

import csv
import io
import json

import pytest
from django.test import Client
from django.urls import reverse

from dilemmas.models import Response
from ratings.models import Batch, Panel
from ratings.reports.inputs import read_inputs
from ratings.services import guessing, judging
from ratings.services.errors import Refused
from ratings.services.freezing import freeze_panel, obstacles
from ratings.services.judging import Change
from ratings.services.panels import close_panel
from ratings.services.progress import judge_progress
from ratings.services.reporting import compute_report
from tests.cast import CONDITIONS, NOW, Cast, draft_panel, open_cast, rate_all

pytestmark = pytest.mark.django_db


def as_(user) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def phases(cast: Cast, number: int) -> list[tuple[str, int]]:
    return [(b.phase, b.slots.count()) for b in Batch.objects.filter(judge=cast.seat(number))]


def test_it_comes_first_and_the_study_waits_for_it():
    cast = open_cast(practice_responses=2)
    assert phases(cast, 0) == [("practice", 2), ("main", 10)]
    practice, main = Batch.objects.filter(judge=cast.seat(0))
    client = as_(cast.judges[0])
    desk = client.get(reverse("desk")).content.decode()
    assert "0 of 10 responses done" in desk
    assert reverse("batch", args=[practice.code]) in desk
    assert reverse("batch", args=[main.code]) not in desk
    for address in ("batch", main.code), ("rate", main.code, 1):
        assert client.get(reverse(address[0], args=address[1:])).url == reverse("desk")
    with pytest.raises(Refused) as refused:
        change = {"0-synthesis-answer": Change("", "2")}
        judging.save(slot=main.slots.first(), changes=change, at=NOW)
    assert refused.value.code == "practice_first"


def test_its_page_says_so_and_its_end_begins_the_study():
    cast = open_cast(judges=1, practice_responses=1)
    practice, main = Batch.objects.filter(judge=cast.seat(0))
    client = as_(cast.judges[0])
    page = client.get(reverse("rate", args=[practice.code, 1])).content.decode()
    assert "practice, counts nowhere" in page
    data = {f"0-{key}-answer": "1" for key in ("opposition", "synthesis", "anchoring", "coherence")}
    initial = {f"initial-{name}": "" for name in data}
    sent = client.post(
        reverse("rate", args=[practice.code, 1]), data | initial | {"action": "done"}
    )
    assert sent.status_code == 302
    end = client.post(reverse("batch", args=[practice.code])).content.decode()
    assert "The practice round is done" in end
    assert client.get(reverse("rate", args=[main.code, 1])).status_code == 200
    row = judge_progress(cast.panel)[0]
    assert (row.slots, row.done, row.batches, row.handed_in) == (10, 0, 1, 0)


def test_no_figure_knows_of_it():
    cast = open_cast(practice_responses=2, guesses=10)
    without = open_cast(slug="without", guesses=10)
    for one in cast, without:
        rate_all(one, lambda judge, dilemma, condition, key: (len(condition) + judge % 2) % 4)
    asked = {slot.response.kind for slot in guessing.asked(cast.seat(0))}
    assert asked == {"response"}
    practised = Response.objects.filter(response_set=cast.panel.response_set, kind="practice")
    assert practised.count() == 2
    inputs = read_inputs(cast.panel, judges_planned=3)
    assert not set(inputs.responses) & {str(pk) for pk in practised.values_list("pk", flat=True)}
    documents = []
    for one in cast, without:
        close_panel(panel=one.panel, actor="", at=NOW)
        documents.append(json.loads(compute_report(panel=one.panel, at=NOW).document))
    for key in ("flow", "conditions", "criteria", "gate", "blinding"):
        assert documents[0].get(key) == documents[1].get(key), key
    assert set(documents[0]["condition_totals"]) == set(CONDITIONS)


def test_a_judge_keeps_a_copy_of_it_too():
    cast = open_cast(judges=1, practice_responses=1)
    rate_all(cast, lambda *names: 1)
    file = as_(cast.judges[0]).get(reverse("my_ratings", args=[cast.panel.slug]))
    rows = list(csv.DictReader(io.StringIO(file.content.decode())))
    assert [row["phase"] for row in rows] == ["practice"] * 4 + ["main"] * 40


def test_the_protocol_may_leave_it_out():
    cast = open_cast(practice_responses=2, practice=False)
    assert phases(cast, 0) == [("main", 10)]


def test_nobody_practises_on_what_is_judged():
    cast = draft_panel(practice_responses=1)
    practice = Response.objects.get(response_set=cast.panel.response_set, kind="practice")
    judged = Response.objects.filter(response_set=cast.panel.response_set).exclude(kind="practice")
    Response.objects.filter(pk=practice.pk).update(dilemma=judged.first().dilemma)
    assert [one.code for one in obstacles(cast.panel)] == ["practice_on_judged_dilemmas"]
    with pytest.raises(Refused):
        freeze_panel(panel=cast.panel, actor="", at=NOW)
    assert Panel.objects.get(pk=cast.panel.pk).state == Panel.State.DRAFT
