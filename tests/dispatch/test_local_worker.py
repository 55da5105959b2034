"""The embedded worker over both databases: the same engine and slots, without a broker."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Engine as DatabaseEngine
from sqlalchemy import create_engine, event, update
from structlog.testing import capture_logs

from orchestrator import main
from orchestrator.asl.document import Json
from orchestrator.dispatch.local import QUEUE, LocalBell, LocalWorker
from orchestrator.dispatch.serving import registered_on
from orchestrator.dispatch.watch import Watch
from orchestrator.engine import Arrival, Handled, Silence
from orchestrator.execution.frame import Execution, ExecutionStatus
from orchestrator.handlers import TaskCancelled, TaskContext, TaskError, handler
from orchestrator.outage import Outage
from orchestrator.settings import Settings
from orchestrator.store import StoreUnavailable
from orchestrator.store.tables import frames
from tests.workers.deployment import until


class House:
    """An embedded engine with a worker and, if wanted, a scheduler."""

    def __init__(self, url: str, **settings: Any) -> None:
        self.settings = Settings(database_url=url, **settings)
        self.bell = LocalBell()
        self.parts, self.scheduler = main.scheduler(self.settings, self.bell)
        self.worker = LocalWorker(self.parts, self.bell, self.settings)

    def serve(self, function: Callable[..., object], **options: Any) -> str:
        """Register a handler; the name of a machine whose one state it is."""
        name = f"t{uuid.uuid4().hex[:12]}"
        handler(name, **options)(function)
        self.deploy(name, name)
        return name

    def deploy(self, machine: str, *names: str, **fields: Any) -> None:
        states: dict[str, Any] = {}
        for number, name in enumerate(names):
            after = {"End": True} if name == names[-1] else {"Next": f"S{number + 1}"}
            states[f"S{number}"] = {"Type": "Task", "Resource": f"celery:{name}", **after, **fields}
        text = json.dumps({"StartAt": "S0", "States": states})
        self.parts.service.deploy(machine, text)

    def start(self, machine: str, given: Json = None, name: str | None = None) -> str:
        return self.parts.service.start_execution(machine, name, json.dumps(given or {})).address

    def ended(self, address: str) -> Execution:
        def now() -> Execution:
            return self.parts.service.describe_execution(address).execution

        until(lambda: now().status is not ExecutionStatus.RUNNING, 20, f"the end of {address}")
        return now()

    def output(self, address: str) -> Json:
        execution = self.ended(address)
        assert execution.status is ExecutionStatus.SUCCEEDED, execution
        output = self.parts.service.describe_execution(address).output
        assert output is not None
        return output.value

    def close(self) -> None:
        self.worker.stop()
        self.parts.store.dispose()


@pytest.fixture
def house(database_url: str) -> Iterator[House]:
    opened = House(database_url, lease_seconds=1.0)
    yield opened
    opened.close()


def test_a_handler_gets_arguments_and_context_and_its_result_is_the_output(house: House) -> None:
    def charge(order: str, task: TaskContext) -> Json:
        return [order, task.attempt, task.delivery, task.execution, task.machine, task.state]

    machine = house.serve(charge)
    house.worker.start()
    address = house.start(machine, {"order": "x"}, "4711")
    assert house.output(address) == ["x", 1, 1, "4711", machine, "S0"]


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ValueError("no"), "ValueError"),
        (TaskError("My.Error", "no"), "My.Error"),
        (SystemExit("no"), "SystemExit"),
    ],
)
def test_a_failure_of_a_handler_fails_the_execution_by_its_name(
    house: House, raised: BaseException, error: str
) -> None:
    def fail() -> None:
        raise raised

    machine = house.serve(fail)
    house.worker.start()
    ended = house.ended(house.start(machine))
    assert (ended.status, ended.error, ended.cause) == (ExecutionStatus.FAILED, error, "no")


def test_what_is_no_json_and_wrong_arguments_are_failures_too(house: House) -> None:
    invalid = house.serve(lambda: {"a": {1}})
    misfit = house.serve(lambda order: order)
    house.worker.start()
    assert house.ended(house.start(invalid)).error == "Task.InvalidResult"
    assert house.ended(house.start(misfit, {"other": 1})).error == "TypeError"


def test_a_handler_is_told_when_its_execution_is_stopped(house: House) -> None:
    seen: list[str] = []
    running = threading.Event()

    def hang(task: TaskContext) -> None:
        running.set()
        try:
            while True:
                time.sleep(0.05)
                task.heartbeat({"at": time.monotonic()})
        except TaskCancelled:
            seen.append("cancelled")
            raise

    machine = house.serve(hang)
    house.worker.start()
    address = house.start(machine)
    assert running.wait(10)
    house.parts.service.stop_execution(address)
    until(lambda: seen == ["cancelled"], 10)
    assert house.ended(address).status is ExecutionStatus.ABORTED


def test_a_handler_without_heartbeats_is_told_by_the_renewal_of_leases(house: House) -> None:
    seen: list[bool] = []
    running = threading.Event()

    def hang(task: TaskContext) -> None:
        running.set()
        while not task.cancelled:
            time.sleep(0.05)
        seen.append(task.cancelled)

    machine = house.serve(hang)
    house.worker.start()
    address = house.start(machine)
    assert running.wait(10)
    house.parts.service.stop_execution(address)
    until(lambda: seen == [True], 10)


def test_a_handler_that_outlasts_its_lease_keeps_its_claim(house: House) -> None:
    runs: list[int] = []

    def long(task: TaskContext) -> int:
        runs.append(task.delivery)
        time.sleep(3)
        return task.delivery

    machine = house.serve(long)
    house.scheduler.start()
    house.worker.start()
    try:
        assert house.output(house.start(machine)) == 1
    finally:
        house.scheduler.stop()
    assert runs == [1]


def test_a_task_that_was_lost_may_run_beside_itself_in_one_process(database_url: str) -> None:
    house = House(database_url, lease_seconds=30.0)
    began, goes_on = threading.Event(), threading.Event()

    def stand_still(task: TaskContext) -> int:
        if task.delivery == 1:
            began.set()
            goes_on.wait(20)
        return task.delivery

    machine = house.serve(stand_still)
    house.worker.start()
    with capture_logs() as logs:
        address = house.start(machine)
        assert began.wait(20)
        database = create_engine(database_url)
        with database.begin() as connection:
            connection.execute(update(frames).values(lease_until=house.parts.store.now()))
        database.dispose()
        house.bell.ring(house.parts.store.lapse(1).given_back)
        assert house.output(address) == 2
        goes_on.set()
        house.close()
    assert [log["event"] for log in logs if log["log_level"] == "error"] == []


def test_tasks_are_found_without_any_bell(database_url: str) -> None:
    house = House(database_url)
    machine = house.serve(lambda: "found")
    house.parts.store.announce("w", registered_on(QUEUE).announcements())
    silent = main.build(house.settings, Silence())
    addresses = [
        silent.service.start_execution(machine, str(number), "{}").address for number in range(20)
    ]
    house.worker.start()
    began = time.monotonic()
    assert [house.output(address) for address in addresses] == ["found"] * 20
    assert time.monotonic() - began < 5
    silent.store.dispose()
    house.close()


def test_a_worker_that_stops_finishes_what_runs(house: House) -> None:
    running = threading.Event()

    def work() -> str:
        running.set()
        time.sleep(0.5)
        return "done"

    machine = house.serve(work)
    house.worker.start()
    address = house.start(machine)
    assert running.wait(10)
    house.worker.stop()
    assert house.output(address) == "done"


def test_a_result_is_kept_until_the_database_is_back(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    refusals = iter([True, True, True])
    hand_in = house.parts.engine.hand_in

    def away(arrival: Arrival) -> Handled:
        if next(refusals, False):
            raise StoreUnavailable("gone for a while")
        return hand_in(arrival)

    monkeypatch.setattr(house.parts.engine, "hand_in", away)
    machine = house.serve(lambda: runs.append(1))
    house.worker.start()
    with capture_logs() as logs:
        house.output(house.start(machine))
    assert len(runs) == 1
    said = [log["event"] for log in logs if "database" in log["event"]]
    assert said[0] == "the database is away; trying again until it is back"
    assert said[-1] == "the database is back"
    assert not any("exc_info" in log for log in logs)


def test_a_slice_is_bounded_and_the_rest_comes_by_bells(database_url: str) -> None:
    house = House(database_url, slice_tasks=3)
    steps = [house.serve(dict) for _ in range(8)]
    house.deploy("chain", *steps)
    house.worker.start()
    assert house.output(house.start("chain")) == {}
    house.close()


class Counted:
    """Counts statements and transactions of this process."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.commits = 0

    def statement(self, _c: object, _cursor: object, text: str, *_: object) -> None:
        self.statements.append(text)

    def commit(self, _connection: object) -> None:
        self.commits += 1


