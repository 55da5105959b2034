from orchestrator.execution.decision import Stale
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import Committed, Store
from tests.store import samples


def test_an_execution_is_started_read_moved_and_ended(database_url: str) -> None:
    store = Store(database_url)
    begun = samples.beginning("4711")
    (started,) = store.start([begun])
    assert started.created
    key = (started.id, "")
    view = store.read([key])[key]
    assert view.execution == begun.execution
    assert view.frames == {"": begun.inserted[0]}
    moved = samples.moving(view)
    assert store.commit([moved]) == [Committed()]
    (again,) = store.commit([moved])
    assert isinstance(again, Stale)
    view = store.read([key])[key]
    assert view.frames[""] == moved.updated[0].frame
    claims = store.claim("w", [samples.QUEUE], [samples.RESOURCE], limit=10)
    assert [claim.frame for claim in claims] == [""]
    view = store.read([key])[key]
    assert view.frames[""] == claims[0].row
    assert store.renew("w", claims) == []
    assert store.heartbeat(claims[0])
    assert store.commit([samples.ending(view, {"a": 1})]) == [Committed()]
    assert store.frames(started.id) == []
    assert store.renew("w", claims) == claims
    ended = store.find(samples.MACHINE, "4711")
    assert ended is not None
    assert ended.status is ExecutionStatus.SUCCEEDED
    assert [event.id for event in store.history(started.id)] == [1, 2, 3, 4]
    store.lapse(10), store.due(10), store.ready(), store.unserved(), store.assign_queues()
    store.next_moment(), store.routes(), store.machines(), store.list_executions()
    with store.locked(started.id) as locked:
        assert locked.read("") is not None
    store.dispose()
