"""Serves the tasks of the cases by real handlers, in a worker of the server's database.

run_cases.py makes `Handlers` with its arguments; the worker lives in the runner's process, so that
the server knows of no case.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import boto3

import __main__ as runner
from orchestrator import main as composition
from orchestrator.dispatch.local import QUEUE, LocalBell, LocalWorker
from orchestrator.handlers import TaskContext, handler
from tests.conformance.scripts import SUBMISSIONS, Outcome, Script, names_of, result_of

THREADS: Final = 24
LOOK_SECONDS: Final = 0.03
HANG_SECONDS: Final = 25.0
ANSWER_SECONDS: Final = 0.25
"""How long after its submission a task with a token is answered."""


class Handlers:
    """The strategy: `prepare` begins to serve, `target` needs no test case."""

    name = "real handlers"

    def __init__(self, arguments: Any) -> None:
        self._scripts: dict[str, Script] = {}
        self._calls: dict[tuple[str, str], Iterator[int]] = defaultdict(itertools.count)
        self._lock = threading.Lock()
        self._client = boto3.client(
            "stepfunctions",
            endpoint_url=arguments.endpoint_url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def prepare(self, cases: list[Mapping[str, Any]]) -> None:
        names: set[str] = set()
        for case in cases:
            if "definition" in case or "runs" in case:
                self._scripts[runner.sm_name(case)] = Script.of(case)
                names |= names_of(case)
        names.discard("lambda_1_func_u00320")  # its case is about a function that nobody runs
        for name in sorted(names):
            handler(name)(self._run)
        database = Path(os.environ["CONFORMANCE_DATABASE"])
        settings = composition.settings(f"sqlite:///{database}").model_copy(
            update={"limits": "strict-aws"}
        )
        bell = LocalBell(THREADS)
        self._worker = LocalWorker(composition.build(settings, bell), bell, settings, THREADS)
        self._worker.start()
        threading.Thread(target=_ring, args=(bell,), daemon=True).start()

    def target(self, _case: Mapping[str, Any], arn: str, _name: str) -> str:
        return arn

    def _run(self, event: Any, context: TaskContext) -> Any:
        outcome = self._outcome(context)
        submission = SUBMISSIONS.get(context.resource)
        if submission is None or (token := _token_in(event)) is None:
            if outcome.get("timeout") or outcome.get("hang"):
                return submission if submission is not None else _hang(context)
            if outcome.get("delay_seconds"):
                _hang(context, outcome["delay_seconds"])
            return result_of(outcome, event)
        if not outcome.get("timeout") and not outcome.get("hang"):
            threading.Timer(ANSWER_SECONDS, self._answer, (token, outcome, event)).start()
        return submission

    def _outcome(self, context: TaskContext) -> Outcome:
        function = context.resource.rpartition(":")[2]
        with self._lock:
            call = next(self._calls[f"{context.machine}:{context.execution}", context.state])
        return self._script(context.machine).outcome(context.state, function, call)

    def _script(self, machine: str) -> Script:
        while machine not in self._scripts and "-" in machine:
            machine = machine.rpartition("-")[0]  # a second definition, or a child, of a case
        return self._scripts[machine]

    def _answer(self, token: str, outcome: Outcome, event: Any) -> None:
        if "error" not in outcome:
            output = json.dumps(result_of(outcome, event))
            self._client.send_task_success(taskToken=token, output=output)
            return
        given = {"error": outcome.get("error"), "cause": outcome.get("cause")}
        self._client.send_task_failure(
            taskToken=token, **{name: text for name, text in given.items() if text is not None}
        )


def _ring(bell: LocalBell) -> None:
    """The server's bell rings in its own process only: look as if ours rang all the time."""
    while True:
        bell.ring({QUEUE: THREADS})
        time.sleep(LOOK_SECONDS)


def _hang(context: TaskContext, seconds: float = HANG_SECONDS) -> None:
    until = time.monotonic() + min(seconds, HANG_SECONDS)
    while time.monotonic() < until and not context.cancelled:
        time.sleep(0.05)


def _token_in(value: Any) -> str | None:
    if isinstance(value, str):
        return value if value.startswith("v1.") else None
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for item in items if (found := _token_in(item))), None)
