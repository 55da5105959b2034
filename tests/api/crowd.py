"""How soon a door answers others while 1,000 polls and 200 sync starts wait at it.

`python -m tests.api.crowd` starts `orchestrator dev` and asks from a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import httpx

from tests.api.stage import ROLE
from tests.api.test_clients import served
from tests.api.test_waiting import POLLS, SLEEPS, SYNCS, crowd
from tests.servers import free_port

ASKED: Final = 600
PAUSE_SECONDS: Final = 0.02
MOST_MS: Final = 100.0


def _ask(url: str, action: str, body: object, client: Any = httpx) -> Any:
    headers = {"X-Amz-Target": f"AWSStepFunctions.{action}"}
    answer = client.post(url, content=json.dumps(body), headers=headers, timeout=60)
    answer.raise_for_status()
    return answer.json()


def probe(url: str) -> None:
    """Ask again and again; print how long the answers took."""
    taken = []
    with httpx.Client() as client:
        for _ in range(ASKED):
            began = time.perf_counter()
            _ask(url, "ListStateMachines", {}, client)
            taken.append(1_000 * (time.perf_counter() - began))
            time.sleep(PAUSE_SECONDS)
    taken.sort()
    late = sum(one > MOST_MS for one in taken)
    sys.stdout.write(
        f"p50 {taken[ASKED // 2]:.1f} ms, p99 {taken[ASKED * 99 // 100]:.1f} ms, "
        f"longest {taken[-1]:.1f} ms; {late} of {ASKED} took more than {MOST_MS:.0f} ms\n"
    )


def main() -> None:
    """Let them wait, and ask meanwhile."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), port=port):
        activity = _ask(url, "CreateActivity", {"name": "work"})["activityArn"]
        machine = {"name": "m", "type": "EXPRESS", "roleArn": ROLE}
        made = _ask(url, "CreateStateMachine", {**machine, "definition": json.dumps(SLEEPS)})
        with crowd(url) as waiting:
            waiting.send("GetActivityTask", {"activityArn": activity}, POLLS)
            waiting.send("StartSyncExecution", {"stateMachineArn": made["stateMachineArn"]}, SYNCS)
            time.sleep(8)
            subprocess.run([sys.executable, "-m", "tests.api.crowd", url], check=True)
            if waiting.answers:
                raise SystemExit(f"not all have waited: {waiting.answers[:3]}")


if __name__ == "__main__":
    probe(sys.argv[1]) if len(sys.argv) > 1 else main()
