"""Bells that need not ring: a slot that goes on claiming finds what its own commit made ready."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class _Share(threading.local):
    queues: frozenset[str] = frozenset()
    taken: str | None = None


_share = _Share()


@contextmanager
def going_on(queues: frozenset[str]) -> Iterator[None]:
    """While the block runs, this thread takes one bell of these queues upon itself."""
    _share.queues, _share.taken = queues, None
    try:
        yield
    finally:
        _share.queues = frozenset()


def without_own(queues: Mapping[str, int]) -> dict[str, int]:
    """The bells to ring, less the one that the ringing thread takes upon itself."""
    rest = dict(queues)
    if _share.taken is None:
        for queue in _share.queues & rest.keys():
            _share.taken = queue
            rest[queue] -= 1
            break
    return {queue: tasks for queue, tasks in rest.items() if tasks > 0}


def settle() -> str | None:
    """End the debt, as by a claim; the queue whose bell this thread owed since its last claim."""
    owed, _share.taken = _share.taken, None
    return owed
