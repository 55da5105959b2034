"""Files and inputs that commands read; what cannot be read ends them with a sentence."""

from __future__ import annotations

import sys
from pathlib import Path

from orchestrator.cli.errors import wrong_use


def read_text(file: Path) -> str:
    """The text of a file."""
    try:
        return _decoded(str(file), file.read_bytes())
    except (OSError, ValueError) as error:
        wrong_use(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}")


def read_input(given: str) -> str:
    """What `--input` gives: JSON text, what stands in @FILE, or for @- on standard input."""
    if given == "@-":
        return _decoded("standard input", sys.stdin.buffer.read())
    return read_text(Path(given[1:])) if given.startswith("@") else given


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        wrong_use(f"{name} is not UTF-8: byte {error.start}")
