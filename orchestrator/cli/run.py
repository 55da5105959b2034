"""`orchestrator run`: one execution, embedded, told from the history that the database keeps."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Final

from rich.console import Console, Group, RenderableType
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
            _follow(service, start.address, data)
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


@dataclass(slots=True)
class Front:
    """What the person in front is told: lines, or on a terminal a live table."""

    story: Story
    waits: tuple[str, ...] = ()
    """What the execution has waited for in silence, and what can be done about it."""
    live: bool = False

    def happened(self, lines: Iterable[str]) -> None:
        """Tell what has happened; the table shows it by itself."""
        for line in lines:
            self.waits = ()
            if not self.live:
                _say(line)

    def waiting(self, lines: tuple[str, ...]) -> None:
        """Tell what it waits for, once."""
        if lines != self.waits and not self.live:
            for line in lines:
                _say(f"{'':10}  {line}")
        self.waits = lines

    def __rich__(self) -> RenderableType:
        """The table, and below it what it waits for."""
        return Group(_table(self.story), *map(Text, self.waits))


def _follow(service: Orchestrator, address: str, data: Path) -> None:
    story, after, heard_at = Story(), 0, time.monotonic()
    with _front(story) as front:
        while True:
            running = service.describe_execution(address).execution.ended_at is None
            events = service.get_execution_history(address, after)
            front.happened(story.tell(events))
            if events:
                after, heard_at = events[-1].id, time.monotonic()
            elif not running:
                return
            elif time.monotonic() - heard_at > SILENCE_SECONDS:
                front.waiting(tuple(_waits(service, address, data)))
            time.sleep(0 if not running else LOOK_SECONDS)


def _waits(service: Orchestrator, address: str, data: Path) -> Iterator[str]:
    """What the frames wait for, and what can be typed elsewhere to let them go on."""
    frames = service.describe_execution(address).frames
    unserved = service.unserved()
    words = (f"{f.state}: {printing.rests_on(f, unserved)}" for f in frames)
    if frames:
        yield printing.plain("; ".join(words))
    where = quote(f"sqlite:///{data / composition.EMBEDDED_DATABASE}")
    for wait in service.execution_waits(address):
        if wait.calls:
            typed = f"orchestrator call {quote(address)} CALL --database-url {where}"
            yield f"  {typed}: it takes {', '.join(wait.calls)}"
    for frame in frames:
        for command in printing.blocked_commands(address, frame):
            yield f"  {command} --database-url {where}"


@contextmanager
def _front(story: Story) -> Iterator[Front]:
    """A live table on a terminal, plain lines elsewhere; both on stderr."""
    if not sys.stderr.isatty():
        yield Front(story)
        return
    front = Front(story, live=True)
    with Live(console=Console(stderr=True), refresh_per_second=10, get_renderable=lambda: front):
        yield front


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
