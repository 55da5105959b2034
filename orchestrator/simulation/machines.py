"""Random machines of every state type.

Those of exact cases end the same way in whatever order things happen: what can fail otherwise than
by the one error that all of them share, is caught. The others may do anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from orchestrator.asl import document
from orchestrator.asl.document import Json
from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.simulation.awaits import State, add_calls, await_state, led_to
from orchestrator.simulation.case import LAMBDA, ONCE, WORK, Case, Manner, shaped
from orchestrator.simulation.chance import Chance
from orchestrator.simulation.sagas import add_compensations, doom

SHAPE: Final[Json] = {"a.$": "$.a", "b.$": "$.b", "n.$": "$.n"}
SELECTED: Final[Json] = {
    "a.$": "$$.Map.Item.Value.a",
    "b.$": "$$.Map.Item.Value.b",
    "n.$": "$$.Map.Item.Index",
}
PATIENT_SECONDS: Final = 99_999
"""A time limit that no fault uses up."""
NAMES: Final = ("E", "States.ALL", "States.TaskFailed")
WILD_NAMES: Final = (*NAMES, "F", "States.Timeout", "Task.WorkerLost", "Task.DeliveriesSpent")
TERMINAL: Final = frozenset({"Succeed", "Fail"})
RETRYING: Final = frozenset({"Task", "Parallel", "Map"})


def draw_limits(chance: Chance) -> Limits:
    """Draw the limits of a deployment; a short history is full before an execution's time."""
    limits = replace(DEFAULT, states_per_transaction=chance.one_of((1, 3, 1_000, 1_000)))
    if chance.happens(0.05):
        limits = replace(limits, history_events=chance.whole(20, 40))
    return limits


def draw_case(
    chance: Chance, limits: Limits, *, called: bool = False, undoing: bool = False
) -> Case:
    """Draw a machine with an input and the manners of its handlers.

    `called`: it can be called; `undoing`: it is made of steps that can be undone.
    """
    wild = called or undoing
    exact = not wild and chance.happens(0.5) and limits.history_events is None
    maker = _Maker(chance, exact=exact, called=called, undoing=undoing)
    machine = maker.branch(chance.whole(0, 2))
    if called:
        add_calls(chance, machine)
    if not exact and chance.happens(0.3):
        machine["TimeoutSeconds"] = chance.whole(3, 30)
    if not exact and not called:
        if undoing and chance.happens(0.6):
            doom(machine)
        maker.manners |= add_compensations(document.write(machine), machine, always=undoing)
    return Case(
        text=document.write(machine),
        input=shaped(chance, 2),
        manners=maker.manners,
        exact=exact,
        limits=limits,
        seed=chance.whole(0, 2**31),
    )


