"""Machines, executions and histories as people ask for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import Committed, NoSuchRevision, Store
from tests.store import samples
from tests.store.processes import at_once, in_processes


def test_the_same_text_is_the_same_revision_and_another_is_the_next(store: Store) -> None:
    first = store.machines.put("orders", "one")
    again = store.machines.put("orders", "one")
    second = store.machines.put("orders", "two")
    back = store.machines.put("orders", "one")
    assert [revision.number for revision in (first, again, second, back)] == [1, 1, 2, 3]
    assert [revision.created for revision in (first, again, second, back)] == [
        True, False, True, True,
    ]  # fmt: skip
    assert again.id == first.id
    texts = [store.machines.revision(one.id).text for one in (first, second, back)]
    assert texts == ["one", "two", "one"]
    row = store.machines.find("orders")
    assert row is not None
    assert (row.revision, row.number) == (back.id, 3)


def test_machines_are_listed_by_name_and_those_that_are_not_there_are_none(store: Store) -> None:
    for name in ("b", "a", "B"):
        store.machines.put(name, name)
    assert [machine.name for machine in store.machines.page()] == ["B", "a", "b"]
    assert store.machines.find("c") is None
    with pytest.raises(NoSuchRevision):
        store.machines.revision(4711)


def _put(url: str, meet: Any, number: int) -> list[int]:
    store = Store(url)
    store.check()
    meet.wait()
    numbers = [store.machines.put("orders", f"{number}-{turn}").number for turn in range(10)]
    store.dispose()
    return numbers


def test_revisions_put_at_the_same_time_get_numbers_of_their_own(database_url: str) -> None:
    meet = at_once(4)
    found = in_processes(_put, [(database_url, meet, number) for number in range(4)])
    assert sorted(number for process in found for number in process) == list(range(1, 41))


def test_pages_stay_what_they_are_while_executions_are_started(store: Store) -> None:
    begun = [samples.beginning() for _ in range(10)]
    store.start(begun)
    ids = sorted((one.execution.id for one in begun), reverse=True)
    page = store.list_executions(limit=4)
    assert [execution.id for execution in page] == ids[:4]
    store.start([samples.beginning() for _ in range(3)])
    page = store.list_executions(limit=4, before=page[-1].id)
    assert [execution.id for execution in page] == ids[4:8]
    page = store.list_executions(limit=4, before=page[-1].id)
    assert [execution.id for execution in page] == ids[8:]


def test_executions_are_listed_by_machine_and_status(store: Store) -> None:
    views = [samples.started(store, machine=machine) for machine in "aabb"]
    ended = [views[0], views[2]]
    assert store.commit([samples.ending(view) for view in ended]) == [Committed()] * 2
    failing = samples.ending(views[3])
    failed = replace(failing.execution, status=ExecutionStatus.FAILED)
    assert store.commit([replace(failing, execution=failed)]) == [Committed()]

    def listed(machine: str | None, status: ExecutionStatus | None) -> list[int]:
        found = [one.id for one in store.list_executions(machine, status)]
        return [place for place, view in enumerate(views) if view.execution.id in found]

    assert listed(None, None) == [0, 1, 2, 3]
    assert listed("a", None) == [0, 1]
    assert listed("a", ExecutionStatus.SUCCEEDED) == [0]
    assert listed(None, ExecutionStatus.SUCCEEDED) == [0, 2]
    assert listed(None, ExecutionStatus.RUNNING) == [1]
    assert listed("b", ExecutionStatus.FAILED) == [3]
    assert listed("a", ExecutionStatus.FAILED) == []


def test_an_execution_is_found_by_its_name(store: Store) -> None:
    (answer,) = store.start([samples.beginning("4711")])
    view = samples.view_of(store, answer.id)
    assert store.find(samples.MACHINE, "4711") == view.execution
    assert store.find("returns", "4711") is None
    assert store.execution(view.execution.id + 1) is None
    assert store.output(view.execution.id) is None


def test_histories_are_cut_inside_transitions(store: Store) -> None:
    view = samples.started(store)
    number = view.execution.id
    for count in (1, 4, 2):
        first = view.execution.next_event_id
        events = tuple(samples.event(first + n, n=n) for n in range(count))
        moved = samples.moving(view, history=events)
        moved = replace(moved, execution=replace(moved.execution, next_event_id=first + count))
        assert store.commit([moved]) == [Committed()]
        view = samples.view_of(store, number)

    def ids(after: int, limit: int, reverse: bool = False) -> list[int]:
        return [event.id for event in store.history(number, after, limit, reverse)]

    everything = list(range(1, 10))
    assert ids(0, 100) == everything
    for after in range(11):
        for limit in (1, 2, 3, 9):
            assert ids(after, limit) == everything[after : after + limit]
    assert ids(0, 4, reverse=True) == [9, 8, 7, 6]
    assert ids(6, 3, reverse=True) == [5, 4, 3]
    assert ids(3, 5, reverse=True) == [2, 1]
    assert ids(1, 5, reverse=True) == []
    assert store.history(number + 1) == []
    assert store.history(number + 1, reverse=True) == []
