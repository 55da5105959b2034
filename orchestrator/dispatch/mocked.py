"""Answers of tasks from a MockConfigFile.json, as Step Functions Local reads it.

An execution that was started as `STATE_MACHINE_ARN#TEST_CASE` gets them for the states that its
test case names; all others are served as ever. The file is read again when it has changed.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from orchestrator.asl import document
from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.resources import Kind, Resource
from orchestrator.asl.states import Task
from orchestrator.engine import Engine
from orchestrator.execution.frame import Execution
from orchestrator.execution.served import MOCK
from orchestrator.handlers import TaskContext, TaskError, handler
from orchestrator.store import Store

log = structlog.get_logger(__name__)

MOST_REMEMBERED: Final = 100_000
"""Of how many attempts the place in the order of calls is remembered."""


class UnreadableMocks(Exception):
    """The file is not there, or is no mock configuration."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the file says: by machine, test case and state, the responses by number of the call."""

    cases: Mapping[tuple[str, str], Mapping[str, str]]
    responses: Mapping[str, Mapping[str, Json]]

    def states(self, machine: str, case: str) -> frozenset[str]:
        """The states that a test case answers for."""
        return frozenset(self.cases.get((machine, case), ()))

    def response(self, machine: str, case: str, state: str, call: int) -> Json:
        """What a call gets, counted from 0; raises TaskError where the file has nothing."""
        name = self.cases.get((machine, case), {}).get(state, "")
        for numbers, response in self.responses.get(name, {}).items():
            first, _, last = numbers.partition("-")
            if int(first) <= call <= int(last or first):
                return response
        raise TaskError("States.Runtime", f"no mocked response of {name!r} for call {call}")


def read(path: Path) -> Configuration:
    """Read a file; raises UnreadableMocks."""
    try:
        value = document.read(path.read_bytes())
        match value:
            case {"StateMachines": dict(machines), "MockedResponses": dict(responses)}:
                return Configuration(_cases(machines), _responses(responses))
            case _:
                raise UnreadableMocks(f"{path} has no StateMachines and MockedResponses")
    except OSError as error:
        raise UnreadableMocks(f"{path} cannot be read: {error.strerror}") from None
    except (DocumentError, ValueError) as error:
        raise UnreadableMocks(f"{path} is no mock configuration: {error}") from None


def _cases(machines: dict[str, Json]) -> dict[tuple[str, str], dict[str, str]]:
    return {
        (machine, name): {state: str(response) for state, response in states.items()}
        for machine, about in machines.items()
        for name, states in _object(_object(about).get("TestCases")).items()
        if isinstance(states, dict)
    }


def _responses(responses: dict[str, Json]) -> dict[str, dict[str, Json]]:
    for response in responses.values():
        for numbers in _object(response):
            int(numbers.partition("-")[0]), int(numbers.rpartition("-")[2])
    return {name: _object(response) for name, response in responses.items()}


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


class Mocks:
    """Serves the answers of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._read = Configuration({}, {})
        self._calls: dict[tuple[int, str], dict[tuple[str, int], int]] = {}
        if path.exists():
            read(path)  # what is wrong from the beginning is said at the beginning

    def of(self, execution: Execution) -> frozenset[str]:
        """The states of an execution that its test case answers for."""
        case = execution.origin.test_case
        return frozenset() if case is None else self._now().states(execution.machine, case)

    def serve(self, store: Store, engine: Engine) -> None:
        """Answer the tasks of mocked states in this process."""

        @handler(MOCK)
        def answer(event: Json, context: TaskContext) -> Json:  # noqa: ARG001  # it is mocked
            run = store.find(context.machine, context.execution)
            if run is None or run.origin.test_case is None:
                raise TaskError("States.Runtime", "the execution has no test case")
            call = self._call(run.id, context)
            response = self._now().response(run.machine, run.origin.test_case, context.state, call)
            state = engine.machine(run.revision).state(context.state)
            if not isinstance(state, Task):
                raise TaskError("States.Runtime", f"{context.state} is no Task")
            return _answered(_object(response), state.resource)

    def _call(self, execution: int, context: TaskContext) -> int:
        """The number of the call of a state in its execution; the same for the same attempt."""
        with self._lock:
            if len(self._calls) >= MOST_REMEMBERED:
                del self._calls[next(iter(self._calls))]
            calls = self._calls.setdefault((execution, context.state), {})
            return calls.setdefault((context.key, context.attempt), len(calls))

    def _now(self) -> Configuration:
        """The configuration as the file has it now; one that cannot be read leaves the last."""
        with self._lock:
            try:
                about = self._path.stat()
                stamp = (about.st_mtime_ns, about.st_size)
                if stamp != self._stamp:
                    self._read, self._stamp = read(self._path), stamp
            except (OSError, UnreadableMocks) as error:
                log.warning("the mock configuration cannot be read", reason=str(error))
            return self._read


def _answered(response: dict[str, Json], resource: Resource) -> Json:
    """What a response is to the task: a result, or an error that is raised."""
    if "Throw" in response:
        thrown = _object(response["Throw"])
        raise TaskError(str(thrown.get("Error") or ""), _text(thrown.get("Cause")))
    result = response.get("Return")
    if resource.kind not in (Kind.LAMBDA_ARN, Kind.LAMBDA_INVOKE) or resource.waits_for_token:
        return result
    returned = _object(result)
    payload = returned.get("Payload")
    if "FunctionError" in returned:
        error = _object(payload).get("errorType")
        raise TaskError(str(error or returned["FunctionError"]), _text(payload))
    return payload if resource.kind is Kind.LAMBDA_ARN and "Payload" in returned else result


def _text(value: Json) -> str | None:
    return value if value is None or isinstance(value, str) else document.write(value)
