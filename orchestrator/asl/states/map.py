"""Map: a fork with one child per item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from orchestrator.asl.diagnostics import Code
from orchestrator.asl.jsonata import expression_in
from orchestrator.asl.paths import Path, ReferencePath
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.retries import Catcher, Retrier
from orchestrator.asl.states.assign import Assign, read_assign
from orchestrator.asl.states.branch import Branch, ReadBranch
from orchestrator.asl.states.compensation import UNDOING, adopts, read_compensation
from orchestrator.asl.states.distributed import (
    Part,
    check_item_batcher,
    check_item_reader,
    check_result_writer,
)
from orchestrator.asl.states.effect import Effect
from orchestrator.asl.states.fields import ALL_OF_IT, WHOLE, Fields
from orchestrator.asl.states.flow import (
    ASSIGN,
    IN_AND_OUT,
    OUTPUT,
    PLAIN,
    RESULT,
    TAKING,
    TRANSITION,
    WORK,
    read_catch,
    read_next,
    read_output,
    read_retry,
)
from orchestrator.asl.states.quantity import Quantity
from orchestrator.asl.states.reaction import On, read_on
from orchestrator.asl.templates import Template


@dataclass(frozen=True, slots=True)
class Map:
    """A Map state; its result is the array of its iterations' outputs, by index.

    `parameters` is always None: the old field Parameters is read as `item_selector`.
    `max_concurrency` 0 means no limit. `unsupported` names the fields that were accepted and have
    no effect (ItemReader, ItemBatcher, ResultWriter). `compensate` undoes all of it once it has
    succeeded, None: its iterations are undone, at most `max_concurrency` at once. Where it
    `adopts`, what its child executions have to undo is its own to undo.
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
    item_selector: Template | QueryTemplate | None
    items_path: Path
    items: QueryTemplate | None
    result_selector: Template | None
    result_path: ReferencePath | None
    retry: tuple[Retrier, ...]
    catch: tuple[Catcher, ...]
    max_concurrency: Quantity
    max_concurrency_path: Path | None
    tolerated_failure_count: Quantity | None
    tolerated_failure_count_path: Path | None
    tolerated_failure_percentage: Quantity | None
    tolerated_failure_percentage_path: Path | None
    distributed: bool
    label: str | None
    unsupported: tuple[str, ...]
    unsupported_readings: tuple[Part, ...]
    output: QueryTemplate | None
    assign: Assign | None
    on: On
    compensate: Effect | None
    adopts: bool


_UNSUPPORTED: Mapping[str, Callable[[Fields], Iterable[Part | None]]] = MappingProxyType(
    {
        "ItemReader": check_item_reader,
        "ItemBatcher": check_item_batcher,
        "ResultWriter": check_result_writer,
    }
)
_FIELDS = (
    PLAIN
    | TRANSITION
    | TAKING
    | ASSIGN
    | UNDOING
    | {
        "ItemProcessor",
        "Iterator",
        "ItemSelector",
        "MaxConcurrency",
        "ToleratedFailureCount",
        "ToleratedFailurePercentage",
        "Label",
        "On",
        *_UNSUPPORTED,
    }
)
_OF_QUERIES = OUTPUT | {"Items", "Arguments"}
_OF_PATHS = (
    IN_AND_OUT
    | WORK
    | {
        "ItemsPath",
        "MaxConcurrencyPath",
        "ToleratedFailureCountPath",
        "ToleratedFailurePercentagePath",
    }
)
_PROCESSOR = frozenset({"StartAt", "States", "Comment", "ProcessorConfig"})
_FORBIDDEN_IN_LABELS = re.compile(r'[\s?*<>{}\[\]"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f\ud800-\udfff]')
MOST_LABEL_CHARACTERS = 40


