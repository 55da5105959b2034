"""The states of the language: one file per type, holding its value and its reader.

Knows what a state says, and notes what is wrong with it. Knows nothing of executions, of time, of
the world. A state type is added by its file and its line in `_READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from orchestrator.asl.states.await_ import After, Await, read_await
from orchestrator.asl.states.branch import Branch
from orchestrator.asl.states.choice import Choice, ChoiceRule, read_choice
from orchestrator.asl.states.compensate import Compensate, read_compensate
from orchestrator.asl.states.fail import Fail, read_fail
from orchestrator.asl.states.fields import JSONATA, JSONPATH, Fields
from orchestrator.asl.states.map import Map, read_map
from orchestrator.asl.states.parallel import Parallel, read_parallel
from orchestrator.asl.states.pass_ import MISSING, Missing, Pass, read_pass
from orchestrator.asl.states.succeed import Succeed, read_succeed
from orchestrator.asl.states.task import Task, read_task
from orchestrator.asl.states.wait import Wait, read_wait

State: TypeAlias = (
    Task | Pass | Choice | Wait | Await | Compensate | Succeed | Fail | Parallel | Map
)


def read_branch(fields: Fields) -> Branch:
    """Read a scope of states; states with faults are noted, and may be left out."""
    fields.require("States", "StartAt")
    scope = fields.object("States")
    if scope is None:
        return Branch(fields.text("StartAt") or "", {})
    if not scope.value:
        fields.wrong("States", "Value cannot be empty")
    states = {name: _read_state(name, scope.object(name)) for name in scope.value}
    return Branch(
        fields.text("StartAt") or "",
        MappingProxyType({name: state for name, state in states.items() if state is not None}),
    )


def _read_state(name: str, fields: Fields | None) -> State | None:
    if fields is None or not fields.require("Type"):
        return None
    kind = fields.choice("Type", *_READERS)
    if kind is None:
        return None
    return _READERS[kind](name, fields.speaking(_language(fields)))


def _language(fields: Fields) -> str:
    """Return the language of a state: its own, else the machine's; branches do not hand it on."""
    own = fields.choice("QueryLanguage", JSONPATH, JSONATA) or fields.default
    if own == JSONPATH and fields.default == JSONATA:
        fields.wrong(
            "QueryLanguage",
            "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine",
        )
    return own


_READERS: Mapping[str, Callable[[str, Fields], State]] = MappingProxyType(
    {
        "Task": read_task,
        "Wait": read_wait,
        "Await": read_await,
        "Compensate": read_compensate,
        "Pass": read_pass,
        "Succeed": read_succeed,
        "Fail": read_fail,
        "Choice": read_choice,
        "Parallel": lambda name, fields: read_parallel(name, fields, read_branch),
        "Map": lambda name, fields: read_map(name, fields, read_branch),
    }
)

__all__ = [
    "MISSING",
    "After",
    "Await",
    "Branch",
    "Choice",
    "ChoiceRule",
    "Compensate",
    "Fail",
    "Map",
    "Missing",
    "Parallel",
    "Pass",
    "State",
    "Succeed",
    "Task",
    "Wait",
    "read_branch",
]
