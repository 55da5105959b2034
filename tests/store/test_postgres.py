"""What only PostgreSQL does: connections that die, commits of which nobody knows, time limits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from orchestrator.execution.decision import Stale
from orchestrator.store import Committed, Connecting, Failed, Store, StoreUnavailable, migrate
from orchestrator.store.database import Database
from tests.servers import PostgresServer, create_database
from tests.store import samples
from tests.store.statements import recording


@pytest.fixture
def admin(postgres_url: str) -> Iterator[Connection]:
    """Another connection to the same database, on which each statement is a transaction."""
    engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        yield connection


def _until(condition: Callable[[], object]) -> None:
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def _terminate(admin: Connection, condition: str) -> None:
    """End the connections of stores for which a condition holds; wait for the first."""
    ours = f"FROM pg_stat_activity WHERE application_name = 'store' AND {condition}"
    _until(lambda: admin.execute(text(f"SELECT count(*) {ours}")).scalar())
    admin.execute(text(f"SELECT pg_terminate_backend(pid) {ours}"))


def _in_thread(work: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    found: list[object] = []

    def run() -> None:
        try:
            found.append(work())
        except StoreUnavailable as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def test_a_commit_that_stands_though_the_connection_died_is_unknown_and_repeated_stale(
    start_postgres: Callable[..., PostgresServer],
) -> None:
    server = start_postgres()
    url = create_database(server.admin_url).render_as_string(hide_password=False)
    migrate(url)
    store = Store(url, application_name="store")
    decision = samples.moving(samples.started(store))
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as admin:
        # COMMIT is carried out, and then waits for a replica that does not exist.
        admin.execute(text("ALTER SYSTEM SET synchronous_standby_names = 'nobody'"))
        admin.execute(text("SELECT pg_reload_conf()"))
        _until(lambda: admin.execute(text("SHOW synchronous_standby_names")).scalar() == "nobody")
        thread, found = _in_thread(lambda: store.commit([decision]))
        _terminate(admin, "wait_event = 'SyncRep'")
        thread.join(20)
        admin.execute(text("ALTER SYSTEM RESET synchronous_standby_names"))
        admin.execute(text("SELECT pg_reload_conf()"))
        _until(lambda: admin.execute(text("SHOW synchronous_standby_names")).scalar() == "")
    (error,) = found
    assert isinstance(error, StoreUnavailable)
    assert error.unknown
    (again,) = store.commit([decision])
    assert isinstance(again, Stale)
    view = samples.view_of(store, decision.execution.id)
    assert view.frames[""] == decision.updated[0].frame  # it carries the token: it is ours
    store.dispose()


def test_a_commit_that_fell_with_the_connection_is_unknown_and_repeated_committed(
    postgres_url: str, admin: Connection
) -> None:
    admin.execute(
        text(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'"
        )
    )
    store = Store(postgres_url, application_name="store")
    decision = samples.moving(samples.started(store))
    admin.execute(
        text(
            "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON history "
            "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()"
        )
    )
    thread, found = _in_thread(lambda: store.commit([decision]))
    _terminate(admin, "wait_event = 'PgSleep'")
    thread.join(20)
    (error,) = found
    assert isinstance(error, StoreUnavailable)
    assert error.unknown
    admin.execute(text("DROP TRIGGER slow ON history"))
    assert store.commit([decision]) == [Committed()]
    store.dispose()


def test_a_connection_that_dies_before_the_commit_has_written_nothing(
    postgres_url: str, admin: Connection
) -> None:
    store = Store(postgres_url, application_name="store")
    view = samples.started(store)

    def decide() -> None:
        with store.locked(view.execution.id) as locked:
            locked.write(samples.moving(view))
            _terminate(admin, "state = 'idle in transaction'")

    with pytest.raises(StoreUnavailable) as raised:
        decide()
    assert not raised.value.unknown
    assert samples.view_of(store, view.execution.id) == view
    store.dispose()


def test_it_connects_again_after_the_server_has_cut_all_connections(
    postgres_url: str, admin: Connection
) -> None:
    store = Store(postgres_url, application_name="store")
    view = samples.started(store)
    _terminate(admin, "true")
    with pytest.raises(StoreUnavailable):
        samples.view_of(store, view.execution.id)
    assert samples.view_of(store, view.execution.id) == view
    store.dispose()


def test_every_connection_has_its_time_limits(postgres_url: str) -> None:
    connecting = Connecting(
        statement_seconds=7.0, lock_seconds=3.0, idle_in_transaction_seconds=11.0
    )
    ours = Database(postgres_url, connecting, "")
    for opened in (ours.reading, ours.writing, ours.claiming):
        with opened() as connection:
            shown = {
                name: connection.execute(text(f"SHOW {name}")).scalar()
                for name in (
                    "statement_timeout",
                    "lock_timeout",
                    "idle_in_transaction_session_timeout",
                    "transaction_isolation",
                )
            }
        assert list(shown.values()) == ["7s", "3s", "11s", "read committed"]
    ours.dispose()


def test_only_claims_of_at_most_once_handlers_and_transitions_wait_for_the_disk(
    postgres_url: str,
) -> None:
    ours = Database(postgres_url, Connecting(), "")
    shown = []
    for opened in (ours.writing(), ours.claiming(durable=True), ours.claiming(), ours.reading()):
        with opened as connection:
            shown.append(connection.execute(text("SHOW synchronous_commit")).scalar())
    assert shown == ["on", "on", "off", "off"]
    ours.dispose()


def test_a_statement_that_takes_too_long_is_given_up(postgres_url: str, admin: Connection) -> None:
    store = Store(postgres_url, connecting=Connecting(statement_seconds=0.2))
    view = samples.started(store)
    admin.execute(text("BEGIN"))
    admin.execute(text("LOCK TABLE executions"))
    with pytest.raises(StoreUnavailable, match="statement timeout"):
        samples.view_of(store, view.execution.id)
    admin.execute(text("ROLLBACK"))
    assert samples.view_of(store, view.execution.id) == view
    store.dispose()


def test_waiting_for_a_lock_is_tried_again_and_then_given_up(
    postgres_url: str, admin: Connection
) -> None:
    store = Store(postgres_url, connecting=Connecting(lock_seconds=0.05))
    view = samples.started(store)
    admin.execute(text("BEGIN"))
    admin.execute(text("SELECT FROM executions FOR UPDATE"))
    with recording() as recorded:
        (outcome,) = store.commit([samples.moving(view)])
    assert isinstance(outcome, Failed)
    assert len(recorded.statements) == 10
    admin.execute(text("ROLLBACK"))
    assert store.commit([samples.moving(view)]) == [Committed()]
    store.dispose()


def test_a_pool_that_is_exhausted_says_so(postgres_url: str) -> None:
    connecting = Connecting(pool_size=1, pool_overflow=0, pool_wait_seconds=0.1)
    store = Store(postgres_url, connecting=connecting)
    view = samples.started(store)
    with (
        store.locked(view.execution.id),
        pytest.raises(StoreUnavailable, match="no free connection"),
        store.locked(view.execution.id + 1),
    ):
        pass
    store.dispose()


@pytest.mark.parametrize("given_up", ["at the end", "since another connection was lost"])
def test_what_is_in_use_when_a_pool_is_given_up_is_closed_when_it_comes_back(
    postgres_url: str, admin: Connection, given_up: str
) -> None:
    store = Store(postgres_url, application_name="store")
    view = samples.started(store)

    def sessions() -> object:
        ours = "FROM pg_stat_activity WHERE application_name = 'store'"
        return admin.execute(text(f"SELECT count(*) {ours}")).scalar()

    with store.locked(view.execution.id):
        if given_up == "at the end":
            store.dispose()
        else:
            _terminate(admin, "state = 'idle'")
            with pytest.raises(StoreUnavailable):
                store.execution(view.execution.id)
        _until(lambda: sessions() == 1)
    _until(lambda: sessions() == 0)
    store.dispose()
