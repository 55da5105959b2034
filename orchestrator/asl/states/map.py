"""Map: a fork with one child per item."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import Path, ReferencePath
from ..retries import Catcher, Retrier
from ..templates import Template
from .branch import Branch


@dataclass(frozen=True, slots=True)
class Map:
    """A Map state; its result is the array of its iterations' outputs, by index.

    `parameters` is always None: the old field Parameters is read as `item_selector`.
    `max_concurrency` 0 means no limit. `unsupported` names the fields that were accepted and have
    no effect (ItemReader, ItemBatcher, ResultWriter).
    """

    name: str
    pointer: str
    comment: str | None
    query_language: str
    processor: Branch
    next: str | None
    input_path: Path | None
    output_path: Path | None
    parameters: Template | None
    item_selector: Template | None
    items_path: Path
    result_selector: Template | None
    result_path: ReferencePath | None
    retry: tuple[Retrier, ...]
    catch: tuple[Catcher, ...]
    max_concurrency: int
    max_concurrency_path: Path | None
    tolerated_failure_count: int | None
    tolerated_failure_count_path: Path | None
    tolerated_failure_percentage: int | float | None
    tolerated_failure_percentage_path: Path | None
    distributed: bool
    label: str | None
    unsupported: tuple[str, ...]
