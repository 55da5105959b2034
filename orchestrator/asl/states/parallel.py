"""Parallel: a fork with one child per branch."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import Path, ReferencePath
from ..retries import Catcher, Retrier
from ..templates import Template
from .branch import Branch


@dataclass(frozen=True, slots=True)
class Parallel:
    """A Parallel state; its result is the array of its branches' outputs, in their order."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    branches: tuple[Branch, ...]
    next: str | None
    input_path: Path | None
    output_path: Path | None
    parameters: Template | None
    result_selector: Template | None
    result_path: ReferencePath | None
    retry: tuple[Retrier, ...]
    catch: tuple[Catcher, ...]
