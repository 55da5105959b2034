"""A process that forks leaves its connections to itself."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable

from orchestrator.store import Committed, Store
from tests.store import samples


def _in_fork(work: Callable[[], object]) -> int:
    """Run in a forked child and return its exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except Exception:  # noqa: BLE001  # whatever it is, the child must not go on as pytest
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_connects_by_itself_and_the_parent_goes_on(store: Store) -> None:
    view = samples.started(store)

    def work() -> None:
        for _ in range(3):
            seen = samples.view_of(store, view.execution.id)
            assert store.commit([samples.moving(seen)]) == [Committed()]
            store.now()
        store.dispose()

    for turn in range(1, 4):
        assert _in_fork(work) == 0
        seen = samples.view_of(store, view.execution.id)
        assert seen.execution.version == 1 + 4 * turn - 1
        assert store.commit([samples.moving(seen)]) == [Committed()]


def test_a_fork_in_the_middle_of_a_transaction_does_not_stop_the_child(store: Store) -> None:
    view = samples.started(store)
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with store.locked(view.execution.id):
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(30)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert samples.view_of(store, view.execution.id) == view
            store.dispose()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    leave.set()
    thread.join()
    assert store.commit([samples.moving(view)]) == [Committed()]
