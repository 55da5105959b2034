"""What is undone next is found by an index, however much an execution has to undo."""

from __future__ import annotations

import sqlite3
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

from orchestrator.execution.compensation import Compensation, Wanted, subtree, under
from orchestrator.execution.decision import Missing
from orchestrator.execution.payload import Payload
from orchestrator.store import Committed, Store
from tests.store import samples
from tests.store.statements import recording

MANY = 5_000


def compensation(scope: str, event: int) -> Compensation:
    return Compensation(
        scope, event, 0, "A", samples.RESOURCE, Payload.of(None), f"k{event}", None, "/States/A"
    )


def plan(url: str, text: str, values: Any) -> str:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        found = connection.execute(f"EXPLAIN QUERY PLAN {text}", values).fetchall()
        connection.close()
        return "\n".join(step for *_, step in found)
    host, name = make_url(url).query["host"], make_url(url).database
    assert isinstance(host, str)
    with psycopg.connect(host=host, dbname=name, user="postgres", autocommit=True) as postgres:
        postgres.execute("ANALYZE compensations")
        return "\n".join(line for (line,) in postgres.execute(f"EXPLAIN {text}", values))


NARROW = [
    Wanted(subtree("/5.17")),
    Wanted(subtree("/5.17"), before=(60, 0)),
    Wanted(under("/5.17", 40), every=True),
]
WHOLE = [
    Wanted(subtree("")),
    Wanted(subtree(""), before=(60, 0)),
    Wanted(subtree("", 40)),
    Wanted(subtree("", 40), before=(60, 0)),
]


@pytest.mark.parametrize(("wanted", "by_key"), [(NARROW, True), (WHOLE, False)])
def test_of_many_only_the_wanted_are_read(
    database_url: str, wanted: list[Wanted], by_key: bool
) -> None:
    store = Store(database_url)
    view = samples.started(store)
    many = tuple(compensation(f"/5.{n}", 10 + n) for n in range(MANY))
    assert store.commit([samples.moving(view, registered=many)]) == [Committed()]
    view = samples.view_of(store, view.execution.id)
    for one in wanted:
        with recording() as recorded:
            found = store.read_more(view, Missing(compensations=(one,)))
        assert found is not None
        (text, values) = next(s for s in recorded.statements if "FROM compensations" in s[0])
        used = plan(database_url, text, values)
        assert ("compensations_open" in used) is not by_key, (one, used)
        assert "Sort" not in used or by_key
        assert "B-TREE" not in used or by_key
        assert "Seq Scan" not in used
        numbers = {there.event for there in found.compensations[one]}
        mine = [c for c in many if one.stretch.holds(c.number)]
        mine = [c for c in mine if one.before is None or c.order < one.before]
        newest = {max(mine, key=lambda c: c.order).event} if mine else set()
        assert numbers == ({c.event for c in mine} if one.every else newest)
    store.dispose()
