"""Mutants of what is written: on what was seen, by whom may write it, and never in part.

The order in which executions are locked has its mutant in tests/store/deadlocks.py.
"""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant, Seeds, Tests, mutant

BATCH: Final = "orchestrator/store/batch.py"
STATEMENT: Final = "orchestrator/store/statement.py"
TRANSITION: Final = "orchestrator/store/transition.py"
DATABASE: Final = "orchestrator/store/database.py"
ON_SQLITE: Final = "orchestrator/store/sqlite.py"
START: Final = "orchestrator/store/start.py"
LOCKED: Final = "orchestrator/store/locked.py"

TRANSITIONS: Final = "tests/store/test_transitions.py::"
STARTS: Final = "tests/store/test_starts.py::"
SQLITE: Final = "tests/store/test_sqlite.py::"
UNSEEN: Final = (
    TRANSITIONS + "test_a_frame_that_is_not_as_it_was_seen_makes_the_decision_stale",
    "tests/store/test_claims.py::test_a_claim_between_decision_and_commit_makes_the_decision_stale",
)

BY_ID: Final = 'SELECT rows.* FROM {rows}"\n        " JOIN executions ON executions.id = rows.at_id'
BY_VERSION: Final = BY_ID + " AND executions.version = rows.seen_version"
VERSION: Final = "if versions.get(decision.execution.id) == decision.seen_version"
UNGUARDED: Final = (
    "    (frames.c.{0} == frames.c.{0}) | frames.c.{0}.is_(None)"
    " | frames.c.{0}.is_not_distinct_from("
)
"""Whatever it is, it is as it was seen; the parameter stays."""

