"""Serving an application of ASGI with uvicorn, and telling where."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import sys
from types import FrameType

import uvicorn
from fastapi import FastAPI

from orchestrator.api.errors import CannotListen

BACKLOG = 2_048
GARBAGE = (20_000, 50, 20)
"""By how many objects their number must have grown before it is looked; how often farther back."""
STOP_SECONDS = 5
"""How long requests that wait are left alone when the server ends."""


def serve(app: FastAPI, host: str, port: int, *more: str) -> None:
    """Serve until SIGTERM or SIGINT; `more` is said besides where; raises CannotListen."""
    listening = _listen(host, port)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=STOP_SECONDS,
        server_header=False,
        ws="none",
    )
    place = f"[{host}]" if ":" in host else host
    here = f"http://{place}:{listening.getsockname()[1]}"
    print(  # noqa: T201  # whoever started it waits for these lines
        f"serving AWS's protocol at {here}",
        f"the console: {here}/",
        f"the native API: {here}/v1",
        *more,
        sep="\n",
        file=sys.stderr,
        flush=True,
    )
    _collect_seldom()
    # uvicorn ends in order and then raises the signal once more: that is to end nothing.
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        _Server(config, app).run(sockets=[listening])
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _collect_seldom() -> None:
    """Look for garbage in cycles seldom, and never again through what is loaded by now.

    Requests leave hardly any, and each look through what many of them have in hand costs as much
    as a request.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


class _Server(uvicorn.Server):
    """Lets those go who wait, once it is told to end."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        asyncio.get_running_loop().call_soon_threadsafe(self._app.state.close)
        super().handle_exit(sig, frame)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, since asyncio lets answers wait for nothing (TCP_NODELAY) only where it is.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise CannotListen(f"{host}:{port} cannot be listened at: {error.strerror}") from None
    listening.listen(BACKLOG)
    return listening
