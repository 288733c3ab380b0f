"""A round with all its troubles, from half-way to the next one, as coordinator and adjudicator."""

import json

import pytest
from django.core import mail
from django.core.management import call_command
from django.utils import timezone

from awb_panel.accounts.models import User
from dilemmas import canonical
from dilemmas.canonical import GENESIS
from ratings.models import Case, Decision, Judge, Panel, Rating, Reopening, Slot, Withdrawal
from ratings.services import judging
from ratings.services.panels import create_panel
from tests.browser.conftest import assert_accessible, screenshot
from tests.cast import CRITERIA, NOW, open_cast, rate_slot

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.looks]


def scores(judge: int, slot: Slot) -> dict[str, int]:
    """All say 1; of one response the second judge says 3 on every criterion."""
    apart = judge == 1 and slot.response_id == min(Slot.objects.values_list("response", flat=True))
    return dict.fromkeys(CRITERIA, 3 if apart else 1)


def rate(judge: Judge, number: int, *, only_first: bool = False) -> None:
    for batch in judge.batches.order_by("number")[: 1 if only_first else None]:
        out = Withdrawal.objects.values("response")
        for slot in batch.slots.exclude(response__in=out):
            rate_slot(slot, scores(number, slot))
        judging.hand_in(batch=batch, at=NOW)


def door_of_newest_mail() -> str:
    link = next(word for word in mail.outbox[-1].body.split() if "/invitation/" in word)
    return "/" + link.split("/", 3)[3]


def invite(page, email: str, role: str) -> str:
    page.goto("/coordinate/panel/judges/")
    page.get_by_label("E-mail address").first.fill(email)
    page.get_by_label("Role").select_option(role)
    page.get_by_label("Language of the e-mail").select_option("en")
    page.get_by_role("button", name="Send the invitation", exact=True).click()
    page.get_by_text("The invitation is on its way").wait_for()
    return door_of_newest_mail()


