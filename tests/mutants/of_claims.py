"""Mutants of claims, leases, bells and the dead."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant, Seeds, mutant

CLAIM: Final = "orchestrator/store/claim.py"
LEASE: Final = "orchestrator/store/lease.py"
WORKER: Final = "orchestrator/store/worker.py"
ENGINE: Final = "orchestrator/engine/engine.py"
INLINE: Final = "orchestrator/engine/inline.py"

CLAIMS: Final = "tests/store/test_claims.py::"
LIVENESS: Final = "tests/store/test_liveness.py::"
CONTINUATION: Final = "tests/engine/test_inline_continuation.py::"

BY_WORKER: Final = ') == bindparam("worker", type_=TEXT)'
ANYBODYS: Final = (
    ') == func.coalesce(frames.c.claimed_by, bindparam("worker", type_=TEXT), literal("", TEXT))'
)
SERVED: Final = 'one_of(dialect, frames.c.resource, "served", TEXT),\n            frames.c.ready_at'
UNSERVED: Final = (
    'one_of(dialect, frames.c.resource, "served", TEXT) | READY,\n            frames.c.ready_at'
)

OF_CLAIMS: Final[tuple[Mutant, ...]] = (
    mutant(
        "what is claimed is nobody else's",
        "orchestrator/store/tables.py",
        '    frames.c.claimed_by.is_(None),\n)\n"""A task that waits',
        ')\n"""A task that waits',
        CLAIMS + "test_what_is_claimed_is_nobody_elses",
    ),
    mutant(
        "claims pass by what is locked",
        CLAIM,
        "        .with_for_update(skip_locked=True)\n",
        "        .with_for_update()\n",
        CLAIMS + "test_claims_renewals_and_lapses_pass_by_what_is_locked",
    ),
    mutant(
        "renewals pass by what is locked",
        LEASE,
        "        .with_for_update(skip_locked=True, of=frames)\n",
        "        .with_for_update(of=frames)\n",
        CLAIMS + "test_claims_renewals_and_lapses_pass_by_what_is_locked",
    ),
    mutant(
        "lapses pass by what is locked",
        LEASE,
        "        .with_for_update(skip_locked=True)\n",
        "        .with_for_update()\n",
        CLAIMS + "test_claims_renewals_and_lapses_pass_by_what_is_locked",
    ),
    mutant(
        "deliveries are counted at the claim",
        CLAIM,
        "deliveries=frames.c.deliveries + 1,",
        "deliveries=frames.c.deliveries,",
        CLAIMS + "test_a_delivery_counts_at_the_claim_and_not_when_it_is_given_back_unused",
    ),
    mutant(
        "deliveries are counted (in the whole)",
        CLAIM,
        "deliveries=frames.c.deliveries + 1,",
        "deliveries=frames.c.deliveries,",
        Seeds(1, 30),
    ),
    mutant(
        "a delivery that has not begun does not count",
        LEASE,
        '"deliveries": frames.c.deliveries - 1',
        '"deliveries": frames.c.deliveries',
        CLAIMS + "test_a_delivery_counts_at_the_claim_and_not_when_it_is_given_back_unused",
    ),
    mutant(
        "only the holder renews and gives back",
        LEASE,
        BY_WORKER,
        ANYBODYS,
        CLAIMS + "test_only_the_holder_gives_back",
    ),
    mutant(
        "a claim is of one delivery",
        LEASE,
        "        frames.c.deliveries == claims.c.delivery,\n",
        "",
        CLAIMS + "test_a_claim_is_of_one_delivery_of_one_attempt",
    ),
    mutant(
        "a claim is of one attempt",
        LEASE,
        "        frames.c.token == claims.c.token,\n",
        "",
        CLAIMS + "test_a_claim_is_of_one_delivery_of_one_attempt",
    ),
    mutant(
        "a heartbeat counts only with its delivery",
        LEASE,
        'frames.c.deliveries == bindparam("at_delivery")',
        'frames.c.deliveries >= bindparam("at_delivery")',
        CLAIMS + "test_a_heartbeat_of_a_claim_that_is_gone_is_refused",
    ),
    mutant(
        "a lease that is not over does not lapse",
        LEASE,
        "            frames.c.lease_until <= current_moment(),\n",
        "",
        CLAIMS + "test_a_lease_that_is_not_over_does_not_lapse",
    ),
    mutant(
        "a lease that is not over does not lapse (in the whole)",
        LEASE,
        "            frames.c.lease_until <= current_moment(),\n",
        "",
        Seeds(1, 40),
        quick=True,
    ),
    mutant(
        "at most once is never given back",
        LEASE,
        "frames.c.at_most_once.is_(False), frames",
        "frames.c.at_most_once.is_not(None), frames",
        CLAIMS + "test_a_lapsed_at_most_once_task_is_handed_out_and_left_as_it_is",
    ),
    mutant(
        "at most once runs once (in the whole)",
        LEASE,
        "frames.c.at_most_once.is_(False), frames",
        "frames.c.at_most_once.is_not(None), frames",
        Seeds(1, 100),
        quick=True,
    ),
    mutant(
        "deliveries are limited",
        LEASE,
        'frames.c.deliveries < bindparam("most_deliveries")',
        'frames.c.deliveries < bindparam("most_deliveries") + 1_000',
        CLAIMS + "test_a_task_whose_deliveries_are_spent_is_handed_out",
    ),
    mutant(
        "a worker claims only what it serves",
        CLAIM,
        SERVED,
        UNSERVED,
        CLAIMS + "test_a_worker_claims_only_what_it_serves_and_only_from_its_queues",
    ),
    mutant(
        "a result that waits to be decided lapses for nobody",
        LEASE,
        "    frames.c.lease_until.is_not(None),\n    or_(",
        "    or_(",
        LIVENESS + "test_a_claim_that_has_handed_in_its_result_lapses_for_nobody",
    ),
    mutant(
        "after five strikes only an operator brings it up again",
        "orchestrator/store/undecided.py",
        "        if strikes >= MOST_STRIKES:",
        "        if strikes >= 1_000:",
        "tests/robustness/test_poison.py::test_after_five_strikes_only_an_operator_brings_it_up_again",
    ),
    mutant(
        "a handler is told that its claim is lost",
        "orchestrator/dispatch/leases.py",
        "                held.lost.set()\n",
        "                pass\n",
        "tests/dispatch/test_local_worker.py"
        "::test_a_handler_without_heartbeats_is_told_by_the_renewal_of_leases",
    ),
    mutant(
        "a result is kept until the database is back",
        "orchestrator/dispatch/slot.py",
        "            except StoreUnavailable as away:\n"
        "                self._desk.outage.failed(away)\n            else:",
        "            except StoreUnavailable:\n"
        "                return Handled(arrival.event, Verdict.STALE)\n            else:",
        "tests/dispatch/test_local_worker.py::test_a_result_is_kept_until_the_database_is_back",
    ),
    mutant(
        "who is silent but holds its lock is not dead",
        WORKER,
        ".where(_candidate, heard_of(), free)",
        ".where(_candidate, heard_of(), or_(free, _candidate))",
        LIVENESS + "test_who_is_silent_but_holds_its_lock_is_not_dead",
    ),
    mutant(
        "who is not silent is not dead",
        WORKER,
        "workers.c.lock_key.is_not(None), _silent)",
        "workers.c.lock_key.is_not(None))",
        LIVENESS + "test_who_has_let_its_lock_go_is_not_dead_before_it_is_silent",
    ),
    mutant(
        "who was not heard of itself calls nobody lost",
        WORKER,
        "exists().where(itself.c.id == by, fresh)",
        "exists().where(itself.c.id == by)",
        LIVENESS + "test_who_was_not_heard_of_itself_calls_nobody_lost",
    ),
    mutant(
        "a moment is not found before the database's clock says so",
        "orchestrator/store/sweep.py",
        '_horizon = later(current_moment(), bindparam("horizon", type_=Float()))',
        '_horizon = later(current_moment(), bindparam("horizon", type_=Float()) + 3_600)',
        "tests/store/test_sweeps.py"
        "::test_a_moment_is_not_due_before_the_clock_of_the_database_says_so",
    ),
    mutant(
        "bells ring after the commit",
        ENGINE,
        "            results = self._store.commit([one.prepared.decision for one in group])\n",
        "            self._announcer.announce([one.prepared for one in group])\n"
        "            results = self._store.commit([one.prepared.decision for one in group])\n",
        "tests/engine/test_bells.py::test_a_bell_is_rung_for_what_is_there",
    ),
    mutant(
        "at most once is so when it is claimed inside a commit",
        INLINE,
        "at_most_once=task.resource in claimant.at_most_once,",
        "at_most_once=False,",
        CONTINUATION + "test_an_at_most_once_handler_is_so_when_it_is_claimed_in_the_commit",
    ),
    mutant(
        "a claim inside a commit is of what its worker serves",
        INLINE,
        "or task.resource not in claimant.resources:",
        ":",
        CONTINUATION + "test_a_task_that_the_claimant_does_not_serve_is_left_to_others",
    ),
    mutant(
        "a claim inside a commit counts as a delivery (in the whole)",
        INLINE,
        "            deliveries=1,\n",
        "            deliveries=0,\n",
        Seeds(1, 40),
    ),
)
