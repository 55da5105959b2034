"""A store of dictionaries: it hands out what a store would, and takes only what could be stored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from orchestrator.asl.machine import Machine
from orchestrator.execution import call as execution_call
from orchestrator.execution.compensation import Compensation, Key, Wanted
from orchestrator.execution.decision import (
    Around,
    Decision,
    FrameUpdate,
    Missing,
    View,
)
from orchestrator.execution.frame import (
    Execution,
    Fork,
    Frame,
    FrameStatus,
    RestsOn,
    Scope,
    lineage,
    parent_id,
)
from orchestrator.execution.history import HistoryEvent, decode, encode
from orchestrator.execution.payload import Payload


class _Activities(dict[str, bool]):
    """Every activity is there, but for those that are named so."""

    def __contains__(self, _name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> bool:
        return not name.startswith("deleted")


AROUND = Around(activities=_Activities())


@dataclass
class Memory:
    """What a store would have of one execution; every decision is checked when it is stored."""

    machine: Machine
    execution: Execution
    input: Payload
    frames: dict[str, Frame] = field(default_factory=dict)
    forks: dict[str, Fork] = field(default_factory=dict)
    history: list[HistoryEvent] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    output: Payload | None = None
    asked: dict[str, execution_call.Call] = field(default_factory=dict)
    """The calls on record, by id."""
    compensations: dict[Key, Compensation] = field(default_factory=dict)

    def view(self, frame_id: str) -> View:
        line = [one for one in lineage(frame_id) if one in self.frames]
        return View(
            execution=self.execution,
            scope=Scope(),
            frames={one: self.frames[one] for one in line},
            forks={one: self.forks[one] for one in line if one in self.forks},
            input=self.input if self.machine.needs_execution_input else None,
        )

    def read_more(self, view: View, missing: Missing) -> View:
        found = dict(view.frames)
        for one in missing.frames:
            if one in self.frames:
                found[one] = self.frames[one]
        for prefix in missing.below:
            found |= {n: f for n, f in self.frames.items() if n.startswith(prefix)}
        for one in missing.effects:
            found |= {n: f for n, f in self.unended().items() if n.startswith(f"{one}!")}
        below = view.below | frozenset(missing.below)
        if missing.all_frames:
            found |= {n: f for n, f in self.frames.items() if "!" not in n and n[:1] != "~"}
            below |= {fork.prefix for fork in self.forks.values()}
        waiting = {
            prefix: any(f.rests_on is RestsOn.CALL for f in self.tree(prefix).values())
            for prefix in missing.waiting
        }
        return replace(
            view,
            frames=found,
            forks={one: self.forks[one] for one in found if one in self.forks},
            below=below,
            calls=self.kept() if missing.calls else view.calls,
            effects=view.effects | frozenset(missing.effects),
            waiting={**view.waiting, **waiting},
            looked_for=view.looked_for | frozenset(missing.frames),
            compensations={
                **view.compensations,
                **{wanted: self.undoable(wanted) for wanted in missing.compensations},
            },
        )

    def undoable(self, wanted: Wanted) -> tuple[Compensation, ...]:
        if wanted.number is not None:
            found = self.compensations.get(wanted.number)
            return () if found is None else (found,)
        there = sorted(
            (one for one in self.compensations.values() if one.is_open),
            key=lambda one: one.order,
            reverse=True,
        )
        there = [one for one in there if wanted.stretch.holds(one.number)]
        if wanted.every:
            return tuple(there)
        before = wanted.before
        return tuple(one for one in there if before is None or one.order < before)[:1]

    def tree(self, prefix: str = "") -> dict[str, Frame]:
        """Return the frames of the tree under a prefix: no effects, nothing that undoes."""
        return {
            n: f
            for n, f in self.frames.items()
            if n.startswith(prefix) and "!" not in n and "~" not in n
            if not n or f.status is not FrameStatus.CANCELLED
        }

    def effects(self) -> dict[str, Frame]:
        return {n: f for n, f in self.frames.items() if "!" in n}

    def unended(self) -> dict[str, Frame]:
        going = (FrameStatus.PENDING, FrameStatus.RESTING)
        return {n: f for n, f in self.effects().items() if f.status in going}

    def kept(self) -> tuple[execution_call.Call, ...]:
        kept = [c for c in self.asked.values() if c.verdict is execution_call.Verdict.PENDING]
        return tuple(sorted(kept, key=lambda one: one.number))

    def commit(self, decision: Decision) -> None:
        """Store a decision, as far as it can be stored."""
        before, after = self.execution, decision.execution
        assert decision.seen_version == before.version
        self.decisions.append(decision)
        self.record_calls(decision)
        if not decision.moves:
            assert after == before
            assert not decision.inserted + decision.updated + decision.history
            return
        assert after.version == before.version + 1
        self.record(decision)
        self.execution = after
        if decision.ends and before.ended_at is None:
            assert all("!" in frame.id for frame in decision.inserted)
            assert not decision.forks_inserted
            self.output = decision.output
            self.frames = self.effects()
            self.forks.clear()
        for update in decision.kept:
            self.check_seen(update)
            self.frames[update.frame.id] = update.frame
        self.remove(decision)
        self.undo(decision)
        for fork in decision.forks_inserted:
            assert fork.frame not in self.forks
            self.forks[fork.frame] = fork
        for fork in decision.forks_updated:
            assert self.forks[fork.frame].entry == fork.entry
            self.forks[fork.frame] = fork
        for frame in decision.inserted:
            assert frame.id not in self.frames, frame.id
            self.frames[frame.id] = frame
        for update in decision.updated:
            self.check_seen(update)
            self.frames[update.frame.id] = update.frame
        check(self)

    def check_seen(self, update: FrameUpdate) -> None:
        old = self.frames[update.frame.id]
        token = old.task.token if old.task else None
        deliveries = old.task.deliveries if old.task else 0
        seen = update.seen
        assert (seen.token, seen.deliveries, seen.wake_at) == (token, deliveries, old.wake_at)

    def undo(self, decision: Decision) -> None:
        for mark in decision.marked:
            there = self.compensations[mark.number]
            self.compensations[mark.number] = replace(there, status=mark.status)
        for stretch in decision.dropped:
            self.compensations = {
                number: one
                for number, one in self.compensations.items()
                if not (one.is_open and stretch.holds(number))
            }
        for one in decision.registered:
            self.compensations[one.number] = one

    def remove(self, decision: Decision) -> None:
        for frame, entry in decision.forks_removed:
            assert self.forks.pop(frame).entry == entry
        for frame, _ in () if decision.ends else decision.gone:
            self.frames.pop(frame)
        for prefix in decision.removed:
            gone = {
                n
                for n, f in self.frames.items()
                if n.startswith(prefix) and "!" not in n and f.status is not FrameStatus.CANCELLED
            }
            self.frames = {n: f for n, f in self.frames.items() if n not in gone}
            self.forks = {n: f for n, f in self.forks.items() if not n.startswith(prefix)}

    def record(self, decision: Decision) -> None:
        for event in decode(encode(decision.history)):
            assert event.id == len(self.history) + 1
            assert event.previous_id < event.id
            assert not self.history or event.at >= self.history[-1].at
            self.history.append(event)
        assert decision.execution.next_event_id == len(self.history) + 1
        assert decision.execution.last_event_at >= self.history[-1].at
        assert encode(decision.history).isascii()

    def record_calls(self, decision: Decision) -> None:
        for one in decision.calls_inserted:
            assert one.id not in self.asked
            assert decision.execution.version >= one.number
            self.asked[one.id] = one
        for one in decision.calls_decided:
            assert self.asked[one.id].verdict is execution_call.Verdict.PENDING
            assert one.verdict is not execution_call.Verdict.PENDING
            self.asked[one.id] = one


# ------------------------------------------------------------------------------------ checks


def check(memory: Memory) -> None:
    """Check that the frames agree with each other, and that something wakes each."""
    assert memory.execution.frames == len(memory.tree())
    assert memory.execution.effects == len(memory.unended())
    assert memory.execution.kept == len(memory.kept())
    check_effects(memory)
    for frame in memory.frames.values():
        check_undoing(memory, frame)
    for frame in memory.tree().values():
        if frame.id:
            assert parent_id(frame.id) in memory.forks
        if frame.status is FrameStatus.RESTING:
            called = frame.rests_on is RestsOn.CALL
            undone = frame.rests_on is RestsOn.UNDOING
            assert frame.task or frame.wake_at or frame.fork is not None or called or undone
            assert called or not frame.timers
            assert (frame.fork is not None) == (frame.id in memory.forks)
        elif frame.status is not FrameStatus.CANCELLED:
            assert frame.wake_at is None
            assert frame.task is None
    for fork in memory.forks.values():
        assert fork.admitted - fork.succeeded - fork.failed > 0 or memory.frames[fork.frame].wake_at


def check_undoing(memory: Memory, frame: Frame) -> None:
    """Check that what rests on undoing is undone, and what undoes has something to do."""
    if "~" not in frame.id:
        if frame.rests_on is RestsOn.UNDOING and frame.status is FrameStatus.RESTING:
            assert any(n.startswith(f"{frame.id}~") for n in memory.frames), frame.id
        return
    owner, _, own = frame.id.partition("~")
    if frame.status is not FrameStatus.CANCELLED:
        assert owner in memory.frames, frame.id
        assert "/" not in own or parent_id(frame.id) in memory.forks
    assert frame.undo is not None
    if frame.status is FrameStatus.RESTING and frame.rests_on is not RestsOn.CHILDREN:
        doing = memory.compensations[frame.undo.number]
        waits = frame.rests_on is RestsOn.UNDOING
        assert doing.status.value == ("doubtful" if waits else "running")


def check_effects(memory: Memory) -> None:
    """Check that of each frame one turn of effects is on, and those behind it wait."""
    for frame in memory.unended().values():
        owner = frame.id.partition("!")[0]
        first = min(f.entry for n, f in memory.unended().items() if n.startswith(f"{owner}!"))
        assert (frame.status is FrameStatus.RESTING) == (frame.entry == first), frame.id
