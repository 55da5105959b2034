"""A call: a request to an execution from outside, from its arrival to its verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final

from orchestrator.asl import document
from orchestrator.asl.document import Json
from orchestrator.execution.payload import Payload

ENDED: Final = "the execution has ended"
"""What an execution answers that has ended, unless its final state says something else."""
UNDOING: Final = "the execution is being undone"


class Verdict(StrEnum):
    """What became of a call."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    PENDING = "pending"
    """It is kept, and gets one of the others later, at the latest when the execution ends."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call and what is on record of it."""

    id: str
    """Chosen by the caller: the same id again is the same call."""
    name: str
    input: Payload
    digest: str
    """Of name, input and `at`: another call may not have the same id."""
    arrived_at: datetime
    at: str | None = None
    """The frame of a Map's iteration, if it concerns only that one."""
    number: int = 0
    """The version of the execution that it found, or made: kept calls are in its order."""
    verdict: Verdict = Verdict.PENDING
    answer: str | None = None
    """JSON text: what every repeat is answered, byte for byte; None while it is kept."""
    decided_at: datetime | None = None

    def accepted(self, origin: str | None, state: str | None, at: datetime) -> Call:
        """Return it as accepted: the frame went from one state to where it rests now."""
        words: dict[str, Json] = {"call": self.name, "from": origin, "to": state}
        return self._decided(Verdict.ACCEPTED, words, at)

    def refused(self, state: str | None, reason: str, at: datetime) -> Call:
        """Return it as refused by a state, with the reason."""
        return self._decided(
            Verdict.REFUSED, {"call": self.name, "state": state, "reason": reason}, at
        )

    def _decided(self, verdict: Verdict, words: dict[str, Json], at: datetime) -> Call:
        said: dict[str, Json] = {"verdict": verdict.value, **words, "callId": self.id}
        return replace(self, verdict=verdict, answer=document.write(said), decided_at=at)

    @property
    def said(self) -> str:
        """What its caller is told now, as JSON text."""
        if self.answer is not None:
            return self.answer
        return document.write(
            {"verdict": Verdict.PENDING.value, "call": self.name, "callId": self.id}
        )


def digest(name: str, given: Payload, at: str | None) -> str:
    """Return what tells calls apart: equal JSON is the same, whatever the order of its members."""
    text = json.dumps(document.plain(given.value), sort_keys=True, separators=(",", ":"))
    return sha256(json.dumps([name, at, text]).encode()).hexdigest()
