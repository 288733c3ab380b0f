"""The report as people see it: on paper, on a phone, dark and light, in three languages."""

import pytest

from tests.browser.conftest import assert_accessible, screenshot
from tests.integration.test_report_figures import closed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.looks]


@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [(1280, "light", "ca"), (768, "dark", "es"), (390, "light", "en")],
)
def test_report_passes_axe_and_fits(context, width, scheme, language):
    cast, _ = closed()
    cast.observer.language = language
    cast.observer.save(update_fields=["language"])
    page = context(user=cast.observer, width=width, scheme=scheme, locale=language).new_page()
    for name in ("", "rationales/"):
        page.goto(f"/report/{cast.panel.slug}/{name}")
        screenshot(page, f"report-{name.strip('/') or 'first'}-{width}")
        for details in page.locator("details").all():
            details.evaluate("one => { one.open = true; }")
        assert_accessible(page)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, "no sideways scrolling of the page itself"
        screenshot(page, f"report-{name.strip('/') or 'all'}-{width}")
