"""The rubric editor in a real browser: accessible, by keyboard alone, without scripts."""

import re

import pytest

from dilemmas.models import RubricVersion
from dilemmas.services.rubric_documents import document_of
from ratings.services.freezing import freeze_panel
from tests.browser.conftest import assert_accessible, screenshot
from tests.cast import NOW, draft_panel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.looks]
LOOKS = [
    (1280, "light", "en"),
    (768, "dark", "es"),
    (390, "light", "ca"),
    (320, "dark", "ca"),
]


@pytest.fixture
def cast(transactional_db, lift_guards):
    return draft_panel(boundary={"lower": 2, "upper": 3})


@pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
def test_rubric_pages_pass_axe(cast, context, width, scheme, language):
    cast.coordinator.language = language
    cast.coordinator.save(update_fields=["language"])
    page = context(user=cast.coordinator, width=width, scheme=scheme, locale=language).new_page()
    version = f"/coordinate/rubrics/{cast.panel.rubric_version_id}/"
    places = {
        "list": "/coordinate/rubrics/",
        "one": version,
        "criterion": version + "criteria/1/",
        "preview": version + "preview/?language=en",
        "of-panel": "/coordinate/panel/rubric/",
    }

    def look(state: str) -> None:
        for name, address in places.items():
            page.goto(address)
            assert_accessible(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, state)
            screenshot(page, f"rubric-{name}-{state}-{width}")

    look("draft")
    freeze_panel(panel=cast.panel, actor="", at=NOW)
    look("sealed")


@pytest.mark.parametrize("width", [1280, 390])
def test_errors_lead_to_their_fields(cast, context, width):
    page = context(user=cast.coordinator, width=width).new_page()
    page.goto(f"/coordinate/rubrics/{cast.panel.rubric_version_id}/criteria/1/")
    page.locator("[name=level-2-short-en]").fill("x" * 61)
    page.get_by_role("button", name="Save").click()
    alert = page.get_by_role("alert").last
    sentence = "Criterion «opposition», level 2, English: The short text has 61 characters."
    alert.get_by_role("link", name=sentence).click()
    field = page.locator("[name=level-2-short-en]")
    assert field.evaluate("one => one === document.activeElement")
    assert field.get_attribute("aria-describedby") == "id_level-2-short-en_error"
    assert_accessible(page)
    screenshot(page, f"rubric-errors-{width}")


def press(page, name: str, role: str = "button") -> None:
    """Tab to the button or field of this name, from where the focus is; press or fill nothing else."""
    wanted = page.get_by_role(role, name=re.compile(f"^{re.escape(name)}:?$")).first
    for _step in range(120):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError(f"Tab does not reach «{name}»")


@pytest.mark.parametrize("js", [True, False])
def test_keyboard_alone_writes_a_rubric(cast, context, js):
    page = context(user=cast.coordinator, js=js).new_page()
    page.goto("/coordinate/rubrics/")
    press(page, "Code", "textbox")
    page.keyboard.type("by-hand")
    page.keyboard.press("Tab")
    page.keyboard.type("By hand")
    press(page, "Start it")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    press(page, "Name", "textbox")
    page.keyboard.type("Clarity")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("1")
    press(page, "Add it")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    press(page, "Level 0, short, at most 60 characters (English)", "textbox")
    page.keyboard.type("Not clear.")
    press(page, "One more level")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.get_by_role("status").inner_text().endswith("Nothing is saved yet.")
    page.locator("[name=level-2-value]").focus()
    page.keyboard.type("2")
    press(page, "Save")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    version = RubricVersion.objects.get(rubric__code="by-hand")
    [item] = document_of(version)["criteria"]
    assert (item["key"], item["name"]) == ("clarity", {"en": "Clarity"})
    assert [level["value"] for level in item["levels"]] == [0, 1, 2]
    assert item["levels"][0]["short"] == {"en": "Not clear."}


def test_preview_is_what_a_judge_sees(cast, context):
    page = context(user=cast.coordinator).new_page()
    page.goto(f"/coordinate/rubrics/{cast.panel.rubric_version_id}/preview/?language=en")
    group = page.get_by_role("group", name="Opposition")
    group.get_by_role("radio", name="2 opposition 2").check()
    group.get_by_text("More", exact=False).first.click()
    assert group.get_by_text("2 → 3").is_visible()
    assert_accessible(page)
