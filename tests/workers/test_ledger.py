"""The ledger of the sample handlers, and how their orders go well and wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import workers.ledger
from orchestrator import handlers
from orchestrator.asl.document import Json
from orchestrator.execution.payload import Payload
from orchestrator.handlers import Failed, Outcome, Returned, TaskContext, Undone
from workers.ledger import Ledger

ORDER: dict[str, Json] = {
    "order_id": "4711",
    "customer": {"name": "Ada", "email": "ada@example.com"},
    "items": [{"sku": "TEAPOT", "quantity": 2, "price": 3900}],
    "payment": {"card": "4242-4242-4242-4242"},
    "shipping": {"city": "London"},
}


@pytest.fixture
def ledger(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("ORCHESTRATOR_LEDGER_URL", empty_database_url)
    opened = workers.ledger.ledger()
    yield opened
    opened.dispose()


def call(name: str, key: str = "k", attempt: int = 1, **arguments: Json) -> Outcome:
    context = TaskContext(key, attempt, 1, "4711", "order", "State", f"celery:{name}")
    return handlers.registered()[name].run(Payload.of({"order": ORDER, **arguments}), context)


def undo(name: str, undone: str, *, key: str, **arguments: Json) -> Outcome:
    """Run a compensation of what was done, or not, under a key."""
    resource = f"celery:{name}"
    context = TaskContext(key, 1, 1, "4711", "order", "State", resource, undoes=Undone(undone))
    return handlers.registered()[name].run(Payload.of({"order": ORDER, **arguments}), context)


def value(outcome: Outcome) -> Any:
    assert isinstance(outcome, Returned), outcome
    return outcome.result.value


def test_every_call_is_a_run_and_a_key_has_one_effect(ledger: Ledger) -> None:
    first = value(call("payments.charge", amount=7800))
    again = value(call("payments.charge", amount=7800))
    assert first == again == {"charge": "ch_4711", "amount": 7800}
    assert [run.handler for run in ledger.runs("order:4711")] == ["payments.charge"] * 2
    assert [effect.key for effect in ledger.effects("order:4711")] == ["k"]


def test_calls_at_the_same_instant_have_one_effect(ledger: Ledger) -> None:
    threads = [
        threading.Thread(target=call, args=("payments.charge",), kwargs={"amount": 1})
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.runs()) == 8
    assert len(ledger.effects()) == 1


def test_a_refund_is_what_the_order_was_charged(ledger: Ledger) -> None:
    assert value(call("payments.refund", key="r0"))["amount"] == 0
    call("payments.charge", amount=7800)
    assert value(call("payments.refund", key="r1"))["amount"] == 7800
    assert len(ledger.effects()) == 3


def test_a_compensation_undoes_what_was_done_under_a_key(ledger: Ledger) -> None:
    item: Json = {"sku": "CUP", "quantity": 3}
    for key in ("a", "b"):
        call("inventory.reserve", key=key, item=item)
    assert value(undo("inventory.release", "a", key="c", item=item))["released"] == item
    assert value(call("payments.charge", key="d", amount=7))["amount"] == 7
    call("payments.charge", key="e", amount=8)
    assert value(undo("payments.refund", "e", key="f"))["amount"] == 8
    assert [effect.key for effect in ledger.effects()] == ["a", "b", "c", "d", "e", "f"]


def test_what_is_undone_before_it_is_done_is_never_done(ledger: Ledger) -> None:
    assert value(undo("payments.refund", "late", key="r"))["amount"] == 0
    late = call("payments.charge", key="late", amount=7)
    assert isinstance(late, Failed)
    assert late.error == "TooLate"
    assert value(undo("payments.refund", "late", key="r"))["amount"] == 0
    assert [effect.key for effect in ledger.effects()] == ["r"]


def test_bookings_are_cancelled_by_their_reference_or_by_their_key(ledger: Ledger) -> None:
    order: Json = {**ORDER, "trip": {"to": "Turin", "nights": 2, "seats": 2, "driver_age": 30}}
    booked = value(call("flights.book", key="a", order=order))["booking"]
    seats = value(call("flights.reserve_seats", key="b", order=order, booking=booked))["seats"]
    hotel = value(call("hotels.book", key="c", order=order))["booking"]
    for known in (seats, None):
        told = undo("flights.release_seats", "b", key=f"d{known}", order=order, seats=known)
        assert value(told) == {"released": ["1A", "2A"]}
    for known in (booked, None):
        told = undo("flights.cancel", "a", key=f"e{known}", order=order, booking=known)
        assert value(told) == {"cancelled": "fl_4711"}
    assert value(undo("hotels.cancel", "c", key="f", order=order, booking=None)) == {
        "cancelled": hotel
    }
    assert value(undo("cars.cancel", "g", key="h", order=order, booking=None)) == {
        "cancelled": None
    }
    assert len(ledger.effects()) == 9


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize(
    ("name", "change", "error"),
    [
        ("payments.validate", {"items": []}, "InvalidOrder"),
        ("payments.validate", {"items": [{"sku": "A", "quantity": 0, "price": 1}]}, "InvalidOrder"),
        ("payments.validate", {"customer": {}}, "InvalidOrder"),
        ("payments.validate", {"items": "none"}, "InvalidOrder"),
        ("payments.charge", {"payment": {"card": "4000-0002"}}, "CardDeclined"),
        ("payments.charge", {"simulate": {"payments.charge": {"decline": True}}}, "CardDeclined"),
        ("shipping.ship", {"shipping": {"city": "Atlantis"}}, "AddressUnknown"),
        ("payments.charge", {"simulate": {"payments.charge": {"fail": 1}}}, "ServiceUnavailable"),
        (
            "shipping.ship",
            {"simulate": {"shipping.ship": {"fail": 1, "error": "NoDriver"}}},
            "NoDriver",
        ),
    ],
)
def test_orders_go_wrong_as_their_input_says(
    name: str, change: dict[str, Json], error: str
) -> None:
    order: Json = {**ORDER, **change}
    failed = (
        call(name, order=order) if name != "payments.charge" else call(name, order=order, amount=1)
    )
    assert isinstance(failed, Failed)
    assert failed.error == error
    assert failed.cause


def test_simulated_failures_end_after_so_many_attempts(ledger: Ledger) -> None:
    order: Json = {**ORDER, "simulate": {"payments.charge": {"fail": 2}}}
    outcomes = [
        call("payments.charge", key=f"k{n}", attempt=n, order=order, amount=1) for n in (1, 2, 3)
    ]
    assert [isinstance(outcome, Returned) for outcome in outcomes] == [False, False, True]
    assert len(ledger.runs()) == 3
    assert len(ledger.effects()) == 1


@pytest.mark.usefixtures("ledger")
def test_a_customer_of_high_risk_is_not_cleared() -> None:
    customer: Json = {"email": "a@b.c", "risk": "high"}
    assert value(call("reviews.screen", key="a", amount=1))["cleared"] is True
    risky = call("reviews.screen", key="b", amount=1, order={**ORDER, "customer": customer})
    assert value(risky)["cleared"] is False


@pytest.mark.usefixtures("ledger")
def test_a_handler_that_hangs_ends_once_it_is_cancelled() -> None:
    order: Json = {**ORDER, "simulate": {"payments.charge": {"hang": 60}}}
    context = TaskContext("k", 1, 1, "4711", "order", "State", "celery:payments.charge")
    context.lost.set()
    handler = handlers.registered()["payments.charge"]
    failed = handler.run(Payload.of({"order": order, "amount": 1}), context)
    assert isinstance(failed, Failed)
    assert failed.error == "TaskCancelled"


@pytest.mark.usefixtures("ledger")
def test_a_handler_that_takes_its_time_sends_heartbeats() -> None:
    told: list[Payload | None] = []
    order: Json = {**ORDER, "simulate": {"shipping.ship": {"seconds": 0.2}}}

    def beat(progress: Payload | None) -> bool:
        told.append(progress)
        return True

    context = TaskContext("k", 1, 1, "1", "order", "S", "celery:shipping.ship", beat=beat)
    outcome = handlers.registered()["shipping.ship"].run(Payload.of({"order": order}), context)
    assert isinstance(outcome, Returned)
    assert len(told) >= 2


def test_the_ledger_is_beside_the_data_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LEDGER_URL", "DATA", "DATABASE_URL"):
        monkeypatch.delenv(f"ORCHESTRATOR_{name}", raising=False)
    assert workers.ledger.address() == "sqlite:///ledger.db"
    monkeypatch.setenv("ORCHESTRATOR_DATABASE_URL", "sqlite:////var/lib/o/orchestrator.db")
    assert workers.ledger.address() == "sqlite:////var/lib/o/ledger.db"
    monkeypatch.setenv("ORCHESTRATOR_DATABASE_URL", "postgresql+psycopg://o:p@db/o")
    assert workers.ledger.address() == "postgresql+psycopg://o:p@db/o"
    monkeypatch.setenv("ORCHESTRATOR_DATA", "/data")
    assert workers.ledger.address() == "sqlite:////data/ledger.db"
    monkeypatch.setenv("ORCHESTRATOR_LEDGER_URL", "sqlite:////elsewhere.db")
    assert workers.ledger.address() == "sqlite:////elsewhere.db"
