"""Whatever the machine, its input and its handlers: an execution comes to an end, by the book."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.asl.limits import Limits
from tests.execution.harness import World
from tests.execution.outcomes import Call, Hung, Lost, Outcome, Raised, Returned

ENDS = {"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"}
TERMINAL = {"Succeed", "Fail"}
ERRORS = ["E", "F", "States.ALL", "States.TaskFailed", "States.Timeout", "Task.DeliveriesSpent"]

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abn"), inner, max_size=3)
    ),
    max_leaves=8,
)
PATHS = st.sampled_from(["$", "$.a", "$.b", "$.n", "$[0]", "$..a", "$$.Execution.Input"])
SHAPE = {"a.$": "$.a", "b.$": "$.b", "n.$": "$.n"}
QUERY_SHAPE = {
    "a": "{% $states.input.a %}",
    "b": "{% $states.input.b %}",
    "n": "{% $states.input.n %}",
}
QUERIES = st.sampled_from(
    [
        "{% $states.input %}",
        "{% $states.input.a[0] %}",
        "{% $count($states.input.a) + $states.input.n %}",
        "{% $states.context.State.Name %}",
        "{% $random() & $uuid() %}",
        "{% $v.a %}",
        "{% $exists($w) ? $w : 0 %}",
    ]
)


def shaped(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return objects with an array at `a`: what most states of these machines can work with."""
    parts = {"a": st.lists(items, max_size=4), "b": VALUES, "n": st.integers(0, 5)}
    return st.fixed_dictionaries(parts)


INPUTS = shaped(shaped(shaped(st.integers(0, 5))))


