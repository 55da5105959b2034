"""Every sample input of the order machines, run embedded: each takes the way it is there for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator import main
from orchestrator.asl.document import Json
from orchestrator.execution.frame import Execution, ExecutionStatus
from tests.workers.deployment import ROOT
from workers.ledger import Effect, kept_at

MACHINES = ("order-payment", "order-fulfilment", "trip-saga")
INPUTS = ROOT / "definitions" / "inputs"
SAMPLES = {
    f"{machine}:{path.stem}": path
    for machine in MACHINES
    for path in sorted((INPUTS / machine).glob("*.json"))
}

BOOKED = ("flights", "hotels", "cars")
ORDERS = [address for address in SAMPLES if address.startswith("order-")]
TRIPS = [address for address in SAMPLES if address.startswith("trip-")]
SHIPPED: dict[str, str | None] = {
    "order-payment:paid": None,
    "order-payment:reviewed": None,
    "order-payment:gateway-hiccup": None,
    "order-payment:declined": "CardDeclined",
    "order-payment:invalid": "InvalidOrder",
    "order-payment:review-refused": "ReviewRefused",
    "order-payment:undeliverable": "AddressUnknown",
    "order-payment:gateway-hangs": "States.Timeout",
    "order-fulfilment:fulfilled": None,
    "order-fulfilment:gateway-hiccup": None,
    "order-fulfilment:declined": "CardDeclined",
    "order-fulfilment:invalid": "InvalidOrder",
    "order-fulfilment:out-of-stock": "OutOfStock",
    "order-fulfilment:undeliverable": "AddressUnknown",
    "trip-saga:booked": None,
    "trip-saga:gateway-hiccup": None,
    "trip-saga:tickets-follow": None,
    "trip-saga:declined": "CardDeclined",
    "trip-saga:gateway-hangs": "States.Timeout",
    "trip-saga:gateway-mute": "States.Timeout",
    "trip-saga:hotel-hiccup": "CardDeclined",
    "trip-saga:invalid": "InvalidOrder",
    "trip-saga:no-car": "NoCar",
    "trip-saga:no-flight": "NoFlight",
    "trip-saga:no-room": "NoRoom",
    "trip-saga:no-seats": "NoSeats",
}
"""The error with which each sample fails; None: it succeeds."""


@dataclass(frozen=True)
class Ended:
    execution: Execution
    output: Json
    effects: list[Effect]

    def done(self, handler: str) -> list[Any]:
        return [effect.what for effect in self.effects if effect.handler == handler]


def run_all(folder: Path) -> dict[str, Ended]:
    with main.embedded(folder, ["workers"]) as house:
        service = house.service
        for machine in MACHINES:
            service.deploy(machine, (ROOT / "definitions" / f"{machine}.asl.json").read_text())
        for address, path in SAMPLES.items():
            machine, name = address.split(":")
            service.start_execution(machine, name, path.read_text())
        found = {address: service.describe_execution(address) for address in SAMPLES}
        limit_at = time.monotonic() + 60
        while time.monotonic() < limit_at:
            found = {address: service.describe_execution(address) for address in SAMPLES}
            if all(one.execution.status is not ExecutionStatus.RUNNING for one in found.values()):
                break
            time.sleep(0.1)
    with kept_at(f"sqlite:///{folder / 'ledger.db'}") as ledger:
        return {
            address: Ended(
                one.execution,
                None if one.output is None else one.output.value,
                ledger.effects(address),
            )
            for address, one in found.items()
        }


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Ended]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
        patch.setenv("ORCHESTRATOR_DATA", "")  # the embedded mode sets it, and it is put back
        yield run_all(tmp_path_factory.mktemp("orders"))


def test_every_sample_has_its_expectation() -> None:
    assert set(SHIPPED) == set(SAMPLES)


@pytest.mark.parametrize("address", SAMPLES)
def test_a_sample_ends_as_it_says(ended: dict[str, Ended], address: str) -> None:
    error = SHIPPED[address]
    one = ended[address]
    assert one.execution.error == error, one.execution
    expected = ExecutionStatus.SUCCEEDED if error is None else ExecutionStatus.FAILED
    assert one.execution.status is expected
    if error is None:
        assert isinstance(one.output, dict)
        assert one.output["status"] in {"shipped", "fulfilled", "ticketed", "tickets follow"}


@pytest.mark.parametrize("address", ORDERS)
def test_an_order_that_is_not_shipped_costs_nothing(ended: dict[str, Ended], address: str) -> None:
    one = ended[address]
    charged = sum(charge["amount"] for charge in one.done("payments.charge"))
    refunded = sum(refund["amount"] for refund in one.done("payments.refund"))
    shipped = len(one.done("shipping.ship"))
    if SHIPPED[address] is None:
        assert charged > 0
        assert (refunded, shipped) == (0, 1)
        assert isinstance(one.output, dict)
        assert str(one.output["tracking"]).startswith("TRACK-")
    else:
        assert (charged - refunded, shipped) == (0, 0)


@pytest.mark.parametrize("address", [one for one in SAMPLES if one.startswith("order-fulfilment")])
def test_stock_is_kept_for_those_who_get_it(ended: dict[str, Ended], address: str) -> None:
    one = ended[address]
    reserved = one.done("inventory.reserve")
    released = [back["released"] for back in one.done("inventory.release") if back["released"]]
    if SHIPPED[address] is None:
        assert sorted(item["sku"] for item in reserved) == ["CUP", "TEAPOT"]
        assert released == []
    else:
        assert sorted(map(str, released)) == sorted(map(str, reserved))


@pytest.mark.parametrize("address", TRIPS)
def test_a_trip_that_is_not_paid_costs_nothing_and_is_cancelled(
    ended: dict[str, Ended], address: str
) -> None:
    one = ended[address]
    booked = {booking["booking"] for name in BOOKED for booking in one.done(f"{name}.book")}
    cancelled = {back["cancelled"] for name in BOOKED for back in one.done(f"{name}.cancel")}
    seats = [chosen["seats"] for chosen in one.done("flights.reserve_seats")]
    released = [back["released"] for back in one.done("flights.release_seats")]
    charged = sum(charge["amount"] for charge in one.done("payments.charge"))
    refunded = sum(refund["amount"] for refund in one.done("payments.refund"))
    if SHIPPED[address] is None:
        assert (len(booked), len(seats)) == (3, 1)
        assert (cancelled, released, refunded) == (set(), [], 0)
        assert isinstance(one.output, dict)
        assert one.output["paid"] == charged > 0
    else:
        assert cancelled - {None} == booked
        assert [some for some in released if some] == seats
        assert charged == refunded
        assert not one.done("flights.issue_tickets")


def test_a_payment_that_nobody_knows_of_is_undone_by_its_key(ended: dict[str, Ended]) -> None:
    mute, hung = ended["trip-saga:gateway-mute"], ended["trip-saga:gateway-hangs"]
    assert [one["amount"] for one in mute.done("payments.refund")] == [61_500]
    assert [one["amount"] for one in hung.done("payments.refund")] == [0]
    assert ended["trip-saga:declined"].done("payments.refund") == []


def test_a_trip_is_undone_newest_first(ended: dict[str, Ended]) -> None:
    done = [effect.handler for effect in ended["trip-saga:gateway-mute"].effects]
    undone = done[done.index("payments.charge") + 1 :]
    assert undone[0] == "payments.refund"
    assert undone.index("flights.release_seats") < undone.index("flights.cancel")
    assert sorted(undone[1:]) == [
        "cars.cancel",
        "flights.cancel",
        "flights.release_seats",
        "hotels.cancel",
    ]


@pytest.mark.parametrize("address", SAMPLES)
def test_every_effect_has_a_key_of_its_own(ended: dict[str, Ended], address: str) -> None:
    keys = [effect.key for effect in ended[address].effects]
    assert len(keys) == len(set(keys))
