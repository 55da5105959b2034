"""Parallel and Map states with exactly one fault each, for the tests of parser and schema."""

from __future__ import annotations

from orchestrator.asl.document import Json
from tests.asl.definition_faults import LABEL, LABEL_WORDS, READER, REQUIRED, SCHEMA, TARGET
from tests.asl.definition_samples import (
    BRANCH,
    DISTRIBUTED,
    MAP,
    PARALLEL,
    PASS,
    SUCCEED,
    Object,
    changed,
    without,
)

_PARTS: list[tuple[str, str, Json, str]] = [
    ("an unknown field of a reader", "ItemReader", {"Resource": READER, "X": 1}, ""),
    ("a reader without a resource", "ItemReader", {}, ""),
    ("a reader's resource of a wrong type", "ItemReader", {"Resource": 1}, "/Resource"),
    (
        "a reader's template with a fault",
        "ItemReader",
        {"Resource": READER, "Parameters": {"x.$": 1}},
        "/Parameters",
    ),
    ("a batcher's unknown field", "ItemBatcher", {"MaxItemsPerBatch": 1, "X": 1}, ""),
    ("a batch of nothing", "ItemBatcher", {"MaxItemsPerBatch": 0}, "/MaxItemsPerBatch"),
    (
        "a batcher's bound given twice",
        "ItemBatcher",
        {"MaxItemsPerBatch": 1, "MaxItemsPerBatchPath": "$.n"},
        "",
    ),
    (
        "a batcher's path that is none",
        "ItemBatcher",
        {"MaxItemsPerBatchPath": "n"},
        "/MaxItemsPerBatchPath",
    ),
    (
        "a batcher's template with a fault",
        "ItemBatcher",
        {"MaxItemsPerBatch": 1, "BatchInput": {"x.$": 1}},
        "/BatchInput",
    ),
    ("a batcher that is no object", "ItemBatcher", [], ""),
    ("an unknown field of a writer", "ResultWriter", {"X": 1}, ""),
    ("a writer's resource of a wrong type", "ResultWriter", {"Resource": 1}, "/Resource"),
    ("a writer's template with a fault", "ResultWriter", {"Parameters": {"x.$": 1}}, "/Parameters"),
    ("a writer's unknown setting", "ResultWriter", {"WriterConfig": {"X": 1}}, "/WriterConfig"),
    (
        "a writer's unknown transformation",
        "ResultWriter",
        {"WriterConfig": {"Transformation": "ZIP"}},
        "/WriterConfig/Transformation",
    ),
]
_SETTINGS: list[tuple[str, Json]] = [
    ("InputType", "XML"),
    ("CSVHeaderLocation", "LAST_ROW"),
    ("CSVHeaders", []),
    ("CSVDelimiter", "DOT"),
    ("MaxItems", -1),
    ("MaxItemsPath", "n"),
    ("ItemsPointer", 1),
    ("Transformation", "ZIP"),
    ("ManifestType", 1),
]


def _reader(name: str, value: Json) -> tuple[str, Json, str]:
    reader: Object = {"Resource": READER, "ReaderConfig": {name: value}}
    state = changed(DISTRIBUTED, ItemReader=reader)
    return f"a reader with a wrong {name}", state, f"/ItemReader/ReaderConfig/{name}"


