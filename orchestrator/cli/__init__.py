"""Floor 7: the command.

Parses arguments, asks the service, prints; knows nothing of how anything is done.
"""

from orchestrator.cli.app import main

__all__ = ["main"]
