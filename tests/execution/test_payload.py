"""Payloads."""

from __future__ import annotations

from orchestrator.execution.payload import Payload


def test_a_payload_is_read_and_written_on_first_use() -> None:
    assert Payload.parse('{"a":1}').value == {"a": 1}
    assert Payload.of({"a": "é"}).text == '{"a":"\\u00e9"}'
    assert Payload.parse("[1]").is_read is False


def test_payloads_are_equal_when_their_documents_are() -> None:
    assert Payload.parse('{"a":1,"b":2}') == Payload.of({"b": 2, "a": 1.0})
    assert Payload.of(True) != Payload.of(1)
    assert Payload.of(1) != 1


def test_an_array_is_put_together_without_reading_its_items() -> None:
    unread = Payload.array([Payload.parse("1"), Payload.of({"a": 2})])
    assert (unread.is_read, unread.text, unread.value) == (False, '[1,{"a":2}]', [1, {"a": 2}])
    read = Payload.array([Payload.of(1)])
    assert (read.is_read, read.value) == (True, [1])
