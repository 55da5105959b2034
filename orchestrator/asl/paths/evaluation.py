"""Follows a query through a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestrator.asl.document import Json
from orchestrator.asl.paths.comparisons import MISSING, Value, compare
from orchestrator.asl.paths.functions import call
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

    `here` is what `@` means. Raises Nowhere where a definite query leads nowhere.
    """
    value = _start(query, here, work)
    return _steps(value, query, work)


def _start(query: Query, here: Json, work: Work) -> Json:
    match query.root:
        case "$":
            return work.document
        case "$$":
            return work.context()
        case "@":
            return here


def _steps(value: Json, query: Query, work: Work) -> Json:
    for number, segment in enumerate(query.segments):
        if not _is_definite(segment, number, query):
            return _spread([value], query, number, work)
        value = _step(value, query, number, work)
    return value


def _is_definite(segment: Segment, number: int, query: Query) -> bool:
    match segment:
        case Child() | Index() | Call():
            return True
        case Children():
            return number + 1 == len(query.segments)
        case Indices() | Slice() | Wildcard() | Descent() | Filter():
            return False


def _step(value: Json, query: Query, number: int, work: Work) -> Json:
    work.spend(1)
    segment = query.segments[number]
    match segment:
        case Child(name):
            if isinstance(value, dict) and name in value:
                return value[name]
            raise Nowhere(_no_child(value, query, number))
        case Children(names):
            if isinstance(value, dict):
                return {name: value[name] for name in names if name in value}
            raise Nowhere(_no_child(value, query, number))
        case Index(index):
            if isinstance(value, list) and -len(value) <= index < len(value):
                return value[index]
            raise Nowhere(_no_item(value, query, number))
        case Call():
            return _called(segment, value, work)
        case Indices() | Slice() | Wildcard() | Descent() | Filter():
            raise AssertionError("not definite")


def _no_child(value: Json, query: Query, number: int) -> str:
    place = fragment(query, number)
    if not isinstance(value, dict):
        end = segment_text(query.segments[number])
        return f"Expected to find an object with property {end} in path {place}"
    if number + 1 == len(query.segments):
        return f"No results for path: {fragment(query, number + 1)}"
    return f"Missing property in path {fragment(query, number + 1)}"


def _no_item(value: Json, query: Query, number: int) -> str:
    if isinstance(value, list):
        return f"No results for path: {fragment(query, len(query.segments))}"
    return f"Expected to find an array in path {fragment(query, number)}"


def fragment(query: Query, count: int) -> str:
    """Return the first pieces of a query in the bracket notation of recorded causes."""
    return "$" + "".join(segment_text(segment) for segment in query.segments[:count])


def segment_text(segment: Segment) -> str:
    """Return one piece in bracket notation."""
    match segment:
        case Child(name):
            return f"['{name}']"
        case Children(names):
            return "[" + ",".join(f"'{name}'" for name in names) + "]"
        case Index(index):
            return f"[{index}]"
        case Indices(indices):
            return "[" + ",".join(map(str, indices)) + "]"
        case Slice(first, last):
            return f"[{'' if first is None else first}:{'' if last is None else last}]"
        case Wildcard():
            return "[*]"
        case Descent():
            return ".."
        case Filter():
            return "[?]"
        case Call(function):
            return f".{function}()"


def _spread(values: list[Json], query: Query, number: int, work: Work) -> Json:
    segments = query.segments[number:]
    whole = isinstance(query.segments[0], Descent)
    for place, segment in enumerate(segments):
        if isinstance(segment, Call) and whole:
            return _after_call(_called(segment, values, work), query, number + place + 1, work)
        last = place + 1 == len(segments)
        found: list[Json] = []
        for value in _counted(_each(segment, values, last, work), work):
            found.append(value)
        values = found
    return values


def _after_call(value: Json, query: Query, number: int, work: Work) -> Json:
    for place in range(number, len(query.segments)):
        value = _step(value, query, place, work)
    return value


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
            return _members(value, names, last)
        case Index(index):
            return _items(value, (index,))
        case Indices(indices):
            return _items(value, indices)
        case Slice(first, last_index):
            return value[first:last_index] if isinstance(value, list) else ()
        case Wildcard():
            return _inside(value)
        case Descent():
            return _containers(value, work)
        case Filter(test):
            return _passing(value, test, work)
        case Call():
            return (_called(segment, value, work),)


def _members(value: Json, names: tuple[str, ...], last: bool) -> list[Json]:
    if not isinstance(value, dict):
        return []
    if last:
        return [{name: value[name] for name in names if name in value}]
    return [value[name] for name in names if name in value]


def _items(value: Json, indices: tuple[int, ...]) -> list[Json]:
    if not isinstance(value, list):
        return []
    return [value[index] for index in indices if -len(value) <= index < len(value)]


def _inside(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _containers(value: Json, work: Work) -> Iterator[Json]:
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
    if isinstance(value, dict):
        if holds(test, value, work):
            yield value
    elif isinstance(value, list):
        for item in value:
            if holds(test, item, work):
                yield item


def _called(segment: Call, value: Json, work: Work) -> Json:
    if isinstance(value, list | dict):
        work.spend(len(value))
    arguments: list[Json] = []
    for argument in segment.arguments:
        found = _operand(argument, value, work)
        if not isinstance(found, type(MISSING) | Pattern):
            arguments.append(found)
    return call(segment.function, value, arguments)


def holds(test: Test, here: Json, work: Work) -> bool:
    """Tell whether a filter's test holds for `here`."""
    work.spend(1)
    match test:
        case Comparison(left, operator, right):
            return compare(_operand(left, here, work), operator, _operand(right, here, work))
        case Exists(query):
            return _operand(query, here, work) is not MISSING
        case Not(inner):
            return not holds(inner, here, work)
        case Both(tests):
            return all(holds(one, here, work) for one in tests)
        case Either(tests):
            return any(holds(one, here, work) for one in tests)
        case Constant(value):
            return value


def _operand(operand: Operand, here: Json, work: Work) -> Value:
    match operand:
        case Literally(value):
            return value
        case Pattern():
            return operand
        case Query():
            return _looked_up(operand, here, work)


def _looked_up(query: Query, here: Json, work: Work) -> Value:
    if query.root == "@":
        return _found(query, here, work)
    known = work.found
    if id(query) not in known:
        known[id(query)] = _found(query, here, work)
    return known[id(query)]


def _found(query: Query, here: Json, work: Work) -> Value:
    try:
        return follow(query, here, work)
    except Nowhere:
        return MISSING
