"""What handlers are called with and what becomes of it, and handlers that follow a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.asl.document import Json


@dataclass(frozen=True)
class Returned:
    value: Json
    after_seconds: float = 0.0


@dataclass(frozen=True)
class Raised:
    error: str
    cause: str | None = None
    after_seconds: float = 0.0


@dataclass(frozen=True)
class Lost:
    """The worker dies."""


@dataclass(frozen=True)
class Hung:
    """The handler never reports, while its worker lives."""


Outcome = Returned | Raised | Lost | Hung


@dataclass(frozen=True)
class Call:
    """What a handler is called with."""

    frame: str
    state: str
    resource: str
    input: Json
    attempt: int
    delivery: int
    key: str


Handler = Callable[[Call], Outcome]


def echo(call: Call) -> Outcome:
    return Returned(call.input)


def script(*outcomes: Outcome) -> Handler:
    """Return a handler that gives these outcomes in turn, and the last one ever after."""
    left = list(outcomes)

    def handle(_: Call) -> Outcome:
        return left.pop(0) if len(left) > 1 else left[0]

    return handle
