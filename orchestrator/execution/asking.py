"""Who is asked about a call, and what they say: by id, each at the level that answers for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.asl.answering import Answering, could_accept, inherited, own
from orchestrator.asl.choices import Rule
from orchestrator.asl.jsonata import Query
from orchestrator.asl.states import Await, Map, Parallel
from orchestrator.asl.states.reaction import Reaction
from orchestrator.execution import queries, surroundings
from orchestrator.execution.call import Call
from orchestrator.execution.decision import Missing
from orchestrator.execution.frame import Frame, FrameStatus, RestsOn, lineage
from orchestrator.execution.needs import NeedsMore
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


@dataclass(frozen=True, slots=True)
class Asked:
    """A frame that was asked, and what it says: `holder` is the frame at whose level it says so."""

    frame: str
    holder: str
    own: bool
    depth: int
    reaction: Reaction


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A frame that is open and in no Await; `inclusive`: its state is still to be entered."""

    frame: str
    state: str
    inclusive: bool


def gathered(
    transition: Transition, call: Call, besides: str | None = None
) -> tuple[list[Asked], list[Elsewhere]]:
    """Return what the frames say that are asked, by id, and the frames that are elsewhere."""
    asked: list[Asked] = []
    elsewhere: list[Elsewhere] = []
    for found in _walk(transition, call, call.at or ""):
        if isinstance(found, Elsewhere):
            elsewhere.append(found)
        elif found.frame != besides:
            asked.append(found)
    return asked, elsewhere


def _walk(transition: Transition, call: Call, frame_id: str) -> Iterator[Asked | Elsewhere]:
    place = transition.tree.standing(frame_id)
    if (isinstance(place, Thread) and place.gone) or place.status is FrameStatus.ENDED:
        return
    moving = place.next_state if isinstance(place, Thread) else None
    if place.status is FrameStatus.PENDING or moving is not None:
        start = moving or _start(transition, frame_id)
        yield Elsewhere(frame_id, start, inclusive=True)
    elif place.rests_on is RestsOn.CALL:
        asked = ask(transition, call, frame_id)
        if asked is not None:
            yield asked
    elif place.fork is not None and place.rests_on is RestsOn.CHILDREN:
        yield from _walk_fork(transition, call, frame_id, place)
    else:
        state = place.state or ""
        # A decision that was cut short rests on the clock before it has done what the state asks.
        begins = isinstance(transition.machine.state(state), Await)
        yield Elsewhere(frame_id, state, inclusive=begins)


def _start(transition: Transition, frame_id: str) -> str:
    around = transition.fork_state(transition.tree.tally(lineage(frame_id)[-2]))
    if isinstance(around, Map):
        return around.processor.start_at
    return around.branches[int(frame_id.rsplit(".", 1)[1])].start_at


def _walk_fork(
    transition: Transition, call: Call, frame_id: str, place: Thread | Frame
) -> Iterator[Asked | Elsewhere]:
    tally = transition.tree.tally(frame_id)
    state = transition.fork_state(tally)
    if isinstance(state, Map):
        yield from _walk_map(transition, call, frame_id, state, tally.fork.prefix)
        return
    ids = [f"{tally.fork.prefix}{index}" for index in range(tally.admitted)]
    missing = tuple(one for one in ids if not transition.tree.knows(one))
    if missing:
        raise NeedsMore(Missing(frames=missing))
    for one in ids:
        yield from _walk(transition, call, one)
    for branch in state.branches[tally.admitted :]:
        yield Elsewhere(f"{place.id}/", branch.start_at, inclusive=True)


def _walk_map(
    transition: Transition, call: Call, frame_id: str, state: Map, prefix: str
) -> Iterator[Asked | Elsewhere]:
    """Ask only what is around a Map: which of its iterations is meant, nobody has said."""
    found = inherited(transition.machine, state.name, call.name)
    if found is not None and transition.book.waits_below(prefix):
        yield _choose(transition, frame_id, found, mine=False)
    else:
        yield Elsewhere(frame_id, state.name, inclusive=found is not None)


def ask(transition: Transition, call: Call, frame_id: str) -> Asked | None:
    """Ask a frame that rests in an Await; None: nothing here answers."""
    machine = transition.machine
    state = machine.state(transition.tree.standing(frame_id).state or "")
    if not isinstance(state, Await):
        return None
    if call.at is None:
        for one in lineage(frame_id)[:-1]:
            around = machine.state(transition.tree.standing(one).state or "")
            if isinstance(around, Map):
                found = inherited(machine, around.name, call.name)
                return None if found is None else _choose(transition, one, found, mine=False)
    found = own(machine, state, call.name)
    if found is None:
        return None
    return _choose(transition, frame_id, found, mine=found.level == state.name)


def _choose(transition: Transition, frame_id: str, found: Answering, *, mine: bool) -> Asked:
    """Return the first reaction whose condition holds; raises StateFailure."""
    tree = transition.tree
    holder, depth = frame_id, 0
    if not mine:
        line = lineage(frame_id)
        holder = next((one for one in line if tree.standing(one).state == found.level), "")
        depth = 0 if found.level is None else holder.count("/") + 1
    thread = tree.thread(holder)
    for reaction in found.reactions:
        if holds(transition, thread, reaction):
            return Asked(frame_id, holder, mine, depth, reaction)
    raise ValueError("a list of reactions ends with one that has no condition")


def holds(transition: Transition, thread: Thread, reaction: Reaction) -> bool:
    """Tell whether the condition of a reaction holds; raises StateFailure."""
    match reaction.condition:
        case bool(answer):
            return answer
        case Query() as query:
            return queries.condition(transition, thread, query, f"{reaction.field}/Condition")
        case Rule() as rule:
            return rule.holds(
                thread.input.value,
                surroundings.context(transition, thread),
                surroundings.variables(transition, thread),
            )


def can_reach(transition: Transition, call: Call, elsewhere: list[Elsewhere]) -> bool:
    """Tell whether a frame elsewhere can still come to an Await that could accept the call."""
    machine, inside = transition.machine, call.at is not None
    for one in elsewhere:
        if could_accept(machine, one.state, call.name, inclusive=one.inclusive, inside=inside):
            return True
        for outer in lineage(one.frame)[:-1]:
            if inside and not is_within(outer, call.at or ""):
                continue
            state = machine.state(transition.tree.standing(outer).state or "")
            again = isinstance(state, Parallel | Map) and bool(state.retry)
            if could_accept(machine, state.name, call.name, inclusive=again, inside=inside):
                return True
    return False


def is_within(frame_id: str, at: str) -> bool:
    """Tell whether a frame is another, or under it."""
    return frame_id == at or frame_id.startswith(f"{at}/")
