"""The composition root: wires the floors for one process."""

from __future__ import annotations

import _thread
import importlib
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, Self

import structlog

from orchestrator import logs
from orchestrator import settings as environment
from orchestrator import store as database
from orchestrator.api.errors import CannotListen
from orchestrator.asl.limits import DEFAULT, STRICT_AWS, Limits
from orchestrator.dispatch.mocked import Mocks as Mocked
from orchestrator.dispatch.mocked import UnreadableMocks
from orchestrator.engine import (
    Bell,
    Engine,
    Mocks,
    Silence,
    Surroundings,
    TellingBell,
    UnreadableRevision,
    no_mocks,
)
from orchestrator.evaluation import Evaluator
from orchestrator.execution.frame import Scope
from orchestrator.outage import Outage
from orchestrator.service import Orchestrator
from orchestrator.settings import Settings, WrongSetting
from orchestrator.store import (
    SchemaMismatch,
    Store,
    StoreUnavailable,
    TooManyWriters,
    UnsupportedDatabase,
)

if TYPE_CHECKING:
    from celery import Celery
    from fastapi import FastAPI

    from orchestrator.dispatch.local import LocalWorker
    from orchestrator.scheduler import Scheduler
    from orchestrator.simulation import Simulation

log = structlog.get_logger(__name__)

EMBEDDED_DATABASE: Final = "orchestrator.db"
AWAY_SECONDS: Final = 1.0
"""How often a scheduler that starts looks whether the database is there."""


class NoSuchHandlers(Exception):
    """A module of handlers cannot be imported."""

    def __init__(self, module: str, error: Exception) -> None:
        super().__init__(
            f"the handlers of {module!r} cannot be imported: {type(error).__name__}: {error}"
        )


class UnusableFolder(Exception):
    """The folder of the embedded mode cannot be made."""


WRONG_USE: Final = (
    WrongSetting,
    UnsupportedDatabase,
    NoSuchHandlers,
    UnusableFolder,
    CannotListen,
    UnreadableMocks,
)
"""What the caller has to change; the text of each says what."""
TROUBLE: Final = (StoreUnavailable, SchemaMismatch, TooManyWriters, UnreadableRevision)
"""What the caller cannot mend by asking otherwise."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What one process has to work with."""

    settings: Settings
    store: Store
    bell: Bell
    engine: Engine
    service: Orchestrator


def settings(database_url: str | None = None, broker_url: str | None = None) -> Settings:
    """The settings of the environment, but for what is given; raises WrongSetting."""
    given = {"database_url": database_url, "broker_url": broker_url}
    return environment.read().model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )


def limits(settings: Settings) -> Limits:
    """The limits that the settings choose."""
    if settings.limits == "strict-aws":
        return replace(STRICT_AWS, states_per_transaction=settings.states_per_transaction)
    return replace(
        DEFAULT,
        document_bytes=settings.document_bytes,
        states_per_transaction=settings.states_per_transaction,
    )


def build(
    settings: Settings,
    bell: Bell | None = None,
    wake: Callable[[datetime], None] = lambda _at: None,
    mocks: Mocks = no_mocks,
) -> Parts:
    """The parts of a process; `bell` defaults to Celery's where a broker is set."""
    logs.configure(settings.log_level)
    scope = Scope(settings.region, settings.account)
    bounds = limits(settings)
    store = Store(
        settings.database_url, limits=bounds, scope=scope, lease_seconds=settings.lease_seconds
    )
    bell = TellingBell(bell or _bell(settings), store)
    engine = Engine(
        store,
        bell,
        limits=bounds,
        scope=scope,
        wake=wake,
        surroundings=Surroundings(evaluate=Evaluator(bounds)),
        mocks=mocks,
    )
    service = Orchestrator(store, engine, limits=bounds, scope=scope)
    return Parts(settings, store, bell, engine, service)


def _bell(settings: Settings) -> Bell:
    if settings.broker_url is None:
        return Silence()
    from orchestrator.dispatch.broker import CeleryBell

    return CeleryBell(settings.broker_url)


def upgrade(settings: Settings) -> str:
    """Bring the database's schema to this release's and say what was done."""
    return database.migrate(settings.database_url)


class _Waker:
    """Lets an engine poke a scheduler that is made after it."""

    def __init__(self) -> None:
        self.scheduler: Scheduler | None = None

    def __call__(self, at: datetime) -> None:
        if self.scheduler is not None:
            self.scheduler.poke(at)


def scheduler(
    settings: Settings, bell: Bell | None = None, mocks: Mocks = no_mocks
) -> tuple[Parts, Scheduler]:
    """A scheduler and its parts; it is not started."""
    from orchestrator.scheduler import Scheduler

    waker = _Waker()
    parts = build(settings, bell, waker, mocks)
    made = Scheduler(
        parts.store, parts.engine, parts.bell, settings.poll_seconds, settings.sweep_seconds
    )
    waker.scheduler = made
    return parts, made


def run_scheduler(settings: Settings) -> None:
    """Tick until SIGTERM or SIGINT."""
    parts, ticks = scheduler(settings)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    if _reached(parts.store, stopping):
        ticks.start()
        log.info("the scheduler ticks")
        stopping.wait()
        ticks.stop()
    parts.store.dispose()


