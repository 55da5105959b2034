"""A durable, self-hosted engine for the Amazon States Language.

Floors, lowest first: asl, execution, store, engine, handlers and settings, dispatch and scheduler,
service, main, cli.
Imports point down only; `docs/architecture.md` follows one Task through them.
"""

from typing import Final

DEFAULT_PORT: Final = 8000
"""Where the doors and the console listen, and where the client looks for them."""
