"""Differences between judges, resolved after closing as a layer of its own; panels put away."""

import json

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from awb_panel.accounts.models import User
from ratings.models import Case, Decision, Rating
from ratings.reports.resolved import resolved
from ratings.services import archiving, audit, resolving
from ratings.services.erasing import erase
from ratings.services.errors import Refused
from ratings.services.invitations import accept, invite
from ratings.services.panels import close_panel
from ratings.services.reporting import compute_report
from tests.cast import CONDITIONS, CRITERIA, NOW, open_cast, rate_all
from tests.integration.test_leaks import SECRET, everything

pytestmark = pytest.mark.django_db


def adjudicator(cast, email="a@panel.test") -> User:
    invited = invite(
        panel=cast.panel, email=email, role="adjudicator", language="en", actor="", at=NOW
    )
    return accept(invitation=invited.invitation, at=NOW)


def scores(judge, dilemma, condition, criterion) -> int:
    """Two judges agree, but for one response: there they lie 2 and 1 apart on two criteria."""
    if (dilemma, condition, judge) != ("HND-002", CONDITIONS[0], 1):
        return 1
    return {CRITERIA[0]: 3, CRITERIA[1]: 2}.get(criterion, 1)


@pytest.fixture
def cast():
    made = open_cast(judges=2, judges_planned=2, adjudication_from=1)
    rate_all(made, scores)
    return made


def close(cast):
    close_panel(panel=cast.panel, actor="", at=NOW)
    cast.panel.refresh_from_db()
    return cast


def drawn(cast) -> list[Case]:
    resolving.draw(panel=close(cast).panel, actor="", at=NOW)
    return list(Case.objects.order_by("position"))


def test_the_registered_rule_picks_the_cases(cast):
    cases = drawn(cast)
    assert {case.criterion.key for case in cases} == set(CRITERIA[:2])
    assert {(case.response.dilemma.code, case.response.condition.label) for case in cases} == {
        ("HND-002", CONDITIONS[0])
    }
    with pytest.raises(Refused, match="cases_are_drawn"):
        resolving.draw(panel=cast.panel, actor="", at=NOW)


def test_a_larger_distance_picks_fewer():
    cast = open_cast(judges=2, judges_planned=2, adjudication_from=2)
    rate_all(cast, scores)
    assert [case.criterion.key for case in drawn(cast)] == [CRITERIA[0]]


def test_nothing_is_drawn_before_closing_or_without_a_rule(cast):
    with pytest.raises(Refused, match="panel_not_closed"):
        resolving.draw(panel=cast.panel, actor="", at=NOW)
    other = open_cast(judges=1, slug="other")
    with pytest.raises(Refused, match="panel_not_closed"):
        resolving.draw(panel=other.panel, actor="", at=NOW)
    close(other)
    with pytest.raises(Refused, match="no_adjudication_registered"):
        resolving.draw(panel=other.panel, actor="", at=NOW)


def test_a_rule_needs_a_number_above_zero(cast):
    with pytest.raises(Refused, match="protocol_adjudication"):
        open_cast(judges=0, slug="zero", adjudication_from=0)


def test_decisions_change_no_figure_and_are_kept_in_order(cast):
    person = adjudicator(cast)
    case = drawn(cast)[0]
    before = compute_report(panel=cast.panel, reason="", at=NOW)
    ratings = list(Rating.objects.order_by("pk").values())
    resolving.decide(case=case, user=person, score=2, reason="In between.", at=NOW)
    resolving.decide(case=case, user=person, score=None, reason="It is neither.", at=NOW)
    after = compute_report(panel=cast.panel, reason="again", at=NOW)
    for name in ("inputs_sha256", "criteria", "gate", "conditions", "flow"):
        assert json.loads(before.document).get(name) == json.loads(after.document).get(name), name
    assert list(Rating.objects.order_by("pk").values()) == ratings
    assert list(Decision.objects.values_list("number", "score")) == [(1, 2.0), (2, None)]
    row = next(one for one in resolved(cast.panel) if one.code == case.code)
    assert row.decisions == [("A1", None, "It is neither.")]
    assert [score for _who, score in row.scores] == [
        1.0,
        3.0 if case.criterion.key == CRITERIA[0] else 2.0,
    ]
    assert audit.broken_at(cast.panel) is None


def test_only_levels_reasons_and_adjudicators(cast):
    person = adjudicator(cast)
    case = drawn(cast)[0]
    for score, reason, code in ((7, "x", "not_a_level"), (2, "  ", "reason_needed")):
        with pytest.raises(Refused, match=code):
            resolving.decide(case=case, user=person, score=score, reason=reason, at=NOW)
    for stranger in (cast.coordinator, cast.observer, cast.judges[0], cast.owner):
        with pytest.raises(Refused, match="no_adjudicator"):
            resolving.decide(case=case, user=stranger, score=2, reason="x", at=NOW)


@pytest.mark.parametrize("who", ["coordinator", "owner", "observer", "judge"])
def test_who_knows_the_conditions_or_has_judged_cannot_be_one(cast, who):
    person = cast.judges[0] if who == "judge" else getattr(cast, who)
    with pytest.raises(Refused):
        adjudicator(cast, person.email)


