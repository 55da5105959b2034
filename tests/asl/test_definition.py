"""What the parser makes of valid definitions."""

from __future__ import annotations

import json

import pytest

from orchestrator.asl.choices import Rule
from orchestrator.asl.definition import express_findings, parse
from orchestrator.asl.resources import Kind
from orchestrator.asl.states import (
    MISSING,
    Choice,
    Fail,
    Map,
    Parallel,
    Pass,
    Succeed,
    Task,
    Wait,
)
from tests.asl.definition_samples import (
    ALL,
    BRANCH,
    CHOICE,
    DISTRIBUTED,
    FAIL,
    MAP,
    PARALLEL,
    PASS,
    SUCCEED,
    TASK,
    WAIT,
    Object,
    changed,
    machine,
    parsed,
    state,
    warnings,
    without,
)


def nothing() -> None:
    """Stand for a context object that nobody reads."""


@pytest.mark.parametrize("sample", ALL.values(), ids=ALL)
def test_a_valid_state_of_each_type_has_no_errors(sample: Object) -> None:
    read = parsed(machine(sample))
    assert read.machine is not None, read.findings


def test_a_machine_has_the_fields_of_its_top_level_and_its_text() -> None:
    definition = machine(PASS) | {"Comment": "c", "TimeoutSeconds": 30, "Version": "1.0"}
    read = parsed(definition).machine
    assert read is not None
    assert (read.start_at, read.comment, read.timeout_seconds, read.version) == (
        "X",
        "c",
        30,
        "1.0",
    )
    assert json.loads(read.text) == definition
    assert list(read.states) == ["X"]


def test_a_machine_without_a_limit_has_none() -> None:
    read = parsed(machine(PASS)).machine
    assert read is not None
    assert read.timeout_seconds is None


def test_a_task_has_all_its_fields() -> None:
    task = state(TASK)
    assert isinstance(task, Task)
    assert (task.name, task.pointer, task.query_language) == ("X", "/States/X", "JSONPath")
    assert task.resource.kind is Kind.CELERY
    assert (task.timeout_seconds, task.heartbeat_seconds, task.next) == (60, 10, "Done")
    assert task.input_path is not None
    assert task.input_path.text == "$.order"
    assert task.result_path is not None
    assert task.result_path.text == "$.reservation"
    assert task.parameters is not None
    assert task.credentials is not None


def test_retriers_and_catchers_are_read_in_order_with_their_defaults() -> None:
    task = state(TASK)
    assert isinstance(task, Task)
    first, second = task.retry
    assert first.error_equals == ("Busy", "States.Timeout")
    assert (first.interval_seconds, first.max_attempts, first.backoff_rate) == (2, 5, 1.5)
    assert (first.max_delay_seconds, first.full_jitter) == (30, True)
    assert (second.interval_seconds, second.max_attempts, second.backoff_rate) == (1, 3, 2.0)
    assert (second.max_delay_seconds, second.full_jitter) == (None, False)
    assert [catcher.next for catcher in task.catch] == ["Done", "Done"]
    assert [path and path.text for path in (one.result_path for one in task.catch)] == [
        "$.error",
        None,
    ]


def test_absent_paths_are_the_whole_and_null_is_none() -> None:
    plain = state(without(PASS, "ResultPath"))
    nulls = state(changed(PASS, InputPath=None, OutputPath=None, ResultPath=None))
    assert isinstance(plain, Pass)
    assert isinstance(nulls, Pass)
    assert plain.input_path is not None
    assert plain.output_path is not None
    assert plain.result_path is not None
    assert plain.input_path.read({"a": 1}, nothing) == {"a": 1}
    assert (nulls.input_path, nulls.output_path, nulls.result_path) == (None, None, None)


def test_a_pass_without_a_result_differs_from_one_with_null() -> None:
    absent, null = state(without(PASS, "Result")), state(changed(PASS, Result=None))
    assert isinstance(absent, Pass)
    assert isinstance(null, Pass)
    assert absent.result is MISSING
    assert null.result is None


def test_a_result_stays_literal() -> None:
    read = state(changed(PASS, Result={"x.$": "$.a"}))
    assert isinstance(read, Pass)
    assert read.result == {"x.$": "$.a"}


