"""An embedded engine with its native HTTP door in a thread, and orders to call."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from orchestrator import main
from orchestrator.client import Client, Refused, Verdict
from orchestrator.main import Embedded, Parts
from tests.conftest import ROOT

ORDER = (ROOT / "definitions" / "order.asl.json").read_text()
LIMIT_SECONDS = 60


@dataclass
class House:
    """What a test has at hand."""

    parts: Embedded
    client: Client
    url: str
    data: Path

    def start(self, name: str, **given: Any) -> str:
        return self.client.start("order", name, given)

    def until(self, address: str, state: str) -> None:
        """Wait until the root frame of an order rests, or has ended, in a state."""
        eventually(lambda: self.client.get(address)["state"] == state)
        if state in ("Pending", "OnHold", "Paid"):
            eventually(lambda: any(one["on"] == "call" for one in self.client.waits(address)))

    def said(self, address: str, call: str, given: Any = None) -> str:
        """What the client is told, in the words of the table."""
        try:
            verdict = self.client.call(address, call, given, wait_seconds=20)
        except Refused as refused:
            return f"{refused.state}: {refused.reason}"
        assert isinstance(verdict, Verdict)
        assert verdict.accepted, verdict
        return f"→ {verdict.to}"


def eventually(holds: Callable[[], bool], seconds: float = LIMIT_SECONDS) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.02)


@contextmanager
def house(data: Path) -> Iterator[House]:
    with (
        main.embedded(data, ["workers"]) as parts,
        serving(parts.parts) as url,
        Client(url) as client,
    ):
        client.deploy("order", ORDER)
        yield House(parts, client, url, data)


@contextmanager
def serving(parts: Parts) -> Iterator[str]:
    """The doors of a process and the console, in a thread."""
    app = main.application(parts)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
    thread.start()
    eventually(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
