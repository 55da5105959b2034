"""A machine: the frozen value of a definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from orchestrator.asl.calls import NO_CALLS, Calls
from orchestrator.asl.readings import assigns, assigns_on, readings, readings_on, variables_read
from orchestrator.asl.states import (
    Await,
    Branch,
    Choice,
    Compensate,
    Fail,
    Map,
    Parallel,
    Pass,
    State,
    Succeed,
    Task,
    Wait,
)
from orchestrator.asl.states.effect import Effect
from orchestrator.asl.states.reaction import NO_REACTIONS, On


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
    calls: Calls = field(default_factory=lambda: NO_CALLS)
    on: On = field(default_factory=lambda: NO_REACTIONS)
    """What holds in every Await unless what is nearer says something else."""
    needs_execution_input: bool = field(init=False)
    starts_executions: bool = field(init=False)
    """Whether a state starts executions and waits for them."""
    assigns: bool = field(init=False)
    exits: bool = field(init=False)
    """Whether some state has effects of its exit."""
    undoes: bool = field(init=False)
    """Whether some state has work that can be undone."""
    _scopes: Mapping[str, Branch] = field(init=False, repr=False, compare=False)
    _around: Mapping[str, str | None] = field(init=False, repr=False, compare=False)
    _effects: Mapping[str, Effect] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        scopes: dict[str, Branch] = {}
        around: dict[str, str | None] = {}
        waiting: list[tuple[Branch, str | None]] = [(Branch(self.start_at, self.states), None)]
        while waiting:
            branch, outer = waiting.pop()
            for name, state in branch.states.items():
                scopes[name], around[name] = branch, outer
                waiting.extend((inner, name) for inner in branches_of(state))
        object.__setattr__(self, "_scopes", MappingProxyType(scopes))
        object.__setattr__(self, "_around", MappingProxyType(around))
        every = tuple(self.every_state())
        effects = [*effects_on(self.on), *(one for state in every for one in effects_of(state))]
        found = MappingProxyType({effect.pointer: effect for effect in effects})
        object.__setattr__(self, "_effects", found)
        exits = any(isinstance(state, Await) and state.on_exit for state in every)
        object.__setattr__(self, "exits", exits)
        undoes = any(
            isinstance(state, Task | Parallel | Map) and state.compensate is not None
            for state in every
        ) or any(isinstance(state, Task | Map) and state.adopts for state in every)
        object.__setattr__(self, "undoes", undoes)
        needs = any(one.reads_execution_input for state in every for one in readings(state))
        needs = needs or any(one.reads_execution_input for one in readings_on(self.on))
        object.__setattr__(self, "needs_execution_input", needs)
        starts = any(
            isinstance(state, Task) and state.resource.waits_for_execution
            for state in self.every_state()
        )
        object.__setattr__(self, "starts_executions", starts)
        assigning = any(assigns(state) for state in every) or assigns_on(self.on)
        object.__setattr__(self, "assigns", assigning)

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

    def around(self, name: str) -> str | None:
        """Return the Parallel or Map directly around a state; None: it stands on the top level."""
        return self._around[name]

    def effect(self, pointer: str) -> Effect:
        """Return the effect or the compensation that stands at a place of the definition."""
        return self._effects[pointer]


def branches_of(state: State) -> tuple[Branch, ...]:
    """Return the scopes directly inside a state."""
    match state:
        case Parallel():
            return state.branches
        case Map():
            return (state.processor,)
        case Task() | Pass() | Choice() | Wait() | Await() | Compensate() | Succeed() | Fail():
            return ()


def effects_of(state: State) -> Iterator[Effect]:
    """Yield the effects of a state, and its compensation."""
    if isinstance(state, Task | Parallel | Map) and state.compensate is not None:
        yield state.compensate
    match state:
        case Await():
            yield from state.on_enter
            yield from state.on_exit
            yield from effects_on(state.on)
            for one in state.after:
                yield from one.effects
        case Parallel() | Map():
            yield from effects_on(state.on)
        case Task() | Pass() | Choice() | Wait() | Compensate() | Succeed() | Fail():
            return


def effects_on(on: On) -> Iterator[Effect]:
    """Yield the effects of the reactions of one level."""
    return (effect for reactions in on.values() for one in reactions for effect in one.effects)
