"""Makes the pictures of README.md and docs/console.md: `python -m tests.web.pictures`."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, FloatRect, Page

from tests.calls.house import House, eventually, house
from tests.conftest import ROOT
from tests.web.browser import Scheme, chromium, started

FOLDER: Final = ROOT / "docs" / "pictures"
WIDTH: Final = 1_180
MARGIN: Final = 16
SETTLE_MS: Final = 300
"""Until what was scrolled is painted."""
CUSTOMERS: Final = ("low", "low", "high", "low")


def orders(home: House) -> None:
    """Orders as a shop has them on an ordinary day."""
    home.client.deploy(
        "order-fulfilment", (ROOT / "definitions" / "order-fulfilment.asl.json").read_text()
    )
    for number in range(4703, 4715):
        home.start(str(number), order_id=str(number), total=100 + number % 7 * 17)
        home.until(f"order:{number}", "Pending")
    for number in (4704, 4706, 4707, 4709, 4711, 4713):
        home.client.call(f"order:{number}", "pay", {"amount": 129})
        home.until(f"order:{number}", "OnHold")
    for number in (4704, 4706, 4713):
        home.client.call(f"order:{number}", "pay", {"cleared": True})
        home.until(f"order:{number}", "Paid")
    home.client.call("order:4704", "ship")
    home.until("order:4704", "Shipped")
    paid = {"order_id": "4720", "customer": {"name": "Ada", "email": "ada@example.com"}}
    items = [{"sku": "TEAPOT", "quantity": 1, "price": 3900}]
    card = {"payment": {"card": "4000-0000-0000-0002"}, "shipping": {"city": "Graz"}}
    home.client.start("order-fulfilment", "4720", {**paid, "items": items, **card})
    eventually(lambda: home.client.get("order-fulfilment:4720")["status"] != "RUNNING")


def ask(page: Page, url: str) -> None:
    """A support person's day: five questions, each answered within three clicks."""
    # Why is 4711 not shipped?
    page.goto(url)
    call_ship(page, url, "4711")
    keep(page, "why-not-shipped")
    # Who cancelled 4713, and why?
    page.goto(f"{url}/executions/order:4713")
    page.locator("summary[data-call=cancel]").click()
    form = page.locator("details.call[open]")
    form.get_by_label("Your name").fill("Ada")
    form.get_by_label("Reason").fill("the customer found it cheaper")
    form.get_by_role("button", name="Call cancel").click()
    page.locator('g[data-state="Cancelled"][data-mark="done"]').wait_for()
    page.get_by_text("celery:payments.refund").first.wait_for()
    page.wait_for_timeout(1_500)
    page.reload()
    part(page, "#acts", "who-cancelled")
    # What did the refund answer?
    part(page, "#effects-part", "refund")
    # Which reviews stall?
    page.goto(f"{url}/waits?state=OnHold")
    keep(page, "reviews")
    # What failed last night, and why?
    page.goto(f"{url}/?status=FAILED")
    keep(page, "failed")
    page.locator("table.list a").first.click()
    page.locator("svg.machine").wait_for()
    keep(page, "failed-why")


def call_ship(page: Page, url: str, number: str) -> None:
    page.goto(f"{url}/executions/order:{number}")
    page.locator("summary[data-call=ship]").click()
    page.get_by_role("button", name="Call ship").click()
    page.locator("#said .notice").wait_for()


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
        orders(home)
        time.sleep(3)
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
