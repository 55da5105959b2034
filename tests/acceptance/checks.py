"""What must hold at the end of every run, whatever was killed meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from orchestrator.execution.history import HistoryEvent
from orchestrator.service import Orchestrator
from tests.acceptance.orders import MACHINE, Order
from workers.ledger import Effect, Ledger

_LAST_EVENT = {
    "SUCCEEDED": "ExecutionSucceeded",
    "FAILED": "ExecutionFailed",
    "TIMED_OUT": "ExecutionTimedOut",
    "ABORTED": "ExecutionAborted",
}


def check_orders(service: Orchestrator, ledger: Ledger, orders: Sequence[Order]) -> None:
    """Every order ended as its input says, with a history without gaps and each effect once."""
    effects = ledger.effects()
    assert len({effect.key for effect in effects}) == len(effects)
    for order in orders:
        check_outcome(service, order)
        check_effects([e for e in effects if e.execution == f"{MACHINE}:{order.name}"], order)


def check_outcome(service: Orchestrator, order: Order) -> None:
    """Status, output, error and history of one order are those that were computed before."""
    address = f"{MACHINE}:{order.name}"
    found = service.describe_execution(address)
    expected, execution = order.expected, found.execution
    assert execution.status == expected.status, (order, execution)
    assert (execution.error, execution.cause) == (expected.error, expected.cause), order
    assert (None if found.output is None else found.output.value) == expected.output, order
    assert found.frames == ()
    history = service.whole_history(address)
    check_history(history, execution.status)
    assert service.operations.verify_execution(address) == (), order
    entered = [e.details["name"] for e in history if e.type.endswith("StateEntered")]
    assert tuple(entered) == expected.states, order
    assert execution.final_state == expected.states[-1]


def check_history(history: Sequence[HistoryEvent], status: str) -> None:
    """Ids from 1 without a gap, times that never decrease, an end that agrees with the status."""
    assert [event.id for event in history] == list(range(1, len(history) + 1))
    assert all(event.previous_id < event.id for event in history)
    moments = [event.at for event in history]
    assert moments == sorted(moments)
    ends = [event.type for event in history if event.type in _LAST_EVENT.values()]
    assert ends == [_LAST_EVENT[status]]
    assert history[-1].type == _LAST_EVENT[status]
    assert history[0].type == "ExecutionStarted"
    left = Counter(e.details["name"] for e in history if e.type.endswith("StateExited"))
    entered = Counter(e.details["name"] for e in history if e.type.endswith("StateEntered"))
    assert not left - entered


def check_effects(effects: Sequence[Effect], order: Order) -> None:
    """Each handler acted under as many keys as the order's way says."""
    assert Counter(effect.handler for effect in effects) == Counter(order.expected.effects), order
