"""Judges' pages for everyone: axe, zoom, narrow screens, targets, focus, forced colours."""

import pytest

from ratings.models import Draft
from ratings.services import clarifying, judging
from tests.browser.conftest import LOOKS, accessibility_problems, assert_accessible, screenshot
from tests.cast import NOW, open_cast, rate_all

pytestmark = pytest.mark.django_db(transaction=True)
# 200 % and 400 % of a screen 1280 wide are 640 and 320 pixels of the page's own
ZOOMED = (640, 320)

SMALL_TARGETS = """() => [...document.querySelectorAll('a, button, summary, input, textarea, label.level')]
  .filter((one) => one.checkVisibility() && !one.closest('p, li, dd, .visually-hidden, .skip')
    && !one.closest('label.level, label.choice') )
  .map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
  .filter(([_, box]) => box.width > 1 && (box.height < 23.5 || box.width < 23.5))
  .map(([html, box]) => `${html} ${Math.round(box.width)}x${Math.round(box.height)}`)"""

COVERED = """() => {
  const one = document.activeElement, box = one.getBoundingClientRect();
  if (one === document.body || box.height === 0) return '';
  const y = Math.min(box.top + 3, innerHeight - 1), x = Math.min(box.left + 3, innerWidth - 1);
  const top = document.elementFromPoint(x, y);
  const inside = top && (top === one || one.contains(top) || top.contains(one) || top.closest('label') === one.closest('label'));
  return inside ? '' : `${one.outerHTML.slice(0, 80)} at ${Math.round(y)} under ${top && top.outerHTML.slice(0, 60)}`;
}"""


@pytest.fixture
def cast():
    made = open_cast(judges=1, consent=False, guesses=2)
    clarifying.clarify(panel=made.panel, text="A clarification.", actor="", at=NOW)
    return made


def consented(cast):
    judging.consent(judge=cast.seat(0), language="ca", conflicts="", exposure="no", at=NOW)


def rating_path(cast) -> str:
    slot = cast.slots(0)[0]
    return f"/judge/batch/{slot.batch.code}/{slot.position}/"


