"""Calls at the same time, and calls against timers: each entry is left once."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import pytest

from orchestrator.execution.calling import NOBODY_TAKES_IT
from tests.calls.house import ORDER
from tests.calls.machines import RACE, Deployment, at_once, deployment, verdict
from workers.ledger import kept_at


@pytest.fixture
def running(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    monkeypatch.setenv("ORCHESTRATOR_LEDGER_URL", database_url)
    with deployment(database_url, ["workers"]) as found:
        found.service.deploy("order", ORDER)
        found.service.deploy("race", RACE)
        yield found


def test_of_200_equal_calls_at_once_one_is_accepted(running: Deployment) -> None:
    address = running.service.start_execution("order", "one").address
    said: list[str] = []

    def pay() -> None:
        call = running.service.call_execution(address, "pay", "{}", wait_seconds=30)
        said.append(call.verdict.value)

    for _ in range(5):
        at_once([pay] * 40)
    assert Counter(said) == {"accepted": 1, "refused": 199}
    assert running.types(address).count("CallAccepted") == 1


def test_of_one_id_used_50_times_at_once_one_counts_and_all_hear_the_same(
    running: Deployment,
) -> None:
    address = running.service.start_execution("race", "same").address
    said: list[str] = []

    def go() -> None:
        said.append(running.service.call_execution(address, "go", "{}", "once").said)

    at_once([go] * 50)
    assert len(said) == 50
    assert len(set(said)) == 1
    assert len(running.service.execution_calls(address)) == 1


def race_a_call_against_its_timer(running: Deployment, races: int) -> Counter[str]:
    chance = random.Random(races)
    won: Counter[str] = Counter()

    def race(number: int) -> None:
        address = running.service.start_execution("race", f"r{number}").address
        (waits,) = running.service.execution_waits(address)
        assert waits.timer is not None
        running.sleep_until(waits.timer.at + timedelta(seconds=chance.uniform(-0.01, 0.03)))
        said = verdict(running.service.call_execution(address, "go", "{}"))
        running.until(lambda: running.state(address) in ("Called", "Fired"))
        types = running.types(address)
        assert types.count("AwaitStateExited") == 1
        assert types.count("CallAccepted") + types.count("TimerFired") == 1
        if said["verdict"] == "accepted":
            assert (said["to"], running.state(address)) == ("Called", "Called")
        else:
            assert (said["reason"], running.state(address)) == ("fired", "Fired")
        won[said["verdict"]] += 1

    for first in range(0, races, 10):
        at_once([partial(race, number) for number in range(first, min(races, first + 10))])
    assert running.store.due(10) == []
    return won


def test_a_call_and_a_timer_race_and_one_of_them_wins(running: Deployment) -> None:
    won = race_a_call_against_its_timer(running, 100)
    assert min(won["accepted"], won["refused"]) >= 10, won


@pytest.mark.chaos
def test_a_call_and_a_timer_race_ten_thousand_times(running: Deployment) -> None:
    won = race_a_call_against_its_timer(running, 10_000)
    assert min(won["accepted"], won["refused"]) >= 1_000, won


def three_at_once(running: Deployment, orders: int) -> Counter[str]:
    """Cleared pay, cancel and the review's timer within 20 ms: who leaves OnHold."""
    chance = random.Random(orders)
    won: Counter[str] = Counter()

    def race(number: int) -> None:
        service = running.service
        address = service.start_execution("order", f"o{number}", '{"review": 2}').address
        service.call_execution(address, "pay", '{"amount": 5}')
        running.until(lambda: any(one.timer for one in service.execution_waits(address)))
        (waits,) = service.execution_waits(address)
        assert waits.timer is not None
        fires_at = waits.timer.at
        said: dict[str, dict[str, object]] = {}

        def call(name: str, given: str) -> None:
            running.sleep_until(fires_at + timedelta(seconds=chance.uniform(-0.01, 0.01)))
            said[name] = verdict(service.call_execution(address, name, given, wait_seconds=30))

        at_once([partial(call, "pay", '{"cleared": true}'), partial(call, "cancel", "{}")])
        running.until(lambda: running.state(address) in ("Paid", "Cancelled"))
        won[check(running, address, said)] += 1

    for first in range(0, orders, 5):
        at_once([partial(race, number) for number in range(first, min(orders, first + 5))])
    return won


def check(running: Deployment, address: str, said: dict[str, dict[str, object]]) -> str:
    """Who has left OnHold; history, verdicts and ledger agree on that."""
    events = running.service.whole_history(address)
    holding = next(e.id for e in events if e.details.get("name") == "OnHold")
    exits = [e for e in events if e.type == "AwaitStateExited" and e.details["name"] == "OnHold"]
    assert len(exits) == 1
    by = [
        e
        for e in events
        if holding < e.id < exits[0].id and e.type in ("CallAccepted", "TimerFired")
    ]
    last = by[-1]
    winner = "timer" if last.type == "TimerFired" else str(last.details["call"])
    pay, cancel = said["pay"], said["cancel"]
    accepted = {name for name, one in said.items() if one["verdict"] == "accepted"}
    match winner:
        case "timer":
            assert accepted == set(), said
            assert {pay["reason"], cancel["reason"]} <= {"order is cancelled", NOBODY_TAKES_IT}
        case "pay":
            assert pay["from"] == "OnHold"
            assert accepted == {"pay", "cancel"}, said  # Paid can be cancelled
            assert cancel["from"] == "Paid"
        case _:
            assert accepted == {"cancel"}, said
            assert pay["reason"] == "order is cancelled"
    running.until(
        lambda: all(e.status == "ended" for e in running.service.execution_effects(address))
    )
    done = Counter(ledger_of(address))
    assert done["reviews.open"] == done["reviews.close"] == 1
    assert done["payments.refund"] == (winner == "pay")
    assert done["reviews.escalate"] == (winner == "timer")
    return winner


def ledger_of(address: str) -> list[str]:
    with kept_at(os.environ["ORCHESTRATOR_LEDGER_URL"]) as ledger:
        return [one.handler for one in ledger.effects(address)]


def test_of_pay_cancel_and_the_timer_one_leaves_the_review(running: Deployment) -> None:
    won = three_at_once(running, 50)
    assert sum(won.values()) == 50
    assert min(won["pay"], won["cancel"], won["timer"]) >= 1, won


@pytest.mark.chaos
def test_of_pay_cancel_and_the_timer_one_leaves_the_review_a_thousand_times(
    running: Deployment,
) -> None:
    won = three_at_once(running, 1_000)
    assert min(won["pay"], won["cancel"], won["timer"]) >= 50, won


def test_no_call_that_arrives_while_an_await_is_entered_stays_without_a_verdict(
    running: Deployment,
) -> None:
    chance = random.Random(7)
    said: list[str] = []

    def order(number: int) -> None:
        service = running.service
        address = service.start_execution("order", f"e{number}").address
        service.call_execution(address, "pay", "{}")

        def call(n: int) -> None:
            time.sleep(chance.uniform(0, 0.08))
            name = ("pay", "ship")[n % 2]
            one = service.call_execution(address, name, "{}", wait_seconds=30)
            said.append(one.verdict.value)

        at_once([partial(call, n) for n in range(20)])
        assert service.find_execution(address).kept == 0

    for first in range(0, 20, 4):
        at_once([partial(order, number) for number in range(first, first + 4)])
    assert Counter(said) == {"refused": 400}
