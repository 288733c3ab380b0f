"""The pages of an open panel, as people see them: coordinator's and judge's."""

import pytest
from django.urls import reverse

from ratings.services import judging, running
from tests.browser.conftest import assert_accessible, screenshot
from tests.cast import CRITERIA, NOW, open_cast, rate_slot

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast(transactional_db):
    made = open_cast(judges=2, dilemmas=2, batch_size=5)
    for slot in made.slots(0)[:5]:
        rate_slot(slot, dict.fromkeys(CRITERIA, 1))
    first = made.slots(0)[0]
    judging.flag(slot=first, kind="damaged", note="The end is missing.", at=NOW)
    running.reply(flag=first.flags.get(), state="answered", text="It is whole.", actor="", at=NOW)
    judging.flag(slot=made.slots(1)[0], kind="attention", note="", at=NOW)
    judging.hand_in(batch=first.batch, at=NOW)
    running.reopen(slot=first, reason="a slip", actor="", at=NOW)
    others = [s for s in made.slots(1) if s.response_id != first.response_id]
    running.take_out(panel=made.panel, response=others[-1].response, reason="cut", actor="", at=NOW)
    return made


@pytest.mark.looks
@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [(1280, "light", "ca"), (768, "dark", "es"), (390, "light", "en")],
)
def test_running_pages_pass_axe_and_fit(cast, context, width, scheme, language):
    for person in (cast.coordinator, cast.judges[0]):
        person.language = language
        person.save(update_fields=["language"])
    slug, seat = cast.panel.slug, cast.seat(0)
    visits = [
        (cast.coordinator, reverse(name, args=[slug, *more]))
        for name, more in (
            ("overview", ()), ("progress", ()), ("flags", ()), ("seat", (seat.pk,)), ("texts_out", ()),
        )
    ]  # fmt: skip
    visits += [(cast.judges[0], reverse("desk"))]
    for person, path in visits:
        page = context(user=person, width=width, scheme=scheme, locale=language).new_page()
        page.goto(path)
        for details in page.locator("details").all():
            details.evaluate("one => { one.open = true; }")
        assert_accessible(page)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, path
        screenshot(page, f"running-{path.strip('/').split('/')[-1]}-{width}")
        page.context.close()


def test_a_panel_is_run_through_its_troubles_in_the_browser(cast, context):
    """A judge leaves, a note is answered, a response is rated again."""
    page = context(user=cast.coordinator).new_page()
    page.goto(reverse("seat", args=[cast.panel.slug, cast.seat(1).pk]))
    page.locator("#leave-reason").fill("illness")
    page.get_by_role("button", name="Note that the judge leaves").click()
    page.get_by_text("Noted. Invite somebody").wait_for()
    page.goto(reverse("flags", args=[cast.panel.slug]))
    page.locator("summary").first.click()
    page.get_by_label("To the judge").first.fill("Thank you, we have looked.")
    page.get_by_role("button", name="Keep the answer").first.click()
    page.get_by_text("the judge reads it on their desk").wait_for()
    judge = context(user=cast.judges[0]).new_page()
    judge.goto(reverse("desk"))
    judge.locator("p", has_text="opened again for you").get_by_role("link").click()
    judge.locator("#c-synthesis input[value='3']").check()
    judge.get_by_role("button", name="Done: next response").click()
    judge.wait_for_url("**/judge/")
    assert judge.get_by_text("opened again for you").count() == 0
    scores = cast.slots(0)[0].submissions.order_by("number").last().ratings
    assert scores.get(criterion__key="synthesis").score == 3
