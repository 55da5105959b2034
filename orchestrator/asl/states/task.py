"""Task: one piece of work for a worker."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import Path, ReferencePath
from ..resources import Resource
from ..retries import Catcher, Retrier
from ..templates import Template


@dataclass(frozen=True, slots=True)
class Task:
    """A Task state; `next` None ends its frame, a path None is JSON null."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    resource: Resource
    next: str | None
    input_path: Path | None
    output_path: Path | None
    parameters: Template | None
    result_selector: Template | None
    result_path: ReferencePath | None
    retry: tuple[Retrier, ...]
    catch: tuple[Catcher, ...]
    timeout_seconds: int | None
    timeout_seconds_path: Path | None
    heartbeat_seconds: int | None
    heartbeat_seconds_path: Path | None
    credentials: Template | None
