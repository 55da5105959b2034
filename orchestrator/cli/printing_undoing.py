"""What `orchestrator saga` prints: the order of undoing, as text for people or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

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
from orchestrator.cli.printing import emit, plain

INDENT = "  "
NOTHING = "nothing is undone"


def order_of_undoing(failures: Sequence[Failure], json: bool) -> None:
    """What is undone at each failure; states that follow each other and agree are told together."""
    if json:
        emit([failure.value for failure in failures])
        return
    if not failures:
        print("nothing is undone")
    for (verb, outcomes, left_out), some in groupby(failures, _alike):
        for line in _told(_either([one.state for one in some]), verb, outcomes):
            print(line)
        if left_out:
            print(f"{INDENT}… and {left_out} more Catchers")


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
    *first, last = map(plain, names)
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
    errors = ", ".join(map(plain, outcome.errors))
    match outcome.then:
        case Then.RETRY:
            return f"before {plain(outcome.at or '')} is tried again ({errors})"
        case Then.NEXT:
            return f"{plain(outcome.at or '')} catches {errors} → {plain(outcome.next or '')}"
        case Then.END:
            return "nothing catches it"


def _headed(heading: str, steps: Steps) -> Iterator[str]:
    if not steps:
        yield f"{heading}: {NOTHING}"
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
            yield f"{plain(step.state)}{_doubt(step.doubt)}, side by side{bound}:"
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
        what = f"what the execution that {plain(step.state)} started has to undo"
    else:
        what = f"{plain(step.resource.removeprefix('celery:'))} ({plain(step.state)})"
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
