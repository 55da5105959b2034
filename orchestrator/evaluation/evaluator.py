"""Evaluator: here, if an expression is light and stays so; else by the helper of this process."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from orchestrator.asl.jsonata import Answer, Bounds, Question, answer
from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.evaluation.helper import Helper

_LIGHT_SECONDS: Final = 0.03
_LIGHT_STEPS: Final = 50_000
_LIGHT_ITEMS: Final = 100_000
"""Bounds of an evaluation in this process; what needs more goes to the helper."""

_NOTEWORTHY_SECONDS: Final = 0.001


class Evaluator:
    """Answers questions; threads may share it, and a child of this process has its own helper."""

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self._light = Bounds(
            _LIGHT_SECONDS, _LIGHT_STEPS, _LIGHT_ITEMS, text_bytes=limits.document_bytes
        )
        self._helper = Helper(Bounds.of(limits))

    def __call__(self, question: Question) -> Answer:
        """Return the answer, within the limits on expressions."""
        begun = time.perf_counter()
        if question.query.heavy:
            found = self._helper.answer(question)
        else:
            found = answer(question, self._light)
            if found.exhausted:
                found = self._helper.answer(question)
        seconds = time.perf_counter() - begun
        return found if seconds < _NOTEWORTHY_SECONDS else replace(found, seconds=seconds)

    def close(self) -> None:
        """End the helper process; another question starts it again."""
        self._helper.close()
