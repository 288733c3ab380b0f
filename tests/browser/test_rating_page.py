"""The rating page in a real browser: mouse, keyboard only, scripts off, trouble on the way."""

import gzip
import re

import pytest

from ratings.models import Draft, Rating, Submission
from tests.browser.conftest import LOOKS, accessibility_problems, screenshot
from tests.cast import CRITERIA, open_cast

pytestmark = pytest.mark.django_db(transaction=True)
LONG = "Perquè la col·lega ho diu així. "


@pytest.fixture
def cast():
    return open_cast(judges=2)


def path(slot) -> str:
    return f"/judge/batch/{slot.batch.code}/{slot.position}/"


def stored(slot) -> dict[str, str]:
    return {k: v["value"] for k, v in Draft.objects.get(slot=slot).fields.items()}


def saved(page) -> None:
    page.locator("[data-state='saved']").wait_for()


def test_keyboard_alone_rates_a_response(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    page.locator("fieldset.criterion input[type=radio]").first.focus()
    for key in "0123":
        page.keyboard.press(key)
    page.keyboard.press("Tab")
    page.keyboard.type("Shift+3 makes · in l·l; 0123 d ? stay text")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/2/")
    scores = Rating.objects.filter(submission__slot=slot).order_by("criterion__position")
    assert list(scores.values_list("score", flat=True)) == [0, 1, 2, 3]
    assert scores.last().rationale == "Shift+3 makes · in l·l; 0123 d ? stay text"


def test_enter_on_a_radio_saves_and_does_not_finish(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    page.locator("input[value='2']").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    saved(page)
    assert stored(slot) == {"0-opposition-answer": "2"}
    assert not Submission.objects.exists()


def test_scripts_off_everything_works(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0], js=False).new_page()
    page.goto(path(slot))
    page.locator("textarea").first.fill(LONG)
    page.get_by_role("button", name="Save", exact=True).click()
    assert page.locator("textarea").first.input_value() == LONG
    page.get_by_role("button", name="Done: next response").click()
    assert page.get_by_text("4 things are missing").is_visible()
    page.get_by_role("link", name="Opposition: Choose a level").click()
    for fieldset in page.locator("fieldset.criterion").all():
        fieldset.locator("input[value='1']").check()
    page.get_by_role("button", name="Done: next response").click()
    assert page.url.endswith("/2/")
    rating = Rating.objects.get(submission__slot=slot, criterion__key="opposition")
    assert (rating.score, rating.rationale) == (1, LONG)


def test_scripts_off_session_gone_text_is_carried(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0], js=False)
    page = browser.new_page()
    page.goto(path(slot))
    page.locator("textarea").first.fill(LONG)
    cookies = browser.cookies()
    browser.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Save", exact=True).click()
    assert page.get_by_role("heading", name="Please sign in again").is_visible()
    assert page.get_by_text(LONG.strip()).is_visible()
    assert stored(slot) == {}, "nothing is stored unauthenticated"
    browser.add_cookies([c for c in cookies if c["name"] == "sessionid"])
    page.get_by_role("button", name="Save what I wrote").click()
    assert stored(slot) == {"0-opposition-rationale": LONG}


def test_offline_text_is_kept_and_sent_later(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    page = browser.new_page()
    page.goto(path(slot))
    browser.set_offline(True)
    page.locator("textarea").first.fill(LONG)
    page.locator("[data-state='offline']").wait_for()
    assert "kept on this device" in page.locator("[data-save-state]").inner_text()
    assert stored(slot) == {}
    browser.set_offline(False)
    saved(page)
    assert stored(slot) == {"0-opposition-rationale": LONG}
    assert page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('awb:')).length") == 0


