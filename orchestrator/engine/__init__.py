"""Floor 4: read, decide, commit, ring.

A library hosted by any process: whoever starts, a worker that has finished a task, a scheduler
whose moment is due. Knows when a transition is written and who hears of it; knows neither the
language's rules nor SQL nor any broker.
"""

from orchestrator.engine.bell import Bell, Silence
from orchestrator.engine.engine import (
    Arrival,
    Engine,
    Handled,
    Outcome,
    Start,
)
from orchestrator.engine.group import Group
from orchestrator.engine.inline import Claimant
from orchestrator.engine.revision import UnreadableRevision
from orchestrator.engine.surroundings import Surroundings

__all__ = [
    "Arrival",
    "Bell",
    "Claimant",
    "Engine",
    "Group",
    "Handled",
    "Outcome",
    "Silence",
    "Start",
    "Surroundings",
    "UnreadableRevision",
]
