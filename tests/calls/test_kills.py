"""Calls and timers while the processes that serve them are killed and started again."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from orchestrator.client import CallError, Client
from tests.acceptance.cluster import Member
from tests.calls.house import ORDER, eventually
from tests.calls.machines import Deployment, at_once, deployment, without_scheduler
from tests.conftest import ROOT
from tests.servers import free_port
from workers.ledger import kept_at

CALLERS = 50


@pytest.fixture
def url(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ORCHESTRATOR_LEDGER_URL", postgres_url)
    return postgres_url


@contextmanager
def member(folder: Path, url: str, *command: str) -> Iterator[Member]:
    """A process of the command over a database; it does not run yet."""
    environment = {**os.environ, "ORCHESTRATOR_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    line = (sys.executable, "-m", "orchestrator", *command)
    found = Member(command[0], line, environment, folder / f"{command[0]}.log")
    try:
        yield found
    finally:
        found.kill()


def runs_of(url: str, address: str) -> Counter[str]:
    with kept_at(url) as ledger:
        return Counter(run.handler for run in ledger.runs(address))


def fired(running: Deployment, address: str) -> list[object]:
    events = running.service.whole_history(address)
    return [event.details["timer"] for event in events if event.type == "TimerFired"]


def on_hold(running: Deployment, scheduler: Member, name: str) -> tuple[str, datetime]:
    """An order whose review has begun and whose scheduler is dead; a slow machine takes several."""
    service = running.service
    address = service.start_execution("order", name, '{"remind": 1, "review": 5}').address
    scheduler.ensure()
    service.call_execution(address, "pay", "{}")
    running.until(lambda: running.state(address) == "OnHold")
    scheduler.kill()
    (waits,) = service.execution_waits(address)
    if waits.timer is None or fired(running, address):
        return on_hold(running, scheduler, f"{name}-again")
    return address, waits.timer.at


def test_the_review_ladder_is_climbed_once_though_those_who_serve_it_are_killed_on_it(
    url: str, tmp_path: Path
) -> None:
    """Three schedulers and two workers see one review: nothing runs again because of that."""
    with member(tmp_path, url, "scheduler") as scheduler:
        with without_scheduler(url, ["workers"]) as running:
            running.service.deploy("order", ORDER)
            address, reminds_at = on_hold(running, scheduler, "o")
            running.sleep_until(reminds_at)
            assert fired(running, address) == []
        with without_scheduler(url, ["workers"]) as running:
            for timers in (1, 2):
                scheduler.ensure()
                running.until(lambda: len(fired(running, address)) >= timers)  # noqa: B023
                scheduler.kill()
            assert fired(running, address) == [0, 1]
            running.until(lambda: running.state(address) == "Cancelled")
            running.until(lambda: len(runs_of(url, address)) == 5)
    assert scheduler.starts >= 3
    assert runs_of(url, address) == {
        "fraud.screen": 1,
        "reviews.open": 1,
        "reviews.remind": 1,
        "reviews.close": 1,
        "reviews.escalate": 1,
    }


class Balancer(httpx.HTTPTransport):
    """Sends requests to the first of two doors, and to the second once the first is broken."""

    broken = 0

    def __init__(self, ports: list[int]) -> None:
        super().__init__()
        self._ports = list(ports)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(port=self._ports[0])
        try:
            return super().handle_request(request)
        except httpx.TransportError:
            Balancer.broken += 1
            self._ports = self._ports[1:] or self._ports
            raise


def test_one_id_used_50_times_across_a_kill_of_the_api_counts_once(
    url: str, tmp_path: Path
) -> None:
    ports = [free_port(), free_port()]
    answers: list[bytes] = []
    answered = threading.Event()

    def keep(response: httpx.Response) -> None:
        answers.append(response.read())
        answered.set()

    def call(address: str) -> None:
        http = httpx.Client(
            base_url="http://127.0.0.1",
            event_hooks={"response": [keep]},
            transport=Balancer(ports),
        )
        with Client(http=http) as client:
            said = client.call(address, "cancel", {"why": "none"}, call_id="once")
        assert said.to == "Cancelled"

    with (
        deployment(url, ["workers"]) as running,
        member(tmp_path, url, "api", "--port", str(ports[0])) as first,
        member(tmp_path, url, "api", "--port", str(ports[1])) as second,
        Client(f"http://127.0.0.1:{ports[1]}") as client,
    ):
        first.ensure()
        second.ensure()
        running.service.deploy("order", ORDER)
        address = running.service.start_execution("order", "o").address
        running.service.call_execution(address, "pay", '{"amount": 7}')
        running.service.call_execution(address, "pay", '{"cleared": true}', wait_seconds=30)
        for port in ports:
            eventually(lambda: listens(port))  # noqa: B023

        def kill() -> None:
            assert answered.wait(20)
            first.kill()

        def call_later() -> None:
            assert answered.wait(20)
            call(address)

        half = CALLERS // 2  # all that come together are answered together
        at_once([kill, *[lambda: call(address)] * half, *[call_later] * half])
        assert Balancer.broken > 0
        assert len(answers) == CALLERS
        assert len(set(answers)) == 1
        with pytest.raises(CallError) as other:
            client.call(address, "cancel", {"why": "another"}, call_id="once")
        assert other.value.status == 422
        assert running.types(address).count("CallAccepted") == 3
        running.until(lambda: runs_of(url, address)["payments.refund"] == 1)
        with kept_at(url) as ledger:
            done = [one.handler for one in ledger.effects(address)]
        assert done.count("payments.refund") == 1


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
