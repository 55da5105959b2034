"""`orchestrator …`: the commands."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer
from typer.core import TyperArgument

from orchestrator.cli import calls, graph, operations, serve
from orchestrator.cli.errors import EXIT_FAILED, EXIT_WRONG_USE, answered, wrong_use
from orchestrator.cli.files import read_input, read_text
from orchestrator.cli.options import Address, BrokerUrl, DatabaseUrl, Json, facade

if TYPE_CHECKING:
    from orchestrator.asl.diagnostics import Finding


def _unsaid(_argument: TyperArgument, ctx: object) -> None:
    """Say nothing of an argument's type: its name tells, and "<str>" is Python's word."""


TyperArgument.display_type_rich = _unsaid  # type: ignore[assignment, method-assign]

app = typer.Typer(
    name="orchestrator",
    help="A durable, self-hosted engine for the Amazon States Language.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
database = typer.Typer(help="The database's schema.", no_args_is_help=True)
app.add_typer(database, name="db")
app.add_typer(serve.app)
app.add_typer(operations.commands)
app.add_typer(calls.commands)
app.add_typer(graph.commands)

Input = Annotated[
    str, typer.Option("--input", help="JSON text, @FILE, or @- for standard input.", metavar="JSON")
]


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="A definition, *.asl.json.", metavar="FILE")],
    input: Input = "{}",
    handlers: Annotated[
        Optional[list[str]],
        typer.Option(
            "--handlers",
            help="Modules whose handlers to serve. Default: workers.",
            metavar="MODULE",
        ),
    ] = None,
    name: Annotated[
        Optional[str],
        typer.Option(
            "--name",
            help="The execution's name: again with it goes on where it stopped.",
            metavar="NAME",
        ),
    ] = None,
    data: Annotated[
        Path, typer.Option("--data", help="The folder that keeps what was done.", metavar="FOLDER")
    ] = Path(".orchestrator"),
    json: Json = False,
) -> None:
    """Run one execution here, embedded: SQLite and an in-process worker, no server."""
    from orchestrator.cli.run import Wish, run_embedded

    with answered():
        text = _valid([file], json)[file]
        wish = Wish(machine_name(file), text, read_input(input), name)
        sys.path.insert(0, "")  # handlers are looked for in the working directory as well
        raise typer.Exit(run_embedded(wish, handlers or ["workers"], data, json))


@app.command()
def validate(
    files: Annotated[list[Path], typer.Argument(help="Definitions, *.asl.json.", metavar="FILE")],
    portable: Annotated[
        bool, typer.Option("--portable", help="List every use of what only this engine knows.")
    ] = False,
    json: Json = False,
) -> None:
    """Say everything that is wrong with definitions; exit 2 if one has an error."""
    from orchestrator.asl.diagnostics import refused
    from orchestrator.cli import printing

    if portable:
        calls.portable(files, json)
        return
    with answered():
        found = _findings({file: read_text(file) for file in files})
    printing.findings(found, json)
    if any(refused(findings) for findings in found.values()):
        raise typer.Exit(EXIT_WRONG_USE)


@app.command()
def deploy(
    files: Annotated[list[Path], typer.Argument(help="Definitions, *.asl.json.", metavar="FILE")],
    name: Annotated[
        Optional[str],
        typer.Option("--name", help="The machine's name. Default: the file's.", metavar="NAME"),
    ] = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Store definitions as the newest revisions of their machines: all of them, or none."""
    from orchestrator.asl import names
    from orchestrator.cli import printing

    if name is not None and len(files) > 1:
        wrong_use("--name names one machine: give one file with it")
    with answered():
        machines = [names.check(machine_name(file) if name is None else name) for file in files]
        if len(set(machines)) < len(machines):
            wrong_use("two of the files are definitions of the same machine")
        texts = _valid(files, json).values()
        warnings = _findings(dict(zip(files, texts, strict=True))).values()
    with facade(database_url) as service:
        revisions = [service.deploy(*pair) for pair in zip(machines, texts, strict=True)]
        printing.deployed(zip(revisions, warnings, strict=True), json)


@app.command()
def start(
    machine: Annotated[str, typer.Argument(help="The machine's name.", metavar="MACHINE")],
    input: Input = "{}",
    name: Annotated[
        Optional[str],
        typer.Option("--name", help="Unique in its machine. Default: a UUID.", metavar="NAME"),
    ] = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: Json = False,
) -> None:
    """Start an execution; with a name and input used before, answer that execution."""
    from orchestrator.cli import printing

    with facade(database_url, broker_url) as service:
        printing.started(service.start_execution(machine, name, read_input(input)), json)


