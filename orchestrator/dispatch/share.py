"""Bells that need not ring: a slot that goes on claiming finds what its own commit made ready."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class _Share(threading.local):
    queue: str | None = None
    """The queue of which this thread takes one bell upon itself."""
    owes: bool = False


_share = _Share()


@contextmanager
def going_on(queue: str) -> Iterator[None]:
    """While the block runs, this thread takes one bell of this queue upon itself."""
    _share.queue = queue
    try:
        yield
    finally:
        _share.queue = None


def without_own(queues: Mapping[str, int]) -> dict[str, int]:
    """The bells to ring, less the one that the ringing thread takes upon itself."""
    rest = dict(queues)
    own = _share.queue
    if own is not None and not _share.owes and rest.get(own, 0) > 0:
        _share.owes = True
        rest[own] -= 1
    return {queue: tasks for queue, tasks in rest.items() if tasks > 0}


def owes() -> bool:
    """Whether this thread has taken a bell upon itself and not claimed since."""
    return _share.owes


def settle() -> bool:
    """End the debt, as by a claim; whether there was one."""
    owed, _share.owes = _share.owes, False
    return owed
