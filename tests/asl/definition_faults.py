"""States with exactly one fault each, for the tests of the parser and of the schema."""

from __future__ import annotations

from orchestrator.asl.document import Json
from tests.asl.definition_samples import (
    CHOICE,
    FAIL,
    PASS,
    SUCCEED,
    TASK,
    WAIT,
    Object,
    changed,
    without,
)

SCHEMA = "SCHEMA_VALIDATION_FAILED"
TARGET = "MISSING_TRANSITION_TARGET"
RESOURCE = "INVALID_RESOURCE"
LABEL = "INVALID_LABEL_NAME"
REQUIRED = "These fields are required: "
ONE_OF = "should have one of these values: "
TYPES = "Task, Wait, Await, Compensate, Pass, Succeed, Fail, Choice, Parallel, Map"
NOT_A_PATH = "must be a valid JSONPath or a valid intrinsic function call"
LABEL_WORDS = (
    "Label must have 1 to 40 characters, none of them a blank, a control character or one of"
    ' ?*<>{}[]"#%\\^|~`$&,;:/'
)
OTHER_LANGUAGE = (
    "The QueryLanguage is set to 'JSONPath', but field 'Output' is only supported for the"
    " 'JSONata' QueryLanguage"
)
READER = "arn:aws:states:::s3:getObject"


def retrier(**fields: Json) -> Object:
    """Return a Task with one Retrier."""
    entry: Object = {"ErrorEquals": ["Busy"]}
    return changed(TASK, Retry=[{**entry, **fields}])


def catcher(**fields: Json) -> Object:
    """Return a Task with one Catcher."""
    entry: Object = {"ErrorEquals": ["Busy"], "Next": "Done"}
    return changed(TASK, Catch=[{**entry, **fields}])


def rule(**fields: Json) -> Object:
    """Return a Choice with one rule."""
    entry: Object = {"Variable": "$.a", "Next": "Done"}
    return changed(CHOICE, Choices=[{**entry, **fields}])


