"""Everything that is bounded, by name."""

from __future__ import annotations

from dataclasses import dataclass

KIBIBYTE = 1024
MEBIBYTE = 1024 * KIBIBYTE


@dataclass(frozen=True, slots=True)
class Limits:
    """What an execution, a definition or an evaluation may use at most."""

    document_bytes: int = 8 * MEBIBYTE
    document_depth: int = 200
    integer_digits: int = 308
    definition_bytes: int = 1 * MEBIBYTE
    definition_depth: int = 64
    call_input_bytes: int = 64 * KIBIBYTE
    error_characters: int = 256
    cause_characters: int = 32 * KIBIBYTE
    history_events: int | None = None
    group_transitions: int = 200
    group_bytes: int = 4 * MEBIBYTE
    states_per_transaction: int = 1_000
    decision_bytes: int = 16 * MEBIBYTE
    """Documents with which one decision enters states; one that has taken in more rests."""
    kept_calls: int = 1_000
    frames: int = 50_000
    children: int = 10_000
    fork_bytes: int = 256 * MEBIBYTE
    """What ItemSelector makes for all iterations of a Map together."""
    nesting: int = 20
    on_entries: int = 100
    after_entries: int = 20
    deliveries: int = 5
    expression_seconds: float = 1.0
    expression_steps: int = 1_000_000
    state_evaluation_seconds: float = 5.0
    """JSONata of one state, together; a decision that has spent as much rests."""
    variable_bytes: int = 8 * MEBIBYTE
    """One variable, and all that one Assign assigns."""
    variables_bytes: int = 10 * MEBIBYTE
    """All variables that a state sees."""
    cached_revisions: int = 256
    wait_seconds: int = 24_855 * 86_400


DEFAULT = Limits()
"""What holds unless a setting says otherwise."""

STRICT_AWS = Limits(
    document_bytes=256 * KIBIBYTE, history_events=25_000, variable_bytes=256 * KIBIBYTE
)
"""The service quotas of AWS Step Functions."""

MOST_PATH_STEPS = 1_000_000
"""Values that one evaluation of a path, or one search in an array, may look at."""

MOST_CALL_NESTING = 10
"""How deep calls of intrinsic functions may stand in each other."""

MOST_RANGE_ITEMS = 1_000
"""Items that States.ArrayRange may make."""

MOST_QUERY_ITEMS = 1_000_000
"""Items of an array that a JSONata expression may make."""

MOST_QUERY_DEPTH = 500
"""How deep calls of a JSONata expression may stand in each other."""

MOST_TEXT_CHARACTERS = 10_000
"""Characters that States.Hash, States.Base64Encode and States.Base64Decode take."""

MOST_MADE_BYTES = 16 * MEBIBYTE
"""Text that one call of an intrinsic function may make."""

MOST_EVALUATION_STEPS = 10 * MOST_PATH_STEPS
"""Steps that all paths and calls of one template or rule may take together."""

LONGEST_DELAY_SECONDS = 31_622_400
"""The longest back-off, and the largest MaxDelaySeconds (366 days)."""