PLACES: list[tuple[str, Json, str]] = [
    *(
        (what, changed(DISTRIBUTED, **{part: value}), f"/{part}{place}")
        for what, part, value, place in _PARTS
    ),
    *(_reader(name, value) for name, value in _SETTINGS),
    (
        "an unknown setting of a processor",
        changed(MAP, ItemProcessor={**BRANCH, "ProcessorConfig": {"X": 1}}),
        "/ItemProcessor/ProcessorConfig",
    ),
    (
        "an unknown ExecutionType",
        changed(MAP, ItemProcessor={**BRANCH, "ProcessorConfig": {"ExecutionType": "SLOW"}}),
        "/ItemProcessor/ProcessorConfig/ExecutionType",
    ),
    (
        "a reader with an unknown setting",
        changed(DISTRIBUTED, ItemReader={"Resource": READER, "ReaderConfig": {"X": 1}}),
        "/ItemReader/ReaderConfig",
    ),
    ("a branch that is no object", changed(PARALLEL, Branches=[BRANCH, "b"]), "/Branches/1"),
    ("no processor", without(MAP, "ItemProcessor"), ""),
    ("two processors", changed(MAP, Iterator={"StartAt": "I", "States": {"I": SUCCEED}}), ""),
    ("a processor that is no object", changed(MAP, ItemProcessor=[]), "/ItemProcessor"),
    ("two selectors", changed(MAP, Parameters={}), ""),
    ("a negative MaxConcurrency", changed(MAP, MaxConcurrency=-1), "/MaxConcurrency"),
    ("MaxConcurrency given twice", changed(MAP, MaxConcurrencyPath="$.c"), ""),
    (
        "a percentage over 100",
        changed(MAP, ToleratedFailurePercentage=100.1),
        "/ToleratedFailurePercentage",
    ),
    (
        "a tolerated count with a fraction",
        changed(MAP, ToleratedFailureCount=1.5),
        "/ToleratedFailureCount",
    ),
    ("a null ItemsPath", changed(MAP, ItemsPath=None), "/ItemsPath"),
    (
        "an unknown Mode",
        changed(MAP, ItemProcessor={**BRANCH, "ProcessorConfig": {"Mode": "FAST"}}),
        "/ItemProcessor/ProcessorConfig/Mode",
    ),
    (
        "a reader with a bound given twice",
        changed(
            DISTRIBUTED,
            ItemReader={"Resource": READER, "ReaderConfig": {"MaxItems": 1, "MaxItemsPath": "$.n"}},
        ),
        "/ItemReader/ReaderConfig",
    ),
    (
        "a reader of an unknown format",
        changed(DISTRIBUTED, ItemReader={"Resource": READER, "ReaderConfig": {"InputType": "XML"}}),
        "/ItemReader/ReaderConfig/InputType",
    ),
    ("a batcher without a limit", changed(DISTRIBUTED, ItemBatcher={}), "/ItemBatcher"),
    (
        "a batch of more than 256 KiB",
        changed(DISTRIBUTED, ItemBatcher={"MaxInputBytesPerBatch": 262145}),
        "/ItemBatcher/MaxInputBytesPerBatch",
    ),
    (
        "a writer of an unknown format",
        changed(DISTRIBUTED, ResultWriter={"WriterConfig": {"OutputType": "XML"}}),
        "/ResultWriter/WriterConfig/OutputType",
    ),
]
"""What it is, the state, and the place of the fault in it; the words are not ours to fix."""

WORDS: list[tuple[str, Json, str, str, str]] = [
    (
        "a field of another type of state",
        changed(MAP, TimeoutSeconds=5),
        SCHEMA,
        "Field 'TimeoutSeconds' is not supported",
        "",
    ),
    (
        "a target inside a branch",
        changed(PARALLEL, Catch=[{"ErrorEquals": ["E"], "Next": "Inner"}]),
        TARGET,
        "Missing 'Next' target: Inner",
        "/Catch/0/Next",
    ),
    ("no Branches", without(PARALLEL, "Branches"), SCHEMA, REQUIRED + "[Branches]", ""),
    (
        "empty Branches",
        changed(PARALLEL, Branches=[]),
        SCHEMA,
        "Value cannot be empty",
        "/Branches",
    ),
    (
        "an unknown field of a branch",
        changed(PARALLEL, Branches=[{**BRANCH, "QueryLanguage": "JSONPath"}]),
        SCHEMA,
        "Field 'QueryLanguage' is not supported",
        "/Branches/0",
    ),
    (
        "a branch without a start",
        changed(PARALLEL, Branches=[without(BRANCH, "StartAt")]),
        SCHEMA,
        REQUIRED + "[StartAt]",
        "/Branches/0",
    ),
    (
        "a branch without an end",
        changed(
            PARALLEL, Branches=[{"StartAt": "L", "States": {"L": {"Type": "Pass", "Next": "L"}}}]
        ),
        "MISSING_END_STATE",
        "Workflow has no terminal state",
        "/Branches/0",
    ),
    (
        "a name used inside and outside",
        changed(PARALLEL, Branches=[{"StartAt": "X", "States": {"X": PASS}}]),
        "DUPLICATE_STATE_NAME",
        "Duplicate state name: X",
        "/Branches/0/States/X",
    ),
    (
        "DISTRIBUTED without an ExecutionType",
        changed(MAP, ItemProcessor={**BRANCH, "ProcessorConfig": {"Mode": "DISTRIBUTED"}}),
        SCHEMA,
        REQUIRED + "[ExecutionType]",
        "/ItemProcessor/ProcessorConfig",
    ),
    (
        "a language for the processor",
        changed(MAP, ItemProcessor={**BRANCH, "QueryLanguage": "JSONPath"}),
        SCHEMA,
        "Field 'QueryLanguage' is not supported",
        "/ItemProcessor",
    ),
    ("a long Label", changed(DISTRIBUTED, Label="L" * 41), LABEL, LABEL_WORDS, "/Label"),
    ("a Label with a blank", changed(DISTRIBUTED, Label="a b"), LABEL, LABEL_WORDS, "/Label"),
]
"""What it is, the state, and code, words and place of the fault."""
