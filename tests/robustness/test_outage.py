"""One message says that the database is away, and one that it is back."""

from __future__ import annotations

import time

from structlog.testing import capture_logs

from orchestrator.outage import Outage
from orchestrator.store import StoreUnavailable

AWAY = "the database is away; trying again until it is back"
BACK = "the database is back"


def test_many_failures_are_one_message_and_so_is_the_first_answer_after_them() -> None:
    outage = Outage()
    with capture_logs() as logs:
        outage.passed(time.monotonic())
        for _ in range(3):
            outage.failed(StoreUnavailable("gone"))
        time.sleep(0.001)
        for _ in range(3):
            outage.passed(time.monotonic())
    assert [log["event"] for log in logs] == [AWAY, BACK]


def test_an_answer_to_a_question_from_before_the_failure_does_not_tell_that_it_is_back() -> None:
    outage = Outage()
    with capture_logs() as logs:
        asked_at = time.monotonic()
        outage.failed(StoreUnavailable("gone"))
        outage.passed(asked_at)
        outage.failed(StoreUnavailable("gone"))
    assert [log["event"] for log in logs] == [AWAY]
