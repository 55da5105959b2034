"""What is run: a definition, its input, and how the handler of each of its Tasks behaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Final, TypeAlias

from orchestrator.asl import document
from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.simulation.chance import Chance

WORK: Final = "celery:work"
ONCE: Final = "celery:once"
UNDO: Final = "celery:undo"
LAMBDA: Final = "arn:aws:lambda:us-east-1:123456789012:function:work"

QUEUES: Final = {WORK: "work", "lambda:work": "work", ONCE: "once", UNDO: "work"}
"""Who serves what, by the names that are announced."""
AT_MOST_ONCE: Final = frozenset({ONCE})


class Manner(StrEnum):
    """How a handler behaves."""

    GOOD = "good"
    """It returns."""
    FAILING = "failing"
    """It fails now and then."""
    HANGING = "hanging"
    """It never comes back."""
    SILENT = "silent"
    """It works for long and forgets its heartbeats."""
    SUICIDAL = "suicidal"
    """It kills its process at its first deliveries."""
    DEADLY = "deadly"
    """It kills its process at every delivery."""
    NOT_JSON = "not JSON"
    """It returns what is no JSON."""


@dataclass(frozen=True, slots=True)
class Returns:
    """After so many seconds the handler returns."""

    seconds: float
    value: Json


@dataclass(frozen=True, slots=True)
class Raises:
    """After so many seconds the handler fails."""

    seconds: float
    error: str


@dataclass(frozen=True, slots=True)
class Babbles:
    """After so many seconds the handler returns what is no JSON."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hangs:
    """The handler never comes back."""


@dataclass(frozen=True, slots=True)
class Kills:
    """After so many seconds the handler takes its process with it."""

    seconds: float


Deed: TypeAlias = "Returns | Raises | Babbles | Hangs | Kills"
"""What one run of a handler does."""


@dataclass(frozen=True, slots=True)
class Case:
    """One machine and everything that is certain about its executions."""

    text: str
    input: Json
    manners: Mapping[str, Manner]
    exact: bool
    """Whether the outcome depends on nothing but the deeds: then the model knows it."""
    limits: Limits
    seed: int

    def manner(self, state: str) -> Manner:
        """Return how the handlers of a state behave; those of effects of its own, too."""
        return self.manners.get(state, Manner.GOOD)

    def deed(self, state: str, arguments: Json, attempt: int, delivery: int) -> Deed:
        """Return what a run does: the same for the same state, arguments and attempt."""
        text = f"{self.seed}/{state}/{attempt}/{document.write(without_runs(arguments))}"
        chance = Chance(int.from_bytes(sha256(text.encode()).digest()[:8], "big"))
        seconds = chance.one_of((0.0, 0.0, 0.0, 0.5, 2.0, 4.0, 15.0))
        value = shaped(chance, 2)
        match self.manner(state):
            case Manner.HANGING:
                return Hangs()
            case Manner.SILENT if self.exact:
                return Hangs()  # were it to return, who comes first would matter
            case Manner.DEADLY:
                return Kills(seconds)
            case Manner.SUICIDAL if delivery <= chance.whole(1, 3):
                return Kills(min(seconds, 2.0))
            case Manner.NOT_JSON:
                return Babbles(seconds)
            case Manner.FAILING if chance.happens(0.6):
                return Raises(seconds, "E" if self.exact else chance.one_of(("E", "F")))
            case Manner.SILENT:
                return Returns(seconds + 10.0, value)
            case Manner.GOOD | Manner.FAILING | Manner.SUICIDAL:
                return Returns(seconds, value)


def shaped(chance: Chance, depth: int) -> Json:
    """Draw what every state of these machines can work with: `a` holds more of the same."""
    count = chance.whole(9, 11) if depth == 1 and chance.happens(0.2) else chance.whole(0, 3)
    items: list[Json] = [
        shaped(chance, depth - 1) if depth else chance.whole(0, 9) for _ in range(count)
    ]
    return {"a": items, "b": chance.one_of((None, True, "é", 1.5)), "n": chance.whole(0, 5)}


def without_runs(value: Json) -> Json:
    """Return a document without the numbers of the runs that made it."""
    if isinstance(value, dict):
        return {key: without_runs(item) for key, item in value.items() if key != "run"}
    if isinstance(value, list):
        return [without_runs(item) for item in value]
    return value