class _Maker:
    """Makes machines with names that are unique in the whole machine."""

    def __init__(self, chance: Chance, *, exact: bool, called: bool, undoing: bool) -> None:
        self.chance = chance
        self.exact = exact
        self.called = called
        self.undoing = undoing
        self.manners: dict[str, Manner] = {}
        self.names = 0
        self.most = 12
        """States at most: what is large takes long, and shows no more."""
        self._make: dict[str, Callable[[str, State, int, list[str]], None]] = {
            "Pass": self._pass,
            "Wait": self._wait,
            "Task": self._task,
            "Choice": self._choice,
            "Succeed": lambda *_: None,
            "Fail": self._fail,
            "Parallel": self._parallel,
            "Map": self._map,
            "Await": self._await,
        }

    def branch(self, depth: int) -> dict[str, Json]:
        count = self.chance.whole(2, 5) if self.undoing else self.chance.whole(1, 4)
        names = [f"S{self.names + n}" for n in range(count)]
        self.names += count
        states: dict[str, Json] = {}
        reached = {names[0]}
        for n, name in enumerate(names):
            if name in reached:
                state = self._state(name, depth, names[n + 1 :])
                states[name] = state
                reached |= _leads_to(state)
        return {"StartAt": names[0], "States": states}

    def _state(self, name: str, depth: int, later: list[str]) -> State:
        types = ["Task", "Task", "Task", "Pass", "Wait"]
        types += ["Choice"] if later else ["Succeed", "Fail"]
        if self.called and later:
            types += ["Await"] * 12
        if self.undoing:
            types += ["Task"] * 6
        if depth and self.names < self.most:
            types += ["Parallel", "Map", "Map", "Parallel", "Map"]
        chosen = self.chance.one_of(types)
        state: State = {"Type": chosen}
        if chosen not in TERMINAL | {"Choice", "Await"}:
            state |= {"Next": later[0]} if later else {"End": True}
        if chosen in RETRYING and self.chance.happens(0.5):
            self._takes(state, later)
        self._make[chosen](name, state, depth, later)
        return state

    def _takes(self, state: State, later: list[str]) -> None:
        names = NAMES if self.exact else WILD_NAMES
        if self.chance.happens(0.7):
            retrier: dict[str, Json] = {
                "ErrorEquals": [self.chance.one_of(names)],
                "MaxAttempts": self.chance.whole(0, 2),
                "IntervalSeconds": self.chance.whole(1, 3),
            }
            if self.chance.happens(0.3):
                retrier["JitterStrategy"] = "FULL"
            state["Retry"] = [retrier]
        if later and self.chance.happens(0.6):
            state["Catch"] = [
                {
                    "ErrorEquals": [self.chance.one_of(names)],
                    "ResultPath": "$.b",
                    "Next": self.chance.one_of(later),
                }
            ]

    def _is_caught(self, state: State, later: list[str]) -> bool:
        """Make sure that whatever fails here is caught, if it must be; whether it could be."""
        if not self.exact:
            return True
        if later:
            state["Catch"] = [
                {"ErrorEquals": ["States.ALL"], "ResultPath": "$.b", "Next": later[0]}
            ]
        return bool(later)

    # ------------------------------------------------------------------------- one per state type

    def _pass(self, _name: str, state: State, _depth: int, _later: list[str]) -> None:
        if self.chance.happens(0.3):
            state["Parameters"] = SHAPE
        if not self.exact and self.chance.happens(0.2):
            state["OutputPath"] = self.chance.one_of(("$.a", "$.none", "$"))

    def _wait(self, _name: str, state: State, _depth: int, _later: list[str]) -> None:
        if self.chance.happens(0.3):
            state["SecondsPath"] = "$.n"
        else:
            state["Seconds"] = self.chance.one_of((0, 1, 3, 7))

    def _task(self, name: str, state: State, _depth: int, later: list[str]) -> None:
        state["Resource"] = WORK
        manner = self._manner()
        if manner in (Manner.GOOD, Manner.FAILING):
            state |= {"TimeoutSeconds": PATIENT_SECONDS} if self.chance.happens(0.3) else {}
        elif not self._is_caught(state, later):
            manner = Manner.GOOD
        self.manners[name] = manner
        if manner is Manner.HANGING:
            state["TimeoutSeconds"] = self.chance.whole(5, 8)
        if manner is Manner.SILENT:
            state["HeartbeatSeconds"] = 2
        if manner is not Manner.FAILING and self.chance.happens(0.15):
            self._once(state, later)
        elif not self.exact:
            self._wilder(state)
        if self.chance.happens(0.3):
            state["Parameters"] = SHAPE
        if self.chance.happens(0.2):
            state["ResultPath"] = "$.b"

    def _manner(self) -> Manner:
        manners: list[Manner] = [Manner.GOOD] * 9 + [Manner.FAILING] * 5 + list(Manner)
        return self.chance.one_of(manners)

    def _once(self, state: State, later: list[str]) -> None:
        if self._is_caught(state, later):
            state["Resource"] = ONCE

    def _wilder(self, state: State) -> None:
        if self.chance.happens(0.3):
            state["Resource"] = LAMBDA
        if self.chance.happens(0.6):
            state.setdefault("TimeoutSeconds", self.chance.whole(3, 6))
        if self.chance.happens(0.4):
            state["HeartbeatSeconds"] = 2

    def _await(self, name: str, state: State, _depth: int, later: list[str]) -> None:
        self.manners[name] = await_state(self.chance, state, later)

    def _choice(self, _name: str, state: State, _depth: int, later: list[str]) -> None:
        rules: list[Json] = [
            {"Variable": "$.n", "NumericGreaterThan": 2, "Next": self.chance.one_of(later)},
            {"Variable": "$.b", "IsNull": True, "Next": self.chance.one_of(later)},
        ]
        state["Choices"] = rules[: self.chance.whole(1, 2)]
        if self.exact or self.chance.happens(0.9):
            state["Default"] = later[0]

    def _fail(self, _name: str, state: State, _depth: int, _later: list[str]) -> None:
        state |= {"Error": "E", "Cause": "why"}

    def _parallel(self, _name: str, state: State, depth: int, _later: list[str]) -> None:
        state["Branches"] = [self.branch(depth - 1) for _ in range(self.chance.whole(1, 3))]
        state["ResultPath"] = "$.a"

    def _map(self, _name: str, state: State, depth: int, later: list[str]) -> None:
        state["ItemProcessor"] = self.branch(depth - 1)
        state["ItemsPath"] = "$.a"
        state["ResultPath"] = "$.a"
        if self.chance.happens(0.4):
            state["MaxConcurrency"] = self.chance.whole(1, 2)
        if self.chance.happens(0.3):
            state["ItemSelector"] = SELECTED
        if self.chance.happens(0.3) and self._is_caught(state, later):
            state["ToleratedFailureCount"] = self.chance.whole(1, 2)
            state["ResultPath"] = "$.b"


def _leads_to(state: State) -> set[str]:
    """Return the names of the states to which a state may lead."""
    found: set[str] = set()
    for value in (state.get("Next"), state.get("Default")):
        if isinstance(value, str):
            found.add(value)
    for key in ("Catch", "Choices"):
        rules = state.get(key)
        for rule in rules if isinstance(rules, list) else []:
            if isinstance(rule, dict) and isinstance(rule["Next"], str):
                found.add(rule["Next"])
    return found | led_to(state)
