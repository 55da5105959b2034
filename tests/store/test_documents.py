"""Documents come back as they were, whatever JSON can hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.asl.document import Json
from orchestrator.execution.payload import Payload
from orchestrator.store import Committed, Store
from tests.store import samples

HOSTILE: list[Json] = [
    "\x00",
    "\ud800",
    "\udfff\ud800 \U0001f600",
    {"\x00": "\x00", "\ud83d": "lone"},
    10**308 - 1,
    -(10**308) + 1,
    2**63,
    0.1,
    1e308,
    5e-324,
    [True, 1, 1.0, None],
    "'; DROP TABLE frames; -- %s %(x)s :name \\ \"",
    {"a": {"b": ["x" * 100_000]}},
]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_document_comes_back_as_it_was(store: Store, value: Json) -> None:
    given = Payload.of(value)
    task = samples.task(arguments=given)
    frame = samples.frame(task=task, input=given, item=given)
    begun = samples.beginning(None, frame, value={"it": value})
    store.start([replace(begun, history=(samples.event(1, input=given), samples.event(2)))])
    number = begun.execution.id
    (claim,) = samples.claimed(store)
    assert store.heartbeat(claim, given)
    view = samples.view_of(store, number)
    texts = [
        store.read_input(number).text,
        view.frames[""].input.text,
        claim.arguments.text,
        claim.row.item.text if claim.row.item else "",
    ]
    assert texts == [Payload.of({"it": value}).text, given.text, given.text, given.text]
    assert view.frames[""].input.value == value
    assert type(view.frames[""].input.value) is type(value)
    recorded = store.history(number)[0].details["input"]
    assert isinstance(recorded, Payload)
    assert recorded.text == given.text
    assert store.commit([samples.ending(view, value)]) == [Committed()]
    output = store.output(number)
    assert output is not None
    assert output.text == given.text


def test_progress_is_there_for_the_next_delivery_of_the_attempt(store: Store) -> None:
    samples.started(store)
    (claim,) = samples.claimed(store, lease_seconds=0.0)
    assert claim.progress is None
    assert store.heartbeat(claim, Payload.of({"done": 7}))
    assert store.lapse(10).given_back == {samples.QUEUE: 1}
    (again,) = samples.claimed(store)
    assert again.progress == Payload.of({"done": 7})
