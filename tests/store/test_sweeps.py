"""What schedulers find: due moments, waiting tasks, tasks that nobody serves."""

from __future__ import annotations

from datetime import timedelta

from orchestrator.execution.events import DeadlinePassed, MomentDue
from orchestrator.store import Announcement, Committed, ReadyQueue, Share, Store, Unserved
from tests.store import samples
from tests.store.samples import QUEUE, RESOURCE, claimed, view_of


def test_due_moments_come_earliest_first_with_what_they_answer(store: Store) -> None:
    now = store.now()
    late, later, soon = (now - timedelta(seconds=2), now - timedelta(seconds=1), now + timedelta(1))
    first = samples.started(store, samples.waiting(wake_at=later, entry=7)).execution.id
    second = samples.started(store, samples.waiting(wake_at=late)).execution.id
    samples.started(store, samples.waiting(wake_at=soon), deadline_at=soon)
    third = samples.started(store, deadline_at=late + timedelta(microseconds=1)).execution.id
    assert store.due(10) == [
        MomentDue(second, "", 2, late),
        DeadlinePassed(third, late + timedelta(microseconds=1)),
        MomentDue(first, "", 7, later),
    ]
    assert store.due(1) == [MomentDue(second, "", 2, late)]


def test_a_moment_is_not_due_before_the_clock_of_the_database_says_so(store: Store) -> None:
    wake_at = store.now() + timedelta(seconds=0.2)
    samples.started(store, samples.waiting(wake_at=wake_at))
    assert store.due(10) == []
    assert store.due(10, horizon_seconds=5.0) == [MomentDue(samples_id(store), "", 2, wake_at)]
    while not store.due(10):
        pass
    assert store.now() >= wake_at


def samples_id(store: Store) -> int:
    (execution,) = store.list_executions()
    return execution.id


def test_the_deadline_of_an_execution_that_has_ended_is_nobodys(store: Store) -> None:
    view = samples.started(store, deadline_at=samples.AT)
    assert len(store.due(10)) == 1
    assert store.commit([samples.ending(view)]) == [Committed()]
    assert store.due(10) == []


def test_the_next_moment_is_the_earliest_of_all(store: Store) -> None:
    assert store.next_moment() is None
    samples.started(store, samples.waiting(wake_at=samples.AT + timedelta(seconds=5)))
    assert store.next_moment() == samples.AT + timedelta(seconds=5)
    samples.started(store, deadline_at=samples.AT + timedelta(seconds=3))
    assert store.next_moment() == samples.AT + timedelta(seconds=3)


def test_queues_with_waiting_tasks_are_listed_with_their_oldest(store: Store) -> None:
    store.announce("w", {"x": Announcement("a"), "y": Announcement("b"), "z": Announcement("c")})
    for seconds, queue in ((1, "a"), (2, "a"), (3, "b"), (4, "unknown")):
        ready_at = samples.AT + timedelta(seconds=seconds)
        samples.started(store, samples.frame(task=samples.task(queue=queue, ready_at=ready_at)))
    assert sorted(store.ready(), key=lambda ready: ready.queue) == [
        ReadyQueue("a", 2, samples.AT + timedelta(seconds=1)),
        ReadyQueue("b", 1, samples.AT + timedelta(seconds=3)),
    ]


def test_tasks_that_have_just_become_ready_have_a_grace(store: Store) -> None:
    store.announce("w", {RESOURCE: Announcement(QUEUE)})
    samples.started(store, samples.frame(task=samples.task(ready_at=store.now())))
    assert store.ready(grace_seconds=60.0) == []
    samples.started(store)
    assert [ready.rows for ready in store.ready(grace_seconds=60.0)] == [1]


def test_claimed_tasks_wait_for_nobody(store: Store) -> None:
    store.announce("w", {RESOURCE: Announcement(QUEUE)})
    samples.started(store)
    claimed(store)
    assert store.ready() == []


def test_a_worker_that_announces_itself_is_found_by_resource(store: Store, other: Store) -> None:
    store.announce("w1", {"x": Announcement("a"), "y": Announcement("b", at_most_once=True)})
    assert other.routes() == {"x": "a", "y": "b"}
    other.announce("w2", {"x": Announcement("c")})
    assert store.routes() == {"x": "c", "y": "b"}


def test_tasks_that_nobody_serves_are_listed_and_move_once_somebody_does(store: Store) -> None:
    for seconds, resource in ((2, "x"), (1, "x"), (3, "y"), (4, "y"), (5, "z")):
        ready_at = samples.AT + timedelta(seconds=seconds)
        task = samples.task(queue=None, resource=resource, ready_at=ready_at)
        samples.started(store, samples.frame(task=task))
    assert store.assign_queues() == {}
    assert store.unserved() == [
        Unserved("x", 2, samples.AT + timedelta(seconds=1)),
        Unserved("y", 2, samples.AT + timedelta(seconds=3)),
        Unserved("z", 1, samples.AT + timedelta(seconds=5)),
    ]
    store.announce("w", {"x": Announcement("a"), "z": Announcement("b")})
    assert store.assign_queues() == {"a": 2, "b": 1}
    assert store.assign_queues() == {}
    assert [unserved.resource for unserved in store.unserved()] == ["y"]
    assert len(store.claim("w", ["a"], ["x"], limit=10)) == 2


def test_ready_tasks_follow_a_resource_that_is_served_from_another_queue_now(store: Store) -> None:
    store.announce("w1", {RESOURCE: Announcement("a"), "y": Announcement("a")})
    for resource in (RESOURCE, RESOURCE, "y"):
        task = samples.task(queue="a", resource=resource)
        samples.started(store, samples.frame(task=task))
    store.announce("w2", {RESOURCE: Announcement("b")})
    store.announce("w2", {RESOURCE: Announcement("b")})
    assert store.assign_queues() == {"b": 2}
    assert len(store.claim("w2", ["b"], [RESOURCE], limit=10)) == 2
    assert len(store.claim("w1", ["a"], ["y"], limit=10)) == 1


def test_a_task_that_is_moved_to_a_queue_can_still_be_decided_on(store: Store) -> None:
    view = samples.started(store, samples.frame(task=samples.task(queue=None)))
    decision = samples.moving(view)
    store.announce("w", {RESOURCE: Announcement(QUEUE)})
    assert store.assign_queues() == {QUEUE: 1}
    assert store.commit([decision]) == [Committed()]
    assert view_of(store, view.execution.id).frames[""] == decision.updated[0].frame


def test_moments_are_parted_among_those_who_ask(store: Store) -> None:
    wake_at = store.now() + timedelta(seconds=0.2)
    begun = [samples.beginning(None, samples.waiting(wake_at=wake_at)) for _ in range(9)]
    store.start(begun)
    parts = [store.due(10, 1.0, Share(member, 3)) for member in range(3)]
    assert sorted(event.execution for part in parts for event in part) == sorted(
        one.execution.id for one in begun
    )
    assert all(event.execution % 3 == member for member, part in enumerate(parts) for event in part)


def test_what_is_overdue_is_anybodys(store: Store) -> None:
    long_ago = store.now() - timedelta(seconds=2)
    samples.started(store, samples.waiting(wake_at=long_ago), deadline_at=long_ago)
    for member in range(3):
        assert len(store.due(10, 0.0, Share(member, 3))) == 2