OF_THE_STORE: Final[tuple[Mutant, ...]] = (
    mutant(
        "what is stale falls out of its group by its version",
        TRANSITION,
        VERSION,
        "if decision.execution.id in versions",
        TRANSITIONS + "test_what_is_stale_falls_out_of_its_group_without_a_second_transaction",
    ),
    Mutant(
        "a decision holds only for the version that it saw (in the whole)",
        (TRANSITION, BATCH),
        (
            (VERSION, "if decision.execution.id in versions"),
            (
                'executions.c.version == bindparam("seen_version"),',
                'executions.c.version >= bindparam("seen_version"),',
            ),
        ),
        Seeds(1, 100),
    ),
    mutant(
        "a statement moves executions only from the version seen",
        STATEMENT,
        "moved AS (" + BY_VERSION,
        "moved AS (" + BY_ID,
        TRANSITIONS + "test_so_does_a_decision_that_touches_no_frame",
    ),
    mutant(
        "a statement of calls holds executions only at the version seen",
        STATEMENT,
        "held AS (" + BY_VERSION,
        "held AS (" + BY_ID,
        "tests/store/test_calls.py::test_a_refusal_that_was_decided_on_what_has_moved_on_is_stale",
    ),
    *(
        Mutant(
            f"a frame with another {what} is not as it was seen",
            (BATCH,),
            ((f"    frames.c.{column}.is_not_distinct_from(", UNGUARDED.format(column)),),
            Tests(UNSEEN),
        )
        for what, column in (
            ("token", "token"),
            ("moment", "wake_at"),
            ("delivery", "deliveries"),
        )
    ),
    mutant(
        "how many rows a write has met decides whether it is committed",
        BATCH,
        "return not rows or connection.execute(statement, rows).rowcount == len(rows)",
        "return not rows or connection.execute(statement, rows).rowcount >= 0",
        UNSEEN[0],
    ),
    mutant(
        "one statement counts the rows that it has met",
        STATEMENT,
        'answer = f"1 / ({whole})::int" if whole else "1"',
        'answer = "1"',
        UNSEEN[0],
    ),
    mutant(
        "one statement looks at what was seen (delivery)",
        STATEMENT,
        '        f" AND frames.deliveries IS NOT DISTINCT FROM {part}.seen_deliveries"\n',
        "",
        UNSEEN[1],
    ),
    mutant(
        "a group is written as a whole or not at all",
        "orchestrator/store/errors.py",
        "    if not whole:\n        raise GroupBroken",
        "    if not whole:\n        return",
        UNSEEN[0],
    ),
    mutant(
        "a statement of unknown outcome says so",
        DATABASE,
        "with self._translated(unknown=True), self",
        "with self._translated(), self",
        "tests/store/test_postgres.py"
        "::test_a_commit_that_stands_though_the_connection_died_is_unknown_and_repeated_stale",
    ),
    mutant(
        "a commit of unknown outcome says so",
        DATABASE,
        "raise StoreUnavailable(reason(error), unknown=True) from error",
        "raise StoreUnavailable(reason(error)) from error",
        Seeds(1, 40),
    ),
    mutant(
        "under the lock, decisions stand on each other",
        LOCKED,
        "if decision.seen_version != self._version:",
        "if False:",
        "tests/store/test_locked.py"
        "::test_a_decision_on_something_else_is_refused_and_the_others_stand",
    ),
    mutant(
        "SQLite's writers begin as the only one",
        ON_SQLITE,
        'cursor.execute("BEGIN IMMEDIATE")',
        'cursor.execute("BEGIN")',
        SQLITE + "test_a_write_begins_as_the_only_one_and_without_that_updates_are_lost",
    ),
    mutant(
        "every commit of SQLite waits for the disk",
        ON_SQLITE,
        'synchronous: Literal["FULL", "OFF"] = "FULL",',
        'synchronous: Literal["FULL", "OFF"] = "OFF",',
        SQLITE + "test_the_log_is_written_ahead_and_every_commit_waits_for_the_disk",
    ),
    mutant(
        "a fifth process that writes to SQLite is refused",
        "orchestrator/store/slots.py",
        "MOST_WRITING_PROCESSES: Final = 4",
        "MOST_WRITING_PROCESSES: Final = 400",
        SQLITE + "test_a_fifth_writing_process_refuses_and_says_so",
    ),
    mutant(
        "a name is started once",
        START,
        "    if connection.execute(_INSERT[database.dialect], rows).rowcount != len(group):\n"
        "        return False\n",
        "    connection.execute(_INSERT[database.dialect], rows)\n",
        STARTS + "test_a_name_that_exists_is_answered_with_the_execution_that_has_it",
    ),
    mutant(
        "another input under a known name is told from the same",
        START,
        "return text == payload.text or Payload.parse(text) == payload",
        "return True",
        STARTS + "test_a_name_that_exists_is_answered_with_the_execution_that_has_it",
    ),
    mutant(
        "another input under a known name is told from the same (in the whole)",
        START,
        "return text == payload.text or Payload.parse(text) == payload",
        "return True",
        Seeds(1, 30),
        quick=True,
    ),
    mutant(
        "an id that another execution has is refused",
        START,
        "        if found is None:\n            raise IdTaken(decision.execution.id)\n",
        "        if found is None:\n            return _created(decision)\n",
        STARTS + "test_an_id_that_is_taken_is_refused_and_nothing_is_written",
    ),
    mutant(
        "an execution that has ended has no deadline",
        "orchestrator/store/sweep.py",
        "        _open,\n",
        "",
        "tests/store/test_sweeps.py::test_the_deadline_of_an_execution_that_has_ended_is_nobodys",
    ),
    mutant(
        "now is never behind the database's clock",
        "orchestrator/store/clock.py",
        "return self.at + timedelta(seconds=moment - self.sent) + _GRAIN",
        "return self.at + timedelta(seconds=moment - self.received) - _GRAIN",
        "tests/store/test_clock.py",
    ),
    mutant(
        "groups are bounded",
        TRANSITION,
        "full = len(group) >= limits.group_transitions or written > limits.group_bytes",
        "full = False",
        TRANSITIONS + "test_groups_are_bounded_by_number_and_by_size",
    ),
    mutant(
        "what is read under the lock is passed by by claims",
        LOCKED,
        "        .with_for_update(of=frames)\n",
        "",
        "tests/store/test_locked.py::test_what_was_read_under_the_lock_is_passed_by_by_claims",
    ),
)
