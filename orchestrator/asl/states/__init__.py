"""The states of the language: one file per type, holding its value and its parser.

Knows what a state says, and notes what is wrong with it. Knows nothing of executions, of time, of
the world; a state type is added by its file and its line in `PARSERS`.
"""

from __future__ import annotations

from typing import TypeAlias

from .branch import Branch
from .choice import Choice, ChoiceRule
from .fail import Fail
from .map import Map
from .parallel import Parallel
from .pass_ import MISSING, Missing, Pass
from .succeed import Succeed
from .task import Task
from .wait import Wait

State: TypeAlias = Task | Pass | Choice | Wait | Succeed | Fail | Parallel | Map

__all__ = [
    "MISSING",
    "Branch",
    "Choice",
    "ChoiceRule",
    "Fail",
    "Map",
    "Missing",
    "Parallel",
    "Pass",
    "State",
    "Succeed",
    "Task",
    "Wait",
]
