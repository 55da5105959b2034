"""A machine: the frozen value of a definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from orchestrator.asl.readings import assigns, readings, variables_read
from orchestrator.asl.states import (
    Branch,
    Choice,
    Fail,
    Map,
    Parallel,
    Pass,
    State,
    Succeed,
    Task,
    Wait,
)


@dataclass(frozen=True, slots=True)
class Machine:
    """A parsed definition; `text` is the definition as it was given, `timeout_seconds` its limit.

    `needs_execution_input` tells whether some path reads `$$`, `$$.Execution` or
    `$$.Execution.Input`: otherwise an execution's input need not be at hand to decide.
    `assigns` tells whether some state assigns a variable.
    """

    start_at: str
    states: Mapping[str, State]
    comment: str | None
    timeout_seconds: int | None
    version: str
    text: str
    needs_execution_input: bool = field(init=False)
    starts_executions: bool = field(init=False)
    """Whether a state starts executions and waits for them."""
    assigns: bool = field(init=False)
    _scopes: Mapping[str, Branch] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        scopes: dict[str, Branch] = {}
        waiting = [Branch(self.start_at, self.states)]
        while waiting:
            branch = waiting.pop()
            for name, state in branch.states.items():
                scopes[name] = branch
                waiting.extend(branches_of(state))
        object.__setattr__(self, "_scopes", MappingProxyType(scopes))
        every = tuple(self.every_state())
        needs = any(one.reads_execution_input for state in every for one in readings(state))
        object.__setattr__(self, "needs_execution_input", needs)
        starts = any(
            isinstance(state, Task) and state.resource.waits_for_execution
            for state in self.every_state()
        )
        object.__setattr__(self, "starts_executions", starts)
        object.__setattr__(self, "assigns", any(assigns(state) for state in every))

    def state(self, name: str) -> State:
        """Find a state anywhere in the machine; KeyError if there is none of that name."""
        return self._scopes[name].states[name]

    def every_state(self) -> Iterator[State]:
        """Yield all states, those inside Parallel and Map states too, in no particular order."""
        return (branch.states[name] for name, branch in self._scopes.items())

    def variable_references(self) -> dict[str, list[str]]:
        """Return which variables each state reads, for the states that read any."""
        found = {state.name: variables_read(state) for state in self.every_state()}
        return {name: variables for name, variables in found.items() if variables}

    def scope_of(self, name: str) -> Branch:
        """Return the States object, with its start, in which a state stands."""
        return self._scopes[name]


def branches_of(state: State) -> tuple[Branch, ...]:
    """Return the scopes directly inside a state."""
    match state:
        case Parallel():
            return state.branches
        case Map():
            return (state.processor,)
        case Task() | Pass() | Choice() | Wait() | Succeed() | Fail():
            return ()
