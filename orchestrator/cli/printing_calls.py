"""What the commands print of calls, effects and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from orchestrator.asl import answering
from orchestrator.asl.document import Json
from orchestrator.asl.machine import Machine
from orchestrator.asl.portable import dialect_uses
from orchestrator.cli.printing import WIDEST_TEXT, console, emit, moment, plain, short
from orchestrator.cli.remedies import of_blocked
from orchestrator.execution.call import Call, Verdict
from orchestrator.execution.frame import Frame
from orchestrator.execution.payload import Payload
from orchestrator.service import Waits


def verdict(call: Call, json: bool) -> None:
    """What a caller is told."""
    if json:
        emit(Payload.parse(call.said).value)
        return
    print(_said(call))


def _said(call: Call) -> str:
    said = Payload.parse(call.said).value
    words = said if isinstance(said, dict) else {}
    match call.verdict:
        case Verdict.ACCEPTED:
            left, reached = words.get("from"), words.get("to")
            way = "" if left is None or reached is None else f": {left} → {reached}"
            return plain(f"{call.name} accepted{way} (id {call.id})")
        case Verdict.REFUSED:
            state, reason = words.get("state"), words.get("reason")
            where = "" if state is None else f" in {state}"
            return plain(f"{call.name} refused{where}: {reason} (id {call.id})")
        case Verdict.PENDING:
            return plain(f"{call.name} is kept (id {call.id})")


def calls(found: Sequence[Call], json: bool) -> None:
    """The calls on record."""
    if json:
        emit([Payload.parse(call.said).value for call in found])
        return
    for call in found:
        print(f"{moment(call.arrived_at)}  {_said(call)}")


def waits(address: str, found: Sequence[Waits], json: bool) -> None:
    """What an execution waits for."""
    if json:
        emit([_waits(one) for one in found])
        return
    for one in found:
        if one.blocked is not None:
            print(
                f"{plain(one.state or '')} waits for an operator: "
                + short(one.blocked.text, WIDEST_TEXT)
            )
            for command in of_blocked(address, one.blocked):
                print(f"  {command}")
            continue
        takes = f", takes {', '.join(one.calls)}" if one.calls else ""
        print(
            plain(f"{one.state} waits for {one.on} since {moment(one.since)}{takes}{_timer(one)}")
        )


def _timer(one: Waits) -> str:
    if one.timer is None:
        return "" if one.wake_at is None else f", at the latest until {moment(one.wake_at)}"
    leads = f"→ {one.timer.next}" if one.timer.next else "it stays"
    return f", timer {one.timer.place} at {moment(one.timer.at)} ({leads})"


def _waits(one: Waits) -> Json:
    timer: Json = None
    if one.timer is not None:
        at = moment(one.timer.at)
        timer = {"place": one.timer.place, "at": at, "next": one.timer.next}
    return {
        "frame": one.frame,
        "state": one.state,
        "on": one.on,
        "since": moment(one.since),
        "calls": list(one.calls),
        "timer": timer,
        "why": None if one.blocked is None else one.blocked.text,
    }


def effects(found: Sequence[Frame], json: bool) -> None:
    """What became of effects."""
    shown: list[Json] = [
        {
            "effect": frame.id,
            "state": frame.state,
            "resource": None if frame.task is None else frame.task.resource,
            "status": frame.status.value,
            "attempt": 0 if frame.task is None else frame.task.attempt,
            "error": None if frame.effect is None else frame.effect.error,
            "cause": None if frame.effect is None else frame.effect.cause,
        }
        for frame in found
    ]
    if json:
        emit(shown)
        return
    for frame in found:
        resource = "" if frame.task is None else frame.task.resource
        error = "" if frame.effect is None or frame.effect.error is None else frame.effect.error
        print(f"{frame.id:<10} {plain(resource)}  {frame.status.value}  {short(error)}".rstrip())


def table(machine: Machine, json: bool) -> None:
    """What each state answers to each call."""
    calls_known = list(machine.calls)
    rows = answering.table(machine)
    if json:
        emit({row.state: dict(zip(calls_known, row.cells, strict=True)) for row in rows})
        return
    shown = Table(box=None, pad_edge=False)
    for name in ("", *calls_known):
        shown.add_column(Text(name))
    for row in rows:
        shown.add_row(Text(plain(row.state)), *(Text(plain(cell)) for cell in row.cells))
    console().print(shown)


def uses(found: Mapping[Path, dict[str, Json]], json: bool) -> bool:
    """Every use of the dialect; whether there is one."""
    by_file = {file: dialect_uses(value) for file, value in found.items()}
    if json:
        emit(
            {
                str(file): [{"what": use.what, "pointer": use.pointer} for use in some]
                for file, some in by_file.items()
            }
        )
    else:
        for file, some in by_file.items():
            print(f"{file}: " + (f"{len(some)} uses of the dialect" if some else "portable"))
            for use in some:
                print(f"  {plain(use.pointer)}: {plain(use.what)}")
    return any(by_file.values())
