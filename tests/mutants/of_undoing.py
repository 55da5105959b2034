"""Mutants of undoing: what was done is undone once, in the mirrored order, and nothing else."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant, Seeds, mutant

SAGAS: Final = "tests/execution/test_sagas.py::"
WHEN: Final = "tests/execution/test_when_undone.py::"
UNKNOWN: Final = "tests/execution/test_unknown_outcomes.py::"
FAILING: Final = "tests/execution/test_failing_compensations.py::"
ANSWERS: Final = "tests/execution/test_answers.py::"
TASKS: Final = "orchestrator/execution/states/task.py"
UNDOING: Final = "orchestrator/execution/undoing.py"
COMPENSATING: Final = "orchestrator/execution/compensating.py"
REGISTER: Final = "orchestrator/execution/register.py"

OF_UNDOING: Final[tuple[Mutant, ...]] = (
    mutant(
        "the newest is undone first",
        "orchestrator/execution/pending.py",
        "return max(found, key=lambda one: one.order, default=None)",
        "return min(found, key=lambda one: one.order, default=None)",
        SAGAS + "test_nested_forks_with_partial_completion_mirror_what_was_done",
    ),
    mutant(
        "the newest is undone first (in the whole)",
        "orchestrator/execution/pending.py",
        "return max(found, key=lambda one: one.order, default=None)",
        "return min(found, key=lambda one: one.order, default=None)",
        Seeds(1, 60),
    ),
    mutant(
        "only what says so is undone when nobody knows (in the whole)",
        REGISTER,
        "if state.compensate is None or not state.compensate_unknown or silent is None:",
        "if state.compensate is None or silent is None:",
        Seeds(1, 60),
    ),
    mutant(
        "a Map is undone by no more at once than it ran",
        UNDOING,
        'max_concurrency=found.widths[scope.count("/")] or MOST_AT_ONCE,',
        "max_concurrency=MOST_AT_ONCE,",
        SAGAS + "test_a_map_is_undone_by_at_most_as_many_at_once_as_it_ran",
    ),
    mutant(
        "what undoes a fork stands in the place of what undoes its branches",
        REGISTER,
        "transition.pending.drop(under(thread.id, thread.entry))",
        "pass",
        SAGAS + "test_a_fork_with_a_compensation_of_its_own_is_undone_by_it_alone",
    ),
    mutant(
        "after a pivot there is no way back",
        REGISTER,
        "if isinstance(state, Task) and state.pivot:",
        "if isinstance(state, Task) and state.pivot and False:",
        UNKNOWN + "test_after_a_pivot_nothing_before_it_is_undone",
    ),
    mutant(
        "only what says so is undone when nobody knows whether it has happened",
        REGISTER,
        "if state.compensate is None or not state.compensate_unknown or silent is None:",
        "if state.compensate is None or silent is None:",
        UNKNOWN + "test_a_silent_step_is_undone_only_if_it_says_so",
    ),
    mutant(
        "a handler of a cancelled branch is waited for",
        REGISTER,
        "return claimed and state.resource.kind is not Kind.ACTIVITY",
        "return False and claimed and state.resource.kind is not Kind.ACTIVITY",
        UNKNOWN + "test_a_handler_that_runs_on_in_a_cancelled_branch_is_waited_for",
    ),
    mutant(
        "at a time limit the child that is stopped is waited for",
        TASKS,
        "if has_child and transition.machine.undoes:",
        "if has_child and False and transition.machine.undoes:",
        ANSWERS + "test_a_saga_waits_at_a_time_limit_until_the_child_it_stops_has_undone_itself",
    ),
    mutant(
        "who tries again after a time limit starts another child",
        TASKS,
        "reported=has_child,",
        "reported=False,",
        ANSWERS + "test_a_saga_waits_at_a_time_limit_until_the_child_it_stops_has_undone_itself",
    ),
    mutant(
        "a Catcher without Compensate undoes nothing",
        "orchestrator/execution/failure.py",
        "if catcher.compensate and undoing.wanted(transition, thread.id, thread.entry):",
        "if undoing.wanted(transition, thread.id, thread.entry):",
        WHEN + "test_a_catcher_without_it_undoes_nothing_and_keeps_what_is_pending",
    ),
    mutant(
        "a Retrier of a fork undoes before its delay starts",
        "orchestrator/execution/failure.py",
        "elif not isinstance(state, Task) and undoing.wanted(transition, thread.id, thread.entry):",
        "elif False and undoing.wanted(transition, thread.id, thread.entry):",
        WHEN + "test_a_retrier_of_a_map_undoes_first_and_then_the_delay_starts",
    ),
    mutant(
        "while it is undone a stop changes nothing",
        "orchestrator/execution/decide.py",
        "return None if event.abort else _undoing(view)",
        "return None",
        WHEN + "test_while_it_undoes_a_stop_changes_nothing_and_calls_are_refused",
    ),
    mutant(
        "the time limit does not count while it is undone",
        "orchestrator/execution/decide.py",
        "return _undoing(view) or _stale_deadline(view, event, now)",
        "return _stale_deadline(view, event, now)",
        FAILING + "test_a_deadline_does_not_count_while_it_undoes",
    ),
    mutant(
        "a retry or skip names what it concerns, by frame and entry",
        "orchestrator/execution/decide.py",
        "return (frame.undo.event, frame.undo.place) == (event.event, event.place)",
        "return True",
        FAILING + "test_who_skips_twice_does_not_skip_what_blocks_next",
    ),
    mutant(
        "below an iteration its index is seen, whatever is cancelled",
        "orchestrator/execution/surroundings.py",
        "parts.pop()  # a branch",
        "pass  # a branch",
        FAILING + "test_below_an_iteration_its_index_stays_though_all_around_is_cancelled",
    ),
    mutant(
        "what runs already is taken over, not run twice",
        REGISTER,
        "transition.pending.mark(note.number, CompensationStatus.DOUBTFUL)",
        "transition.pending.mark(note.number, CompensationStatus.PENDING)",
        FAILING + "test_a_failure_elsewhere_takes_over_what_is_being_undone",
    ),
    mutant(
        "a lost at-most-once compensation is blocked",
        COMPENSATING,
        "            unknown = task.at_most_once\n            failure = lost(",
        "            failure = lost(",
        FAILING + "test_a_lost_compensation_at_most_once_is_blocked_not_repeated",
    ),
)
