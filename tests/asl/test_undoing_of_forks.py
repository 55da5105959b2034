"""The order of undoing of what forks, calls and other executions have done."""

from __future__ import annotations

from typing import Any

from orchestrator.asl.undoing import (
    Beside,
    Doubt,
    Then,
    Undo,
)
from tests.asl.undone import PASSES, Object, end, failures, plain, said, scope, task

# ---------------------------------------------------------------------------------------- forks


def parallel(**fields: Any) -> Object:
    one = scope(A=task("a", "B"), B=task("b"))
    two = scope(C=task("c"))
    fork = {"Type": "Parallel", "Branches": [one, two, scope(N=plain())], **fields}
    return scope(X=task("x", "F"), F={**fork, "Next": "Z"}, Z=plain())


def test_a_finished_parallel_is_one_step_whose_branches_are_side_by_side() -> None:
    assert said(end(parallel(), "Z")) == [("F", [["B", "A"], ["C"]]), "X"]


def test_what_other_branches_have_done_by_then_is_in_doubt() -> None:
    machine = parallel()
    assert said(end(machine, "B")) == [("F", [["A"], ["C?"]]), "X"]
    assert said(end(machine, "C")) == [("F", [["B?", "A?"]]), "X"]
    assert said(end(machine, "F")) == [("F", [["B?", "A?"], ["C?"]]), "X"]


def test_the_compensation_of_a_parallel_stands_for_its_branches_once_it_is_done() -> None:
    machine = parallel(Compensate={"Resource": "celery:undo.f"})
    assert said(end(machine, "B")) == [("F", [["A"], ["C?"]]), "X"]
    assert said(end(machine, "Z")) == ["F", "X"]


def test_a_retrier_of_a_parallel_undoes_first_and_its_catcher_only_what_it_has_done() -> None:
    machine = parallel(
        Retry=[{"ErrorEquals": ["Busy"]}],
        Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Z", "Compensate": True}],
    )
    retry, catch, last = failures(machine)["B"].outcomes
    inside = ("F", [["A"], ["C?"]])
    assert (retry.then, retry.at, retry.errors) == (Then.RETRY, "F", ("Busy",))
    assert (said(retry.steps), said(catch.steps)) == ([inside], [inside])
    assert said(last.steps) == [inside, "X"]
    assert said(end(machine, "Z")) == [("F?", [["B", "A"], ["C"]]), "X"]


def test_a_parallel_whose_failure_was_caught_leaves_what_its_branches_did() -> None:
    machine = parallel(Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Wrong"}])
    machine["States"]["Wrong"] = {"Type": "Fail"}
    assert said(end(machine, "Wrong")) == [("F", [["B?", "A?"], ["C?"]]), "X"]


def mapped(config: Object | None = None, **fields: Any) -> Object:
    processor = scope(A=task("a", "B"), B=task("b"))
    if config:
        processor["ProcessorConfig"] = config
    return scope(M={"Type": "Map", "ItemProcessor": processor, "Next": "Z", **fields}, Z=plain())


def test_iterations_of_a_map_are_told_once() -> None:
    (step,) = end(mapped(MaxConcurrency=3), "B")
    assert isinstance(step, Beside)
    assert (step.state, step.most) == ("M", 3)
    labels = [(thread.label, said(thread.steps)) for thread in step.threads]
    assert labels == [("the iteration that failed", ["A"]), ("each other iteration", ["B?", "A?"])]
    (step,) = end(mapped(), "Z")
    assert isinstance(step, Beside)
    assert [(one.label, said(one.steps)) for one in step.threads] == [
        ("each iteration", ["B", "A"])
    ]


def test_iterations_that_were_tolerated_may_have_done_a_part() -> None:
    assert said(end(mapped(ToleratedFailureCount=1), "Z")) == [("M", [["B?", "A?"]])]


def test_forks_in_forks_are_undone_as_they_are_done() -> None:
    inner = {
        "Type": "Parallel",
        "Branches": [scope(A=task("a")), scope(B=task("b", "C"), C=plain())],
    }
    outer = scope(I={**inner, "Next": "D"}, D=task("d", "E"), E=plain())
    machine = scope(F={"Type": "Parallel", "Branches": [outer], "Next": "Z"}, Z=plain())
    assert said(end(machine, "C")) == [("F", [[("I", [["A?"], ["B"]])]])]
    assert said(end(machine, "E")) == [("F", [["D", ("I", [["A"], ["B"]])]])]
    assert said(end(machine, "Z")) == [("F", [["D", ("I", [["A"], ["B"]])]])]


# ------------------------------------------------------------------------------ other executions


def test_what_an_execution_hands_to_its_parent_is_a_step() -> None:
    child: Object = {
        "Resource": "arn:aws:states:::states:startExecution.sync:2",
        "Parameters": {"StateMachineArn": "arn:aws:states:eu-west-1:1:stateMachine:m"},
    }
    machine = scope(A=plain("B", **child, Compensate=True), B=plain())
    assert end(machine, "B") == (Undo("A", None, Doubt.NONE),)
    machine = scope(A=plain("B", **child), B=plain())
    assert end(machine, "B") == ()


def test_a_distributed_map_is_undone_as_it_runs_like_any_other() -> None:
    config = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    for fields in ({}, {"Compensate": True}):
        assert said(end(mapped(config, **fields), "Z")) == [("M", [["B", "A"]])]


# -------------------------------------------------------------------------------- calls, the rest


def test_a_call_that_leads_out_of_a_fork_leaves_what_its_branches_did() -> None:
    waits = {"Type": "Await", "After": [{"Seconds": 9, "Next": "Done"}]}
    inner = scope(A=task("a", "W"), W=waits, Done=PASSES)
    machine = scope(
        F={
            "Type": "Parallel",
            "Branches": [inner],
            "On": {"cancel": {"Next": "Left"}},
            "Next": "Out",
        },
        Out=plain(),
        Left=plain(),
    )
    machine["Calls"] = {"cancel": {}}
    assert said(end(machine, "W")) == [("F", [["A"]])]
    assert said(end(machine, "Left")) == [("F", [["A?"]])]
    assert said(end(machine, "Out")) == [("F", [["A"]])]


def test_a_pass_or_succeed_fails_only_where_it_evaluates_something() -> None:
    quiet = scope(A={"Type": "Pass", "Result": 1, "Next": "B"}, B={"Type": "Succeed"})
    assert failures(quiet) == {}
    loud = scope(
        A={"Type": "Pass", "Parameters": {"a.$": "$.b"}, "Next": "B"},
        B={"Type": "Succeed", "OutputPath": "$.c"},
    )
    assert list(failures(loud)) == ["A", "B"]
