"""A real Chromium against a live server. A test asks for `new_page`, or for `page`."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.environment import in_ci

_HERE = Path(__file__).parent
SCREENSHOTS = _HERE.parents[1] / "var" / "screenshots"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_AXE = """async (tags) => {
  const found = await axe.run(document, {runOnly: {type: 'tag', values: tags}});
  return found.violations.map(
    (one) => one.id + ' (' + one.help + '): ' + one.nodes.map((n) => n.html).join('  '));
}"""

# Three languages on three looks: each language and each look once; all nine with `--long`.
LOOKS = [
    pytest.param(width, scheme, language, marks=[] if shown else pytest.mark.long)
    for place, (width, scheme) in enumerate([(1280, "light"), (768, "dark"), (390, "light")])
    for number, language in enumerate(["ca", "es", "en"])
    for shown in [place == number]
]

NewContext = Callable[..., BrowserContext]
NewPage = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the session: the machine's own, as Playwright's cannot be had everywhere."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        remedy = "Chromium is not installed. Type: sudo apt-get install chromium"
        pytest.fail(remedy) if in_ci() else pytest.skip(remedy)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser, live_server: Any) -> Iterator[NewContext]:
    """Make browser profiles, each with cookies and storage of its own.

    `context(user=None, js=True, width=1280, height=800, scheme="light", locale="en")`
    """
    made: list[BrowserContext] = []

    def make(
        *,
        user: Any = None,
        js: bool = True,
        width: int = 1280,
        height: int = 800,
        scheme: Any = "light",
        locale: str = "en",
    ) -> BrowserContext:
        one = browser.new_context(
            base_url=live_server.url,
            java_script_enabled=js,
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            locale=locale,
            reduced_motion="reduce",
        )
        one.set_default_timeout(10_000)
        made.append(one)
        if user is not None:
            sign_in(one, user, live_server.url)
        return one

    yield make
    for one in made:
        # A page that still saves would meet the tables while they are emptied.
        one.close()


@pytest.fixture
def new_page(context: NewContext) -> NewPage:
    """Make a page in a profile of its own; it takes what `context` takes."""
    return lambda **options: context(**options).new_page()


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


def sign_in(where: Page | BrowserContext, user: Any, url: str) -> None:
    """Put a session of the person into the browser; `url` is the live server's."""
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    profile = where.context if isinstance(where, Page) else where
    profile.add_cookies([{"name": name, "value": client.cookies[name].value, "url": url}])


def accessibility_problems(page: Page) -> list[str]:
    """Return what axe finds on the page against WCAG 2.2 AA. The page needs scripts."""
    page.evaluate((_HERE / "axe.min.js").read_text())
    return list(page.evaluate(_AXE, _WCAG))


def assert_accessible(page: Page) -> None:
    problems = accessibility_problems(page)
    assert not problems, f"{page.url}\n" + "\n".join(problems)


def screenshot(page: Page, name: str) -> Path:
    """Keep a picture of the whole page as `var/screenshots/NAME.png`, to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    file = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=file, full_page=True)
    return file
