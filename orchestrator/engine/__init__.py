"""Floor 4: read, decide, commit, ring.

A library hosted by any process: whoever starts, a worker that has finished a task, a scheduler
whose moment is due. Knows when a transition is written and who hears of it; knows neither the
language's rules nor SQL nor any broker.
"""

from orchestrator.engine.around import Mocks, no_mocks
from orchestrator.engine.arrival import Arrival, Handled, Outcome, Start
from orchestrator.engine.bell import Bell, Silence
from orchestrator.engine.callback import Callbacks, InvalidTaskToken, TokenOf
from orchestrator.engine.children import Children
from orchestrator.engine.deletion import Deletion
from orchestrator.engine.engine import Engine
from orchestrator.engine.group import Group
from orchestrator.engine.inline import Claimant
from orchestrator.engine.revision import UnreadableRevision
from orchestrator.engine.starting import StartTasks
from orchestrator.engine.surroundings import Surroundings, first_id
from orchestrator.engine.topic import (
    CHILDREN,
    ENDED,
    ENGINE_QUEUE,
    SOON,
    TellingBell,
    topic_of_call,
)

__all__ = [
    "CHILDREN",
    "ENDED",
    "ENGINE_QUEUE",
    "SOON",
    "Arrival",
    "Bell",
    "Callbacks",
    "Children",
    "Claimant",
    "Deletion",
    "Engine",
    "Group",
    "Handled",
    "InvalidTaskToken",
    "Mocks",
    "Outcome",
    "Silence",
    "Start",
    "StartTasks",
    "Surroundings",
    "TellingBell",
    "TokenOf",
    "UnreadableRevision",
    "first_id",
    "no_mocks",
    "topic_of_call",
]
