"""States of JSONata: their fields, what `$states` holds, and what a failed expression leads to."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.jsonata import Answer, Question
from orchestrator.asl.limits import Limits
from orchestrator.execution.decide import begin
from orchestrator.execution.evaluate import evaluate_here
from orchestrator.execution.frame import Scope
from orchestrator.execution.history import to_aws
from tests.execution.definitions import PASS, mapping, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Hung, Outcome, Raised, Returned, script


def queries(**named: Any) -> dict[str, Any]:
    """Return a definition of JSONata that starts at the first of the states."""
    return {"QueryLanguage": "JSONata", **states(**named)}


def doubling(call: Call) -> Outcome:
    given: Any = call.input
    return Returned({"twice": given["n"] * 2})


def test_a_task_is_given_its_arguments_and_leaves_its_output() -> None:
    work = task(
        Arguments={"n": "{% $states.input.n + 1 %}", "plain": "$.n"},
        Output={"all": "{% $states.result %}", "of": "{% $states.input.n %}"},
    )
    world = World(queries(A=work), doubling).run({"n": 4})
    assert world.calls[0].input == {"n": 5, "plain": "$.n"}
    assert world.result == {"all": {"twice": 10}, "of": 4}


def test_without_arguments_and_output_work_has_the_input_and_leaves_the_result() -> None:
    world = World(queries(A=task()), doubling).run({"n": 4})
    assert world.calls[0].input == {"n": 4}
    assert world.result == {"twice": 8}


def test_states_that_do_no_work_hand_their_input_on() -> None:
    machine = queries(
        A={"Type": "Pass", "Next": "B"},
        B={"Type": "Choice", "Choices": [{"Condition": True, "Next": "C"}]},
        C={"Type": "Wait", "Seconds": 1, "Next": "D"},
        D={"Type": "Succeed"},
    )
    assert World(machine).run({"n": 4}).result == {"n": 4}


def test_the_first_condition_that_holds_says_where_to_go() -> None:
    choices = [
        {"Condition": "{% $states.input.n > 10 %}", "Output": "big", "Next": "A"},
        {"Condition": "{% $states.input.n > 5 %}", "Output": "mid", "Next": "A"},
        {"Condition": "{% $states.input.n > 3 %}", "Next": "A"},
    ]
    choice = {"Type": "Choice", "Choices": choices, "Default": "A", "Output": "{% 'small' %}"}
    machine = queries(C=choice, A=PASS)
    found = [World(machine).run({"n": n}).result for n in (11, 6, 4, 1)]
    assert found == ["big", "mid", {"n": 4}, "small"]


def test_the_context_is_that_of_paths() -> None:
    both = {"Type": "Pass", "Output": "{% $states.context %}", "End": True}
    paths = {"Type": "Pass", "Parameters": {"c.$": "$$"}, "OutputPath": "$.c", "End": True}
    in_queries = World(queries(S=both)).run({"a": 1}).result
    assert in_queries == World(states(S=paths)).run({"a": 1}).result


def test_a_map_selects_its_items() -> None:
    selector = {"n": "{% $states.context.Map.Item.Index %}", "v": "{% $states.input.suffix %}"}
    machine = queries(
        M=mapping(
            states(S=PASS),
            Items="{% $states.input.list.('x' & $) %}",
            ItemSelector={**selector, "i": "{% $states.context.Map.Item.Value %}"},
            MaxConcurrency="{% 1 %}",
            Output="{% $states.result.(i & v & n) %}",
        )
    )
    world = World(machine).run({"list": ["a", "b"], "suffix": "-"})
    assert world.result == ["xa-0", "xb-1"]


def test_items_that_are_asked_for_again_are_the_same() -> None:
    items = "{% $map([1..$floor($random() * 100) + 600], function($v){$random() * $millis()}) %}"
    machine = queries(M=mapping(states(S=PASS), Items=items, ItemSelector="{% $random() %}"))
    world = World(machine).run()
    assert isinstance(world.result, list)
    assert len(world.result) >= 600
    assert len(set(map(str, world.result))) == len(world.result)


def test_branches_speak_the_language_of_the_machine() -> None:
    paths = {"Type": "Pass", "Parameters": {"n.$": "$.n"}, "End": True}
    machine = states(
        P={**parallel(states(S=paths)), "QueryLanguage": "JSONata", "Arguments": {"n": "{% 1 %}"}}
    )
    assert World(machine).run().result == [{"n": 1}]


@pytest.mark.parametrize("seconds", [7, "{% $states.input.n %}", "{% 7.0 %}"])
def test_a_wait_counts_what_its_expression_gives(seconds: Json) -> None:
    machine = queries(W={"Type": "Wait", "Seconds": seconds, "Output": "over", "End": True})
    world = World(machine).run({"n": 7})
    assert (world.seconds, world.result) == (7.0, "over")


def test_a_wait_ends_at_the_moment_that_its_expression_gives() -> None:
    wait = {"Type": "Wait", "Timestamp": "{% $fromMillis($millis() + 9000) %}", "End": True}
    assert World(queries(W=wait)).run().seconds == 9.0


def test_a_fail_state_says_what_its_expressions_give() -> None:
    fail = {"Type": "Fail", "Error": "{% 'E' & $states.input.n %}", "Cause": "{% 'why' %}"}
    world = World(queries(F=fail)).run({"n": 1})
    assert (world.error, world.cause) == ("E1", "why")


def test_limits_are_what_expressions_give() -> None:
    work = task(TimeoutSeconds="{% $states.input.t %}", HeartbeatSeconds="{% 5 %}")
    world = World(queries(A=work), script(Hung())).run({"t": 60})
    assert (world.error, world.seconds) == ("States.Timeout", 5.0)


def test_a_catcher_sees_the_error_and_the_input() -> None:
    catcher = {
        "ErrorEquals": ["Busy"],
        "Output": {"why": "{% $states.errorOutput.Cause %}", "n": "{% $states.input.n %}"},
        "Next": "B",
    }
    world = World(queries(A=task(Catch=[catcher]), B=PASS), script(Raised("Busy", "full")))
    assert world.run({"n": 3}).result == {"why": "full", "n": 3}


# ------------------------------------------------------------------------------------ failures


def failing(expression: str, **fields: Any) -> dict[str, Any]:
    return queries(A={"Type": "Pass", "End": True, **fields, "Output": {"x": expression}})


def test_a_failed_expression_is_recorded_and_fails_the_state() -> None:
    world = World(failing("{% $states.input.a.b %}")).run({})
    assert world.types[-2:] == ["EvaluationFailed", "ExecutionFailed"]
    shown = to_aws(world.the("EvaluationFailed"))
    cause = (
        "An error occurred while executing the state 'A' (entered at the event id #2). The JSONata"
        " expression '$states.input.a.b' specified for the field 'Output/x' returned nothing"
        " (undefined)."
    )
    assert shown["evaluationFailedEventDetails"] == {
        "error": "States.QueryEvaluationError",
        "cause": cause,
        "location": "Output/x",
        "state": "A",
    }
    assert (world.error, world.cause) == ("States.QueryEvaluationError", cause)


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("Seconds", "{% 'a' %}", "'number', but was 'string' for value: \"a\""),
        ("Seconds", "{% true %}", "'number', but was 'boolean' for value: true"),
        ("Seconds", "{% -1 %}", "must be between 0 and 99999999 but was: -1"),
        ("Seconds", "{% 1.5 %}", "must be an integer but was: 1.5"),
        ("Timestamp", "{% 1 %}", "'string', but was 'number' for value: 1"),
        ("Timestamp", "{% 'soon' %}", "cannot be parsed as an ISO-8601"),
    ],
)
def test_a_value_of_another_type_is_a_failed_expression(
    field: str, value: str, wanted: str
) -> None:
    world = World(queries(W={"Type": "Wait", field: value, "End": True})).run()
    assert world.error == "States.QueryEvaluationError"
    assert wanted in (world.cause or "")
    assert world.the("EvaluationFailed").details["location"] == field


def test_a_condition_must_be_a_boolean() -> None:
    choice = {"Type": "Choice", "Choices": [{"Condition": "{% 1 %}", "Next": "A"}], "Default": "A"}
    world = World(queries(C=choice, A=PASS)).run()
    assert world.the("EvaluationFailed").details["location"] == "Choices[0]/Condition"
    assert "Expected 'boolean', but was 'number' for value: 1" in (world.cause or "")


def test_a_failed_expression_can_be_retried_and_caught() -> None:
    work = task(
        Arguments="{% $states.input.nothing %}",
        Retry=[{"ErrorEquals": ["States.QueryEvaluationError"], "MaxAttempts": 1}],
        Catch=[{"ErrorEquals": ["States.ALL"], "Next": "B"}],
    )
    world = World(queries(A=work, B=PASS)).run({})
    assert world.status == "SUCCEEDED"
    assert world.types.count("EvaluationFailed") == 2


def test_an_output_that_fails_after_the_work_can_be_caught() -> None:
    work = task(
        Output="{% $states.result.nothing %}", Catch=[{"ErrorEquals": ["States.ALL"], "Next": "B"}]
    )
    world = World(queries(A=work, B=PASS)).run({})
    assert world.types.count("TaskSucceeded") == 1
    assert world.result["Error"] == "States.QueryEvaluationError"  # type: ignore[index,call-overload]


def test_a_catcher_whose_expression_fails_fails_the_state() -> None:
    catcher = {"ErrorEquals": ["States.ALL"], "Output": "{% $nothing %}", "Next": "B"}
    world = World(queries(A=task(Catch=[catcher]), B=PASS), script(Raised("E"))).run()
    assert world.error == "States.QueryEvaluationError"
    assert world.the("EvaluationFailed").details["location"] == "Catch[0]/Output"


def test_a_map_that_cannot_begin_has_failed() -> None:
    machine = queries(M=mapping(states(S=PASS), Items="{% 'no' %}"))
    world = World(machine).run()
    assert world.types[-3:] == ["EvaluationFailed", "MapStateFailed", "ExecutionFailed"]


@pytest.mark.parametrize(
    ("definition", "cause"),
    [
        (queries(M=mapping(states(S=PASS), Items="TOOLS")), "must be an array but was"),
        (queries(C={"Type": "Choice", "Choices": "RULES", "Default": "A"}, A=PASS), "RULES"),
        (states(W={"Type": "Wait", "Seconds": "${Timeout}", "End": True}), "${Timeout}"),
        (states(M=mapping(states(S=PASS), MaxConcurrency="${Most}")), "${Most}"),
    ],
)
def test_a_text_that_a_template_was_to_replace_fails_the_state_that_is_reached(
    definition: Json, cause: str
) -> None:
    assert cause in (World(definition).run([]).cause or "")


def test_a_text_that_spells_a_number_is_that_number() -> None:
    assert World(states(W={"Type": "Wait", "Seconds": "7", "End": True})).run().seconds == 7.0


# ------------------------------------------------------------------------------------ evaluation


def test_who_calls_says_where_expressions_are_evaluated() -> None:
    asked: list[str] = []

    def evaluate(question: Question) -> Answer:
        asked.append(question.query.text)
        return Answer("from elsewhere")

    world = World(queries(A={"Type": "Pass", "Output": "{% 1 + 1 %}", "End": True})).start()
    decision = begin(
        world.machine, world.execution, Scope(), world.input, world.now, b"", Limits(), evaluate
    )
    assert asked == ["1 + 1"]
    assert decision.output is not None
    assert decision.output.value == "from elsewhere"


def slowly(question: Question) -> Answer:
    answered = evaluate_here(question)
    return Answer(answered.value, answered.reason, seconds=3.0)


def test_a_decision_that_has_evaluated_for_long_rests_before_the_next_state() -> None:
    named = {f"S{n}": {"Type": "Pass", "Output": "{% 1 %}", "Next": f"S{n + 1}"} for n in range(9)}
    world = World(queries(**named, S9=PASS), evaluate=slowly).run()
    assert world.result == 1
    assert len(world.decisions) == 5


def test_a_state_may_not_evaluate_for_ever() -> None:
    items = [1, 2, 3]
    machine = queries(M=mapping(states(S=PASS), Items=items, ItemSelector="{% 1 %}"))
    world = World(machine, evaluate=slowly).run()
    assert world.error == "States.QueryEvaluationError"
    assert "takes more than 5 seconds" in (world.cause or "")
