"""The console without scripts: pages and forms, over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.calls.house import House
from tests.web.visitor import Visitor, said, text


@pytest.fixture
def visitor(home: House) -> Iterator[Visitor]:
    found = Visitor(home.url)
    yield found
    found.http.close()


def test_the_whole_life_of_an_order(home: House, visitor: Visitor) -> None:
    started = visitor.send("/start", machine="order", name="life", input='{"order_id": "life"}')
    assert started.headers["location"] == "/executions/order%3Alife"
    home.until("order:life", "Pending")
    assert visitor.call("order:life", "ship") == "ship was refused in Pending: pay first"
    said_pay = visitor.call("order:life", "pay", **{"input.amount": "129"})
    assert said_pay == "pay was accepted: Pending → ScreenForFraud"
    home.until("order:life", "OnHold")
    cleared = visitor.call("order:life", "pay", **{"input.cleared": "true"})
    assert cleared == "pay was accepted: OnHold → Paid"
    assert visitor.call("order:life", "ship", json="{}") == "ship was accepted: Paid → Shipped"
    late = visitor.call("order:life", "cancel", who="Ada", reason="a friend asked")
    assert late == "cancel was refused in Shipped: too late, start a return"
    page = text(visitor.read("/executions/order:life"))
    assert "SUCCEEDED" in page
    assert "Ada call cancel : a friend asked" in page or "Ada call cancel: a friend asked" in page
    assert "Shipped" in text(visitor.read("/?name=lif"))


def test_a_mistake_in_a_form_is_said_beside_it_and_changes_nothing(
    home: House, visitor: Visitor
) -> None:
    answer = visitor.send("/start", machine="order", name="bad", input="{")
    assert answer.status_code == 400
    assert "Invalid State Machine Execution Input" in said(answer.text)
    assert visitor.send("/start", machine="nobody", name="bad").status_code == 404
    assert visitor.send("/start", machine="order", name="a/b").status_code == 400
    visitor.read("/executions/order:bad", 404)
    home.start("once", a=1)
    assert visitor.send("/start", machine="order", name="once", input="{}").status_code == 409
    path = "/executions/order:once/call"
    assert visitor.send(path, call="pay", **{"input.amount": "much"}).status_code == 400
    assert visitor.send(path, call="pay", json='{"amount": -1}').status_code == 422
    assert visitor.send(path, call="sing").status_code == 400
    assert home.client.calls("order:once") == []


def test_the_same_form_sent_twice_is_one_call(home: House, visitor: Visitor) -> None:
    home.start("twice")
    home.until("order:twice", "Pending")
    page = visitor.read("/executions/order:twice")
    ship = page[page.index('value="ship"') :]
    number = re.findall(r'name="id" value="([^"]+)"', ship)[0]
    for _ in range(2):
        assert "pay first" in visitor.call("order:twice", "ship", id=number)
    assert len(home.client.calls("order:twice")) == 1


def test_calls_stand_newest_first_however_little_they_changed(
    home: House, visitor: Visitor
) -> None:
    home.start("asked")
    home.until("order:asked", "Pending")
    for n in range(5):
        visitor.call("order:asked", "ship", json=f'{{"n": {n}}}')
    page = visitor.read("/executions/order:asked").replace("&#34;", '"')
    assert re.findall(r'<code>{"n":(\d)}</code>', page) == ["4", "3", "2", "1", "0"]


def test_a_long_cause_is_shown_in_short_and_whole_behind_it(home: House, visitor: Visitor) -> None:
    home.client.deploy(
        "long", '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Cause": "' + "x " * 500 + '"}}}'
    )
    home.client.start("long", "one", {})
    home.until("long:one", "F")
    page = visitor.read("/executions/long:one")
    assert "x x…" in page
    assert "x " * 500 in page


def test_a_stop_needs_a_name_and_a_reason_and_stands_in_the_trail(
    home: House, visitor: Visitor
) -> None:
    home.start("stopped")
    home.until("order:stopped", "Pending")
    path = "/executions/order:stopped/stop"
    assert visitor.send(path, who="Ada").status_code == 422
    assert visitor.send(path, reason="no").status_code == 422
    for act in ("retry", "undo", "effect"):
        for missing in ({}, {"who": "Ada"}, {"reason": " ", "who": "Ada"}):
            other = visitor.send(f"/executions/order:stopped/{act}", **missing)
            assert other.status_code == 422, act
    assert home.client.get("order:stopped")["status"] == "RUNNING"
    assert visitor.send(path, who="Ada", reason="the customer called").status_code == 303
    page = text(visitor.read("/executions/order:stopped"))
    assert "ABORTED" in page
    assert "Ada stop: the customer called" in page


def test_an_act_that_was_not_carried_out_is_not_in_the_trail(home: House, visitor: Visitor) -> None:
    home.start("over")
    home.until("order:over", "Pending")
    path = "/executions/order:over"
    noted = {"who": "Ada", "reason": "for good"}
    assert visitor.send(f"{path}/effect", effect="!9", **noted).status_code == 409
    assert visitor.send(f"{path}/call", call="sing", **noted).status_code == 400
    assert visitor.send(f"{path}/call", call="pay", json="{", **noted).status_code == 400
    assert home.parts.service.operations.trail("order:over") == []
    assert "accepted" in visitor.call("order:over", "cancel", **noted)
    assert visitor.send(f"{path}/stop", **noted).status_code == 303
    trail = home.parts.service.operations.trail("order:over")
    assert [(one.who, one.what) for one in trail] == [("Ada", "call cancel")]


def test_filters_stand_in_the_address_and_pages_stay_where_they_are(
    home: House, visitor: Visitor
) -> None:
    for n in range(55):
        home.client.start("order", f"page-{n:02}", {"n": n})
    first = visitor.read("/?machine=order&status=RUNNING&state=Pending")
    (older,) = re.findall(r'href="([^"]+)" rel="next"', first)
    home.client.start("order", "page-new")
    second = visitor.read(older.replace("&amp;", "&"))
    names = [re.findall(r">(page-\d\d)<", page) for page in (first, second)]
    assert names[0][0] == "page-54"
    assert sorted({*names[0], *names[1]}) == [f"page-{n:02}" for n in range(55)]
    assert not {*names[0]} & {*names[1]}
    (newer,) = re.findall(r'href="([^"]+)" rel="prev"', second)
    back = re.findall(r">(page-\d\d)<", visitor.read(newer.replace("&amp;", "&")))
    assert back == names[0]
    assert "no moment" in visitor.read("/?since=yesterday")
    assert "page-new" not in visitor.read("/?until=2020-01-01")
    assert "page-new" in visitor.read("/?since=2020-01-01")
    assert "page-new" not in visitor.read("/?since=9999-01-01")
    assert re.findall(r">(page-\d\d)<", visitor.read("/?name=page-0")) == [
        f"page-{n:02}" for n in range(10)
    ]


def test_a_page_hears_of_what_it_has_missed(home: House, visitor: Visitor) -> None:
    home.start("watched")
    home.until("order:watched", "Pending")
    page = visitor.read("/executions/order:watched")
    (live,) = re.findall(r'data-live="([^"]+)"', page)
    home.client.call("order:watched", "cancel")
    with visitor.http.stream("GET", live.replace("&amp;", "&"), timeout=20) as missed:
        assert missed.headers["content-type"].startswith("text/event-stream")
        assert "event: changed" in missed.iter_lines()
    with visitor.http.stream("GET", "/live?machine=order", timeout=20) as listed:
        assert "event: changed" in listed.iter_lines()


def test_what_is_not_there_says_so(visitor: Visitor) -> None:
    names = ("order:nobody", "x", "%00", "a%0Ab", "%ED%A0%80", "x" * 3_000)
    pages = [f"/{kind}/{name}" for kind in ("executions", "machines") for name in names]
    for path in ("/nowhere", *pages):
        visitor.read(path, 404)
    assert visitor.http.get("/static/..%2Fconsole.py").status_code == 404
    for odd in ("%00", "%ED%A0%80", "99999999999999999999999", "-1", "%F0%9F%98%80"):
        for name in ("name", "machine", "state", "before", "after", "since", "status"):
            visitor.read(f"/?{name}={odd}")
        visitor.read(f"/waits?state={odd}&machine={odd}")
        visitor.read(f"/executions/order:nobody/history?after={odd}", 404)
    assert visitor.send("/start", machine="\0", name="\0").status_code == 404
