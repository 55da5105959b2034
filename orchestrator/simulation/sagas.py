"""Machines that undo what they did, who skips what is blocked, and what must hold of undoing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

from orchestrator.asl.document import Json
from orchestrator.engine import Outcome
from orchestrator.execution.compensation import Compensation, Undoing
from orchestrator.execution.events import CompensationRetried, CompensationSkipped
from orchestrator.execution.frame import Execution, FrameStatus, UndoNote, is_undo
from orchestrator.execution.history import HistoryEvent
from orchestrator.simulation.case import UNDO, Manner
from orchestrator.simulation.chance import Chance
from orchestrator.simulation.door import Door, Doors
from orchestrator.simulation.ledger import Run
from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.world import World
from orchestrator.store import Store

MOST_COMPENSATIONS = 10_000


def doom(machine: dict[str, Json]) -> None:
    """Let a machine fail where it would end well."""
    states = machine["States"]
    if not isinstance(states, dict):
        return
    for state in states.values():
        if isinstance(state, dict) and state.pop("End", None) is not None:
            state["Next"] = "Doom"
    if any(isinstance(state, dict) and state.get("Next") == "Doom" for state in states.values()):
        states["Doom"] = {"Type": "Fail", "Error": "E", "Cause": "why"}


def add_compensations(
    text: str, machine: dict[str, Json], *, always: bool = False
) -> dict[str, Manner]:
    """Let a machine undo what it does, or not; return how the handlers of undoing behave.

    Everything is drawn from its text, so that nothing else of a seed is another.
    """
    chance = Chance(int.from_bytes(sha256(text.encode()).digest()[:8], "big"))
    if not chance.happens(0.5) and not always:
        return {}
    manners: dict[str, Manner] = {}
    _decorate(chance, machine, manners, top=True)
    return manners


def undoing(state: str) -> str:
    """Return the name under which the manner of a state's compensation is kept."""
    return f"undo {state}"


def _decorate(
    chance: Chance, scope: dict[str, Json], manners: dict[str, Manner], *, top: bool
) -> None:
    states = scope.get("States")
    for name, state in states.items() if isinstance(states, dict) else ():
        if not isinstance(state, dict):
            continue
        kind = state.get("Type")
        if kind == "Task" and chance.happens(0.7):
            state["Compensate"] = _compensation()
            if chance.happens(0.5):
                state["CompensateUnknown"] = True
        elif kind in ("Parallel", "Map") and chance.happens(0.15):
            state["Compensate"] = _compensation()
        if kind == "Task" and top and chance.happens(0.05):
            state["Pivot"] = True
        manners[undoing(name)] = chance.one_of(
            [Manner.GOOD] * 6 + [Manner.FAILING, Manner.FAILING, Manner.SUICIDAL]
        )
        catchers = state.get("Catch")
        for catcher in catchers if isinstance(catchers, list) else []:
            if isinstance(catcher, dict) and chance.happens(0.5):
                catcher["Compensate"] = True
        for inner in _scopes(state):
            _decorate(chance, inner, manners, top=False)


def _compensation() -> dict[str, Json]:
    retry: Json = [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2, "IntervalSeconds": 1}]
    return {"Resource": UNDO, "Retry": retry, "TimeoutSeconds": 60}


def _scopes(state: dict[str, Json]) -> Iterator[dict[str, Json]]:
    branches = state.get("Branches")
    inner = [state.get("ItemProcessor"), *(branches if isinstance(branches, list) else [])]
    yield from (one for one in inner if isinstance(one, dict))


# ------------------------------------------------------------------------------- the operator


@dataclass(slots=True)
class Operator:
    """Retries what is blocked once, then skips it, or has the whole abandoned."""

    world: World
    store: Store
    doors: Doors
    aborts: bool = False
    """Whether executions are ended now that have not undone all."""
    retried: set[tuple[int, str]] = field(default_factory=set)

    def look(self) -> None:
        """Do something about every compensation that has failed for good."""
        for number in self.world.ledger.started.values():
            for frame in self.store.frames(number):
                if frame.status is FrameStatus.FAILED and frame.undo and is_undo(frame.id):
                    self._act(number, frame.id, frame.undo)

    def _act(self, number: int, frame: str, undo: UndoNote) -> None:
        door = self.doors.any()
        if door is None:
            return
        self.world.count(Sometimes.COMPENSATION_BLOCKED)
        if self.aborts and self.world.chance.happens(0.3):
            door.process.later(0.0, partial(door.abort, number))
            return
        wanted = CompensationSkipped if (number, frame) in self.retried else CompensationRetried
        event = wanted(number, frame, undo.event, undo.place)
        self.retried.add((number, frame))
        door.process.later(0.0, partial(self._tell, door, event))

    def _tell(self, door: Door, event: CompensationRetried | CompensationSkipped) -> None:
        if door.tell([event]) == [Outcome.COMMITTED]:
            what = isinstance(event, CompensationSkipped)
            done = Sometimes.COMPENSATION_SKIPPED if what else Sometimes.COMPENSATION_RETRIED
            self.world.count(done)


# ------------------------------------------------------------------------------- what must hold


def undoing_faults(
    execution: Execution,
    runs: Sequence[Run],
    history: Sequence[HistoryEvent],
    left: Sequence[Compensation],
) -> Iterator[str]:
    """Yield what is wrong with what was undone, once an execution has ended."""
    for one in left:
        if one.is_open and execution.undoing is not Undoing.ABANDONED:
            yield f"the compensation {one.number} of {one.state} is {one.status} at the end"
    ended: Counter[object] = Counter()
    for event in history:
        if event.type in ("CompensationSucceeded", "CompensationSkipped"):
            ended[event.details.get("undoes")] += 1
    yield from (f"the entry {one} is undone {n} times" for one, n in ended.items() if n > 1)
    newest: dict[tuple[str, str], tuple[int, int]] = {}
    for run in runs:
        note = run.claim.row.undo
        if note is None or not is_undo(run.claim.frame) or not (run.committed and run.succeeds):
            continue
        owner, _, own = run.claim.frame.partition("~")
        key = (f"{owner}~{own.partition('/')[0]}", note.scope)
        order = (note.event, note.place)
        if order > newest.get(key, order):
            yield f"{note.number} is undone after {newest[key]}, which is older"
        newest[key] = order


def undoing_sometimes(
    history: Sequence[HistoryEvent], left: Sequence[Compensation]
) -> Iterator[Sometimes]:
    """Yield what has happened in undoing."""
    for event in history:
        if event.type == "CompensationSucceeded":
            yield Sometimes.UNDONE
    for one in left:
        if one.scope:
            yield Sometimes.UNDONE_IN_FORK
        if one.by is not None:
            yield Sometimes.UNDOING_WAITED
