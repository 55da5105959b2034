"""Answers as JSON text: many documents in one, each as deep and as large as it was taken in."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from orchestrator.asl import document
from orchestrator.asl.document import Json
from orchestrator.asl.limits import DEFAULT

AROUND: Final = 20
"""How much deeper an answer is than the documents in it."""
_BOUNDS: Final = replace(
    DEFAULT, document_bytes=2**40, document_depth=DEFAULT.document_depth + AROUND
)


def written(value: Json) -> str:
    """Return the text of an answer, in ASCII only."""
    return document.write(value, limits=_BOUNDS)
