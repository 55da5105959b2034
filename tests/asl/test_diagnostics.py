"""Findings say where they belong, in JSON's way and in AWS's."""

from __future__ import annotations

import pytest

from orchestrator.asl.definition import parse
from orchestrator.asl.diagnostics import Code, Finding, Severity, child, refused


def finding(pointer: str | None, code: Code = Code.SCHEMA_VALIDATION_FAILED) -> Finding:
    return Finding(Severity.ERROR, code, "message", pointer)


@pytest.mark.parametrize(
    ("pointer", "location"),
    [
        ("", "/"),
        ("/States/X/Next", "/States/X/Next"),
        ("/States/X/Choices/0/Next", "/States/X/Choices[0]/Next"),
        ("/States/P/Branches/2/States/X/Catch/1", "/States/P/Branches[2]/States/X/Catch[1]"),
        ("/States/0/Choices/0/And/3/Variable", "/States/0/Choices[0]/And[3]/Variable"),
        ("/States/a~1b~0c~01/Type", "/States/a/b~c~1/Type"),
        (None, None),
    ],
)
def test_a_place_is_written_as_aws_writes_it(pointer: str | None, location: str | None) -> None:
    assert finding(pointer).location == location


def test_a_missing_end_of_the_machine_has_a_pointer_and_no_location() -> None:
    assert finding("", Code.MISSING_END_STATE).location is None
    assert finding("/States/P/Branches/0", Code.MISSING_END_STATE).location is not None


def test_a_finding_reads_as_create_state_machine_says_it() -> None:
    assert str(finding("/States/X")) == "SCHEMA_VALIDATION_FAILED: message at /States/X"
    assert str(finding("", Code.MISSING_END_STATE)) == "MISSING_END_STATE: message at null"


def test_faulty_json_is_located_in_its_source() -> None:
    (only,) = parse("not a definition").findings
    assert only.location == '[Source: (String)"not a definition"; line: 1, column: 4]'
    assert str(only) == f"INVALID_JSON_DESCRIPTION: {only.message}"
    assert only.message.endswith(f"\n at {only.location}")


def test_only_errors_refuse() -> None:
    warning = Finding(Severity.WARNING, Code.NO_DOLLAR, "message", "")
    assert not refused([])
    assert not refused([warning])
    assert refused([warning, finding("")])


def test_pointers_escape_what_json_pointers_escape() -> None:
    assert child(child("", "a/b"), "~1") == "/a~1b/~01"
    assert child("/a", 0) == "/a/0"
