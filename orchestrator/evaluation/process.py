"""The helper process itself: `python -m orchestrator.evaluation.process`.

It reads questions from its standard input and writes answers to its standard output, until the
process that it helps is gone.
"""

from __future__ import annotations

import os
import resource
import select
from typing import Final

from orchestrator.asl.jsonata import answer
from orchestrator.asl.limits import MEBIBYTE
from orchestrator.evaluation.message import READY, incoming, question_in, response

MOST_BYTES: Final = 512 * MEBIBYTE
"""The memory that it may use, code and all."""

LOOK_SECONDS: Final = 5.0
"""How often it looks whether its parent is still there: others may have inherited the pipe."""


def main() -> None:
    """Answer until nobody asks any more."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    parent = os.getppid()
    _write(READY)
    while (message := _read(parent)) is not None:
        _write(response(answer(*question_in(message))))


def _read(parent: int) -> bytes | None:
    """Return the next message, None at the end."""
    reading = incoming()
    wanted = next(reading)
    while True:
        while not select.select([0], [], [], LOOK_SECONDS)[0]:
            if os.getppid() != parent:
                return None
        data = os.read(0, wanted)
        if not data:
            return None
        try:
            wanted = reading.send(data)
        except StopIteration as whole:
            return bytes(whole.value)


def _write(message: bytes) -> None:
    view = memoryview(message)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
