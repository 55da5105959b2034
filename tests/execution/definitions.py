"""Definitions in few words, and the machines that they are."""

from __future__ import annotations

from typing import Any

from orchestrator.asl import document
from orchestrator.asl.definition import parse
from orchestrator.asl.document import Json
from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.asl.machine import Machine


def machine_of(definition: Json | str, limits: Limits = DEFAULT) -> Machine:
    text = definition if isinstance(definition, str) else document.write(definition)
    parsed = parse(text, limits)
    assert parsed.machine is not None, [str(finding) for finding in parsed.findings]
    return parsed.machine


def states(**named: Any) -> dict[str, Any]:
    """Return a definition that starts at the first of the states."""
    return {"StartAt": next(iter(named)), "States": dict(named)}


def task(**fields: Any) -> dict[str, Any]:
    """Return a Task for Celery that ends unless it says where to go."""
    end = {} if "Next" in fields else {"End": True}
    return {"Type": "Task", "Resource": "celery:work", **end, **fields}


def mapping(processor: Any, **fields: Any) -> dict[str, Any]:
    """Return a Map that ends unless it says where to go."""
    end = {} if "Next" in fields else {"End": True}
    return {"Type": "Map", "ItemProcessor": processor, **end, **fields}


def parallel(*branches: Any, **fields: Any) -> dict[str, Any]:
    """Return a Parallel that ends unless it says where to go."""
    end = {} if "Next" in fields else {"End": True}
    return {"Type": "Parallel", "Branches": list(branches), **end, **fields}


PASS: dict[str, Any] = {"Type": "Pass", "End": True}
