"""The coordinator's blinding pages: readable, accessible, and honest about what still tells."""

import pytest

from dilemmas.models import Blinding
from dilemmas.services.responses import import_responses
from tests.browser.conftest import assert_accessible, screenshot
from tests.cast import CONDITIONS, NOW, draft_panel, table

pytestmark = pytest.mark.django_db(transaction=True)
CODED = "**FEN — Phenomenon.** It rains.\n\nThe figure (OBJ) says so, and MON contexts agree."


@pytest.fixture
def cast(transactional_db, lift_guards):
    made = draft_panel(dilemmas=6)
    row = {"dilemma": "HND-001", "condition": CONDITIONS[0], "text": CODED, "language": "en"}
    import_responses(
        content=table([row]), name="responses.csv", set_name="panel", at=NOW, update=True
    )
    return made


@pytest.mark.looks
@pytest.mark.parametrize(
    ("width", "scheme", "language"), [(1280, "light", "en"), (390, "dark", "ca")]
)
def test_blinding_pages_pass_axe(cast, context, width, scheme, language):
    page = context(user=cast.coordinator, width=width, scheme=scheme, locale=language).new_page()
    held = Blinding.objects.newest_in(cast.panel.response_set).undecided().get()
    for name, path in (("list", ""), ("one", f"{held.pk}/")):
        page.goto(f"/coordinate/panel/blinding/{path}")
        assert_accessible(page)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, "no sideways scrolling of the page itself"
        screenshot(page, f"blinding-{name}-{width}")


def test_a_text_that_still_tells_is_asked_about_once(cast, context):
    page = context(user=cast.coordinator).new_page()
    held = Blinding.objects.newest_in(cast.panel.response_set).undecided().get()
    page.goto(f"/coordinate/panel/blinding/{held.pk}/")
    assert page.locator("mark.by-hand").inner_text().startswith("MON")
    page.get_by_role("button", name="Use this text", exact=True).click()
    assert page.get_by_role("alert").get_by_text("«MON»").is_visible()
    assert_accessible(page)
    box = page.locator("textarea")
    box.fill(box.input_value().replace("MON contexts", "[other contexts]"))
    page.get_by_role("button", name="Use this text all the same").click()
    page.wait_for_url("**/blinding/")
    newest = Blinding.objects.newest_in(cast.panel.response_set).get(version=held.version)
    assert newest.parts.get().text == (
        "**Phenomenon.** It rains.\n\nThe figure says so, and [other contexts] agree."
    )
