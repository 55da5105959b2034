"""States of JSONata with exactly one fault each, for the tests of the parser and of the schema."""

from __future__ import annotations

from orchestrator.asl.document import Json
from tests.asl.definition_faults import SCHEMA
from tests.asl.definition_samples import (
    QUERY_CHOICE,
    QUERY_FAIL,
    QUERY_MAP,
    QUERY_PASS,
    QUERY_SUCCEED,
    QUERY_TASK,
    QUERY_WAIT,
    Object,
    changed,
    without,
)


def condition(**fields: Json) -> Object:
    """Return a Choice with one rule."""
    entry: Object = {"Next": "Done"}
    return changed(QUERY_CHOICE, Choices=[{**entry, **fields}])


OTHER_LANGUAGE = (
    "The QueryLanguage is set to 'JSONata', but field 'ResultPath' is only supported for the"
    " 'JSONPath' QueryLanguage"
)
PLACES: list[tuple[str, Json, str]] = [
    ("an expression that is none", changed(QUERY_PASS, Output="{% 1 + %}"), "/Output"),
    (
        "an expression that is none deep inside",
        changed(QUERY_PASS, Output={"a": [1, {"b": "{% ( %}"}]}),
        "/Output/a/1/b",
    ),
    ("an expression that evaluates", changed(QUERY_PASS, Output="{% $eval('1') %}"), "/Output"),
    ("an expression on no input", changed(QUERY_PASS, Output="{% $.a %}"), "/Output"),
    ("an expression that begins with $$", changed(QUERY_PASS, Output="{% $$ %}"), "/Output"),
    (
        "a result before there is one",
        changed(QUERY_PASS, Output="{% $states.result %}"),
        "/Output",
    ),
    (
        "a result for Arguments",
        changed(QUERY_TASK, Arguments={"a": "{% $states.result %}"}),
        "/Arguments",
    ),
    (
        "an error where there is none",
        changed(QUERY_PASS, Assign={"a": "{% $states.errorOutput %}"}),
        "/Assign",
    ),
    (
        "a duration that is no expression",
        changed(without(QUERY_WAIT, "Timestamp"), Seconds="{% five( %}"),
        "/Seconds",
    ),
    ("a condition that is a number", condition(Condition=1), "/Choices/0/Condition"),
    ("a condition without braces", condition(Condition="true"), "/Choices/0/Condition"),
    ("a rule without a condition", condition(Comment="when?"), "/Choices/0"),
    ("a rule of paths", condition(Condition=True, Variable="$.a"), "/Choices/0"),
    ("items that are an object", changed(QUERY_MAP, Items={}), "/Items"),
    ("a timeout in plain words", changed(QUERY_TASK, TimeoutSeconds="5"), "/TimeoutSeconds"),
    ("a variable that is a path", changed(QUERY_PASS, Assign={"a.$": "$.x"}), "/Assign/a.$"),
    ("a role that is a path", changed(QUERY_TASK, Credentials={"RoleArn.$": "$"}), "/Credentials"),
    ("a cause that is no expression", changed(QUERY_FAIL, Cause="{% a( %}"), "/Cause"),
]
WORDS: list[tuple[str, Json, str, str, str]] = [
    *(
        (
            f"{field} in JSONata",
            changed(sample, **{field: "$.a"}),
            SCHEMA,
            OTHER_LANGUAGE.replace("ResultPath", field),
            "",
        )
        for sample, field in (
            (QUERY_PASS, "InputPath"),
            (QUERY_PASS, "ResultPath"),
            (QUERY_PASS, "Result"),
            (QUERY_PASS, "Parameters"),
            (QUERY_TASK, "ResultSelector"),
            (QUERY_MAP, "ItemsPath"),
            (QUERY_SUCCEED, "OutputPath"),
        )
    ),
    (
        "Output on a Fail of JSONata",
        changed(QUERY_FAIL, Output=1),
        SCHEMA,
        "Field 'Output' is not supported",
        "",
    ),
    (
        "Arguments on a Pass",
        changed(QUERY_PASS, Arguments=1),
        SCHEMA,
        "Field 'Arguments' is not supported",
        "",
    ),
    (
        "ResultPath in a Catcher of JSONata",
        changed(QUERY_TASK, Catch=[{"ErrorEquals": ["E"], "ResultPath": "$.e", "Next": "Done"}]),
        SCHEMA,
        OTHER_LANGUAGE,
        "/Catch/0",
    ),
]
