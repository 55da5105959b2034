"""The list, the form that starts, and what the page of an execution says, over HTTP."""

from __future__ import annotations

import html
import json
import re
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from orchestrator.asl.document import Json
from orchestrator.handlers import handler
from orchestrator.store import Announcement
from tests.calls.house import House, eventually
from tests.web.visitor import Visitor, text

SLOTS = 4
"""Of the worker of an embedded engine."""
FAILS = {"simulate": {"reviews.open": {"fail": 1, "error": "Closed"}}}
LOOPS: dict[str, Any] = {
    "QueryLanguage": "JSONata",
    "StartAt": "Count",
    "States": {
        "Count": {
            "Type": "Pass",
            "Assign": {"n": "{% ($exists($n) ? $n : 0) + 1 %}", "kept": "as it was"},
            "Next": "Enough",
        },
        "Enough": {
            "Type": "Choice",
            "Choices": [{"Condition": "{% $n < 30 %}", "Next": "Count"}],
            "Default": "Each",
        },
        "Each": {
            "Type": "Map",
            "Items": "{% $states.input.items %}",
            "ItemProcessor": {
                "StartAt": "Rests",
                "States": {
                    "Rests": {
                        "Type": "Wait",
                        "Seconds": "{% $states.input %}",
                        "Next": "Reserve",
                    },
                    "Reserve": {
                        "Type": "Task",
                        "Resource": "celery:inventory.reserve",
                        "Arguments": {
                            "order": {"order_id": "1"},
                            "item": {"sku": "CUP", "quantity": 1},
                        },
                        "End": True,
                    },
                },
            },
            "End": True,
        },
    },
}


def slow(resource: str, **more: Any) -> dict[str, Any]:
    """A machine of one task, which takes as long as `simulate` says."""
    arguments = {"order": "{% $states.input %}", "item": {"sku": "CUP", "quantity": 1}}
    state = {"Type": "Task", "Resource": resource, "Arguments": arguments, "End": True, **more}
    return {"QueryLanguage": "JSONata", "StartAt": "Does", "States": {"Does": state}}


@pytest.fixture
def visitor(home: House) -> Iterator[Visitor]:
    found = Visitor(home.url)
    yield found
    found.http.close()


def titles(page: str) -> list[str]:
    """What is said of the bars of a timeline."""
    return [text(one) for one in re.findall(r"<rect [^>]*><title>(.*?)</title>", page)]


# -- lists and starts ----------------------------------------------------------------------------


def test_a_list_shows_what_needs_attention_alone(home: House, visitor: Visitor) -> None:
    never = [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}]
    effect = {"Resource": "celery:reviews.open", "Arguments": {"order": FAILS}, "Retry": never}
    machine = {
        "QueryLanguage": "JSONata",
        "Calls": {"go": {}},
        "StartAt": "Rests",
        "States": {
            "Rests": {"Type": "Await", "OnEnter": effect, "On": {"go": {"Next": "Over"}}},
            "Over": {"Type": "Succeed"},
        },
    }
    home.client.deploy("noted", json.dumps(machine))
    address = home.client.start("noted", "effect", {})
    home.client.deploy("asks", json.dumps(slow("celery:nobody.knows")))
    home.client.start("asks", "unserved", {})
    eventually(lambda: "effect failed" in visitor.read("/?attention=1"))
    every = visitor.read("/?attention=1")
    assert "the effect !" in text(every)
    link = f'href="/executions/{quote(address)}"'
    assert link in every
    assert "no worker serves celery:nobody.knows" in every
    assert "/executions/celery" not in every
    for agreeing in ("machine=noted", "status=RUNNING", "state=Rests", "name=eff"):
        assert link in visitor.read(f"/?attention=1&{agreeing}")
    for other in ("machine=order", "status=FAILED", "state=Over", "name=x", "until=2020-01-01"):
        assert "Nothing needs" in visitor.read(f"/?attention=1&{other}"), other
    again = f"/executions/{address}/effect"
    (effect_id,) = re.findall(r'name="effect" value="([^"]+)"', visitor.read(again[:-7]))
    for missing in ({}, {"who": "Ada"}, {"reason": "no"}):
        assert visitor.send(again, effect=effect_id, **missing).status_code == 422
    assert "No operator has touched it" in visitor.read(f"/executions/{address}")
    sent = visitor.send(again, effect=effect_id, who="Ada", reason="the office is open now")
    assert sent.status_code == 303
    page = text(visitor.read(f"/executions/{address}"))
    assert f"Ada run the effect {effect_id} again: the office is open now" in page


def test_the_form_that_starts_offers_what_the_last_ones_were_given(
    home: House, visitor: Visitor
) -> None:
    for n in range(7):
        home.start(f"given-{n}", order_id=f"given-{min(n, 5)}")
    page = visitor.read("/start?machine=order")
    offered = re.findall(r"<summary>(.*?)</summary>", page)
    assert [text(one) for one in offered] == [
        f'given-{n}: {{"order_id":"given-{min(n, 5)}"}}' for n in (6, 4, 3, 2)
    ]
    (filled,) = re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert json.loads(html.unescape(filled)) == {"order_id": "given-5"}
    assert "Inputs of the last" not in visitor.read("/start")


