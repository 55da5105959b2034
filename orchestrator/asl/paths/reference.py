"""ReferencePath: a path to exactly one place, and how a value is put there."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.document import Json, show
from orchestrator.asl.errors import RESULT_PATH_MATCH_FAILURE, StateFailure
from orchestrator.asl.paths.path import Path, compile_path
from orchestrator.asl.paths.syntax import Child, Index, PathSyntaxError
from orchestrator.asl.paths.work import ContextSource


@dataclass(frozen=True, slots=True)
class ReferencePath:
    """A definite path of members and indices only."""

    text: str
    path: Path
    steps: tuple[str | int, ...]

    @property
    def reads_context(self) -> bool:
        """Tell whether it begins with `$$`; a ResultPath may not."""
        return self.path.reads_context

    @property
    def reads_variable(self) -> bool:
        """Tell whether it begins with `$name`; a ResultPath may not."""
        return bool(self.path.variables)

    def read(self, document: Json, context: ContextSource) -> Json:
        """Return the value at the place; raises PathNotFound, a StateFailure."""
        return self.path.read(document, context)


def compile_reference_path(text: str) -> ReferencePath:
    """Return the reference path that a text means; raises PathSyntaxError."""
    path = compile_path(text)
    steps: list[str | int] = []
    for segment in path.query.segments:
        match segment:
            case Child(name):
                steps.append(name)
            case Index(index):
                steps.append(index)
            case _:
                raise PathSyntaxError("a reference path leads to exactly one place", text, 0)
    return ReferencePath(text, path, tuple(steps))


class _Unplaceable(Exception):
    """A step of a reference path cannot be applied."""


def place(document: Json, path: ReferencePath, value: Json) -> Json:
    """Return the document with a value put at the path's place; the document stays as it is.

    Missing objects are created; an index must exist. Raises StateFailure with
    States.ResultPathMatchFailure where something that is no object (or array) is in the way.
    """
    try:
        return _placed(document, path.steps, value)
    except _Unplaceable:
        cause = f"Unable to apply ReferencePath {path.text} to input {show(document)}"
        raise StateFailure(RESULT_PATH_MATCH_FAILURE, cause) from None


def _placed(document: Json, steps: tuple[str | int, ...], value: Json) -> Json:
    copies: list[tuple[dict[str, Json] | list[Json], str | int]] = []
    current = document
    for step in steps:
        match current, step:
            case dict(), str():
                copies.append((dict(current), step))
                current = current.get(step, {})
            case list(), int() if 0 <= step < len(current):
                copies.append((list(current), step))
                current = current[step]
            case _:
                raise _Unplaceable
    for container, step in reversed(copies):
        # The step fits its container: they were matched above.
        container[step] = value  # type: ignore[index]
        value = container
    return value
