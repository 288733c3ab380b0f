"""A real Chromium against a live server."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

_HERE = Path(__file__).parent
SCREENSHOTS = _HERE.parents[1] / "var" / "screenshots"
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        if os.environ.get("CI"):
            pytest.fail("CI needs chromium")
        pytest.skip("chromium is not installed. Type: sudo apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=_ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser, live_server: Any) -> Iterator[Callable[..., BrowserContext]]:
    """Make browser contexts: `context(user=…, js=True, width=…, height=…, scheme=…, locale=…)`."""
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
            base_url=live_server.url.replace("127.0.0.1", "localhost"),
            java_script_enabled=js,
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            locale=locale,
            reduced_motion="reduce",
        )
        one.set_default_timeout(10_000)
        made.append(one)
        if user is not None:
            sign_in(one, user, live_server.url.replace("127.0.0.1", "localhost"))
        return one

    yield make
    for one in made:
        one.close()


@pytest.fixture
def page(context: Callable[..., BrowserContext]) -> Page:
    return context().new_page()


def sign_in(context: BrowserContext, user: Any, url: str) -> None:
    """Put a session of the person into the browser."""
    client = Client()
    client.force_login(user)
    value = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": value, "url": url}])


def accessibility_problems(page: Page) -> list[str]:
    """Return what axe finds on the page against WCAG 2.2 AA."""
    page.evaluate((_HERE / "axe.min.js").read_text())
    found = page.evaluate(
        """async () => (await axe.run(document, {runOnly: {type: 'tag', values:
        ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}})).violations
        .map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).join(', '))"""
    )
    return list(found)


def screenshot(page: Page, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")
