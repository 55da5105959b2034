"""Variables: assigned at once, seen by what follows and what stands inside, and by nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.execution.frame import FrameStatus
from orchestrator.execution.history import to_aws
from tests.execution.definitions import PASS, machine_of, mapping, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Raised, Returned, script

SHOW: dict[str, Any] = {"Type": "Pass", "Parameters": {"x.$": "$x"}, "End": True}


def assigning(following: str | None = "B", **assign: Any) -> dict[str, Any]:
    """Return a Pass that assigns."""
    end: dict[str, Any] = {"End": True} if following is None else {"Next": following}
    return {"Type": "Pass", "Assign": assign, **end}


def test_what_is_assigned_is_seen_by_the_next_state_in_either_language() -> None:
    paths = {"Type": "Pass", "Assign": {"x.$": "$.a", "y": {"z.$": "$$.State.Name"}}, "Next": "B"}
    query = {
        "Type": "Pass",
        "QueryLanguage": "JSONata",
        "Assign": {"x": "{% $x + 1 %}"},
        "Output": {"x": "{% $x %}", "name": "{% $y.z %}"},
        "Next": "C",
    }
    last = {"Type": "Pass", "Parameters": {"x.$": "$x", "was.$": "$.x"}, "End": True}
    assert World(states(A=paths, B=query, C=last)).run({"a": 1}).result == {"x": 2, "was": 1}


def test_all_values_are_computed_before_any_is_stored() -> None:
    swap = {"Type": "Pass", "Assign": {"x.$": "$y", "y.$": "$x"}, "Next": "C"}
    show = {"Type": "Pass", "Parameters": {"x.$": "$x", "y.$": "$y"}, "End": True}
    assert World(states(A=assigning(x=1, y=2), B=swap, C=show)).run().result == {"x": 2, "y": 1}


def test_a_variable_keeps_its_value_while_the_execution_rests() -> None:
    machine = states(A=assigning(x=[1, {"a": None}]), B=task(ResultPath=None, Next="C"), C=SHOW)
    world = World(machine).start()
    assert world.only_frame().variables is not None
    assert world.finish().result == {"x": [1, {"a": None}]}


def test_each_kind_of_state_assigns_what_it_has_at_hand() -> None:
    machine = states(
        T=task(Assign={"t.$": "$"}, ResultSelector={"a.$": "$.r"}, Next="P"),
        P={"Type": "Pass", "Result": "p", "Assign": {"p.$": "$"}, "Next": "W"},
        W={"Type": "Wait", "Seconds": 0, "Assign": {"w.$": "$"}, "Next": "F"},
        F=parallel(states(S=PASS), Assign={"f.$": "$"}, Next="C"),
        C={
            "Type": "Choice",
            "Choices": [
                {"Variable": "$w", "IsNumeric": True, "Assign": {"c": "wrong"}, "Next": "E"},
                {"Variable": "$p", "StringEquals": "p", "Assign": {"c.$": "$[0]"}, "Next": "E"},
            ],
            "Assign": {"c": "none"},
        },
        E={"Type": "Pass", "Parameters": {f"{n}.$": f"${n}" for n in "tpwfc"}, "End": True},
    )
    world = World(machine, script(Returned({"r": 1}))).run()
    assert world.result == {"t": {"r": 1}, "p": "p", "w": "p", "f": ["p"], "c": "p"}


def test_a_catcher_assigns_instead_of_the_state() -> None:
    catcher = {"ErrorEquals": ["E"], "Assign": {"x.$": "$.Cause"}, "ResultPath": None, "Next": "B"}
    machine = states(A=task(Assign={"x": "done"}, Catch=[catcher]), B=SHOW)
    assert World(machine, script(Raised("E", "why"))).run().result == {"x": "why"}


def test_inner_states_see_outer_variables_and_siblings_do_not_see_each_other() -> None:
    inner = states(I=assigning("J", own="here"), J={**SHOW, "Parameters": {"x.$": "$x"}})
    rule = {"Variable": "$own", "IsPresent": True, "Next": "Y"}
    seeing = {"Type": "Choice", "Choices": [rule], "Default": "N"}
    other = states(
        K={"Type": "Wait", "Seconds": 5, "Next": "L"},
        L=seeing,
        Y={"Type": "Pass", "Result": "seen", "End": True},
        N={"Type": "Pass", "Result": "not seen", "End": True},
    )
    machine = states(A=assigning(x=1), B=parallel(inner, other, Next="C"), C={**SHOW})
    world = World(machine).run()
    exits = [event for event in world.history if event.details.get("name") == "B"]
    assert to_aws(exits[-1])["stateExitedEventDetails"]["output"] == '[{"x":1},"not seen"]'  # type: ignore[index,call-overload]
    assert world.result == {"x": 1}


def test_children_that_rest_see_the_variables_around_them_when_they_go_on() -> None:
    inner = states(I=task(ResultPath="$.r", Next="J"), J={**SHOW})
    machine = states(A=assigning(x=7), B=mapping(inner, MaxConcurrency=1))
    assert World(machine).run([{}, {}]).result == [{"x": 7}, {"x": 7}]


def test_what_is_assigned_inside_dies_with_the_branch() -> None:
    machine = states(A=parallel(states(I=assigning(None, x=1)), Next="B"), B=SHOW)
    world = World(machine).run()
    assert world.error == "States.Runtime"
    assert "$x" in (world.cause or "")


def test_an_inner_state_cannot_assign_an_outer_name() -> None:
    machine = states(A=assigning(x=1), B=parallel(states(I=assigning(None, x=2))))
    world = World(machine).run()
    assert world.error == "States.Runtime"
    assert "'x' cannot be assigned" in (world.cause or "")


def test_a_catcher_of_a_fork_assigns_outside() -> None:
    inner = states(I={"Type": "Fail", "Error": "E"})
    catcher = {"ErrorEquals": ["E"], "Assign": {"x": 2}, "Next": "C"}
    machine = states(A=assigning(x=1), B=parallel(inner, Catch=[catcher]), C=SHOW)
    assert World(machine).run().result == {"x": 2}


def test_a_distributed_map_sees_nothing_of_what_is_around_it() -> None:
    inner = {**states(I={**SHOW, "Parameters": {"x.$": "$x"}})}
    inner["ProcessorConfig"] = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    machine = states(A=assigning(x=1), B=mapping(inner))
    assert World(machine).run([1]).error == "States.Runtime"


def test_every_field_of_paths_may_begin_with_a_variable() -> None:
    start = assigning(v={"a": [1, 2], "s": 0, "e": "E", "c": 1})
    machine = states(
        A=start,
        B={"Type": "Wait", "SecondsPath": "$v.s", "Next": "C"},
        C={"Type": "Pass", "InputPath": "$v", "OutputPath": "$v.a", "Next": "D"},
        D=mapping(states(I=PASS), ItemsPath="$v.a", MaxConcurrencyPath="$v.c", Next="E"),
        E=task(TimeoutSecondsPath="$v.c", Parameters={"t.$": "States.ArrayLength($v.a)"}, Next="F"),
        F={"Type": "Fail", "ErrorPath": "$v.e", "CausePath": "States.Format('{}', $v.e)"},
    )
    world = World(machine).run()
    assert (world.error, world.cause) == ("E", "E")
    assert world.calls[0].input == {"t": 2}


def test_the_history_says_what_was_assigned() -> None:
    world = World(states(A=assigning(None, x="ä", y={"a": [1]}))).run()
    shown = to_aws(world.the("PassStateExited"))["stateExitedEventDetails"]
    assert isinstance(shown, dict)
    assert shown["assignedVariables"] == {"x": '"\\u00e4"', "y": '{"a":[1]}'}
    assert shown["assignedVariablesDetails"] == {"truncated": False}
    none = World(states(A={"Type": "Pass", "Assign": {}, "End": True})).run()
    assert "assignedVariables" not in none.the("PassStateExited").details


LIMITS = Limits(variable_bytes=100, variables_bytes=250)


@pytest.mark.parametrize(
    ("assigned", "cause"),
    [
        ({"x": "a" * 100}, "The variable 'x' has more than 100 bytes."),
        ({"x": "a" * 60, "y": "a" * 60}, "The field 'Assign' assigns more than 100 bytes."),
    ],
)
def test_variables_have_limits(assigned: dict[str, Json], cause: str) -> None:
    world = World(states(A=assigning(None, **assigned)), limits=LIMITS).run()
    assert world.error == "States.DataLimitExceeded"
    assert cause in (world.cause or "")


def test_all_that_a_state_sees_has_a_limit() -> None:
    inner = states(C=assigning(None, z="c" * 80))
    machine = states(A=assigning(x="a" * 80), B=assigning("M", y="b" * 80), M=parallel(inner))
    world = World(machine, limits=LIMITS).run()
    assert world.error == "States.DataLimitExceeded"
    assert "more than 250 bytes" in (world.cause or "")


def test_a_state_counts_its_bytes_not_their_escapes() -> None:
    assert World(states(A=assigning(None, x="ä" * 40)), limits=LIMITS).run().status == "SUCCEEDED"


def test_a_frame_that_has_assigned_nothing_holds_nothing() -> None:
    world = World(states(A=task())).start()
    frame = world.only_frame()
    assert (frame.status, frame.variables) == (FrameStatus.RESTING, None)


def test_a_machine_knows_which_states_read_which_variables() -> None:
    machine = machine_of(
        states(
            A=assigning(x=1),
            B={
                "Type": "Choice",
                "Choices": [{"Variable": "$guess", "StringEqualsPath": "$answer", "Next": "M"}],
                "Default": "M",
            },
            M=mapping(
                states(
                    S={"Type": "Pass", "Assign": {"s.$": "States.MathAdd($x, $y)"}, "End": True}
                ),
                Next="T",
            ),
            T=task(
                QueryLanguage="JSONata",
                Arguments={"a": "{% $z + $states.input.n + $sum($w) %}"},
                Catch=[{"ErrorEquals": ["E"], "Output": "{% $c %}", "Next": "A"}],
            ),
        )
    )
    assert machine.variable_references() == {
        "B": ["answer", "guess"],
        "S": ["x", "y"],
        "T": ["c", "w", "z"],
    }


def test_recorded_machines_say_the_same(shared: Any) -> None:
    import json

    seen = 0
    for file in (shared / "conformance" / "cases" / "api").glob("*variable_references*.json"):
        steps = json.loads(file.read_text())["steps"]
        definition = steps[0]["params"]["definition"]
        expected = steps[1]["expect"].get("variableReferences", {})
        assert machine_of(definition).variable_references() == expected, file.name
        seen += 1
    assert seen >= 7