def test_a_choice_has_its_rules_in_order() -> None:
    choice = state(CHOICE)
    assert isinstance(choice, Choice)
    assert [rule.next for rule in choice.rules] == ["Done", "Done"]
    assert [rule.comment for rule in choice.rules] == ["many", None]
    assert choice.default == "Done"
    rule = choice.rules[0].rule
    assert isinstance(rule, Rule)
    assert rule.holds({"n": 4}, nothing)
    assert not rule.holds({"n": 3}, nothing)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("Seconds", 0),
        ("Seconds", 99_999_999),
        ("SecondsPath", "$.s"),
        ("SecondsPath", "$$.Execution.Input.s"),
        ("Timestamp", "2030-01-01T00:00:00Z"),
        ("Timestamp", "2030-01-01T00:00:00.123456789+02:00"),
        ("TimestampPath", "$.t"),
    ],
)
def test_a_wait_takes_any_one_of_its_durations(field: str, value: str | int) -> None:
    wait = state(changed(without(WAIT, "Seconds"), **{field: value}))
    assert isinstance(wait, Wait)
    given = (wait.seconds, wait.seconds_path, wait.timestamp, wait.timestamp_path)
    assert sum(one is not None for one in given) == 1


def test_a_number_without_a_fraction_is_an_integer() -> None:
    wait = state(changed(WAIT, Seconds=5.0))
    assert isinstance(wait, Wait)
    assert isinstance(wait.seconds, int)


def test_a_fail_has_literals_or_expressions() -> None:
    fail = state(FAIL)
    assert isinstance(fail, Fail)
    assert (fail.error, fail.cause, fail.error_path) == ("Bad", None, None)
    assert fail.cause_path is not None
    empty = state({"Type": "Fail"})
    assert isinstance(empty, Fail)
    assert (empty.error, empty.cause, empty.error_path, empty.cause_path) == (None,) * 4


def test_a_succeed_has_paths_only() -> None:
    succeed = state(SUCCEED)
    assert isinstance(succeed, Succeed)
    assert succeed.output_path is None


def test_a_parallel_has_its_branches_in_order() -> None:
    second: Object = {"StartAt": "B", "States": {"B": {"Type": "Fail"}}, "Comment": "c"}
    parallel = state(changed(PARALLEL, Branches=[BRANCH, second]))
    assert isinstance(parallel, Parallel)
    assert [branch.start_at for branch in parallel.branches] == ["Inner", "B"]
    assert parallel.branches[0].states["Inner"].pointer == "/States/X/Branches/0/States/Inner"


def test_a_map_has_its_processor_and_bounds() -> None:
    read = state(MAP)
    assert isinstance(read, Map)
    assert read.processor.start_at == "Inner"
    assert (read.max_concurrency, read.tolerated_failure_percentage) == (4, 12.5)
    assert (read.tolerated_failure_count, read.distributed, read.unsupported) == (None, False, ())
    assert read.items_path.text == "$.items"
    assert read.item_selector is not None


def test_a_map_of_the_old_kind_reads_the_same() -> None:
    old = without(MAP, "ItemProcessor", "ItemSelector", "ItemsPath", "MaxConcurrency")
    read = state(changed(old, Iterator=BRANCH, Parameters={"a.$": "$$.Map.Item.Index"}))
    assert isinstance(read, Map)
    assert read.processor.start_at == "Inner"
    assert read.item_selector is not None
    assert read.parameters is None
    assert (read.items_path.text, read.max_concurrency) == ("$", 0)


def test_a_distributed_map_runs_inline_and_says_so() -> None:
    read = state(DISTRIBUTED)
    assert isinstance(read, Map)
    assert read.distributed
    assert set(read.unsupported) == {"ItemReader", "ItemBatcher", "ResultWriter"}
    found = warnings(machine(DISTRIBUTED))
    assert ("UNSUPPORTED", "/States/X/ItemProcessor/ProcessorConfig/Mode") in found
    assert ("UNSUPPORTED", "/States/X/ItemReader") in found


