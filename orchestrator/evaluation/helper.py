"""The helper process, seen from the process that it helps: started, asked, killed, replaced."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

import orchestrator
from orchestrator.asl.jsonata import Answer, Bounds, Question
from orchestrator.evaluation.message import answer_in, incoming, request

SPARE_SECONDS: Final = 0.5
"""How much longer than its limit an expression may take until the helper is killed."""

STARTING_SECONDS: Final = 15.0
"""How long a helper may take to start, on a machine that is busy."""

_ALLOCATOR: Final = {"MIMALLOC_ARENA_RESERVE": "32768"}
"""The library's allocator sets 1 GiB of addresses apart, more than the helper may have."""

_TOO_LONG: Final = Answer(
    reason="threw an error during evaluation. The evaluation took too long.", exhausted=True
)
_TOO_MUCH: Final = Answer(
    reason="threw an error during evaluation. The evaluation needed too much memory.",
    exhausted=True,
)
_NONE: Final = Answer(reason="threw an error during evaluation. There is nobody to evaluate it.")


def _nothing() -> None:
    """End no process."""


class _Silent(Exception):
    """The helper has not said in time what it was to say."""


class _Gone(Exception):
    """The helper has ended."""


class Helper:
    """One helper process at most, which answers one question after the other."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._seconds = bounds.seconds + SPARE_SECONDS
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] = _nothing
        self._ready = False
        self._owner = os.getpid()
        self._inherited: list[subprocess.Popen[bytes]] = []

    def answer(self, question: Question) -> Answer:
        """Have the helper evaluate an expression; it is replaced if it does not survive that."""
        self._own()
        with self._lock:
            try:
                process = self._at_hand()
            except (_Silent, _Gone, OSError):
                self._kill()
                return _NONE
            try:
                return self._asked(process, question)
            except _Silent:
                self._replace()
                return _TOO_LONG
            except (_Gone, OSError):
                self._replace()
                return _TOO_MUCH

    def close(self) -> None:
        """End the process, if there is one."""
        self._own()
        with self._lock:
            self._kill()

    def _own(self) -> None:
        """Leave the helper to the parent where this process is a fork of it."""
        if self._owner == os.getpid():
            return
        if self._process is not None:
            self._inherited.append(self._process)  # not to be waited for, nor to be closed
        self._process, self._end = None, _nothing
        self._lock = threading.Lock()
        self._owner = os.getpid()

    # ------------------------------------------------------------------------------- the process

    def _at_hand(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._kill()
        process = self._process or self._start()
        if not self._ready:
            _read(process, STARTING_SECONDS)
            self._ready = True
        return process

    def _start(self) -> subprocess.Popen[bytes]:
        root = str(Path(orchestrator.__file__).resolve().parent.parent)
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._ready = False
        process = subprocess.Popen(
            [sys.executable, "-m", "orchestrator.evaluation.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_ALLOCATOR, "PYTHONPATH": path},
            start_new_session=True,  # a Ctrl-C is for the process that is helped
        )
        self._process = process
        self._end = weakref.finalize(self, _end_of, process, os.getpid())
        return process

    def _asked(self, process: subprocess.Popen[bytes], question: Question) -> Answer:
        stdin = process.stdin
        if stdin is None:
            raise _Gone
        stdin.write(request(question, self._bounds))
        stdin.flush()
        return answer_in(_read(process, self._seconds))

    def _replace(self) -> None:
        """Kill the process and let another start already: somebody may ask soon."""
        self._kill()
        self._start()

    def _kill(self) -> None:
        self._process = None
        self._end()


def _end_of(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a helper, if it is this process's own."""
    if owner != os.getpid():
        return
    process.kill()
    for pipe in (process.stdin, process.stdout):
        _close(pipe)
    process.wait()


def _close(pipe: IO[bytes] | None) -> None:
    with contextlib.suppress(OSError):  # what it had not written yet nobody will read
        if pipe is not None:
            pipe.close()


def _read(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Return the next message of a process; raises _Silent or _Gone."""
    if process.stdout is None:
        raise _Gone
    source, until = process.stdout.fileno(), time.monotonic() + seconds
    poll = select.poll()
    poll.register(source, select.POLLIN)
    reading = incoming()
    wanted = next(reading)
    while True:
        left = until - time.monotonic()
        if left <= 0 or not poll.poll(left * 1_000):
            raise _Silent
        data = os.read(source, wanted)
        if not data:
            raise _Gone
        try:
            wanted = reading.send(data)
        except StopIteration as whole:
            return bytes(whole.value)