class Maker:
    """Makes machines out of draws, with names that are unique in the whole machine."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.names = 0

    def branch(self, depth: int) -> dict[str, Any]:
        count = self.draw(st.integers(1, 4))
        names = [f"S{self.names + n}" for n in range(count)]
        self.names += count
        made = {}
        for n, name in enumerate(names):
            later = names[n + 1] if n + 1 < count else None
            made[name] = self.state(depth, later, names[n + 1 :])
        return {"StartAt": names[0], "States": made}

    def state(self, depth: int, later: str | None, others: list[str]) -> dict[str, Any]:
        types = ["Pass", "Wait", "Task", "Task"]
        types += ["Choice"] if later else ["Succeed", "Fail"]
        types += ["Parallel", "Map"] if depth else []
        chosen = self.draw(st.sampled_from(types))
        state: dict[str, Any] = {"Type": chosen}
        if chosen not in TERMINAL | {"Choice"}:
            state |= {"Next": later} if later else {"End": True}
        queried = self.draw(st.integers(0, 3)) == 0
        if queried:
            state["QueryLanguage"] = "JSONata"
        getattr(self, f"query_{chosen.lower()}" if queried else chosen.lower())(
            state, depth, others
        )
        if chosen in {"Task", "Parallel", "Map"}:
            self.takes(state, others)
        if chosen not in TERMINAL:
            self.assigns(state, queried=queried)
        return state

    def assigns(self, state: dict[str, Any], *, queried: bool) -> None:
        name = self.draw(st.sampled_from("vw"))
        if queried:
            assign = {name: self.draw(QUERIES)}
        elif self.wild():
            assign = {f"{name}.$": self.draw(PATHS)}
        else:
            assign = {f"{name}.$": "$", "u": self.draw(VALUES)}
        state |= self.choose({"Assign": assign})

    def pass_(self, state: dict[str, Any]) -> None:
        some: dict[str, Any] = {"Parameters": SHAPE}
        if self.wild():
            some = {
                "Result": self.draw(VALUES),
                "Parameters": {"a.$": self.draw(PATHS), "n": 1},
                "ResultPath": self.draw(st.sampled_from(["$.a", "$.b.a", "$", None])),
                "InputPath": self.draw(PATHS),
                "OutputPath": self.draw(st.sampled_from(["$", "$.a", None])),
            }
        state |= self.choose(some)

    def __getattr__(self, name: str) -> Any:
        if name == "pass":
            return lambda state, depth, others: self.pass_(state)  # noqa: ARG005
        raise AttributeError(name)

    def query_output(self, state: dict[str, Any]) -> None:
        state |= self.choose({"Output": self.draw(QUERIES) if self.wild() else QUERY_SHAPE})

    def query_pass(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        self.query_output(state)

    def query_succeed(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        self.query_output(state)

    def query_wait(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        wild = "{% $fromMillis($millis() + 5000) %}" if self.wild() else None
        state |= {"Timestamp": wild} if wild else {"Seconds": "{% $states.input.n %}"}
        self.query_output(state)

    def query_task(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        state["Resource"] = "celery:t"
        # Always one of them: a handler may hang, and nothing else ends that.
        limits: list[Any] = [20, "{% 10 + $states.input.n %}"]
        state["TimeoutSeconds"] = self.draw(st.sampled_from(limits))
        some: dict[str, Any] = {"Arguments": self.draw(QUERIES) if self.wild() else QUERY_SHAPE}
        if self.draw(st.booleans()):
            some["Output"] = "{% $merge([$states.input, {'b': $states.result}]) %}"
        state |= self.choose(some)

    def query_choice(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        condition = "{% $states.input.n > 2 %}" if not self.wild() else self.draw(QUERIES)
        rule = {"Condition": condition, "Next": others[0]}
        state["Choices"] = [{**rule, **self.choose({"Output": QUERY_SHAPE, "Assign": {"r": 1}})}]
        state |= {} if self.wild() else {"Default": self.draw(st.sampled_from(others))}

    def query_fail(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        state |= self.choose({"Error": "{% 'E' %}", "Cause": "{% $states.input.b %}"})

    def query_parallel(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        state["Branches"] = [self.branch(depth - 1) for _ in range(self.draw(st.integers(1, 3)))]
        state["Output"] = "{% $merge([$states.input, {'a': $states.result}]) %}"

    def query_map(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        state["ItemProcessor"] = self.branch(depth - 1)
        state["Items"] = self.draw(QUERIES) if self.wild() else "{% [$states.input.a] %}"
        some = {
            "MaxConcurrency": "{% $states.input.n %}",
            "ToleratedFailureCount": self.draw(st.integers(0, 2)),
            "ItemSelector": {
                "b": "{% $states.context.Map.Item.Value %}",
                "n": "{% $states.context.Map.Item.Index %}",
                "a": [1],
            },
        }
        state |= self.choose(some)
        state["Output"] = "{% $merge([$states.input, {'a': $states.result}]) %}"

    def wait(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        some = [{"Seconds": 0}, {"Seconds": 7}, {"SecondsPath": "$.n"}, {"Seconds": 60}]
        wild = [{"TimestampPath": "$.a"}] if self.wild() else []
        state |= self.draw(st.sampled_from([*some, *wild]))

    def task(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        lambda_arn = "arn:aws:lambda:us-east-1:123456789012:function:f"
        activity = "arn:aws:states:us-east-1:123456789012:activity:a"
        state["Resource"] = self.draw(st.sampled_from(["celery:t", lambda_arn, activity]))
        state["TimeoutSeconds"] = self.draw(st.integers(10, 100))
        wild = self.wild()
        some = {
            "HeartbeatSeconds": 9,
            "ResultPath": "$.b",
            "ResultSelector": {"a.$": self.draw(PATHS)} if wild else SHAPE,
            "Parameters": {"b.$": self.draw(PATHS)} if wild else SHAPE,
        }
        state |= self.choose(some)

    def choice(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        path = self.draw(st.sampled_from(["$.a", "$.n"]))
        rule = {"Variable": path, "IsPresent": self.draw(st.booleans()), "Next": others[0]}
        state["Choices"] = [rule]
        state |= {} if self.wild() else {"Default": self.draw(st.sampled_from(others))}

    def succeed(self, state: dict[str, Any], depth: int, others: list[str]) -> None:
        pass

    def fail(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        state |= self.choose({"Error": "E", "Cause": "why"})

    def parallel(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        state |= {} if self.wild() else {"ResultPath": "$.a"}
        state["Branches"] = [self.branch(depth - 1) for _ in range(self.draw(st.integers(1, 3)))]

    def map(self, state: dict[str, Any], depth: int, others: list[str]) -> None:  # noqa: ARG002
        state["ItemProcessor"] = self.branch(depth - 1)
        some = {
            "MaxConcurrency": self.draw(st.integers(0, 2)),
            "ToleratedFailureCount": self.draw(st.integers(0, 2)),
            "ToleratedFailurePercentage": self.draw(st.integers(0, 100)),
            "ItemSelector": {"b.$": "$$.Map.Item.Value", "n.$": "$$.Map.Item.Index", "a": [1]},
        }
        state |= self.choose(some)
        state["ItemsPath"] = "$.b" if self.wild() else "$.a"
        state |= {} if self.wild() else {"ResultPath": "$.a"}

    def takes(self, state: dict[str, Any], others: list[str]) -> None:
        retrier: dict[str, Any] = {"ErrorEquals": [self.draw(st.sampled_from(ERRORS))]}
        retrier |= {"MaxAttempts": self.draw(st.integers(0, 2)), "JitterStrategy": "FULL"}
        some: dict[str, Any] = {"Retry": [retrier]}
        if others:
            catcher = {"ErrorEquals": [self.draw(st.sampled_from(ERRORS))]}
            target = self.draw(st.sampled_from(others))
            where: dict[str, Any] = {"ResultPath": "$.b"}
            if "QueryLanguage" in state:
                where = {"Output": {**QUERY_SHAPE, "b": "{% $states.errorOutput %}"}}
            some["Catch"] = [{**catcher, **where, "Next": target}]
        state |= self.choose(some)

    def wild(self) -> bool:
        """Tell whether something may go wrong here."""
        return self.draw(st.integers(0, 19)) == 0

    def choose(self, some: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in some.items() if self.draw(st.booleans())}


def reachable(machine: dict[str, Any]) -> dict[str, Any]:
    """Return the machine without the states that nothing leads to: they would be refused."""
    made = machine["States"]
    found, left = set(), [machine["StartAt"]]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        state = made[name]
        left += [state[one] for one in ("Next", "Default") if one in state]
        left += [one["Next"] for one in (*state.get("Catch", ()), *state.get("Choices", ()))]
    kept = {name: made[name] for name in made if name in found}
    for state in kept.values():
        if "Branches" in state:
            state["Branches"] = [reachable(branch) for branch in state["Branches"]]
        if "ItemProcessor" in state:
            state["ItemProcessor"] = reachable(state["ItemProcessor"])
    return {**machine, "States": kept}


@st.composite
def machines(draw: st.DrawFn) -> dict[str, Any]:
    machine = reachable(Maker(draw).branch(depth=2))
    if draw(st.integers(0, 9)) == 0:
        machine["TimeoutSeconds"] = draw(st.integers(1, 200))
    return machine


def scripted(seed: int, values: list[Any]) -> Any:
    random = Random(seed)

    def handle(_: Call) -> Outcome:
        after = random.choice([0.0, 0.0, 1.0, 5.0, 50.0])
        outcomes: list[Outcome] = [Returned(random.choice(values), after)] * 12
        outcomes += [Raised(random.choice("EF"), "why", after), Raised("E"), Hung(), Lost()]
        return random.choice(outcomes)

    return handle


LIMITS = st.sampled_from(
    [
        Limits(),
        Limits(),
        Limits(),
        Limits(states_per_transaction=1),
        Limits(states_per_transaction=3),
        Limits(history_events=30),
        Limits(frames=6, children=3, nesting=1),
        Limits(document_bytes=600),
    ]
)


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    machine=machines(),
    given_input=INPUTS | VALUES,
    values=st.lists(INPUTS, min_size=1, max_size=3),
    seed=st.integers(0, 10**6),
    limits=LIMITS,
    at_most_once=st.booleans(),
)
def test_every_execution_ends(  # hypothesis hands in what varies
    machine: dict[str, Any],
    given_input: Any,
    values: list[Any],
    seed: int,
    limits: Limits,
    *,
    at_most_once: bool,
) -> None:
    world = World(machine, scripted(seed, values), limits, at_most_once)
    world.run(given_input, most=5_000)
    assert world.status in ENDS
    balanced(world)


def balanced(world: World) -> None:
    """Check what a history must agree on, whatever happened."""
    types = world.types
    assert types[0] == "ExecutionStarted"
    assert types[-1].startswith("Execution")
    assert sum(one.startswith("Execution") for one in types) == 2
    ids = {event.id for event in world.history}
    assert all(event.previous_id in ids | {0} for event in world.history)
    exits = [event.previous_id for event in world.history if event.type.endswith("StateExited")]
    assert len(exits) == len(set(exits))
    begun = types.count("MapIterationStarted")
    ended = sum(types.count(f"MapIteration{one}") for one in ("Succeeded", "Failed", "Aborted"))
    assert ended <= begun
    if world.status == "SUCCEEDED":
        assert ended == begun
        assert world.output is not None