def test_a_round_with_all_its_troubles(context):
    cast = open_cast(
        judges=3, batch_size=5, judges_planned=3, adjudication_from=1, policy="literal"
    )
    rate(cast.seat(0), 0)
    rate(cast.seat(1), 1)
    rate(cast.seat(2), 2, only_first=True)
    kinds = ("damaged", "doubtful_fact", "attention", "recognised", "conflict")
    for slot, kind in zip(cast.slots(0)[:5], kinds, strict=True):
        judging.flag(slot=slot, kind=kind, note="See the end.", at=NOW)
    page = context(user=cast.coordinator).new_page()

    # a judge leaves half-way and is replaced
    page.goto(f"/coordinate/panel/seats/{cast.seat(2).pk}/")
    page.locator("#leave-reason").fill("illness")
    page.get_by_role("button", name="Note that the judge leaves").click()
    door = invite(page, "new@panel.test", "judge")
    other = context().new_page()
    other.goto(door)
    other.get_by_role("button", name="Accept and come in").click()
    seat = Judge.objects.get(user__email="new@panel.test")
    judging.consent(judge=seat, language="en", conflicts="", exposure="no", at=NOW)

    # two texts are withdrawn, five notes answered, one response is rated again
    for _text in range(2):
        page.goto("/coordinate/panel/texts/")
        page.locator("#response").select_option(index=3 + _text)
        page.locator("#out-reason").fill("cut short")
        page.get_by_role("button", name="Take it out for good").click()
    assert Withdrawal.objects.count() == 2
    rate(seat, 2)
    for _flag in kinds:
        page.goto("/coordinate/panel/flags/")
        page.locator("summary").first.click()
        page.get_by_label("To the judge").first.fill("Thank you, we have looked.")
        page.get_by_role("button", name="Keep the answer").first.click()
        page.get_by_text("the judge reads it on their desk").wait_for()
    page.goto(f"/coordinate/panel/seats/{cast.seat(0).pk}/")
    out = Withdrawal.objects.values("response")
    again = Slot.objects.filter(judge=cast.seat(0)).exclude(response__in=out).last()
    page.locator("#slot").select_option(value=again.code)
    page.locator("#reopen-reason").fill("a slip")
    page.get_by_role("button", name="Open it again").click()
    assert Reopening.objects.get().slot == again
    rate_slot(again, dict.fromkeys(CRITERIA, 2) | {CRITERIA[0]: 1})
    assert again.submissions.count() == 2, "both versions are kept"

    # closing, the report, and where judges lie apart
    page.goto("/coordinate/panel/close/")
    page.get_by_role("button", name="Close for good").click()
    call_command("db_worker", batch=True, interval=0, startup_delay=False)
    before = Panel.objects.get(slug="panel").reports.get().document
    page.goto("/report/panel/rationales/?order=apart")
    page.locator("section h2").first.wait_for()
    page.locator("#first").select_option("J1")
    page.locator("#second").select_option("J2")
    page.get_by_role("button", name="Show").click()
    assert_accessible(page)
    screenshot(page, "differences")

    # adjudication by somebody who knows neither the condition nor the judges
    door = invite(page, "third@panel.test", "adjudicator")
    third = context(width=390).new_page()
    third.goto(door)
    third.get_by_role("button", name="Accept and come in").click()
    page.goto("/coordinate/panel/differences/")
    page.get_by_role("button", name="Give the cases out").click()
    page.get_by_text("cases are given out").first.wait_for()
    assert_accessible(page)
    screenshot(page, "resolution")
    count = Case.objects.count()
    assert count >= 4
    third.goto("/coordinate/")
    third.get_by_role("link", name="Panel panel").click()
    assert_accessible(third)
    third.get_by_role("link", name="Go to case 1").click()
    for number in range(1, count + 1):
        third.get_by_role("heading", name=f"Case {number} of {count}").wait_for()
        if number == 1:
            third.get_by_role("button", name="Decide").click()
            third.get_by_text("Choose a level, or say").wait_for()
            assert_accessible(third)
            screenshot(third, "case-390")
        third.locator("input[name=score]").nth(2).focus()
        third.keyboard.press("Space")
        third.keyboard.press("Tab")
        third.keyboard.type("A third reading.")
        third.get_by_role("button", name="Decide").press("Enter")
    third.get_by_text("You have decided every case").wait_for()
    screenshot(third, "cases-390")
    assert Decision.objects.count() == count
    page.goto("/report/panel/rationales/?order=cases")
    assert page.get_by_text("A third reading.").count() == count
    screenshot(page, "decided")
    assert Panel.objects.get(slug="panel").reports.get().document == before, "no figure knows of it"
    standing = 2 * len(CRITERIA)  # of the responses taken out, which nobody is asked for again
    assert Rating.objects.count() >= standing

    # the chain, exported, holds by itself
    previous = GENESIS
    text = page.request.get("/coordinate/panel/audit.jsonl").text()
    for number, line in enumerate(map(json.loads, text.splitlines()), start=1):
        assert (line["number"], line["previous"]) == (number, previous)
        previous = line["sha256"]
    call_command("check_audit")
    assert canonical.broken_at(cast.panel.events.order_by("number")) is None

    # the next round
    create_panel(
        slug="second", title="Second", response_set=cast.panel.response_set,
        rubric_version=cast.panel.rubric_version, content_language="en",
        coordinator=User.objects.get(pk=cast.coordinator.pk), at=timezone.now(),
    )  # fmt: skip
    page.goto("/coordinate/second/protocol/")
    page.get_by_text("Literal: Fleiss").click()
    page.get_by_label("None").check()
    page.get_by_text("The study", exact=True).click()
    page.locator("[name=previous_round]").select_option("panel")
    page.locator("[name=what_changed]").fill("The judges are trained.")
    page.get_by_role("button", name="Save the protocol").click()
    page.goto("/coordinate/second/freeze/")
    page.get_by_role("button", name="Freeze for good").click()
    page.goto("/coordinate/second/open/")
    page.get_by_role("button", name="Open the panel", exact=True).click()
    assert Panel.objects.get(slug="second").state == "open"
