"""History events in AWS's shapes, and how one transition's events are packed into one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from orchestrator.execution.payload import Payload

type Detail = str | int | bool | Payload | Mapping[str, "Detail"]


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One recorded event.

    `type` is AWS's (`TaskStateEntered`); `details` are the fields of its `…EventDetails`, documents as `Payload`
    (on the wire: JSON text).
    """

    id: int
    previous_id: int
    at: datetime
    type: str
    details: Mapping[str, Detail]