PLACES: list[tuple[str, Json, str]] = [
    (
        "an unknown field of credentials",
        changed(TASK, Credentials={"RoleArn": "r", "X": 1}),
        "/Credentials",
    ),
    ("a type of the wrong type", {"Type": 1, "End": True}, "/Type"),
    ("a comment that is no string", changed(PASS, Comment=1), "/Comment"),
    ("neither Next nor End", without(PASS, "End"), ""),
    ("End false alone", changed(PASS, End=False), ""),
    ("both Next and End", changed(PASS, Next="X"), ""),
    ("Next on a Succeed", changed(SUCCEED, Next="X"), ""),
    ("End on a Fail", changed(FAIL, End=True), ""),
    ("an End that is no boolean", changed(PASS, End=1, Next="Done"), "/End"),
    ("a path that is none", changed(PASS, InputPath="a.b"), "/InputPath"),
    ("a path of a wrong type", changed(PASS, OutputPath=1), "/OutputPath"),
    ("a ResultPath to several places", changed(PASS, ResultPath="$.a[*]"), "/ResultPath"),
    (
        "a template field given twice",
        changed(PASS, Parameters={"x": 1, "x.$": "$.x"}),
        "/Parameters",
    ),
    ("a Resource of a wrong type", changed(TASK, Resource={}), "/Resource"),
    ("credentials that are null", changed(TASK, Credentials=None), "/Credentials"),
    ("a timeout of 0", changed(TASK, TimeoutSeconds=0, HeartbeatSeconds=1), "/TimeoutSeconds"),
    ("a timeout that is a boolean", changed(TASK, TimeoutSeconds=True), "/TimeoutSeconds"),
    ("a timeout with a fraction", changed(TASK, TimeoutSeconds=60.5), "/TimeoutSeconds"),
    ("a timeout that is a string", changed(TASK, TimeoutSeconds="60"), "/TimeoutSeconds"),
    ("a timeout beyond all bounds", changed(TASK, TimeoutSeconds=10**300), "/TimeoutSeconds"),
    ("a timeout given twice", changed(TASK, TimeoutSecondsPath="$.t"), ""),
    ("a heartbeat given twice", changed(TASK, HeartbeatSecondsPath="$.t"), ""),
    (
        "a null timeout path",
        changed(without(TASK, "TimeoutSeconds"), TimeoutSecondsPath=None),
        "/TimeoutSecondsPath",
    ),
    ("a heartbeat as long as the timeout", changed(TASK, HeartbeatSeconds=60), "/HeartbeatSeconds"),
    ("a Retry that is no array", changed(TASK, Retry={}), "/Retry"),
    ("a Retrier that is no object", changed(TASK, Retry=[1]), "/Retry/0"),
    ("a Retrier without errors", changed(TASK, Retry=[{}]), "/Retry/0"),
    ("an error that is no string", retrier(ErrorEquals=[True]), "/Retry/0/ErrorEquals/0"),
    ("States.ALL not alone", retrier(ErrorEquals=["States.ALL", "E"]), "/Retry/0/ErrorEquals"),
    (
        "States.ALL not in the last Retrier",
        changed(TASK, Retry=[{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["E"]}]),
        "/Retry/0/ErrorEquals",
    ),
    (
        "States.ALL not in the last Catcher",
        changed(
            TASK,
            Catch=[
                {"ErrorEquals": ["States.ALL"], "Next": "Done"},
                {"ErrorEquals": ["E"], "Next": "Done"},
            ],
        ),
        "/Catch/0/ErrorEquals",
    ),
    ("an interval of 0", retrier(IntervalSeconds=0), "/Retry/0/IntervalSeconds"),
    ("a negative number of attempts", retrier(MaxAttempts=-1), "/Retry/0/MaxAttempts"),
    ("a rate below 1", retrier(BackoffRate=0.5), "/Retry/0/BackoffRate"),
    (
        "a longest delay beyond a year",
        retrier(MaxDelaySeconds=31622401),
        "/Retry/0/MaxDelaySeconds",
    ),
    ("an unknown jitter", retrier(JitterStrategy="HALF"), "/Retry/0/JitterStrategy"),
    ("a Catcher without Next", changed(TASK, Catch=[{"ErrorEquals": ["E"]}]), "/Catch/0"),
    ("a rule that is no object", changed(CHOICE, Choices=[1]), "/Choices/0"),
    (
        "a rule without Next",
        changed(CHOICE, Choices=[{"Variable": "$", "IsNull": True}]),
        "/Choices/0",
    ),
    ("a Next that is no string", rule(IsNull=True, Next={}), "/Choices/0/Next"),
    ("a rule without an operator", rule(), "/Choices/0"),
    ("a rule with two operators", rule(IsNull=True, IsString=True), "/Choices/0"),
    ("a comparand of the wrong type", rule(NumericEquals=[1]), "/Choices/0/NumericEquals"),
    ("a variable with two words", changed(PASS, Assign={"a b": 1}), "/Assign/a b"),
    ("a variable inside another", changed(PASS, Assign={"a.b.$": "$.x"}), "/Assign/a.b.$"),
    ("a variable of a reserved name", changed(PASS, Assign={"states": 1}), "/Assign/states"),
    ("a variable with a long name", changed(PASS, Assign={"a" * 81: 1}), f"/Assign/{'a' * 81}"),
    ("an Assign that is no object", changed(PASS, Assign=[]), "/Assign"),
    ("a value that is no path", changed(PASS, Assign={"a.$": "x"}), "/Assign"),
    ("a result in a variable", changed(PASS, ResultPath="$a"), "/ResultPath"),
    ("a timestamp that is none", rule(TimestampEquals="yesterday"), "/Choices/0/TimestampEquals"),
    ("a path that is none in a rule", rule(StringEqualsPath="a"), "/Choices/0/StringEqualsPath"),
    (
        "a function as a variable",
        rule(Variable="States.UUID()", IsNull=True),
        "/Choices/0/Variable",
    ),
    ("a condition of the other language", rule(IsNull=True, Condition="{% true %}"), "/Choices/0"),
    ("a rule with a comment that is no string", rule(IsNull=True, Comment=1), "/Choices/0/Comment"),
    (
        "an And that is no array",
        changed(CHOICE, Choices=[{"And": {}, "Next": "Done"}]),
        "/Choices/0/And",
    ),
    (
        "an Or with what is no rule",
        changed(CHOICE, Choices=[{"Or": [1], "Next": "Done"}]),
        "/Choices/0/Or/0",
    ),
    (
        "a comment of a rule inside that is no string",
        changed(
            CHOICE,
            Choices=[{"Or": [{"Variable": "$", "IsNull": True, "Comment": 1}], "Next": "Done"}],
        ),
        "/Choices/0/Or/0/Comment",
    ),
    ("an empty And", changed(CHOICE, Choices=[{"And": [], "Next": "Done"}]), "/Choices/0/And"),
    ("a Wait without a duration", without(WAIT, "Seconds"), ""),
    ("a Wait with two durations", changed(WAIT, SecondsPath="$.s"), ""),
    ("negative Seconds", changed(WAIT, Seconds=-1), "/Seconds"),
    ("Seconds beyond all bounds", changed(WAIT, Seconds=100000000), "/Seconds"),
    ("Error given twice", changed(FAIL, ErrorPath="$.e"), ""),
    ("Cause given twice", changed(FAIL, Cause="c"), ""),
    (
        "a cause from a function of numbers",
        changed(FAIL, CausePath="States.MathAdd(1, 2)"),
        "/CausePath",
    ),
    ("an error that is a number", changed(FAIL, Error=5), "/Error"),
]
"""What it is, the state, and the place of the fault in it; the words are not ours to fix."""

