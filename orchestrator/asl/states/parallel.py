"""Parallel: a fork with one child per branch."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.paths import Path, ReferencePath
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.retries import Catcher, Retrier
from orchestrator.asl.states.assign import Assign, read_assign
from orchestrator.asl.states.branch import Branch, ReadBranch
from orchestrator.asl.states.compensation import UNDOING, read_compensation
from orchestrator.asl.states.effect import Effect
from orchestrator.asl.states.fields import ALL_OF_IT, WHOLE, Fields
from orchestrator.asl.states.flow import (
    ASSIGN,
    IN_AND_OUT,
    OUTPUT,
    PLAIN,
    RESULT,
    TAKING,
    TRANSITION,
    WORK,
    read_arguments,
    read_catch,
    read_next,
    read_output,
    read_retry,
)
from orchestrator.asl.states.reaction import On, read_on
from orchestrator.asl.templates import Template


@dataclass(frozen=True, slots=True)
class Parallel:
    """A Parallel state; its result is the array of its branches' outputs, in their order.

    `compensate` undoes all of it once it has succeeded, None: its branches are undone, side by
    side.
    """

    name: str
    pointer: str
    comment: str | None
    query_language: str
    branches: tuple[Branch, ...]
    next: str | None
    input_path: Path | None
    output_path: Path | None
    parameters: Template | QueryTemplate | None
    result_selector: Template | None
    result_path: ReferencePath | None
    retry: tuple[Retrier, ...]
    catch: tuple[Catcher, ...]
    output: QueryTemplate | None
    assign: Assign | None
    on: On
    compensate: Effect | None


_FIELDS = PLAIN | TRANSITION | TAKING | ASSIGN | UNDOING | {"Branches", "On"}
_BRANCH = frozenset({"StartAt", "States", "Comment"})


def read_parallel(name: str, fields: Fields, read_branch: ReadBranch) -> Parallel:
    """Read a Parallel state, its branches by `read_branch`."""
    fields.allow(_FIELDS | (OUTPUT | {"Arguments"} if fields.queries else IN_AND_OUT | WORK))
    fields.require("Branches")
    branches = []
    for entry in fields.objects("Branches", filled=True):
        entry.allow(_BRANCH)
        branches.append(read_branch(entry))
    return Parallel(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        branches=tuple(branches),
        next=read_next(fields),
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        parameters=read_arguments(fields),
        result_selector=None if fields.queries else fields.template("ResultSelector"),
        result_path=fields.reference_path("ResultPath", ALL_OF_IT),
        retry=read_retry(fields),
        catch=read_catch(fields),
        output=read_output(fields),
        assign=read_assign(fields, also=RESULT),
        on=read_on(fields),
        compensate=read_compensation(fields),
    )
