"""A server in this process: the door, a worker and a scheduler over a database, on a free port."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import boto3
import httpx
import uvicorn
from botocore.client import BaseClient
from botocore.config import Config

from orchestrator import main as composition
from orchestrator.api.door import application
from orchestrator.dispatch.local import LocalBell, LocalWorker
from orchestrator.dispatch.mocked import Mocks

ROLE: Final = "arn:aws:iam::000000000000:role/test"
PATIENCE_SECONDS: Final = 30.0


@dataclass
class Stage:
    """What a test has at hand."""

    parts: composition.Parts
    url: str
    client: Any = field(init=False)
    """boto3's."""

    def __post_init__(self) -> None:
        self.client = client_of(self.url)

    def machine(self, definition: Mapping[str, object], name: str = "m", **more: object) -> str:
        """Create a machine; its ARN."""
        created = self.client.create_state_machine(
            name=name, definition=json.dumps(definition), roleArn=ROLE, **more
        )
        return str(created["stateMachineArn"])

    def start(self, machine: str, given: object = None, **more: object) -> str:
        """Start an execution; its ARN."""
        text = json.dumps({} if given is None else given)
        started = self.client.start_execution(stateMachineArn=machine, input=text, **more)
        return str(started["executionArn"])

    def ended(self, execution: str) -> dict[str, Any]:
        """Wait for an execution to end, and describe it."""
        found: dict[str, Any] = eventually(lambda: self._ended(execution))
        return found

    def _ended(self, execution: str) -> dict[str, Any] | None:
        found: dict[str, Any] = self.client.describe_execution(executionArn=execution)
        return found if found["status"] != "RUNNING" else None

    def history(self, execution: str) -> list[dict[str, Any]]:
        found = self.client.get_execution_history(executionArn=execution, maxResults=1000)
        return list(found["events"])

    def types(self, execution: str) -> list[str]:
        return [event["type"] for event in self.history(execution)]

    def post(
        self,
        action: str,
        content: bytes | str | Iterator[bytes],
        kind: str = "application/x-amz-json-1.0",
        host: str | None = None,
        **more: Any,
    ) -> httpx.Response:
        """Send a request as it is."""
        headers = {"X-Amz-Target": f"AWSStepFunctions.{action}", "Content-Type": kind}
        if host is not None:
            headers["Host"] = host
        return httpx.post(self.url, content=content, headers=headers, timeout=10, **more)


def client_of(url: str) -> BaseClient:
    """boto3's client, as programs make it, but for keys and the two variables."""
    return boto3.client(
        "stepfunctions",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(
            inject_host_prefix=False, retries={"total_max_attempts": 1}, max_pool_connections=20
        ),
    )


def eventually(look: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> Any:
    """What a look finds, once it finds something."""
    until = time.monotonic() + seconds
    while (found := look()) is None or found is False:
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)
    return found


@contextmanager
def staged(
    database_url: str, *, mock_config: Path | None = None, limits: str = "default"
) -> Iterator[Stage]:
    """Serve over a database with tables."""
    bell = LocalBell()
    settings = composition.settings(database_url).model_copy(update={"limits": limits})
    mocks = None if mock_config is None else Mocks(mock_config)
    parts, ticks = composition.scheduler(settings, bell, *(() if mocks is None else (mocks.of,)))
    if mocks is not None:
        mocks.serve(parts.store, parts.engine)
    worker = LocalWorker(parts, bell, settings)
    with ExitStack() as stack:
        stack.callback(parts.store.dispose)
        worker.start()
        stack.callback(worker.stop)
        ticks.start()
        stack.callback(ticks.stop)
        store = parts.store
        app = application(
            parts.service, store.scope, store.limits, test_cases=mock_config is not None
        )
        url = stack.enter_context(_listening(app))
        yield Stage(parts, url)


@contextmanager
def _listening(app: Any) -> Iterator[str]:
    config = uvicorn.Config(
        app, port=0, log_config=None, lifespan="on", backlog=2048, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    eventually(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
