"""How the command says that something went wrong: one sentence on stderr and an exit code, never a
traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

import typer

EXIT_FAILED: Final = 1
EXIT_WRONG_USE: Final = 2


def wrong_use(message: str) -> NoReturn:
    """End with exit code 2."""
    print(f"orchestrator: {message}", file=sys.stderr)
    raise typer.Exit(EXIT_WRONG_USE)


@contextmanager
def answered() -> Iterator[None]:
    """Translate the errors of the floors below into a sentence and an exit code."""
    from orchestrator.asl.names import InvalidName
    from orchestrator.service import InvalidDefinition, ServiceError
    from orchestrator.store import (
        SchemaMismatch,
        StoreUnavailable,
        TooManyWriters,
        UnsupportedDatabase,
    )

    try:
        yield
    except InvalidDefinition as error:
        from orchestrator.cli import printing

        printing.findings({"the definition": error.findings}, json=False)
        raise typer.Exit(EXIT_WRONG_USE) from None
    except (ServiceError, InvalidName) as error:
        wrong_use(str(error))
    except (StoreUnavailable, SchemaMismatch, TooManyWriters, UnsupportedDatabase) as error:
        print(f"orchestrator: {error}", file=sys.stderr)
        raise typer.Exit(EXIT_FAILED) from None
