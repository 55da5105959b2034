"""Places at which a test can have a process killed, as `kill -9` would.

`ORCHESTRATOR_CRASH_AT=NAME@N` kills the process when it reaches NAME for the N-th time. Without
it, a place costs one look at a variable.
"""

from __future__ import annotations

import itertools
import os
import signal
from typing import Final

POINTS: Final = ("claimed", "handled", "committing", "committed", "due")
"""A task claimed; its handler returned; before COMMIT; after it, before any bell; moments read."""
OF_CHILDREN: Final = ("taken over", "forgotten")
"""A parent has heard of the end of its child; what the child could undo is forgotten there."""

_name, _, _number = os.environ.get("ORCHESTRATOR_CRASH_AT", "").partition("@")
_reached: Final = itertools.count(1)


def reach(name: str) -> None:
    """Die here, if this is the place and the time."""
    if _name and name == _name and next(_reached) == int(_number or 1):
        os.kill(os.getpid(), signal.SIGKILL)