def test_unsent_text_comes_back_after_the_page_was_closed(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    page = browser.new_page()
    page.goto(path(slot))
    browser.set_offline(True)
    page.locator("textarea").first.fill(LONG)
    page.locator("[data-state='offline']").wait_for()
    page.close()
    browser.set_offline(False)
    again = browser.new_page()
    again.goto(path(slot))
    saved(again)
    assert again.locator("textarea").first.input_value() == LONG
    assert stored(slot) == {"0-opposition-rationale": LONG}


def test_two_tabs_in_conflict_keep_both_texts(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    one, two = browser.new_page(), browser.new_page()
    one.goto(path(slot))
    two.goto(path(slot))
    one.locator("textarea").first.fill("one")
    saved(one)
    two.locator("textarea").first.fill("two")
    two.get_by_role("button", name="Put them together").wait_for()
    assert stored(slot)["0-opposition-rationale"] == "one"
    two.get_by_role("button", name="Put them together").click()
    saved(two)
    assert stored(slot)["0-opposition-rationale"] == "one\n\ntwo"


def test_two_tabs_in_conflict_on_a_score_say_it_in_words(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    one, two = browser.new_page(), browser.new_page()
    one.goto(path(slot))
    two.goto(path(slot))
    one.locator("#c-opposition input[value='2']").check()
    saved(one)
    two.locator("#c-opposition input[value='3']").check()
    two.get_by_text("The one already saved: 2 opposition 2").wait_for()
    two.get_by_role("button", name="Use the one already saved").click()
    saved(two)
    assert two.locator("#c-opposition input[value='2']").is_checked()
    assert stored(slot)["0-opposition-answer"] == "2"


def test_signed_out_in_another_tab_text_stays_and_is_sent_after(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    page = browser.new_page()
    page.goto(path(slot))
    cookies = browser.cookies()
    browser.clear_cookies(name="sessionid")
    page.locator("textarea").first.fill(LONG)
    page.get_by_role("link", name="Sign in again").wait_for()
    browser.add_cookies([c for c in cookies if c["name"] == "sessionid"])
    saved(page)
    assert stored(slot) == {"0-opposition-rationale": LONG}


def test_other_judge_on_this_browser_never_gets_the_text(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    page = browser.new_page()
    page.goto(path(slot))
    from tests.browser.conftest import sign_in

    sign_in(browser, cast.judges[1], page.url.split("/judge/")[0])
    page.locator("textarea").first.fill(LONG)
    page.locator("[data-state='other']").wait_for()
    assert all(not Draft.objects.get(slot=s).fields for s in cast.slots(0) + cast.slots(1))


def test_double_click_on_done_is_one_submission(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    for fieldset in page.locator("fieldset.criterion").all():
        fieldset.locator("input[value='1']").check()
    page.get_by_role("button", name="Done: next response").dblclick(no_wait_after=True)
    page.get_by_text("Response 2 of 10").first.wait_for()
    assert Submission.objects.filter(slot=slot).count() == 1


@pytest.mark.looks
@pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
def test_judge_pages_pass_axe(cast, context, language, width, scheme):
    judge = cast.judges[0]
    judge.language = language
    judge.save(update_fields=["language"])
    slot = cast.slots(0)[0]
    page = context(user=judge, width=width, scheme=scheme).new_page()
    batch = f"/judge/batch/{slot.batch.code}/"
    for name, address in (
        ("desk", "/judge/"), ("batch", batch), ("rate", path(slot)),
        ("instructions", f"/judge/{cast.panel.slug}/instructions/"),
    ):  # fmt: skip
        page.goto(address)
        assert accessibility_problems(page) == [], (name, language, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        screenshot(page, f"{name}-{language}-{width}")


def test_rating_page_is_light(cast, context):
    """Cold: at most 8 requests and 100 KB compressed for a response of 4 KB."""
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    bodies = []
    page.on("response", lambda response: bodies.append((response.url, response.body())))
    page.goto(path(slot), wait_until="networkidle")
    hosts = {re.sub(r"^https?://([^/:]+).*", r"\1", url) for url, _body in bodies}
    assert hosts == {"localhost"}, "no request leaves the site"
    assert len(bodies) <= 8
    assert sum(len(gzip.compress(body)) for _url, body in bodies) + 4096 <= 100_000


def test_criteria_of_the_fixture_are_all_on_the_page(cast, context):
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(cast.slots(0)[0]))
    assert page.locator("fieldset.criterion").count() == len(CRITERIA)


def test_reasons_for_not_judging_are_reached_with_tab_and_are_one_answer(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    first = page.locator("fieldset.criterion").first
    assert not first.locator(".reasons").is_visible()
    first.locator("input[value='0']").focus()
    page.keyboard.press("ArrowUp")  # the group wraps: the last one is «I cannot judge this»
    assert first.locator("input[value='cannot']").is_checked()
    saved(page)
    assert stored(slot) == {"0-opposition-answer": "cannot:"}
    for _ in range(3):  # over «More» to the reasons
        page.keyboard.press("Tab")
        if "reason" in page.evaluate("document.activeElement.name || ''"):
            break
    page.keyboard.press("Space")
    page.locator(".reasons input:focus:checked").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("a comment")
    page.keyboard.press("Control+Enter")
    page.locator("#missing-title").wait_for()
    assert stored(slot)["0-opposition-answer"] == "cannot:knowledge"
    assert stored(slot)["0-opposition-note"] == "a comment"
    assert (
        page.evaluate("document.activeElement.getAttribute('aria-labelledby')") == "missing-title"
    )
    with page.expect_response(lambda reply: reply.url.endswith("/draft/")):
        first.locator("input[value='2']").check()
    assert stored(slot)["0-opposition-answer"] == "2", "a score takes the reason's place"


def test_unsent_text_is_sent_from_any_page_of_the_site(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    page = browser.new_page()
    page.goto(path(slot))
    browser.set_offline(True)
    page.locator("textarea").first.fill(LONG)
    page.locator("[data-state='offline']").wait_for()
    page.close()
    browser.set_offline(False)
    desk = browser.new_page()
    desk.goto("/judge/")
    desk.get_by_text("has been saved now").wait_for()
    assert stored(slot) == {"0-opposition-rationale": LONG}
    assert desk.evaluate("Object.keys(localStorage).filter(k => k.startsWith('awb:')).length") == 0


def test_another_page_leaves_alone_what_an_open_page_holds(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    page = browser.new_page()
    page.goto(path(slot))
    page.route("**/draft/", lambda route: route.abort())
    page.locator("textarea").first.fill("one")
    page.locator("[data-state='offline']").wait_for()
    desk = browser.new_page()
    desk.goto("/judge/")
    desk.wait_for_timeout(600)
    assert stored(slot) == {}, "its own page sends it"
    page.unroute("**/draft/")
    page.locator("textarea").first.fill("one two")
    saved(page)
    assert stored(slot) == {"0-opposition-rationale": "one two"}


def test_signing_out_with_unsent_text_asks_once_more(cast, context):
    slot = cast.slots(0)[0]
    browser = context(user=cast.judges[0])
    page = browser.new_page()
    page.goto(path(slot))
    page.route("**/draft/", lambda route: route.abort())
    page.locator("textarea").first.fill(LONG)
    page.locator("[data-state='offline']").wait_for()
    desk = browser.new_page()
    desk.goto("/judge/")
    desk.get_by_role("button", name="Sign out").click()
    desk.get_by_text("Some text has not been sent yet").wait_for()
    desk.get_by_role("button", name="Sign out all the same").click()
    desk.wait_for_url("**/")
    assert desk.evaluate("Object.keys(localStorage).filter(k => k.startsWith('awb:')).length") == 1


def test_passage_is_marked_with_the_mouse_and_with_a_key(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    select = """(words) => {
      const node = document.querySelector('section.response p').firstChild;
      const at = node.data.indexOf(words), range = new Range();
      range.setStart(node, at); range.setEnd(node, at + words.length);
      getSelection().removeAllRanges(); getSelection().addRange(range);
    }"""
    text = page.locator("section.response p").first.inner_text()
    first, second = text[:12].strip(), text[13:24].strip()
    synthesis = page.locator("#c-synthesis")
    synthesis.locator("summary", has_text="Quote").click()
    page.evaluate(select, first)
    synthesis.get_by_role("button", name="Add what is selected in the text").click()
    saved(page)
    page.evaluate(select, second)
    page.locator("body").press("m")
    page.wait_for_timeout(100)
    with page.expect_response(lambda reply: reply.url.endswith("/draft/")):
        pass
    assert stored(slot) == {"0-synthesis-evidence": f"{first}\n{second}"}
    assert page.evaluate("CSS.highlights.get('evidence').size") == 2
    page.reload()
    assert page.evaluate("CSS.highlights.get('evidence').size") == 2


def test_reading_choices_hold_without_scripts(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0], js=False).new_page()
    page.goto(path(slot))
    page.get_by_role("link", name="Text", exact=True).click()
    page.get_by_label("Largest").check()
    page.get_by_label("Dark").check()
    page.get_by_role("button", name="Set and go back").click()
    page.wait_for_url(f"**{path(slot)}")
    sizes = [page.locator(one).first for one in ("section.response p", "html")]
    assert sizes[1].get_attribute("data-theme") == "dark"
    screenshot(page, "rating-largest-dark")


def test_coming_back_finds_the_place(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0], width=390, height=700).new_page()
    page.goto(path(slot))
    page.evaluate("scrollTo(0, 900)")
    page.goto("/judge/")
    page.goto(path(slot))
    page.wait_for_timeout(200)
    assert page.evaluate("scrollY") > 700