@app.command("list")
def list_(
    machine: Annotated[
        Optional[str], typer.Option("--machine", help="Only this machine's.", metavar="NAME")
    ] = None,
    status: Annotated[
        Optional[str],
        typer.Option(
            "--status", help="RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED.", metavar="STATUS"
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, metavar="COUNT")] = 100,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """List executions, newest first."""
    from orchestrator.cli import printing
    from orchestrator.execution.frame import ExecutionStatus

    if status is not None and status not in set(ExecutionStatus):
        wrong_use(f"--status {status}: one of {', '.join(ExecutionStatus)}")
    wanted = ExecutionStatus(status) if status else None
    with facade(database_url) as service:
        printing.executions(service.list_executions(machine, wanted, limit), json)


@app.command()
def describe(address: Address, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Show an execution: its status, input, output, and what it rests on."""
    from orchestrator.cli import printing

    with facade(database_url) as service:
        printing.detail(service.describe_execution(address), service.unserved(), json)


@app.command()
def history(address: Address, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Show everything that happened in an execution."""
    from orchestrator.cli import printing

    with facade(database_url) as service:
        printing.history(service.whole_history(address), json)


@app.command()
def stop(
    address: Address,
    error: Annotated[Optional[str], typer.Option("--error", metavar="NAME")] = None,
    cause: Annotated[Optional[str], typer.Option("--cause", metavar="TEXT")] = None,
    abort: Annotated[
        bool, typer.Option("--abort", help="End it now: nothing more is undone.")
    ] = False,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """End an execution as ABORTED, once what it has done is undone.

    One that has ended already stays as it is, which is said; the exit code is 0 all the same.
    """
    from orchestrator.cli import printing

    with facade(database_url) as service:
        before = service.find_execution(address)
        run = service.stop_execution(address, error, cause, abort=abort)
        printing.stopped(run, before, json)


@app.command()
def scheduler(database_url: DatabaseUrl = None, broker_url: BrokerUrl = None) -> None:
    """Wake what is due, until SIGTERM or Ctrl-C; any number of schedulers may run."""
    from orchestrator import main as composition

    with answered():
        composition.run_scheduler(composition.settings(database_url, broker_url))


@database.command()
def upgrade(database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Bring the schema to this release's; safe when several start at once."""
    from orchestrator import main as composition
    from orchestrator.cli import printing

    with answered():
        printing.upgraded(composition.upgrade(composition.settings(database_url)), json)


@app.command()
def simulate(
    seed: Annotated[
        int, typer.Option("--seed", help="The first seed.", min=0, metavar="NUMBER")
    ] = 1,
    seeds: Annotated[
        int, typer.Option("--seeds", help="How many seeds.", min=1, metavar="COUNT")
    ] = 1,
    log: Annotated[bool, typer.Option("--log", help="Say everything that happens.")] = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="End with the first seed that fails.")
    ] = False,
    json: Json = False,
) -> None:
    """Run the engine under seeded faults: crashes, lost bells, cut wires; exit 1 if it errs."""
    from orchestrator import main as composition
    from orchestrator.cli import printing

    simulation = composition.simulation(seed, seeds, logging=log)
    for report in simulation:
        for line in () if json else report.lines():
            print(line)
        if fail_fast and report.faults:
            break
    summary = simulation.summary
    if json:
        printing.emit(summary.value())
    else:
        print("\n".join(summary.lines()))
    if not summary.passed:
        raise typer.Exit(EXIT_FAILED)


def machine_name(file: Path) -> str:
    """The machine's name that a file's name gives: without `.asl.json`, `.json`."""
    return file.name.removesuffix(".json").removesuffix(".asl")


def _findings(texts: Mapping[Path, str]) -> dict[Path, tuple[Finding, ...]]:
    from orchestrator import main as composition
    from orchestrator.asl import definition

    limits = composition.limits(composition.settings())
    return {file: definition.parse(text, limits).findings for file, text in texts.items()}


def _valid(files: Sequence[Path], json: bool) -> dict[Path, str]:
    """The texts of definitions; ends the command with all findings if one has an error."""
    from orchestrator.asl.diagnostics import refused
    from orchestrator.cli import printing

    texts = {file: read_text(file) for file in files}
    wrong = {file: found for file, found in _findings(texts).items() if refused(found)}
    if wrong:
        printing.findings(wrong, json)
        raise typer.Exit(EXIT_WRONG_USE)
    return texts


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command with the arguments of this process, or with those that are given."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # nothing that was stored may fail to be printed
            stream.reconfigure(errors="backslashreplace")
    app(arguments)
