"""The front door in a browser, and that the browser tests' own machinery holds."""

import pytest
from django.db import connection

from dilemmas import guards
from ratings.guards import ratings_guards
from tests.browser.conftest import NewPage, assert_accessible, screenshot
from tests.cast import draft_panel


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_first_page_is_accessible(new_page: NewPage, scheme: str, width: int) -> None:
    page = new_page(scheme=scheme, width=width)
    page.goto("/")
    assert_accessible(page)
    screenshot(page, f"first-{width}-{scheme}")


def test_first_page_asks_nobody_else_and_breaks_no_rule(new_page: NewPage) -> None:
    page = new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto("/")
    home = page.url
    assert asked and all(url.startswith(home) for url in asked)
    assert not said, "the console is silent, which includes the Content-Security-Policy"


def test_first_page_without_scripts(new_page: NewPage) -> None:
    page = new_page(js=False)
    page.goto("/")
    assert page.locator("main").inner_text().strip()


@pytest.mark.parametrize("time", ["first", "second"])
def test_guarded_rows_are_gone_after_each_test_and_guards_are_back(
    live_server: object, time: str
) -> None:
    draft_panel(slug="same")  # would fail the second time if the first were still there
    every = guards.dilemmas_guards() + ratings_guards()
    assert guards.expected(connection, every) <= guards.installed(connection)


def test_signed_in_person_is_known(new_page: NewPage, live_server: object) -> None:
    page = new_page(user=draft_panel().coordinator)
    page.goto("/")
    assert page.locator("form[action*='sign-out']").count()
