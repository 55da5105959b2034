"""What the helper process and the one that it helps say to each other: JSON behind its length."""

from __future__ import annotations

import sys
from collections.abc import Generator
from functools import lru_cache
from typing import Final

from orchestrator.asl import document
from orchestrator.asl.document import Json
from orchestrator.asl.jsonata import Answer, Bounds, Question, compile_query
from orchestrator.asl.limits import Limits

_LENGTH: Final = 4
_TRUSTED: Final = Limits(document_bytes=sys.maxsize, document_depth=sys.maxsize)

READY: Final = b"\0\0\0\2{}"
"""What a helper says when it has started."""


def incoming() -> Generator[int, bytes, bytes]:
    """Take pieces of a message as they come; yield how much to read, return the message."""
    head = yield from _take(_LENGTH)
    return (yield from _take(int.from_bytes(head, "big")))


def _take(size: int) -> Generator[int, bytes, bytes]:
    taken = bytearray()
    while len(taken) < size:
        taken += yield min(size - len(taken), 1 << 20)
    return bytes(taken)


def _message(value: Json) -> bytes:
    text = document.write(value, limits=_TRUSTED).encode()
    return len(text).to_bytes(_LENGTH, "big") + text


def request(question: Question, bounds: Bounds) -> bytes:
    """Return a question as a message."""
    return _message(
        {
            "text": question.query.text,
            "bindings": dict(question.bindings),
            "moment": question.moment_ms,
            "seed": question.seed,
            "bounds": [bounds.seconds, bounds.steps, bounds.items, bounds.text_bytes],
        }
    )


def question_in(message: bytes) -> tuple[Question, Bounds]:
    """Return the question of a message."""
    match document.read(message, limits=_TRUSTED):
        case {
            "text": str(text),
            "bindings": dict(bindings),
            "moment": int(moment),
            "seed": str(seed),
            "bounds": [int() | float() as seconds, int(steps), int(items), int(text_bytes)],
        }:
            bounds = Bounds(float(seconds), steps, items, text_bytes)
            return Question(_compiled(text), bindings, moment, seed), bounds
        case _:
            raise ValueError("no question")


_compiled: Final = lru_cache(maxsize=256)(compile_query)


def response(answer: Answer) -> bytes:
    """Return an answer as a message."""
    if answer.reason is None:
        return _message({"value": answer.value})
    return _message({"reason": answer.reason, "exhausted": answer.exhausted})


def answer_in(message: bytes) -> Answer:
    """Return the answer of a message."""
    match document.read(message, limits=_TRUSTED):
        case {"reason": str(reason), "exhausted": bool(exhausted)}:
            return Answer(reason=reason, exhausted=exhausted)
        case {"value": value}:
            return Answer(value)
        case _:
            raise ValueError("no answer")
