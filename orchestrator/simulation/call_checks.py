"""What must hold for the calls of an execution, its timers and its effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import pairwise

from orchestrator.asl.states import Await
from orchestrator.execution.call import Call, Verdict
from orchestrator.execution.frame import Frame, FrameStatus
from orchestrator.execution.history import HistoryEvent
from orchestrator.simulation.checks import Story
from orchestrator.simulation.sometimes import Sometimes


@dataclass(frozen=True)
class Talk:
    """All that an execution was asked, and what it has had done besides."""

    story: Story
    calls: Sequence[Call]
    effects: Sequence[Frame]
    run_again: AbstractSet[str] = frozenset()
    """The frames of effects that somebody has had run once more after they had failed."""

    def faults(self) -> Iterator[str]:
        """Yield everything that must not be."""
        yield from self._verdicts()
        yield from self._timers()
        yield from self._runs()
        if not self.story.is_full:  # what has no room in the history is not done either
            yield from self._scheduled()
            yield from self._turns()

    # -- calls -----------------------------------------------------------------------------------

    def _verdicts(self) -> Iterator[str]:
        accepted = {str(e.details["callId"]) for e in self._of("CallAccepted")}
        for call in self.calls:
            if call.verdict is Verdict.PENDING:
                yield f"{call.id} has no verdict"
            elif (call.verdict is Verdict.ACCEPTED) != (call.id in accepted):
                yield f"{call.id} is {call.verdict}, and the history says otherwise"
        unknown = accepted - {call.id for call in self.calls}
        if unknown:
            yield f"accepted was what nobody has asked: {unknown}"

    # -- timers ----------------------------------------------------------------------------------

    def _timers(self) -> Iterator[str]:
        fired: Counter[tuple[int, int]] = Counter()
        for event in self._of("TimerFired"):
            entry, seconds = self._timer(event)
            fired[entry.id, _place(event)] += 1
            if event.at < entry.at + timedelta(seconds=seconds):
                yield f"the timer of event {event.id} was early"
        for (entry_id, place), times in fired.items():
            if times > 1:
                yield f"timer {place} of the entry {entry_id} fired {times} times"

    def _timer(self, event: HistoryEvent) -> tuple[HistoryEvent, int]:
        entry = self.story.entered(event, str(event.details["name"]))
        state = self.story.machine.state(str(event.details["name"]))
        if entry is None or not isinstance(state, Await):
            raise ValueError(f"event {event.id} is of no Await")
        return entry, _seconds(state, _place(event))

    # -- effects ---------------------------------------------------------------------------------

    def _runs(self) -> Iterator[str]:
        """An effect ends once, as its frame says, whoever runs it."""
        for effect in self.effects:
            runs = [run for run in self.story.runs if run.claim.frame == effect.id]
            stood = sum(run.committed and run.succeeds for run in runs)
            if effect.status not in (FrameStatus.ENDED, FrameStatus.FAILED):
                yield f"the effect {effect.id} is {effect.status}"
            if stood and effect.status is FrameStatus.FAILED:
                yield f"the effect {effect.id} has failed, and a run of it has succeeded"
            if stood > 1:
                yield f"the effect {effect.id} has ended {stood} times"
            if len({run.claim.key for run in runs}) > 1:
                yield f"the effect {effect.id} has several keys"

    def _scheduled(self) -> Iterator[str]:
        events = [event.id for event in self._of("EffectScheduled")]
        frames = sorted(int(effect.id.rpartition("!")[2]) for effect in self.effects)
        if events != frames:
            yield f"effects are wanted by the events {events} and stand at {frames}"
        for entry in self._of("AwaitStateEntered"):
            state = self.story.machine.state(str(entry.details["name"]))
            if not isinstance(state, Await):
                continue
            entered, left = self._at(entry, state.on_enter), self._at(entry, state.on_exit)
            if entered > 1 or left > 1:
                yield f"the entry {entry.id} has {entered} effects of entry and {left} of exit"
            whole = (entered, left) == (len(state.on_enter), len(state.on_exit))
            if (entered or entry.id in self._done) and not whole:
                yield f"the entry {entry.id} was left with {entered} and {left} effects"

    def _left(self) -> Iterator[HistoryEvent]:
        for event in self._of("AwaitStateExited"):
            entry = self.story.entered(event, str(event.details["name"]))
            if entry is not None:
                yield entry

    def _at(self, entry: HistoryEvent, effects: Sequence[object]) -> int:
        """Count the effects of an entry that are among these of its state."""
        pointers = {getattr(effect, "pointer", "") for effect in effects}
        return sum(
            self._entry_of(frame) == entry.id and self._pointer(frame) in pointers
            for frame in self.effects
        )

    def _entry_of(self, effect: Frame) -> int:
        event = self.story.event(effect.last_event)
        entry = self.story.entered(event, str(event.details["name"]))
        return 0 if entry is None else entry.id

    def _pointer(self, effect: Frame) -> str:
        return "" if effect.effect is None else effect.effect.pointer

    def _turns(self) -> Iterator[str]:
        """The effects of one frame begin in the order of their turns."""
        began: dict[str, dict[int, list[int]]] = {}
        for effect in self.effects:
            if effect.id in self.run_again:
                continue
            runs = [run.number for run in self.story.runs if run.claim.frame == effect.id]
            turns = began.setdefault(effect.id.partition("!")[0], {})
            if runs:
                turns.setdefault(effect.entry, []).append(min(runs))
        for frame, turns in began.items():
            for (_, earlier), (turn, later) in pairwise(sorted(turns.items())):
                if max(earlier) > min(later):
                    yield f"the effects of turn {turn} of frame {frame!r} began before the last"

    # -- what is counted -------------------------------------------------------------------------

    def sometimes(self) -> Iterator[Sometimes]:
        """Yield what has happened in it."""
        yield from self._of_calls()
        for event in self._of("TimerFired"):
            led = event.details.get("next") is not None
            yield Sometimes.TIMER_LED_AWAY if led else Sometimes.TIMER_STAYED
        for effect in self.effects:
            runs = [run for run in self.story.runs if run.claim.frame == effect.id]
            if len({run.claim.attempt for run in runs}) > 1:
                yield Sometimes.EFFECT_AGAIN
            if effect.status is FrameStatus.FAILED:
                yield Sometimes.EFFECT_FAILED
            ended_at = self.story.execution.ended_at
            if ended_at is not None and any(run.claim.claimed_at > ended_at for run in runs):
                yield Sometimes.EFFECT_OUTLIVED
            if self._is_of_a_stop(effect):
                yield Sometimes.EFFECT_OF_A_STOP

    def _of_calls(self) -> Iterator[Sometimes]:
        for call in self.calls:
            accepted = call.verdict is Verdict.ACCEPTED
            yield Sometimes.CALL_ACCEPTED if accepted else Sometimes.CALL_REFUSED
            if accepted and call.at is not None:
                yield Sometimes.CALL_INTO_MAP
            ended_at = self.story.execution.ended_at
            if ended_at is not None and call.arrived_at > ended_at:
                yield Sometimes.CALL_TOO_LATE
        for event in self._of("CallAccepted"):
            state = self.story.machine.state(str(event.details["name"]))
            if not isinstance(state, Await):
                yield Sometimes.CALL_LEFT_FORK
            elif self._overtakes(event, state):
                yield Sometimes.TIMER_OVERTAKEN

    def _overtakes(self, event: HistoryEvent, state: Await) -> bool:
        """Tell whether a timer that leads away was due when a call was accepted."""
        entry = self.story.entered(event, state.name)
        return entry is not None and any(
            timer.next is not None
            and event.at >= entry.at + timedelta(seconds=_seconds(state, place))
            for place, timer in enumerate(state.after)
        )

    def _is_of_a_stop(self, effect: Frame) -> bool:
        ended = self.story.history[-1].type in ("ExecutionAborted", "ExecutionTimedOut")
        exits = "/OnExit" in self._pointer(effect)
        return ended and exits and self._entry_of(effect) not in self._done

    @cached_property
    def _done(self) -> set[int]:
        return {entry.id for entry in self._left()}

    def _of(self, event_type: str) -> Iterator[HistoryEvent]:
        return (event for event in self.story.history if event.type == event_type)


def _place(event: HistoryEvent) -> int:
    place = event.details["timer"]
    return place if isinstance(place, int) else 0


def _seconds(state: Await, place: int) -> int:
    """Return what a timer's definition gives; those of these machines compute none."""
    seconds = state.after[place].moment.seconds
    return seconds if isinstance(seconds, int) else 0
