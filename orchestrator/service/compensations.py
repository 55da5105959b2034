"""What an execution can undo, and what operators do about what cannot be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from orchestrator.engine import Engine, Outcome
from orchestrator.execution.compensation import (
    Compensation,
    CompensationStatus,
    Key,
    Undoing,
)
from orchestrator.execution.events import CompensationRetried, CompensationSkipped
from orchestrator.execution.frame import Execution, Frame, FrameStatus, is_undo
from orchestrator.service.errors import CompensationNotBlocked, ReasonMissing
from orchestrator.store import Store

MOST_LISTED: Final = 1_000
_TRIED: Final = frozenset({CompensationStatus.RUNNING, CompensationStatus.BLOCKED})
"""What a frame is at, which knows how it failed last."""


@dataclass(frozen=True, slots=True)
class Undoable:
    """A compensation of an execution; `error` and `cause` tell how it failed last."""

    id: str
    """`FRAME~EVENT`: the frame that has done what it undoes, and the entry of its state."""
    compensation: Compensation
    error: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """A compensation that has failed for good, and the frame that undoes and goes no further."""

    frame: str
    number: Key
    state: str
    """Whose work it undoes."""
    error: str
    cause: str | None

    @property
    def id(self) -> str:
        """The id under which people know the compensation."""
        return compensation_id(self.number)

    @property
    def text(self) -> str:
        """What has happened, in a sentence."""
        why = ": ".join(filter(None, (self.error, self.cause)))
        return f"the compensation {self.id} of {self.state} has failed for good: {why}"


def compensation_id(number: Key) -> str:
    """Return the id under which people know a compensation."""
    scope, event, place = number
    return f"{scope}~{event}.{place}" if place else f"{scope}~{event}"


def undoing_of(execution: Execution, frames: Iterable[Frame]) -> Undoing:
    """Return how far an execution has come with undoing."""
    if execution.undoing is Undoing.RUNNING and any(map(blocked_in, frames)):
        return Undoing.BLOCKED
    return execution.undoing


def blocked_in(frame: Frame) -> Blocked | None:
    """Return what keeps a frame from undoing; None of any other frame."""
    undo = frame.undo
    if undo is None or frame.status is not FrameStatus.FAILED or not is_undo(frame.id):
        return None
    return Blocked(frame.id, undo.number, frame.state or "", undo.error or "", undo.cause)


class Compensations:
    """The compensations of executions; `find` finds an execution by its address."""

    def __init__(self, store: Store, engine: Engine, find: Callable[[str], Execution]) -> None:
        self._store = store
        self._engine = engine
        self._find = find

    def of(self, address: str) -> list[Undoable]:
        """Return what an execution can undo or has undone, in the order of doing.

        Raises ExecutionDoesNotExist.
        """
        run = self._find(address)
        stored = self._store.compensations(run.id, MOST_LISTED)
        tried = any(one.status in _TRIED for one in stored)
        notes = {
            frame.undo.number: frame.undo
            for frame in (self._store.frames(run.id) if tried else ())
            if frame.undo is not None
        }
        found: list[Undoable] = []
        for one in stored:
            note = notes.get(one.number)
            error, cause = (None, None) if note is None else (note.error, note.cause)
            found.append(Undoable(compensation_id(one.number), one, error, cause))
        return found

    def blocked(self, execution: int) -> dict[str, Blocked]:
        """Return the compensations that have failed for good, by id."""
        found = map(blocked_in, self._store.frames(execution))
        return {one.id: one for one in found if one is not None}

    def retry(
        self, address: str, who: str, reason: str, compensation: str | None = None
    ) -> list[str]:
        """Run what is blocked again, or only one; return the ids.

        Raises ExecutionDoesNotExist, CompensationNotBlocked, ReasonMissing.
        """
        _check(reason)
        run = self._find(address)
        chosen = self._chosen(run, compensation)
        for one in chosen.values():
            self._tell(run, CompensationRetried, one)
            self._store.note(run.id, who, f"retry {one.id}", reason)
        return list(chosen)

    def skip(
        self, address: str, who: str, reason: str, compensation: str | None = None
    ) -> list[str]:
        """Pass over what is blocked; without an id there may be only one; return the ids.

        Raises ExecutionDoesNotExist, CompensationNotBlocked, ReasonMissing.
        """
        _check(reason)
        run = self._find(address)
        chosen = self._chosen(run, compensation)
        if len(chosen) > 1:
            several = ", ".join(chosen)
            raise CompensationNotBlocked(f"several are blocked, name one of them: {several}")
        for one in chosen.values():
            self._tell(run, CompensationSkipped, one)
            self._store.note(run.id, who, f"skip {one.id}", reason)
        return list(chosen)

    def _chosen(self, run: Execution, compensation: str | None) -> dict[str, Blocked]:
        blocked = self.blocked(run.id) if run.undoing is Undoing.RUNNING else {}
        if compensation is not None:
            blocked = {one: at for one, at in blocked.items() if one == compensation}
        if not blocked:
            which = "no compensation" if compensation is None else f"no compensation {compensation}"
            raise CompensationNotBlocked(f"{which} of {run.machine}:{run.name} is blocked")
        return blocked

    def _tell(
        self,
        run: Execution,
        act: type[CompensationRetried | CompensationSkipped],
        blocked: Blocked,
    ) -> None:
        _, event, place = blocked.number
        (handled,) = self._engine.handle_many([act(run.id, blocked.frame, event, place)])
        if handled.outcome is not Outcome.COMMITTED:
            raise CompensationNotBlocked(f"{blocked.id}: {handled.reason}")


def _check(reason: str) -> None:
    if not reason.strip():
        raise ReasonMissing
