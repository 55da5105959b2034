"""Random sagas with random failures do to the world what a model predicts that knows no engine."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator import main
from orchestrator.asl.document import Json
from orchestrator.dispatch.local import LocalBell, LocalWorker
from orchestrator.execution.frame import Execution, ExecutionStatus
from orchestrator.handlers import TaskContext, handler
from orchestrator.main import Embedded
from tests.calls.machines import Deployment
from tests.sagas.machines import Writer, sagas
from tests.sagas.model import Model
from tests.sagas.nodes import End, Saga, Trace, agrees, flat

TOGETHER = 8
"""Sagas of one example, so that the pauses of their Retriers pass at the same time."""
THREADS = 16
PATIENCE_SECONDS = 120

# -------------------------------------------------------------------------------- the handlers


@dataclass
class Scene:
    """One execution: what comes before each failure of a step, and what has happened."""

    failing: dict[str, list[Counter[str]]]
    effects: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, trace: Trace) -> Scene:
        failing: dict[str, list[Counter[str]]] = {}
        effects = flat(trace)
        for place, effect in enumerate(effects):
            if effect.startswith("fail "):
                before = Counter(effects[:place])
                failing.setdefault(effect.removeprefix("fail "), []).append(before)
        return cls(failing)

    def wait_for(self, effects: Counter[str]) -> None:
        there = CHANGED.wait_for(lambda: effects <= Counter(self.effects), PATIENCE_SECONDS)
        assert there, (effects, self.effects)

    def leave(self, effect: str, task: TaskContext) -> None:
        if task.key not in self.keys:
            self.keys.add(task.key)
            self.effects.append(effect)
        CHANGED.notify_all()


SCENES: dict[str, Scene] = {}
CHANGED = threading.Condition()


class Broken(Exception):
    """The step fails, as it was to."""


@handler("model.do")
def do(name: str, at: str, task: TaskContext) -> Json:
    """Fail as often as was predicted, once all has happened that comes before; then do it."""
    scene, step = SCENES[task.machine], name + at
    with CHANGED:
        failing, failed = scene.failing.get(step, []), scene.effects.count(f"fail {step}")
        if failed < len(failing):
            scene.wait_for(failing[failed])
            scene.leave(f"fail {step}", task)
            raise Broken(step)
        scene.leave(f"do {step}", task)
    return step


@handler("model.undo")
def undo(name: str, at: str, task: TaskContext) -> Json:
    """Leave an effect."""
    with CHANGED:
        SCENES[task.machine].leave(f"undo {name}{at}", task)
    return None


# ------------------------------------------------------------------------------------- the test


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    url = f"sqlite:///{tmp_path_factory.mktemp('sagas') / 'orchestrator.db'}"
    given = main.settings(url).model_copy(update={"poll_seconds": 0.05})
    main.upgrade(given)
    bell = LocalBell(THREADS)
    parts, ticks = main.scheduler(given, bell)
    with Embedded(parts, LocalWorker(parts, bell, given, THREADS), ticks):
        yield Deployment(parts)


NUMBERS = count()


@given(drawn=st.lists(st.tuples(sagas(), st.booleans()), min_size=TOGETHER, max_size=TOGETHER))
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
def test_sagas_do_to_the_world_what_the_model_predicts(
    running: Deployment, drawn: list[tuple[Saga, bool]]
) -> None:
    predicted = {}
    for saga, queries in drawn:
        name, (trace, end) = f"saga{next(NUMBERS)}", Model().predict(saga)
        predicted[name] = (saga, trace, end)
        SCENES[name] = Scene.of(trace)
        running.service.deploy(name, Writer(queries).machine(saga))
        running.service.start_execution(name, "one", '{"at": "", "items": [0, 1, 2]}')
    ended = {name: _ended(running, name) for name in predicted}
    for name, (saga, trace, end) in predicted.items():
        effects = SCENES[name].effects
        assert agrees(trace, effects), (saga, trace, effects)
        wanted = ExecutionStatus.SUCCEEDED if end is End.DONE else ExecutionStatus.FAILED
        assert ended[name].status is wanted, (saga, ended[name])


def _ended(running: Deployment, name: str) -> Execution:
    address = f"{name}:one"
    running.until(
        lambda: running.service.find_execution(address).ended_at is not None, PATIENCE_SECONDS
    )
    return running.service.find_execution(address)
