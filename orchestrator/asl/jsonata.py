"""JSONata: what stands between `{%` and `%}`. The only module that knows the library.

An evaluation is bounded by the library's own limits. Some functions do not heed them, so a Query
tells whether it is `heavy`: whoever evaluates it then does so where it can be killed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import jlens

from orchestrator.asl.document import DocumentError, Json, read
from orchestrator.asl.draw import Draw
from orchestrator.asl.limits import DEFAULT, MOST_QUERY_DEPTH, MOST_QUERY_ITEMS, Limits
from orchestrator.asl.query_functions import DRAWING, PURE, FunctionError, drawing
from orchestrator.asl.query_text import bare_reference, is_heavy, mentioned, uncalled


class QuerySyntaxError(Exception):
    """A text is no JSONata expression, or none that may stand in a definition."""


Reads: TypeAlias = "bool | Mapping[str, Reads]"
"""What is read of a value: all of it, or members of it."""

STATES: Final = "states"
"""The variable under which an expression finds what its state knows."""


@dataclass(frozen=True, slots=True)
class Query:
    """A compiled expression; `text` is what stands between `{%` and `%}`, without blanks around.

    `members` is the way to go where the expression only names a variable and members of it.
    `states` names what it reads of `$states`; None: all of it. `uncalled` are names that may be
    functions of JSONata, or variables of the same name, since it does not call them.
    """

    text: str
    variables: frozenset[str]
    uncalled: frozenset[str]
    states: frozenset[str] | None
    reads_execution_input: bool
    heavy: bool
    draws: bool
    members: tuple[str, ...] | None
    doubt: str | None
    """What is legal and most likely wrong."""
    compiled: jlens.Expression = field(compare=False, repr=False)

    @property
    def reads_context(self) -> bool:
        """Tell whether it may read `$states.context`."""
        return self.states is None or "context" in self.states


@dataclass(frozen=True, slots=True)
class Question:
    """An expression with all that its value depends on.

    `bindings` are the variables, `$states` among them; `seed` is that of its draws, and
    `moment_ms` what it takes for the present, in milliseconds since 1970.
    """

    query: Query
    bindings: Mapping[str, Json]
    moment_ms: int
    seed: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The value of an expression, or why it has none.

    `exhausted` tells that a limit has stopped it; `seconds` is the time it has taken, 0 where
    nobody has measured it.
    """

    value: Json = None
    reason: str | None = None
    exhausted: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one evaluation may use at most."""

    seconds: float
    steps: int
    items: int = MOST_QUERY_ITEMS
    text_bytes: int = DEFAULT.document_bytes

    @classmethod
    def of(cls, limits: Limits) -> Bounds:
        """Return the bounds that limits set."""
        return cls(
            limits.expression_seconds, limits.expression_steps, text_bytes=limits.document_bytes
        )


# ------------------------------------------------------------------------------- compilation

_DELIMITED: Final = re.compile(r"\{%(.*)%\}", re.DOTALL)


def expression_in(text: Json) -> str | None:
    """Return what stands between `{%` and `%}`, None where a value is no expression."""
    found = _DELIMITED.fullmatch(text) if isinstance(text, str) else None
    return None if found is None else found[1].strip()


_MEMBERS: Final = re.compile(r"\$([^\W\d]\w*)((?:\.[^\W\d]\w*)*)", re.ASCII)
_OPERATORS: Final = frozenset({"and", "or", "in", "true", "false", "null", "function"})


def compile_query(text: str) -> Query:
    """Return the expression that a text means; raises QuerySyntaxError."""
    try:
        compiled = jlens.Expression(text)
        functions = {name for name in (*PURE, *DRAWING) if mentioned(name, text)}
        found = compiled.reads(dict.fromkeys(functions, _nothing))
    except jlens.JlensError as error:
        raise QuerySyntaxError(f"{error.code}: {error}") from error
    except UnicodeEncodeError as error:
        raise QuerySyntaxError("half of a surrogate pair") from error
    if found.get("everyBinding"):
        raise QuerySyntaxError("the function $eval is not allowed")
    bare = bare_reference(text) if "input" in found else None
    doubt = None if bare is None else f"'{bare}' refers to nothing: begin with $states or $name"
    if doubt is not None and bare in ("$", "$$"):
        raise QuerySyntaxError(doubt)
    bindings = found["bindings"]
    for name in functions & PURE.keys():
        compiled.register_function(name, PURE[name])
    of_states = bindings.get(STATES, {})
    return Query(
        text=text,
        variables=frozenset(bindings) - {STATES} - functions,
        uncalled=uncalled(text) - frozenset(bindings),
        states=frozenset(of_states) if isinstance(of_states, dict) else None,
        reads_execution_input=_reaches(of_states, "context", "Execution", "Input"),
        heavy=is_heavy(text),
        draws=not functions.isdisjoint(DRAWING),
        members=_members(text),
        doubt=doubt,
        compiled=compiled,
    )


def _nothing() -> None:
    """Stands for a function of ours while the library looks at what an expression reads."""


def _reaches(reads: Reads, *names: str) -> bool:
    """Tell whether a member of a member is among what is read, or everything above it."""
    for name in names:
        if not isinstance(reads, Mapping):
            return True
        if name not in reads:
            return False
        reads = reads[name]
    return True


def _members(text: str) -> tuple[str, ...] | None:
    found = _MEMBERS.fullmatch(text)
    if found is None:
        return None
    names = tuple(found[2].split(".")[1:])
    return None if _OPERATORS.intersection(names) else (found[1], *names)


# -------------------------------------------------------------------------------- evaluation

UNDEFINED: Final = Answer(reason="returned nothing (undefined).")
_UNSUPPORTED: Final = Answer(reason="returned an unsupported result type.")
_LIMITS: Final = frozenset({"D1011", "D1012", "U1001", "U1006"})
_PANIC: Final = "PanicException"


def answer(question: Question, bounds: Bounds) -> Answer:
    """Evaluate an expression, here and now, within bounds."""
    named = _named(question)
    return _evaluated(question, bounds) if named is None else named


def _named(question: Question) -> Answer | None:
    """Return what an expression that only names members leads to; None: ask the library."""
    members = question.query.members
    if members is None:
        return None
    if members[0] not in question.bindings:
        return None  # it may be a function
    value = question.bindings[members[0]]
    for name in members[1:]:
        if not isinstance(value, dict):
            return None
        if name not in value:
            return UNDEFINED
        value = value[name]
    return Answer(value)


def _evaluated(question: Question, bounds: Bounds) -> Answer:
    query = question.query
    bindings: dict[str, object] = dict(question.bindings)
    if query.draws:
        bindings |= drawing(Draw(question.seed.encode("utf-8", "surrogatepass")))
    try:
        text = _run(query.compiled, bindings, question.moment_ms, bounds)
        if text is not None:
            return Answer(read(text, limits=_TRUSTED))
        return _without_value(query, {**PURE, **bindings}, question.moment_ms, bounds)
    except jlens.JlensError as error:
        return _failed(f"{error.code}: {error}", exhausted=error.code in _LIMITS)
    except (FunctionError, DocumentError) as error:
        return _failed(str(error))
    except (ArithmeticError, TypeError, ValueError, RecursionError, MemoryError):
        # From a function of ours that was handed what is no JSON, or from the library.
        return _failed("the evaluation broke off")
    except BaseException as error:
        # The library's own panics are derived from nothing better.
        if type(error).__name__ != _PANIC:
            raise
        return _failed("the evaluation broke off")


def _without_value(
    query: Query, bindings: dict[str, object], moment_ms: int, bounds: Bounds
) -> Answer:
    """Tell a function from nothing at all: the library gives the same for both."""
    try:
        probe = jlens.Expression(f"$type(({query.text}\n))")
    except jlens.JlensError:
        return _UNSUPPORTED  # a pattern, which may not stand between parentheses
    kind = _run(probe, bindings, moment_ms, bounds)
    return _UNSUPPORTED if kind == '"function"' else UNDEFINED


_TRUSTED: Final = Limits(document_bytes=DEFAULT.document_bytes * 16, document_depth=10_000)


def _failed(message: str, *, exhausted: bool = False) -> Answer:
    return Answer(reason=f"threw an error during evaluation. {message}", exhausted=exhausted)


def _run(
    compiled: jlens.Expression, bindings: dict[str, object], moment_ms: int, bounds: Bounds
) -> str | None:
    return compiled.evaluate_json(
        None,
        bindings,
        timeout=bounds.seconds,
        max_depth=MOST_QUERY_DEPTH,
        max_steps=bounds.steps,
        max_string_length=bounds.text_bytes,
        max_array_length=bounds.items,
        max_result_size=bounds.text_bytes,
        now=moment_ms,
    )
