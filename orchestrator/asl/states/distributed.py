"""The parts of a distributed Map that are checked and have no effect yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from orchestrator.asl.jsonata import Query
from orchestrator.asl.paths import Path
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states.fields import Fields
from orchestrator.asl.states.quantity import Quantity
from orchestrator.asl.templates import Template

Part: TypeAlias = Path | Template | QueryTemplate | Query
"""What is evaluated in these parts."""

MOST_ITEMS = 100_000_000
MOST_BATCH_BYTES = 256 * 1024
_LIMITS = ("MaxItemsPerBatch", "MaxInputBytesPerBatch")


def check_item_reader(reader: Fields) -> Iterator[Part | None]:
    """Note what is wrong with an ItemReader, and yield what is evaluated in it."""
    yield _check_source(reader, "ReaderConfig")
    reader.require("Resource")
    config = reader.object("ReaderConfig")
    if config is not None:
        yield from _check_reader_config(config)


def _check_source(fields: Fields, config: str) -> Part | None:
    """Note what is wrong with what readers and writers share: a resource and its arguments."""
    arguments = "Arguments" if fields.queries else "Parameters"
    fields.allow(("Resource", arguments, config, "Comment"))
    fields.text("Resource")
    if fields.queries:
        return fields.query_template(arguments)
    return fields.template(arguments)


def _queried(quantity: Quantity | None) -> Query | None:
    return quantity if isinstance(quantity, Query) else None


def _check_reader_config(config: Fields) -> Iterator[Part | None]:
    config.allow(
        (
            "InputType",
            "CSVHeaderLocation",
            "CSVHeaders",
            "CSVDelimiter",
            "MaxItems",
            *(() if config.queries else ("MaxItemsPath",)),
            "ItemsPointer",
            "Transformation",
            "ManifestType",
        )
    )
    config.choice("InputType", "CSV", "JSON", "JSONL", "PARQUET", "MANIFEST")
    config.choice("CSVHeaderLocation", "FIRST_ROW", "GIVEN")
    config.array("CSVHeaders", filled=True)
    config.choice("CSVDelimiter", "COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB")
    config.only_one_of("MaxItems", "MaxItemsPath")
    yield _queried(config.whole("MaxItems", 0, MOST_ITEMS))
    yield config.definite_path("MaxItemsPath")
    config.text("ItemsPointer")
    config.choice("Transformation", "NONE", "LOAD_AND_FLATTEN")
    config.text("ManifestType")


def check_item_batcher(batcher: Fields) -> Iterator[Part | None]:
    """Note what is wrong with an ItemBatcher, and yield what is evaluated in it."""
    paths = () if batcher.queries else tuple(f"{limit}Path" for limit in _LIMITS)
    batcher.allow((*_LIMITS, *paths, "BatchInput", "Comment"))
    for limit in _LIMITS:
        batcher.only_one_of(limit, f"{limit}Path")
        yield batcher.definite_path(f"{limit}Path")
    yield _queried(batcher.whole("MaxItemsPerBatch", 1))
    yield _queried(batcher.whole("MaxInputBytesPerBatch", 1, MOST_BATCH_BYTES))
    if batcher.queries:
        yield batcher.query_template("BatchInput")
    else:
        yield batcher.template("BatchInput")
    if not any(limit in batcher or f"{limit}Path" in batcher for limit in _LIMITS):
        batcher.findings.schema("An ItemBatcher needs a limit on items or bytes", batcher.pointer)


def check_result_writer(writer: Fields) -> Iterator[Part | None]:
    """Note what is wrong with a ResultWriter, and yield what is evaluated in it."""
    yield _check_source(writer, "WriterConfig")
    config = writer.object("WriterConfig")
    if config is not None:
        config.allow(("Transformation", "OutputType"))
        config.choice("Transformation", "NONE", "COMPACT", "FLATTEN")
        config.choice("OutputType", "JSON", "JSONL")
