"""Runs a change of the schema on the connection, and in the transaction, of whoever asks for it."""

from __future__ import annotations

from alembic import context

from orchestrator.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="schema_version",
    transactional_ddl=True,
)
context.run_migrations()
