"""The worker plug-in: lets the workers of a Celery application serve the engine's tasks.

A worker started the usual way hears bells on the queues that it consumes. A bell is a Celery task
whose body is a slot: in a child of a prefork pool, in a thread, or in the main thread (solo). The
parent process announces what is served, and rings for itself when tasks wait unheard.

A foreign application keeps its configuration; `check` says what does not fit. What must hold: JSON
accepted, and no gevent or eventlet pool. Early acknowledgement is set on the bell itself.
"""

from __future__ import annotations

import logging
import mmap
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import structlog
from celery import Celery, Task, signals
from celery.exceptions import QueueNotFound
from celery.worker import state as worker_state

from orchestrator import handlers
from orchestrator.dispatch.broker import BELL, CeleryBell
from orchestrator.dispatch.events import TaskEvents
from orchestrator.dispatch.more import MoreSlots
from orchestrator.dispatch.process import EXIT_HUNG, Parts, Process, Role
from orchestrator.dispatch.serving import Served, Serving
from orchestrator.dispatch.slot import Slot
from orchestrator.dispatch.tracing import TracedTask
from orchestrator.dispatch.watch import Watch
from orchestrator.engine import Bell
from orchestrator.settings import Settings
from orchestrator.store import Claim, SchemaMismatch, StoreUnavailable, WorkerKind

log = structlog.get_logger(__name__)

__all__ = ["CONFIGURATION", "CeleryBell", "UnsuitableApplication", "attach"]

CONFIGURATION: Final[dict[str, object]] = {
    "accept_content": ["json"],
    "task_serializer": "json",
    "result_backend": None,
    "task_ignore_result": True,
    "task_acks_late": False,
    "worker_prefetch_multiplier": 1,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    "broker_transport_options": {"ack_emulation": False},
}
"""How an application of our own is configured: the rows are the queue, the broker keeps nothing."""

_DRAINING, _EVENTS = 0, 1
LEAVE_SECONDS: Final = 600.0
"""How long a worker half of whose slots hang waits for the handlers that do not."""
LEAVE_POLL_SECONDS: Final = 0.1


class UnsuitableApplication(Exception):
    """A Celery application or pool that cannot serve; the text says what to change."""


