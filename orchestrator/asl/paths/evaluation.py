"""Follows a query through a document.

Up to the first indefinite piece there is one value at hand; from there on there is a list of
values, and what a value does not have adds nothing to it. A piece that cannot be followed is the
end of a definite query (`Nowhere`); an indefinite one has found nothing then, which is an empty
list (so AWS has it).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestrator.asl.document import Json
from orchestrator.asl.paths.comparisons import MISSING, Missing, Value, compare, text_steps
from orchestrator.asl.paths.functions import call
from orchestrator.asl.paths.notation import bracketed, kind, piece
from orchestrator.asl.paths.syntax import (
    Both,
    Call,
    Child,
    Children,
    Comparison,
    Constant,
    Descent,
    Either,
    Exists,
    Filter,
    Index,
    Indices,
    Literally,
    Not,
    Operand,
    Pattern,
    Query,
    Segment,
    Slice,
    Test,
    Wildcard,
)
from orchestrator.asl.paths.work import Nowhere, Work


def follow(query: Query, here: Json, work: Work) -> Json:
    """Return the value of a definite query, the list of values of another.

    `here` is what `@` means. Raises Nowhere where one value is needed and there is none.
    """
    try:
        return _followed(query, here, work)
    except Nowhere:
        if query.definite:
            raise
        return []


def _followed(query: Query, here: Json, work: Work) -> Json:
    value = _start(query, here, work)
    for number, segment in enumerate(query.segments):
        work.spend(1)
        match segment:
            case Child(name):
                if not isinstance(value, dict) or name not in value:
                    raise Nowhere(_no_child(value, query, number))
                value = value[name]
            case Index(index):
                if not isinstance(value, list) or not -len(value) <= index < len(value):
                    raise Nowhere(_no_item(value, query, number))
                value = value[index]
            case Call():
                value = _called(segment, value, work)
            case Children() if number + 1 == len(query.segments):
                if not isinstance(value, dict):
                    raise Nowhere(_no_child(value, query, number))
                return _part(value, segment)
            case Children() | Indices() | Slice() | Wildcard() | Descent() | Filter():
                return _spread(value, query, number, work)
    return value


def _start(query: Query, here: Json, work: Work) -> Json:
    match query.root:
        case "$":
            return work.document
        case "$$":
            return work.context()
        case "@":
            return here
        case "$name":
            if query.variable not in work.variables:
                raise Nowhere(f"No results for path: ${query.variable}")
            return work.variables[query.variable]


# --------------------------------------------------------------------- why there is no value


def _no_child(value: Json, query: Query, number: int) -> str:
    if not isinstance(value, dict):
        place, name = bracketed(query, number), piece(query.segments[number])
        return f"Expected an object with property {name} in path {place} but found {kind(value)}"
    if number + 1 == len(query.segments):
        return f"No results for path: {bracketed(query, number + 1)}"
    return f"Missing property in path {bracketed(query, number + 1)}"


def _no_item(value: Json, query: Query, number: int) -> str:
    if isinstance(value, list):
        return f"No results for path: {bracketed(query, len(query.segments))}"
    return f"Expected an array in path {bracketed(query, number)} but found {kind(value)}"


# ------------------------------------------------------------------------------ many values


def _spread(value: Json, query: Query, number: int, work: Work) -> Json:
    values = [value]
    segments = query.segments
    for place in range(number, len(segments)):
        segment = segments[place]
        if isinstance(segment, Call) and isinstance(segments[0], Descent):
            # `$..path.function()` takes the whole list.
            rest = Query("@", segments[place:], definite=True)
            return follow(rest, values, work)
        last = place + 1 == len(segments)
        values = list(_counted(_each(segment, values, last, work), work))
    return values


def _counted(values: Iterable[Json], work: Work) -> Iterator[Json]:
    for value in values:
        work.spend(1)
        yield value


def _each(segment: Segment, values: list[Json], last: bool, work: Work) -> Iterator[Json]:
    for value in values:
        work.spend(1)
        yield from _moves(segment, value, last, work)


def _moves(segment: Segment, value: Json, last: bool, work: Work) -> Iterable[Json]:
    match segment:
        case Child(name):
            return (value[name],) if isinstance(value, dict) and name in value else ()
        case Children(names):
            work.spend(len(names))
            return _members(value, segment, last)
        case Index(index):
            return _items(value, (index,))
        case Indices(indices):
            work.spend(len(indices))
            return _items(value, indices)
        case Slice():
            return _sliced(value, segment)
        case Wildcard():
            return _inside(value)
        case Descent():
            return _containers(value, work)
        case Filter(test):
            return _passing(value, test, work)
        case Call():
            return _made(segment, value, work)


def _part(value: dict[str, Json], segment: Children) -> Json:
    return {name: value[name] for name in segment.names if name in value}


def _members(value: Json, segment: Children, last: bool) -> list[Json]:
    if not isinstance(value, dict):
        return []
    if last:
        return [_part(value, segment)]
    return [value[name] for name in segment.names if name in value]


def _items(value: Json, indices: tuple[int, ...]) -> list[Json]:
    if not isinstance(value, list):
        return []
    return [value[index] for index in indices if -len(value) <= index < len(value)]


def _sliced(value: Json, segment: Slice) -> Iterable[Json]:
    """Return the items of a slice.

    With both ends given the numbers are walked through as they stand, so `[-3:-1]` is what one
    expects and `[1:-1]` is empty.
    """
    if not isinstance(value, list):
        return ()
    first, last = segment.first, segment.last
    if first is None or last is None:
        return value[first:last]
    numbers = range(max(first, -len(value)), min(last, len(value)))
    return (value[number] for number in numbers)


def _inside(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _containers(value: Json, work: Work) -> Iterator[Json]:
    """Yield a value and all objects and arrays inside it, outer ones first."""
    waiting = [value]
    while waiting:
        work.spend(1)
        current = waiting.pop()
        if isinstance(current, dict):
            yield current
            waiting.extend(reversed(current.values()))
        elif isinstance(current, list):
            yield current
            waiting.extend(reversed(current))


def _passing(value: Json, test: Test, work: Work) -> Iterator[Json]:
    """Yield the items of an array that pass, or an object itself if it does."""
    if isinstance(value, dict):
        if holds(test, value, work):
            yield value
    elif isinstance(value, list):
        for item in value:
            if holds(test, item, work):
                yield item


def _made(segment: Call, value: Json, work: Work) -> Iterable[Json]:
    try:
        return (_called(segment, value, work),)
    except Nowhere:
        return ()


def _called(segment: Call, value: Json, work: Work) -> Json:
    if isinstance(value, list | dict):
        work.spend(len(value))
    found = [_operand(argument, value, work) for argument in segment.arguments]
    arguments = [one for one in found if not isinstance(one, Missing | Pattern)]
    result = call(segment.function, value, arguments)
    work.spend(text_steps(result))
    return result


# ---------------------------------------------------------------------------------- filters


def holds(test: Test, here: Json, work: Work) -> bool:
    """Tell whether a filter's test holds for `here`."""
    match test:
        case Comparison(left, operator, right):
            one, other = _operand(left, here, work), _operand(right, here, work)
            return compare(one, operator, other, work.spend)
        case Exists(query):
            found = _operand(query, here, work)
            return found is not MISSING if query.definite else bool(found)
        case Not(inner):
            return not holds(inner, here, work)
        case Both(tests):
            return all(holds(one, here, work) for one in tests)
        case Either(tests):
            return any(holds(one, here, work) for one in tests)
        case Constant(value):
            return value


def _operand(operand: Operand, here: Json, work: Work) -> Value:
    work.spend(1)
    match operand:
        case Literally(value):
            return value
        case Pattern():
            return operand
        case Query("@"):
            return _found(operand, here, work)
        case Query():
            # What does not begin at `@` is the same for every value: it is looked up once.
            if id(operand) not in work.found:
                work.found[id(operand)] = _found(operand, here, work)
            return work.found[id(operand)]


def _found(query: Query, here: Json, work: Work) -> Value:
    try:
        return follow(query, here, work)
    except Nowhere:
        return MISSING