# -- one execution -------------------------------------------------------------------------------


OPEN = threading.Event()


@handler("web.gate")
def gate(order: dict[str, Json], item: dict[str, Json]) -> None:  # noqa: ARG001  # as the others
    """Wait until the test has seen enough."""
    OPEN.wait(60)


def test_a_page_says_why_it_waits(home: House, visitor: Visitor) -> None:
    home.client.deploy("slow", json.dumps(slow("celery:web.gate")))
    home.client.deploy("asks", json.dumps(slow("celery:nobody.knows")))
    unserved = home.client.start("asks", "why", {})
    assert "Does waits, and no worker serves celery:nobody.knows" in _why(visitor, unserved)
    crowd = [home.client.start("slow", f"crowd-{n}", {}) for n in range(SLOTS + 2)]
    try:
        eventually(lambda: visitor.read("/workers").count(">crowd-") == SLOTS)
        whys = [_why(visitor, one) for one in crowd]
        queues = text(visitor.read("/waits"))
    finally:
        OPEN.set()
    running = [why for why in whys if "Does runs celery:web.gate on the worker" in why]
    assert len(running) == SLOTS
    waiting = [why.partition(".")[0] for why in whys if why not in running]
    said = "Does waits for a worker of the queue local, {} before its task"
    assert waiting == [said.format("nothing comes"), said.format("1 task comes")]
    assert "local 2" in queues
    assert re.search("No worker serves celery:nobody.knows : . tasks? waits?, the oldest", queues)
    for one in crowd:
        eventually(lambda one=one: home.client.get(one)["status"] == "SUCCEEDED")  # type: ignore[misc]
    late = titles(visitor.read(f"/executions/{crowd[-1]}"))
    assert any(one.startswith("in the queue ") for one in late)
    ran = r"attempt 1 on \S+:\d+:\w+, [\d.]+ m?s after [\d.]+ m?s in the queue, done"
    assert any(re.fullmatch(ran, one) for one in late), late


def test_a_claim_is_no_event_and_is_seen_all_the_same(home: House) -> None:
    resource = "celery:nobody.claims"
    store, views = home.parts.parts.store, home.parts.service.views
    store.announce("w", {resource: Announcement("elsewhere")})
    home.client.deploy("claimed", json.dumps(slow(resource)))
    address = home.client.start("claimed", "one", {})
    before = views.execution(address)
    eventually(lambda: bool(store.claim("w", ["elsewhere"], [resource], limit=1)))
    after = views.execution(address)
    assert after.reasons[0].text.startswith(f"runs {resource} on the worker w")
    assert after.execution.version == before.execution.version
    assert after.seen != before.seen
    assert views.versions([after.execution.id]) == {after.execution.id: after.seen}


def _why(visitor: Visitor, address: str) -> str:
    page = visitor.read(f"/executions/{address}")
    (found, *_) = re.findall(r'<p class="why[^>]*>(.*?)</p>', page, re.DOTALL)
    return text(str(found))


def test_calls_timers_effects_and_compensations_are_bars_with_their_workers(
    home: House, visitor: Visitor
) -> None:
    address = home.start("bars", order_id="bars", remind=1, review=600)
    home.until(address, "Pending")
    home.client.call(address, "pay", {"amount": 1})
    home.until(address, "OnHold")
    service = home.parts.service
    eventually(lambda: len(service.execution_effects(address)) == 2)
    eventually(lambda: all(one.status == "ended" for one in service.execution_effects(address)))
    bars = titles(visitor.read(f"/executions/{address}"))
    assert "call: pay" in bars
    assert any(one.startswith("timer: timer 0") for one in bars)
    assert any(one.startswith("waited ") for one in bars)
    for resource in ("celery:reviews.open", "celery:reviews.remind"):
        ran = rf"{resource}, attempt 1 on \S+, [\d.]+ m?s after [\d.]+ m?s in the queue, done"
        assert any(re.fullmatch(ran, one) for one in bars), bars
    done = slow("celery:inventory.reserve", Next="Fails")
    del done["States"]["Does"]["End"]
    done["States"]["Does"]["Output"] = "{% $states.input %}"
    arguments = done["States"]["Does"]["Arguments"]
    done["States"]["Does"]["Compensate"] = {
        "Resource": "celery:inventory.release",
        "Arguments": arguments,
    }
    done["States"]["Fails"] = {"Type": "Fail", "Error": "Enough"}
    home.client.deploy("undoes", json.dumps(done))
    undone = home.client.start("undoes", "bars", {"order_id": "undone"})
    eventually(lambda: home.client.get(undone)["status"] == "FAILED")
    said = (
        r"undone by celery:inventory.release on \S+, [\d.]+ m?s after [\d.]+ m?s in the queue, done"
    )
    bars = titles(visitor.read(f"/executions/{undone}"))
    assert any(re.fullmatch(said, one) for one in bars), bars