def read_map(name: str, fields: Fields, read_branch: ReadBranch) -> Map:
    """Read a Map state, its processor by `read_branch`."""
    fields.allow(_FIELDS | (_OF_QUERIES if fields.queries else _OF_PATHS))
    if fields.queries and "Arguments" in fields:
        message = "A Map has no Arguments: they have no effect"
        fields.findings.warn(Code.UNSUPPORTED, message, fields.at("Arguments"))
    fields.one_of("ItemProcessor", "Iterator")
    fields.only_one_of("ItemSelector", "Parameters")
    for bound in ("MaxConcurrency", "ToleratedFailureCount", "ToleratedFailurePercentage"):
        fields.only_one_of(bound, f"{bound}Path")
    processor = fields.object("ItemProcessor") or fields.object("Iterator")
    distributed = processor is not None and _distributed(processor)
    return Map(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        processor=Branch("", {}) if processor is None else read_branch(processor),
        next=read_next(fields),
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        parameters=None,
        item_selector=_item_selector(fields),
        items_path=fields.full_path("ItemsPath") or WHOLE,
        items=_items(fields) if fields.queries else None,
        result_selector=None if fields.queries else fields.template("ResultSelector"),
        result_path=fields.reference_path("ResultPath", ALL_OF_IT),
        retry=read_retry(fields),
        catch=read_catch(fields),
        max_concurrency=fields.whole("MaxConcurrency", spelled=True) or 0,
        max_concurrency_path=fields.definite_path("MaxConcurrencyPath"),
        tolerated_failure_count=fields.whole("ToleratedFailureCount"),
        tolerated_failure_count_path=fields.definite_path("ToleratedFailureCountPath"),
        tolerated_failure_percentage=fields.quantity("ToleratedFailurePercentage", 0, 100),
        tolerated_failure_percentage_path=fields.definite_path("ToleratedFailurePercentagePath"),
        distributed=distributed,
        label=_label(fields, distributed=distributed),
        unsupported=tuple(name for name in _UNSUPPORTED if name in fields),
        unsupported_readings=tuple(_unsupported(fields)),
        output=read_output(fields),
        assign=read_assign(fields, also=RESULT),
        on=read_on(fields),
        compensate=read_compensation(fields, adopting=distributed),
        adopts=distributed and adopts(fields),
    )


def _item_selector(fields: Fields) -> Template | QueryTemplate | None:
    if fields.queries:
        return fields.query_template("ItemSelector")
    return fields.template("ItemSelector") or fields.template("Parameters")


def _items(fields: Fields) -> QueryTemplate | None:
    value = fields.value.get("Items", [])
    if isinstance(value, str) and expression_in(value) is None:
        fields.findings.warn(
            Code.NO_PATH,
            "Expected an array or a JSONata expression: the state fails when it is reached",
            fields.at("Items"),
        )
    elif not isinstance(value, list | str):
        fields.wrong("Items", "Expected an array or a JSONata expression")
    return fields.query_template("Items")


def _distributed(processor: Fields) -> bool:
    processor.allow(_PROCESSOR)
    config = processor.object("ProcessorConfig")
    if config is None:
        return False
    config.allow(("Mode", "ExecutionType"))
    distributed = config.choice("Mode", "INLINE", "DISTRIBUTED") == "DISTRIBUTED"
    config.choice("ExecutionType", "STANDARD", "EXPRESS")
    if distributed:
        config.require("ExecutionType")
        config.findings.warn(
            Code.UNSUPPORTED,
            "Mode DISTRIBUTED runs as an inline fork, without a Map Run and its events",
            config.at("Mode"),
        )
    return distributed


def _label(fields: Fields, *, distributed: bool) -> str | None:
    label = fields.text("Label")
    if label is None:
        return None
    if not 0 < len(label) <= MOST_LABEL_CHARACTERS or _FORBIDDEN_IN_LABELS.search(label):
        fields.findings.error(
            Code.INVALID_LABEL_NAME,
            f"Label must have 1 to {MOST_LABEL_CHARACTERS} characters, none of them a blank,"
            ' a control character or one of ?*<>{}[]"#%\\^|~`$&,;:/',
            fields.at("Label"),
        )
    if not distributed:
        fields.findings.warn(
            Code.UNSUPPORTED, "Label has no effect without Mode DISTRIBUTED", fields.at("Label")
        )
    return label


def _unsupported(fields: Fields) -> Iterator[Part]:
    """Note what is wrong with what has no effect yet, and yield what is evaluated in it."""
    for name in _UNSUPPORTED:
        if name not in fields:
            continue
        inner = fields.object(name)
        if inner is not None:
            yield from (part for part in _UNSUPPORTED[name](inner) if part is not None)
        fields.findings.warn(
            Code.UNSUPPORTED,
            f"{name} comes with a later release: it has no effect",
            fields.at(name),
        )
