"""What can go wrong between the engine and its database."""

from __future__ import annotations


class StoreUnavailable(Exception):
    """The database cannot be reached, was lost on the way, or does not answer in time.

    `unknown` says that the connection died during COMMIT: what was to be written may stand in the
    database or not. Every write is guarded, so repeating it is safe: it is stale if it stands.
    """

    def __init__(self, message: str, *, unknown: bool = False) -> None:
        super().__init__(message)
        self.unknown = unknown


class SchemaMismatch(Exception):
    """The tables of the database are not those of this release."""


class UnsupportedDatabase(Exception):
    """The URL names a database that the store does not speak to."""


class TooManyWriters(Exception):
    """Four processes write to this SQLite database already."""


class IdTaken(Exception):
    """Another execution has this id; draw another one."""

    def __init__(self, execution: int) -> None:
        super().__init__(f"execution id {execution} is taken")
        self.execution = execution


class NoSuchRevision(Exception):
    """There is no revision with this id."""

    def __init__(self, revision: int) -> None:
        super().__init__(f"there is no revision {revision}")
        self.revision = revision


class GroupBroken(Exception):
    """A write did not meet the rows that it names; nothing of its transaction was committed."""


def require(whole: bool) -> None:
    """Raise GroupBroken, which rolls a transaction back, unless it has met all its rows."""
    if not whole:
        raise GroupBroken
