"""The course of an execution is read from its history; loops are folded."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from orchestrator.execution.history import HistoryEvent
from orchestrator.service import Course, Outcome
from orchestrator.web.folding import folded
from tests.calls.house import House, eventually

INNER = {
    "StartAt": "Try",
    "States": {
        "Try": {
            "Type": "Task",
            "Resource": "celery:payments.validate",
            "Parameters": {"order.$": "$"},
            "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Saved"}],
            "End": True,
        },
        "Saved": {"Type": "Pass", "Assign": {"saved": True}, "End": True},
    },
}
NESTED = {
    "StartAt": "Each",
    "States": {
        "Each": {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": INNER, "Next": "Both"},
        "Both": {
            "Type": "Parallel",
            "Branches": [
                {"StartAt": "Left", "States": {"Left": {"Type": "Pass", "End": True}}},
                {"StartAt": "Right", "States": {"Right": {"Type": "Pass", "End": True}}},
            ],
            "Next": "Last",
        },
        "Last": {"Type": "Fail", "Error": "Broken", "Cause": "by hand"},
    },
}


def test_every_visit_knows_where_it_belongs_and_what_became_of_it(home: House) -> None:
    home.client.deploy("nested", json.dumps(NESTED))
    address = home.client.start("nested", "one", {"items": [{}, {}, {}]})
    eventually(lambda: home.client.get(address)["status"] == "FAILED")
    course = Course().read(home.parts.service.whole_history(address))
    tried = course.of("Try")
    assert [visit.path for visit in tried] == [("Each", "Try")] * 3
    assert sorted(visit.iteration or 0 for visit in tried) == [0, 1, 2]
    assert {visit.outcome for visit in tried} == {Outcome.CAUGHT}
    assert all(visit.attempts[0].error == "InvalidOrder" for visit in tried)
    assert sorted(visit.iteration or 0 for visit in course.of("Saved")) == [0, 1, 2]
    assert all(visit.assigned["saved"].value is True for visit in course.of("Saved"))
    assert {one.index for one in course.iterations} == {0, 1, 2}
    assert {one.outcome for one in course.iterations} == {Outcome.DONE}
    left, last = course.last("Left"), course.last("Last")
    assert left is not None
    assert last is not None
    assert (left.path, left.iteration) == (("Both", "Left"), None)
    assert (last.path, last.iteration, last.outcome) == (("Last",), None, Outcome.FAILED)
    assert last.error == "Broken"
    page = home.parts.service.views.execution(address)
    assert page.skipped == 0


AGAIN = {
    "QueryLanguage": "JSONata",
    "StartAt": "Reserve",
    "States": {
        "Reserve": {
            "Type": "Task",
            "Resource": "celery:inventory.reserve",
            "Arguments": {"order": {"order_id": "a"}, "item": {"sku": "CUP", "quantity": 1}},
            "Compensate": {
                "Resource": "celery:inventory.release",
                "Arguments": {"order": {"order_id": "a"}, "item": {"sku": "CUP", "quantity": 1}},
            },
            "Assign": {"n": "{% ($exists($n) ? $n : 0) + 1 %}"},
            "Next": "Twice",
        },
        "Twice": {
            "Type": "Choice",
            "Choices": [{"Condition": "{% $n < 2 %}", "Next": "Reserve"}],
            "Default": "Fails",
        },
        "Fails": {"Type": "Fail", "Error": "Enough"},
    },
}


def test_what_was_done_twice_is_undone_at_each_of_its_visits(home: House) -> None:
    home.client.deploy("again", json.dumps(AGAIN))
    address = home.client.start("again", "one", {})
    eventually(lambda: home.client.get(address)["status"] == "FAILED")
    visits = Course().read(home.parts.service.whole_history(address)).of("Reserve")
    assert [[one.outcome for one in visit.undone] for visit in visits] == [[Outcome.DONE]] * 2
    earlier, later = (visit.undone[0] for visit in visits)
    assert earlier.wanted_at >= later.wanted_at  # newest first
    assert earlier.worker is not None


def _events(*types: str) -> list[HistoryEvent]:
    at = datetime(2026, 1, 31, tzinfo=UTC)
    return [HistoryEvent(n, n - 1, at, name, {}) for n, name in enumerate(types, 1)]


def test_a_loop_is_one_segment_and_nothing_is_lost() -> None:
    events = _events("Begin", *("Enter", "Ask", "Exit") * 5, "Enter", "End")
    segments = folded(events)
    assert [(len(one.events), one.rounds) for one in segments] == [(1, 1), (3, 5), (2, 1)]
    again = [event for one in segments for event in (*one.events, *one.folded)]
    assert again == events


def test_what_comes_twice_is_no_loop() -> None:
    events = _events("Enter", "Exit", "Enter", "Exit", "End")
    assert [one.rounds for one in folded(events)] == [1]
    assert folded([]) == []
