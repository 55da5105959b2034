"""W6: a thousand orders, 32 clients that call them: ship, pay, pay, cleared pay, ship."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from itertools import count

from orchestrator.engine import Start
from orchestrator.execution.payload import Payload
from tests.benchmarks.meter import Cost, percentile
from tests.benchmarks.stage import Deployment, Plan, Stage
from tests.benchmarks.w1 import Figures
from tests.servers import free_port

ORDERS = 1_000
CLIENTS = 32
BATCH = 200
WAIT = "?wait=30"
CALLS = (
    ("ship", "{}", 409),
    ("pay", "{}", 200),
    ("pay", "{}", 409),
    ("pay", '{"cleared": true}', 200),
    ("ship", "{}", 200),
)


def machine(*, handlers: bool) -> str:
    """The order; without handlers its Task and its effects are left out."""
    no, note = {"Refuse": "not now"}, {"Resource": "celery:noop"}
    present = {"Variable": "$$.Call.Input.cleared", "IsPresent": True}
    cleared = {"Variable": "$$.Call.Input.cleared", "BooleanEquals": True}
    hold: dict[str, object] = {
        "Type": "Await",
        "On": {
            "pay": [
                {"Condition": {"And": [present, cleared]}, "Next": "Paid"},
                no,
            ],
            "*": no,
        },
    }
    paid: dict[str, object] = {"Type": "Await", "On": {"ship": {"Next": "Shipped"}, "*": no}}
    states: dict[str, object] = {
        "Pending": {
            "Type": "Await",
            "On": {"pay": {"Next": "Screen" if handlers else "OnHold"}, "*": no},
        },
        "OnHold": hold,
        "Paid": paid,
        "Shipped": {"Type": "Succeed"},
    }
    if handlers:
        states["Screen"] = {"Type": "Task", "Resource": "celery:noop", "Next": "OnHold"}
        hold |= {"OnEnter": note, "OnExit": note}
        paid |= {"OnEnter": note}
    return json.dumps({"Calls": {"pay": {}, "ship": {}}, "StartAt": "Pending", "States": states})


def run(stage: Stage, orders: int = ORDERS) -> Figures:
    """One turn: an empty endpoint, orders without handlers, with handlers, and what each costs."""
    plans = (Plan(slots=16), Plan(slots=16))
    with stage.deployment(plans, schedulers=1) as deployment:
        port = free_port()
        deployment.start_door(port)
        empty, _ = _clients(port, [("POST", "/empty", "{}", 200)] * 5 * orders)
        figures = {"empty_per_s": 5 * orders / empty}
        for name, handlers in (("off", False), ("on", True)):
            _start(deployment, f"order{name}", machine(handlers=handlers), orders)
            seconds, took = _orders(port, f"order{name}", orders)
            figures |= {
                f"calls_per_s.{name}": 5 * orders / seconds,
                f"p99_ms.{name}": 1_000 * percentile(took, 99),
            }
        figures["ratio"] = figures["calls_per_s.off"] / figures["empty_per_s"]
        return figures | _costs(deployment, port, orders)


def _costs(deployment: Deployment, port: int, orders: int) -> Figures:
    """CPU of all but the clients, per refusal and per acceptance."""
    _start(deployment, "cost", machine(handlers=False), orders)
    paths = [f"/v1/executions/cost:e{n}/calls" for n in range(orders)]
    with deployment.metered() as refusing:
        _clients(port, [("POST", f"{path}/ship", "{}", 409) for path in paths])
    with deployment.metered() as accepting:
        _clients(port, [("POST", f"{path}/pay", "{}", 200) for path in paths])
    refused, accepted = _cpu_ms(refusing, orders), _cpu_ms(accepting, orders)
    return {
        **{f"cpu_ms.{name}": 1_000 * cpu / orders for name, cpu in refusing.cpu.items()},
        "statements_per_refusal": refusing.counts.statements / orders,
        "statements_per_acceptance": accepting.counts.statements / orders,
        "cpu_ms_per_refusal": refused,
        "cpu_ms_per_acceptance": accepted,
        "refusal_ratio": refused / accepted,
    }


def _cpu_ms(cost: Cost, calls: int) -> float:
    return 1_000 * sum(cpu for name, cpu in cost.cpu.items() if name != "client") / calls


def _start(deployment: Deployment, name: str, text: str, orders: int) -> None:
    revision = deployment.parts.service.deploy(name, text).id
    for first in range(0, orders, BATCH):
        names = range(first, min(first + BATCH, orders))
        deployment.parts.engine.start_many(
            [Start(name, revision, f"e{n}", Payload.parse("{}")) for n in names]
        )


def _orders(port: int, name: str, orders: int) -> tuple[float, list[float]]:
    """Each client takes an order at a time through all its calls."""
    numbers = iter(range(orders))

    def work(ask: Callable[[str, str, str, int], None]) -> None:
        for number in numbers:
            for call, body, status in CALLS:
                path = f"/v1/executions/{name}:e{number}/calls/{call}{WAIT}"
                ask("POST", path, body, status)

    return _together(port, work)


def _clients(port: int, requests: list[tuple[str, str, str, int]]) -> tuple[float, list[float]]:
    """Each client takes a request at a time."""
    left = iter(requests)

    def work(ask: Callable[[str, str, str, int], None]) -> None:
        for request in left:
            ask(*request)

    return _together(port, work)


def _together(
    port: int, work: Callable[[Callable[[str, str, str, int], None]], None]
) -> tuple[float, list[float]]:
    took: list[float] = []
    wrong: list[str] = []
    keys = count()

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)

        def ask(method: str, path: str, body: str, status: int) -> None:
            begun = time.perf_counter()
            key = f"{id(took)}-{next(keys)}"
            headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            said = response.read()
            took.append(time.perf_counter() - begun)
            if response.status != status:
                wrong.append(f"{path}: {response.status} {said[:200]!r}")

        work(ask)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise RuntimeError(wrong[0])
    return time.perf_counter() - begun, took
