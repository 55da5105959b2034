"""Where the threads of an execution stand while its history is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.asl.states import State
from orchestrator.execution.history import Detail


class Attempt(StrEnum):
    """How far the present attempt of a task has come."""

    NONE = "not scheduled"
    SCHEDULED = "scheduled"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


def _children() -> dict[int, Thread]:
    return {}


@dataclass(slots=True, eq=False)
class Fork:
    """A Parallel or Map that runs."""

    thread: Thread
    state: State
    total: int
    children: dict[int, Thread] = field(default_factory=_children)
    """Those that have begun, by index."""


@dataclass(slots=True, eq=False)
class Thread:
    """One thread of control."""

    within: Fork | None = None
    index: int = 0
    state: State | None = None
    entry: int = 0
    attempt: Attempt = Attempt.NONE
    failed: bool = False
    """Whether what it did last in its state has failed."""
    left: bool = False
    called: bool = False
    """Whether a call or a timer may lead it away."""
    output: Detail | None = None
    fork: Fork | None = None
    over: bool = False
    """Whether its iteration is recorded as over."""
    gone: bool = False
    """Whether the fork that it belongs to has ended."""

    @property
    def stands(self) -> bool:
        """Whether it stands in a state that it has not left."""
        return self.state is not None and not self.left and not self.gone

    def upwards(self) -> Iterator[Thread]:
        """Itself, the thread that opened its fork, and so on."""
        thread: Thread | None = self
        while thread is not None:
            yield thread
            thread = None if thread.within is None else thread.within.thread

    def close_fork(self) -> None:
        """Let its fork end with all threads below."""
        fork, self.fork = self.fork, None
        for child in () if fork is None else fork.children.values():
            child.gone = True
            child.close_fork()