def _reached(store: Store, stopping: threading.Event) -> bool:
    """Wait for a database that is away; False if the process is to end before it is there."""
    outage = Outage()
    while not stopping.is_set():
        asked_at = time.monotonic()
        try:
            store.check()
        except StoreUnavailable as reason:
            outage.failed(reason)
            stopping.wait(AWAY_SECONDS)
        else:
            outage.passed(asked_at)
            return True
    return False


@dataclass(frozen=True, slots=True)
class Embedded:
    """An engine, a worker and a scheduler in this process, on SQLite."""

    parts: Parts
    worker: LocalWorker
    scheduler: Scheduler

    @property
    def service(self) -> Orchestrator:
        """What people ask."""
        return self.parts.service

    def __enter__(self) -> Self:
        try:
            self.worker.start()
            self.scheduler.start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
        """End what has begun, also where not all of it could: no thread outlives the store."""
        self.scheduler.stop()
        self.worker.stop()
        self.parts.store.dispose()


def embedded(
    data: Path,
    modules: Sequence[str],
    base: Settings | None = None,
    mock_config: Path | None = None,
) -> Embedded:
    """The embedded mode over a folder, serving the handlers of `modules`; migrates at start.

    Handlers find the folder in the environment, as ORCHESTRATOR_DATA.
    """
    from orchestrator.dispatch.local import LocalBell, LocalWorker

    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnusableFolder(f"the folder {data} cannot be used: {error.strerror}") from None
    os.environ["ORCHESTRATOR_DATA"] = str(data)
    url = f"sqlite:///{data / EMBEDDED_DATABASE}"
    settings = (base or environment.read()).model_copy(update={"database_url": url, "data": data})
    for module in modules:
        _load(module)
    database.migrate(url)
    bell = LocalBell()
    mocks = None if mock_config is None else Mocked(mock_config)
    parts, ticks = scheduler(settings, bell, no_mocks if mocks is None else mocks.of)
    if mocks is not None:
        mocks.serve(parts.store, parts.engine)
    worker = LocalWorker(parts, bell, settings, spent=_thread.interrupt_main)
    return Embedded(parts, worker, ticks)


@dataclass(frozen=True, slots=True)
class Dev:
    """What the development server is to serve, and from where."""

    data: Path
    handlers: tuple[str, ...]
    mock_config: Path | None
    limits: str


def client_environment(host: str, port: int) -> dict[str, str]:
    """The variables that boto3 and the aws CLI need."""
    region = environment.read().region
    return {
        "AWS_ENDPOINT_URL_SFN": f"http://{host}:{port}",
        "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",  # nobody is asked who he is yet
    }


def serve(parts: Parts, host: str, port: int, *more: str, test_cases: bool = False) -> None:
    """Serve the doors and the console until SIGTERM or SIGINT; `more` is said besides where."""
    from orchestrator.api.server import serve as listen

    listen(application(parts, host, test_cases=test_cases), host, port, *more)


def application(parts: Parts, host: str = "127.0.0.1", *, test_cases: bool = False) -> FastAPI:
    """The doors and the console as an application of ASGI that listens at a host."""
    from orchestrator.api.door import application as doors
    from orchestrator.api.hosts import LOOPBACK
    from orchestrator.web.console import Console

    service, store = parts.service, parts.store
    given = frozenset(name.strip() for name in parts.settings.hosts.split(",") if name.strip())
    here = f"[{host}]" if ":" in host else host
    names = None if here not in LOOPBACK and not given else LOOPBACK | given
    if here not in LOOPBACK:
        log.warning(
            "the console and the APIs can be reached from elsewhere, and nobody has to sign in",
            host=host,
            answers_to="any name: set ORCHESTRATOR_HOSTS" if names is None else sorted(names),
        )
    app = doors(service, store.scope, store.limits, test_cases=test_cases, hosts=names)
    Console(service, store.limits).join(app)
    return app


def run_api(settings: Settings, host: str, port: int) -> None:
    """Serve the doors and the console until SIGTERM or SIGINT."""
    parts = build(settings)
    try:
        parts.store.check()
    except StoreUnavailable as away:  # the door answers that, until it is back
        log.warning("the database is away", reason=str(away))
    try:
        serve(parts, host, port)
    finally:
        parts.store.dispose()


def run_dev(wish: Dev, host: str, port: int) -> None:
    """Serve API, console, worker and scheduler in this process until SIGTERM or SIGINT."""
    with embedded(wish.data, wish.handlers, _dev_settings(wish), wish.mock_config) as running:
        url = running.parts.settings.database_url
        commands = f"the commands: export ORCHESTRATOR_DATABASE_URL={quote(url)}"
        serve(running.parts, host, port, commands, test_cases=wish.mock_config is not None)


def _dev_settings(wish: Dev) -> Settings:
    return environment.read().model_copy(update={"limits": wish.limits})


def _load(module: str) -> None:
    try:
        importlib.import_module(module)
    except Exception as error:  # the import of foreign code: nothing else may be assumed
        raise NoSuchHandlers(module, error) from error


def simulation(first: int, seeds: int, *, logging: bool) -> Simulation:
    """Everything from the engine down under seeded faults; iterate over it to run it."""
    from orchestrator.simulation import Simulation

    logs.configure("critical")  # what is simulated to go wrong is no news
    return Simulation(first, seeds, logging=logging)


def join(app: Celery, settings: Settings | None = None) -> None:
    """Let the workers of a Celery application serve the engine's tasks."""
    from orchestrator.dispatch.celery import attach

    chosen = settings or environment.read()
    attach(app, lambda bell: build(chosen, bell), chosen)
