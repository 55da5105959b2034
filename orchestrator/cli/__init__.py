"""Floor 7: the command.

Parses arguments, asks the service, prints; knows nothing of how anything is done.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

EXIT_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command with the arguments of this process, or with those that are given."""
    try:
        # Here, so that who presses Ctrl-C while it is still being read meets no traceback.
        from orchestrator.cli.app import main as run

        run(arguments)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


__all__ = ["main"]