def test_the_database_keeps_cases_and_decisions(cast):
    person = adjudicator(cast)
    response = cast.slots(0)[0].response
    early = Case(
        panel=cast.panel, response=response, criterion=cast.panel.rubric_version.criteria.first(),
        position=1, code="x", at=NOW,
    )  # fmt: skip
    acts = [early.save]
    for act in acts:
        with pytest.raises(IntegrityError), transaction.atomic():
            act()
    case = drawn(cast)[0]
    made = resolving.decide(case=case, user=person, score=2, reason="x", at=NOW)
    for act in (
        made.delete,
        lambda: Decision.objects.filter(pk=made.pk).update(score=3),
        case.delete,
        lambda: Case.objects.filter(pk=case.pk).update(position=99),
        lambda: Decision.objects.create(
            case=case, actor="x", number=1, score=7, reason="no level", at=NOW
        ),
        lambda: Decision.objects.create(case=case, actor="x", number=1, score=2, reason="", at=NOW),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            act()


def test_an_adjudicator_decides_on_the_pages_and_meets_no_condition_and_no_judge(cast, client):
    person = adjudicator(cast)
    client.force_login(person)
    assert client.get("/resolve/panel/").status_code == 404, "nothing before closing"
    cases = drawn(cast)
    sent = [everything(client.get(path)) for path in ("/coordinate/", "/resolve/panel/")]
    case = cases[0]
    address = f"/resolve/panel/{case.code}/"
    page = client.get(address)
    assert [voice.who for voice in page.context["item"].voices] == ["", ""]
    missing = client.post(address, {"reason": ""})
    assert missing.status_code == 422
    done = client.post(address, {"score": "2", "reason": "The second reads more into it."})
    assert (done.status_code, done["Location"]) == (302, f"/resolve/panel/{cases[1].code}/")
    sent += [everything(one) for one in (page, missing, client.get(address))]
    client.post(f"/resolve/panel/{cases[1].code}/", {"score": "none", "reason": "Both are right."})
    sent.append(everything(client.get("/resolve/panel/")))
    assert "decided every case" in sent[-1]
    for text in sent:
        assert SECRET not in text
        assert not any(f">{code}<" in text or f"{code} ·" in text for code in ("J1", "J2"))
    for path in ("/coordinate/panel/", "/report/panel/", "/report/panel/rationales/",
                 "/report/panel/ratings.csv", "/coordinate/panel/audit/"):  # fmt: skip
        assert client.get(path).status_code == 404, path


def test_judges_are_named_if_the_protocol_says_so():
    cast = open_cast(judges=2, judges_planned=2, adjudication_from=1, adjudication_named=True)
    rate_all(cast, scores)
    assert [v.who for v in resolving.case_item(drawn(cast)[0]).voices] == ["J1", "J2"]


def test_a_coordinator_gives_the_cases_out_and_reads_what_was_decided(cast, client):
    person = adjudicator(cast)
    client.force_login(cast.coordinator)
    assert (
        "until then nobody sees a score"
        in client.get("/coordinate/panel/differences/").content.decode()
    )
    close(cast)
    assert client.post("/coordinate/panel/differences/").status_code == 302
    assert client.post("/coordinate/panel/differences/").status_code == 422, "once"
    case = Case.objects.get(criterion__key=CRITERIA[0])
    resolving.decide(case=case, user=person, score=2, reason="Seen by a third.", at=NOW)
    page = client.get("/report/panel/rationales/?order=cases").content.decode()
    assert "Seen by a third." in page and "adjudicator A1" in page
    assert page.count("<h2>") == 1, "only the response that was given out"
    table = client.get("/report/panel/decisions.csv").content.decode().splitlines()
    assert len(table) == 3 and any("J1:1 J2:3,A1,2,Seen by a third." in line for line in table)


def test_differences_are_read_by_criterion_pair_and_family(client):
    cast = open_cast(judges=3)
    rate_all(cast, scores)
    close(cast)
    client.force_login(cast.observer)

    def shown(query: str) -> tuple[int, list[str]]:
        rows = client.get(f"/report/panel/rationales/?{query}").context["page"].rows
        return len(rows), [one.who for one in next(iter(rows[0].criteria.values()))] if rows else []

    assert shown("order=apart&first=J1&second=J2") == (10, ["J1", "J2"])
    assert shown("family=personal&criterion=" + CRITERIA[1])[0] == 10
    assert shown("family=existential")[0] == 0
    first = client.get("/report/panel/rationales/?order=apart").context["page"].rows[0]
    assert (first.dilemma, first.spread) == ("HND-002", 2.0)
    assert (
        "Choose two different judges"
        in client.get("/report/panel/rationales/?first=J1").content.decode()
    )


def test_a_panel_is_put_away_and_taken_back(cast, client):
    client.force_login(cast.coordinator)
    client.post("/coordinate/panel/archive/")
    assert archiving.archived([cast.panel]) == set(), "not while it is open"
    close(cast)
    assert client.post("/coordinate/panel/archive/")["Location"] == "/coordinate/"
    assert archiving.archived([cast.panel]) == {cast.panel.pk}
    assert client.get("/coordinate/").context["at_work"] == []
    assert client.get("/coordinate/panel/").status_code == 200
    client.post("/coordinate/panel/archive/", {"back": "1"})
    assert archiving.archived([cast.panel]) == set()


def test_an_erased_adjudicator_leaves_decisions_and_an_unbroken_chain(cast):
    person = adjudicator(cast)
    case = drawn(cast)[0]
    resolving.decide(case=case, user=person, score=2, reason="x", at=NOW)
    erase(user=person, actor="", at=NOW)
    assert [len(one.decisions) for one in resolved(cast.panel)] in ([1, 0], [0, 1])
    assert audit.broken_at(cast.panel) is None
    assert Client().get("/resolve/panel/").status_code == 302
