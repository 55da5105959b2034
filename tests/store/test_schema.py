"""The schema is brought to this release's by whoever comes first, and by nobody by accident."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, inspect, text

from orchestrator.store import SchemaMismatch, Store, StoreUnavailable, migrate
from orchestrator.store.schema import newest
from orchestrator.store.tables import metadata
from tests.store import samples
from tests.store.processes import at_once, in_processes


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Engine]:
    engine = create_engine(empty_database_url)
    yield engine
    engine.dispose()


def test_an_empty_database_is_refused_with_a_word_of_advice(empty_database_url: str) -> None:
    store = Store(empty_database_url)
    with pytest.raises(SchemaMismatch, match="run `orchestrator db upgrade`"):
        store.list_executions()
    store.dispose()


def test_an_upgrade_says_what_it_did_and_a_second_one_does_nothing(
    empty_database_url: str, empty: Engine
) -> None:
    assert migrate(empty_database_url) == f"the schema was empty and is {newest()} now"
    tables = set(inspect(empty).get_table_names())
    assert tables == {*metadata.tables, "schema_version"}
    assert migrate(empty_database_url) == f"the schema is {newest()} already"
    store = Store(empty_database_url)
    store.check()
    assert samples.started(store)
    store.dispose()


def test_the_tables_are_those_that_the_statements_are_written_for(
    empty_database_url: str, empty: Engine
) -> None:
    migrate(empty_database_url)
    with empty.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": "schema_version", "compare_type": True}
        )
        assert compare_metadata(context, metadata) == []


@pytest.mark.parametrize(
    ("version", "advice"),
    [("0000", "newer than this release's"), ("9999", "newer than this release's")],
)
def test_an_unknown_schema_is_refused_and_left_alone(
    empty_database_url: str, empty: Engine, version: str, advice: str
) -> None:
    migrate(empty_database_url)
    with empty.begin() as connection:
        connection.execute(text("UPDATE schema_version SET version_num = :v"), {"v": version})
    store = Store(empty_database_url)
    with pytest.raises(SchemaMismatch, match=advice):
        store.check()
    with pytest.raises(SchemaMismatch, match=advice):
        migrate(empty_database_url)
    store.dispose()


def test_an_older_schema_is_refused_until_it_is_upgraded(
    empty_database_url: str, empty: Engine
) -> None:
    migrate(empty_database_url)
    with empty.begin() as connection:
        connection.execute(text("DELETE FROM schema_version"))
    store = Store(empty_database_url)
    with pytest.raises(SchemaMismatch, match="run `orchestrator db upgrade`"):
        store.check()
    store.dispose()


def _migrate(url: str, meet: Any) -> str:
    meet.wait()
    return migrate(url)


def test_of_processes_that_upgrade_at_once_one_does(empty_database_url: str) -> None:
    meet = at_once(3)
    said = in_processes(_migrate, [(empty_database_url, meet)] * 3)
    assert sorted(said) == [f"the schema is {newest()} already"] * 2 + [
        f"the schema was empty and is {newest()} now"
    ]


def test_a_failed_upgrade_leaves_nothing_behind(empty_database_url: str, empty: Engine) -> None:
    with empty.begin() as connection:
        connection.execute(text("CREATE TABLE history (x integer)"))
    with pytest.raises(Exception, match="already exists"):
        migrate(empty_database_url)
    assert inspect(empty).get_table_names() == ["history"]


def test_a_database_that_is_away_is_unavailable() -> None:
    store = Store("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(StoreUnavailable) as raised:
        store.check()
    assert not raised.value.unknown
    store.dispose()


def test_a_file_that_is_not_there_is_not_made_by_asking(tmp_path: Path) -> None:
    for path in (tmp_path / "none.db", tmp_path / "no" / "such" / "folder" / "x.db"):
        store = Store(f"sqlite:///{path}")
        with pytest.raises(SchemaMismatch, match=f"there is no database {path}"):
            store.check()
        store.dispose()
    assert list(tmp_path.iterdir()) == []
