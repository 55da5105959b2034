"""`orchestrator call`, `waits`, `effects`: talking to executions; `table`, `saga`: machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from orchestrator.cli.errors import EXIT_FAILED, EXIT_WRONG_USE, answered, wrong_use
from orchestrator.cli.files import read_input, read_text
from orchestrator.cli.options import Address, BrokerUrl, DatabaseUrl, Json, facade

if TYPE_CHECKING:
    from orchestrator.asl.document import Json as AnyJson
    from orchestrator.asl.machine import Machine

commands = typer.Typer()


@commands.command()
def call(
    address: Address,
    name: Annotated[
        str, typer.Argument(help="The call's name, as the machine knows it.", metavar="CALL")
    ],
    input: Annotated[
        str,
        typer.Option("--input", help="JSON text, @FILE, or @- for standard input.", metavar="JSON"),
    ] = "{}",
    call_id: Annotated[
        Optional[str],
        typer.Option("--id", help="The same id again is the same call.", metavar="ID"),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", min=0, max=60, help="Seconds to wait for a verdict.", metavar="SECONDS"
        ),
    ] = 0.0,
    at: Annotated[
        Optional[str], typer.Option("--at", help="The frame of a Map's iteration.", metavar="FRAME")
    ] = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: Json = False,
) -> None:
    """Call an execution; exit 1 if it refuses."""
    from orchestrator.cli import printing_calls
    from orchestrator.execution.call import Verdict

    with facade(database_url, broker_url) as service:
        found = service.call_execution(address, name, read_input(input), call_id, wait, at)
        printing_calls.verdict(found, json)
    if found.verdict is Verdict.REFUSED:
        raise typer.Exit(EXIT_FAILED)


@commands.command()
def waits(address: Address, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Show what an execution waits for, since when, and which calls it takes now."""
    from orchestrator.cli import printing_calls

    with facade(database_url) as service:
        printing_calls.waits(address, service.execution_waits(address), json)


@commands.command()
def calls(address: Address, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Show the calls of an execution with their verdicts."""
    from orchestrator.cli import printing_calls

    with facade(database_url) as service:
        printing_calls.calls(service.execution_calls(address), json)


@commands.command()
def effects(
    address: Address,
    again: Annotated[
        Optional[str], typer.Option("--again", help="Run this failed effect again.", metavar="ID")
    ] = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: Json = False,
) -> None:
    """Show what became of the effects of an execution."""
    from orchestrator.cli import printing_calls

    with facade(database_url, broker_url) as service:
        if again is not None:
            service.run_effect_again(address, again)
        printing_calls.effects(service.execution_effects(address), json)


@commands.command()
def table(
    file: Annotated[Path, typer.Argument(help="A definition, *.asl.json.", metavar="FILE")],
    json: Json = False,
) -> None:
    """Print what each state of a machine answers to each call."""
    from orchestrator.cli import printing_calls

    with answered():
        printing_calls.table(_machine(file), json)


@commands.command()
def saga(
    file: Annotated[Path, typer.Argument(help="A definition, *.asl.json.", metavar="FILE")],
    json: Json = False,
) -> None:
    """Print what is undone when a state of a machine fails, in which order."""
    from orchestrator.cli import printing_undoing
    from orchestrator.service import order_of_undoing

    with answered():
        printing_undoing.order_of_undoing(order_of_undoing(_machine(file)), json)


def portable(files: list[Path], json: bool) -> None:
    """Print every use of the dialect; exit 2 if there is one."""
    from orchestrator.cli import printing_calls

    with answered():
        found = {file: _definition(file) for file in files}
    if printing_calls.uses(found, json):
        raise typer.Exit(EXIT_WRONG_USE)


def _machine(file: Path) -> Machine:
    """The machine of a definition; ends the command if it has an error."""
    from orchestrator import main as composition
    from orchestrator.asl import definition

    parsed = definition.parse(read_text(file), composition.limits(composition.settings()))
    if parsed.machine is None:
        wrong_use(f"{file} has errors: orchestrator validate {file} tells them all")
    return parsed.machine


def _definition(file: Path) -> dict[str, AnyJson]:
    """The JSON of a definition, however faulty it is otherwise."""
    from orchestrator.asl import document

    try:
        value = document.read(read_text(file))
    except document.DocumentError as error:
        wrong_use(f"{file} is no JSON document: {error}")
    if not isinstance(value, dict):
        wrong_use(f"{file} is no JSON object")
    return value
