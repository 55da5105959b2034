"""Long polls: requests that wait in the event loop until a topic is heard of; no thread is held.

Those who wait for the same topic stand in a queue: each hearing wakes the first of them, and who
has found something wakes the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Place:
    """A request's place in the queue of a topic."""

    __slots__ = ("_woken", "topic")

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self._woken = asyncio.Event()

    @property
    def woken(self) -> bool:
        """Whether it was told to look and has not looked yet."""
        return self._woken.is_set()

    def wake(self) -> None:
        """Tell it to look."""
        self._woken.set()

    def looks(self) -> None:
        """Note that it looks now: what is heard from here on wakes it again."""
        self._woken.clear()

    async def wait(self, until: float) -> bool:
        """Wait to be woken; False when the time of the loop's clock has come before that."""
        try:
            async with asyncio.timeout_at(until):
                await self._woken.wait()
        except TimeoutError:
            return False
        return True


class Waiting:
    """The queues of those who wait, by topic; lives in one event loop."""

    def __init__(self) -> None:
        self._queues: dict[str, dict[Place, None]] = {}
        self.closed = False
        """Whether nobody is to wait any more: the door closes."""

    def close(self) -> None:
        """Let everybody go who waits."""
        self.closed = True
        for queue in self._queues.values():
            for place in queue:
                place.wake()

    @property
    def topics(self) -> list[str]:
        """What anybody waits for."""
        return list(self._queues)

    @contextmanager
    def place(self, topic: str) -> Iterator[Place]:
        """Stand in the queue of a topic; who leaves it woken hands that on."""
        place = Place(topic)
        queue = self._queues.setdefault(topic, {})
        queue[place] = None
        try:
            yield place
        finally:
            del queue[place]
            if not queue:
                del self._queues[topic]
            elif place.woken:
                self.wake(topic)

    def is_first(self, place: Place) -> bool:
        """Whether nobody stands before it."""
        return next(iter(self._queues[place.topic])) is place

    def wake(self, topic: str) -> None:
        """Wake the first in the queue of a topic who is not awake."""
        for place in self._queues.get(topic, ()):
            if not place.woken:
                place.wake()
                return

    def hear(self, topic: str | None) -> None:
        """Wake the first of a topic; None: the first of each, since any may have been missed."""
        for one in self.topics if topic is None else [topic]:
            self.wake(one)
