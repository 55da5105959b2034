"""Makes the pictures of README.md and docs/console.md: `python -m tests.web.pictures`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, FloatRect, Page

from tests.calls.house import house
from tests.conftest import ROOT
from tests.web.browser import Scheme, chromium, started
from tests.web.questions import QUESTIONS, Support, shop

FOLDER: Final = ROOT / "docs" / "pictures"
WIDTH: Final = 1_180
MARGIN: Final = 16
SETTLE_MS: Final = 300
"""Until what was scrolled is painted."""


def ask(page: Page, url: str) -> None:
    """A support person's day: five questions, each answered within three clicks."""
    for one in QUESTIONS:
        one.answer(Support(page, url))
        if one.place:
            part(page, one.place, one.picture)
        else:
            keep(page, one.picture)


def keep(page: Page, name: str, height: int = 760) -> None:
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.wait_for_load_state()
    page.wait_for_timeout(SETTLE_MS)  # what the address leads to is scrolled to
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(SETTLE_MS)
    page.screenshot(path=FOLDER / f"{name}.png")


def part(page: Page, selector: str, name: str) -> None:
    page.locator(selector).scroll_into_view_if_needed()
    page.wait_for_timeout(SETTLE_MS)
    box = page.locator(selector).bounding_box()
    assert box is not None  # it is on the page
    clip: FloatRect = {
        "x": box["x"] - MARGIN,
        "y": box["y"] - MARGIN,
        "width": box["width"] + 2 * MARGIN,
        "height": box["height"] + 2 * MARGIN,
    }
    page.screenshot(path=FOLDER / f"{name}.png", clip=clip)


def title(browser: Browser, url: str, scheme: Scheme) -> None:
    """The picture of README.md: an order in the console."""
    page = browser.new_page(
        viewport={"width": WIDTH, "height": 1_180}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(f"{url}/executions/order:4706?state=ScreenForFraud")
    page.locator("svg.machine").wait_for()
    page.screenshot(path=FOLDER / "order.png")
    page.close()


def main() -> int:
    path = chromium()
    if path is None:
        sys.stderr.write("there is no chromium on the PATH\n")
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ.pop("ORCHESTRATOR_LEDGER_URL", None)
    with tempfile.TemporaryDirectory() as folder, house(Path(folder)) as home:
        shop(home)
        with started(path) as browser:
            title(browser, home.url, "light")
            page = browser.new_page(
                viewport={"width": WIDTH, "height": 760}, reduced_motion="reduce"
            )
            ask(page, home.url)
            page.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
