"""`orchestrator attention | retry | verify | doctor`: what operators ask."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Optional, TypeAlias

import typer

from orchestrator.cli.errors import EXIT_FAILED
from orchestrator.cli.options import Address, BrokerUrl, DatabaseUrl, Json, facade

if TYPE_CHECKING:
    from orchestrator.service import Attention, Contradiction, Diagnosis, Retried

commands = typer.Typer()

Reason: TypeAlias = Annotated[
    str, typer.Option("--reason", help="Why; it is noted in the trail.", metavar="TEXT")
]
Compensation: TypeAlias = Annotated[
    Optional[str],
    typer.Option("--compensation", help="Only this one: FRAME~EVENT.", metavar="ID"),
]


@commands.command()
def attention(database_url: DatabaseUrl = None, json: Json = False) -> None:
    """List what does not mend itself: poison, tasks without workers, names on two queues."""
    with facade(database_url) as service:
        _print_attention(service.operations.attention(), json)


@commands.command()
def retry(
    address: Address,
    reason: Reason,
    compensation: Compensation = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: Json = False,
) -> None:
    """Decide again what could not be decided, and run again the compensations that are blocked."""
    from orchestrator.service import NothingToRetry

    with facade(database_url, broker_url) as service:
        run = service.find_execution(address)
        failed = False
        if compensation is None:
            try:
                retried = service.operations.retry_execution(address, _who(), reason)
            except NothingToRetry:
                if not service.compensations.blocked(run.id):
                    raise
            else:
                _print_retried(retried, json)
                failed = bool(retried.failed)
        if compensation is not None or service.compensations.blocked(run.id):
            done = service.compensations.retry(address, _who(), reason, compensation)
            _print_compensations(address, "run again", done, json)
        if failed:
            raise typer.Exit(EXIT_FAILED)


@commands.command()
def skip(
    address: Address,
    reason: Reason,
    compensation: Compensation = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: Json = False,
) -> None:
    """Pass over a compensation that is blocked: what it would undo stays done."""
    with facade(database_url, broker_url) as service:
        done = service.compensations.skip(address, _who(), reason, compensation)
        _print_compensations(address, "skipped", done, json)


@commands.command()
def verify(
    addresses: Annotated[
        list[str], typer.Argument(help="MACHINE:NAME, or ARNs.", metavar="ADDRESS")
    ],
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Read histories against their definitions, independently; exit 1 if one contradicts."""
    with facade(database_url) as service:
        found = {one: service.operations.verify_execution(one) for one in addresses}
        _print_contradictions(found, json)
        if any(found.values()):
            raise typer.Exit(EXIT_FAILED)


@commands.command()
def doctor(database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Look for executions that nothing will wake, and other faults; exit 1 if there are any."""
    with facade(database_url) as service:
        diagnosis = service.operations.diagnose()
        _print_diagnosis(diagnosis, json)
        if diagnosis.findings:
            raise typer.Exit(EXIT_FAILED)


def _who() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in containers
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


# -- printing ------------------------------------------------------------------------------------


def _print_attention(found: Sequence[Attention], json: bool) -> None:
    from orchestrator.cli import printing
    from orchestrator.cli.remedies import remedies

    if json:
        printing.emit(
            [
                {
                    "kind": one.kind.value,
                    "subject": one.subject,
                    "text": one.text,
                    "since": printing.moment(one.since),
                    "state": one.state,
                    "id": one.part,
                    "commands": list(remedies(one.kind.value, one.subject, one.part)),
                }
                for one in found
            ]
        )
        return
    for one in found:
        since = f" (since {printing.moment(one.since)})" if one.since else ""
        text = printing.short(one.text, printing.WIDEST_TEXT)
        print(f"{one.kind.value}: {printing.plain(one.subject)}: {text}{since}")
        for command in remedies(one.kind.value, one.subject, one.part):
            print(f"  {command}")
    if not found:
        print("nothing needs attention")


def _print_retried(retried: Retried, json: bool) -> None:
    from orchestrator.cli import printing

    if json:
        printing.emit(
            {
                "execution": retried.address,
                "applied": retried.applied,
                "failed": list(retried.failed),
            }
        )
        return
    print(f"{retried.address}: {retried.applied} applied, {len(retried.failed)} kept")
    for reason in retried.failed:
        print(f"  {printing.short(reason)}")


def _print_compensations(address: str, what: str, done: Sequence[str], json: bool) -> None:
    from orchestrator.cli import printing

    if json:
        printing.emit({"execution": address, "compensations": list(done)})
        return
    for one in done:
        print(f"{printing.plain(address)}: compensation {one} {what}")


def _print_contradictions(found: dict[str, tuple[Contradiction, ...]], json: bool) -> None:
    from orchestrator.cli import printing

    if json:
        printing.emit(
            {
                address: [{"event": one.event, "text": one.text} for one in ones]
                for address, ones in found.items()
            }
        )
        return
    for address, ones in found.items():
        print(f"{printing.plain(address)}: " + (f"{len(ones)} contradictions" if ones else "clean"))
        for one in ones:
            place = "" if one.event is None else f"event {one.event}: "
            print(f"  {place}{printing.short(one.text)}")


def _print_diagnosis(diagnosis: Diagnosis, json: bool) -> None:
    from orchestrator.cli import printing
    from orchestrator.cli.remedies import remedies

    if json:
        printing.emit(
            {
                "schema": diagnosis.schema,
                "examined": diagnosis.examined,
                "living": dict(diagnosis.living),
                "failedBells": diagnosis.failed_bells,
                "findings": [
                    {
                        "kind": one.kind.value,
                        "execution": one.execution,
                        "text": one.text,
                        "state": one.state,
                        "id": one.part,
                        "commands": list(remedies(one.kind.value, one.execution or "", one.part)),
                    }
                    for one in diagnosis.findings
                ],
            }
        )
        return
    living = ", ".join(f"{count} {kind}" for kind, count in diagnosis.living.items())
    print(f"schema {diagnosis.schema}; {diagnosis.examined} executions examined; alive: {living}")
    if diagnosis.failed_bells:
        print(f"{diagnosis.failed_bells} bells did not reach the broker; tasks were found by looks")
    for one in diagnosis.findings:
        about = f" {printing.plain(one.execution)}:" if one.execution else ""
        print(f"{one.kind.value}:{about} {printing.short(one.text, printing.WIDEST_TEXT)}")
        for command in remedies(one.kind.value, one.execution or "", one.part):
            print(f"  {command}")
    if not diagnosis.findings:
        print("nothing is wrong")
