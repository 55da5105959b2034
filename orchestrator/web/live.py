"""News for pages that are open: one look per process at everything that somebody watches.

A page hears only that something has changed, and asks for itself again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import suppress
from typing import Final, TypeAlias

import structlog
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 0.4
"""How often it is looked: a page hears of a transition within half a second."""
STILL_SECONDS: Final = 15.0
"""How often a line is sent where nothing happens, so that a connection that is gone is noticed."""
MOST_WATCHERS: Final = 200
"""Pages that hear news at once, per process: the others ask again by themselves."""

AGAIN_SECONDS: Final = 5
"""When a page for which no place is left asks for itself again."""

Look: TypeAlias = "Callable[[list[Hashable]], Awaitable[dict[Hashable, str]]]"
"""Returns, by what is watched, a text that changes whenever it does."""


class Live:
    """Who watches what; lives in one event loop."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._watchers: dict[Hashable, set[asyncio.Event]] = {}
        self._seen: dict[Hashable, str] = {}
        self._new: dict[asyncio.Event, str] = {}
        """Who has just come, with the state that his page shows."""
        self._looking: asyncio.Task[None] | None = None
        self._open = 0
        self._closed = False

    def close(self) -> None:
        """Let everybody go who watches."""
        self._closed = True
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.set()
        if self._looking is not None:
            self._looking.cancel()

    def stream(self, request: Request, watched: Hashable, seen: str) -> Response:
        """Answer with events, `changed` each time, until the page is closed; 503 if too many watch.

        `seen` is the state that the page shows: it may be old by the time it begins to watch.
        """
        if self._open >= MOST_WATCHERS:
            text = f"{MOST_WATCHERS} pages hear news from this process already; ask again.\n"
            return Response(text, 503, {"Retry-After": f"{AGAIN_SECONDS}"}, "text/plain")
        return _Stream(self._events(request, watched, seen), self._count)

    def _count(self, more: int) -> None:
        self._open += more

    async def _events(self, request: Request, watched: Hashable, seen: str) -> AsyncIterator[bytes]:
        woken = asyncio.Event()
        self._watchers.setdefault(watched, set()).add(woken)
        self._new[woken] = seen
        self._keep_looking()
        try:
            yield b"retry: 1000\n\n"
            while not self._closed and not await request.is_disconnected():
                with suppress(TimeoutError):
                    async with asyncio.timeout(STILL_SECONDS):
                        await woken.wait()
                changed = woken.is_set() and not self._closed
                woken.clear()
                yield b"event: changed\ndata: \n\n" if changed else b": still here\n\n"
        finally:
            self._new.pop(woken, None)
            self._watchers[watched].discard(woken)
            if not self._watchers[watched]:
                del self._watchers[watched]
                self._seen.pop(watched, None)

    def _keep_looking(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._go_on())

    async def _go_on(self) -> None:
        while self._watchers and not self._closed:
            try:
                found = await self._look(list(self._watchers))
            except Exception as error:  # noqa: BLE001  # a loop: it looks again
                log.warning("nobody can be told what has changed", reason=str(error))
                found = {}
            for watched, state in found.items():
                before = self._seen.get(watched)
                self._seen[watched] = state
                for watcher in self._watchers.get(watched, ()):
                    if self._new.pop(watcher, before) != state:
                        watcher.set()
            await asyncio.sleep(LOOK_SECONDS)


class _Stream(StreamingResponse):
    """Events for one page: it takes a place, and gives it back however it ends."""

    def __init__(self, events: AsyncIterator[bytes], count: Callable[[int], None]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._count(1)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._count(-1)
