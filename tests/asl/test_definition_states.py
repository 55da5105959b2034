"""Every fault of a state is found at its place, with AWS's code and words where they are known."""

from __future__ import annotations

import pytest

from orchestrator.asl.document import Json
from tests.asl import (
    definition_faults,
    definition_fork_faults,
    definition_query_faults,
    definition_saga_faults,
)
from tests.asl.definition_faults import SCHEMA
from tests.asl.definition_samples import errors, machine

PLACES = (
    definition_faults.PLACES
    + definition_fork_faults.PLACES
    + definition_query_faults.PLACES
    + definition_saga_faults.PLACES
)
WORDS = (
    definition_faults.WORDS
    + definition_fork_faults.WORDS
    + definition_query_faults.WORDS
    + definition_saga_faults.WORDS
)


@pytest.mark.parametrize(
    ("state", "place"), [case[1:] for case in PLACES], ids=[case[0] for case in PLACES]
)
def test_a_fault_is_found_at_its_place(state: Json, place: str) -> None:
    found = [(code, pointer) for code, _, pointer in _own_errors(state)]
    assert found == [(SCHEMA, f"/States/X{place}")]


@pytest.mark.parametrize(
    ("state", "code", "words", "place"),
    [case[1:] for case in WORDS],
    ids=[case[0] for case in WORDS],
)
def test_a_fault_is_told_in_the_words_of_aws(
    state: Json, code: str, words: str, place: str
) -> None:
    assert _own_errors(state) == [(code, words, f"/States/X{place}")]


def _own_errors(state: Json) -> list[tuple[str, str, str | None]]:
    """Return the errors but those that only follow: what is not read leads nowhere."""
    return [
        (code, words, pointer)
        for code, words, pointer in errors(machine(state))
        if words != 'State "Done" is not reachable.'
        and (code, pointer) != ("MISSING_END_STATE", "")
    ]
