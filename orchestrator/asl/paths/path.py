"""Path: a compiled JSONPath."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.asl.document import Json
from orchestrator.asl.paths.evaluation import follow
from orchestrator.asl.paths.parser import parse_query
from orchestrator.asl.paths.syntax import (
    Both,
    Call,
    Child,
    Comparison,
    Either,
    Exists,
    Filter,
    Not,
    Operand,
    Query,
    Segment,
    Test,
)
from orchestrator.asl.paths.work import ContextSource, Nowhere, PathNotFound, Work


@dataclass(frozen=True, slots=True)
class Path:
    """A JSONPath in Jayway's meaning: a definite one gives a value, another a list of values."""

    text: str
    query: Query
    definite: bool
    reads_context: bool
    reads_execution_input: bool
    names: tuple[str, ...] | None
    """The members to walk through, when the path is only that and begins with `$`."""

    def read(self, document: Json, context: ContextSource) -> Json:
        """Return the value or the list of values; raises PathNotFound, a StateFailure."""
        if self.names is not None:
            value: Json = document
            try:
                for name in self.names:
                    # What has no such member raises one of the three errors.
                    value = value[name]  # type: ignore[index, call-overload]
                return value
            except (KeyError, TypeError, IndexError):
                pass
        try:
            return follow(self.query, None, Work(self.text, document, context))
        except Nowhere as nowhere:
            raise PathNotFound(self.text, str(nowhere)) from None


def compile_path(text: str) -> Path:
    """Return the path that a text means; raises PathSyntaxError."""
    query = parse_query(text)
    queries = tuple(_queries(query))
    return Path(
        text=text,
        query=query,
        definite=query.definite,
        reads_context=any(one.root == "$$" for one in queries),
        reads_execution_input=any(_reads_execution_input(one) for one in queries),
        names=_plain_names(query),
    )


def _plain_names(query: Query) -> tuple[str, ...] | None:
    names = tuple(segment.name for segment in query.segments if isinstance(segment, Child))
    return names if query.root == "$" and len(names) == len(query.segments) else None


def _reads_execution_input(query: Query) -> bool:
    """Tell whether `$$`, `$$.Execution` or `$$.Execution.Input` is among what a query reads."""
    if query.root != "$$":
        return False
    for segment, name in zip(query.segments, ("Execution", "Input"), strict=False):
        if isinstance(segment, Child) and segment.name != name:
            return False
    return True


def _queries(query: Query) -> Iterator[Query]:
    yield query
    for segment in query.segments:
        yield from _queries_of_segment(segment)


def _queries_of_segment(segment: Segment) -> Iterator[Query]:
    if isinstance(segment, Filter):
        yield from _queries_of_test(segment.test)
    elif isinstance(segment, Call):
        for argument in segment.arguments:
            yield from _queries_of_operand(argument)


def _queries_of_operand(operand: Operand) -> Iterator[Query]:
    if isinstance(operand, Query):
        yield from _queries(operand)


def _queries_of_test(test: Test) -> Iterator[Query]:
    if isinstance(test, Comparison):
        yield from _queries_of_operand(test.left)
        yield from _queries_of_operand(test.right)
    elif isinstance(test, Exists):
        yield from _queries(test.query)
    elif isinstance(test, Not):
        yield from _queries_of_test(test.test)
    elif isinstance(test, Both | Either):
        for one in test.tests:
            yield from _queries_of_test(one)
