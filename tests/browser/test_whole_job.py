"""The main job from end to end, in a browser: imported files → blinded → frozen → judged → verdict."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from django.core import mail
from django.core.management import call_command
from django.utils import timezone

from awb_panel.accounts.models import User
from ratings.models import Judge, Panel, Report, Slot, Submission
from ratings.services import judging
from tests.browser.conftest import accessibility_problems, screenshot
from tests.cast import rate_slot

pytestmark = pytest.mark.django_db(transaction=True)
HAND = Path(__file__).parents[1] / "fixtures" / "hand"
SCORES = json.loads((HAND / "scores.json").read_text())["tables"]


def import_file(page, kind: str, file: str, target: str) -> None:
    page.goto("/coordinate/import/")
    page.get_by_label("What is in the file?").select_option(kind)
    page.get_by_label("File (CSV, JSON, JSONL or XLSX)").set_input_files(HAND / file)
    page.get_by_label("Name").fill(target)
    page.get_by_role("button", name="Look at it").click()
    page.get_by_role("button", name="Import it").click()
    page.get_by_text("Imported:").wait_for()


def set_up(page, slug: str) -> None:
    """Import, make the panel, blind, write the protocol, freeze and open."""
    import_file(page, "dilemmas", "dilemmas.csv", slug)
    import_file(page, "responses", "responses.csv", slug)
    page.get_by_role("link", name="Import more").click()
    page.get_by_role("button", name="Import the semantic rubric").click()
    if page.get_by_role("button", name="Import it").is_visible():
        page.get_by_role("button", name="Import it").click()
    page.goto("/coordinate/new/")
    page.get_by_label("Title").fill(f"Panel {slug}")
    page.get_by_label("Address").fill(slug)
    page.get_by_label("Responses").select_option(label=slug)
    page.get_by_label("Rubric").select_option(label="awb-semantic 1")
    page.get_by_label("Language of the texts").select_option("en")
    page.get_by_role("button", name="Make the panel").click()
    assert page.get_by_text("Some texts may tell their condition").is_visible()
    page.goto(f"/coordinate/{slug}/freeze/")
    assert page.get_by_role("button", name="Freeze for good").count() == 0
    blind(page, slug)
    page.goto(f"/coordinate/{slug}/protocol/")
    page.get_by_text("Literal: Fleiss").click()
    page.get_by_label("None").check()
    page.get_by_text("The study", exact=True).click()
    page.get_by_label("Registered differences").fill("OKAPI - ZEBRA-CONTROL")
    page.get_by_role("button", name="Save the protocol").click()
    page.get_by_role("link", name="Freeze", exact=True).click()
    page.get_by_role("button", name="Freeze for good").click()
    page.get_by_role("link", name="Open the panel", exact=True).click()
    page.get_by_role("button", name="Open the panel", exact=True).click()
    assert Panel.objects.get(slug=slug).state == "open"


def blind(page, slug: str) -> None:
    """Decide on every text that was held, with no trace of what was found left in it."""
    page.goto(f"/coordinate/{slug}/blinding/")
    held = page.locator("tr", has_text="waits for a decision")
    assert held.count() == 2
    held.first.get_by_role("link").click()
    for _ in range(2):
        box = page.locator("textarea[name=text-1]")
        text = box.input_value().replace("ChatGPT", "[name removed]").replace("(OBJ)", "")
        box.fill(text)
        page.get_by_role("button", name="Use this text").click()
    assert page.locator("tr", has_text="waits for a decision").count() == 0


def invite_and_enter(page, context, slug: str, number: int):
    """Invite a judge by e-mail, follow the link of the message, consent."""
    page.goto(f"/coordinate/{slug}/judges/")
    page.get_by_label("E-mail address").fill(f"j{number}@{slug}.test")
    page.get_by_label("Profession").fill("physician" if number < 2 else "philosopher")
    page.get_by_label("Language of the e-mail").select_option("en")
    page.get_by_role("button", name="Send the invitation").click()
    message = mail.outbox[-1]
    assert message.to == [f"j{number}@{slug}.test"]
    link = next(word for word in message.body.split() if "/invitation/" in word)
    judge = context().new_page()
    judge.goto("/" + link.split("/", 3)[3])
    judge.get_by_role("button", name="Accept and come in").click()
    judge.get_by_role("link", name="Start").click()
    for box in judge.get_by_role("checkbox").all():
        box.check()
    judge.get_by_label("No", exact=True).check()
    judge.get_by_role("button", name="I agree: start").click()
    judge.get_by_role("link", name="Go to my batch").click()
    judge.get_by_role("link", name="Go to response 1").click()
    return judge


def rate_everything(judge, slug: str, number: int, table: dict) -> None:
    """Give the hand-made scores in the served order, then hand in."""
    seat = Judge.objects.filter(panel__slug=slug).order_by("pk")[number]
    for slot in Slot.objects.filter(judge=seat).order_by("position"):
        judge.get_by_text(f"Response {slot.position} of 10", exact=True).first.wait_for()
        for fieldset, key in zip(
            judge.locator("fieldset.criterion").all(), table["scores"], strict=True
        ):
            score = table["scores"][key][slot.response.external_id][number]
            fieldset.locator(f"input[value='{score}']").first.check()
        judge.get_by_role("button", name="Done: next response").click()
    judge.get_by_role("link", name="Hand in the batch").click()
    judge.get_by_role("button", name="Hand in the batch").click()
    judge.get_by_role("heading", name="Thank you. You have finished.").wait_for()


def rate_at_once(slug: str, number: int, table: dict) -> None:
    seat = Judge.objects.filter(panel__slug=slug).order_by("pk")[number]
    for slot in Slot.objects.filter(judge=seat).select_related("response"):
        scores = table["scores"].items()
        rate_slot(slot, {key: of[slot.response.external_id][number] for key, of in scores})
    judging.hand_in(batch=seat.batches.get(), at=timezone.now())


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("exactly_three_fifths", "met"),
        pytest.param("rounds_up_but_misses", "not_met", marks=pytest.mark.looks),
    ],
)
def test_panel_from_files_to_verdict(context, name, verdict):
    """The first in every page; of the second the judges' scores are stored at once."""
    table, slug = SCORES[name], name.replace("_", "-")
    owner = User.objects.create_user("owner@hand.test", is_owner=True, language="en")
    page = context(user=owner).new_page()
    set_up(page, slug)
    for number in range(3):
        judge = invite_and_enter(page, context, slug, number)
        if verdict == "met":
            rate_everything(judge, slug, number, table)
        else:
            rate_at_once(slug, number, table)
    assert Submission.objects.count() == 30, "nothing is stored twice"
    page.goto(f"/coordinate/{slug}/")
    assert page.get_by_text("10 / 10").count() == 3
    page.get_by_role("link", name="Close", exact=True).click()
    page.get_by_role("button", name="Close for good").click()
    page.get_by_role("link", name="To the report").click()
    page.get_by_text("The report is being computed.").wait_for()
    call_command("db_worker", batch=True, interval=0, startup_delay=False)
    page.goto(f"/report/{slug}/")
    screenshot(page, f"report-{slug}")
    assert accessibility_problems(page) == []

    document = json.loads(Report.objects.get().document)
    for key, expected in table["expected"].items():
        found = document["criteria"][key]["coefficients"]
        for ours, theirs in (
            ("fleiss_kappa", "fleiss_kappa"),
            ("krippendorff_alpha_nominal", "alpha_nominal"),
            ("krippendorff_alpha_ordinal", "alpha_ordinal"),
        ):
            assert found[ours]["estimate"] == pytest.approx(
                float(Fraction(expected[theirs])), abs=1e-12
            )
    assert document["gate"]["verdict"] == verdict
    page.goto(f"/coordinate/{slug}/publish/")
    if verdict == "not_met":
        assert page.get_by_role("button", name="Publish").count() == 0
        assert page.get_by_text("The requirement is not met").is_visible()
        shown = document["gate"]["criteria"][0]
        assert (shown["shown"], round(Decimal(shown["value"]), 4)) == ("0.60", Decimal("0.5970"))
        page.goto(f"/report/{slug}/")
        assert page.get_by_text("the unrounded value is 0.5970 and is below 0.60").is_visible()
        return
    page.get_by_role("button", name="Publish").click()
    public = context().new_page()
    public.goto("/published/")
    public.get_by_role("link", name=f"Panel {slug}").click()
    assert public.get_by_text("V1", exact=True).is_visible()
    assert public.get_by_text("Requirement met.").is_visible()
    assert public.get_by_role("cell", name="0.60").first.is_visible()
    assert accessibility_problems(public) == []
