"""Large pages as somebody sees them: opened, scrolled and clicked through in Chromium.

A page is open once everything of it is loaded and two frames have been painted since; every figure
is the median of five.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from playwright.sync_api import Page

from tests.benchmarks.report import Figures
from tests.web.browser import DESK, chromium, started

TURNS: Final = 5
PAINTED: Final = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
END: Final = "scrollTo(0, document.documentElement.scrollHeight)"


def browsed(url: str, pages: Mapping[str, str]) -> Figures:
    """Milliseconds until somebody goes on; nothing where no browser is."""
    path = chromium()
    if path is None:
        return {}
    with started(path) as browser:
        page = browser.new_page(viewport={"width": DESK, "height": 900})
        figures: dict[str, float] = {}
        for name in ("map", "events"):
            figures[f"{name}_opens_ms"] = _timed(page, partial(page.goto, url + pages[name]))
            figures[f"{name}_scrolls_ms"] = _timed(page, partial(page.evaluate, END))
        figures["iterations_open_ms"] = _followed(page, url + pages["map"], ".cell >> nth=-1")
        figures["history_opens_ms"] = _followed(page, url + pages["events"], "#timeline-head a")
        history = url + pages["events"] + "/history"
        figures["history_goes_on_ms"] = _followed(page, history, "a[rel=next] >> nth=0")
        page.close()
    return figures


def _timed(page: Page, work: Callable[[], object]) -> float:
    taken = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        work()
        page.evaluate(PAINTED)
        taken.append(1_000 * (time.perf_counter() - begun))
    return statistics.median(taken)


def _followed(page: Page, url: str, link: str) -> float:
    """How long it takes until what a link leads to is there."""
    taken = []
    for _ in range(TURNS):
        page.goto(url)
        begun = time.perf_counter()
        page.locator(link).click()
        page.wait_for_url(lambda there: there != url)
        page.wait_for_load_state()
        page.evaluate(PAINTED)
        taken.append(1_000 * (time.perf_counter() - begun))
    return statistics.median(taken)
