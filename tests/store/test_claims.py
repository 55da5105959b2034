"""A task is one worker's at a time; leases are renewed, given back and run out."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from orchestrator.execution.decision import FrameUpdate, Stale
from orchestrator.execution.events import TaskLost
from orchestrator.execution.frame import FrameStatus, RestsOn
from orchestrator.store import Announcement, Claim, Committed, Store
from tests.store import samples
from tests.store.processes import at_once, in_processes
from tests.store.samples import QUEUE, RESOURCE, claimed, view_of


def test_a_claim_holds_all_that_a_handler_needs(store: Store) -> None:
    view = samples.started(store)
    before = store.now()
    (claim,) = claimed(store)
    task = view.frames[""].task
    assert task is not None
    assert (claim.execution, claim.frame, claim.state) == (view.execution.id, "", "Work")
    assert (claim.machine, claim.execution_name) == (samples.MACHINE, view.execution.name)
    assert (claim.token, claim.key, claim.attempt) == (task.token, task.key, task.attempt)
    assert (claim.resource, claim.arguments, claim.delivery) == (RESOURCE, task.arguments, 1)
    assert abs(claim.claimed_at - before) < timedelta(seconds=5)
    lease = claim.task.lease_until
    assert lease is not None
    assert abs(lease - claim.claimed_at - timedelta(seconds=30)) < timedelta(seconds=1)
    assert claim.row == view_of(store, view.execution.id).frames[""]


def test_what_is_claimed_is_nobody_elses(store: Store, other: Store) -> None:
    samples.started(store)
    assert len(claimed(store)) == 1
    assert claimed(other, "w2") == []


def test_tasks_that_have_been_ready_longest_come_first(store: Store) -> None:
    for second in (3, 1, 2):
        ready_at = samples.AT + timedelta(seconds=second)
        samples.started(store, samples.frame(task=samples.task(ready_at=ready_at, attempt=second)))
    assert [claimed(store)[0].attempt for _ in range(3)] == [1, 2, 3]


def test_a_worker_claims_only_what_it_serves_and_only_from_its_queues(store: Store) -> None:
    for queue, resource in (("a", "x"), ("a", "y"), ("b", "x"), (None, "x")):
        task = samples.task(queue=queue, resource=resource)
        samples.started(store, samples.frame(task=task))
    claims = store.claim("w", ["a", "c"], ["x", "z"], limit=10)
    assert [(claim.row.task and claim.row.task.queue, claim.resource) for claim in claims] == [
        ("a", "x")
    ]
    assert len(store.claim("w", ["b", "a"], ["x", "y"], limit=10)) == 2
    assert store.claim("w", ["b", "a"], ["x", "y"], limit=10) == []


def test_a_claim_takes_no_more_than_its_limit_over_all_queues(store: Store) -> None:
    for queue in "aaabbb":
        samples.started(store, samples.frame(task=samples.task(queue=queue)))
    assert len(store.claim("w", ["a", "b"], [RESOURCE], limit=4)) == 4


def test_what_rests_on_something_else_or_is_not_ready_yet_is_not_claimed(store: Store) -> None:
    samples.started(store, replace(samples.waiting(), task=samples.task()))
    samples.started(store, samples.frame(status=FrameStatus.PENDING))
    samples.started(store, samples.frame(status=FrameStatus.ENDED))
    later = store.now() + timedelta(seconds=60)
    samples.started(store, samples.frame(task=samples.task(ready_at=later)))
    assert claimed(store, limit=10) == []


def test_a_task_can_be_claimed_as_soon_as_it_is_committed(store: Store, other: Store) -> None:
    for _ in range(20):
        samples.started(store, samples.frame(task=samples.task(ready_at=store.now())))
        assert len(claimed(other)) == 1


def test_a_claim_between_decision_and_commit_makes_the_decision_stale(store: Store) -> None:
    view = samples.started(store)
    decision = samples.moving(view)
    claimed(store)
    (outcome,) = store.commit([decision])
    assert isinstance(outcome, Stale)
    again = samples.moving(view_of(store, view.execution.id))
    assert store.commit([again]) == [Committed()]


@pytest.mark.parametrize("happening", ["heartbeat", "lapse", "release"])
def test_what_happens_to_a_claim_makes_a_decision_stale(store: Store, happening: str) -> None:
    task = samples.task(heartbeat_seconds=60)
    samples.started(store, samples.frame(task=task))
    (claim,) = claimed(store, lease_seconds=0.0 if happening == "lapse" else 30.0)
    decision = samples.moving(view_of(store, claim.execution))
    match happening:
        case "heartbeat":
            time.sleep(0.001)
            assert store.heartbeat(claim)
        case "lapse":
            assert store.lapse(10).given_back
        case _:
            store.release("w1", [claim])
    (outcome,) = store.commit([decision])
    assert isinstance(outcome, Stale)


def test_a_renewal_keeps_a_claim_and_is_no_change_to_a_decision(store: Store) -> None:
    samples.started(store)
    (claim,) = claimed(store, lease_seconds=0.0)
    decision = samples.moving(view_of(store, claim.execution))
    assert store.renew("w1", [claim]) == []
    assert store.lapse(10).given_back == {}
    assert store.commit([decision]) == [Committed()]


def test_lost_claims_are_named_by_the_renewal(store: Store) -> None:
    for _ in range(4):
        samples.started(store)
    kept, lapsed, released, moved = claimed(store, limit=4)
    store.release("w1", [released])
    assert store.commit([samples.moving(view_of(store, moved.execution))]) == [Committed()]
    (again,) = store.claim("w2", [QUEUE], [RESOURCE], limit=1)
    lost = store.renew("w1", [kept, replace(lapsed, worker="w1"), released, moved])
    assert {claim.execution for claim in lost} == {released.execution, moved.execution}
    assert store.renew("w2", [lapsed]) == [lapsed]
    assert store.renew("w2", [again]) == []
    assert store.renew("w1", []) == []


@pytest.mark.parametrize("between", ["lapse", "transition"])
def test_a_claim_is_of_one_delivery_of_one_attempt(store: Store, between: str) -> None:
    samples.started(store)
    (first,) = claimed(store, lease_seconds=0.0)
    if between == "lapse":
        store.lapse(10)
    else:
        store.commit([samples.moving(view_of(store, first.execution))])
    (second,) = claimed(store)
    assert second.worker == first.worker
    assert store.renew("w1", [first, second]) == [first]
    assert not store.heartbeat(first)
    store.release("w1", [first])
    assert store.renew("w1", [second]) == []


def test_a_delivery_counts_at_the_claim_and_not_when_it_is_given_back_unused(store: Store) -> None:
    samples.started(store)
    (first,) = claimed(store)
    store.release("w1", [first])
    (second,) = claimed(store, "w2", lease_seconds=0.0)
    store.lapse(10)
    (third,) = claimed(store, "w3")
    assert [first.delivery, second.delivery, third.delivery] == [1, 1, 2]
    assert first.token == second.token == third.token


def test_only_the_holder_gives_back(store: Store) -> None:
    samples.started(store)
    (claim,) = claimed(store)
    store.release("w2", [claim])
    assert claimed(store, "w2") == []


def test_a_heartbeat_puts_off_the_moment_but_not_beyond_the_time_limit(store: Store) -> None:
    limit = store.now() + timedelta(seconds=90)
    task = samples.task(heartbeat_seconds=60)
    samples.started(store, samples.frame(task=task, timeout_at=limit, wake_at=limit))
    (claim,) = claimed(store)
    assert claim.row.wake_at is not None
    assert abs(claim.row.wake_at - claim.claimed_at - timedelta(seconds=60)) < timedelta(seconds=1)
    time.sleep(0.01)
    assert store.heartbeat(claim)
    moved = view_of(store, claim.execution).frames[""].wake_at
    assert moved is not None
    assert claim.row.wake_at < moved < limit

    near = store.now() + timedelta(seconds=10)
    samples.started(store, samples.frame(task=task, timeout_at=near, wake_at=near))
    (claim,) = claimed(store)
    assert claim.row.wake_at == near
    assert store.heartbeat(claim)
    assert view_of(store, claim.execution).frames[""].wake_at == near


def test_a_heartbeat_of_a_claim_that_is_gone_is_refused(store: Store) -> None:
    samples.started(store)
    (claim,) = claimed(store, lease_seconds=0.0)
    store.lapse(10)
    assert not store.heartbeat(claim)
    (again,) = claimed(store)
    assert not store.heartbeat(claim)
    assert not store.heartbeat(replace(again, worker="w9"))
    assert store.heartbeat(again)


def test_a_lapsed_task_is_ready_again_without_its_heartbeat(store: Store) -> None:
    limit = store.now() + timedelta(seconds=90)
    task = samples.task(heartbeat_seconds=60)
    view = samples.started(store, samples.frame(task=task, timeout_at=limit, wake_at=limit))
    claimed(store, lease_seconds=0.0)
    assert store.lapse(10).given_back == {QUEUE: 1}
    frame = view_of(store, view.execution.id).frames[""]
    assert frame.task is not None
    assert (frame.task.claimed_by, frame.task.lease_until, frame.wake_at) == (None, None, limit)
    assert frame.task.deliveries == 1
    assert store.lapse(10).given_back == {}


def test_a_lease_that_is_not_over_does_not_lapse(store: Store) -> None:
    samples.started(store)
    claimed(store)
    lapses = store.lapse(10)
    assert (lapses.given_back, lapses.lost) == ({}, ())


def test_a_lapsed_at_most_once_task_is_handed_out_and_left_as_it_is(store: Store) -> None:
    samples.started(store)
    (claim,) = claimed(store, at_most_once={RESOURCE}, lease_seconds=0.0)
    assert claim.at_most_once
    lost = (TaskLost(claim.execution, "", claim.token, 1),)
    assert store.lapse(10).lost == lost
    assert store.lapse(10).lost == lost
    assert claimed(store) == []


def test_a_task_whose_deliveries_are_spent_is_handed_out(store: Store) -> None:
    samples.started(store)
    for delivery in range(1, store.limits.deliveries + 1):
        (claim,) = claimed(store, lease_seconds=0.0)
        assert claim.delivery == delivery
        lapses = store.lapse(10)
        if delivery < store.limits.deliveries:
            assert (lapses.given_back, lapses.lost) == ({QUEUE: 1}, ())
    assert lapses.lost == (TaskLost(claim.execution, "", claim.token, store.limits.deliveries),)


def test_a_lapsed_task_follows_its_resource_to_another_queue(store: Store) -> None:
    samples.started(store)
    claimed(store, lease_seconds=0.0)
    store.announce("w2", {RESOURCE: Announcement("elsewhere")})
    assert store.lapse(10).given_back == {"elsewhere": 1}


def test_an_attempt_claimed_inside_the_commit_is_a_claim_like_any_other(store: Store) -> None:
    view = samples.started(store)
    lease = store.now() + timedelta(seconds=30)
    inline = samples.task(claimed_by="w1", lease_until=lease, deliveries=1)
    after = replace(view.frames[""], task=inline)
    decision = replace(
        samples.moving(view), updated=(FrameUpdate(after, samples.seen(view.frames[""])),)
    )
    assert store.commit([decision]) == [Committed()]
    assert claimed(store) == []
    assert view_of(store, view.execution.id).frames[""] == after


def _claim_all(url: str, meet: Any, worker: str) -> list[tuple[int, str]]:
    store = Store(url)
    store.check()
    meet.wait()
    found: list[Claim] = []
    misses = 0
    while misses < 3:  # rows that others hold at this moment are passed by
        claims = claimed(store, worker, limit=7)
        found += claims
        misses = 0 if claims else misses + 1
    store.dispose()
    return [(claim.execution, claim.frame) for claim in found]


def test_workers_never_get_the_same_frame(database_url: str) -> None:
    store = Store(database_url)
    begun = [samples.beginning() for _ in range(300)]
    store.start(begun)
    store.dispose()  # SQLite lets four processes write
    meet = at_once(4)
    found = in_processes(_claim_all, [(database_url, meet, f"w{n}") for n in range(4)])
    everything = [key for process in found for key in process]
    assert len(everything) == 300
    assert set(everything) == {(one.execution.id, "") for one in begun}


def test_claims_renewals_and_lapses_pass_by_what_is_locked(postgres_url: str) -> None:
    store = Store(postgres_url)
    locked = samples.started(store).execution.id
    free = samples.started(store).execution.id
    engine = create_engine(postgres_url)
    lock = text("SELECT FROM frames WHERE execution = :execution FOR UPDATE")
    with engine.begin() as connection:
        connection.execute(lock, {"execution": locked})
        claims = claimed(store, limit=10, lease_seconds=0.0)
        assert [claim.execution for claim in claims] == [free]
    claims += claimed(store, limit=10, lease_seconds=0.0)
    with engine.begin() as connection:
        connection.execute(lock, {"execution": locked})
        assert store.renew("w1", claims) == []
        assert store.lapse(10).given_back == {}
    assert store.lapse(10).given_back == {QUEUE: 1}
    store.dispose()
    engine.dispose()


def test_a_claim_brings_along_what_its_result_will_find(postgres_url: str) -> None:
    store = Store(postgres_url)
    samples.started(store)
    (claim,) = claimed(store)
    assert claim.view == view_of(store, claim.execution)
    store.dispose()


def test_but_not_where_that_will_change_or_is_more_than_a_frame(postgres_url: str) -> None:
    store = Store(postgres_url)
    samples.started(store, samples.frame(task=samples.task(heartbeat_seconds=5)))
    root = samples.frame(rests_on=RestsOn.CHILDREN, task=None, fork=5)
    samples.started(store, root, samples.frame("/5.0"))
    assert [claim.view for claim in claimed(store, limit=2)] == [None, None]
    store.dispose()