def attach(app: Celery, build: Callable[[Bell], Parts], settings: Settings) -> None:
    """Let every worker of `app` serve the engine; `build` makes the parts of one process."""
    plugin = _Plugin(app, build, settings)

    def hear(task: Task, tasks: int = 1) -> int:
        return plugin.hear(task, tasks)

    # No rate, no result, acknowledged before it runs: a bell is as good as any other.
    app.task(
        name=BELL,
        shared=False,
        bind=True,
        ignore_result=True,
        acks_late=False,
        send_events=False,
        typing=False,
        rate_limit=None,
    )(hear)
    for logger in ("celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(logger).addFilter(_says_more_than_bells)
    signals.worker_init.connect(plugin.prepare, weak=False)
    signals.worker_process_init.connect(plugin.forked, weak=False)
    signals.worker_ready.connect(plugin.begin, weak=False)
    signals.worker_shutting_down.connect(plugin.drain, weak=False)
    signals.worker_process_shutdown.connect(plugin.end_process, weak=False)
    signals.worker_shutdown.connect(plugin.end, weak=False)


class _Plugin:
    """One application's connection to the engine."""

    def __init__(self, app: Celery, build: Callable[[Bell], Parts], settings: Settings) -> None:
        self.app = app
        self.hostname = ""
        self.bell = CeleryBell(app)
        self._build = build
        self._settings = settings
        self._lock = threading.Lock()
        self._process: Process | None = None
        self._events = TaskEvents(app, "", self.wants_events)
        self._serving: tuple[int, frozenset[str], Serving] | None = None
        self._watch: Watch | None = None
        self._announcer = 0
        self._announced: Serving | None = None
        self._slots: Callable[[], int] = lambda: 1
        self._threads = False
        """Whether several handlers run in one process."""
        self._more = MoreSlots()
        self._tells: Callable[[], bool] = lambda: False
        # Shared with the children of a prefork pool, which hear no signals of the worker.
        self._flags = mmap.mmap(-1, 2)

    # -- in the process that runs handlers ---------------------------------------------------

    def hear(self, task: Task, tasks: int) -> int:
        """The body of a bell for so many tasks: how many its slot has run."""
        queue = str(task.request.delivery_info["routing_key"])
        others = tasks - 1 - self._more.begin(lambda: self._work(queue), tasks - 1)
        if others > 0:
            self.bell.hand_on(queue, others)
        return self._work(queue)

    def _work(self, queue: str) -> int:
        process = self._here()
        return Slot(process.desk, self._served(process, queue)).work(queue)

    def draining(self) -> bool:
        """Whether the worker is ending."""
        return self._flags[_DRAINING] == 1

    def wants_events(self) -> bool:
        """Whether worker events about tasks are switched on."""
        return self._flags[_EVENTS] == 1

    def _here(self) -> Process:
        with self._lock:
            if self._process is None or self._process.pid != os.getpid():
                self._serving = None
                self._events = TaskEvents(self.app, self.hostname, self.wants_events)
                self._process = Process(
                    self._build(self.bell),
                    self.bell,
                    self._settings,
                    role=self._role,
                    draining=self.draining,
                    hung=self._hung,
                )
                self._process.pulse.start()
            return self._process

    def _role(self) -> Role:
        """What this process is: the worker itself, or a child of its pool."""
        if self._announcer != os.getpid():
            return Role(WorkerKind.CHILD)
        watch = self._watch
        unhealthy = None if watch is None else watch.unhealthy
        return Role(WorkerKind.WORKER, self._slots(), self._announced, unhealthy)

    def _hung(self, _claim: Claim, given_up: int) -> None:
        """Free the slot of a handler that hangs: with its process, if it has one of its own."""
        if not self._threads:
            os._exit(EXIT_HUNG)
        slots = self._slots()
        if 2 * given_up >= slots and not self.draining():
            log.error("half of the slots hang: the worker drains and ends", slots=slots)
            self._flags[_DRAINING] = 1
            worker_state.should_stop = EXIT_HUNG
            threading.Thread(target=self._leave, name="orchestrator end", daemon=True).start()

    def _leave(self) -> None:
        """End once nothing runs but what hangs: the pool would wait for that for ever."""
        process = self._here()
        until = time.monotonic() + LEAVE_SECONDS
        while time.monotonic() < until and process.leases.running > process.leases.given_up:
            time.sleep(LEAVE_POLL_SECONDS)
        process.pulse.stop()
        os._exit(EXIT_HUNG)

    def _served(self, process: Process, heard_on: str | None = None) -> Serving:
        queues = frozenset(self.app.amqp.queues.consume_from)
        if heard_on is not None:
            queues |= {heard_on}
        with self._lock:
            known = self._serving
            if known is None or known[0] != process.pid or not queues <= known[1]:
                served = _served(self.app, queues, self.hostname, self._events)
                known = self._serving = (process.pid, queues, Serving(served))
            return known[2]

    # -- in the worker's main process --------------------------------------------------------

    def prepare(self, sender: Any, **_: object) -> None:
        """Before the pool forks: check what cannot work, and leave what the children need."""
        if sender.app is not self.app:
            return
        self.hostname = sender.hostname
        self._threads = "thread" in str(sender.pool_cls)
        try:
            check(self.app, str(sender.pool_cls))
        except UnsuitableApplication as reason:  # signals swallow exceptions, but not this one
            raise SystemExit(f"this worker cannot serve the engine: {reason}") from None
        self._check_schema()

    def forked(self, **_: object) -> None:
        """In a new child of the pool: threads of the parent may have held what was copied."""
        self._more = MoreSlots()
        self._lock = threading.Lock()
        self.bell = CeleryBell(self.app)
        self._process = None

    def _check_schema(self) -> None:
        store = self._build(self.bell).store
        try:
            store.check()
        except StoreUnavailable as away:
            log.warning("the database is away; trying again until it is back", reason=str(away))
        except SchemaMismatch as reason:
            raise SystemExit(f"this worker cannot serve the engine: {reason}") from None
        finally:
            store.dispose()

    def begin(self, sender: Any, **_: object) -> None:
        """The worker consumes (for the first time, or again): announce, and look for work."""
        if sender.app is not self.app:
            return
        self._slots = lambda: int(sender.pool.num_processes)
        self._more = MoreSlots(getattr(sender.pool, "executor", None), self._free)
        self._tells = lambda: _tells_of_tasks(sender)
        if self._watch is None:
            self._announcer = os.getpid()
            process = self._here()
            self._watch = Watch(
                process.desk.store,
                process.desk.worker,
                self.bell,
                lambda: self._looked(process),
                self._free,
                process.outage,
                self._slots,
            )
            self._watch.start()

    def _free(self) -> int:
        """How many slots have nothing to do."""
        return self._slots() - len(worker_state.reserved_requests) - self._more.busy

    def drain(self, **_: object) -> None:
        """The worker is asked to end: what runs is finished, nothing new is claimed."""
        self._flags[_DRAINING] = 1

    def end(self, sender: Any, **_: object) -> None:
        """The worker has ended."""
        if sender.app is self.app:
            if self._watch is not None:
                self._watch.stop()
            self.end_process()

    def end_process(self, **_: object) -> None:
        """A child of the pool, or the worker itself, ends."""
        process, self._process = self._process, None
        if process is not None and process.pid == os.getpid():
            process.end()
            self._events.close()
            process.desk.store.dispose()

    def _looked(self, process: Process) -> Serving:
        self._flags[_EVENTS] = 1 if self._tells() else 0
        self._announced = self._served(process)
        return self._announced


def _says_more_than_bells(record: logging.LogRecord) -> bool:
    """Keep the log to what runs: that a bell came and went says nothing."""
    about = record.args
    is_bell = isinstance(about, Mapping) and about.get("name") == BELL
    return not is_bell or record.levelno > logging.INFO


def check(app: Celery, pool: str) -> None:
    """Raise UnsuitableApplication for a configuration under which no bell would be heard."""
    if "gevent" in pool or "eventlet" in pool:
        raise UnsuitableApplication(f"the pool {pool} is not supported; prefork, threads, solo are")
    accepted = {str(one).lower() for one in app.conf.accept_content}
    if not accepted & {"json", "application/json"}:
        raise UnsuitableApplication("bells are JSON: add 'json' to accept_content")
    if app.conf.task_always_eager:
        log.warning("task_always_eager has no effect on tasks of the engine")


def _tells_of_tasks(consumer: Any) -> bool:
    dispatcher = consumer.event_dispatcher
    if dispatcher is None or not dispatcher.enabled:
        return False
    return not dispatcher.groups or "task" in dispatcher.groups


# ---------------------------------------------------------------------------- what is served


def _served(
    app: Celery, queues: frozenset[str], hostname: str, events: TaskEvents
) -> Iterator[Served]:
    """The application's tasks and our handlers whose route is one of the queues."""
    plain = handlers.registered()
    tasks = {name: task for name, task in app.tasks.items() if _is_users(name)}
    for name in sorted(plain.keys() | tasks.keys()):
        task, handler = tasks.get(name), plain.get(name)
        queue = _route(app, name, task)
        if queue is None or queue not in queues:
            continue
        run = plain[name].run if task is None else TracedTask(app, task, queue, hostname).run
        at_most_once = handler.at_most_once if handler else bool(_option(task, "at_most_once"))
        yield Served(name, queue, at_most_once, events.told(name, run))


def _is_users(name: str) -> bool:
    return name != BELL and not name.startswith("celery.")


def _option(task: Task | None, name: str) -> object:
    return getattr(task, name, None)


def _route(app: Celery, name: str, task: Task | None) -> str | None:
    """The queue to which the application itself would send the task; None where it has none."""
    queue = _option(task, "queue")
    options = {"queue": queue} if queue else {}
    try:
        routed = app.amqp.router.route(options, name, task_type=task)
    except QueueNotFound as error:
        log.warning("a task without a queue is not served", task=name, reason=str(error))
        return None
    found = routed.get("queue")
    return None if found is None else str(getattr(found, "name", found))
