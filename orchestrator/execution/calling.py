"""Calls: who is asked, what is carried out, what is kept, and what a kept call hears in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from orchestrator.asl.answering import Answering, could_accept, inherited, own
from orchestrator.asl.choices import Rule
from orchestrator.asl.document import show
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.expressions import Expression
from orchestrator.asl.jsonata import Query
from orchestrator.asl.states import Await, Fail, Map, Parallel, Succeed
from orchestrator.asl.states.reaction import Reaction, ReactionKind, reactions_in
from orchestrator.execution import effect, queries, surroundings, variables
from orchestrator.execution.book import Accepted
from orchestrator.execution.call import ENDED, UNDOING, Call
from orchestrator.execution.dataflow import check_size, placed
from orchestrator.execution.decision import Decision, Missing
from orchestrator.execution.effect import Planned
from orchestrator.execution.failure import leave
from orchestrator.execution.fork import cut_off
from orchestrator.execution.frame import (
    Frame,
    FrameStatus,
    Phase,
    RestsOn,
    is_effect,
    is_undo,
    lineage,
)
from orchestrator.execution.history import Detail
from orchestrator.execution.needs import NeedsMore
from orchestrator.execution.payload import Payload
from orchestrator.execution.queries import NOTHING_MORE
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition
from orchestrator.execution.variables import Assigned

NOBODY_TAKES_IT = "no state that can still be reached takes this call"
NO_SUCH_FRAME = "there is no such frame any more"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A frame that was asked, and what it says: `holder` is the frame at whose level it says so."""

    frame: str
    holder: str
    own: bool
    depth: int
    reaction: Reaction


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """A frame that is open and in no Await; `inclusive`: its state is still to be entered."""

    frame: str
    state: str
    inclusive: bool


@dataclass(frozen=True, slots=True)
class _Move:
    """What a reaction will do, evaluated: from here on nothing can fail."""

    asked: _Asked
    output: Payload
    assigned: Assigned | None
    effects: list[Planned]


# ------------------------------------------------------------------------------------ arrival


def arrive(transition: Transition, call: Call) -> Decision | None:
    """Decide a call. None: it is accepted, and what it has set going is to be followed."""
    view = transition.view
    execution = view.execution
    if execution.ended_at is not None:
        reason = _last_words(transition, execution.final_state, call)
        return _refused(transition, call, execution.final_state, reason)
    root = view.frames.get("")
    standing = None if root is None else root.state
    if execution.phase is Phase.UNDOING:
        reason = _last_words(transition, execution.final_state, call, UNDOING)
        return _refused(transition, call, execution.final_state, reason)
    if call.at is not None and not _is_open(transition, call.at):
        return _refused(transition, call, standing, NO_SUCH_FRAME)
    transition.book.call = call
    try:
        asked, elsewhere = _gathered(transition, call)
        moves = [_planned(transition, call, one) for one in _accepting(asked)]
    except StateFailure as failed:
        return _refused(transition, call, standing, _cause(transition, failed))
    if moves:
        transition.book.arrived = call
        moved = _carry_out(transition, call, moves)
        transition.agenda += reversed(moved)
        return None
    postponed = any(one.reaction.kind is ReactionKind.POSTPONE for one in asked)
    if postponed or _can_reach(transition, call, elsewhere):
        return _kept(transition, call, standing)
    if not asked:
        return _refused(transition, call, standing, NOBODY_TAKES_IT)
    first = asked[0]
    state = transition.tree.standing(first.frame).state
    return _refused(transition, call, state, _reason(transition, first))


def _refused(transition: Transition, call: Call, state: str | None, reason: str) -> Decision:
    """Return the decision that changes nothing but the record of the call."""
    execution = transition.view.execution
    refused = call.refused(state, reason, transition.now)
    return Decision(
        seen_version=execution.version,
        execution=execution,
        calls_inserted=(replace(refused, number=execution.version),),
    )


def _kept(transition: Transition, call: Call, state: str | None) -> Decision:
    """Return the decision that keeps a call; the execution moves on, so that nothing passes it."""
    execution = transition.view.execution
    most = transition.limits.kept_calls
    if execution.kept >= most:
        return _refused(transition, call, state, f"{most} calls wait for their verdict already")
    after = replace(execution, version=execution.version + 1, kept=execution.kept + 1)
    return Decision(
        seen_version=execution.version,
        execution=after,
        calls_inserted=(replace(call, number=after.version),),
    )


def _accepting(asked: list[_Asked]) -> list[_Asked]:
    """Return what is carried out: all own reactions that accept, else the innermost other one."""
    accepting = [one for one in asked if one.reaction.accepts]
    of_their_own = [one for one in accepting if one.own]
    if of_their_own or not accepting:
        return of_their_own
    return [max(accepting, key=lambda one: one.depth)]


def _is_open(transition: Transition, frame_id: str) -> bool:
    frame = transition.view.frames.get(frame_id)
    besides = is_effect(frame_id) or is_undo(frame_id)
    return frame is not None and not besides and frame.status is not FrameStatus.ENDED


# ------------------------------------------------------------------------------ who is asked


