"""What went wrong for users of other tools, in a real browser (their public reports, by kind)."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client

from ratings.models import Draft, Rating, Submission
from ratings.services import judging
from tests.cast import CRITERIA, NOW, open_cast

pytestmark = pytest.mark.django_db(transaction=True)
NASTY = (
    "العدد 3 < 5 (صحيح) · שלום · 👩‍👩‍👧 📉📰 · <script>alert(1)</script> <b>no</b> & &amp; · "
    "**bold** _it_ # no heading · $a_1 + b_2$ costs $5 and $6 · a\u200bb · l·l · «cita» \\n \\(x\\)"
)


@pytest.fixture
def cast():
    return open_cast(judges=1)


def path(slot) -> str:
    return f"/judge/batch/{slot.batch.code}/{slot.position}/"


def stored(slot) -> dict[str, str]:
    return {k: v["value"] for k, v in Draft.objects.get(slot=slot).fields.items()}


def saved(page) -> None:
    page.locator("[data-state='saved']").wait_for()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="it brings a database of its own")
def test_server_killed_during_a_save_loses_nothing():
    done = subprocess.run(
        [sys.executable, "-m", "tests.browser.crash"], capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "text", [NASTY, "Una frase llarga, amb accents. " * 646], ids=["nasty", "20000"]
)
def test_texts_are_kept_to_the_character(cast, context, text):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    page.locator("textarea").first.fill(text)
    saved(page)
    assert stored(slot) == {"0-opposition-rationale": text}
    page.reload()
    assert page.locator("textarea").first.input_value() == text
    assert page.locator("script:not([src])").count() == 0
    for key in CRITERIA:
        page.locator(f"#c-{key} input[value='2']").check()
    page.get_by_role("button", name="Done: next response").click()
    page.wait_for_url("**/2/")
    assert Rating.objects.get(criterion__key="opposition").rationale == text


def test_text_of_one_response_never_ends_up_on_another(cast, context):
    first, second = cast.slots(0)[:2]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(first))
    page.locator("textarea").first.type("AAA")
    page.goto(path(second))  # at once: no pause in which it would be saved
    assert page.locator("textarea").first.input_value() == ""
    page.locator("textarea").first.type("BBB")
    page.go_back()
    page.locator("textarea").first.wait_for()
    assert page.locator("textarea").first.input_value() == "AAA"
    page.go_forward()
    page.locator("textarea").first.wait_for()
    assert page.locator("textarea").first.input_value() == "BBB"
    page.goto("/judge/")
    page.wait_for_timeout(300)
    assert stored(first) == {"0-opposition-rationale": "AAA"}
    assert stored(second) == {"0-opposition-rationale": "BBB"}


def test_back_after_done_is_an_edit_of_the_same_rating(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    for key in CRITERIA:
        page.locator(f"#c-{key} input[value='2']").check()
    page.get_by_role("button", name="Done: next response").click()
    page.wait_for_url("**/2/")
    page.go_back()
    assert page.locator("#c-opposition [type=radio][value='2']").is_checked()
    page.locator("#c-opposition input[value='1']").check()
    saved(page)
    page.get_by_role("button", name="Done: next response").click()
    page.wait_for_url("**/2/")
    numbers = list(Submission.objects.filter(slot=slot).values_list("number", flat=True))
    assert numbers == [1, 2], "both are kept, in order"
    last = Rating.objects.get(submission__number=2, criterion__key="opposition")
    assert last.score == 1


def test_done_sent_many_times_at_once_is_one_submission(cast):
    slot = cast.slots(0)[0]
    changes = {f"0-{key}-answer": judging.Change("", "2") for key in CRITERIA}
    judging.save(slot=slot, changes=changes, at=NOW)
    client = Client()
    client.force_login(cast.judges[0])

    def press(_number: int) -> int:
        other = Client()
        other.cookies = client.cookies
        try:
            return other.post(path(slot), {"action": "done"}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        codes = list(threads.map(press, range(12)))
    assert set(codes) == {302}
    assert Submission.objects.filter(slot=slot).count() == 1
    assert Rating.objects.count() == len(CRITERIA)


def test_figures_and_letters_typed_in_a_reason_choose_nothing(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    page.locator("textarea").first.focus()
    page.keyboard.type("in 2024 I saw 3 cases, see 5.1 d m ? ")
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    saved(page)
    assert stored(slot) == {"0-opposition-rationale": "in 2024 I saw 3 cases, see 5.1 d m ? "}


def test_shift_3_of_a_catalan_keyboard_is_a_dot_in_a_text_and_nothing_outside(cast, context):
    slot = cast.slots(0)[0]
    page = context(user=cast.judges[0]).new_page()
    page.goto(path(slot))
    dot = """(target) => document.querySelector(target).dispatchEvent(new KeyboardEvent('keydown',
      {key: '·', code: 'Digit3', shiftKey: true, bubbles: true}))"""
    page.locator("#c-opposition input[value='0']").focus()
    page.evaluate(dot, "#c-opposition input[value='0']")
    page.wait_for_timeout(300)
    assert stored(slot) == {}, "no level is chosen by the key's place"
    page.locator("textarea").first.focus()
    page.keyboard.insert_text("col·lega")
    saved(page)
    assert stored(slot) == {"0-opposition-rationale": "col·lega"}
