"""Faults that people met in other engines, and the test of ours that says that we have not them.

Field b are durable engines, c Celery with Redis, d schedulers and database sessions, e orders.
Scenarios about what is still to come (calls, redrive, schedules, compensation) are named as such.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).resolve().parent

OURS: Final = {
    "two servers decide at once, and what is over runs again": (
        "api/test_children.py",
        "test_sixty_parents_with_a_child_each_all_end",
    ),
    "a time limit of a pulled task is looked at once only": (
        "api/test_tasks_from_outside.py",
        "test_a_worker_that_falls_silent_is_timed_out_and_one_that_beats_is_not",
    ),
    "a late result of a timed-out attempt counts": (
        "api/test_tasks_from_outside.py",
        "test_what_is_answered_after_a_stop_changes_nothing",
    ),
    "NUL and lone surrogates leave an execution running for ever": (
        "api/test_hostile.py",
        "test_hostile_inputs_are_refused_or_come_back_as_they_were",
    ),
    "what was started is not there for whoever asks next": (
        "api/test_executions.py",
        "test_what_was_started_is_there_for_whoever_asks_next",
    ),
    "an event that comes before anybody waits for it is lost": (
        "api/test_tasks_from_outside.py",
        "test_an_answer_may_be_quicker_than_the_handler_that_asked",
    ),
    "a failure after an answer leaves the run hanging": (
        "execution/test_answers.py",
        "test_a_failure_that_is_sent_is_retried_as_any_other",
    ),
    "an answer is heard of minutes later": (
        "api/test_waiting.py",
        "test_news_that_are_lost_cost_a_moment_only",
    ),
    "waiting runs are lost with a restart": (
        "api/test_clients.py",
        "test_what_was_begun_goes_on_after_a_restart",
    ),
    "the same answer twice has two effects": (
        "api/test_tasks_from_outside.py",
        "test_exactly_one_of_many_answers_counts",
    ),
    "a short poll of a client has an effect": (
        "api/test_waiting.py",
        "test_a_task_is_not_given_to_a_poll_that_has_gone_away",
    ),
    "a worker stops consuming after a restart of Redis": (
        "acceptance/test_outages.py",
        "",
    ),
    "the same message twice runs a task twice": ("store/test_claims.py", ""),
    "children of a pool that are recycled lose work": ("acceptance/test_pools.py", ""),
    "a power loss leaves an empty store": ("acceptance/test_embedded_survives.py", ""),
}


@pytest.mark.parametrize("fault", OURS)
def test_a_fault_met_elsewhere_has_a_test_here(fault: str) -> None:
    file, name = OURS[fault]
    text = (TESTS / file).read_text()
    assert re.search(rf"(?m)^def {name or 'test_'}", text), f"{file} has no {name}"
