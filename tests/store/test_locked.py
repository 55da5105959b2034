"""Several events of one execution are decided under its lock and written together."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.execution.decision import Missing, Stale
from orchestrator.execution.frame import Fork, FrameStatus, RestsOn
from orchestrator.execution.payload import Payload
from orchestrator.store import Committed, Store
from tests.store import samples
from tests.store.samples import view_of


def _started(store: Store, children: int) -> int:
    root = samples.frame(rests_on=RestsOn.CHILDREN, task=None, fork=5)
    frames = [samples.frame(f"/5.{n}") for n in range(children)]
    begun = samples.beginning(None, root, *frames)
    (answer,) = store.start([replace(begun, forks_inserted=(Fork("", 5, children, children),))])
    return answer.id


def test_each_decision_stands_on_the_one_before(store: Store) -> None:
    number = _started(store, 12)
    names = [f"/5.{n}" for n in range(12)]
    with store.locked(number, names[:6]) as locked:
        for succeeded, name in enumerate(names, 1):
            view = locked.read(name)
            assert view is not None
            fork = view.forks[""]
            assert fork.succeeded == succeeded - 1
            assert view.execution.version == succeeded
            ended = replace(view.frames[name], status=FrameStatus.ENDED, rests_on=None, task=None)
            counted = replace(fork, succeeded=succeeded)
            assert locked.write(samples.moving(view, ended, forks_updated=(counted,)))
    view = view_of(store, number, "/5.3")
    assert view.execution.version == 13
    assert view.forks[""].succeeded == 12
    assert {frame.status for frame in store.frames(number)[1:]} == {FrameStatus.ENDED}
    assert [event.id for event in store.history(number)] == list(range(1, 15))


def test_a_frame_that_was_written_is_read_as_written(store: Store) -> None:
    number = _started(store, 2)
    with store.locked(number) as locked:
        view = locked.read("/5.0")
        assert view is not None
        inner = replace(view.frames["/5.0"], rests_on=RestsOn.CHILDREN, task=None, fork=9)
        child, fork = samples.frame("/5.0/9.0"), Fork("/5.0", 9, 1, 1)
        opened = samples.moving(view, inner, inserted=(child,), forks_inserted=(fork,))
        assert locked.write(opened)

        view = locked.read("/5.0/9.0")
        assert view is not None
        assert view.frames["/5.0"] == inner
        assert view.frames["/5.0/9.0"] == child
        assert view.forks["/5.0"] == fork
        more = locked.read_more(view, Missing(below=("/5.",)))
        assert more is not None
        assert set(more.frames) == {"", "/5.0", "/5.0/9.0", "/5.1"}

        joined = replace(inner, rests_on=RestsOn.TASK, task=samples.task(), fork=None)
        over = samples.moving(more, joined, removed=("/5.0/9.",), forks_removed=(("/5.0", 9),))
        assert locked.write(over)
        view = locked.read("/5.0/9.0")
        assert view is not None
        assert set(view.frames) == {"", "/5.0"}
        assert set(view.forks) == {""}
    assert [frame.id for frame in store.frames(number)] == ["", "/5.0", "/5.1"]
    view = view_of(store, number, "/5.0")
    assert view.frames["/5.0"] == joined
    assert set(view.forks) == {""}


def test_an_execution_may_end_in_the_middle(store: Store) -> None:
    number = _started(store, 2)
    with store.locked(number) as locked:
        view = locked.read("/5.0")
        assert view is not None
        ended = replace(view.frames["/5.0"], status=FrameStatus.ENDED)
        assert locked.write(samples.moving(view, ended))
        view = locked.read("/5.1")
        assert view is not None
        assert locked.write(samples.ending(view, "done"))
        after = locked.read("/5.1")
        assert after is not None
        assert after.execution.ended_at is not None
    assert store.frames(number) == []
    assert store.output(number) == Payload.of("done")


def test_a_decision_on_something_else_is_refused_and_the_others_stand(store: Store) -> None:
    view = samples.started(store)
    number = view.execution.id
    with store.locked(number) as locked:
        assert locked.write(samples.moving(view))
        assert not locked.write(samples.moving(view))
    assert view_of(store, number).execution.version == 2


def test_what_raises_writes_nothing(store: Store) -> None:
    view = samples.started(store)

    def decide() -> None:
        with store.locked(view.execution.id) as locked:
            locked.write(samples.moving(view))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        decide()
    assert view_of(store, view.execution.id) == view
    assert store.commit([samples.moving(view)]) == [Committed()]


def test_an_execution_that_is_not_there_is_read_as_nothing(store: Store) -> None:
    with store.locked(4711, ["/5.0"]) as locked:
        assert locked.read("") is None


def test_decisions_made_elsewhere_wait_for_the_lock_and_are_stale(postgres_url: str) -> None:
    store, other = Store(postgres_url), Store(postgres_url)
    view = samples.started(store)
    outcomes: list[object] = []
    with store.locked(view.execution.id) as locked:
        thread = threading.Thread(
            target=lambda: outcomes.extend(other.commit([samples.moving(view)]))
        )
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        seen = locked.read("")
        assert seen is not None
        assert locked.write(samples.moving(seen))
    thread.join(10)
    assert isinstance(outcomes[0], Stale)
    store.dispose()
    other.dispose()


def test_what_was_read_under_the_lock_is_passed_by_by_claims(postgres_url: str) -> None:
    store, other = Store(postgres_url), Store(postgres_url)
    view = samples.started(store)
    with store.locked(view.execution.id) as locked:
        seen = locked.read("")
        assert seen is not None
        assert samples.claimed(other) == []
        assert locked.write(samples.moving(seen))
    assert len(samples.claimed(other)) == 1
    store.dispose()
    other.dispose()


def test_a_claim_before_the_lock_is_seen_under_it(store: Store) -> None:
    view = samples.started(store)
    (claim,) = samples.claimed(store)
    with store.locked(view.execution.id, [""]) as locked:
        seen = locked.read("")
        assert seen is not None
        assert seen.frames[""] == claim.row
        later = replace(seen.frames[""], wake_at=samples.AT + timedelta(seconds=1))
        assert locked.write(samples.moving(seen, later))
    assert view_of(store, view.execution.id).frames[""] == later
