"""Logs: one line per event on stderr, with a plain traceback where something broke."""

from __future__ import annotations

import logging
import sys

import structlog


def configure(level: str) -> None:
    """Log from this level on: `debug`, `info`, `warning`, `error`."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),  # as it is then
        cache_logger_on_first_use=False,
    )


def _line(_logger: object, _name: str, event: structlog.typing.EventDict) -> str:
    exception = event.pop("exception", None)
    head = f"{event.pop('timestamp')} {event.pop('level'):<7} {event.pop('event')}"
    fields = "".join(f" {key}={value!r}" for key, value in event.items())
    return f"{head}{fields}" + (f"\n{exception}" if exception else "")
