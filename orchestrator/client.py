"""What a program imports that calls executions over HTTP. Knows nothing of ours but the port.

```python
from orchestrator.client import Client, Refused

client = Client("http://localhost:8000")
try:
    client.call("order:4711", "pay", {"amount": 1200})
except Refused as refused:
    print(refused.state, refused.reason)
```
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

import httpx

from orchestrator import DEFAULT_PORT

DEFAULT_URL: Final = f"http://localhost:{DEFAULT_PORT}"
MOST_TRIES: Final = 10
"""How often a request is sent again whose answer was lost; the same id makes that safe."""
FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 2.0
_SLACK_SECONDS: Final = 10.0
_REFUSED: Final = 409
_UNAVAILABLE: Final = 503


class CallError(Exception):
    """A request that the other side answers with a problem."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        self.pointer: str | None = problem.get("pointer")
        super().__init__(problem.get("detail") or problem.get("title") or f"status {status}")


class Refused(Exception):
    """The execution refuses the call: nothing has changed; `reason` and `state` say why."""

    def __init__(self, verdict: Mapping[str, Any]) -> None:
        self.call: str = verdict["call"]
        self.state: str | None = verdict["state"]
        self.reason: str = verdict["reason"]
        self.call_id: str = verdict["callId"]
        super().__init__(self.reason)


class Unanswered(Exception):
    """Nobody has answered, however often it was asked; the same `call_id` may be used again."""

    def __init__(self, reason: str, call_id: str | None) -> None:
        super().__init__(reason)
        self.call_id = call_id


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a call: accepted, or still pending: then ask for it later."""

    verdict: str
    call: str
    call_id: str
    origin: str | None = None
    """The state that the frame has left."""
    to: str | None = None
    """Where it came to rest."""

    @property
    def accepted(self) -> bool:
        """Whether the call was accepted."""
        return self.verdict == "accepted"


class Client:
    """One address of the native HTTP door; threads may share it."""

    def __init__(self, base_url: str = DEFAULT_URL, *, http: httpx.Client | None = None) -> None:
        self._http = http or httpx.Client(base_url=base_url, timeout=_SLACK_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def deploy(self, machine: str, definition: str) -> dict[str, Any]:
        """Make a definition the newest revision of a machine."""
        headers = {"Content-Type": "application/json"}
        path = f"/v1/machines/{_part(machine)}"
        return self._asked("PUT", path, content=definition, headers=headers)

    def start(self, machine: str, name: str | None = None, given: Any = None) -> str:
        """Start an execution, or find the one of that name and input; return its address."""
        body = {"name": name or str(uuid.uuid4()), "input": {} if given is None else given}
        answer = self._asked("POST", f"/v1/machines/{_part(machine)}/executions", json=body)
        return str(answer["id"])

    def get(self, address: str) -> dict[str, Any]:
        """Return an execution: its status, phase and state, input and output."""
        return self._asked("GET", _path(address))

    def history(self, address: str, after: int = 0) -> list[dict[str, Any]]:
        """Return the history events behind an id, a page of them."""
        found = self._asked("GET", f"{_path(address)}/history", params={"after": after})
        return list(found["events"])

    def stop(
        self,
        address: str,
        error: str | None = None,
        cause: str | None = None,
        *,
        abort: bool = False,
    ) -> dict[str, Any]:
        """End an execution, once what it has done is undone; `abort`: now; return it."""
        body = {"error": error, "cause": cause, "abort": abort}
        return self._asked("POST", f"{_path(address)}/stop", json=body)

    def compensations(self, address: str) -> list[dict[str, Any]]:
        """Return what an execution can undo or has undone, in the order of doing."""
        return list(self._asked("GET", f"{_path(address)}/compensations")["compensations"])

    def retry(
        self, address: str, reason: str, compensation: str | None = None, who: str | None = None
    ) -> list[str]:
        """Run blocked compensations again, all or one; return their ids."""
        body = {"reason": reason, "compensation": compensation, "who": who}
        answer = self._asked("POST", f"{_path(address)}/retry", json=body)
        return list(answer["compensations"])

    def skip(
        self, address: str, reason: str, compensation: str | None = None, who: str | None = None
    ) -> list[str]:
        """Pass over a blocked compensation: what it would undo stays done; return its id."""
        body = {"reason": reason, "compensation": compensation, "who": who}
        answer = self._asked("POST", f"{_path(address)}/skip", json=body)
        return list(answer["compensations"])

    def waits(self, address: str) -> list[dict[str, Any]]:
        """Return what an execution waits for, and which calls it takes now."""
        return list(self._asked("GET", f"{_path(address)}/waits")["waits"])

    def calls(self, address: str) -> list[dict[str, Any]]:
        """Return the calls of an execution with their verdicts."""
        return list(self._asked("GET", f"{_path(address)}/calls")["calls"])

    def call(
        self,
        address: str,
        name: str,
        given: Any = None,
        *,
        call_id: str | None = None,
        wait_seconds: float = 0.0,
        at: str | None = None,
    ) -> Verdict:
        """Call an execution; raises Refused with state and reason.

        A call whose answer was lost is sent again with the same id, so it counts once.
        """
        number = call_id or str(uuid.uuid4())
        params: dict[str, str] = {"wait": f"{wait_seconds:g}"} if wait_seconds else {}
        if at is not None:
            params["at"] = at
        said = self._asked(
            "POST",
            f"{_path(address)}/calls/{_part(name)}",
            json={} if given is None else given,
            params=params,
            headers={"Idempotency-Key": number},
            timeout=wait_seconds + _SLACK_SECONDS,
        )
        return Verdict(
            said["verdict"], said["call"], said["callId"], said.get("from"), said.get("to")
        )

    def _asked(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """Ask until somebody answers; raises Refused, CallError, Unanswered."""
        pause, reason = FIRST_PAUSE_SECONDS, ""
        for _ in range(MOST_TRIES):
            try:
                response = self._http.request(method, path, **options)
            except httpx.TransportError as lost:
                reason = f"{type(lost).__name__}: {lost}"
            else:
                if response.status_code != _UNAVAILABLE:
                    return _read(response)
                reason = response.text[:500]
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        headers = options.get("headers") or {}
        raise Unanswered(reason, headers.get("Idempotency-Key"))


def _read(response: httpx.Response) -> dict[str, Any]:
    try:
        value = response.json()
    except ValueError:
        value = None
    body: dict[str, Any] = value if isinstance(value, dict) else {"detail": response.text[:500]}
    if response.status_code == _REFUSED and body.get("verdict") == "refused":
        raise Refused(body)
    if response.is_error:
        raise CallError(response.status_code, body)
    return body


def _path(address: str) -> str:
    return f"/v1/executions/{_part(address)}"


def _part(text: str) -> str:
    return quote(text, safe=":")
