"""The pages on which a panel is set up, as people see them."""

import pytest

from ratings.models import Panel
from ratings.services.freezing import freeze_panel
from ratings.services.invitations import invite
from tests.browser.conftest import assert_accessible, screenshot
from tests.cast import NOW, draft_panel

pytestmark = pytest.mark.django_db(transaction=True)


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
