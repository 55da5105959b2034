"""What the commands print, as text for people or as JSON for programs."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from orchestrator.asl.diagnostics import Finding, Severity
from orchestrator.asl.document import Json
from orchestrator.cli.remedies import of_blocked
from orchestrator.execution.compensation import Undoing
from orchestrator.execution.frame import Execution, Frame, FrameStatus, Phase, RestsOn, Task
from orchestrator.execution.history import HistoryEvent, to_native
from orchestrator.execution.payload import Payload
from orchestrator.service import Deployed, ExecutionDetail, StartedExecution, blocked_in

LONGEST_TEXT: Final = 100
WIDEST_TEXT: Final = 400
"""Of what has failed: room for ids, the state, the error and the beginning of its cause."""
WIDEST_TABLE: Final = 10_000
"""Columns where no terminal ends the line: nothing is cut."""


def console() -> Console:
    """Standard output; where it is no terminal, lines are as long as what stands in them."""
    return Console() if sys.stdout.isatty() else Console(width=WIDEST_TABLE)


def emit(value: Json) -> None:
    """Print JSON."""
    print(json_module.dumps(value, indent=2))


def moment(at: datetime | None) -> str | None:
    """A moment in RFC 3339, UTC, milliseconds."""
    if at is None:
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plain(text: str) -> str:
    """The text on one line, without anything that a terminal would act upon."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(text: str, most: int = LONGEST_TEXT) -> str:
    """The text, plain and cut to a line."""
    line = plain(text[:most])
    return line if len(text) <= most else line[: most - 1] + "…"


# -- definitions ---------------------------------------------------------------------------------


def findings(by_file: Mapping[Path, Sequence[Finding]], json: bool) -> None:
    """Findings by file, each with its place."""
    if json:
        emit(
            {str(file): [_finding(finding) for finding in found] for file, found in by_file.items()}
        )
        return
    for file, found in by_file.items():
        print(f"{file}: " + (_count(found) if found else "valid"))
        _findings(found)


def _findings(found: Sequence[Finding]) -> None:
    for finding in found:
        place = f" {plain(finding.pointer)}" if finding.pointer else ""
        print(f"  {finding.severity}{place}: {plain(finding.message)} [{finding.code}]")


def _count(found: Sequence[Finding]) -> str:
    errors = sum(finding.severity is Severity.ERROR for finding in found)
    counts = [_number(errors, "error"), _number(len(found) - errors, "warning")]
    return ", ".join(["valid"] * (not errors) + [count for count in counts if count])


def _number(count: int, of: str) -> str:
    return f"{count} {of}{'s' * (count > 1)}" if count else ""


def _finding(finding: Finding) -> Json:
    return {
        "severity": finding.severity.value,
        "code": finding.code.value,
        "message": finding.message,
        "pointer": finding.pointer,
    }


def deployed(revisions: Iterable[tuple[Deployed, Sequence[Finding]]], json: bool) -> None:
    """Which revisions stand now, each with the warnings about its definition."""
    if json:
        emit(
            [
                {
                    "machine": r.machine,
                    "revision": r.number,
                    "created": r.created,
                    "findings": [_finding(finding) for finding in found],
                }
                for r, found in revisions
            ]
        )
        return
    for r, found in revisions:
        print(f"{r.machine}: revision {r.number}" + ("" if r.created else " (unchanged)"))
        _findings(found)


def upgraded(done: str, json: bool) -> None:
    """What was done to the schema."""
    emit({"schema": done}) if json else print(done)


# -- executions ----------------------------------------------------------------------------------


def started(start: StartedExecution, json: bool) -> None:
    """The address of an execution."""
    if json:
        emit({"execution": start.address, "executionArn": start.arn, "created": start.created})
    else:
        print(start.address + ("" if start.created else " (started before)"))


def execution(run: Execution) -> dict[str, Json]:
    """An execution as JSON."""
    return {
        "execution": f"{run.machine}:{run.name}",
        "machine": run.machine,
        "name": run.name,
        "status": run.status.value,
        "phase": run.phase.value,
        "compensation": run.undoing.value,
        "state": run.final_state,
        "startDate": moment(run.started_at),
        "stopDate": moment(run.ended_at),
        "error": run.error,
        "cause": run.cause,
    }


def executions(runs: Sequence[Execution], json: bool) -> None:
    """Executions as a table."""
    if json:
        emit([execution(run) for run in runs])
        return
    table = Table(box=None, pad_edge=False)
    for title in ("EXECUTION", "STATUS", "STARTED", "ENDED"):
        table.add_column(title, no_wrap=True)
    for run in runs:
        table.add_row(
            Text(plain(f"{run.machine}:{run.name}")),
            run.status.value,
            moment(run.started_at),
            moment(run.ended_at) or "",
        )
    console().print(table)


