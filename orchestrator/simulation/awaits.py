"""Random states that wait to be called, with timers, reactions and effects.

Each is left by a timer at the latest, so that everything ends though nobody calls any more.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from orchestrator.asl.document import Json
from orchestrator.simulation.case import ONCE, WORK, Manner
from orchestrator.simulation.chance import Chance

State: TypeAlias = dict[str, Json]

GO: Final = "go"
STAY: Final = "stay"
LATER: Final = "later"
LEAVE: Final = "leave"
CALLS: Final = (GO, STAY, LATER, LEAVE)
"""What can be called: GO leads on if its number is large, LEAVE leaves all forks."""
LARGE: Final = 2
LEFT: Final = "Left"
"""The state to which LEAVE leads."""
_OF_EFFECTS: Final = (
    *[Manner.GOOD] * 4,
    *[Manner.FAILING] * 2,
    Manner.SUICIDAL,
    Manner.NOT_JSON,
    Manner.HANGING,
)


def add_calls(chance: Chance, machine: State) -> None:
    """Let a machine be called; what it says itself holds in every state that says nothing."""
    machine["Calls"] = {call: {} for call in CALLS}
    states = machine["States"]
    if isinstance(states, dict) and chance.happens(0.7):
        machine["On"] = {LEAVE: {"Next": LEFT, "Effect": _effect(chance, Manner.GOOD)}}
        states[LEFT] = {"Type": "Succeed", "On": {"*": {"Refuse": "it has left"}}}
    else:
        machine["On"] = {LEAVE: {"Refuse": "nobody leaves"}}


def await_state(chance: Chance, state: State, later: list[str]) -> Manner:
    """Fill in what an Await says; return how the handlers of its effects behave."""
    manner = chance.one_of(_OF_EFFECTS)
    postponed: list[State] = [{"Postpone": True}, {"Next": later[0]}, {"Refuse": "never"}]
    on: State = {
        GO: [
            {
                "Condition": {"Variable": "$$.Call.Input.n", "NumericGreaterThan": LARGE},
                "Next": chance.one_of(later),
                **_some_effect(chance, "Effect", manner),
            },
            {"Refuse.$": "States.Format('{} is too small', $$.Call.Input.n)"},
        ],
        STAY: {"Stay": True, "Effect": _effect(chance, manner)},
        LATER: chance.one_of(postponed),
    }
    if chance.happens(0.3):
        on[LEAVE] = {"Refuse": "not from here"}
    leads: State = {"Seconds": chance.one_of((1, 4, 12)), "Next": chance.one_of(later)}
    reminds: State = {"Seconds": chance.whole(0, 3), "Effect": _effect(chance, manner)}
    state["On"] = on
    state["After"] = [reminds, leads] if chance.happens(0.5) else [leads]
    state |= _some_effect(chance, "OnEnter", manner) | _some_effect(chance, "OnExit", manner)
    return manner


def _some_effect(chance: Chance, field: str, manner: Manner) -> State:
    return {field: _effect(chance, manner)} if chance.happens(0.7) else {}


def _effect(chance: Chance, manner: Manner) -> State:
    retry: State = {"ErrorEquals": ["States.ALL"], "MaxAttempts": 2, "IntervalSeconds": 1}
    effect: State = {"Resource": ONCE if chance.happens(0.2) else WORK, "Retry": [retry]}
    if manner is Manner.HANGING:
        effect["TimeoutSeconds"] = 5
    return effect


def led_to(state: State) -> set[str]:
    """Return the names of the states to which the reactions and timers of a state lead."""
    entries: list[Json] = []
    for answers in (state.get("After"), *_values(state.get("On"))):
        entries += answers if isinstance(answers, list) else [answers]
    nexts = [entry.get("Next") for entry in entries if isinstance(entry, dict)]
    return {name for name in nexts if isinstance(name, str)}


def _values(on: Json) -> list[Json]:
    return list(on.values()) if isinstance(on, dict) else []
