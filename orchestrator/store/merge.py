"""Two decisions of one execution, the second decided on the result of the first, as one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from orchestrator.execution.call import Call, Verdict
from orchestrator.execution.compensation import Compensation, Mark
from orchestrator.execution.decision import Decision, FrameUpdate, Seen, View
from orchestrator.execution.frame import Fork, Frame, is_effect


def merged(first: Decision, second: Decision) -> Decision:
    """Return the decision that writes what both write, one after the other."""
    gone = _merged_gone(first, second)
    inserted, updated, kept = _merged_frames(first, second, gone.keys())
    made, changed, over = _merged_forks(first, second)
    registered, marked = _merged_compensations(first, second)
    arrived = {call.id: call for call in (*first.calls_inserted, *second.calls_inserted)}
    decided = {call.id: call for call in (*first.calls_decided, *second.calls_decided)}
    arrived |= {number: call for number, call in decided.items() if number in arrived}
    return Decision(
        seen_version=first.seen_version,
        execution=second.execution,
        inserted=tuple(inserted.values()),
        updated=tuple(updated.values()),
        kept=tuple(kept.values()),
        registered=registered,
        marked=marked,
        dropped=first.dropped + second.dropped,
        removed=first.removed + second.removed,
        gone=tuple(gone.items()),
        forks_inserted=tuple(made.values()),
        forks_updated=tuple(changed.values()),
        forks_removed=tuple(over),
        history=first.history + second.history,
        input=first.input or second.input,
        output=second.output or first.output,
        calls_inserted=tuple(arrived.values()),
        calls_decided=tuple(call for number, call in decided.items() if number not in arrived),
        commands=first.commands + second.commands,
        orphans=first.orphans + second.orphans,
        leaves_children=first.leaves_children or second.leaves_children,
    )


def _merged_frames(
    first: Decision, second: Decision, gone: Collection[str]
) -> tuple[dict[str, Frame], dict[str, FrameUpdate], dict[str, FrameUpdate]]:
    """Return the frames that are inserted, updated and kept, by id; `gone`: those that go."""
    inserted = {frame.id: frame for frame in first.inserted if not _gone(frame.id, second.removed)}
    updated = {
        change.frame.id: change
        for change in first.updated
        if not _gone(change.frame.id, second.removed)
    }
    for change in second.updated:
        frame = change.frame
        if frame.id in inserted:
            inserted[frame.id] = frame
        elif frame.id in updated:
            updated[frame.id] = FrameUpdate(frame, updated[frame.id].seen)
        else:
            updated[frame.id] = change
    for frame_id in gone:
        updated.pop(frame_id, None)
        inserted.pop(frame_id, None)
    inserted |= {frame.id: frame for frame in second.inserted}
    kept = {change.frame.id: change for change in (*first.kept, *second.kept)}
    for frame_id in kept.keys() & updated.keys():
        kept[frame_id] = FrameUpdate(kept[frame_id].frame, updated.pop(frame_id).seen)
    return inserted, updated, kept


def _merged_compensations(
    first: Decision, second: Decision
) -> tuple[tuple[Compensation, ...], tuple[Mark, ...]]:
    registered = {
        one.number: one
        for one in first.registered
        if not (one.is_open and any(stretch.holds(one.number) for stretch in second.dropped))
    }
    registered |= {one.number: one for one in second.registered}
    marked = {one.number: one for one in first.marked}
    for mark in second.marked:
        if mark.number in registered:
            registered[mark.number] = replace(registered[mark.number], status=mark.status)
        else:
            marked[mark.number] = mark
    left = tuple(mark for number, mark in marked.items() if number not in registered)
    return tuple(registered.values()), left


def _merged_gone(first: Decision, second: Decision) -> dict[str, Seen]:
    """Return what was seen of frames that go: before both, if the first had touched them."""
    made = {frame.id for frame in first.inserted}
    before = {change.frame.id: change.seen for change in first.updated}
    later = {one: before.get(one, seen) for one, seen in second.gone if one not in made}
    return dict(first.gone) | later


def _merged_forks(
    first: Decision, second: Decision
) -> tuple[dict[tuple[str, int], Fork], dict[tuple[str, int], Fork], set[tuple[str, int]]]:
    made = {_key(fork): fork for fork in first.forks_inserted if _stays(fork, second)}
    changed = {_key(fork): fork for fork in first.forks_updated if _stays(fork, second)}
    for fork in second.forks_updated:
        (made if _key(fork) in made else changed)[_key(fork)] = fork
    made |= {_key(fork): fork for fork in second.forks_inserted}
    first_made = {_key(fork) for fork in first.forks_inserted}
    removed = {*first.forks_removed, *second.forks_removed} - first_made
    return made, changed, removed


def overlaid(view: View, decision: Decision) -> View:
    """Return a view as it is once a decision is written that no statement shows yet."""
    frames = {
        number: frame
        for number, frame in view.frames.items()
        if not _gone(number, decision.removed)
    }
    frames |= {change.frame.id: change.frame for change in (*decision.updated, *decision.kept)}
    for number, _ in decision.gone:
        frames.pop(number, None)
    frames |= {frame.id: frame for frame in decision.inserted}
    over = set(decision.forks_removed)
    forks = {
        number: fork
        for number, fork in view.forks.items()
        if _key(fork) not in over and not _gone(number, decision.removed)
    }
    forks |= {fork.frame: fork for fork in (*decision.forks_updated, *decision.forks_inserted)}
    return replace(
        view,
        execution=decision.execution,
        frames=frames,
        forks=forks,
        input=view.input or decision.input,
        calls=None if view.calls is None else _kept(view.calls, decision),
        waiting={},  # what is written may have changed it
        compensations={},
        looked_for=frozenset(),
    )


def calls_in(decision: Decision) -> dict[str, Call]:
    """Return the calls of a decision by id, as it leaves them."""
    return {call.id: call for call in (*decision.calls_inserted, *decision.calls_decided)}


def _kept(before: Sequence[Call], decision: Decision) -> tuple[Call, ...]:
    """Return the calls that are kept once a decision is written."""
    calls = {**{call.id: call for call in before}, **calls_in(decision)}
    kept = [call for call in calls.values() if call.verdict is Verdict.PENDING]
    return tuple(sorted(kept, key=lambda call: call.number))


def _gone(frame: str, prefixes: Sequence[str]) -> bool:
    return not is_effect(frame) and any(frame.startswith(prefix) for prefix in prefixes)


def _key(fork: Fork) -> tuple[str, int]:
    return fork.frame, fork.entry


def _stays(fork: Fork, later: Decision) -> bool:
    return _key(fork) not in later.forks_removed and not _gone(fork.frame, later.removed)
