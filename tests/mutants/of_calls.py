"""Mutants of calls, timers and effects."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant, Seeds, mutant

CALLING: Final = "orchestrator/execution/calling.py"
ASKING: Final = "orchestrator/execution/asking.py"
AWAIT_STATE: Final = "orchestrator/execution/states/await_.py"
EFFECT: Final = "orchestrator/execution/effect.py"
DECIDE: Final = "orchestrator/execution/decide.py"
TREE: Final = "orchestrator/execution/tree.py"
RECORDS: Final = "orchestrator/store/call.py"

AWAIT: Final = "tests/execution/test_await.py::"
KEPT: Final = "tests/execution/test_kept_calls.py::"
FIRING: Final = "tests/execution/test_timers.py::"
EFFECTS: Final = "tests/execution/test_effects.py::"
CHARTS: Final = "tests/execution/test_statecharts.py::"
STORED: Final = "tests/store/test_calls.py::"
TIMERS: Final = FIRING + (
    "test_timers_fire_once_each_by_moment_and_the_one_that_leads_away_ends_the_rest"
)
TURNS: Final = EFFECTS + "test_effects_follow_entry_exit_and_reaction_in_the_order_of_their_turns"
IN_ORDER: Final = KEPT + (
    "test_kept_calls_are_decided_in_the_order_of_their_arrival_until_the_frame_has_left"
)

OF_CALLS: Final[tuple[Mutant, ...]] = (
    # -- verdicts
    mutant(
        "a refusal changes nothing but the record",
        CALLING,
        "        execution=execution,\n        calls_inserted=(replace(refused",
        "        execution=replace(execution, version=execution.version + 1),\n"
        "        calls_inserted=(replace(refused",
        AWAIT + "test_a_refusal_changes_nothing_but_the_record",
    ),
    mutant(
        "nothing passes a call that is kept by",
        CALLING,
        "replace(execution, version=execution.version + 1, kept=execution.kept + 1)",
        "replace(execution, kept=execution.kept + 1)",
        Seeds(1, 60),
    ),
    mutant(
        "kept calls are counted",
        CALLING,
        "replace(execution, version=execution.version + 1, kept=execution.kept + 1)",
        "replace(execution, version=execution.version + 1)",
        KEPT + "test_a_call_that_arrives_while_a_task_runs_is_kept_and_decided_at_the_next_await",
    ),
    mutant(
        "no more calls are kept than may be",
        CALLING,
        "    if execution.kept >= most:\n",
        "    if False:\n",
        KEPT + "test_no_more_calls_are_kept_than_may_be",
    ),
    mutant(
        "a call is kept while somebody could accept it",
        CALLING,
        "if postponed or can_reach(transition, call, elsewhere):",
        "if postponed:",
        CHARTS + "test_pending_while_another_branch_can_still_reach_an_await_that_could_accept",
    ),
    mutant(
        "a frame that waits and refuses is not elsewhere",
        ASKING,
        "        asked = ask(transition, call, frame_id)\n        if asked is not None:\n",
        "        asked = ask(transition, call, frame_id)\n"
        "        yield Elsewhere(frame_id, place.state or '', inclusive=True)\n"
        "        if asked is not None:\n",
        CHARTS + "test_a_branch_that_waits_and_refuses_is_not_elsewhere",
    ),
    mutant(
        "what has ended accepts nothing",
        CALLING,
        "    if execution.ended_at is not None:\n        reason",
        "    if False:\n        reason",
        KEPT + "test_what_has_ended_answers_as_its_final_state_says",
    ),
    mutant(
        "what is kept is refused at the end",
        DECIDE,
        "        calling.close(transition)\n",
        "",
        KEPT + "test_a_kept_call_is_refused_at_the_latest_when_the_execution_ends",
    ),
    mutant(
        "every call has its verdict in the end (in the whole)",
        DECIDE,
        "        calling.close(transition)\n",
        "",
        Seeds(1, 30),
        quick=True,
    ),
    mutant(
        "a call that finds the history full is refused",
        CALLING,
        "    for call in transition.book.undecided():\n",
        "    for call in transition.book.kept():\n",
        KEPT + "test_a_call_that_finds_the_history_full_ends_the_execution",
    ),
    # -- who is asked
    mutant(
        "inherited reactions stand back behind own ones",
        CALLING,
        "    if of_their_own or not accepting:\n",
        "    if not accepting:\n",
        CHARTS + "test_own_reactions_that_accept_are_all_carried_out_each_in_its_frame",
    ),
    mutant(
        "of the inherited reactions the innermost is carried out",
        CALLING,
        "[max(accepting, key=lambda one: one.depth)]",
        "[min(accepting, key=lambda one: one.depth)]",
        CHARTS + "test_the_innermost_level_that_accepts_is_carried_out_alone",
    ),
    mutant(
        "inside a Map only who is named is asked",
        ASKING,
        "    if isinstance(state, Map):\n        yield from _walk_map",
        "    if False:\n        yield from _walk_map",
        CHARTS + "test_a_call_that_names_none_asks_only_the_levels_around_the_map",
    ),
    mutant(
        "a call into a frame that is gone is refused",
        CALLING,
        "if call.at is not None and not _is_open(transition, call.at):",
        "if False:",
        CHARTS + "test_inside_a_map_only_the_iteration_that_is_named_is_asked",
    ),
    mutant(
        "kept calls are offered while the frame waits, and no longer",
        CALLING,
        "if thread.gone or thread.rests_on is not RestsOn.CALL:",
        "if thread.gone:",
        IN_ORDER,
    ),
    mutant(
        "who has left with its fork hears no more",
        CALLING,
        "if thread.gone or thread.rests_on is not RestsOn.CALL:",
        "if thread.rests_on is not RestsOn.CALL:",
        CHARTS + "test_a_kept_call_that_leaves_the_fork_leaves_nobody_to_hear_the_next",
    ),
    mutant(
        "what a decision has begun goes with the fork that it leaves",
        TREE,
        "        for thread in self._children_in_hand(tally):\n",
        "        for thread in tally.threads:\n",
        CHARTS + "test_a_kept_call_that_leaves_the_fork_ends_what_the_same_decision_has_begun",
    ),
    mutant(
        "effects are no part of a fork",
        TREE,
        " and not is_effect(one)\n",
        "\n",
        CHARTS + "test_a_failing_sibling_makes_a_branch_leave_its_await",
    ),
    mutant(
        "effects are no part of a fork (in the whole)",
        TREE,
        " and not is_effect(one)\n",
        "\n",
        Seeds(1, 40),
    ),
    # -- records
    mutant(
        "kept calls are heard in the order in which they came",
        RECORDS,
        "_OF_EXECUTION.where(KEPT).order_by(calls.c.number)",
        "_OF_EXECUTION.where(KEPT).order_by(calls.c.number.desc())",
        STORED + "test_kept_calls_are_read_when_asked_for_in_their_order",
    ),
    mutant(
        "a verdict is given once",
        RECORDS,
        '        calls.c.call_id == bindparam("at_call_id"),\n        KEPT,\n',
        '        calls.c.call_id == bindparam("at_call_id"),\n',
        STORED + "test_a_verdict_is_given_once",
    ),
    mutant(
        "a verdict is given once, in one statement",
        "orchestrator/store/statement.py",
        " AND calls.verdict = 'pending' RETURNING 1",
        " RETURNING 1",
        STORED + "test_a_verdict_is_given_once",
    ),
    mutant(
        "a repeat is answered with the record",
        "orchestrator/engine/engine.py",
        "    call = known(event.execution, event.call.id)\n    if call is None:\n",
        "    call = None\n    if call is None:\n",
        "tests/calls/test_races.py"
        "::test_of_one_id_used_50_times_at_once_one_counts_and_all_hear_the_same",
    ),
    mutant(
        "an id that another call has is refused",
        "orchestrator/service/calls.py",
        "if call.digest == wanted else CallIdTaken(call.id)",
        "if wanted else CallIdTaken(call.id)",
        "tests/calls/test_table.py"
        "::test_a_repeat_is_answered_byte_for_byte_also_when_the_order_has_moved_on",
    ),
    # -- timers
    mutant(
        "a timer fires once per entry",
        AWAIT_STATE,
        "thread.set_timers(tuple(one for one in thread.timers if one is not timer))",
        "thread.set_timers(thread.timers)",
        FIRING + "test_several_that_are_due_at_once_fire_by_moment_then_by_place",
    ),
    mutant(
        "a timer that leads away ends the rest",
        AWAIT_STATE,
        "            leave(transition, thread, state, thread.input, entry.next)\n"
        "            return\n",
        "            leave(transition, thread, state, thread.input, entry.next)\n",
        FIRING + "test_the_timer_that_leads_away_is_the_last_to_fire",
    ),
    mutant(
        "a timer fires when its time has come",
        AWAIT_STATE,
        "[one for one in thread.timers if one.at <= transition.now]",
        "list(thread.timers)",
        TIMERS,
    ),
    mutant(
        "a timer is never early (in the whole)",
        AWAIT_STATE,
        "[one for one in thread.timers if one.at <= transition.now]",
        "list(thread.timers)",
        Seeds(1, 60),
    ),
    mutant(
        "timers fire by moment, then by place",
        AWAIT_STATE,
        "key=lambda timer: (timer.at, timer.place)",
        "key=lambda timer: timer.place",
        FIRING + "test_several_that_are_due_at_once_fire_by_moment_then_by_place",
    ),
    # -- effects
    mutant(
        "effects wait for those of earlier turns",
        EFFECT,
        "        if not _is_behind(transition, thread.id, turn):\n",
        "        if True:\n",
        TURNS,
    ),
    mutant(
        "effects wait for those of earlier turns (in the whole)",
        EFFECT,
        "        if not _is_behind(transition, thread.id, turn):\n",
        "        if True:\n",
        Seeds(1, 60),
    ),
    mutant(
        "the next turn begins when one has ended",
        EFFECT,
        "        if one.entry == turn and one.status is FrameStatus.PENDING:\n",
        "        if False:\n",
        TURNS,
    ),
    mutant(
        "an effect has one key",
        EFFECT,
        "task, token=transition.token(), attempt=task.attempt + 1,",
        "task, token=transition.token(), key=transition.token(), attempt=task.attempt + 1,",
        EFFECTS + "test_an_effect_holds_nothing_up_and_is_tried_eight_times_with_one_key",
    ),
    mutant(
        "an effect runs again only after it has failed for good",
        DECIDE,
        'None if _has_failed(view, event.frame) else "the effect has not failed for good"',
        "None",
        EFFECTS + "test_an_effect_that_has_ended_is_not_run_again",
    ),
    mutant(
        "effects outlive their execution",
        DECIDE,
        "    return isinstance(event, CallArrived) or is_effect(frame_of(event))\n",
        "    return isinstance(event, CallArrived)\n",
        TURNS,
    ),
    mutant(
        "what has ended is called as well",
        DECIDE,
        "    return isinstance(event, CallArrived) or is_effect(frame_of(event))\n",
        "    return is_effect(frame_of(event))\n",
        KEPT + "test_what_has_ended_answers_as_its_final_state_says",
    ),
    mutant(
        "who is made to leave runs its exit effects",
        "orchestrator/execution/fork.py",
        "        effect.leave_state(transition, transition.tree.thread(place.id))\n",
        "        pass\n",
        CHARTS + "test_a_failing_sibling_makes_a_branch_leave_its_await",
    ),
    mutant(
        "effects survive the fork of their frame, in one statement",
        "orchestrator/store/statement.py",
        "_IN_THE_TREE: Final = f\"frames.kind <> '{FrameKind.EFFECT.value}'\"",
        "_IN_THE_TREE: Final = \"frames.kind <> 'nothing'\"",
        STORED + "test_effects_survive_their_fork_and_their_execution",
    ),
    mutant(
        "effects survive the fork of their frame",
        "orchestrator/store/batch.py",
        "_in_the_tree: Final = frames.c.kind != FrameKind.EFFECT.value",
        '_in_the_tree: Final = frames.c.kind != "nothing"',
        STORED + "test_effects_survive_their_fork_and_their_execution",
    ),
)
