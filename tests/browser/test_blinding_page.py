"""The coordinator's blinding pages: readable, accessible, and honest about what still tells."""

import pytest

from awb_panel.accounts.models import User
from dilemmas.models import Blinding
from dilemmas.services.blinding import decide_blinding
from dilemmas.services.responses import import_responses
from ratings.models import Membership
from ratings.services.protocols import write_protocol
from tests.browser.conftest import assert_accessible, screenshot
from tests.cast import CONDITIONS, NOW, draft_panel, table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.looks]
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
    ("width", "scheme", "language"),
    [(1280, "light", "en"), (390, "dark", "ca"), (768, "light", "es"), (320, "light", "ca")],
)
def test_blinding_pages_pass_axe(cast, context, width, scheme, language):
    cast.coordinator.language = language
    cast.coordinator.save(update_fields=["language"])
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
    box = page.locator("textarea[name=text-1]")
    box.fill(box.input_value().replace("MON contexts", "[other contexts]"))
    page.get_by_role("button", name="Use this text all the same").click()
    page.wait_for_url("**/blinding/")
    newest = Blinding.objects.newest_in(cast.panel.response_set).get(version=held.version)
    assert newest.parts.get().text == (
        "**Phenomenon.** It rains.\n\nThe figure says so, and [other contexts] agree."
    )


def hold_three(cast):
    """Three texts that wait, of three conditions of one dilemma; return them as the list has them."""
    for condition in CONDITIONS[1:3]:
        row = {"dilemma": "HND-001", "condition": condition, "text": CODED, "language": "en"}
        import_responses(
            content=table([row]), name="responses.csv", set_name="panel", at=NOW, update=True
        )
    rows = Blinding.objects.newest_in(cast.panel.response_set).undecided()
    return list(rows.order_by("version__response__condition__label"))


def state_of(row) -> str:
    return Blinding.objects.filter(version=row.version).order_by("-number").first().state


def tab_to(page, name: str) -> None:
    """Press Tab until the element with this accessible text has the focus."""
    for _step in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText || ''").strip().startswith(name):
            return
    raise AssertionError(f"Tab does not reach «{name}»")


@pytest.mark.parametrize("js", [True, False])
def test_keyboard_alone_goes_through_the_list(cast, context, js):
    rows = hold_three(cast)
    page = context(user=cast.coordinator, js=js).new_page()
    page.goto(f"/coordinate/panel/blinding/{rows[0].pk}/#text")
    tab_to(page, "Accept the imported text")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/blinding/{rows[1].pk}/#text")
    tab_to(page, "Hold this response back")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("Nothing is left of it without the codes.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/blinding/{rows[2].pk}/#text")
    tab_to(page, "← Previous response")
    page.keyboard.press("Enter")
    page.get_by_text("Nothing is left of it without the codes.").first.wait_for()
    assert [state_of(row) for row in rows] == ["accepted", "held_back", "held"]
    assert Blinding.objects.get(state="held_back").actor == cast.coordinator.opaque_id


def test_keys_decide_and_leaf(cast, context):
    rows = hold_three(cast)
    page = context(user=cast.coordinator).new_page()
    page.goto(f"/coordinate/panel/blinding/{rows[0].pk}/")
    page.keyboard.press("n")
    page.get_by_text("Response 4 of 30").wait_for()
    page.keyboard.press("p")
    page.get_by_text("Response 3 of 30").wait_for()
    box = page.locator("textarea[name=text-1]")
    box.fill("It rains")
    box.press("n")
    box.press("Control+Enter")
    page.wait_for_url(f"**/blinding/{rows[1].pk}/#text")
    newest = Blinding.objects.newest_in(cast.panel.response_set).get(version=rows[0].version)
    assert newest.parts.get().text == "It rainsn", "a letter in the text is a letter"


def test_differences_are_more_than_a_colour(cast, context):
    held = Blinding.objects.newest_in(cast.panel.response_set).undecided().get()
    page = context(user=cast.coordinator).new_page()
    page.goto(f"/coordinate/panel/blinding/{held.pk}/")
    page.locator("textarea[name=text-1]").fill("It rains, says the figure.")
    page.get_by_role("button", name="Show the differences").click()
    lines = page.locator("del, ins").evaluate_all(
        "all => [...new Set(all.map((one) => one.tagName + ' '"
        " + getComputedStyle(one).textDecorationLine))].sort()"
    )
    assert lines == ["DEL line-through", "INS underline"]
    assert "(new:)" in page.locator("ins").first.inner_text()
    assert_accessible(page)
    assert state_of(held) == "held", "looking saves nothing"


@pytest.mark.parametrize("width", [1280, 390])
def test_a_second_person_confirms(cast, context, width):
    write_protocol(panel=cast.panel, changes={"two_person_blinding": True}, actor="", at=NOW)
    rows = hold_three(cast)
    actor = cast.coordinator.opaque_id
    for row in rows:
        decide_blinding(blinding_=row, texts={1: "It [rains]."}, actor=actor, at=NOW)
    second = User.objects.create_user("second@panel.test", language="en")
    Membership.objects.create(panel=cast.panel, user=second, role="coordinator")
    page = context(user=second, width=width).new_page()
    page.goto("/coordinate/panel/blinding/")
    assert_accessible(page)
    screenshot(page, f"blinding-two-persons-{width}")
    page.locator("tbody a").first.click()
    for _text in rows:
        assert_accessible(page)
        screenshot(page, f"blinding-confirm-{width}")
        with page.expect_navigation():
            page.get_by_role("button", name="Confirm this decision").click()
    assert page.get_by_text("0 decisions wait for a second person.").is_visible(), "at the list"
