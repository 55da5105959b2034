"""A result that comes after its task was claimed again is refused, whatever it would bring about.

An end needs no row of the frame that ends: what was seen of it counts nevertheless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from orchestrator.engine import Arrival, Claimant, Engine, Handled, Outcome, Silence, Start
from orchestrator.execution.decision import Decision
from orchestrator.execution.events import Event, MomentDue, TaskFailed, TaskSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.store import Announcement, Claim, Store
from orchestrator.store import Outcome as Written

RESOURCES = frozenset({"celery:work"})
TASK = '{"Type": "Task", "Resource": "celery:work", %s "End": true}'
ALONE = '{"StartAt": "A", "States": {"A": %s}}' % (TASK % "")
LIMITED = '{"StartAt": "A", "States": {"A": %s}}' % (TASK % '"HeartbeatSeconds": 1,')
IN_A_BRANCH = (
    '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "Branches": [%s], "Next": "Z"},'  # noqa: UP031
    ' "Z": {"Type": "Wait", "Seconds": 99, "End": true}}}' % ALONE
)


class Meddling(Store):
    """A store in which something happens between a decision and its commit, once."""

    meddle: Callable[[], None] | None = None

    def commit(self, decisions: Sequence[Decision]) -> list[Written]:
        meddle, self.meddle = self.meddle, None
        if meddle is not None:
            meddle()
        return super().commit(decisions)


@pytest.fixture
def store(database_url: str) -> Iterator[Meddling]:
    store = Meddling(database_url)
    store.announce("first", {"celery:work": Announcement("queue")})
    yield store
    store.dispose()


def started(store: Store, definition: str) -> Engine:
    engine = Engine(store, Silence())
    revision = store.machines.put("machine", definition)
    engine.start(Start("machine", revision.id, "run", Payload.parse("{}")))
    return engine


def claimed(store: Store, worker: str, lease_seconds: float = 30.0) -> Claim:
    (claim,) = store.claim(worker, ["queue"], RESOURCES, limit=1, lease_seconds=lease_seconds)
    return claim


def claimed_again(store: Store) -> None:
    """The lease is over, and somebody else claims the task."""
    assert store.lapse(10).given_back == {"queue": 1}
    assert claimed(store, "second").delivery == 2


def succeeds(claim: Claim) -> Event:
    at = (claim.execution, claim.frame, claim.token, claim.delivery, claim.worker)
    return TaskSucceeded(*at, Payload.parse("1"), claim.claimed_at)


def fails(claim: Claim) -> Event:
    at = (claim.execution, claim.frame, claim.token, claim.delivery, claim.worker)
    return TaskFailed(*at, "E", None, claim.claimed_at)


@pytest.mark.parametrize("definition", [ALONE, IN_A_BRANCH], ids=["alone", "in a branch"])
@pytest.mark.parametrize("ending", [succeeds, fails])
def test_a_claim_between_a_decision_and_its_commit_refuses_an_end(
    store: Meddling, definition: str, ending: Callable[[Claim], Event]
) -> None:
    engine = started(store, definition)
    claim = claimed(store, "first", lease_seconds=0.0)
    store.meddle = lambda: claimed_again(store)

    (handled,) = engine.handle_many([ending(claim)])

    assert handled.outcome is Outcome.STALE, handled.reason
    assert {f.task.claimed_by for f in store.frames(claim.execution) if f.task} == {"second"}


def test_a_view_in_hand_does_not_let_a_late_result_end_an_execution(store: Meddling) -> None:
    two = ALONE.replace('"End": true', '"Next": "B"').replace(
        '"States": {', '"States": {"B": {"Type": "Task", "Resource": "celery:work", "End": true},'
    )
    engine = started(store, two)
    claimant = Claimant("first", RESOURCES, frozenset(), lease_seconds=0.0)
    before: Handled = engine.hand_in(Arrival(succeeds(claimed(store, "first")), claimant))
    assert before.claim is not None
    assert before.view is not None
    claimed_again(store)

    handled = engine.hand_in(Arrival(succeeds(before.claim), None, before.view))

    assert handled.outcome is Outcome.STALE, handled.reason


def test_a_heartbeat_between_a_decision_and_its_commit_refuses_a_time_out(store: Meddling) -> None:
    engine = started(store, LIMITED)
    claim = claimed(store, "first")
    (moment,) = store.due(10, horizon_seconds=60.0)
    assert isinstance(moment, MomentDue)
    while store.now() < moment.wake_at:
        pass
    store.meddle = lambda: _beat(store, claim)

    (handled,) = engine.handle_many([moment])

    assert handled.outcome is Outcome.STALE, handled.reason


def _beat(store: Store, claim: Claim) -> None:
    assert store.heartbeat(claim)
