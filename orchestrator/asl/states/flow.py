"""What several state types share: where they go next, what they retry and what they catch."""

from __future__ import annotations

from orchestrator.asl.diagnostics import child
from orchestrator.asl.errors import ALL
from orchestrator.asl.limits import LONGEST_DELAY_SECONDS
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.retries import Catcher, Retrier
from orchestrator.asl.states.assign import read_assign
from orchestrator.asl.states.fields import ALL_OF_IT, MOST_SECONDS, Fields
from orchestrator.asl.templates import Template

PLAIN = frozenset({"Type", "Comment", "QueryLanguage"})
IN_AND_OUT = frozenset({"InputPath", "OutputPath"})
TRANSITION = frozenset({"Next", "End"})
WORK = frozenset({"Parameters", "ResultSelector", "ResultPath"})
TAKING = frozenset({"Retry", "Catch"})
OUTPUT = frozenset({"Output"})
ASSIGN = frozenset({"Assign"})

RESULT = frozenset({"result"})
"""What `$states` holds for the Output and the Assign of a state that has worked."""

_ERROR = frozenset({"errorOutput"})
_CATCHER = frozenset({"ErrorEquals", "Next", "Assign", "Comment", "Compensate"})
_RETRIER = frozenset(
    {
        "ErrorEquals",
        "IntervalSeconds",
        "MaxAttempts",
        "BackoffRate",
        "MaxDelaySeconds",
        "JitterStrategy",
        "Comment",
    }
)


def read_next(fields: Fields) -> str | None:
    """Read Next and End, of which exactly one must hold; None is the end."""
    target, end = fields.text("Next"), fields.flag("End")
    if "Next" in fields and end:
        fields.findings.schema("Only one of these fields can be used: [Next, End]", fields.pointer)
    elif "Next" not in fields and not end:
        fields.findings.schema("One of these fields is required: [Next, End]", fields.pointer)
    return target


def read_arguments(
    fields: Fields, also: frozenset[str] = frozenset()
) -> Template | QueryTemplate | None:
    """Read what work is given: Arguments in JSONata, Parameters in JSONPath.

    `also` names what `$states` holds there beside input and context.
    """
    if fields.queries:
        return fields.query_template("Arguments", also=also)
    return fields.template("Parameters")


def read_output(fields: Fields) -> QueryTemplate | None:
    """Read what JSONata makes of a result; in JSONPath there is no such field."""
    return fields.query_template("Output", also=RESULT) if fields.queries else None


def read_retry(fields: Fields) -> tuple[Retrier, ...]:
    """Read Retry."""
    entries = fields.objects("Retry")
    return tuple(_retrier(entry, last=entry is entries[-1]) for entry in entries)


def read_catch(fields: Fields) -> tuple[Catcher, ...]:
    """Read Catch."""
    entries = fields.objects("Catch")
    return tuple(
        _catcher(entry, f"Catch[{n}]", last=entry is entries[-1]) for n, entry in enumerate(entries)
    )


def _retrier(entry: Fields, *, last: bool) -> Retrier:
    entry.allow(_RETRIER)
    interval = entry.integer("IntervalSeconds", 1)
    attempts = entry.integer("MaxAttempts", 0)
    rate = entry.number("BackoffRate", 1)
    return Retrier(
        error_equals=_error_equals(entry, last=last),
        interval_seconds=1 if interval is None else interval,
        max_attempts=3 if attempts is None else attempts,
        backoff_rate=2.0 if rate is None else float(min(rate, MOST_SECONDS)),
        max_delay_seconds=entry.integer("MaxDelaySeconds", 1, LONGEST_DELAY_SECONDS),
        full_jitter=entry.choice("JitterStrategy", "FULL", "NONE") == "FULL",
        comment=entry.text("Comment"),
    )


def _catcher(entry: Fields, field: str, *, last: bool) -> Catcher:
    entry.allow(_CATCHER | ({"Output"} if entry.queries else {"ResultPath"}))
    entry.require("Next")
    return Catcher(
        error_equals=_error_equals(entry, last=last),
        next=entry.text("Next") or "",
        result_path=entry.reference_path("ResultPath", ALL_OF_IT),
        output=entry.query_template("Output", f"{field}/Output", _ERROR) if entry.queries else None,
        assign=read_assign(entry, f"{field}/Assign", _ERROR),
        comment=entry.text("Comment"),
        compensate=entry.flag("Compensate") is True,
    )


def _error_equals(entry: Fields, *, last: bool) -> tuple[str, ...]:
    entry.require("ErrorEquals")
    place = entry.at("ErrorEquals")
    names = []
    for index, name in enumerate(entry.array("ErrorEquals", filled=True)):
        if isinstance(name, str):
            names.append(name)
        else:
            entry.findings.schema("Expected a string", child(place, index))
    if ALL in names and (len(names) > 1 or not last):
        entry.findings.schema("States.ALL must appear alone, in the last Retrier or Catcher", place)
    return tuple(names)
