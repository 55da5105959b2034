"""Machines, waits, workers and health, over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.calls.house import House, eventually
from tests.conftest import ROOT
from tests.web.visitor import Visitor, said, text

SAGA = (ROOT / "definitions" / "order-fulfilment.asl.json").read_text()


@pytest.fixture
def visitor(home: House) -> Iterator[Visitor]:
    found = Visitor(home.url)
    yield found
    found.http.close()


def rows(page: str, label: str) -> list[list[str]]:
    """The cells of a table, line by line."""
    table = page[page.index(f'aria-label="{label}"') :].partition("</table>")[0]
    lines = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    return [
        [text(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", one, re.DOTALL)] for one in lines
    ]


def test_a_machine_shows_what_each_state_answers_and_what_would_be_undone(
    home: House, visitor: Visitor
) -> None:
    cells = rows(visitor.read("/machines/order"), "States and calls")
    table = {line[0].partition(" ")[0]: line[1:] for line in cells}
    assert table["State"] == ["pay", "ship", "cancel"]
    assert table["Paid"] == ["refused: already paid", "→ Shipped", "→ Cancelled, payments.refund"]
    assert table["Cancelled"] == ["refused: order is cancelled"] * 3
    home.client.deploy("fulfilment", SAGA)
    page = visitor.read("/machines/fulfilment")
    cards = re.findall(r'<li class="card">(.*?)</li>', page, re.DOTALL)
    lines = [[text(line) for line in re.findall(r"<p.*?</p>", card)] for card in cards]
    assert [
        "WaitForPackingSlot is stopped:",
        "1. payments.refund (ChargeCard)",
        "2. ReserveItems, side by side, 10 at most:",
        "- each iteration:",
        "inventory.release (ReserveItem)",
    ] in lines
    assert "ValidateOrder fails:" not in [first for first, *_ in lines]  # nothing is undone then


def test_a_revision_shows_how_it_differs_from_the_one_before(home: House, visitor: Visitor) -> None:
    one = {"StartAt": "A", "States": {"A": {"Type": "Pass", "Comment": "first", "End": True}}}
    home.client.deploy("grows", json.dumps(one))
    home.client.deploy("grows", json.dumps(one).replace("first", "second"))
    home.client.deploy("grows", json.dumps(one, indent=4).replace("first", "second"))
    home.client.deploy("grows", json.dumps(one).replace("first", "third"))
    page = visitor.read("/machines/grows")
    changed = re.findall(r'<span class="(added|removed)">(.*?)</span>', page, re.DOTALL)
    assert [(kind, text(line)) for kind, line in changed] == [
        ("removed", '- "Comment": "second",'),
        ("added", '+ "Comment": "third",'),
    ]
    numbers = re.findall(r'href="\?revision=(\d+)"', page)
    assert sorted(map(int, numbers)) == list(range(1, len(numbers) + 1))
    assert '"first"' in visitor.read("/machines/grows?revision=1").replace("&#34;", '"')


def test_what_is_invalid_is_not_saved_and_every_finding_is_told(
    home: House, visitor: Visitor
) -> None:
    wrong = '{"StartAt": "B", "States": {"A": {"Type": "Pass", "Next": "C"}}}'
    checked = visitor.send("/check", definition=wrong)
    assert checked.status_code == 200
    for pointer in ("/StartAt", "/States/A/Next"):
        assert pointer in checked.text
    answer = visitor.send("/machines", name="wrong", new="1", definition=wrong)
    assert answer.status_code == 422
    assert said(answer.text).startswith("Nothing was saved.")
    assert "/States/A/Next" in answer.text
    visitor.read("/machines/wrong", 404)
    home.client.deploy("right", '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
    assert visitor.send("/machines", name="right", definition=wrong).status_code == 422
    assert len(re.findall(r'href="\?revision=', visitor.read("/machines/right"))) == 1


def test_waits_are_told_by_age_workers_by_what_they_serve_and_health_by_figures(
    home: House, visitor: Visitor
) -> None:
    for name in ("rests-1", "rests-2"):
        home.until(home.start(name), "Pending")
    waits = visitor.read("/waits?machine=order&state=Pending")
    assert [line[0] for line in rows(waits, "What waits, oldest first")[1:]] == [
        "rests-1 order",
        "rests-2 order",
    ]
    assert ["Pending", "order", "a call", "2"] in [
        line[:4] for line in rows(waits, "States in which something waits")
    ]
    asks = {"Type": "Task", "Resource": "celery:nobody.knows", "End": True}
    home.client.deploy("asks", json.dumps({"StartAt": "A", "States": {"A": asks}}))
    home.client.start("asks", "one", {})
    eventually(lambda: "No worker serves" in visitor.read("/workers"))
    workers = visitor.read("/workers")
    processes = rows(workers, "Processes, table")[1:]
    assert {line[1]: line[2] for line in processes} == {"worker": "alive", "scheduler": "alive"}
    assert any("celery:inventory.reserve local" in line[6] for line in processes)
    assert "No worker serves celery:nobody.knows : 1 task waits" in text(workers)
    served = workers[workers.index('<dl class="served">') :]
    assert re.findall(r"<dt>(.*?)</dt>", served) == ["local"]
    health = text(visitor.read("/health"))
    for figure in (
        "Schedulers 1",
        "Workers 1",
        "Bells that failed 0",
        "Oldest task in a queue none",
    ):
        assert figure in health
    assert re.search(r"Timers are late by \d", health)
    assert "unserved no worker serves" in health.lower() or "no worker serves celery" in health
    assert "What the doctor found" not in health
    examined = text(visitor.read("/health?examine=1"))
    assert re.search(r"\d+ executions examined", examined)
    assert "no worker serves celery:nobody.knows" in examined.partition("What the doctor found")[2]
