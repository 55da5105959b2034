"""How handlers are called, and what becomes of what they do."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from orchestrator import handlers
from orchestrator.asl.document import Json
from orchestrator.execution.payload import Payload
from orchestrator.handlers import (
    Failed,
    Outcome,
    Returned,
    TaskCancelled,
    TaskContext,
    TaskError,
    current_task,
    handler,
)


def context(**more: Any) -> TaskContext:
    given: dict[str, Any] = {
        "key": "k-1",
        "attempt": 2,
        "delivery": 1,
        "execution": "4711",
        "machine": "order",
        "state": "Charge",
        "resource": "celery:payments.charge",
    }
    return TaskContext(**(given | more))


def run(
    function: Callable[..., object], document: Json, given: TaskContext | None = None
) -> Outcome:
    name = f"test.{uuid.uuid4()}"
    handler(name)(function)
    return handlers.registered()[name].run(Payload.of(document), given or context())


def value(outcome: Outcome) -> Json:
    assert isinstance(outcome, Returned), outcome
    return outcome.result.value


def failure(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed), outcome
    return outcome


def test_an_object_becomes_keyword_arguments() -> None:
    def charge(order: str, amount: int, currency: str = "EUR") -> dict[str, object]:
        return {"order": order, "amount": amount, "currency": currency}

    given: Json = {"amount": 5, "order": "4711"}
    assert value(run(charge, given)) == {"order": "4711", "amount": 5, "currency": "EUR"}


def test_a_function_without_a_signature_takes_what_it_gets() -> None:
    assert value(run(dict, {"a": 1})) == {"a": 1}


@pytest.mark.parametrize("document", [[1, 2], "text", 7, 1.5, True, None])
def test_anything_else_is_the_one_positional_argument(document: Json) -> None:
    assert value(run(lambda item: item, document)) == document


def test_a_handler_with_the_single_parameter_event_gets_the_whole_document() -> None:
    def whole(event: Json) -> Json:
        return event

    assert value(run(whole, {"order": {"id": 1}})) == {"order": {"id": 1}}


def test_a_lambda_function_gets_the_event_and_a_context() -> None:
    def lambda_handler(event: Json, context: Any) -> list[object]:
        return [event, context.aws_request_id, context.function_name]

    assert value(run(lambda_handler, {"a": 1})) == [{"a": 1}, "k-1", "payments.charge"]


def test_the_task_context_is_given_to_the_parameter_that_asks_for_it() -> None:
    def charge(order: str, task: TaskContext) -> list[object]:
        return [order, task.key, task.attempt, task.delivery, task.execution, task.state]

    assert value(run(charge, {"order": "x"})) == ["x", "k-1", 2, 1, "4711", "Charge"]


def test_the_event_and_the_task_context_go_together() -> None:
    def whole(event: Json, task: TaskContext) -> list[object]:
        return [event, task.key]

    assert value(run(whole, {"a": 1})) == [{"a": 1}, "k-1"]


def test_current_task_answers_inside_a_handler_and_nowhere_else() -> None:
    assert value(run(lambda: current_task().key, {})) == "k-1"
    with pytest.raises(LookupError, match="inside a handler"):
        current_task()


@pytest.mark.parametrize(
    ("document", "part"),
    [
        ({"order": "x"}, "missing a required argument: 'amount'"),
        ({"order": "x", "amount": 1, "tip": 2}, "unexpected keyword argument 'tip'"),
        ({}, "an object with the keys (none)"),
        ([1], "one value (list)"),
    ],
)
def test_wrong_arguments_are_a_type_error_that_says_what_is_taken(
    document: Json, part: str
) -> None:
    def charge(order: str, amount: int) -> None: ...

    failed = failure(run(charge, document))
    assert failed.error == "TypeError"
    assert failed.cause is not None
    assert part in failed.cause
    assert "(order: 'str', amount: 'int')" in failed.cause


def test_a_key_with_the_name_of_the_context_parameter_is_a_type_error() -> None:
    def charge(task: TaskContext) -> None: ...

    assert failure(run(charge, {"task": 1})).error == "TypeError"


def test_an_exception_is_a_failure_by_the_name_of_its_class() -> None:
    class CardDeclined(Exception):
        pass

    def charge() -> None:
        raise CardDeclined("insufficient funds")

    assert run(charge, {}) == Failed("CardDeclined", "insufficient funds")


def test_an_exception_without_text_has_no_cause() -> None:
    def charge() -> None:
        raise ValueError

    assert run(charge, {}) == Failed("ValueError", None)


def test_an_exception_that_cannot_be_printed_is_a_failure_nevertheless() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def charge() -> None:
        raise Broken

    failed = failure(run(charge, {}))
    assert failed.error == "Broken"
    assert "RuntimeError" in str(failed.cause)


def test_a_task_error_names_the_failure_itself() -> None:
    def charge() -> None:
        raise TaskError("Payment.Declined", "limit reached")

    assert run(charge, {}) == Failed("Payment.Declined", "limit reached")


def test_a_cause_is_cut_to_its_limit() -> None:
    def charge() -> None:
        raise ValueError("x" * 100_000)

    assert len(str(failure(run(charge, {})).cause)) == 32 * 1024


def test_sys_exit_in_a_handler_is_a_failure() -> None:
    def charge() -> None:
        raise SystemExit(3)

    assert run(charge, {}) == Failed("SystemExit", "3")


def test_an_exception_outside_the_usual_hierarchy_is_a_failure() -> None:
    class Panic(BaseException):
        pass

    def charge() -> None:
        raise Panic("rust")

    assert run(charge, {}) == Failed("Panic", "rust")


class WorkerShutdown(SystemExit):
    pass


@pytest.mark.parametrize("exception", [KeyboardInterrupt, WorkerShutdown])
def test_what_ends_the_worker_is_no_failure_of_the_task(exception: type[BaseException]) -> None:
    def charge() -> None:
        raise exception

    with pytest.raises(exception):
        run(charge, {})


@pytest.mark.parametrize("exception", [KeyboardInterrupt, WorkerShutdown])
def test_in_a_thread_nothing_but_the_task_can_be_ended(exception: type[BaseException]) -> None:
    def charge() -> None:
        raise exception("enough")

    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(run, charge, {}).result()
    assert outcome == Failed(exception.__name__, "enough")


@pytest.mark.parametrize(
    ("result", "cause"),
    [
        ({"a": [1, 2, 3, {1}]}, "$.a[3]: set"),
        ({"when": b"x"}, "$.when: bytes"),
        ({"a": {1: 2}}, "$.a: the key 1 is no string but int"),
        ([float("nan")], "$[0]: nan is not JSON"),
        ([float("inf")], "$[0]: inf is not JSON"),
        (object, "$: type"),
    ],
)
def test_a_result_that_is_no_json_says_where(result: object, cause: str) -> None:
    assert run(lambda: result, {}) == Failed("Task.InvalidResult", cause)


def test_a_result_that_contains_itself_is_no_json() -> None:
    loop: list[object] = []
    loop.append(loop)
    failed = failure(run(lambda: loop, {}))
    assert failed.error == "Task.InvalidResult"
    assert "nested deeper than 200" in str(failed.cause)


def test_a_huge_integer_is_an_invalid_result() -> None:
    assert failure(run(lambda: 10**400, {})).error == "Task.InvalidResult"


def test_a_result_over_the_limit_fails_as_on_aws() -> None:
    assert failure(run(lambda: "x" * 9_000_000, {})).error == "States.DataLimitExceeded"


def test_tuples_are_arrays_and_a_result_is_a_copy() -> None:
    shared = {"items": (1, 2)}
    result = value(run(lambda: shared, {}))
    shared["items"] = ()  # type: ignore[assignment]
    assert result == {"items": [1, 2]}


def test_strings_that_no_database_takes_come_back_as_they_were() -> None:
    assert value(run(lambda: "a\x00b\ud800", {})) == "a\x00b\ud800"


def test_a_heartbeat_hands_on_progress() -> None:
    told: list[Payload | None] = []

    def note(progress: Payload | None) -> bool:
        told.append(progress)
        return True

    def charge(task: TaskContext) -> bool:
        task.heartbeat({"done": 1})
        task.heartbeat()
        return task.cancelled

    assert value(run(charge, {}, context(beat=note))) is False
    assert told == [Payload.of({"done": 1}), None]


def test_a_heartbeat_raises_once_the_claim_is_gone() -> None:
    def charge(task: TaskContext) -> str:
        try:
            task.heartbeat()
        except TaskCancelled:
            return f"stopped, {task.cancelled}"
        return "went on"

    assert value(run(charge, {}, context(beat=lambda _: False))) == "stopped, True"


def test_a_handler_can_ask_whether_it_is_cancelled() -> None:
    lost = threading.Event()
    lost.set()
    assert value(run(lambda: current_task().cancelled, {}, context(lost=lost))) is True


def test_a_name_serves_celery_and_lambda_and_an_arn_serves_itself() -> None:
    assert handlers.resources_of("payments.charge") == (
        "celery:payments.charge",
        "lambda:payments.charge",
    )
    arn = "arn:aws:states:::sqs:sendMessage"
    assert handlers.resources_of(arn) == (arn,)


def test_a_name_belongs_to_one_function() -> None:
    def first() -> None: ...
    def second() -> None: ...

    name = f"test.{uuid.uuid4()}"
    handler(name)(first)
    handler(name)(first)
    with pytest.raises(ValueError, match="registered"):
        handler(name)(second)


def test_a_coroutine_function_is_refused_at_registration() -> None:
    async def charge() -> None: ...

    with pytest.raises(TypeError, match="coroutine"):
        handler("test.coroutine")(charge)


def test_the_delivery_mode_is_a_choice_of_the_author() -> None:
    name = f"test.{uuid.uuid4()}"
    handler(name, at_most_once=True)(lambda: None)
    assert handlers.registered()[name].at_most_once
