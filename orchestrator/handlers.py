"""What the author of a worker imports: registration of handlers, task context, errors of tasks.

Knows how a handler is called and what becomes of what it returns or raises. Knows no database, no
broker and no Celery: `dispatch` claims tasks, calls `Handler.run` and hands on the outcome.
"""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, ParamSpec, TypeAlias, TypeVar

from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.errors import DATA_LIMIT_EXCEEDED
from orchestrator.asl.limits import DEFAULT
from orchestrator.execution.payload import Payload

P = ParamSpec("P")
R = TypeVar("R")

INVALID_RESULT = "Task.InvalidResult"
"""The error of a handler that returns what is no JSON."""


class TaskError(Exception):
    """What a handler raises to fail with an error name of its choice."""

    def __init__(self, error: str, cause: str | None = None) -> None:
        super().__init__(error, cause)
        self.error = error
        self.cause = cause


class TaskCancelled(Exception):
    """The claim of the running handler is gone (time limit, stop, lease); its result is void."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A handler has returned JSON."""

    result: Payload


@dataclass(frozen=True, slots=True)
class Failed:
    """A handler has failed; the cause is cut to the limit."""

    error: str
    cause: str | None = None


Outcome: TypeAlias = Returned | Failed
"""What became of a run."""


def _alive(_progress: Payload | None) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Undone:
    """What a compensation undoes."""

    key: str
    """The key under which the task has acted on the world, or may have."""


@dataclass(frozen=True, slots=True, eq=False)
class TaskContext:
    """What a handler may know of the task that it runs, and how it tells that it is alive."""

    key: str
    """The idempotency key for everything the handler does to the world: the same when a lost
    attempt is made again, another one after a failure that the handler reported."""
    attempt: int
    """1 for the first."""
    delivery: int
    """How often this attempt has been handed to a worker, this time included."""
    execution: str
    """The name of the execution, unique within its machine."""
    machine: str
    state: str
    resource: str
    progress: Json = None
    """What an earlier delivery of this attempt has reported by its last heartbeat."""
    undoes: Undone | None = None
    """Of a compensation of a Task: what it undoes."""
    beat: Callable[[Payload | None], bool] = _alive
    lost: threading.Event = field(default_factory=threading.Event)

    @property
    def cancelled(self) -> bool:
        """Tell whether the claim is known to be gone."""
        return self.lost.is_set()

    def heartbeat(self, progress: Json = None) -> None:
        """Report progress, restart HeartbeatSeconds; raises TaskCancelled if the claim is gone."""
        note = None if progress is None else Payload.of(json_copy(progress))
        if self.lost.is_set() or not self.beat(note):
            self.lost.set()
            raise TaskCancelled(f"the claim of task {self.key} is gone")

    @property
    def aws_request_id(self) -> str:
        """The key, under the name by which Lambda functions know it."""
        return self.key

    @property
    def function_name(self) -> str:
        """The name of the handler, under the name by which Lambda functions know it."""
        return self.resource.partition(":")[2]


_current: ContextVar[TaskContext] = ContextVar("orchestrator_task")


def current_task() -> TaskContext:
    """The context of the task that this thread runs; raises LookupError where none runs."""
    try:
        return _current.get()
    except LookupError:
        raise LookupError("no task runs here: current_task() answers inside a handler") from None


@contextmanager
def running(context: TaskContext) -> Iterator[None]:
    """Make `current_task()` answer `context` inside the block."""
    before = _current.set(context)
    try:
        yield
    finally:
        _current.reset(before)


# -------------------------------------------------------------------------- how it is called


class ArgumentsMisfit(Exception):
    """The arguments of a task are not those that its handler takes."""


