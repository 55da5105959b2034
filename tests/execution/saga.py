"""Scopes of Tasks that can be undone, and what was done of them."""

from __future__ import annotations

from typing import Any

from tests.execution.definitions import states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Handler, Outcome, Raised, Returned, echo

LANGUAGES = ("JSONPath", "JSONata")
SIX = ("a", "b", "c", "d", "e", "f")


def undo(name: str, **fields: Any) -> dict[str, Any]:
    return {"Resource": f"celery:undo_{name}", **fields}


def step(name: str, **fields: Any) -> dict[str, Any]:
    """Return a Task that can be undone."""
    return task(Resource=f"celery:{name}", Compensate=undo(name), **fields)


def chain(*names: str, last: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a scope of Tasks in a row, each of which can be undone."""
    following = dict(zip(names, [*names[1:], last], strict=True))
    return states(
        **{
            name: step(name, **({"Next": after} if after else {}), **fields)
            for name, after in following.items()
        }
    )


def done(world: World) -> list[str]:
    """Return what the handlers were asked to do, by the names of their resources."""
    world.verify()
    return [call.resource.removeprefix("celery:") for call in world.calls]


def undone(world: World) -> list[str]:
    return [name.removeprefix("undo_") for name in done(world) if name.startswith("undo_")]


def failing(*names: str, otherwise: Handler = echo) -> Handler:
    def handle(call: Call) -> Outcome:
        name = call.resource.removeprefix("celery:")
        return Raised("Broken", f"{name} is broken") if name in names else otherwise(call)

    return handle


def slow(name: str) -> Handler:
    def handle(call: Call) -> Outcome:
        return Returned(call.input, after_seconds=60.0 if call.resource == f"celery:{name}" else 0)

    return handle