def _gathered(
    transition: Transition, call: Call, besides: str | None = None
) -> tuple[list[_Asked], list[_Elsewhere]]:
    """Return what the frames say that are asked, by id, and the frames that are elsewhere."""
    asked: list[_Asked] = []
    elsewhere: list[_Elsewhere] = []
    for found in _walk(transition, call, call.at or ""):
        if isinstance(found, _Elsewhere):
            elsewhere.append(found)
        elif found.frame != besides:
            asked.append(found)
    return asked, elsewhere


def _walk(transition: Transition, call: Call, frame_id: str) -> Iterator[_Asked | _Elsewhere]:
    place = transition.tree.standing(frame_id)
    if (isinstance(place, Thread) and place.gone) or place.status is FrameStatus.ENDED:
        return
    moving = place.next_state if isinstance(place, Thread) else None
    if place.status is FrameStatus.PENDING or moving is not None:
        start = moving or _start(transition, frame_id)
        yield _Elsewhere(frame_id, start, inclusive=True)
    elif place.rests_on is RestsOn.CALL:
        asked = _ask(transition, call, frame_id)
        if asked is not None:
            yield asked
    elif place.fork is not None and place.rests_on is RestsOn.CHILDREN:
        yield from _walk_fork(transition, call, frame_id, place)
    else:
        state = place.state or ""
        # A decision that was cut short rests on the clock before it has done what the state asks.
        begins = isinstance(transition.machine.state(state), Await)
        yield _Elsewhere(frame_id, state, inclusive=begins)


def _start(transition: Transition, frame_id: str) -> str:
    around = transition.fork_state(transition.tree.tally(lineage(frame_id)[-2]))
    if isinstance(around, Map):
        return around.processor.start_at
    return around.branches[int(frame_id.rsplit(".", 1)[1])].start_at


def _walk_fork(
    transition: Transition, call: Call, frame_id: str, place: Thread | Frame
) -> Iterator[_Asked | _Elsewhere]:
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
        yield _Elsewhere(f"{place.id}/", branch.start_at, inclusive=True)


def _walk_map(
    transition: Transition, call: Call, frame_id: str, state: Map, prefix: str
) -> Iterator[_Asked | _Elsewhere]:
    """Ask only what is around a Map: which of its iterations is meant, nobody has said."""
    found = inherited(transition.machine, state.name, call.name)
    if found is not None and transition.book.waits_below(prefix):
        yield _choose(transition, frame_id, found, mine=False)
    else:
        yield _Elsewhere(frame_id, state.name, inclusive=found is not None)


def _ask(transition: Transition, call: Call, frame_id: str) -> _Asked | None:
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


def _choose(transition: Transition, frame_id: str, found: Answering, *, mine: bool) -> _Asked:
    """Return the first reaction whose condition holds; raises StateFailure."""
    tree = transition.tree
    holder, depth = frame_id, 0
    if not mine:
        line = lineage(frame_id)
        holder = next((one for one in line if tree.standing(one).state == found.level), "")
        depth = 0 if found.level is None else holder.count("/") + 1
    thread = tree.thread(holder)
    for reaction in found.reactions:
        if _holds(transition, thread, reaction):
            return _Asked(frame_id, holder, mine, depth, reaction)
    raise ValueError("a list of reactions ends with one that has no condition")


def _holds(transition: Transition, thread: Thread, reaction: Reaction) -> bool:
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


def _can_reach(transition: Transition, call: Call, elsewhere: list[_Elsewhere]) -> bool:
    """Tell whether a frame elsewhere can still come to an Await that could accept the call."""
    machine, inside = transition.machine, call.at is not None
    for one in elsewhere:
        if could_accept(machine, one.state, call.name, inclusive=one.inclusive, inside=inside):
            return True
        for outer in lineage(one.frame)[:-1]:
            if inside and not _is_within(outer, call.at or ""):
                continue
            state = machine.state(transition.tree.standing(outer).state or "")
            again = isinstance(state, Parallel | Map) and bool(state.retry)
            if could_accept(machine, state.name, call.name, inclusive=again, inside=inside):
                return True
    return False


def _is_within(frame_id: str, at: str) -> bool:
    return frame_id == at or frame_id.startswith(f"{at}/")


# ----------------------------------------------------------------------------- carrying out


def _planned(transition: Transition, call: Call, asked: _Asked) -> _Move:
    """Evaluate all that a reaction does; raises StateFailure."""
    thread, reaction = transition.tree.thread(asked.holder), asked.reaction
    assigned = variables.assigned(transition, thread, reaction.assign, thread.input, NOTHING_MORE)
    if assigned is not None:
        before = thread.variables
        variables.keep(transition, thread, assigned)
        thread.variables = before
    output = placed(thread, reaction.result_path, call.input)
    if reaction.result_path is None:
        output = thread.input
    if reaction.output is not None:
        output = Payload.of(queries.rendered(transition, thread, reaction.output))
    check_size(transition, output, thread.state or "")
    return _Move(asked, output, assigned, effect.plan(transition, thread, reaction.effects))


