"""Which reactions answer a call, and whether some state that can still be reached could accept it.

A pure reading of the machine: what a frame's conditions say is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.asl.machine import Machine, branches_of
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
from orchestrator.asl.states.reaction import On, Reaction, ReactionKind, reactions_in


@dataclass(frozen=True, slots=True)
class Answering:
    """The reactions to a call and the level at which they are written.

    `level` is the Await itself, a Parallel or Map around it, or None: the machine.
    """

    level: str | None
    reactions: tuple[Reaction, ...]

    @property
    def may_accept(self) -> bool:
        """Tell whether one of them accepts."""
        return any(reaction.accepts for reaction in self.reactions)


def own(machine: Machine, state: Await, call: str) -> Answering | None:
    """Return how an Await answers a call: its own way, or an inherited one."""
    reactions = reactions_in(state.on, call)
    if reactions is not None:
        return Answering(state.name, reactions)
    return inherited(machine, machine.around(state.name), call)


def inherited(machine: Machine, level: str | None, call: str) -> Answering | None:
    """Return how a Parallel or Map (None: the machine), or what is around it, answers a call."""
    while level is not None:
        reactions = reactions_in(_on(machine.state(level)), call)
        if reactions is not None:
            return Answering(level, reactions)
        level = machine.around(level)
    reactions = reactions_in(machine.on, call)
    return None if reactions is None else Answering(None, reactions)


def _on(state: State) -> On:
    if isinstance(state, Parallel | Map):
        return state.on
    raise TypeError(f"nothing inherits from the state {state.name}")


def could_accept(machine: Machine, name: str, call: str, *, inclusive: bool, inside: bool) -> bool:
    """Tell whether a frame that stands in a state can reach an Await that could accept a call.

    `inclusive`: the state itself is still to be entered. `inside`: the call names the iteration of
    a Map in which the frame is, so that what waits in a Map may be asked, too.
    """
    scope = machine.scope_of(name)
    starts = [name] if inclusive else list(targets(machine, machine.state(name)))
    return any(_accepts(machine, state, call, inside) for state in _reach(machine, scope, starts))


def _reach(machine: Machine, scope: Branch, starts: list[str]) -> Iterator[State]:
    seen: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name in seen or name not in scope.states:
            continue
        seen.add(name)
        state = scope.states[name]
        yield state
        waiting += targets(machine, state)


def _accepts(machine: Machine, state: State, call: str, inside: bool) -> bool:
    if isinstance(state, Await):
        found = own(machine, state, call)
        return found is not None and found.may_accept
    if isinstance(state, Map) and not inside:
        found = inherited(machine, state.name, call)
        return found is not None and found.may_accept and _waits(state.processor)
    return any(
        _accepts(machine, inner, call, inside)
        for branch in branches_of(state)
        for inner in _reach(machine, branch, [branch.start_at])
    )


def _waits(branch: Branch) -> bool:
    """Tell whether some state of a scope, or inside one, is an Await."""
    return any(
        isinstance(state, Await) or any(_waits(inner) for inner in branches_of(state))
        for state in branch.states.values()
    )


def targets(machine: Machine, state: State) -> Iterator[str]:
    """Yield the states to which a state may lead, its end aside."""
    following: list[str | None] = []
    match state:
        case Task() | Pass() | Wait() | Compensate():
            following.append(state.next)
        case Choice():
            following += [state.default, *(rule.next for rule in state.rules)]
        case Parallel() | Map():
            following += [state.next, *_where(state.on)]
        case Await():
            following += [*_where(state.on), *(one.next for one in state.after)]
        case Succeed() | Fail():
            pass
    if isinstance(state, Task | Parallel | Map):
        following += [catcher.next for catcher in state.catch]
    if isinstance(state, Await | Parallel | Map) and machine.around(state.name) is None:
        following += _where(machine.on)
    yield from (name for name in following if name is not None)


def _where(on: On) -> list[str | None]:
    return [reaction.next for reactions in on.values() for reaction in reactions]


# ------------------------------------------------------------------------------- the table


@dataclass(frozen=True, slots=True)
class Row:
    """One state of the table, with its cells in the order of the machine's calls."""

    state: str
    kind: str
    cells: tuple[str, ...]


def table(machine: Machine) -> tuple[Row, ...]:
    """Return what each state that answers calls says to each, in the order of the text."""
    calls = tuple(machine.calls)
    return tuple(
        Row(state.name, type(state).__name__, tuple(_cell(machine, state, call) for call in calls))
        for state in _answering_states(Branch(machine.start_at, machine.states))
    )


def _answering_states(branch: Branch) -> Iterator[State]:
    for state in branch.states.values():
        if isinstance(state, Await | Succeed | Fail):
            yield state
        for inner in branches_of(state):
            yield from _answering_states(inner)


def _cell(machine: Machine, state: State, call: str) -> str:
    if isinstance(state, Await):
        found = own(machine, state, call)
        if found is None:
            return "?"
        words = "; ".join(_words(reaction) for reaction in found.reactions)
        return words if found.level == state.name else f"{words} ({found.level or 'machine'})"
    if isinstance(state, Succeed | Fail):
        reactions = reactions_in(state.on, call)
        if reactions is not None:
            return "; ".join(_words(reaction) for reaction in reactions)
    return "refused: the execution has ended"


def _words(reaction: Reaction) -> str:
    words = ""
    match reaction.kind:
        case ReactionKind.NEXT:
            words = f"→ {reaction.next}"
        case ReactionKind.REFUSE:
            reason = reaction.reason
            said = reason if isinstance(reason, str) else getattr(reason, "text", "")
            words = f"refused: {said}"
        case ReactionKind.STAY:
            words = "stays"
        case ReactionKind.POSTPONE:
            words = "postponed"
    if reaction.effects:
        names = ", ".join(effect.resource.name for effect in reaction.effects)
        words += f", {names}"
    return words if reaction.condition is True else f"if {_condition(reaction)}: {words}"


def _condition(reaction: Reaction) -> str:
    return getattr(reaction.condition, "text", None) or "…"
