"""`orchestrator graph`: a definition as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from orchestrator.cli.errors import EXIT_WRONG_USE, answered, wrong_use
from orchestrator.cli.files import read_text
from orchestrator.cli.options import DatabaseUrl, facade

if TYPE_CHECKING:
    from orchestrator.asl.machine import Machine

commands = typer.Typer()


@commands.command()
def graph(
    file: Annotated[Path, typer.Argument(help="A definition, *.asl.json.", metavar="FILE")],
    output: Annotated[
        Optional[Path],
        typer.Option(
            "--output", "-o", help="The file to write. Default: standard output.", metavar="FILE"
        ),
    ] = None,
    execution: Annotated[
        Optional[str],
        typer.Option(
            "--execution", help="Colour the states as in this execution.", metavar="MACHINE:NAME"
        ),
    ] = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Draw a definition as SVG, with the states of an execution coloured."""
    from orchestrator.service import draw

    with answered():
        drawing = draw(_machine(file))
    if execution is None:
        picture = drawing.svg()
    else:
        with facade(database_url) as service:
            picture = drawing.svg(service.execution_marks(execution))
    if output is None:
        print(picture, end="")
        return
    try:
        output.write_text(picture, encoding="utf-8")
    except OSError as error:
        wrong_use(f"{output} cannot be written: {error.strerror or error}")


def _machine(file: Path) -> Machine:
    """The machine of a definition; ends the command with the findings if it has an error."""
    from orchestrator import main as composition
    from orchestrator.asl import definition
    from orchestrator.cli import printing

    limits = composition.limits(composition.settings())
    parsed = definition.parse(read_text(file), limits)
    if parsed.machine is None:
        printing.findings({file: parsed.findings}, False)
        raise typer.Exit(EXIT_WRONG_USE)
    return parsed.machine