def test_a_maps_iterations_are_a_strip_with_counts_and_each_can_be_opened(
    home: House, visitor: Visitor
) -> None:
    home.client.deploy("loops", json.dumps(LOOPS))
    address = home.client.start("loops", "strip", {"items": [0, 0, 600]})
    here = f"/executions/{address}"
    eventually(lambda: "2 done" in text(visitor.read(here)))
    page = visitor.read(here)
    assert "Each: 3 iterations" in text(page)
    assert "2 done" in text(page)
    assert "1 waiting" in text(page)
    cells = re.findall(r'class="cell (\w+)" href="([^"]+)" title="([^"]+)"', page)
    assert [(mark, title) for mark, _, title in cells] == [
        ("done", "0: done"),
        ("done", "1: done"),
        ("waiting", "2: waiting"),
    ]
    links = [link.replace("&amp;", "&") for _, link, _ in cells]
    first, last = text(visitor.read(links[0])), text(visitor.read(links[2]))
    assert "Reserve" in first
    assert "Reserve" not in last
    assert "Rests" in last
    refused = visitor.http.get(f"{here}/iterations?state=Each&first=0&last=9999")
    assert refused.status_code == 400


def test_a_history_folds_loops_and_a_state_shows_what_it_did_to_variables(
    home: House, visitor: Visitor
) -> None:
    home.client.deploy("loops", json.dumps(LOOPS))
    address = home.client.start("loops", "folds", {"items": [600]})
    here = f"/executions/{address}"
    eventually(lambda: "Each" in _why(visitor, address))
    page = visitor.read(f"{here}/history")
    assert "29 rounds" in text(page) or "30 rounds" in text(page)
    events = home.parts.service.whole_history(address)
    assert sorted(map(int, re.findall(r'<tr id="e(\d+)"', page))) == [one.id for one in events]
    visits = re.findall(r"visit=(\d+)#state", visitor.read(f"{here}?state=Count"))
    third = visitor.read(f"{here}?state=Count&visit={sorted(map(int, visits))[2]}")
    rows = re.findall(r'<tr class="(\w+)"><th scope="row">(\w+)</th>(.*?)</tr>', third)
    assert {(kind, name): text(cells) for kind, name, cells in rows} == {
        ("changed", "n"): "2 3",
        ("same", "kept"): '"as it was" the same',
    }
    first = visitor.read(f"{here}?state=Count&visit={min(map(int, visits))}")
    assert re.findall(r'<tr class="(\w+)"><th scope="row">n</th>(.*?)</tr>', first)[0][0] in (
        "new",
        "changed",
    )


def test_what_keeps_undoing_up_is_retried_or_left_with_a_reason(
    home: House, visitor: Visitor
) -> None:
    machine = slow("celery:inventory.reserve", Next="Fails")
    state = machine["States"]["Does"]
    del state["End"]
    state["Output"] = "{% $states.input %}"
    state["Compensate"] = {
        "Resource": "celery:inventory.release",
        "Arguments": state["Arguments"],
        "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}],
    }
    machine["States"]["Fails"] = {"Type": "Fail", "Error": "Enough"}
    home.client.deploy("blocked", json.dumps(machine))
    trouble = {"inventory.release": {"fail": 9, "error": "Closed"}}
    pages = []
    for name in ("retried", "left"):
        given = {"order_id": name, "simulate": trouble}
        here = f"/executions/{home.client.start('blocked', name, given)}"
        eventually(lambda here=here: "Retry or skip" in visitor.read(here))  # type: ignore[misc]
        pages.append(here)
    retried, left = pages
    assert "Does has done cannot be undone (Closed)" in text(visitor.read(retried))
    (number,) = re.findall(r'name="compensation" value="([^"]+)"', visitor.read(retried))
    fields = {"compensation": number, "act": "retry"}
    assert visitor.send(f"{retried}/undo", **fields, who="Ada").status_code == 422
    done = visitor.send(f"{retried}/undo", **fields, who="Ada", reason="it is open again")
    assert done.status_code == 303
    assert "Ada retry" in text(visitor.read(retried))
    history = home.parts.service.whole_history
    failed = "CompensationFailed"  # and once more, for an operator's retry begins anew
    eventually(lambda: [one.type for one in history("blocked:retried")].count(failed) == 2)
    eventually(lambda: "Retry or skip" in visitor.read(retried))
    skipped = {"compensation": number, "act": "skip", "who": "Ada", "reason": "closed for good"}
    assert visitor.send(f"{retried}/undo", **skipped).status_code == 303
    assert home.client.get("blocked:retried")["status"] == "FAILED"
    assert "closed for good" in text(visitor.read(retried))
    stop = {"who": "Ada", "reason": "the shop is gone", "abort": "1"}
    assert visitor.send(f"{left}/stop", **stop).status_code == 303
    assert home.client.get("blocked:left")["status"] == "FAILED"
    page = text(visitor.read(left))
    assert "Ada stop without undoing: the shop is gone" in page
