"""What `orchestrator saga` prints: the order of undoing, as text for people or as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.asl.undoing import Failure
from orchestrator.cli.printing import emit, plain
from orchestrator.service import NOTHING_UNDONE, told


def order_of_undoing(failures: Sequence[Failure], json: bool) -> None:
    """What is undone at each failure; states that follow each other and agree are told together."""
    if json:
        emit([failure.value for failure in failures])
        return
    if not failures:
        print(NOTHING_UNDONE)
    for lines in told(failures):
        for line in lines:
            print(plain(line))
