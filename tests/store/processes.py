"""Functions run in processes of their own, at the same time."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkServerProcess
from multiprocessing.queues import Queue
from typing import Any, TypeVar

Answer = TypeVar("Answer")

JOIN_SECONDS = 60.0

# Not a fork of the test, whose threads and connections are its own; a fork of what was imported.
_server = multiprocessing.get_context("forkserver")
_server.set_forkserver_preload(["tests.store.samples"])


def _answer(answers: Queue[tuple[int, Any]], number: int, work: Any, arguments: Any) -> None:
    try:
        answers.put((number, work(*arguments)))
    except BaseException as error:
        answers.put((number, error))
        raise


def in_processes(work: Callable[..., Answer], arguments: Sequence[tuple[Any, ...]]) -> list[Answer]:
    """Call `work` once per tuple of arguments, each in a process, and return what they return."""
    answers: Queue[tuple[int, Any]] = _server.Queue()
    processes: list[ForkServerProcess] = [
        _server.Process(target=_answer, args=(answers, number, work, each))
        for number, each in enumerate(arguments)
    ]
    for process in processes:
        process.start()
    found = dict(answers.get(timeout=JOIN_SECONDS) for _ in processes)
    for process in processes:
        process.join(JOIN_SECONDS)
        process.close()
    answers.close()
    for answer in found.values():
        if isinstance(answer, BaseException):
            raise answer
    return [found[number] for number in range(len(arguments))]


def at_once(count: int) -> Any:
    """A barrier at which so many processes meet."""
    return _server.Barrier(count, timeout=JOIN_SECONDS)


def in_background(work: Callable[..., None], arguments: tuple[Any, ...]) -> ForkServerProcess:
    """Call `work` in a process that goes on until it is killed, or the test ends."""
    process = _server.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process
