"""A start by name happens once, whoever else tries at the same time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from orchestrator.asl.document import Json
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.execution.payload import Payload
from orchestrator.store import Committed, IdTaken, Started, Store
from tests.store import samples
from tests.store.deadlocks import deadlocks
from tests.store.processes import at_once, in_processes


def test_answers_stand_in_the_order_of_the_starts(store: Store) -> None:
    begun = [samples.beginning(name) for name in ("c", "a", "d", "b")]
    answers = store.start(begun)
    assert [answer.id for answer in answers] == [one.execution.id for one in begun]
    assert all(answer.created for answer in answers)


def test_a_name_that_exists_is_answered_with_the_execution_that_has_it(store: Store) -> None:
    first = samples.beginning("4711", value={"order": 1, "lines": []})
    store.start([first])
    same = samples.beginning("4711", value={"lines": [], "order": 1.0})
    another = samples.beginning("4711", value={"order": 2})
    elsewhere = samples.beginning("4711", machine="returns")
    answers = store.start([same, another, elsewhere, samples.beginning("4712")])
    assert answers[:2] == [
        Started(first.execution.id, False, True, ExecutionStatus.RUNNING),
        Started(first.execution.id, False, False, ExecutionStatus.RUNNING),
    ]
    assert [answer.created for answer in answers] == [False, False, True, True]
    assert len(store.history(first.execution.id)) == 2
    assert len(store.list_executions()) == 3


def test_a_name_stays_taken_after_the_end(store: Store) -> None:
    view = samples.started(store)
    assert store.commit([samples.ending(view)]) == [Committed()]
    (answer,) = store.start([samples.beginning(view.execution.name)])
    assert answer == Started(view.execution.id, False, True, ExecutionStatus.SUCCEEDED)


def test_one_name_twice_in_one_call_makes_one_execution(store: Store) -> None:
    first, second = store.start([samples.beginning("4711"), samples.beginning("4711")])
    assert (first.created, second.created) == (True, False)
    assert first.id == second.id


def test_a_start_repeated_blindly_is_the_same_start(store: Store) -> None:
    begun = samples.beginning()
    store.start([begun])
    (again,) = store.start([begun])
    assert again == Started(begun.execution.id, False, True, ExecutionStatus.RUNNING)
    assert len(store.frames(begun.execution.id)) == 1


def test_an_id_that_is_taken_is_refused_and_nothing_is_written(store: Store) -> None:
    view = samples.started(store)
    taken = samples.beginning("another")
    taken = replace(taken, execution=replace(taken.execution, id=view.execution.id))
    with pytest.raises(IdTaken):
        store.start([taken])
    assert store.find(samples.MACHINE, "another") is None
    assert view_unchanged(store, view.execution.id)


def view_unchanged(store: Store, number: int) -> bool:
    return len(store.history(number)) == 2 and len(store.frames(number)) == 1


def _input(number: int) -> Json:
    return {"order": 4711} if number < 3 else {"order": 4712}


def _start_many(url: str, meet: Any, number: int) -> list[Started]:
    store = Store(url)
    store.check()
    meet.wait()
    value = _input(number)
    answers = [store.start([samples.beginning("4711", value=value)])[0] for _ in range(13)]
    store.dispose()
    return answers


def test_fifty_starts_of_one_name_from_four_processes_make_one_execution(database_url: str) -> None:
    meet = at_once(4)
    found = in_processes(_start_many, [(database_url, meet, number) for number in range(4)])
    answers = [answer for process in found for answer in process]
    assert len(answers) == 52
    assert sum(answer.created for answer in answers) == 1
    assert len({answer.id for answer in answers}) == 1
    store = Store(database_url)
    (execution,) = store.list_executions()
    given = store.read_input(execution.id)
    for number, process in enumerate(found):
        same = given == Payload.of(_input(number))
        assert {answer.same_input for answer in process} == {same}
    assert view_unchanged(store, execution.id)
    store.dispose()


def _start_crossing(url: str, meet: Any, backwards: bool) -> list[bool]:
    store = Store(url)
    store.check()
    created = []
    for turn in range(8):
        names = [f"{turn}-{n:03}" for n in range(150)]
        begun = [samples.beginning(name) for name in (names[::-1] if backwards else names)]
        meet.wait()
        answers = store.start(begun)
        created += [answer.created for answer in (answers[::-1] if backwards else answers)]
    store.dispose()
    return created


def test_groups_that_start_the_same_names_in_opposite_orders_do_not_stop_each_other(
    database_url: str,
) -> None:
    meet = at_once(2)
    arguments = [(database_url, meet, backwards) for backwards in (False, True)]
    forwards, backwards = in_processes(_start_crossing, arguments)
    assert all(one != other for one, other in zip(forwards, backwards, strict=True))
    if database_url.startswith("postgresql"):
        assert deadlocks(database_url) == 0


def test_a_start_that_cannot_be_written_does_not_sink_the_others(store: Store) -> None:
    wrong = samples.beginning("wrong", samples.frame(), samples.frame())
    with pytest.raises(DBAPIError):
        store.start([samples.beginning("a"), wrong])
    assert store.find(samples.MACHINE, "a") is not None
    assert store.find(samples.MACHINE, "wrong") is None
