"""What several commands share: options, and the facade over a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from orchestrator.cli.errors import answered

if TYPE_CHECKING:
    from orchestrator.service import Orchestrator

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
DatabaseUrl = Annotated[
    Optional[str],
    typer.Option("--database-url", help="Instead of ORCHESTRATOR_DATABASE_URL.", metavar="URL"),
]
BrokerUrl = Annotated[
    Optional[str],
    typer.Option("--broker-url", help="Instead of ORCHESTRATOR_BROKER_URL.", metavar="URL"),
]
Address = Annotated[
    str, typer.Argument(help="MACHINE:NAME, or the execution's ARN.", metavar="ADDRESS")
]


@contextmanager
def facade(database_url: str | None, broker_url: str | None = None) -> Iterator[Orchestrator]:
    """The facade over a database; its errors end the command with a sentence."""
    from orchestrator import main as composition

    with answered():
        parts = composition.build(composition.settings(database_url, broker_url))
        try:
            yield parts.service
        finally:
            parts.store.dispose()