@dataclass(frozen=True, slots=True)
class Convention:
    """How a function is called with a document, read once from its signature."""

    name: str
    signature: inspect.Signature
    whole_document: bool
    """The function takes `event` alone, or `(event, context)` as a Lambda function does."""
    context_parameter: str | None

    @classmethod
    def of(cls, name: str, function: Callable[..., object]) -> Convention:
        """Read the convention from a signature; a bound method's has no `self`."""
        try:
            signature = inspect.signature(function)
        except ValueError:  # a function written in C may have none
            signature = inspect.signature(_anything)
        parameters = list(signature.parameters.values())
        wanted = next((p.name for p in parameters if _takes_context(p)), None)
        if wanted is None and [p.name for p in parameters] == ["event", "context"]:
            wanted = "context"
        rest = [p for p in parameters if p.name != wanted]
        whole = len(rest) == 1 and rest[0].name == "event" and rest[0].kind in _POSITIONAL
        return cls(name, signature, whole, wanted)

    def arguments(
        self, document: Json, context: TaskContext
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        """The positional and keyword arguments of one call; raises ArgumentsMisfit."""
        args: tuple[object, ...] = ()
        kwargs: dict[str, object] = {}
        if isinstance(document, dict) and not self.whole_document:
            kwargs.update(document)
        else:
            args = (document,)
        if self.context_parameter is not None:
            if self.context_parameter in kwargs:
                raise self._misfit("the task context has the same name as a key", document)
            kwargs[self.context_parameter] = context
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise self._misfit(str(error), document) from None
        return args, kwargs

    def _misfit(self, why: str, document: Json) -> ArgumentsMisfit:
        given = (
            f"an object with the keys {', '.join(document) or '(none)'}"
            if isinstance(document, dict)
            else f"one value ({_kind(document)})"
        )
        taken = [str(p) for p in self.signature.parameters.values() if not _takes_context(p)]
        return ArgumentsMisfit(
            f"{self.name}: {why}; the handler takes ({', '.join(taken)}), the task gives {given}"
        )


def _anything(*args: object, **kwargs: object) -> None:
    """Stand for the signature of a function that tells none."""


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _takes_context(parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    if annotation is TaskContext:
        return True
    return isinstance(annotation, str) and annotation.rpartition(".")[2] == TaskContext.__name__


# ------------------------------------------------------------------------- what comes of it


def outcome_of_result(result: object, limit_bytes: int = DEFAULT.document_bytes) -> Outcome:
    """What a returned value means: its copy, or a failure that says where it is no JSON."""
    try:
        payload = Payload.of(json_copy(result))
        size = len(payload.text)
    except (NotJson, DocumentError) as error:
        return Failed(INVALID_RESULT, _cut(str(error)))
    if size > limit_bytes:
        return Failed(
            DATA_LIMIT_EXCEEDED,
            f"The result has {size} bytes, more than the limit of {limit_bytes}.",
        )
    return Returned(payload)


def outcome_of_exception(exception: BaseException) -> Failed:
    """What a raised exception means: its class is the error, its text the cause."""
    if isinstance(exception, TaskError):
        return Failed(_name(exception.error), _cut(exception.cause))
    if isinstance(exception, ArgumentsMisfit):
        return Failed("TypeError", _cut(str(exception)))
    try:
        text = str(exception)
    except Exception as broken:  # noqa: BLE001 - the error of a foreign __str__ hides no failure
        text = f"(str() of the exception raised {type(broken).__name__})"
    return Failed(_name(type(exception).__name__), _cut(text) or None)


def ends_the_worker(exception: BaseException) -> bool:
    """Tell whether an exception asks the process to end, rather than being a failure of its task.

    `sys.exit()` in a handler is a failure; KeyboardInterrupt and the subclasses of SystemExit by
    which pools end their processes are not the handler's. They come to the main thread: in another
    one only the handler can have raised them, and nobody would hear of the end of its thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    if isinstance(exception, SystemExit):
        return type(exception) is not SystemExit
    return isinstance(exception, KeyboardInterrupt)


def _name(error: object) -> str:
    return str(error)[: DEFAULT.error_characters] or "TaskError"


def _cut(cause: object) -> str | None:
    return None if cause is None else str(cause)[: DEFAULT.cause_characters]


_SHOWN_CHARACTERS: Final = 80
_LARGEST_INTEGER: Final = 10**DEFAULT.integer_digits - 1


class NotJson(ValueError):
    """A value that JSON has no form for; the message says where it stands."""


def json_copy(value: object, path: str = "$", depth: int = 0) -> Json:
    """A copy of `value` in JSON's own types (tuples become lists); raises NotJson."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | float):
        return _number(value, path)
    if depth >= DEFAULT.document_depth:
        raise NotJson(f"{_shortened(path)}: nested deeper than {DEFAULT.document_depth}")
    if isinstance(value, dict):
        return {
            _key(key, path): json_copy(item, f"{path}.{key}", depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [json_copy(item, f"{path}[{n}]", depth + 1) for n, item in enumerate(value)]
    raise NotJson(f"{path}: {_kind(value)}")


def _number(value: float, path: str) -> int | float:
    if isinstance(value, int):
        if abs(value) > _LARGEST_INTEGER:
            raise NotJson(f"{path}: an integer of more than {DEFAULT.integer_digits} digits")
        return int(value)
    if not math.isfinite(value):
        raise NotJson(f"{path}: {value} is not JSON")
    return float(value)


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise NotJson(f"{path}: the key {key!r} is no string but {_kind(key)}")
    return str.__str__(key)


def _kind(value: object) -> str:
    return type(value).__name__


def _shortened(path: str) -> str:
    return path if len(path) <= _SHOWN_CHARACTERS else f"{path[:_SHOWN_CHARACTERS]}…"


# ------------------------------------------------------------------------------ registration


@dataclass(frozen=True, slots=True)
class Handler:
    """A function under the name by which definitions know it."""

    name: str
    function: Callable[..., object]
    at_most_once: bool
    convention: Convention

    def run(self, arguments: Payload, context: TaskContext) -> Outcome:
        """Call the function; all it does comes back as an outcome, but for what ends the worker."""
        try:
            args, kwargs = self.convention.arguments(arguments.value, context)
            with running(context):
                result = self.function(*args, **kwargs)
        except BaseException as error:  # the call of foreign code: nothing else may be assumed
            if ends_the_worker(error):
                raise
            return outcome_of_exception(error)
        return outcome_of_result(result)


def resources_of(name: str) -> tuple[str, ...]:
    """The resources that a handler or Celery task of this name serves."""
    return (name,) if name.startswith("arn:") else (f"celery:{name}", f"lambda:{name}")


_handlers: dict[str, Handler] = {}


def handler(name: str, *, at_most_once: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a plain function as the handler `name`; the function itself stays as it is.

    It serves `celery:NAME` and Lambda functions of that name; a name that is an ARN serves that
    resource. With `at_most_once` a lost worker is an error that the definition can catch, never a
    second run.
    """

    def register(function: Callable[P, R]) -> Callable[P, R]:
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"the handler {name} is a coroutine function: register a plain one")
        known = _handlers.get(name)
        if known is not None and _home(known.function) != _home(function):
            raise ValueError(f"{_home(known.function)} is registered as the handler {name} already")
        _handlers[name] = Handler(name, function, at_most_once, Convention.of(name, function))
        return function

    return register


def _home(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{getattr(function, '__qualname__', function)}"


def registered() -> Mapping[str, Handler]:
    """All handlers of this process, by name."""
    return MappingProxyType(_handlers)
