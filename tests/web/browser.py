"""Headless Chromium, and a page that notes everything that goes wrong in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import ROOT

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
SCREENSHOTS: Final = ROOT / "screenshots"
"""Kept after a run, to be looked at; git does not see them."""
PATIENCE_MS: Final = 30_000
PHONE: Final = 390
DESK: Final = 1_440

Scheme = Literal["light", "dark"]


def chromium() -> str | None:
    """The browser of this machine."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def started(path: str) -> Iterator[Browser]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Seen:
    """A page with what went wrong in it: nothing may."""

    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def shot(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def faults(self) -> list[str]:
        """What axe-core finds that is serious."""
        found: dict[str, Any] = Axe().run(self.page).response
        return [
            f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    def overflows(self) -> int:
        """By how much the page is wider than the screen."""
        root = "document.documentElement"
        return int(self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))


@contextmanager
def looking(
    browser: Browser, url: str, *, width: int = DESK, scheme: Scheme = "light"
) -> Iterator[Seen]:
    """A page of a visitor of his own; fails if anything went wrong in it."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    seen = Seen(page, url)

    def wrong(what: str) -> None:
        seen.wrong.append(what)

    page.on("console", lambda said: wrong(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong(str(error)))
    page.on("dialog", lambda dialog: wrong(f"dialog {dialog.message}"))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(url) else wrong(f"asks for {asked.url}"),
    )
    try:
        yield seen
    finally:
        context.close()
    assert seen.wrong == []


def picture(page: Page, path: Path) -> None:
    page.screenshot(path=path)
