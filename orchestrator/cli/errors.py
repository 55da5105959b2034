"""How the command says what went wrong: a sentence on stderr and an exit code, no traceback."""

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
    _end(message, EXIT_WRONG_USE)


def failed(message: str) -> NoReturn:
    """End with exit code 1."""
    _end(message, EXIT_FAILED)


def _end(message: str, code: int) -> NoReturn:
    print(f"orchestrator: {message}", file=sys.stderr)
    raise typer.Exit(code)


@contextmanager
def answered() -> Iterator[None]:
    """Translate the errors of the floors below into a sentence and an exit code."""
    from orchestrator.asl.names import InvalidName
    from orchestrator.main import TROUBLE, WRONG_USE
    from orchestrator.service import ExecutionNotStopped, ServiceError

    try:
        yield
    except (ExecutionNotStopped, *TROUBLE) as error:
        failed(_sentence(error))
    except (ServiceError, InvalidName, *WRONG_USE) as error:
        wrong_use(_sentence(error))


def _sentence(error: Exception) -> str:
    """The text of an error on one line."""
    return " ".join(str(error).split())
