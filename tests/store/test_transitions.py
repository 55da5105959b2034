"""Decisions are committed as a whole or not at all, guarded by what they saw."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from orchestrator.asl.limits import Limits
from orchestrator.execution.decision import Decision, FrameUpdate, Missing, Seen, Stale
from orchestrator.execution.frame import (
    ExecutionStatus,
    Fork,
    FrameStatus,
    Phase,
    RestsOn,
    Retries,
)
from orchestrator.execution.payload import Payload
from orchestrator.store import Committed, Failed, Store
from orchestrator.store.batch import size
from orchestrator.store.transition import groups
from tests.store import samples
from tests.store.samples import AT, view_of
from tests.store.statements import recording


def test_what_is_written_is_read_back_as_it_was(store: Store) -> None:
    full = samples.frame(
        task=samples.task(heartbeat_seconds=7, attempt=3, at_most_once=True),
        retries=Retries((1, 0, 2), 3, 2),
        wake_at=AT + timedelta(microseconds=1),
        timeout_at=AT + timedelta(days=1, microseconds=999_999),
        item=Payload.of([1]),
        variables=Payload.of({"seen": True}),
        fork=5,
    )
    begun = samples.beginning(
        "4711", full, deadline_at=AT + timedelta(seconds=9), next_event_id=3, frames=1
    )
    (answer,) = store.start([begun])
    view = view_of(store, answer.id)
    assert view.execution == begun.execution
    assert view.frames == {"": full}
    assert store.execution(answer.id) == begun.execution
    assert store.frames(answer.id) == [full]
    assert store.read_input(answer.id) == begun.input


def test_a_key_of_no_execution_is_absent_and_a_missing_frame_is_absent_from_its_view(
    store: Store,
) -> None:
    number = samples.started(store).execution.id
    views = store.read([(number, "/5.1"), (number + 1, "")])
    assert list(views) == [(number, "/5.1")]
    assert list(views[number, "/5.1"].frames) == [""]


def test_a_view_holds_a_frame_with_its_ancestors_and_their_forks_only(store: Store) -> None:
    outer = Fork("", 5, total=3, admitted=3)
    inner = Fork("/5.1", 9, total=2, admitted=2, succeeded=1)
    root = samples.frame(rests_on=RestsOn.CHILDREN, task=None, fork=5)
    middle = samples.frame("/5.1", rests_on=RestsOn.CHILDREN, task=None, fork=9)
    others = [samples.frame(number) for number in ("/5.0", "/5.1/9.0", "/5.1/9.1", "/5.10")]
    begun = replace(samples.beginning(None, root, middle, *others), forks_inserted=(outer, inner))
    (answer,) = store.start([begun])
    view = view_of(store, answer.id, "/5.1/9.1")
    assert list(view.frames) == ["", "/5.1", "/5.1/9.1"]
    assert view.forks == {"": outer, "/5.1": inner}


def test_views_of_many_executions_come_with_one_read(store: Store) -> None:
    begun = [samples.beginning() for _ in range(7)]
    store.start(begun)
    views = store.read([(one.execution.id, "") for one in begun])
    assert [view.execution for view in views.values()] == [one.execution for one in begun]


def test_a_decision_holds_only_for_the_version_that_it_saw(store: Store) -> None:
    view = samples.started(store)
    first, second = samples.moving(view), samples.moving(view)
    assert store.commit([first]) == [Committed()]
    (outcome,) = store.commit([second])
    assert isinstance(outcome, Stale)
    after = view_of(store, view.execution.id)
    assert after.execution == first.execution
    assert after.frames[""] == first.updated[0].frame
    assert [event.id for event in store.history(view.execution.id)] == [1, 2, 3]


def test_so_does_a_decision_that_touches_no_frame(store: Store) -> None:
    view = samples.started(store)
    assert store.commit([samples.moving(view, updated=())]) == [Committed()]
    (outcome,) = store.commit([samples.moving(view, updated=())])
    assert isinstance(outcome, Stale)


def test_repeating_a_commit_blindly_changes_nothing(store: Store) -> None:
    decision = samples.moving(samples.started(store))
    assert store.commit([decision]) == [Committed()]
    (again,) = store.commit([decision])
    assert isinstance(again, Stale)
    assert len(store.history(decision.execution.id)) == 3


@pytest.mark.parametrize(
    "changed",
    [
        Seen("another token", 0, None),
        Seen(None, 0, None),
        Seen("TOKEN", 1, None),
        Seen("TOKEN", 0, AT),
    ],
)
def test_a_frame_that_is_not_as_it_was_seen_makes_the_decision_stale(
    store: Store, changed: Seen
) -> None:
    view = samples.started(store, samples.frame(task=samples.task(token="TOKEN")))
    decision = samples.moving(view)
    changes = tuple(FrameUpdate(update.frame, changed) for update in decision.updated)
    (outcome,) = store.commit([replace(decision, updated=changes)])
    assert isinstance(outcome, Stale)
    assert view_of(store, view.execution.id) == view


def test_moments_are_compared_to_the_microsecond(store: Store) -> None:
    view = samples.started(store, samples.waiting(wake_at=AT + timedelta(microseconds=1)))
    after = samples.waiting(wake_at=AT + timedelta(days=1))
    off = Seen(None, 0, AT + timedelta(microseconds=2))
    decision = samples.moving(view, after)
    (outcome,) = store.commit([replace(decision, updated=(FrameUpdate(after, off),))])
    assert isinstance(outcome, Stale)
    assert store.commit([decision]) == [Committed()]


def test_one_failing_decision_does_not_sink_the_others(store: Store) -> None:
    views = [samples.started(store) for _ in range(6)]
    decisions = [samples.moving(view) for view in views]
    doubled = samples.frame()  # the root is there already
    decisions[1] = replace(decisions[1], inserted=(doubled,))
    decisions[3] = replace(decisions[3], seen_version=99)
    lost = tuple(
        FrameUpdate(update.frame, Seen("no such token", 0, None)) for update in decisions[4].updated
    )
    decisions[4] = replace(decisions[4], updated=lost)
    outcomes = store.commit(decisions)
    assert [type(outcome) for outcome in outcomes] == [
        Committed, Failed, Committed, Stale, Stale, Committed,
    ]  # fmt: skip
    failed = outcomes[1]
    assert isinstance(failed, Failed)
    assert isinstance(failed.exception, DBAPIError)
    versions = [view_of(store, view.execution.id).execution.version for view in views]
    assert versions == [2, 1, 2, 1, 1, 2]
    assert [len(store.history(view.execution.id)) for view in views] == [3, 2, 3, 2, 2, 3]


def test_decisions_on_each_others_results_may_be_handed_over_together(store: Store) -> None:
    view = samples.started(store)
    first = samples.moving(view)
    between = replace(view, execution=first.execution, frames={"": first.updated[0].frame})
    second = samples.moving(between)
    assert store.commit([first, second]) == [Committed(), Committed()]
    assert view_of(store, view.execution.id).frames[""] == second.updated[0].frame


def test_groups_are_bounded_by_number_and_by_size(database_url: str) -> None:
    store = Store(database_url, limits=Limits(group_transitions=3, group_bytes=5_000))
    begun = [samples.beginning(value="x" * 900) for _ in range(10)]
    assert all(answer.created for answer in store.start(begun))
    views = store.read([(one.execution.id, "") for one in begun]).values()
    decisions = [samples.moving(view) for view in views]
    assert store.commit(decisions) == [Committed()] * 10
    store.dispose()
    by_number = groups(decisions, Limits(group_transitions=3))
    assert [len(group) for group in by_number] == [3, 3, 3, 1]
    by_size = groups(begun, Limits(group_bytes=5_000))
    assert max(len(group) for group in by_size) == 5_000 // size(begun[0])


def test_an_execution_that_ends_leaves_its_row_its_documents_and_its_history(store: Store) -> None:
    fork = Fork("", 5, total=2, admitted=2)
    root = samples.frame(rests_on=RestsOn.CHILDREN, task=None, fork=5)
    begun = samples.beginning(None, root, samples.frame("/5.0"), samples.frame("/5.1"))
    (answer,) = store.start([replace(begun, forks_inserted=(fork,))])
    neighbour = samples.started(store)
    view = view_of(store, answer.id, "/5.1")
    assert store.commit([samples.ending(view, {"done": True})]) == [Committed()]
    assert store.frames(answer.id) == []
    assert store.output(answer.id) == Payload.of({"done": True})
    after = store.read([(answer.id, "/5.1")])[answer.id, "/5.1"]
    assert after.execution.status is ExecutionStatus.SUCCEEDED
    assert after.execution.phase is Phase.ENDED
    assert (after.frames, after.forks) == ({}, {})
    assert len(store.history(answer.id)) == 3
    assert len(store.frames(neighbour.execution.id)) == 1


def test_an_end_that_was_decided_before_a_claim_is_stale(store: Store) -> None:
    view = samples.started(store)
    samples.claimed(store)
    (outcome,) = store.commit([samples.ending(view)])
    assert isinstance(outcome, Stale)
    assert len(store.frames(view.execution.id)) == 1


def _forked(store: Store) -> tuple[Decision, int]:
    """An execution with a fork of eleven children, two of which are forked again."""
    root = samples.frame(rests_on=RestsOn.CHILDREN, task=None, fork=5)
    children = [samples.frame(f"/5.{n}") for n in range(11)]
    inner = [samples.frame(f"/5.{n}/9.{m}") for n in (1, 10) for m in range(2)]
    other = [samples.frame("/50.0"), samples.frame("/6.0")]
    forks = (Fork("", 5, 11, 11), Fork("/5.1", 9, 2, 2), Fork("/5.10", 9, 2, 2), Fork("", 6, 1, 1))
    begun = samples.beginning(None, root, *children, *inner, *other)
    (answer,) = store.start([replace(begun, forks_inserted=forks)])
    return begun, answer.id


def test_a_removed_prefix_takes_all_below_and_nothing_else(store: Store) -> None:
    _, number = _forked(store)
    view = view_of(store, number, "/5.1/9.0")
    inner = samples.moving(view, removed=("/5.1/9.",), forks_removed=(("/5.1", 9),), updated=())
    assert store.commit([inner]) == [Committed()]
    left = {frame.id for frame in store.frames(number)}
    assert {"/5.1", "/5.10", "/5.10/9.0", "/5.10/9.1"} <= left
    assert not {"/5.1/9.0", "/5.1/9.1"} & left

    view = view_of(store, number, "/5.10/9.1")
    assert set(view.forks) == {""}  # none of them names a frame that rests on it
    again = samples.frame("/5.3", status=FrameStatus.PENDING)
    outer = samples.moving(view, removed=("/5.",), inserted=(again,), updated=())
    assert store.commit([outer]) == [Committed()]
    assert [frame.id for frame in store.frames(number)] == ["", "/5.3", "/50.0", "/6.0"]


def test_what_is_missing_is_read_by_id_by_prefix_or_as_a_whole(store: Store) -> None:
    _, number = _forked(store)
    view = view_of(store, number)
    some = store.read_more(view, Missing(frames=("/5.3", "/6.0", "/7.0")))
    assert some is not None
    assert set(some.frames) == {"", "/5.3", "/6.0"}
    below = store.read_more(view, Missing(below=("/5.1/9.", "/50.")))
    assert below is not None
    assert set(below.frames) == {"", "/5.1/9.0", "/5.1/9.1", "/50.0"}
    assert below.below == {"/5.1/9.", "/50."}
    both = store.read_more(below, Missing(below=("/5.",)))
    assert both is not None
    assert {"/5.10/9.1", "/50.0"} <= set(both.frames)
    everything = store.read_more(view, Missing(all_frames=True))
    assert everything is not None
    assert [*everything.frames.values()] == store.frames(number)


def _rows(store_url: str, table: str) -> int:
    engine = create_engine(store_url)
    with engine.connect() as connection:
        count = connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()  # noqa: S608
    engine.dispose()
    return int(count)


def test_tallies_go_with_the_frames_that_rest_on_them(database_url: str) -> None:
    store = Store(database_url)
    _, number = _forked(store)
    assert _rows(database_url, "forks") == 4
    view = view_of(store, number)
    over = samples.moving(view, removed=("/5.",), forks_removed=(("", 5),), updated=())
    assert store.commit([over]) == [Committed()]
    assert _rows(database_url, "forks") == 1
    assert store.commit([samples.ending(view_of(store, number))]) == [Committed()]
    assert (_rows(database_url, "forks"), _rows(database_url, "frames")) == (0, 0)
    store.dispose()


def test_what_is_stale_falls_out_of_its_group_without_a_second_transaction(store: Store) -> None:
    views = [samples.started(store) for _ in range(5)]
    assert store.commit([samples.moving(views[2])]) == [Committed()]
    with recording() as recorded:
        outcomes = store.commit([samples.moving(view) for view in views])
    assert [type(outcome) for outcome in outcomes].count(Committed) == 4
    assert recorded.commits == 1


def test_nothing_more_is_read_for_a_view_that_has_been_overtaken(store: Store) -> None:
    view = samples.started(store)
    store.commit([samples.moving(view)])
    assert store.read_more(view, Missing(below=("/5.",))) is None


def test_tallies_change_apart_from_the_frame_that_rests_on_them(store: Store) -> None:
    fork = Fork("", 5, 20, 10, 0, 0, max_concurrency=10, tolerated_percentage=33.3)
    root = samples.frame(rests_on=RestsOn.CHILDREN, task=None, fork=5)
    begun = samples.beginning(None, root, samples.frame("/5.0"))
    store.start([replace(begun, forks_inserted=(fork,))])
    view = view_of(store, begun.execution.id, "/5.0")
    assert view.forks == {"": fork}
    counted = replace(fork, admitted=11, succeeded=1)
    ended = replace(view.frames["/5.0"], status=FrameStatus.ENDED, rests_on=None, task=None)
    assert store.commit([samples.moving(view, ended, forks_updated=(counted,))]) == [Committed()]
    assert view_of(store, begun.execution.id, "/5.0").forks == {"": counted}
    missing = replace(counted, entry=6)
    view = view_of(store, begun.execution.id, "/5.0")
    (outcome,) = store.commit([samples.moving(view, ended, forks_updated=(missing,))])
    assert isinstance(outcome, Stale)


def test_an_error_and_a_cause_may_hold_what_no_database_takes(store: Store) -> None:
    view = samples.started(store)
    end = samples.ending(view)
    hostile = replace(end.execution, error="E\x00\ud800", cause="\x00" + "ä" * 1_000)
    assert store.commit([replace(end, execution=hostile)]) == [Committed()]
    assert store.execution(view.execution.id) == hostile
