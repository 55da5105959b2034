"""Executions, frames and decisions to write, as small as they can be."""

from __future__ import annotations

import itertools
import os
import secrets
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from orchestrator.asl.document import Json
from orchestrator.execution.decision import Decision, FrameUpdate, Seen, View
from orchestrator.execution.frame import (
    Execution,
    ExecutionStatus,
    Frame,
    FrameKind,
    FrameStatus,
    Phase,
    RestsOn,
    Task,
)
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.store import Claim, Store

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
MACHINE = "orders"
QUEUE = "default"
RESOURCE = "celery:work"

_numbers = itertools.count(1)


def new_id() -> int:
    """Return an id like the engine's: in order of time, unique across processes."""
    return (time.time_ns() // 1_000_000 << 20) + (next(_numbers) % 1024 << 10) + os.getpid() % 1024


def execution(name: str | None = None, **changes: object) -> Execution:
    """Return an execution that has just begun."""
    number = new_id()
    begun = Execution(
        id=number,
        machine=MACHINE,
        revision=1,
        name=name or f"e{number}",
        status=ExecutionStatus.RUNNING,
        phase=Phase.OPEN,
        version=1,
        next_event_id=3,
        started_at=AT,
        last_event_at=AT,
    )
    return replace(begun, **changes)  # type: ignore[arg-type]


def task(**changes: object) -> Task:
    """Return a task that is ready."""
    ready = Task(
        resource=RESOURCE,
        token=secrets.token_hex(16),
        attempt=1,
        key="5a0e3c0e-0000-4000-8000-000000000000",
        arguments=Payload.of({"n": 1}),
        ready_at=AT,
        queue=QUEUE,
    )
    return replace(ready, **changes)  # type: ignore[arg-type]


def frame(number: str = "", **changes: object) -> Frame:
    """Return a frame that rests on a task."""
    resting = Frame(
        id=number,
        kind=FrameKind.CHILD if number else FrameKind.ROOT,
        status=FrameStatus.RESTING,
        state="Work",
        entry=2,
        last_event=2,
        input=Payload.of({"order": 4711}),
        entered_at=AT,
        rests_on=RestsOn.TASK,
        task=task(),
    )
    return replace(resting, **changes)  # type: ignore[arg-type]


def waiting(number: str = "", wake_at: datetime = AT, **changes: object) -> Frame:
    """Return a frame that rests on the clock."""
    return frame(number, rests_on=RestsOn.CLOCK, task=None, wake_at=wake_at, **changes)


def event(number: int, at: datetime = AT, **details: Payload | str | int) -> HistoryEvent:
    """Return a history event."""
    return HistoryEvent(number, number - 1, at, "PassStateEntered", details)


def beginning(
    name: str | None = None, *frames: Frame, value: Json = None, **changes: object
) -> Decision:
    """Return the decision that starts an execution."""
    begun = execution(name, **changes)
    given = Payload.of({"order": 4711} if value is None else value)
    return Decision(
        seen_version=0,
        execution=begun,
        inserted=frames or (frame(),),
        history=(event(1, input=given), event(2)),
        input=given,
    )


def started(store: Store, *frames: Frame, **changes: object) -> View:
    """Start an execution and return the view of its root."""
    (answer,) = store.start([beginning(None, *frames, **changes)])  # type: ignore[arg-type]
    return view_of(store, answer.id)


def view_of(store: Store, number: int, frame_id: str = "") -> View:
    """Return the view of a frame of an execution that is there."""
    return store.read([(number, frame_id)])[number, frame_id]


def claimed(store: Store, worker: str = "w1", limit: int = 1, **options: object) -> list[Claim]:
    """Claim tasks of the sample resource."""
    return store.claim(worker, [QUEUE], [RESOURCE], limit=limit, **options)  # type: ignore[arg-type]


def seen(of: Frame) -> Seen:
    """Return what a decision sees of a frame."""
    if of.task is None:
        return Seen(None, 0, of.wake_at)
    return Seen(of.task.token, of.task.deliveries, of.wake_at)


def moving(view: View, *after: Frame, **changes: object) -> Decision:
    """Return a decision that leaves frames of a view as given; a frame of a new attempt if none."""
    before = view.execution
    events = (event(before.next_event_id),)
    if not after:
        after = (replace(view.frames[""], task=task()),)
    moved = replace(before, version=before.version + 1, next_event_id=before.next_event_id + 1)
    decision = Decision(
        seen_version=before.version,
        execution=moved,
        updated=tuple(FrameUpdate(one, seen(view.frames[one.id])) for one in after),
        history=events,
    )
    return replace(decision, **changes)  # type: ignore[arg-type]


def ending(view: View, output: Json = None) -> Decision:
    """Return a decision that ends the execution of a view."""
    before = view.execution
    ended = replace(
        before,
        version=before.version + 1,
        next_event_id=before.next_event_id + 1,
        status=ExecutionStatus.SUCCEEDED,
        phase=Phase.ENDED,
        ended_at=before.last_event_at + timedelta(seconds=1),
        final_state="Work",
    )
    root = view.frames[""]
    return Decision(
        seen_version=before.version,
        execution=ended,
        updated=(FrameUpdate(root, seen(root)),),
        history=(event(before.next_event_id),),
        output=Payload.of(output),
    )
