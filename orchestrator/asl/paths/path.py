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
from orchestrator.asl.paths.work import (
    NO_VARIABLES,
    Budget,
    ContextSource,
    Nowhere,
    PathNotFound,
    Variables,
    Work,
)


@dataclass(frozen=True, slots=True)
class Path:
    """A JSONPath in Jayway's meaning: a definite one gives a value, another a list of values."""

    text: str
    query: Query
    definite: bool
    reads_context: bool
    reads_execution_input: bool
    variables: frozenset[str]
    """The names of the variables that it reads."""
    members: tuple[str, ...] | None
    """The members to go through, where the path is only that."""

    def read(
        self,
        document: Json,
        context: ContextSource,
        budget: Budget | None = None,
        variables: Variables = NO_VARIABLES,
    ) -> Json:
        """Return the value or the list of values.

        Raises PathNotFound where there is no value, another StateFailure for a path that takes
        more than a million steps, or more than `budget` has left.
        """
        if self.members is not None:
            value: Json = context() if self.reads_context else document
            try:
                for name in self.members:
                    # What is no object, or has no such member, raises.
                    value = value[name]  # type: ignore[index, call-overload]
            except (KeyError, TypeError, IndexError):
                pass
            else:
                return value
        work = Work(self.text, document, context, variables)
        try:
            return follow(self.query, None, work)
        except Nowhere as nowhere:
            raise PathNotFound(self.text, str(nowhere)) from None
        finally:
            if budget is not None:
                budget.spend(work.spent)


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
        variables=frozenset(one.variable for one in queries if one.variable),
        members=_members(query),
    )


def _members(query: Query) -> tuple[str, ...] | None:
    if query.variable:
        return None
    names = tuple(segment.name for segment in query.segments if isinstance(segment, Child))
    return names if len(names) == len(query.segments) else None


def _reads_execution_input(query: Query) -> bool:
    """Tell whether `$$`, `$$.Execution` or `$$.Execution.Input` is among what a query reads."""
    if query.root != "$$":
        return False
    for segment, name in zip(query.segments, ("Execution", "Input"), strict=False):
        if not isinstance(segment, Child):
            return True
        if segment.name != name:
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
