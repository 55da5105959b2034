"""What a worker serves: for each resource the handler, its queue and its delivery mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator import handlers
from orchestrator.execution.payload import Payload
from orchestrator.handlers import Outcome, TaskContext
from orchestrator.store import Announcement

Run: TypeAlias = Callable[[Payload, TaskContext], Outcome]
"""Calls a handler; raises only what ends the worker."""


@dataclass(frozen=True, slots=True)
class Served:
    """A handler and the queue through which this worker hears of its tasks."""

    name: str
    queue: str
    at_most_once: bool
    run: Run


class Serving:
    """Everything that one worker serves; it does not change."""

    def __init__(self, served: Iterable[Served]) -> None:
        self._by_resource = {
            resource: one for one in served for resource in handlers.resources_of(one.name)
        }
        self.resources = frozenset(self._by_resource)
        self.routes = {resource: one.queue for resource, one in self._by_resource.items()}
        """The queue of each resource."""
        self.queues = frozenset(one.queue for one in self._by_resource.values())
        self._on_queue = {
            queue: frozenset(r for r, one in self._by_resource.items() if one.queue == queue)
            for queue in self.queues
        }
        self.at_most_once = frozenset(
            resource for resource, one in self._by_resource.items() if one.at_most_once
        )

    def handler(self, resource: str) -> Served:
        """The handler of a resource; only what is served is claimed."""
        return self._by_resource[resource]

    def on_queue(self, queue: str) -> frozenset[str]:
        """The resources whose tasks are heard of on a queue."""
        return self._on_queue.get(queue, frozenset())

    def announcements(self) -> dict[str, Announcement]:
        """What the other processes are told."""
        return {
            resource: Announcement(one.queue, one.at_most_once)
            for resource, one in self._by_resource.items()
        }


def registered_on(queue: str) -> Serving:
    """All plain handlers of this process, on one queue."""
    return Serving(
        Served(one.name, queue, one.at_most_once, one.run) for one in handlers.registered().values()
    )
