"""The console in headless Chromium: seen, clicked, typed, and looked at by axe-core."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.calls.house import House
from tests.web.browser import DESK, PATIENCE_MS, PHONE, Scheme, Seen, looking
from tests.web.maps import over_items
from tests.web.payloads import PAYLOADS
from tests.web.visitor import Visitor

SOON_SECONDS = 1.0
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def seen(browser: Browser, home: House) -> Iterator[Seen]:
    with looking(browser, home.url) as found:
        yield found


def call(page: Page, name: str, **fields: str) -> None:
    """Open the form of a call, fill it in and send it."""
    page.locator(f"summary[data-call={name}]").click()
    form = page.locator("details.call[open]")
    for field, value in fields.items():
        element = form.locator(f'[name="input.{field}"]')
        if element.evaluate("one => one.tagName") == "SELECT":
            element.select_option(value)
        else:
            element.fill(value)
    form.get_by_role("button", name=f"Call {name}").click()


def mark(page: Page, state: str, value: str) -> None:
    """Wait until a state of the graph has a mark."""
    page.locator(f'g[data-state="{state}"][data-mark="{value}"]').wait_for()


def test_an_orders_whole_life_by_clicking(seen: Seen) -> None:
    page = seen.go("/")
    page.get_by_role("link", name="Start", exact=True).click()
    page.wait_for_url("**/start*")
    page.wait_for_load_state()
    page.get_by_label("Machine").select_option("order")
    page.get_by_label("Name").fill("clicked")
    page.get_by_label("Input").fill('{"order_id": "clicked", "total": 129}')
    page.get_by_role("button", name="Start").click()
    mark(page, "Pending", "waiting")
    expect(page.locator("#why")).to_contain_text("it takes pay and cancel now")
    call(page, "ship")
    expect(page.locator("#said")).to_contain_text("ship was refused in Pending: pay first")
    call(page, "pay", amount="129")
    expect(page.locator("#said")).to_contain_text("pay was accepted: Pending → ScreenForFraud")
    mark(page, "OnHold", "waiting")
    seen.shot("order-on-hold")
    call(page, "pay", cleared="true")
    mark(page, "Paid", "waiting")
    call(page, "ship")
    mark(page, "Shipped", "done")
    expect(page.locator("#head")).to_contain_text("SUCCEEDED")
    call(page, "cancel")
    expect(page.locator("#said")).to_contain_text("too late, start a return")
    seen.shot("order-shipped")
    page.locator('g[data-state="ScreenForFraud"]').click()
    expect(page.locator("#state")).to_contain_text("celery:fraud.screen")
    expect(page.locator("#state")).to_contain_text('"score": 10')
    seen.shot("order-state")


def test_a_page_that_is_open_shows_a_transition_within_a_second(seen: Seen, home: House) -> None:
    taken = []
    for n in range(3):
        address = home.start(f"live-{n}")
        home.until(address, "Pending")
        page = seen.go(f"/executions/{address}")
        mark(page, "Pending", "waiting")
        page.wait_for_timeout(700)  # until it is watched
        home.client.call(address, "cancel")
        begun = time.monotonic()
        mark(page, "Cancelled", "done")
        taken.append(time.monotonic() - begun)
    assert min(taken) < SOON_SECONDS, taken


def test_a_list_that_is_open_shows_what_is_started(seen: Seen, home: House) -> None:
    page = seen.go("/?machine=order")
    page.wait_for_timeout(700)
    home.start("appears")
    page.get_by_role("link", name="appears").wait_for()


def test_the_input_of_an_earlier_execution_is_used_again(seen: Seen, home: House) -> None:
    home.start("earlier", order_id="earlier", total=1)
    home.start("later", order_id="later", total=2)
    page = seen.go("/start?machine=order")
    given = page.get_by_role("textbox", name="Input")
    expect(given).to_have_value('{\n  "order_id": "later",\n  "total": 2\n}')
    page.get_by_text("earlier: ").click()
    page.get_by_role("button", name="Use this input").click()
    expect(given).to_have_value(re.compile('"order_id": "earlier"'))
    given.fill("{")
    expect(page.locator("#input-said")).to_contain_text("No JSON yet")


def test_a_page_that_can_hear_no_news_asks_again_by_itself(seen: Seen, home: House) -> None:
    address = home.start("unheard")
    home.until(address, "Pending")
    seen.page.route("**/live?*", lambda asked: asked.fulfill(status=503, body="too many"))
    seen.page.clock.install()
    with seen.page.expect_response("**/live?*"):
        page = seen.go(f"/executions/{address}")
    home.client.call(address, "cancel")
    seen.page.clock.fast_forward(6_000)
    mark(page, "Cancelled", "done")
    assert all("503" in one for one in seen.wrong), seen.wrong
    seen.wrong.clear()


def test_a_review_that_stalls_escalates_before_somebodys_eyes(seen: Seen, home: House) -> None:
    address = home.start("stalls", order_id="stalls", remind=1, review=3)
    home.until(address, "Pending")
    page = seen.go(f"/executions/{address}")
    call(page, "pay", amount="5")
    mark(page, "OnHold", "waiting")
    expect(page.locator("#why")).to_contain_text("timer")
    mark(page, "ReviewStalled", "done")
    mark(page, "Cancelled", "done")
    expect(page.locator("#effects")).to_contain_text("celery:reviews.remind")
    expect(page.locator("#timeline")).to_contain_text("ReviewStalled")
    seen.shot("review-stalled")


def test_keys_alone_start_call_and_stop(seen: Seen, home: House) -> None:
    page = seen.go("/start?machine=order")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    _tab_to(page, "#name")
    page.keyboard.type("typed")
    _tab_to(page, "#input")
    page.keyboard.press("Control+A")  # it holds what the last order was started with
    page.keyboard.type("{}")
    _tab_to(page, "form.sheet button.main")
    page.keyboard.press("Enter")
    mark(page, "Pending", "waiting")
    _tab_to(page, "summary[data-call=pay]")
    page.keyboard.press("Enter")
    _tab_to(page, '[name="input.amount"]')
    page.keyboard.type("7")
    _tab_to(page, "details[open] button.main")
    page.keyboard.press("Enter")
    mark(page, "OnHold", "waiting")
    _tab_to(page, 'a:has(g[data-state="Paid"]), g[data-state="Paid"] a')
    page.keyboard.press("Enter")
    expect(page.locator("#state")).to_contain_text("It has not been entered")
    _tab_to(page, ".call.danger summary")
    page.keyboard.press("Enter")
    _tab_to(page, "#stop-who")
    page.keyboard.type("Ada")
    _tab_to(page, "#stop-reason")
    page.keyboard.type("the customer called")
    _tab_to(page, "button.danger")
    page.keyboard.press("Enter")
    expect(page.locator("#head")).to_contain_text("ABORTED")
    expect(page.locator("#trail")).to_contain_text("Ada stop: the customer called")
    assert home.client.get("order:typed")["status"] == "ABORTED"


def _tab_to(page: Page, selector: str) -> None:
    for _ in range(90):
        if page.locator(selector).first.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no key leads to {selector}")


MAP = over_items(
    {
        "Is": {"Type": "Pass", "Assign": {"seen.$": "$"}, "Next": "Rests"},
        "Rests": {"Type": "Wait", "Seconds": 600, "End": True},
    }
)


@pytest.mark.parametrize(("width", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_pages_are_for_everybody_on_every_screen(
    browser: Browser, home: House, width: int, scheme: Scheme
) -> None:
    address = home.start(f"wide-{width}", order_id="1")
    home.until(address, "Pending")
    home.client.call(address, "pay", {"amount": 3})
    home.until(address, "OnHold")
    home.client.deploy("each", json.dumps(MAP))
    each = home.client.start("each", f"each-{width}", {"items": list(range(30))})
    paths = {
        "executions": "/",
        "start": "/start?machine=order",
        "execution": f"/executions/{address}",
        "state": f"/executions/{address}?state=ScreenForFraud#state",
        "history": f"/executions/{address}/history",
        "map": f"/executions/{each}?state=Is",
        "iterations": f"/executions/{each}/iterations?state=Each&first=3&last=5",
        "machines": "/machines",
        "machine": "/machines/order",
        "editor": "/machines/order/edit",
        "waits": "/waits",
        "workers": "/workers",
        "health": "/health?examine=1",
        "nothing": "/?name=nobody",
    }
    with looking(browser, home.url, width=width, scheme=scheme) as seen:
        for name, path in paths.items():
            page = seen.go(path)
            page.evaluate("document.querySelectorAll('details.call').forEach(one => one.open = 1)")
            faults = seen.faults()
            assert faults == [], f"{name}: {faults}"
            assert seen.overflows() == 0, name
            page.reload()
            seen.shot(f"{name}-{width}")


SAGA: dict[str, Any] = {
    "QueryLanguage": "JSONata",
    "StartAt": "Reserve",
    "States": {
        "Reserve": {
            "Type": "Task",
            "Resource": "celery:inventory.reserve",
            "Arguments": {"order": "{% $states.input %}", "item": {"sku": "CUP", "quantity": 1}},
            "Compensate": {
                "Resource": "celery:inventory.release",
                "Arguments": {
                    "order": "{% $states.input %}",
                    "item": {"sku": "CUP", "quantity": 1},
                },
                "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}],
            },
            "Output": "{% $states.input %}",
            "Next": "Charge",
        },
        "Charge": {
            "Type": "Task",
            "Resource": "celery:payments.charge",
            "Arguments": {"order": "{% $states.input %}", "amount": 5},
            "End": True,
        },
    },
}


def test_a_saga_that_fails_undoes_itself_before_somebodys_eyes(seen: Seen, home: House) -> None:
    home.client.deploy("saga", json.dumps(SAGA))
    order = {"order_id": "s", "payment": {"card": "4000-0000-0000-0002"}}
    slow = {"payments.charge": {"seconds": 1}, "inventory.release": {"seconds": 5}}
    page = seen.go(f"/executions/{home.client.start('saga', 's', {**order, 'simulate': slow})}")
    expect(page.locator("#head .status")).to_have_text("UNDOING")
    expect(page.locator("#why")).to_contain_text("waits until what was done is undone")
    mark(page, "Reserve", "compensated")
    mark(page, "Charge", "failed")
    expect(page.locator("#head .status")).to_have_text("FAILED")
    expect(page.locator("#undoing")).to_contain_text("undone")
    seen.shot("saga-undone")
    stuck = {"inventory.release": {"fail": 99, "error": "Closed"}}
    page = seen.go(f"/executions/{home.client.start('saga', 't', {**order, 'simulate': stuck})}")
    expect(page.locator("#undoing")).to_contain_text("Closed")
    mark(page, "Reserve", "blocked")
    expect(page.locator("#why")).to_contain_text("retry or skip it")
    page.get_by_text("Retry or skip", exact=True).click()
    form = page.locator("#undoing form")
    form.get_by_label("Your name").fill("Ada")
    form.get_by_label("Reason").fill("the shop is closed for good")
    seen.shot("saga-blocked")
    form.get_by_role("button", name="Skip").click()
    expect(page.locator("#head .status")).to_have_text("FAILED")
    expect(page.locator("#trail")).to_contain_text("the shop is closed for good")


def test_the_editor_says_what_is_wrong_and_saves_only_what_is_valid(seen: Seen) -> None:
    page = seen.go("/machines/new")
    page.get_by_label("Name").fill("written")
    area = page.get_by_label("Definition")
    area.fill('{"StartAt": "A", "States": {"A": {"Type": "Pass"}}}')
    expect(page.locator("#findings")).to_contain_text("/States/A")
    expect(page.locator("#save")).to_be_disabled()
    area.fill('{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
    expect(page.locator("#findings svg.machine")).to_be_visible()
    expect(page.locator("#save")).to_be_enabled()
    page.locator("#save").click()
    expect(page.locator("h1")).to_contain_text("written")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Definition").fill(
        '{"StartAt": "B", "States": {"B": {"Type": "Pass", "End": true}}}'
    )
    page.locator("#save").click()
    expect(page.locator("pre.diff .added").first).to_contain_text('"StartAt": "B"')
    seen.shot("machine-difference")


def test_a_hundred_texts_that_would_run_are_texts(seen: Seen, home: House) -> None:
    states: dict[str, Any] = {
        "Waits": {
            "Type": "Await",
            "On": {"say": {"Refuse": "{% $states.context.Call.Input.text %}"}},
            "After": [{"Seconds": 1, "Next": "0"}],
        }
    }
    for n, payload in enumerate(PAYLOADS):
        states[str(n)] = {
            "Type": "Pass",
            "Comment": payload,
            "Assign": {f"v{n}": [payload, {payload: payload}]},
            "Next": str(n + 1),
        }
    states[str(len(PAYLOADS))] = {"Type": "Pass", "Next": PAYLOADS[2]}
    states[PAYLOADS[2]] = {"Type": "Pass", "Next": "Fails"}
    states["Fails"] = {"Type": "Fail", "Error": PAYLOADS[0], "Cause": "\n".join(PAYLOADS)}
    definition = {
        "Comment": PAYLOADS[0],
        "QueryLanguage": "JSONata",
        "Calls": {"say": {"Comment": PAYLOADS[1]}},
        "StartAt": "Waits",
        "States": states,
    }
    home.client.deploy("texts", json.dumps(definition))
    address = home.client.start("texts", "texts", {"payloads": list(PAYLOADS)})
    visitor = Visitor(home.url)
    for payload in PAYLOADS:
        home.parts.service.call_execution(address, "say", json.dumps({"text": payload}))
        home.parts.service.operations.note(address, payload[:80], payload, payload)
        for name in ("name", "machine", "state", "status", "since"):
            answer = visitor.http.get("/", params={name: payload})
            assert answer.status_code == 200
            assert "<" not in payload or payload not in answer.text
    visitor.http.close()
    home.until(address, "Fails")
    here = f"/executions/{address}"
    for path in (
        here,
        f"{here}?state=Waits",
        f"{here}?state=50",
        f"{here}/history",
        f"{here}/history?after=200",
        "/machines/texts",
        "/machines/texts/edit",
        "/start?machine=texts",
        "/?status=FAILED",
        "/waits",
        f"/?name={PAYLOADS[0]}",
    ):
        page = seen.go(path)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.wait_for_timeout(50)
        assert page.evaluate("window.ran") is None, path
    seen.go(here)
    seen.shot("hostile-texts")
