"""What a definition says of undoing: how it is read, and where it is not plain ASL."""

from __future__ import annotations

import pytest

from orchestrator.asl.portable import dialect_uses
from orchestrator.asl.resources import Kind
from orchestrator.asl.states import Compensate, Map, Parallel, Task
from orchestrator.asl.states.effect import PERSISTENT
from tests.asl.definition_samples import (
    COMPENSATE,
    COMPENSATED,
    SAGAS,
    TASK,
    Object,
    errors,
    machine,
    parsed,
    state,
)


def test_a_task_says_how_it_is_undone() -> None:
    task = state(COMPENSATED)
    assert isinstance(task, Task)
    assert task.compensate is not None
    assert (task.compensate.resource.kind, task.compensate.resource.name) == (
        Kind.CELERY,
        "inventory.release",
    )
    assert task.compensate.pointer == "/States/X/Compensate"
    assert (task.compensate.timeout_seconds, task.compensate.heartbeat_seconds) == (60, 10)
    assert task.compensate.retry[0].max_attempts == 2
    assert task.compensate_unknown
    assert not task.pivot
    assert task.catch[0].compensate
    found = state(SAGAS["Task of JSONata with Compensate"])
    assert isinstance(found, Task)
    assert found.compensate is not None
    assert found.compensate.retry == PERSISTENT
    assert found.pivot
    assert not found.compensate_unknown


def test_a_task_without_compensate_cannot_be_undone() -> None:
    task = state(TASK)
    assert isinstance(task, Task)
    assert (task.compensate, task.adopts, task.pivot) == (None, False, False)
    read = parsed(machine(TASK)).machine
    assert read is not None
    assert not read.undoes


def test_forks_and_children_can_be_undone_too() -> None:
    adopting = state(SAGAS["Task that adopts"])
    assert isinstance(adopting, Task)
    assert (adopting.compensate, adopting.adopts) == (None, True)
    parallel, of_items = (state(SAGAS[f"{one} with Compensate"]) for one in ("Parallel", "Map"))
    assert isinstance(parallel, Parallel)
    assert isinstance(of_items, Map)
    assert parallel.compensate is not None
    assert of_items.compensate is not None
    many = state(SAGAS["Map that adopts"])
    assert isinstance(many, Map)
    assert many.adopts
    assert state(COMPENSATE) == Compensate("X", "/States/X", "undo it all", "JSONPath", "Done")


@pytest.mark.parametrize("sample", SAGAS.values(), ids=SAGAS.keys())
def test_every_use_of_undoing_is_listed_as_no_plain_asl(sample: Object) -> None:
    uses = {(use.what, use.pointer) for use in dialect_uses(machine(sample))}
    wanted: set[tuple[str, str]] = {
        (field, f"/States/X/{field}")
        for field in ("Compensate", "CompensateUnknown", "Pivot")
        if field in sample
    }
    if "Catch" in sample:
        wanted.add(("Compensate", "/States/X/Catch/0/Compensate"))
    if sample["Type"] == "Compensate":
        wanted.add(("Type Compensate", "/States/X/Type"))
    assert wanted
    assert wanted <= uses


def test_a_compensation_is_found_by_its_place_and_its_expressions_are_read() -> None:
    sample: Object = {
        **COMPENSATED,
        "Compensate": {"Resource": "celery:undo", "Parameters": {"all.$": "$$.Execution.Input"}},
    }
    read = parsed(machine(sample)).machine
    assert read is not None
    assert read.undoes
    assert read.needs_execution_input
    assert read.effect("/States/X/Compensate").resource.name == "undo"


def test_a_machine_that_ends_nowhere_but_undoes_is_a_finding() -> None:
    endless: Object = {
        "StartAt": "A",
        "States": {
            "A": {"Type": "Compensate", "Next": "B"},
            "B": {"Type": "Compensate", "Next": "A"},
        },
    }
    assert [code for code, _, _ in errors(endless)] == ["MISSING_END_STATE"]
