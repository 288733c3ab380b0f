"""The coordinator's page on the order: its pictures and tables, on every screen."""

import pytest

from tests.browser.conftest import NewPage, assert_accessible, screenshot
from tests.cast import draft_panel

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.looks
@pytest.mark.parametrize(
    ("width", "scheme", "locale"), [(1280, "light", "en"), (390, "dark", "ca")]
)
def test_order_page_passes_axe_and_fits(
    new_page: NewPage, width: int, scheme: str, locale: str
) -> None:
    cast = draft_panel(dilemmas=30, repeats=10, judges_planned=4, judges_per_response=3)
    cast.coordinator.language = locale
    cast.coordinator.save()
    page = new_page(user=cast.coordinator, width=width, scheme=scheme, locale=locale)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto("/coordinate/panel/order/")
    assert page.locator("svg[role=img]").count() == 13
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no sideways scroll"
    assert_accessible(page)
    assert not said, "the console is silent, which includes the Content-Security-Policy"
    screenshot(page, f"order-{width}")