WORDS: list[tuple[str, Json, str, str, str]] = [
    ("no object", 3, SCHEMA, "Expected an object", ""),
    ("no type", without(PASS, "Type"), SCHEMA, REQUIRED + "[Type]", ""),
    (
        "an unknown type",
        {"Type": "Loop", "End": True},
        SCHEMA,
        f"The field 'Type' {ONE_OF}[{TYPES}]",
        "/Type",
    ),
    ("an unknown field", changed(PASS, OnExit=[]), SCHEMA, "Field 'OnExit' is not supported", ""),
    (
        "a field of the other language",
        changed(PASS, Output="{% 1 %}"),
        SCHEMA,
        OTHER_LANGUAGE,
        "",
    ),
    (
        "an unknown language",
        changed(PASS, QueryLanguage="SQL"),
        SCHEMA,
        f"The field 'QueryLanguage' {ONE_OF}[JSONPath, JSONata]",
        "/QueryLanguage",
    ),
    (
        "Assign on a Succeed",
        changed(SUCCEED, Assign={}),
        SCHEMA,
        "Field 'Assign' is not supported",
        "",
    ),
    (
        "an unknown Next",
        changed(TASK, Next="Nowhere"),
        TARGET,
        "Missing 'Next' target: Nowhere",
        "/Next",
    ),
    (
        "an unknown Default",
        changed(CHOICE, Default="Nowhere"),
        TARGET,
        "Missing 'Next' target: Nowhere",
        "/Default",
    ),
    (
        "an unknown target of a rule",
        changed(CHOICE, Choices=[{"Variable": "$", "IsNull": True, "Next": "Nowhere"}]),
        TARGET,
        "Missing 'Next' target: Nowhere",
        "/Choices/0/Next",
    ),
    (
        "an unknown target of a Catcher",
        catcher(Next="Nowhere"),
        TARGET,
        "Missing 'Next' target: Nowhere",
        "/Catch/0/Next",
    ),
    (
        "a ResultPath into the context",
        changed(PASS, ResultPath="$$.a"),
        SCHEMA,
        "A result cannot be placed into the context object",
        "/ResultPath",
    ),
    (
        "a template field that is no path",
        changed(PASS, Parameters={"deep": [{"x.$": "plain"}]}),
        SCHEMA,
        f"The value for the field 'x.$' {NOT_A_PATH}",
        "/Parameters/deep/0",
    ),
    (
        "an illegal escape",
        changed(PASS, Parameters={"x.$": "States.Format('\\d')"}),
        SCHEMA,
        f"The value for the field 'x.$' {NOT_A_PATH}",
        "/Parameters",
    ),
    (
        "an unknown function",
        changed(TASK, ResultSelector={"x.$": "States.Nothing(1)"}),
        SCHEMA,
        f"The value for the field 'x.$' {NOT_A_PATH}",
        "/ResultSelector",
    ),
    ("no Resource", without(TASK, "Resource"), SCHEMA, REQUIRED + "[Resource]", ""),
    (
        "an empty Resource",
        changed(TASK, Resource=""),
        RESOURCE,
        "Value is not a valid resource ARN",
        "/Resource",
    ),
    (
        "a Resource with a control character",
        changed(TASK, Resource="celery:a\nb"),
        RESOURCE,
        "Value is not a valid resource ARN",
        "/Resource",
    ),
    (
        "a function without a name",
        changed(TASK, Resource="arn:aws:states:::lambda:invoke", Parameters={"Payload": 1}),
        SCHEMA,
        "The field 'FunctionName' is required but was missing",
        "/Parameters",
    ),
    (
        "an execution of no machine",
        changed(TASK, Resource="arn:aws:states:::states:startExecution.sync", Parameters={}),
        SCHEMA,
        "The field 'StateMachineArn' is required but was missing",
        "/Parameters",
    ),
    (
        "credentials without a role",
        changed(TASK, Credentials={}),
        SCHEMA,
        "The field 'RoleArn' is required but was missing",
        "/Credentials",
    ),
    (
        "a timeout path of many values",
        changed(without(TASK, "TimeoutSeconds"), TimeoutSecondsPath="$..t"),
        SCHEMA,
        "Value is not a Reference Path",
        "/TimeoutSecondsPath",
    ),
    (
        "a Retrier with an empty list",
        retrier(ErrorEquals=[]),
        SCHEMA,
        "Value cannot be empty",
        "/Retry/0/ErrorEquals",
    ),
    (
        "an unknown field of a Retrier",
        retrier(Next="Done"),
        SCHEMA,
        "Field 'Next' is not supported",
        "/Retry/0",
    ),
    (
        "an unknown field of a Catcher",
        catcher(Undo=True),
        SCHEMA,
        "Field 'Undo' is not supported",
        "/Catch/0",
    ),
    ("Output in a Catcher", catcher(Output={}), SCHEMA, OTHER_LANGUAGE, "/Catch/0"),
    ("Retry on a Pass", changed(PASS, Retry=[]), SCHEMA, "Field 'Retry' is not supported", ""),
    (
        "no Choices",
        without(changed(CHOICE, Default="Done"), "Choices"),
        SCHEMA,
        REQUIRED + "[Choices]",
        "",
    ),
    ("empty Choices", changed(CHOICE, Choices=[]), SCHEMA, "Value cannot be empty", "/Choices"),
    (
        "an unknown operator beside",
        rule(IsNull=True, Unless=1),
        SCHEMA,
        "Field 'Unless' is not supported",
        "/Choices/0",
    ),
    (
        "Next in a nested rule",
        changed(
            CHOICE,
            Choices=[{"Not": {"Variable": "$", "IsNull": True, "Next": "Done"}, "Next": "Done"}],
        ),
        SCHEMA,
        "Field 'Next' is not supported",
        "/Choices/0/Not",
    ),
    (
        "Variable beside Or",
        changed(
            CHOICE,
            Choices=[{"Or": [{"Variable": "$", "IsNull": True}], "Variable": "$", "Next": "Done"}],
        ),
        SCHEMA,
        "Field 'Variable' is not supported",
        "/Choices/0",
    ),
    (
        "a Timestamp without a zone",
        changed(without(WAIT, "Seconds"), Timestamp="2030-01-01T00:00:00"),
        SCHEMA,
        "String does not match RFC3339 timestamp",
        "/Timestamp",
    ),
    (
        "a Timestamp on the 30th of February",
        changed(without(WAIT, "Seconds"), Timestamp="2030-02-30T00:00:00Z"),
        SCHEMA,
        "String does not match RFC3339 timestamp",
        "/Timestamp",
    ),
    (
        "a cause path that is none",
        changed(FAIL, CausePath="why"),
        SCHEMA,
        f"The value for the field 'CausePath' {NOT_A_PATH}",
        "/CausePath",
    ),
]
"""What it is, the state, and code, words and place of the fault."""
