"""The order of undoing as people read it: what is undone at each failure, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from orchestrator.asl.undoing import (
    Beside,
    Doubt,
    Failure,
    More,
    Outcome,
    Rounds,
    Step,
    Steps,
    Then,
    Thread,
    Undo,
)

INDENT: Final = "  "
NOTHING_UNDONE: Final = "nothing is undone"


def told(failures: Sequence[Failure]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of each failure, the first one a heading, those below it indented.

    States that follow each other and agree are told together.
    """
    for (verb, outcomes, left_out), some in groupby(failures, _alike):
        lines = list(_told(_either([one.state for one in some]), verb, outcomes))
        if left_out:
            lines.append(f"{INDENT}… and {left_out} more Catchers")
        yield tuple(lines)


def _alike(failure: Failure) -> tuple[str, tuple[Outcome, ...], int]:
    return _verb(failure), failure.outcomes, failure.left_out


def _verb(failure: Failure) -> str:
    match failure.kind:
        case "Wait" | "Await":
            return "is stopped"
        case "Fail":
            return "is reached"
        case "Compensate":
            return "undoes"
        case _:
            return "fails"


def _either(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _told(names: str, verb: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    if len(outcomes) == 1:
        yield from _headed(f"{names} {verb}", outcomes[0].steps)
        return
    yield f"{names} {verb}:"
    for outcome in outcomes:
        for line in _headed(_heading(outcome), outcome.steps):
            yield INDENT + line


def _heading(outcome: Outcome) -> str:
    errors = ", ".join(outcome.errors)
    match outcome.then:
        case Then.RETRY:
            return f"before {outcome.at or ''} is tried again ({errors})"
        case Then.NEXT:
            return f"{outcome.at or ''} catches {errors} → {outcome.next or ''}"
        case Then.END:
            return "nothing catches it"


def _headed(heading: str, steps: Steps) -> Iterator[str]:
    if not steps:
        yield f"{heading}: {NOTHING_UNDONE}"
        return
    yield f"{heading}:"
    for line in _listed(steps):
        yield INDENT + line


def _listed(steps: Steps) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        mark = f"{number}. " if len(steps) > 1 and not isinstance(step, More) else ""
        for n, line in enumerate(_lines(step)):
            yield (mark if n == 0 else " " * len(mark)) + line


def _lines(step: Step) -> Iterator[str]:
    match step:
        case Undo():
            yield _undo(step)
        case Beside():
            bound = "" if step.most is None else f", {step.most} at most"
            yield f"{step.state}{_doubt(step.doubt)}, side by side{bound}:"
            for thread in step.threads:
                yield from _branch(thread)
        case Rounds():
            yield "each of these as often as it was done, newest first:"
            for line in _listed(step.steps):
                yield INDENT + line
        case More():
            yield f"… and {step.count} more"


def _branch(thread: Thread) -> Iterator[str]:
    lines = list(_listed(thread.steps))
    if thread.label is not None:
        lines = [f"{thread.label}:", *(INDENT + line for line in lines)]
    for n, line in enumerate(lines):
        yield ("- " if n == 0 else INDENT) + line


def _undo(step: Undo) -> str:
    if step.resource is None:
        what = f"what the execution that {step.state} started has to undo"
    else:
        what = f"{step.resource.removeprefix('celery:')} ({step.state})"
    return what + _doubt(step.doubt)


def _doubt(doubt: Doubt) -> str:
    match doubt:
        case Doubt.NONE:
            return ""
        case Doubt.OTHER_WAY:
            return ", if it was done"
        case Doubt.UNKNOWN:
            return ", if nobody knows whether it was done"
        case Doubt.EITHER:
            return ", if it was done or nobody knows"
