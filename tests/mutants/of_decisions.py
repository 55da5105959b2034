"""Mutants of what is decided: only what answers what is asked counts, and only once."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant, Seeds, mutant

DECIDE: Final = "orchestrator/execution/decide.py"
ENDINGS: Final = "tests/execution/test_endings.py::"
TASK: Final = "tests/execution/test_task.py::"

OF_DECISIONS: Final[tuple[Mutant, ...]] = (
    mutant(
        "a report counts only with its token",
        DECIDE,
        "if task is None or task.token != event.token:",
        "if task is None:",
        ENDINGS + "test_a_report_counts_only_with_its_token_delivery_and_claim",
    ),
    mutant(
        "a doubled or forged report is refused (token, in the whole)",
        DECIDE,
        "if task is None or task.token != event.token:",
        "if task is None:",
        Seeds(1, 40),
        quick=True,
    ),
    mutant(
        "a report counts only with its delivery",
        DECIDE,
        "if task.deliveries != event.delivery:",
        "if False:",
        ENDINGS + "test_a_report_counts_only_with_its_token_delivery_and_claim",
    ),
    mutant(
        "the late result of an earlier delivery is refused (in the whole)",
        DECIDE,
        "if task.deliveries != event.delivery:",
        "if False:",
        Seeds(1, 60),
        quick=True,
    ),
    mutant(
        "a report counts only from who has the claim",
        DECIDE,
        "if not isinstance(event, TaskLost) and task.claimed_by != event.claimed_by:",
        "if False:",
        ENDINGS + "test_a_report_counts_only_with_its_token_delivery_and_claim",
    ),
    mutant(
        "results of others' claims are refused (in the whole)",
        DECIDE,
        "if not isinstance(event, TaskLost) and task.claimed_by != event.claimed_by:",
        "if False:",
        Seeds(1, 60),
    ),
    mutant(
        "a moment counts only for the entry that set it",
        DECIDE,
        "if frame.entry != event.entry or frame.wake_at != event.wake_at:",
        "if frame.wake_at != event.wake_at:",
        ENDINGS + "test_a_moment_counts_only_with_its_entry_and_time",
    ),
    mutant(
        "a moment counts only if it is the frame's next",
        DECIDE,
        "if frame.entry != event.entry or frame.wake_at != event.wake_at:",
        "if frame.entry != event.entry:",
        ENDINGS + "test_a_moment_counts_only_with_its_entry_and_time",
    ),
    mutant(
        "a moment that has not come is refused",
        DECIDE,
        'return None if event.wake_at <= now else "the moment has not come"',
        "return None",
        ENDINGS + "test_a_moment_that_has_not_come_changes_nothing",
    ),
    mutant(
        "timers are never early (in the whole)",
        DECIDE,
        'return None if event.wake_at <= now else "the moment has not come"',
        "return None",
        Seeds(1, 40),
        quick=True,
    ),
    mutant(
        "a deadline counts only if it is the execution's",
        DECIDE,
        "if event.deadline_at != view.execution.deadline_at:",
        "if False:",
        ENDINGS + "test_a_deadline_counts_only_if_it_is_the_execution_s_and_has_passed",
    ),
    mutant(
        "a deadline that has not passed is refused",
        DECIDE,
        'return None if event.deadline_at <= now else "the deadline has not come"',
        "return None",
        ENDINGS + "test_a_deadline_counts_only_if_it_is_the_execution_s_and_has_passed",
    ),
    mutant(
        "terminal is terminal",
        DECIDE,
        "if view.execution.ended_at is not None and not _outlives(event):",
        "if False:",
        ENDINGS + "test_nothing_happens_after_the_end",
    ),
    mutant(
        "times never decrease",
        "orchestrator/execution/transition.py",
        "self.now = max(now, view.execution.last_event_at)",
        "self.now = now",
        ENDINGS + "test_a_clock_that_went_back_does_not_disorder_the_history",
    ),
    mutant(
        "times never decrease (in the whole)",
        "orchestrator/execution/transition.py",
        "self.now = max(now, view.execution.last_event_at)",
        "self.now = now",
        Seeds(1, 100),
    ),
    mutant(
        "a start is recorded between the last event and now",
        "orchestrator/execution/attempt.py",
        "return min(max(started_at, transition.view.execution.last_event_at), transition.now)",
        "return started_at",
        TASK + "test_a_clock_that_goes_wrong_does_not_disorder_the_history",
    ),
    mutant(
        "history ids have no gap",
        "orchestrator/execution/transition.py",
        "self.next_event_id = event_id + 1",
        "self.next_event_id = event_id + 2",
        TASK + "test_a_task_rests_on_its_handler_and_ends_with_the_result",
    ),
    mutant(
        "the history names where it goes on (in the whole)",
        "orchestrator/execution/conclusion.py",
        "next_event_id=transition.next_event_id,",
        "next_event_id=transition.next_event_id + 1,",
        Seeds(1, 5),
        quick=True,
    ),
    mutant(
        "the key is the same until a failure is reported",
        "orchestrator/execution/retrying.py",
        "reported=before.reported + setback.reported,",
        "reported=before.reported + 1,",
        TASK + "test_the_key_is_a_uuid_that_stays_the_same_until_a_failure_is_reported",
    ),
    mutant(
        "every attempt has a token of its own",
        "orchestrator/execution/transition.py",
        'return sha256(self._bits + self._tokens.to_bytes(4, "big")).hexdigest()',
        'return sha256(b"").hexdigest()',
        TASK + "test_every_attempt_has_a_token_of_its_own",
    ),
    mutant(
        "what may have happened is not repeated by a wildcard",
        "orchestrator/execution/setback.py",
        "if self.unknown:",
        "if False:",
        "tests/execution/test_retry_and_catch.py",
    ),
    mutant(
        "a Map admits no more than it may",
        "orchestrator/execution/thread.py",
        "self.admitted < self.fork.total and (most == 0 or self.open < most)",
        "self.admitted < self.fork.total",
        "tests/execution/test_map.py",
    ),
    mutant(
        "a Map admits no more than it may (in the whole)",
        "orchestrator/execution/thread.py",
        "self.admitted < self.fork.total and (most == 0 or self.open < most)",
        "self.admitted < self.fork.total",
        Seeds(1, 60),
    ),
    mutant(
        "an end holds only for the frame that it saw",
        "orchestrator/execution/conclusion.py",
        "if thread.changed and thread.before is not None and (thread.gone or ended)",
        "if thread.changed and thread.before is not None and not thread.id.isascii()",
        "tests/engine/test_late_results.py",
    ),
    mutant(
        "a retry waits for its pause",
        "orchestrator/execution/retrying.py",
        "thread.rest_on_clock(transition.now + timedelta(seconds=pause))",
        "thread.rest_on_clock(transition.now)",
        Seeds(1, 60),
    ),
)
