"""A deployment in one process that cannot begin ends what has begun of it."""

from __future__ import annotations

import threading

import pytest

from orchestrator import main
from orchestrator.dispatch.local import LocalBell, LocalWorker
from orchestrator.main import Embedded
from orchestrator.store import SchemaMismatch


def test_what_cannot_begin_leaves_no_thread_behind(empty_database_url: str) -> None:
    settings = main.settings(empty_database_url)
    bell = LocalBell()
    parts, ticks = main.scheduler(settings, bell)
    before = set(threading.enumerate())
    with (
        pytest.raises(SchemaMismatch),
        Embedded(parts, LocalWorker(parts, bell, settings), ticks),
    ):
        pass
    assert set(threading.enumerate()) <= before
