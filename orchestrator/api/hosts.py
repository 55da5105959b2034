"""Which Hosts are answered.

A page of another site that lets its own name lead to this machine (DNS rebinding) sends that name
along, and gets nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from fastapi import Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""What this machine is called from itself."""
SYNC: Final = "sync-"
"""What AWS's clients put before the host of the actions that wait."""
MISDIRECTED: Final = 421


class Hosts:
    """Answers requests to known names, and refuses all others before anything reads them."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or self._knows(scope):
            await self._app(scope, receive, send)
            return
        refusal = Response(
            "This server does not go by that name; ORCHESTRATOR_HOSTS adds names.\n",
            MISDIRECTED,
            media_type="text/plain",
        )
        await refusal(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"host"]
        return len(given) == 1 and host_name(given[0].decode("latin-1")) in self._names


def host_name(text: str) -> str:
    """Return the name in a Host header: without its port, without AWS's prefix."""
    name = text.strip().lower()
    ends = name.rfind("]") + 1 if name.startswith("[") else name.find(":")
    rest = name[ends:] if ends > 0 else ""
    if rest and not (rest[0] == ":" and rest[1:].isdecimal()):
        return ""
    name = name[:ends] if ends > 0 else name
    return name.removeprefix(SYNC).rstrip(".")