@pytest.fixture
def counted() -> Iterator[Counted]:
    counter = Counted()
    event.listen(DatabaseEngine, "before_cursor_execute", counter.statement)
    event.listen(DatabaseEngine, "commit", counter.commit)
    yield counter
    event.remove(DatabaseEngine, "before_cursor_execute", counter.statement)
    event.remove(DatabaseEngine, "commit", counter.commit)


def test_an_idle_worker_looks_by_one_statement(house: House, counted: Counted) -> None:
    serving = registered_on(QUEUE)
    watch = Watch(house.parts.store, "w", Silence(), lambda: serving, lambda: 1, Outage())
    watch.look()
    counted.statements.clear()
    for _ in range(3):
        watch.look()
    assert len(counted.statements) == 3


def test_a_worker_without_a_free_slot_does_not_look_at_all(house: House, counted: Counted) -> None:
    serving = registered_on(QUEUE)
    watch = Watch(house.parts.store, "w", Silence(), lambda: serving, lambda: 0, Outage())
    watch.look()
    counted.statements.clear()
    watch.look()
    assert counted.statements == []


def test_ten_tasks_in_a_row_cost_few_statements(house: House, counted: Counted) -> None:
    through = threading.Event()
    steps = [house.serve(dict) for _ in range(9)]
    house.deploy("chain", *steps, house.serve(through.set))
    house.worker.start()
    house.ended(house.start("chain"))
    through.clear()
    counted.statements.clear()
    house.start("chain")
    assert through.wait(10)
    time.sleep(0.2)
    assert len(counted.statements) <= 10 * 6
