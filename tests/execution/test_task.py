"""Tasks: how an attempt is asked for, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.execution.commands import RingBell, WakeAt
from orchestrator.execution.events import MomentDue, TaskSucceeded
from orchestrator.execution.frame import RestsOn
from tests.execution.definitions import states, task
from tests.execution.harness import START, World
from tests.execution.outcomes import Call, Hung, Lost, Outcome, Raised, Returned, script


def test_a_task_rests_on_its_handler_and_ends_with_the_result() -> None:
    world = World(states(A=task()), script(Returned({"x": 1}))).start({"a": 1})
    frame = world.only_frame()
    assert frame.rests_on is RestsOn.TASK
    assert frame.task is not None
    assert frame.task.resource == "celery:work"
    assert frame.task.arguments.value == {"a": 1}
    assert frame.wake_at is None
    assert world.decisions[0].commands == (RingBell("celery:work"),)
    world.finish()
    assert world.result == {"x": 1}
    assert world.types == [
        "ExecutionStarted",
        "TaskStateEntered",
        "TaskScheduled",
        "TaskStarted",
        "TaskSucceeded",
        "TaskStateExited",
        "ExecutionSucceeded",
    ]
    assert [event.previous_id for event in world.history] == [0, 0, 2, 3, 4, 5, 6]


def test_what_celery_is_asked_for_stands_in_the_history() -> None:
    given: Json = {"n": 1}
    world = World(states(A=task(TimeoutSeconds=60, HeartbeatSeconds=5))).run(given)
    details = dict(world.the("TaskScheduled").details)
    assert details.pop("parameters").value == given  # type: ignore[union-attr]
    assert details == {
        "resourceType": "celery",
        "resource": "work",
        "region": "us-east-1",
        "timeoutInSeconds": 60,
        "heartbeatInSeconds": 5,
    }
    named = {"resourceType": "celery", "resource": "work"}
    assert world.the("TaskStarted").details == {**named, "workerName": "worker"}


def test_parameters_result_selector_result_path_and_output_path_shape_the_data() -> None:
    definition = states(
        A=task(
            InputPath="$.in",
            Parameters={"n.$": "$.n", "fixed": True},
            ResultSelector={"got.$": "$.n"},
            ResultPath="$.out",
            OutputPath="$.out",
        )
    )
    world = World(definition).run({"in": {"n": 7}, "keep": 1})
    assert world.calls[0].input == {"n": 7, "fixed": True}
    assert world.result == {"got": 7}


def test_a_result_path_of_null_drops_the_result() -> None:
    world = World(states(A=task(ResultPath=None)), script(Returned("x"))).run({"keep": 1})
    assert world.result == {"keep": 1}


@pytest.mark.parametrize("field", ["InputPath", "OutputPath"])
def test_a_path_of_null_gives_an_empty_object(field: str) -> None:
    assert World(states(A=task(**{field: None}))).run({"a": 1}).result == {}


def test_the_start_is_recorded_between_the_last_event_and_now() -> None:
    world = World(states(A=task()), script(Returned(1, after_seconds=10))).run()
    started, succeeded = world.the("TaskStarted"), world.the("TaskSucceeded")
    assert started.at == START
    assert succeeded.at == START + timedelta(seconds=10)


@pytest.mark.parametrize(("skew_seconds", "recorded_seconds"), [(-60, 0), (3, 3), (60, 10)])
def test_a_clock_that_goes_wrong_does_not_disorder_the_history(
    skew_seconds: int, recorded_seconds: int
) -> None:
    world = World(states(A=task()), script(Returned(1, after_seconds=10))).start()
    world.claim()
    event = world.next_event()
    assert isinstance(event, TaskSucceeded)
    world.tell(replace(event, started_at=START + timedelta(seconds=skew_seconds)))
    assert world.the("TaskStarted").at == START + timedelta(seconds=recorded_seconds)


def test_an_error_of_the_handler_fails_the_execution_with_its_name_and_cause() -> None:
    world = World(states(A=task()), script(Raised("ValueError", "no such order"))).run()
    assert (world.status, world.error, world.cause) == ("FAILED", "ValueError", "no such order")
    assert world.execution.final_state == "A"
    assert world.types[-3:] == ["TaskStarted", "TaskFailed", "ExecutionFailed"]
    assert world.history[-1].previous_id == world.the("TaskFailed").id


def test_errors_and_causes_are_cut_to_their_limits() -> None:
    world = World(states(A=task()), script(Raised("E" * 300, "c" * 40_000))).run()
    assert (len(world.error or ""), len(world.cause or "")) == (256, 32_768)


def test_an_attempt_that_takes_too_long_times_out() -> None:
    world = World(states(A=task(TimeoutSeconds=5)), script(Hung())).start()
    assert world.only_frame().wake_at == START + timedelta(seconds=5)
    assert world.decisions[0].commands[-1] == WakeAt(START + timedelta(seconds=5))
    world.finish()
    assert (world.error, world.cause, world.seconds) == ("States.Timeout", None, 5.0)
    assert world.types[-3:] == ["TaskStarted", "TaskTimedOut", "ExecutionFailed"]


def test_an_attempt_that_nobody_claimed_times_out_without_having_started() -> None:
    world = World(states(A=task(TimeoutSeconds=5)), served=False).run()
    assert world.error == "States.Timeout"
    assert world.types[-3:] == ["TaskScheduled", "TaskTimedOut", "ExecutionFailed"]


def test_a_missed_heartbeat_is_reported_as_a_time_out() -> None:
    fields = {"TimeoutSeconds": 600, "HeartbeatSeconds": 5}
    world = World(states(A=task(**fields)), script(Hung())).run()
    assert (world.error, world.seconds) == ("States.Timeout", 5.0)


def test_time_limits_can_stand_in_the_input() -> None:
    fields = {"TimeoutSecondsPath": "$.t", "HeartbeatSecondsPath": "$.h"}
    world = World(states(A=task(**fields)), script(Hung())).run({"t": 60, "h": 7})
    assert world.seconds == 7.0
    details = world.the("TaskScheduled").details
    assert (details["timeoutInSeconds"], details["heartbeatInSeconds"]) == (60, 7)


@pytest.mark.parametrize("value", [0, -1, 1.5, "5", True, None, {}])
def test_a_time_limit_in_the_input_is_a_positive_integer(value: Json) -> None:
    world = World(states(A=task(TimeoutSecondsPath="$.t"))).run({"t": value})
    assert world.error == "States.Runtime"
    assert world.types[-2:] == ["TaskStateEntered", "ExecutionFailed"]


def test_a_lost_delivery_is_repeated_with_the_same_token_and_key() -> None:
    world = World(states(A=task()), script(Lost(), Lost(), Returned("done"))).run()
    assert world.result == "done"
    assert [call.delivery for call in world.calls] == [1, 2, 3]
    assert len({call.key for call in world.calls}) == 1
    assert world.types.count("TaskScheduled") == 1


def test_a_task_that_is_lost_too_often_fails_with_a_name_of_its_own() -> None:
    world = World(states(A=task()), script(Lost())).run()
    assert world.error == "Task.DeliveriesSpent"
    assert len(world.calls) == 5
    assert world.types[-3:] == ["TaskStarted", "TaskFailed", "ExecutionFailed"]


def test_a_lost_handler_that_runs_at_most_once_is_not_run_again() -> None:
    world = World(states(A=task()), script(Lost()), at_most_once=True).run()
    assert world.error == "Task.WorkerLost"
    assert len(world.calls) == 1


@pytest.mark.parametrize(
    ("at_most_once", "error"), [(True, "Lambda.Unknown"), (False, "Lambda.ServiceException")]
)
def test_a_lost_function_fails_with_the_names_that_lambda_has(
    at_most_once: bool, error: str
) -> None:
    resource = "arn:aws:lambda:us-east-1:123456789012:function:f"
    world = World(states(A=task(Resource=resource)), script(Lost()), at_most_once=at_most_once)
    assert world.run().error == error


def test_a_result_that_is_no_json_is_the_failure_of_the_task() -> None:
    failed = script(Raised("Task.InvalidResult", "a set is no JSON"))
    assert World(states(A=task()), failed).run().error == "Task.InvalidResult"
    resource = "arn:aws:states:::lambda:invoke"
    definition = states(A=task(Resource=resource, Parameters={"FunctionName": "f"}))
    assert World(definition, failed).run().error == "Lambda.Unknown"


def test_too_large_a_result_is_an_error_that_can_be_caught() -> None:
    catch = [{"ErrorEquals": ["States.DataLimitExceeded"], "Next": "B"}]
    definition = states(A=task(Next="C", Catch=catch), B={"Type": "Succeed"}, C={"Type": "Fail"})
    world = World(definition, script(Returned("x" * 300)), Limits(document_bytes=200)).run()
    assert world.status == "SUCCEEDED"
    assert world.the("TaskFailed").details["error"] == "States.DataLimitExceeded"


def test_arguments_that_are_too_large_end_the_execution() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "B"}]
    definition = states(
        A=task(Parameters={"a.$": "$", "b.$": "$"}, Catch=catch, Next="B"), B={"Type": "Succeed"}
    )
    world = World(definition, limits=Limits(document_bytes=900)).run("x" * 600)
    assert (world.status, world.error) == ("FAILED", "States.DataLimitExceeded")


# ------------------------------------------------------------------------------------------ keys


def test_the_key_is_a_uuid_that_stays_the_same_until_a_failure_is_reported() -> None:
    outcomes = (Lost(), Hung(), Raised("E"), Returned(1))
    fields = {"TimeoutSeconds": 100, "Retry": [{"ErrorEquals": ["States.ALL"]}]}
    world = World(states(A=task(**fields)), script(*outcomes)).run()
    keys = [call.key for call in world.calls]
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert UUID(keys[0]).version == 5


def test_every_entry_of_a_state_has_a_key_of_its_own() -> None:
    rules = [{"Variable": "$", "NumericEquals": 2, "Next": "C"}]
    definition = states(
        A=task(Next="B"),
        B={"Type": "Choice", "Choices": rules, "Default": "A"},
        C={"Type": "Succeed"},
    )
    world = World(definition, script(Returned(1), Returned(2))).run()
    assert world.calls[0].key != world.calls[1].key


def test_executions_do_not_share_keys() -> None:
    first = World(states(A=task()), number=1).run()
    second = World(states(A=task()), number=2).run()
    assert first.calls[0].key != second.calls[0].key


def test_every_attempt_has_a_token_of_its_own() -> None:
    retry = [{"ErrorEquals": ["States.ALL"]}]
    world = World(states(A=task(Retry=retry)), script(Raised("E"), Returned(1))).run()
    tokens = [
        frame.task.token
        for decision in world.decisions
        for frame in (*decision.inserted, *(update.frame for update in decision.updated))
        if frame.task is not None
    ]
    assert len(set(tokens)) == len(tokens) == 2


# ----------------------------------------------------------------------------- kinds of resources


def test_a_function_of_a_lambda_arn_writes_the_events_of_lambda() -> None:
    arn = "arn:aws:lambda:us-east-1:123456789012:function:charge:live"
    world = World(states(A=task(Resource=arn, TimeoutSeconds=9))).run({"a": 1})
    assert world.calls[0].resource == "lambda:charge"
    assert world.types[2:5] == [
        "LambdaFunctionScheduled",
        "LambdaFunctionStarted",
        "LambdaFunctionSucceeded",
    ]
    scheduled = dict(world.the("LambdaFunctionScheduled").details)
    assert scheduled.pop("input").value == {"a": 1}  # type: ignore[union-attr]
    assert scheduled == {"resource": arn, "timeoutInSeconds": 9}


@pytest.mark.parametrize(
    "name",
    [
        "charge",
        "charge:live",
        "arn:aws:lambda:us-east-1:123456789012:function:charge",
        "arn:aws:lambda:us-east-1:123456789012:function:charge:3",
        "123456789012:function:charge",
    ],
)
def test_lambda_invoke_calls_the_function_that_its_parameters_name(name: str) -> None:
    fields = {"FunctionName": name, "Payload": {"n.$": "$.n"}}
    definition = states(A=task(Resource="arn:aws:states:::lambda:invoke", Parameters=fields))
    world = World(definition).run({"n": 1})
    assert (world.calls[0].resource, world.calls[0].input) == ("lambda:charge", {"n": 1})


def test_lambda_invoke_wraps_its_result_as_aws_does() -> None:
    fields = {"FunctionName": "f"}
    definition = states(A=task(Resource="arn:aws:states:::lambda:invoke", Parameters=fields))
    world = World(definition, script(Returned({"x": 1}))).run()
    assert world.result == {
        "ExecutedVersion": "$LATEST",
        "Payload": {"x": 1},
        "SdkHttpMetadata": {"AllHttpHeaders": {}, "HttpHeaders": {}, "HttpStatusCode": 200},
        "SdkResponseMetadata": {"RequestId": world.calls[0].key},
        "StatusCode": 200,
    }


@pytest.mark.parametrize(
    ("payload", "event"),
    [(None, {}), ("0.5", 0.5), ('{"a":1}', {"a": 1}), ("plain", "plain"), ([1], [1])],
)
def test_lambda_invoke_sends_a_text_as_it_is(payload: Json, event: Json) -> None:
    fields = {"FunctionName": "f", "Payload": payload}
    definition = states(A=task(Resource="arn:aws:states:::lambda:invoke", Parameters=fields))
    assert World(definition).run().calls[0].input == event


def test_lambda_invoke_without_a_function_cannot_go_on() -> None:
    fields = {"FunctionName.$": "$.f"}
    definition = states(A=task(Resource="arn:aws:states:::lambda:invoke", Parameters=fields))
    assert World(definition).run({"f": 3}).error == "States.Runtime"


def test_an_error_of_a_function_has_a_cause_as_lambda_words_it() -> None:
    arn = "arn:aws:lambda:us-east-1:123456789012:function:f"
    world = World(states(A=task(Resource=arn)), script(Raised("ValueError", "no"))).run()
    key = world.calls[0].key
    assert world.error == "ValueError"
    assert world.cause == (f'{{"errorMessage":"no","errorType":"ValueError","requestId":"{key}"}}')
    worded = '{"errorMessage":"x","errorType":"E"}'
    again = World(states(A=task(Resource=arn)), script(Raised("E", worded))).run()
    assert again.cause == worded


def test_an_activity_records_who_works_on_it() -> None:
    arn = "arn:aws:states:us-east-1:123456789012:activity:approve"
    world = World(states(A=task(Resource=arn))).run({"a": 1})
    assert world.calls[0].resource == "activity:approve"
    assert world.types[2:5] == ["ActivityScheduled", "ActivityStarted", "ActivitySucceeded"]
    assert world.the("ActivityStarted").details == {"workerName": "worker"}
    assert world.the("ActivityScheduled").details["resource"] == arn


def test_any_service_runs_the_handler_of_that_name() -> None:
    resource = "arn:aws:states:::sns:publish.sync"
    world = World(states(A=task(Resource=resource, Parameters={"m": 1}))).run()
    assert world.calls[0].resource == "arn:aws:states:::sns:publish"
    details = world.the("TaskScheduled").details
    assert (details["resourceType"], details["resource"]) == ("sns", "publish.sync")


def test_credentials_are_recorded_and_not_used() -> None:
    credentials = {"RoleArn.$": "$.role"}
    world = World(states(A=task(Credentials=credentials))).run({"role": "arn:aws:iam::1:role/r"})
    details = world.the("TaskScheduled").details
    assert details["taskCredentials"] == {"roleArn": "arn:aws:iam::1:role/r"}


# ------------------------------------------------------------------------------------ at a moment


def test_a_time_limit_that_moved_is_not_due() -> None:
    world = World(states(A=task(HeartbeatSeconds=5, TimeoutSeconds=60)), script(Hung())).start()
    before = world.only_frame()
    world.claim()
    assert before.wake_at is not None
    world.now = before.wake_at
    world.tell(MomentDue(1, "", before.entry, before.wake_at))
    assert len(world.decisions) == 1


def test_a_handler_sees_which_attempt_it_is() -> None:
    def fail_twice(call: Call) -> Outcome:
        return Returned(call.attempt) if call.attempt == 3 else Raised("E")

    world = World(states(A=task(Retry=[{"ErrorEquals": ["E"]}])), fail_twice).run()
    assert world.result == 3
