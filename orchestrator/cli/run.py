"""`orchestrator run`: one execution, embedded, told from the history that the database keeps."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from orchestrator import main as composition
from orchestrator.asl import names
from orchestrator.cli import printing
from orchestrator.cli.errors import EXIT_FAILED
from orchestrator.cli.story import Story
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.service import Orchestrator, StartedExecution, read_input

LOOK_SECONDS: Final = 0.05
SILENCE_SECONDS: Final = 2.0
"""How long nothing may happen before the person in front hears what the execution waits for."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be run."""

    machine: str
    definition: str
    input: str
    name: str | None


def run_embedded(wish: Wish, modules: Sequence[str], data: Path, json: bool) -> int:
    """Run an execution to its end and print its output; the exit code.

    What is wrong with the names or the input is said before anything is stored.
    """
    names.check(wish.machine)
    if wish.name is not None:
        names.check(wish.name)
    read_input(wish.input, composition.limits(composition.settings()))
    with composition.embedded(data, modules) as parts:
        service = parts.service
        service.deploy(wish.machine, wish.definition)
        start = service.start_execution(wish.machine, wish.name, wish.input)
        _say(_beginning(service, start))
        try:
            _follow(service, start.address)
        except KeyboardInterrupt:
            _say(_interrupted(start, data))
            return EXIT_FAILED
        return _end(service, start.address, json)


def _beginning(service: Orchestrator, start: StartedExecution) -> str:
    if start.created:
        return f"{start.address} starts"
    run = service.describe_execution(start.address).execution
    ended = f"has ended before: {run.status}"
    return f"{start.address} " + ("goes on where it stopped" if run.ended_at is None else ended)


def _interrupted(start: StartedExecution, data: Path) -> str:
    name = start.address.partition(":")[2]
    return (
        f"interrupted; the same command with --name {name} --data {quote(str(data))} goes on. "
        "What runs now is finished first; Ctrl-C again leaves it."
    )


def _end(service: Orchestrator, address: str, json: bool) -> int:
    found = service.describe_execution(address)
    if json:
        printing.emit(printing.detail_json(found, ()))
    elif found.output is not None:
        printing.emit(found.output.value)
    return 0 if found.execution.status is ExecutionStatus.SUCCEEDED else EXIT_FAILED


def _follow(service: Orchestrator, address: str) -> None:
    story, after, heard_at, waits = Story(), 0, time.monotonic(), ""
    with _teller(story) as tell:
        while True:
            running = service.describe_execution(address).execution.ended_at is None
            events = service.get_execution_history(address, after)
            for line in story.tell(events):
                tell(line)
            if events:
                after, heard_at = events[-1].id, time.monotonic()
            elif not running:
                return
            elif time.monotonic() - heard_at > SILENCE_SECONDS:
                waits = _tell_waits(service, address, waits, tell)
            time.sleep(0 if not running else LOOK_SECONDS)


def _tell_waits(
    service: Orchestrator, address: str, before: str, tell: Callable[[str], None]
) -> str:
    frames = service.describe_execution(address).frames
    unserved = service.unserved()
    waits = "; ".join(f"{f.state}: {printing.rests_on(f, unserved)}" for f in frames)
    if waits and waits != before:
        tell(f"{'':10}  {waits}")
    return waits


@contextmanager
def _teller(story: Story) -> Iterator[Callable[[str], None]]:
    """A live table on a terminal, plain lines elsewhere; both on stderr."""
    if not sys.stderr.isatty():
        yield _say
        return
    console = Console(stderr=True)
    with Live(console=console, refresh_per_second=10, get_renderable=lambda: _table(story)):
        yield lambda _line: None


def _table(story: Story) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("STATE", no_wrap=True)
    table.add_column("TYPE")
    table.add_column("SECONDS", justify="right")
    table.add_column("WHAT HAPPENED", overflow="ellipsis", no_wrap=True)
    for line in story.states[-40:]:
        seconds = f"{(line.left_at - line.entered_at).total_seconds():.2f}" if line.left_at else ""
        style = "red" if line.said.startswith("failed") else "" if line.left_at else "bold"
        table.add_row(
            Text(printing.plain(line.title)), line.type, seconds, Text(line.said), style=style
        )
    return table


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