def stopped(run: Execution, before: Execution, json: bool) -> None:
    """The status after a stop, and whether the stop has changed nothing."""
    if json:
        emit(execution(run) | {"alreadyEnded": before.ended_at is not None})
        return
    address = f"{run.machine}:{run.name}"
    if before.ended_at is not None:
        print(f"{address} had already ended: {run.status}")
    elif run.phase is Phase.UNDOING:
        already = " already" if before.phase is Phase.UNDOING else ""
        print(f"{address} {run.status}, what it has done is being undone{already}")
    else:
        print(f"{address} {run.status}")


def detail(found: ExecutionDetail, unserved: Sequence[str], json: bool) -> None:
    """An execution with its documents and what it rests on."""
    if json:
        emit(detail_json(found, unserved))
        return
    run = found.execution
    print(f"{found.address}  {run.status}")
    if found.undoing is not Undoing.NONE:
        print(f"  undoing  {found.undoing}" + (f", {found.skipped} skipped" * (found.skipped > 0)))
    print(f"  started  {moment(run.started_at)}")
    if run.ended_at:
        print(f"  ended    {moment(run.ended_at)}  in {plain(run.final_state or '-')}")
    for name, text in (("error", run.error), ("cause", run.cause)):
        if text:
            print(f"  {name}    {plain(text)}")
    print(f"  input    {short(found.input.text)}")
    if found.output is not None:
        print(f"  output   {short(found.output.text)}")
    for frame in found.frames:
        print(f"  {plain(frame.state or '(not begun)')}: {rests_on(frame, unserved)}")
        for command in blocked_commands(found.address, frame):
            print(f"    {command}")


def detail_json(found: ExecutionDetail, unserved: Sequence[str]) -> Json:
    """An execution with its documents and what it rests on, as JSON."""
    return execution(found.execution) | {
        "executionArn": found.arn,
        "compensation": found.undoing.value,
        "skippedCompensations": found.skipped,
        "input": found.input.value,
        "output": None if found.output is None else found.output.value,
        "rests": [
            {"frame": frame.id, "state": frame.state, "on": rests_on(frame, unserved)}
            for frame in found.frames
        ],
    }


def blocked_commands(address: str, frame: Frame) -> tuple[str, ...]:
    """What can be typed about a frame whose undoing is blocked; nothing about others."""
    blocked = blocked_in(frame)
    return () if blocked is None else of_blocked(address, blocked)


def rests_on(frame: Frame, unserved: Sequence[str]) -> str:
    """What a frame rests on, in a few words."""
    blocked = blocked_in(frame)
    if blocked is not None:
        return f"undoing is blocked: {short(blocked.text, WIDEST_TEXT)}"
    match frame.rests_on:
        case RestsOn.TASK:
            words = "" if frame.task is None else _task(frame.task, unserved)
            return words + (f", until {moment(frame.timeout_at)}" if frame.timeout_at else "")
        case RestsOn.CLOCK:
            again = f" to try again ({frame.retries.total})" if frame.retries.total else ""
            return f"waits until {moment(frame.wake_at)}{again}"
        case RestsOn.CHILDREN:
            return "waits for its branches"
        case RestsOn.CALL:
            until = f", at the latest until {moment(frame.wake_at)}" if frame.wake_at else ""
            return f"waits for a call{until}"
        case RestsOn.CALLBACK:
            return "waits until somebody sends its task token"
        case RestsOn.EXECUTION:
            return "waits for the execution that it has started"
        case RestsOn.UNDOING:
            return "waits until what it has done is undone"
        case None:
            return _UNRESTED[frame.status]


_UNRESTED: Final = {
    FrameStatus.PENDING: "waits to begin",
    FrameStatus.RESTING: "goes on",
    FrameStatus.ENDED: "has ended, waits for the others",
    FrameStatus.FAILED: "has failed for good",
    FrameStatus.CANCELLED: "is cancelled, waits for what its handler reports",
}


def _task(task: Task, unserved: Sequence[str]) -> str:
    resource = plain(task.resource)
    if task.claimed_by is not None:
        return f"{resource} runs on {task.claimed_by}, attempt {task.attempt}"
    if task.queue is None or task.resource in unserved:
        return f"no worker serves {resource}"
    return f"{resource} is ready on queue {task.queue}, attempt {task.attempt}"


# -- history -------------------------------------------------------------------------------------


def history(events: Sequence[HistoryEvent], json: bool) -> None:
    """History events, one a line."""
    if json:
        emit([aws(event) for event in events])
        return
    for event in events:
        print(line(event))


def aws(event: HistoryEvent) -> Json:
    """A history event in the shape of GetExecutionHistory, with all that is recorded of it."""
    return to_native(event) | {"timestamp": moment(event.at)}


def line(event: HistoryEvent) -> str:
    """A history event in one line: number, time of day, type, and what matters of its details."""
    at = event.at.strftime("%H:%M:%S.%f")[:-3]
    return f"{event.id:>5}  {at}  {event.type:<24} {short(_details(event))}".rstrip()


def _details(event: HistoryEvent) -> str:
    words = []
    for key, value in event.details.items():
        if isinstance(value, Payload):
            words.append(f"{key} {short(value.text)}")
        elif isinstance(value, str | int):
            words.append(str(value) if key in {"name", "resource", "error"} else f"{key} {value}")
    return "  ".join(words)
