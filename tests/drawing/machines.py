"""Machines to draw."""

from __future__ import annotations

import json
from collections.abc import Mapping

from orchestrator.asl.definition import parse
from orchestrator.asl.document import Json
from orchestrator.asl.machine import Machine


def machine(text: str) -> Machine:
    parsed = parse(text)
    assert parsed.machine is not None, parsed.findings
    return parsed.machine


def of_states(states: Mapping[str, Json], **fields: Json) -> Machine:
    """The machine of these states, which begins with the first."""
    return machine(json.dumps({"StartAt": next(iter(states)), "States": states, **fields}))


def task(**fields: Json) -> dict[str, Json]:
    return {"Type": "Task", "Resource": "celery:shop.work", **fields}
