"""How data flows through a state: InputPath, Parameters, ResultSelector, ResultPath, OutputPath.

A document that passes unchanged stays the same Payload, so that it is neither read nor written.
"""

from __future__ import annotations

from typing import Protocol

from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.paths import NO_VARIABLES, Path, ReferencePath, place
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states import Map, Parallel, Pass, Task
from orchestrator.asl.states.assign import Assign
from orchestrator.asl.templates import Template
from orchestrator.execution import queries, surroundings, variables
from orchestrator.execution.payload import Payload
from orchestrator.execution.queries import NOTHING_MORE, Known
from orchestrator.execution.setback import OutputTooLarge
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition
from orchestrator.execution.variables import Assigned

NOTHING = Payload.of({})
"""What a path of null gives."""


class _Passing(Protocol):
    """A state that has an InputPath and an OutputPath, or in JSONata an Output."""

    @property
    def output(self) -> QueryTemplate | None: ...

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
    """Return what Parameters, or Arguments, make of the effective input: itself without them."""
    return rendered(transition, thread, state.parameters, given, "Parameters")


def output(
    transition: Transition, thread: Thread, state: Task | Parallel | Map | Pass, result: Payload
) -> Payload:
    """Return the output that the fields of the state's language make of a result."""
    if state.output is not None:
        known = NOTHING_MORE if isinstance(state, Pass) else Known(result=result)
        return Payload.of(queries.rendered(transition, thread, state.output, known))
    if not isinstance(state, Pass):
        result = rendered(transition, thread, state.result_selector, result, "ResultSelector")
    return passed_on(transition, thread, state, placed(thread, state.result_path, result))


def finished(
    transition: Transition, thread: Thread, state: Task | Parallel | Map, result: Payload
) -> tuple[Payload, Assigned | None]:
    """Return the output of a state that has worked, and what it assigns."""
    assigned = variables.assigned(transition, thread, state.assign, result, Known(result=result))
    return output(transition, thread, state, result), assigned


def assigned(
    transition: Transition, thread: Thread, assign: Assign | None, given: Payload
) -> Assigned | None:
    """Return what a state assigns that does no work; `given` is what `$` means there."""
    if assign is None:
        return None
    return variables.assigned(transition, thread, assign, given, NOTHING_MORE)


def passed_on(
    transition: Transition, thread: Thread, state: _Passing, document: Payload
) -> Payload:
    """Return what OutputPath leaves of a document, or what Output gives."""
    if state.output is not None:
        return Payload.of(queries.rendered(transition, thread, state.output))
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
    return Payload.of(read(transition, thread, path, document))


def read(transition: Transition, thread: Thread, path: Path, document: Payload) -> Json:
    """Return what is at a path; raises StateFailure."""
    seen = surroundings.variables(transition, thread) if path.variables else NO_VARIABLES
    return path.read(document.value, surroundings.context(transition, thread), variables=seen)


def rendered(
    transition: Transition,
    thread: Thread,
    template: Template | QueryTemplate | None,
    given: Payload,
    field: str,
) -> Payload:
    """Return what a template of either language gives; `given` itself where there is none."""
    if template is None:
        return given
    if isinstance(template, QueryTemplate):
        return Payload.of(queries.rendered(transition, thread, template))
    return Payload.of(
        template.render(
            given.value,
            surroundings.context(transition, thread),
            transition.draw(field),
            surroundings.variables(transition, thread),
        )
    )
