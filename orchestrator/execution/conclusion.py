"""What one transition comes to: all that it has collected, as a decision to be committed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.execution.commands import Command, RingBell, TellCalls, TellEnd, WakeAt
from orchestrator.execution.decision import Decision, FrameUpdate, Seen
from orchestrator.execution.frame import Execution, Frame, FrameStatus, RestsOn, lineage
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def conclude(transition: Transition) -> Decision:
    """Return what was decided."""
    before = transition.view.execution
    outcome = transition.outcome
    book = transition.book
    accepted = [
        one.call.accepted(one.origin, _rest_of(transition, one.frame), transition.now)
        for one in book.accepted
    ]
    arrived, decided = book.verdicts(accepted, before.version + 1)
    after = replace(
        outcome.execution,
        version=before.version + 1,
        next_event_id=transition.next_event_id,
        last_event_at=transition.now,
        frames=0 if outcome.ended else transition.tree.size,
        kept=before.kept - len(decided),
        effects=book.unended,
    )
    decision = _at_the_end(transition, after) if outcome.ended else _going_on(transition, after)
    if not arrived and not decided:
        return decision
    commands = (*decision.commands, TellCalls()) if decided else decision.commands
    return replace(decision, calls_inserted=arrived, calls_decided=decided, commands=commands)


def _rest_of(transition: Transition, frame_id: str) -> str | None:
    """Return the state in which a frame, or what it was joined into, has come to rest."""
    if transition.outcome.ended:
        return transition.outcome.execution.final_state
    for one in reversed(lineage(frame_id)):
        place = transition.tree.standing(one)
        if not (isinstance(place, Thread) and place.gone):
            return place.state
    return None


def _at_the_end(transition: Transition, after: Execution) -> Decision:
    book, pending = transition.book, transition.pending
    told = (TellEnd(),) if after.is_express or after.parent else ()
    return Decision(
        seen_version=transition.view.execution.version,
        execution=after,
        inserted=book.inserted(),
        updated=book.updated(),
        registered=pending.registered,
        marked=pending.marked,
        dropped=pending.dropped,
        gone=_gone(transition),
        history=tuple(transition.history),
        output=transition.outcome.output,
        commands=(*told, *book.commands()),
        leaves_children=transition.machine.starts_executions,
        orphans=tuple(transition.orphans),
    )


def _going_on(transition: Transition, after: Execution) -> Decision:
    tree, book, pending = transition.tree, transition.book, transition.pending
    inserted: list[Frame] = []
    updated: list[FrameUpdate] = []
    for thread in tree.threads:
        if thread.gone or not thread.changed:
            continue
        if thread.before is None:
            inserted.append(thread.frame())
        else:
            updated.append(FrameUpdate(thread.frame(), Seen.of(thread.before)))
    return Decision(
        seen_version=transition.view.execution.version,
        execution=after,
        inserted=(*inserted, *book.inserted()),
        updated=(*updated, *book.updated()),
        kept=tuple(_keeping(transition)),
        registered=pending.registered,
        marked=pending.marked,
        dropped=pending.dropped,
        removed=tuple(tally.fork.prefix for tally in tree.closed),
        gone=_gone(transition),
        forks_inserted=tuple(one.value() for one in tree.tallies if one.fresh and not one.closed),
        forks_updated=tuple(
            one.value() for one in tree.tallies if one.changed and not one.fresh and not one.closed
        ),
        forks_removed=tuple((one.fork.frame, one.fork.entry) for one in tree.closed),
        history=tuple(transition.history),
        commands=_commands(transition),
        leaves_children=bool(tree.closed) and transition.machine.starts_executions,
        orphans=tuple(transition.orphans),
    )


def _keeping(transition: Transition) -> Iterator[FrameUpdate]:
    for thread in transition.tree.kept:
        if thread.before is not None:
            yield FrameUpdate(thread.frame(), Seen.of(thread.before))


def _gone(transition: Transition) -> tuple[tuple[str, Seen], ...]:
    """Return what was seen of frames that have moved to their end, or to that of all."""
    tree, ended = transition.tree, transition.outcome.ended
    kept = frozenset[str]() if ended else {thread.id for thread in tree.kept}
    return tuple(
        (thread.id, Seen.of(thread.before))
        for thread in tree.threads
        if thread.changed and thread.before is not None and (thread.gone or ended)
        if thread.id not in kept
    )


def _commands(transition: Transition) -> tuple[Command, ...]:
    commands: list[Command] = []
    execution = transition.view.execution
    earliest = execution.deadline_at if execution.version == 0 else None
    for thread in transition.tree.threads:
        if thread.gone or not thread.changed:
            continue
        if thread.task is not None and _is_ready(thread):
            commands.append(RingBell(thread.task.resource))
        if thread.wake_at is not None and (earliest is None or thread.wake_at < earliest):
            earliest = thread.wake_at
    commands += transition.book.commands()
    moments = [] if earliest is None else [earliest]
    moments += transition.book.moments()
    return (*commands, WakeAt(min(moments))) if moments else tuple(commands)


def _is_ready(thread: Thread) -> bool:
    return thread.rests_on is RestsOn.TASK and thread.status is FrameStatus.RESTING