def _carry_out(transition: Transition, call: Call, moves: list[_Move]) -> list[Thread]:
    """Do what reactions say; return the frames that go on."""
    moved = [transition.tree.thread(move.asked.holder) for move in moves]
    first = Accepted(call, moved[0].id, moved[0].state)
    for move, thread in zip(moves, moved, strict=True):
        _move(transition, call, thread, move, first)
    transition.book.call = None
    return [one for one in moved if one.next_state is not None]


def _move(transition: Transition, call: Call, thread: Thread, move: _Move, first: Accepted) -> None:
    reaction, state = move.asked.reaction, transition.state_of(thread)
    stays = reaction.kind is ReactionKind.STAY
    details: dict[str, Detail] = {
        "name": state.name,
        "call": call.name,
        "callId": call.id,
        "input": call.input,
    }
    if stays and move.assigned is not None:
        details["assignedVariables"] = move.assigned
    thread.last_event = transition.record("CallAccepted", thread.last_event, details)
    if thread.id == first.frame:
        transition.book.accepted.append(first)  # not before: the history may have been full
    thread.changed = True
    transition.book.next_turn(thread.id)
    effect.schedule(transition, thread, move.effects)
    if stays:
        if move.assigned is not None:
            variables.keep(transition, thread, move.assigned)
        return
    if thread.rests_on is RestsOn.CHILDREN:
        cut_off(transition, transition.tree.tally(thread.id), thread.last_event)
    else:
        effect.leave_state(transition, thread, same_turn=True)
    leave(transition, thread, state, move.output, reaction.next, move.assigned)


# ------------------------------------------------------------------------------- kept calls


def offer(transition: Transition, thread: Thread) -> None:
    """Offer the kept calls to a frame that has entered an Await, until it has left it."""
    for call in transition.book.kept():
        if thread.gone or thread.rests_on is not RestsOn.CALL:
            return
        if call.at is None or _is_within(thread.id, call.at):
            _offer(transition, thread, call)


def _offer(transition: Transition, thread: Thread, call: Call) -> None:
    book = transition.book
    book.call = call
    try:
        asked = _ask(transition, call, thread.id)
        if asked is not None and asked.reaction.accepts:
            moved = _carry_out(transition, call, [_planned(transition, call, asked)])
            transition.agenda += [one for one in moved if one is not thread]
        elif asked is not None and asked.reaction.kind is ReactionKind.REFUSE:
            others, elsewhere = _gathered(transition, call, besides=thread.id)
            waits = any(one.reaction.kind is not ReactionKind.REFUSE for one in others)
            if not waits and not _can_reach(transition, call, elsewhere):
                reason = _reason(transition, asked)
                book.refused.append(call.refused(thread.state, reason, transition.now))
    except StateFailure as failed:
        reason = _cause(transition, failed)
        book.refused.append(call.refused(thread.state, reason, transition.now))
    finally:
        book.call = None


def close(transition: Transition) -> None:
    """Refuse what is still kept once it is decided with what the execution ends.

    And the call that came when its history was too full to carry it out.
    """
    if not transition.outcome.decided:
        return
    final = transition.outcome.execution.final_state
    otherwise = ENDED if transition.outcome.ended else UNDOING
    for call in transition.book.undecided():
        reason = _last_words(transition, final, call, otherwise)
        transition.book.refused.append(call.refused(final, reason, transition.now))


# ---------------------------------------------------------------------------------- reasons


def _last_words(
    transition: Transition, final_state: str | None, call: Call, otherwise: str = ENDED
) -> str:
    """Return why an execution refuses a call that has ended, or will."""
    state = None if final_state is None else transition.machine.state(final_state)
    if not isinstance(state, Succeed | Fail):
        return otherwise
    reactions = reactions_in(state.on, call.name)
    if reactions is None:
        return otherwise
    thread = Thread("", Payload.of(None))
    thread.state = state.name
    before, transition.book.call = transition.book.call, call
    try:
        chosen = next(one for one in reactions if _holds(transition, thread, one))
        return _words(transition, thread, chosen)
    except StateFailure as failed:
        return _cause(transition, failed)
    finally:
        transition.book.call = before


def _reason(transition: Transition, asked: _Asked) -> str:
    try:
        return _words(transition, transition.tree.thread(asked.holder), asked.reaction)
    except StateFailure as failed:
        return _cause(transition, failed)


def _words(transition: Transition, thread: Thread, reaction: Reaction) -> str:
    """Return the reason of a refusal; raises StateFailure."""
    field, said = f"{reaction.field}/Refuse", ""
    match reaction.reason:
        case str(text):
            said = text
        case Query() as query:
            said = queries.text(transition, thread, query, field)
        case Expression() as expression:
            value = expression.value(
                field,
                thread.input.value,
                surroundings.context(transition, thread),
                transition.draw(field),
                surroundings.variables(transition, thread),
            )
            said = value if isinstance(value, str) else show(value)
        case None:
            pass
    return said[: transition.limits.cause_characters]


def _cause(transition: Transition, failed: StateFailure) -> str:
    failure = failed.failure
    return (failure.cause or failure.error or "")[: transition.limits.cause_characters]
