"""One name and one input make one execution, however many ask for it at the same time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any

from orchestrator import main
from orchestrator.service import ExecutionAlreadyExists, Orchestrator, StartedExecution
from tests.store.processes import at_once, in_processes

STARTS = (13, 13, 12, 12)
RESTS = json.dumps(
    {"StartAt": "Rest", "States": {"Rest": {"Type": "Wait", "Seconds": 86_400, "End": True}}}
)


@contextmanager
def _service(url: str) -> Iterator[Orchestrator]:
    parts = main.build(main.settings(url))
    yield parts.service
    parts.store.dispose()


def _start(url: str, texts: list[str], barrier: Any) -> list[StartedExecution | None]:
    """Start one name once per text, from a thread each; None where the start is refused."""
    with _service(url) as service, ThreadPoolExecutor(len(texts)) as threads:
        ready = Barrier(len(texts), action=barrier.wait)

        def start(text: str) -> StartedExecution | None:
            ready.wait()
            try:
                return service.start_execution("rest", "one", text)
            except ExecutionAlreadyExists:
                return None

        return list(threads.map(start, texts))


def _start_everywhere(url: str, texts: list[list[str]]) -> list[StartedExecution | None]:
    barrier = at_once(len(texts))
    answers = in_processes(_start, [(url, each, barrier) for each in texts])
    return [started for answer in answers for started in answer]


def test_50_starts_from_4_processes_with_one_name_and_input_make_one_execution(
    database_url: str,
) -> None:
    with _service(database_url) as service:
        service.deploy("rest", RESTS)
    same = ['{"a": 1, "b": [2]}', '{ "b" : [2.0], "a" : 1 }']
    texts = [[same[n % 2] for n in range(count)] for count in STARTS]
    started = _start_everywhere(database_url, texts)
    assert len(started) == 50
    assert sum(one is not None and one.created for one in started) == 1
    assert len({one.id for one in started if one is not None}) == 1
    assert None not in started
    with _service(database_url) as service:
        assert len(service.list_executions("rest")) == 1
        assert [event.id for event in service.whole_history("rest:one")] == [1, 2]


def test_of_starts_with_different_inputs_one_input_wins_and_the_others_are_refused(
    database_url: str,
) -> None:
    with _service(database_url) as service:
        service.deploy("rest", RESTS)
    texts = [[str(process)] * count for process, count in enumerate(STARTS)]
    started = _start_everywhere(database_url, texts)
    with _service(database_url) as service:
        assert len(service.list_executions("rest")) == 1
        won = service.describe_execution("rest:one").input.value
    assert isinstance(won, int)
    assert sum(one is not None for one in started) == STARTS[won]
    assert sum(one is not None and one.created for one in started) == 1
