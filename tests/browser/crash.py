"""The server is killed while a page saves, and comes back: `python -m tests.browser.crash`.

A process of its own, because the tests' live server is a thread that nobody can kill. It leaves
with 0 if everything that the page called saved is in the database, once.
"""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.benchmarks import judging as bench
from tests.browser.conftest import ARGUMENTS


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory(prefix="awb-crash-") as folder, sync_playwright() as play:
        os.environ |= bench.ENVIRONMENT | {
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'db.sqlite3'}"
        }
        bench.JUDGES = 1
        session, path = bench.prepare(dilemmas=2)[0]
        port = bench.free_port()
        web = bench.serve(port)
        bench.wait_for(port)
        browser = play.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        profile = browser.new_context(locale="en")
        address = f"http://127.0.0.1:{port}"
        profile.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        page = profile.new_page()
        page.goto(address + path)
        box, state = page.locator("textarea").first, page.locator("[data-save-state]")
        box.fill("before")
        page.locator("[data-state='saved']").wait_for()
        acknowledged = [box.input_value()]
        # the reply never comes: the server dies between the request and the answer
        os.killpg(web.pid, signal.SIGSTOP)
        box.fill("before, and during")
        page.wait_for_timeout(1200)
        os.killpg(web.pid, signal.SIGKILL)
        web.wait(20)
        page.locator("[data-state='offline'], [data-state='server']").wait_for()
        assert "kept on this device" in state.inner_text(), state.inner_text()
        box.fill("before, and during, and while it was away")
        page.wait_for_timeout(900)
        web = bench.serve(port)
        try:
            bench.wait_for(port)
            page.locator("[data-state='saved']").wait_for(timeout=20_000)
            acknowledged.append(box.input_value())
            page.reload()
            assert page.locator("textarea").first.input_value() == acknowledged[-1]
        finally:
            bench.stop(web)
            browser.close()
        stored = _stored()
        assert stored == [acknowledged[-1]], stored
    print("Nothing was lost.")
    return 0


def _stored() -> list[str]:
    from concurrent.futures import ThreadPoolExecutor

    def read() -> list[str]:
        from ratings.models import Draft

        rows = Draft.objects.exclude(version=0).values_list("fields", flat=True)
        return [field["value"] for fields in rows for field in fields.values()]

    # Playwright keeps an event loop in this thread, in which Django refuses to ask the database
    with ThreadPoolExecutor(1) as other:
        return other.submit(read).result()


if __name__ == "__main__":
    sys.exit(main())
