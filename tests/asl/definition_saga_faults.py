"""States with one fault each in what they say of undoing."""

from __future__ import annotations

from orchestrator.asl.document import Json
from tests.asl.definition_faults import RESOURCE, SCHEMA
from tests.asl.definition_samples import (
    ADOPTING,
    AWAIT,
    CHOICE,
    COMPENSATE,
    COMPENSATED,
    FAIL,
    MAP,
    PARALLEL,
    PASS,
    QUERY_COMPENSATED,
    SUCCEED,
    TASK,
    WAIT,
    Object,
    changed,
    without,
)

UNDO: Object = {"Resource": "celery:undo"}


def undoing(sample: Object = COMPENSATED, **fields: Json) -> Object:
    """Return a Task with a changed compensation."""
    return changed(sample, Compensate={**UNDO, **fields})


NOT_OF_A_COMPENSATION: Object = {"Next": "Done", "End": True, "Catch": [], "Compensate": UNDO}


def pivot_inside() -> Object:
    """Return a Parallel with a pivot in its branch."""
    pivot: Object = {"Type": "Task", "Resource": "celery:pay", "Pivot": True, "End": True}
    return changed(PARALLEL, Branches=[{"StartAt": "Pay", "States": {"Pay": pivot}}])


PLACES: list[tuple[str, Json, str]] = [
    ("a compensation that is no object", changed(TASK, Compensate=1), "/Compensate"),
    ("a compensation that is false", changed(TASK, Compensate=False), "/Compensate"),
    ("a compensation of a child it has not", changed(TASK, Compensate=True), "/Compensate"),
    ("an adopted compensation of false", changed(ADOPTING, Compensate=False), "/Compensate"),
    ("a compensation of an inline Map's children", changed(MAP, Compensate=True), "/Compensate"),
    ("a compensation of a Parallel's child", changed(PARALLEL, Compensate=True), "/Compensate"),
    ("a compensation without a Resource", changed(TASK, Compensate={}), "/Compensate"),
    ("a compensation with Arguments in JSONPath", undoing(Arguments={}), "/Compensate"),
    (
        "a compensation with Parameters in JSONata",
        undoing(QUERY_COMPENSATED, Parameters={}),
        "/Compensate",
    ),
    (
        "a compensation with a timeout of 0",
        undoing(TimeoutSeconds=0),
        "/Compensate/TimeoutSeconds",
    ),
    ("a compensation with a bad Retry", undoing(Retry=[{}]), "/Compensate/Retry/0"),
    (
        "a compensation that waits for an answer",
        undoing(Resource="arn:aws:states:::sqs:sendMessage.waitForTaskToken"),
        "/Compensate/Resource",
    ),
    (
        "a compensation with an error",
        undoing(QUERY_COMPENSATED, Arguments="{% $states.errorOutput %}"),
        "/Compensate/Arguments",
    ),
    (
        "CompensateUnknown of text",
        changed(COMPENSATED, CompensateUnknown="x"),
        "/CompensateUnknown",
    ),
    (
        "CompensateUnknown of nothing",
        without(COMPENSATED, "Compensate"),
        "/CompensateUnknown",
    ),
    (
        "CompensateUnknown of a child's",
        changed(ADOPTING, CompensateUnknown=True),
        "/CompensateUnknown",
    ),
    ("a pivot of text", changed(TASK, Pivot="yes"), "/Pivot"),
    ("a pivot in a branch", pivot_inside(), "/Branches/0/States/Pay/Pivot"),
    (
        "a Catcher with a compensation of its own",
        changed(TASK, Catch=[{"ErrorEquals": ["E"], "Next": "Done", "Compensate": UNDO}]),
        "/Catch/0/Compensate",
    ),
    ("neither Next nor End of a Compensate", without(COMPENSATE, "Next"), ""),
    ("both Next and End of a Compensate", changed(COMPENSATE, End=True), ""),
]

WORDS: list[tuple[str, Json, str, str, str]] = [
    *(
        (
            f"Compensate on a {sample['Type']}",
            changed(sample, Compensate=UNDO),
            SCHEMA,
            "Field 'Compensate' is not supported",
            "",
        )
        for sample in (AWAIT, CHOICE, COMPENSATE, FAIL, PASS, SUCCEED, WAIT)
    ),
    *(
        (
            f"{field} on a {sample['Type']}",
            changed(sample, **{field: True}),
            SCHEMA,
            f"Field '{field}' is not supported",
            "",
        )
        for sample in (MAP, PARALLEL, PASS)
        for field in ("CompensateUnknown", "Pivot")
    ),
    *(
        (
            f"a compensation with {field}",
            changed(COMPENSATED, Compensate={**UNDO, field: value}),
            SCHEMA,
            f"Field '{field}' is not supported",
            "/Compensate",
        )
        for field, value in NOT_OF_A_COMPENSATION.items()
    ),
    (
        "a Retrier with Compensate",
        changed(PARALLEL, Retry=[{"ErrorEquals": ["E"], "Compensate": True}]),
        SCHEMA,
        "Field 'Compensate' is not supported",
        "/Retry/0",
    ),
    (
        "Output of a Compensate",
        changed(COMPENSATE, QueryLanguage="JSONata", Output={}),
        SCHEMA,
        "Field 'Output' is not supported",
        "",
    ),
    (
        "a result for Arguments beside a compensation",
        changed(QUERY_COMPENSATED, Arguments="{% $states.result %}"),
        SCHEMA,
        "$states.result is not available in the field 'Arguments'",
        "/Arguments",
    ),
    (
        "a compensation of unknown resource",
        undoing(Resource="celery:"),
        RESOURCE,
        "A Celery task's name has 1 to 255 characters and no blanks",
        "/Compensate/Resource",
    ),
]
