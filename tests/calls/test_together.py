"""Calls that come at the same time are made together: each has its own answer, or its own error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.execution.call import Call, Verdict
from orchestrator.service import CallRequest, Made
from tests.calls.house import House, house
from tests.store.statements import recording


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
        patch.setenv("ORCHESTRATOR_DATA", "")
        with house(tmp_path_factory.mktemp("orders")) as found:
            yield found


def _ready(home: House, name: str) -> str:
    address = home.start(name)
    home.until(address, "Pending")
    return name


def _made(made: Made | Exception) -> Call:
    assert not isinstance(made, Exception), made
    return made[1]


def _order(name: str, call: str, given: str = "{}", number: str | None = None) -> CallRequest:
    return CallRequest("order", name, call, given, number)


def test_what_is_wrong_with_one_is_told_to_it_and_the_others_get_their_verdicts(
    home: House,
) -> None:
    first, second = _ready(home, "first"), _ready(home, "second")
    answers = home.parts.service.calls.call_many(
        [
            _order(first, "ship"),
            _order("nobody", "ship"),
            _order(first, "fly"),
            _order(first, "ship", "{"),
            _order(first, "ship", "{}", "\n"),
            CallRequest("order", first, "ship", "{}", None, "no frame"),
            _order(second, "cancel"),
        ]
    )
    errors = [type(one).__name__ for one in answers[1:-1]]
    assert errors == [
        "ExecutionDoesNotExist",
        "UnknownCall",
        "MalformedCall",
        "MalformedCall",
        "MalformedCall",
    ]
    assert _made(answers[0]).verdict is Verdict.REFUSED
    assert _made(answers[-1]).verdict is Verdict.ACCEPTED


def test_the_same_call_twice_is_made_once_and_another_by_its_id_is_told_so(home: House) -> None:
    name = _ready(home, "twice")
    first, again, other = home.parts.service.calls.call_many(
        [
            _order(name, "ship", "{}", "one"),
            _order(name, "ship", "{}", "one"),
            _order(name, "cancel", "{}", "one"),
        ]
    )
    assert _made(first) == _made(again)
    assert type(other).__name__ == "CallIdTaken"
    assert home.client.get(f"order:{name}")["state"] == "Pending"
    assert len(home.client.calls(f"order:{name}")) == 1


def test_many_calls_are_looked_up_in_one_statement(home: House) -> None:
    requests = [_order(_ready(home, f"many{number}"), "ship") for number in range(8)]
    with recording() as seen:
        answers = home.parts.service.calls.call_many(requests)
    assert {_made(one).verdict for one in answers} == {Verdict.REFUSED}
    assert sum("JOIN calls" in text for text, *_ in seen.statements) == 1
