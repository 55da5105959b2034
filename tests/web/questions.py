"""Five questions of a support person, and a shop in which they are asked.

Each is answered from the first page on; whatever is pressed or chosen on the way is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.calls.house import House, eventually
from tests.conftest import ROOT
from tests.web.browser import PATIENCE_MS
from tests.web.visitor import Visitor

MOST_CLICKS: Final = 3
expect.set_options(timeout=PATIENCE_MS)


class Support:
    """Somebody who looks for an answer, and counts the clicks."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.clicks = 0
        page.goto(url)

    def click(self, what: Locator) -> None:
        self.clicks += 1
        what.click()
        self.page.wait_for_load_state()

    def choose(self, label: str, option: str) -> None:
        self.clicks += 1
        self.page.get_by_label(label).select_option(option)

    def link(self, name: str) -> Locator:
        return self.page.get_by_role("link", name=name, exact=True)

    def open(self, name: str) -> None:
        """Go to an execution by its name."""
        self.page.get_by_label("Name begins with").fill(name)
        self.click(self.page.get_by_role("button", name="Find"))
        self.click(self.link(name))
        self.page.locator("svg.machine").wait_for()

    def reads(self, place: str, *texts: str) -> None:
        for text in texts:
            expect(self.page.locator(place)).to_contain_text(text)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks, and how it is answered; `place`: where the answer stands, else on top."""

    text: str
    answer: Callable[[Support], None]
    picture: str
    place: str = ""


def _why_not_shipped(support: Support) -> None:
    support.open("4711")
    support.reads("#why", "OnHold waits to be called; it takes pay and cancel now")
    support.reads("#answers", "ship", "refused", "the fraud review is not finished")


def _who_cancelled(support: Support) -> None:
    support.open("4713")
    support.reads("#trail", "Ada call cancel: the customer found it cheaper")


def _which_stall(support: Support) -> None:
    support.click(support.link("Waits"))
    support.click(support.link("OnHold"))
    names = support.page.locator("#rows tbody a")
    expect(names.first).to_have_text("4707")
    support.reads("#rows", "4709", "4711", "in 23 h")


def _what_was_refunded(support: Support) -> None:
    support.open("4713")
    support.reads("#effects", "celery:payments.refund", "done", '{"refund":"re_4713","amount":129}')


def _what_failed(support: Support) -> None:
    support.choose("Status", "FAILED")
    support.click(support.page.get_by_role("button", name="Find"))
    support.reads("#list", "4720", "CardDeclined")
    support.click(support.link("4720"))
    support.reads("#head", "FAILED", "CardDeclined")
    support.reads(
        "#why", "ChargeCard failed before, and its error was caught: CardDeclined the bank"
    )
    support.page.locator('g[data-state="ChargeCard"][data-mark="caught"]').wait_for()


QUESTIONS: Final = (
    Question("Why is 4711 not shipped?", _why_not_shipped, "why-not-shipped"),
    Question("Who cancelled it, and why?", _who_cancelled, "who-cancelled", "#acts"),
    Question("Which reviews stall?", _which_stall, "reviews"),
    Question("What did the refund answer?", _what_was_refunded, "refund", "#effects-part"),
    Question("What failed last night, and why?", _what_failed, "failed-why"),
)


# -- the shop ------------------------------------------------------------------------------------


def shop(home: House) -> None:
    """Orders as a shop has them on an ordinary day."""
    definition = (ROOT / "definitions" / "order-fulfilment.asl.json").read_text()
    home.client.deploy("order-fulfilment", definition)
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
    assert "the fraud review is not finished" in home.said("order:4711", "ship")
    paid = {"order_id": "4720", "customer": {"name": "Ada", "email": "ada@example.com"}}
    items = [{"sku": "TEAPOT", "quantity": 1, "price": 3900}]
    card = {"payment": {"card": "4000-0000-0000-0002"}, "shipping": {"city": "Graz"}}
    home.client.start("order-fulfilment", "4720", {**paid, "items": items, **card})
    eventually(lambda: home.client.get("order-fulfilment:4720")["status"] != "RUNNING")
    visitor = Visitor(home.url)
    visitor.call("order:4713", "cancel", who="Ada", reason="the customer found it cheaper")
    visitor.http.close()
    home.until("order:4713", "Cancelled")
    service = home.parts.service
    effects = service.execution_effects
    eventually(lambda: all(one.status == "ended" for one in effects("order:4713")))
