"""The lock rule keeps transitions, claims, renewals and lapses out of each other's way."""

from __future__ import annotations

from tests.store.deadlocks import run


def test_with_the_lock_rule_there_are_no_deadlocks(postgres_url: str) -> None:
    found = run(postgres_url, 4.0, ordered=True)
    assert found.deadlocks == 0
    assert found.failed == 0
    assert min(found.committed, found.stale, found.claims, found.lapses) > 0
    assert found.versions == found.committed


def test_without_its_order_there_are(postgres_url: str) -> None:
    found = run(postgres_url, 2.0, ordered=False)
    assert found.deadlocks > 0
    assert found.versions == found.committed
