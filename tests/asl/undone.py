"""Definitions whose Tasks can be undone, and the order of undoing in short."""

from __future__ import annotations

import json
from typing import Any

from orchestrator.asl.definition import parse
from orchestrator.asl.undoing import (
    Beside,
    Doubt,
    Failure,
    More,
    Rounds,
    Step,
    Then,
    Undo,
    order_of_undoing,
)

Object = dict[str, Any]
PASSES: Object = {"Type": "Pass", "End": True}


def task(name: str, then: str | None = None, **fields: Any) -> Object:
    """A Task that `undo.NAME` undoes."""
    undo = {"Compensate": {"Resource": f"celery:undo.{name}"}}
    return plain(then, **{**undo, **fields})


def plain(then: str | None = None, **fields: Any) -> Object:
    way = {"End": True} if then is None else {"Next": then}
    return {"Type": "Task", "Resource": "celery:do", **way, **fields}


def choice(*targets: str) -> Object:
    rules = [{"Variable": "$.n", "IsNull": True, "Next": target} for target in targets[1:]]
    return {"Type": "Choice", "Choices": rules, "Default": targets[0]}


def scope(**states: Object) -> Object:
    return {"StartAt": next(iter(states)), "States": states}


def failures(definition: Object) -> dict[str, Failure]:
    machine = parse(json.dumps(definition)).machine
    assert machine is not None
    return {failure.state: failure for failure in order_of_undoing(machine)}


def end(definition: Object, state: str) -> tuple[Step, ...]:
    """What is undone if nothing catches the failure of a state."""
    outcome = failures(definition)[state].outcomes[-1]
    assert outcome.then is Then.END
    return outcome.steps


def said(steps: tuple[Step, ...]) -> list[Any]:
    """Steps in short: A, A? in doubt, A?? unknown, A?! either, (FORK, [branch]), {round}, +N."""
    return [_said(step) for step in steps]


def _said(step: Step) -> Any:
    match step:
        case Undo():
            return (
                step.state
                + {"none": "", "other way": "?", "unknown": "??", "either": "?!"}[step.doubt.value]
            )
        case Beside():
            doubt = "" if step.doubt is Doubt.NONE else "?"
            return step.state + doubt, [said(thread.steps) for thread in step.threads]
        case Rounds():
            return set(said(step.steps))
        case More():
            return f"+{step.count}"