@pytest.mark.looks
@pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
def test_pages_around_the_rating_pass_axe(cast, context, language, width, scheme):
    judge = cast.judges[0]
    judge.language = language
    judge.save(update_fields=["language"])
    page = context(user=judge, width=width, scheme=scheme, locale=language).new_page()
    slug = cast.panel.slug

    def look(name, address):
        page.goto(address)
        assert accessibility_problems(page) == [], (name, language, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        screenshot(page, f"{name}-{language}-{width}")

    look("consent", f"/judge/{slug}/consent/")
    page.locator("main button.primary").click()
    assert accessibility_problems(page) == [], "consent refused"
    consented(cast)
    look("clarifications", f"/judge/{slug}/clarifications/")
    look("preferences", f"/reading/?next=/judge/{slug}/instructions/")
    page.goto(rating_path(cast))
    page.locator("button.primary").click()  # what is missing
    page.locator("#missing-title").wait_for()
    assert accessibility_problems(page) == [], "missing"
    screenshot(page, f"missing-{language}-{width}")
    for details in page.locator("details").all():
        details.evaluate("one => one.open = true")
    for box in page.locator("input[value=cannot]").all():
        box.check()
    page.locator(".criteria").evaluate("one => one.scrollTo(0, 0)")  # nothing half scrolled away
    screenshot(page, f"unfolded-{language}-{width}")
    assert accessibility_problems(page) == [], "everything unfolded"
    page.locator("[data-state='saved']").wait_for()
    page.goto("/judge/")
    rate_all(cast, lambda *where: 1)  # and hands in
    look("finished", "/judge/")
    look("guess", f"/judge/{slug}/guess/")


@pytest.mark.looks
@pytest.mark.parametrize("width", ZOOMED)
def test_zoomed_to_200_and_400_percent_nothing_is_lost_sideways(cast, context, width):
    consented(cast)
    page = context(user=cast.judges[0], width=width, height=512).new_page()
    for address in (rating_path(cast), "/judge/", "/reading/", "/judge/panel/instructions/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert_accessible(page)
    page.goto(rating_path(cast))
    screenshot(page, f"rate-zoomed-{width}")


@pytest.mark.looks
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_focus_is_never_under_a_bar_and_goes_in_order(cast, context, width):
    consented(cast)
    page = context(user=cast.judges[0], width=width, height=600).new_page()
    page.goto(rating_path(cast))
    page.locator("input[value='2']").first.check()
    page.locator("body").evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    places = []
    for _step in range(60):
        page.keyboard.press("Tab")
        assert page.evaluate(COVERED) == ""
        name = page.evaluate("document.activeElement.name || document.activeElement.tagName")
        places.append(name)
        if name == "action" and len(places) > 8:
            break
    criteria = [p.split("-")[1] for p in places if p.startswith("0-")]
    assert sorted(set(criteria), key=criteria.index) == [
        "opposition",
        "synthesis",
        "anchoring",
        "coherence",
    ]
    assert places[-1] == "action", "the way to «Done» is no longer than sixty keys"


@pytest.mark.parametrize("width", [1280, 390])
def test_targets_are_large_enough(cast, context, width):
    consented(cast)
    page = context(user=cast.judges[0], width=width).new_page()
    page.goto(rating_path(cast))
    assert page.evaluate(SMALL_TARGETS) == []
    if width == 390:
        rows = page.locator("fieldset.criterion > label.level").all()
        assert all(row.bounding_box()["height"] >= 44 for row in rows)
    sizes = page.evaluate(
        "[...document.querySelectorAll('textarea, input[type=text]')]"
        ".map((one) => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= 16, "a smaller one makes phones zoom in"


def test_names_and_states_in_the_accessibility_tree(cast, context):
    consented(cast)
    page = context(user=cast.judges[0]).new_page()
    page.goto(rating_path(cast))
    group = page.get_by_role("group", name="Opposition")
    level = group.get_by_role("radio", name="2 opposition 2")
    level.check()
    assert level.is_checked()
    assert group.get_by_role("textbox", name="Reason. Criterion: Opposition").is_visible()
    assert group.get_by_role("radio", name="I cannot judge this").is_visible()
    quiet = page.locator("[data-announce]")
    page.locator("[data-state='saved']").wait_for()
    assert quiet.inner_text() == "", "a save is not announced"


def test_a_problem_is_announced_once_and_its_end_too(cast, context):
    consented(cast)
    browser = context(user=cast.judges[0])
    page = browser.new_page()
    page.goto(rating_path(cast))
    page.evaluate("""() => {
      window.said = [];
      new MutationObserver(() => said.push(document.querySelector('[data-announce]').textContent))
        .observe(document.querySelector('[data-announce]'), {childList: true, characterData: true, subtree: true});
    }""")
    browser.set_offline(True)
    for text in ("one", "one two", "one two three"):
        page.locator("textarea").first.fill(text)
        page.wait_for_timeout(900)
    browser.set_offline(False)
    page.locator("[data-state='saved']").wait_for()
    said = page.evaluate("said")
    assert [s[:9] for s in said] == ["Not saved", "Everythin"], said
    assert (
        Draft.objects.exclude(version=0).get().fields["0-opposition-rationale"]["value"]
        == "one two three"
    )


@pytest.mark.looks
def test_forced_colours_and_no_motion(cast, browser, live_server, context):
    consented(cast)
    page = context(user=cast.judges[0]).new_page()
    page.emulate_media(forced_colors="active")
    page.goto(rating_path(cast))
    page.locator("input[value='2']").first.check()
    screenshot(page, "rate-forced-colours")
    moving = page.evaluate(
        "[...document.querySelectorAll('*')].filter((one) => { const s = getComputedStyle(one);"
        " return s.animationName !== 'none' || parseFloat(s.transitionDuration) > 0; }).length"
    )
    assert moving == 0, "nothing moves that was not asked to"
