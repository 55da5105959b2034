"""How data flows through a state: InputPath, Parameters, ResultSelector, ResultPath, OutputPath.

A document that passes unchanged stays the same Payload, so that it is neither read nor written.
"""

from __future__ import annotations

from typing import Protocol

from orchestrator.asl.document import DocumentError
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.paths import Path, ReferencePath, place
from orchestrator.asl.states import Map, Parallel, Pass, Task
from orchestrator.asl.templates import Template
from orchestrator.execution.payload import Payload
from orchestrator.execution.setback import OutputTooLarge
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

NOTHING = Payload.of({})
"""What a path of null gives."""


class _Passing(Protocol):
    """A state that has an InputPath and an OutputPath."""

    @property
    def input_path(self) -> Path | None: ...

    @property
    def output_path(self) -> Path | None: ...


def effective_input(transition: Transition, thread: Thread, state: _Passing) -> Payload:
    """Return what InputPath leaves of the state's input."""
    return _followed(transition, thread, state.input_path, thread.input)


def parameters(
    transition: Transition, thread: Thread, state: Task | Parallel | Pass, given: Payload
) -> Payload:
    """Return what Parameters make of the effective input: itself, where there are none."""
    return _rendered(transition, thread, state.parameters, given, "Parameters")


def output(
    transition: Transition, thread: Thread, state: Task | Parallel | Map | Pass, result: Payload
) -> Payload:
    """Return the output that ResultSelector, ResultPath and OutputPath make of a result."""
    if not isinstance(state, Pass):
        result = _rendered(transition, thread, state.result_selector, result, "ResultSelector")
    return passed_on(transition, thread, state, placed(thread, state.result_path, result))


def passed_on(
    transition: Transition, thread: Thread, state: _Passing, document: Payload
) -> Payload:
    """Return what OutputPath leaves of a document."""
    return _followed(transition, thread, state.output_path, document)


def placed(thread: Thread, path: ReferencePath | None, result: Payload) -> Payload:
    """Return the state's raw input with a result at a ResultPath."""
    if path is None:
        return thread.input
    if not path.steps:
        return result
    return Payload.of(place(thread.input.value, path, result.value))


def check_size(transition: Transition, document: Payload, name: str) -> None:
    """Raise OutputTooLarge for a document over the limit, another failure for one too deep."""
    try:
        fits = document.fits(transition.limits)
    except DocumentError as error:
        raise StateFailure(RUNTIME, str(error)) from error
    if not fits:
        raise OutputTooLarge(name)


def _followed(
    transition: Transition, thread: Thread, path: Path | None, document: Payload
) -> Payload:
    if path is None:
        return NOTHING
    if path.text == "$":
        return document
    return Payload.of(path.read(document.value, transition.context(thread)))


def _rendered(
    transition: Transition, thread: Thread, template: Template | None, given: Payload, field: str
) -> Payload:
    if template is None:
        return given
    context = transition.context(thread)
    return Payload.of(template.render(given.value, context, transition.draw(field)))