def test_states_are_found_anywhere_with_their_scope() -> None:
    outer: Object = {"StartAt": "M", "States": {"M": without(MAP, "ItemProcessor")}}
    inner: Object = {"StartAt": "P", "States": {"P": PARALLEL}}
    outer["States"] = {"M": changed(without(MAP, "ItemProcessor"), ItemProcessor=inner)}
    read = parsed(outer).machine
    assert read is not None
    assert read.state("Inner").name == "Inner"
    assert read.scope_of("Inner").start_at == "Inner"
    assert read.scope_of("P").start_at == "P"
    assert read.scope_of("M").states is read.states
    assert {one.name for one in read.every_state()} == {"M", "P", "Inner"}
    with pytest.raises(KeyError):
        read.state("Nowhere")


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("$.a", False),
        ("$$.State.Name", False),
        ("$$.Execution.Id", False),
        ("$$", True),
        ("$$.Execution", True),
        ("$$.Execution.Input", True),
        ("$$.Execution.Input.a.b", True),
        ("$$['Execution']['Input']", True),
        ("$$..Input", True),
    ],
)
def test_a_machine_tells_whether_it_reads_the_input_of_its_execution(
    path: str, needed: bool
) -> None:
    places: list[Object] = [
        changed(PASS, InputPath=path),
        changed(PASS, Parameters={"deep": [{"x.$": path}]}),
        changed(PASS, Parameters={"x.$": f"States.Array({path})"}),
        changed(FAIL, CausePath=path),
        changed(without(WAIT, "Seconds"), SecondsPath="$$.Execution.Input" if needed else "$.a"),
        changed(CHOICE, Choices=[{"Variable": path, "IsPresent": True, "Next": "Done"}]),
        changed(
            PARALLEL, Branches=[{"StartAt": "I", "States": {"I": changed(PASS, OutputPath=path)}}]
        ),
    ]
    for place in places:
        read = parsed(machine(place))
        assert read.machine is not None, read.findings
        assert read.machine.needs_execution_input is needed, place


@pytest.mark.parametrize(
    "sample",
    [
        changed(TASK, Retry=[], Catch=[]),
        changed(PASS, End=True, Comment=""),
        changed(without(TASK, "TimeoutSeconds"), TimeoutSecondsPath="$$.Execution.Input.t"),
        changed(PASS, Parameters={"a.$": "$.[0].body", "b.$": "$.[?(@.x > 0)]"}),
        changed(PASS, Parameters={"c.$": "$.error-info"}),
        changed(PASS, Parameters=None, Next="Done", End=False),
        changed(TASK, Retry=[{"ErrorEquals": ["States.Runtime", "States.Whatever"]}]),
        changed(FAIL, Error="States.TaskFailed"),
        changed(MAP, Label="Lines"),
    ],
)
def test_what_aws_tolerates_is_tolerated(sample: Object) -> None:
    assert parsed(machine(sample)).machine is not None


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        (
            "arn:aws:states:::states:startExecution.sync:2",
            "Express state machine does not support '.sync' service integration",
        ),
        (
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Express state machine does not support '.waitForTaskToken' service integration ",
        ),
        (
            "arn:aws:states:us-east-1:123456789012:activity:A",
            "Express state machine does not support activities",
        ),
    ],
)
def test_an_express_machine_may_not_wait_for_an_answer(resource: str, message: str) -> None:
    inner: Object = {"Type": "Task", "Resource": resource, "End": True}
    read = parsed(machine(changed(PARALLEL, Branches=[{"StartAt": "I", "States": {"I": inner}}])))
    assert read.machine is not None
    (finding,) = express_findings(read.machine)
    assert (finding.message, finding.pointer) == (
        message,
        "/States/X/Branches/0/States/I/Resource",
    )


def test_an_express_machine_may_call_and_go_on() -> None:
    read = parsed(machine(TASK))
    assert read.machine is not None
    assert express_findings(read.machine) == ()


def test_strings_with_nul_and_lone_surrogates_are_kept() -> None:
    text = json.dumps(machine(changed(PASS, Result="a\0\ud800")))
    read = parse(text)
    assert read.machine is not None
    first = read.machine.state("X")
    assert isinstance(first, Pass)
    assert first.result == "a\0\ud800"
