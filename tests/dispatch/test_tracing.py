"""Celery tasks of an application as handlers: bound, traced, and never published."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from celery import Celery, Task, signals
from celery.exceptions import Reject, WorkerShutdown

from orchestrator.asl.document import Json
from orchestrator.dispatch.tracing import TracedTask
from orchestrator.execution.payload import Payload
from orchestrator.handlers import Failed, Outcome, Returned, TaskContext, current_task


class GatewayAway(Exception):
    pass


@pytest.fixture
def app() -> Iterator[Celery]:
    app = Celery("test", broker="memory://", set_as_current=False)
    app.conf.result_backend = None
    yield app
    app.close()


def context(**more: Any) -> TaskContext:
    given: dict[str, Any] = {
        "key": "k-1",
        "attempt": 3,
        "delivery": 1,
        "execution": "4711",
        "machine": "order",
        "state": "Charge",
        "resource": "celery:charge",
    }
    return TaskContext(**(given | more))


def run(app: Celery, task: Task, document: Json, given: TaskContext | None = None) -> Outcome:
    traced = TracedTask(app, app.tasks[task.name], "celery", "worker@test")
    return traced.run(Payload.of(document), given or context())


def published(app: Celery) -> int:
    with app.connection_for_write() as connection:
        queues: dict[str, Any] = connection.default_channel.queues
        return sum(queue.qsize() for queue in queues.values())


def test_a_task_is_called_by_the_rule_of_all_handlers(app: Celery) -> None:
    @app.task(name="charge", shared=False)
    def charge(order: str, amount: int = 1) -> Json:
        return {"order": order, "amount": amount}

    assert run(app, charge, {"order": "4711", "amount": 3}) == Returned(
        Payload.of({"order": "4711", "amount": 3})
    )
    assert run(app, charge, "4711") == Returned(Payload.of({"order": "4711", "amount": 1}))


def test_a_bound_task_sees_a_request_of_its_own(app: Celery) -> None:
    @app.task(name="charge", shared=False, bind=True)
    def charge(self: Task, order: str) -> Json:
        request = self.request
        return [request.id, request.retries, request.called_directly, request.is_eager, order]

    assert run(app, charge, {"order": "x"}) == Returned(Payload.of(["k-1", 2, False, False, "x"]))


def test_the_task_context_is_there_too(app: Celery) -> None:
    @app.task(name="charge", shared=False)
    def charge(task: TaskContext) -> Json:
        return [task.key, current_task().key]

    assert run(app, charge, {}) == Returned(Payload.of(["k-1", "k-1"]))


def test_wrong_arguments_are_a_type_error(app: Celery) -> None:
    @app.task(name="charge", shared=False, bind=True)
    def charge(self: Task, order: str) -> None: ...

    failed = run(app, charge, {"tip": 1})
    assert isinstance(failed, Failed)
    assert failed.error == "TypeError"
    assert "the handler takes (order: 'str')" in str(failed.cause)


def test_an_exception_is_a_failure_by_the_name_of_its_class(app: Celery) -> None:
    @app.task(name="charge", shared=False)
    def charge() -> None:
        raise GatewayAway("no answer")

    assert run(app, charge, {}) == Failed("GatewayAway", "no answer")


def test_signals_are_sent_as_for_every_task(app: Celery) -> None:
    seen: list[str] = []

    @app.task(name="charge", shared=False)
    def charge(fail: bool = False) -> None:
        seen.append("run")
        if fail:
            raise GatewayAway

    def note(name: str) -> Callable[..., None]:
        def receive(**_: object) -> None:
            seen.append(name)

        return receive

    names = ["prerun", "postrun", "success", "failure"]
    receivers = {name: note(name) for name in names}
    for name, receiver in receivers.items():
        getattr(signals, f"task_{name}").connect(receiver, weak=False)
    try:
        run(app, charge, {})
        run(app, charge, {"fail": True})
    finally:
        for name, receiver in receivers.items():
            getattr(signals, f"task_{name}").disconnect(receiver)
    assert seen == ["prerun", "run", "success", "postrun", "prerun", "run", "failure", "postrun"]


def test_a_retry_is_a_failure_and_the_broker_stays_empty(app: Celery) -> None:
    @app.task(name="charge", shared=False, bind=True, max_retries=5)
    def charge(self: Task) -> None:
        try:
            int("no answer")
        except ValueError:
            raise self.retry(countdown=60) from None

    failed = run(app, charge, {})
    assert isinstance(failed, Failed)
    assert failed.error == "Celery.Retry"
    assert str(failed.cause).startswith("ValueError: invalid literal")
    assert published(app) == 0


def test_a_retry_by_configuration_is_a_failure_too(app: Celery) -> None:
    @app.task(name="charge", shared=False, autoretry_for=(GatewayAway,), retry_backoff=True)
    def charge() -> None:
        raise GatewayAway("no answer")

    assert run(app, charge, {}) == Failed("Celery.Retry", "GatewayAway: no answer")
    assert published(app) == 0


def test_a_retry_that_does_not_throw_is_a_failure_nevertheless(app: Celery) -> None:
    @app.task(name="charge", shared=False, bind=True)
    def charge(self: Task) -> str:
        self.retry(throw=False)
        return "went on"

    failed = run(app, charge, {})
    assert isinstance(failed, Failed)
    assert failed.error == "Celery.Retry"
    assert published(app) == 0


def test_a_task_cannot_be_replaced(app: Celery) -> None:
    @app.task(name="other", shared=False)
    def other() -> None: ...

    @app.task(name="charge", shared=False, bind=True)
    def charge(self: Task) -> None:
        raise self.replace(other.s())

    failed = run(app, charge, {})
    assert isinstance(failed, Failed)
    assert failed.error == "Celery.Replace"
    assert published(app) == 0


def test_outside_of_the_engine_a_task_is_retried_by_message_as_ever(app: Celery) -> None:
    @app.task(name="charge", shared=False, bind=True)
    def charge(self: Task) -> None:
        raise self.retry(countdown=0)

    assert isinstance(run(app, charge, {}), Failed)
    assert published(app) == 0
    charge.apply_async()
    before = published(app)
    task = app.tasks["charge"]
    task.push_request(id="x", called_directly=False, args=(), kwargs={}, delivery_info={})
    try:
        with pytest.raises(Exception, match="Retry"):
            task.run()
    finally:
        task.pop_request()
    assert published(app) == before + 1


def test_threads_that_run_one_task_do_not_disturb_each_other(app: Celery) -> None:
    together = threading.Barrier(4)

    @app.task(name="charge", shared=False, bind=True)
    def charge(self: Task, number: int) -> Json:
        together.wait(5)
        if number % 2:
            raise self.retry(exc=GatewayAway(str(number)))
        return [number, self.request.id]

    traced = TracedTask(app, app.tasks["charge"], "celery", "worker@test")
    outcomes: dict[int, Outcome] = {}

    def work(number: int) -> None:
        given = context(key=f"k{number}")
        outcomes[number] = traced.run(Payload.of({"number": number}), given)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {
        0: Returned(Payload.of([0, "k0"])),
        1: Failed("Celery.Retry", "GatewayAway: 1"),
        2: Returned(Payload.of([2, "k2"])),
        3: Failed("Celery.Retry", "GatewayAway: 3"),
    }


def test_a_rejected_task_is_a_failure(app: Celery) -> None:
    @app.task(name="charge", shared=False)
    def charge() -> None:
        raise Reject("not mine")

    failed = run(app, charge, {})
    assert isinstance(failed, Failed)
    assert failed.error == "Reject"


def test_sys_exit_is_a_failure_and_a_shutdown_is_not(app: Celery) -> None:
    @app.task(name="charge", shared=False)
    def charge(shut_down: bool) -> None:
        raise WorkerShutdown if shut_down else SystemExit(3)

    assert run(app, charge, {"shut_down": False}) == Failed("SystemExit", "3")
    with pytest.raises(WorkerShutdown):
        run(app, charge, {"shut_down": True})


def test_a_result_that_is_no_json_is_an_invalid_result(app: Celery) -> None:
    @app.task(name="charge", shared=False)
    def charge() -> object:
        return {"at": {1}}

    assert run(app, charge, {}) == Failed("Task.InvalidResult", "$.at: set")
