"""Handlers of a trade that can go wrong at any step, and machines of such steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, TaskError, handler
from workers.ledger import ledger

DO, UNDO = "celery:sagas.do", "celery:sagas.undo"

GATES: dict[str, threading.Event] = {}
"""What a step of that name waits for before it does anything, in this process."""


@handler("sagas.do")
def do(step: str, trouble: Json, task: TaskContext) -> Json:
    """Do a step once per key, unless the execution's trouble says that it fails."""
    ledger().note_run(task)
    _wait(step, trouble)
    if _fails(step, trouble):
        raise TaskError("Broken", f"{step} is broken")
    ledger().effect(task, step)
    return {"step": step, "key": task.key}


@handler("sagas.undo")
def undo(step: str, done: Json, trouble: Json, task: TaskContext) -> Json:
    """Undo a step once per key."""
    ledger().note_run(task)
    _wait(f"undo {step}", trouble)
    hiccup = trouble.get("hiccup") if isinstance(trouble, dict) else None
    if isinstance(hiccup, list) and f"undo {step}" in hiccup and task.attempt == 1:
        raise TaskError("Hiccup", f"{step} cannot be undone yet")
    if _fails(f"undo {step}", trouble):
        raise TaskError("Stuck", f"{step} cannot be undone")
    undoes = None if task.undoes is None else task.undoes.key
    ledger().effect(task, {"undo": step, "undoes": undoes, "done": done})
    return {"undone": step}


def _fails(step: str, trouble: Json) -> bool:
    failing = trouble.get("fail") if isinstance(trouble, dict) else None
    return isinstance(failing, list) and step in failing


def _wait(step: str, trouble: Json) -> None:
    if step in GATES:
        GATES[step].wait(30)
    slow = trouble.get("slow") if isinstance(trouble, dict) else None
    if isinstance(slow, dict) and isinstance(seconds := slow.get(step), int | float):
        time.sleep(seconds)


def step(name: str, following: str | None, language: str = "JSONPath", **fields: Any) -> Json:
    """Return a Task of that name that can be undone; the document passes it unchanged."""
    flow: dict[str, Json] = {"End": True} if following is None else {"Next": following}
    once: Json = [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1, "IntervalSeconds": 1}]
    if language == "JSONata":
        trouble = "{% $states.context.Execution.Input.trouble %}"
        return {
            "Type": "Task",
            "Resource": DO,
            "Arguments": {"step": name, "trouble": trouble},
            "Output": "{% $states.input %}",
            "Compensate": {
                "Resource": UNDO,
                "Arguments": {
                    "step": name,
                    "done": "{% $states.result.key %}",
                    "trouble": trouble,
                },
                "Retry": once,
            },
            **flow,
            **fields,
        }
    where = "$$.Execution.Input.trouble"
    return {
        "Type": "Task",
        "Resource": DO,
        "Parameters": {"step": name, "trouble.$": where},
        "ResultPath": None,
        "Compensate": {
            "Resource": UNDO,
            "Parameters": {"step": name, "done.$": "$.result.key", "trouble.$": where},
            "Retry": once,
        },
        **flow,
        **fields,
    }


def chain(names: Sequence[str], language: str = "JSONPath", **fields: Any) -> dict[str, Json]:
    """Return a scope of steps in a row."""
    following = [*names[1:], None]
    states: dict[str, Json] = {
        name: step(name, after, language, **fields)
        for name, after in zip(names, following, strict=True)
    }
    return {"StartAt": names[0], "States": states}
