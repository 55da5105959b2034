"""The parts of a distributed Map that are checked and have no effect yet."""

from __future__ import annotations

from orchestrator.asl.states.fields import Fields

MOST_ITEMS = 100_000_000
MOST_BATCH_BYTES = 256 * 1024
_LIMITS = ("MaxItemsPerBatch", "MaxInputBytesPerBatch")


def check_item_reader(reader: Fields) -> None:
    """Note what is wrong with an ItemReader."""
    reader.allow(("Resource", "Parameters", "ReaderConfig", "Comment"))
    reader.require("Resource")
    reader.text("Resource")
    reader.template("Parameters")
    config = reader.object("ReaderConfig")
    if config is not None:
        _check_reader_config(config)


def _check_reader_config(config: Fields) -> None:
    config.allow(
        (
            "InputType",
            "CSVHeaderLocation",
            "CSVHeaders",
            "CSVDelimiter",
            "MaxItems",
            "MaxItemsPath",
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
    config.integer("MaxItems", 0, MOST_ITEMS)
    config.definite_path("MaxItemsPath")
    config.text("ItemsPointer")
    config.choice("Transformation", "NONE", "LOAD_AND_FLATTEN")
    config.text("ManifestType")


def check_item_batcher(batcher: Fields) -> None:
    """Note what is wrong with an ItemBatcher."""
    batcher.allow((*_LIMITS, *(f"{limit}Path" for limit in _LIMITS), "BatchInput", "Comment"))
    for limit in _LIMITS:
        batcher.only_one_of(limit, f"{limit}Path")
        batcher.definite_path(f"{limit}Path")
    batcher.integer("MaxItemsPerBatch", 1)
    batcher.integer("MaxInputBytesPerBatch", 1, MOST_BATCH_BYTES)
    batcher.template("BatchInput")
    if not any(limit in batcher or f"{limit}Path" in batcher for limit in _LIMITS):
        batcher.findings.schema("An ItemBatcher needs a limit on items or bytes", batcher.pointer)


def check_result_writer(writer: Fields) -> None:
    """Note what is wrong with a ResultWriter."""
    writer.allow(("Resource", "Parameters", "WriterConfig", "Comment"))
    writer.text("Resource")
    writer.template("Parameters")
    config = writer.object("WriterConfig")
    if config is not None:
        config.allow(("Transformation", "OutputType"))
        config.choice("Transformation", "NONE", "COMPACT", "FLATTEN")
        config.choice("OutputType", "JSON", "JSONL")
