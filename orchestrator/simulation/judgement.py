"""Whether a seed has done what its definitions ask for: each execution, once all is over."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.asl.machine import Machine
from orchestrator.execution.compensation import Undoing
from orchestrator.execution.frame import ExecutionStatus, is_effect, is_undo
from orchestrator.simulation.call_checks import Talk
from orchestrator.simulation.calls import Callers
from orchestrator.simulation.case import Case
from orchestrator.simulation.checks import Story
from orchestrator.simulation.forecast import Forecast
from orchestrator.simulation.model import Ending, Model
from orchestrator.simulation.sagas import (
    MOST_COMPENSATIONS,
    undoing_faults,
    undoing_sometimes,
)
from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.world import World
from orchestrator.store import Store


class Judge:
    """Looks at the executions of one seed; `called`: the callers have called them."""

    def __init__(
        self,
        world: World,
        observer: Store,
        cases: Mapping[str, Case],
        machines: Mapping[str, Machine],
        callers: Callers,
        *,
        called: bool,
    ) -> None:
        self._world = world
        self._observer = observer
        self._cases = cases
        self._machines = machines
        self._callers = callers
        self._called = called

    def judge(self) -> None:
        """Blame the world for all that has happened and must not have; count the rest."""
        for name, number in self._world.ledger.started.items():
            story = self._story(number)
            if story is None:
                self._world.blame(f"{name} is not there")
                continue
            talk = self._talk(number, story)
            left = self._observer.compensations(number, MOST_COMPENSATIONS)
            faults = story.disorder()
            if not faults:
                faults = [*story.faults(), *talk.faults()]
                faults += undoing_faults(story.execution, story.runs, story.history, left)
                faults += self._undone_otherwise(story)
                faults += self._callers.faults(name, {call.id: call for call in talk.calls})
            for fault in faults:
                self._world.blame(f"{name}: {fault}")
            if faults:
                continue
            self._judge_stop(name, story)
            undone = undoing_sometimes(story.history, left)
            for what in (*story.sometimes(), *talk.sometimes(), *undone):
                self._world.count(what)
            if story.case.exact:
                self._compare(name, story)

    def _undone_otherwise(self, story: Story) -> list[str]:
        """Compare what was undone with what is foretold, unless the history had no room for it."""
        most = story.case.limits.history_events
        if not story.machine.undoes or (most is not None and len(story.history) >= most):
            return []
        frames = {
            run.claim.row.entry: run.claim.frame
            for run in story.runs
            if not is_effect(run.claim.frame) and not is_undo(run.claim.frame)
        }
        return list(Forecast(story.machine, story.execution, story.history, frames).faults())

    def _judge_stop(self, name: str, story: Story) -> None:
        ledger, execution = self._world.ledger, story.execution
        aborted = execution.status is ExecutionStatus.ABORTED
        if aborted and execution.id not in ledger.asked_to_stop | ledger.asked_to_abort:
            self._world.blame(f"{name}: who stopped it?")
        abandoned = execution.undoing is Undoing.ABANDONED
        if abandoned and execution.id not in ledger.asked_to_abort:
            self._world.blame(f"{name}: who abandoned what it had to undo?")
        if abandoned:
            self._world.count(Sometimes.UNDOING_ABANDONED)
        if execution.id in ledger.stopped and not aborted and not story.is_full:
            self._world.blame(f"{name}: it was stopped, and ended otherwise")

    def _story(self, number: int) -> Story | None:
        store = self._observer
        execution = store.execution(number)
        if execution is None:
            return None
        history = store.history(number, limit=100_000)
        return Story(
            execution=execution,
            machine=self._machines[execution.machine],
            case=self._cases[execution.machine],
            history=history,
            output=store.output(number),
            frames=store.frames(number),
            runs=self._world.ledger.runs_of(number),
            undoable=frozenset(
                (one.scope, one.event) for one in store.compensations(number, MOST_COMPENSATIONS)
            ),
            jumped_back=bool(self._world.counts[Sometimes.CLOCK_BACK]),
        )

    def _talk(self, number: int, story: Story) -> Talk:
        if not self._called:
            return Talk(story, (), ())
        again = {frame for run, frame in self._world.ledger.run_again if run == number}
        store = self._observer
        return Talk(story, store.calls(number), store.effects(number), frozenset(again))

    def _compare(self, name: str, story: Story) -> None:
        """Compare an ending with the model's, unless an accident has had a hand in it."""
        if story.accidents():
            return
        ours = Ending.of(story.execution, story.output)
        model = Model(story.case, story.machine).ending()
        self._world.say(name, f"{ours}")
        if ours != model:
            self._world.blame(f"{name}: {ours}, but the model says {model}")
        elif ours.error is None:
            self._world.count(Sometimes.FOLLOWED_MODEL)
        else:
            self._world.count(Sometimes.FAILED_AS_MODEL)
