"""The pages on which a panel is set up, as people see them."""

import csv
import json
from pathlib import Path

import pytest

from awb_panel.accounts.models import User
from ratings.models import Panel
from ratings.services.freezing import freeze_panel
from ratings.services.invitations import invite
from tests.browser.conftest import assert_accessible, screenshot
from tests.cast import NOW, draft_panel

pytestmark = pytest.mark.django_db(transaction=True)
DILEMMAS = Path(__file__).parents[2] / "fixtures" / "dilemmas" / "awb.json"


def assert_fits(page) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, "no sideways scrolling of the page itself"


@pytest.mark.looks
@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [(1280, "light", "ca"), (768, "dark", "es"), (390, "light", "en")],
)
def test_pages_of_setting_up_pass_axe_and_fit(context, width, scheme, language):
    cast = draft_panel(estimand="The mean of E over that of A.")
    invite(
        panel=cast.panel, email="judge@example.org", role="judge", language="ca", actor="", at=NOW
    )
    cast.coordinator.language = language
    cast.coordinator.save(update_fields=["language"])
    page = context(user=cast.coordinator, width=width, scheme=scheme, locale=language).new_page()
    base = f"/coordinate/{cast.panel.slug}/"
    for name in ("", "protocol/", "judges/", "judges/mail/", "registration/", "freeze/"):
        page.goto(base + name)
        for details in page.locator("details").all():
            details.evaluate("one => { one.open = true; }")
        assert_accessible(page)
        assert_fits(page)
        screenshot(page, f"setting-up-{name.replace('/', '-') or 'overview-'}{width}")
    freeze_panel(panel=Panel.objects.get(pk=cast.panel.pk), actor="", at=NOW)
    page.goto(base + "registration/")
    assert_accessible(page)
    assert_fits(page)


def test_a_list_of_judges_is_invited_by_keyboard_without_scripts(context, mailoutbox):
    cast = draft_panel()
    page = context(user=cast.coordinator, js=False).new_page()
    page.goto(f"/coordinate/{cast.panel.slug}/judges/")
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    page.locator("#id_list-people").focus()
    page.keyboard.type("one@example.org; physician\ntwo@example.org")
    page.get_by_role("button", name="Send the invitations").focus()
    page.keyboard.press("Enter")
    page.get_by_text("on its way to two@example.org").wait_for()
    assert len(mailoutbox) == 2


def test_a_panel_of_150_responses_is_set_up_and_frozen_without_a_command(
    context, mailoutbox, tmp_path, transactional_db
):
    """By a new owner: files, panel, protocol, judges from a list, freeze, deposit."""
    owner = User.objects.create_user("owner@example.org", is_owner=True, language="en")
    codes = [one["code"] for one in json.loads(DILEMMAS.read_text(encoding="utf-8"))]
    responses = tmp_path / "responses.csv"
    with responses.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["dilemma", "condition", "language", "text"])
        rows.writerows(
            [code, f"Q{n}X", "en", f"One could wait until tomorrow, or ring her at {n + 1}."]
            for code in codes
            for n in range(5)
        )
    page = context(user=owner).new_page()
    for kind, path in (("dilemmas", DILEMMAS), ("responses", responses)):
        page.goto("/coordinate/import/")
        page.get_by_label("What is in the file?").select_option(kind)
        page.get_by_label("File (CSV, JSON, JSONL or XLSX)").set_input_files(path)
        page.get_by_label("Name").fill("AWB")
        page.get_by_role("button", name="Look at it").first.click()
        page.get_by_role("button", name="Import it").click()
        page.get_by_text("Imported:").wait_for()
    page.get_by_role("link", name="Import more").click()
    page.get_by_role("button", name="Import the semantic rubric").click()
    page.get_by_role("button", name="Import it").click()
    page.goto("/coordinate/new/")
    page.get_by_label("Title").fill("V1")
    page.get_by_label("Responses").select_option(label="AWB")
    page.get_by_label("Rubric").select_option(label="awb-semantic 1")
    page.get_by_label("Language of the texts").select_option("en")
    page.get_by_role("button", name="Make the panel").click()
    page.locator(".checklist").get_by_role("link", name="Protocol").click()
    page.get_by_text("Ordinal: the lower").click()
    page.get_by_role("button", name="Save the protocol").click()
    page.goto("/coordinate/v1/judges/")
    page.get_by_text("Invite many judges at once").click()
    page.locator("#id_list-people").fill("a@example.org\nb@example.org; philosopher\nc@example.org")
    page.get_by_role("button", name="Send the invitations").click()
    page.get_by_text("on its way to c@example.org").wait_for()
    assert [m.to for m in mailoutbox] == [["a@example.org"], ["b@example.org"], ["c@example.org"]]
    assert "150 responses" in mailoutbox[0].subject
    page.goto("/coordinate/v1/freeze/")
    page.get_by_role("button", name="Freeze for good").click()
    page.get_by_role("link", name="Registration").first.click()
    page.get_by_label("Its address there").fill("https://osf.io/abcde")
    page.get_by_role("button", name="Note where it was deposited").click()
    page.get_by_text("Noted, with today").wait_for()
    assert Panel.objects.get(slug="v1").state == "frozen"
