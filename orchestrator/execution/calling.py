"""Calls: what is carried out, what is kept, and what a kept call hears in the end."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator.asl.errors import StateFailure
from orchestrator.asl.states.reaction import ReactionKind
from orchestrator.execution import effect, queries, variables
from orchestrator.execution.asking import Asked, ask, can_reach, gathered, is_within
from orchestrator.execution.book import Accepted
from orchestrator.execution.call import ENDED, UNDOING, Call
from orchestrator.execution.dataflow import check_size, placed
from orchestrator.execution.decision import Decision
from orchestrator.execution.effect import Planned
from orchestrator.execution.failure import leave
from orchestrator.execution.fork import cut_off
from orchestrator.execution.frame import FrameStatus, Phase, RestsOn, is_effect, is_undo
from orchestrator.execution.history import Detail
from orchestrator.execution.payload import Payload
from orchestrator.execution.queries import NOTHING_MORE
from orchestrator.execution.refusal import cause, last_words, reason_of
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition
from orchestrator.execution.variables import Assigned

NOBODY_TAKES_IT = "no state that can still be reached takes this call"
NO_SUCH_FRAME = "there is no such frame any more"


@dataclass(frozen=True, slots=True)
class _Move:
    """What a reaction will do, evaluated: from here on nothing can fail."""

    asked: Asked
    output: Payload
    assigned: Assigned | None
    effects: list[Planned]


# ------------------------------------------------------------------------------------ arrival


def arrive(transition: Transition, call: Call) -> Decision | None:
    """Decide a call. None: it is accepted, and what it has set going is to be followed."""
    view = transition.view
    execution = view.execution
    if execution.ended_at is not None:
        reason = last_words(transition, execution.final_state, call)
        return _refused(transition, call, execution.final_state, reason)
    root = view.frames.get("")
    standing = None if root is None else root.state
    if execution.phase is Phase.UNDOING:
        reason = last_words(transition, execution.final_state, call, UNDOING)
        return _refused(transition, call, execution.final_state, reason)
    if call.at is not None and not _is_open(transition, call.at):
        return _refused(transition, call, standing, NO_SUCH_FRAME)
    transition.book.call = call
    try:
        asked, elsewhere = gathered(transition, call)
        moves = [_planned(transition, call, one) for one in _accepting(asked)]
    except StateFailure as failed:
        return _refused(transition, call, standing, cause(transition, failed))
    if moves:
        transition.book.arrived = call
        moved = _carry_out(transition, call, moves)
        transition.agenda += reversed(moved)
        return None
    postponed = any(one.reaction.kind is ReactionKind.POSTPONE for one in asked)
    if postponed or can_reach(transition, call, elsewhere):
        return _kept(transition, call, standing)
    if not asked:
        return _refused(transition, call, standing, NOBODY_TAKES_IT)
    first = asked[0]
    state = transition.tree.standing(first.frame).state
    return _refused(transition, call, state, reason_of(transition, first))


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


def _accepting(asked: list[Asked]) -> list[Asked]:
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


# ----------------------------------------------------------------------------- carrying out


def _planned(transition: Transition, call: Call, asked: Asked) -> _Move:
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
        if call.at is None or is_within(thread.id, call.at):
            _offer(transition, thread, call)


def _offer(transition: Transition, thread: Thread, call: Call) -> None:
    book = transition.book
    book.call = call
    try:
        asked = ask(transition, call, thread.id)
        if asked is not None and asked.reaction.accepts:
            moved = _carry_out(transition, call, [_planned(transition, call, asked)])
            transition.agenda += [one for one in moved if one is not thread]
        elif asked is not None and asked.reaction.kind is ReactionKind.REFUSE:
            others, elsewhere = gathered(transition, call, besides=thread.id)
            waits = any(one.reaction.kind is not ReactionKind.REFUSE for one in others)
            if not waits and not can_reach(transition, call, elsewhere):
                reason = reason_of(transition, asked)
                book.refused.append(call.refused(thread.state, reason, transition.now))
    except StateFailure as failed:
        reason = cause(transition, failed)
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
        reason = last_words(transition, final, call, otherwise)
        transition.book.refused.append(call.refused(final, reason, transition.now))
