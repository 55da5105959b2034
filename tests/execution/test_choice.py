"""Choice states."""

from __future__ import annotations

from typing import Any

import pytest

from tests.execution.definitions import states
from tests.execution.harness import World


def choosing(**fields: Any) -> dict[str, Any]:
    rules = [
        {"Variable": "$.n", "NumericLessThan": 0, "Next": "Low"},
        {"Variable": "$.n", "NumericLessThan": 10, "Next": "Middle"},
    ]
    ends = {name: {"Type": "Pass", "Result": name, "End": True} for name in ("Low", "Middle")}
    return states(C={"Type": "Choice", "Choices": rules, **fields}, **ends)


@pytest.mark.parametrize(("n", "end"), [(-1, "Low"), (5, "Middle"), (50, "Low")])
def test_the_first_rule_that_holds_decides_and_else_the_default(n: int, end: str) -> None:
    assert World(choosing(Default="Low")).run({"n": n}).result == end


def test_no_rule_and_no_default_end_the_execution() -> None:
    world = World(choosing()).run({"n": 50})
    assert (world.error, world.types[-1]) == ("States.Runtime", "ExecutionFailed")
    assert "does not point to a next state" in (world.cause or "")


def test_a_variable_that_leads_nowhere_ends_the_execution() -> None:
    assert World(choosing()).run({}).error == "States.Runtime"


def test_a_choice_hands_its_input_on() -> None:
    definition = states(
        C={
            "Type": "Choice",
            "InputPath": "$.a",
            "OutputPath": "$.b",
            "Choices": [{"Variable": "$.b", "IsPresent": True, "Next": "E"}],
        },
        E={"Type": "Succeed"},
    )
    world = World(definition).run({"a": {"b": 3}})
    assert world.result == 3
    assert world.the("ChoiceStateExited").previous_id == world.the("ChoiceStateEntered").id
