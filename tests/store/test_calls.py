"""Calls and their verdicts, kept calls, and effects that outlive their execution."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from orchestrator.execution.call import Call, Verdict, digest
from orchestrator.execution.decision import Decision, FrameUpdate, Missing, Stale, View
from orchestrator.execution.frame import EffectNote, Frame, FrameKind, FrameStatus, RestsOn, Timer
from orchestrator.execution.payload import Payload
from orchestrator.store import Announcement, Committed, Store
from tests.store import samples
from tests.store.statements import recording


def call(number: str, **changes: object) -> Call:
    given = Payload.of({"n": 1})
    made = Call(number, "pay", given, digest("pay", given, None), samples.AT)
    return replace(made, **changes)  # type: ignore[arg-type]


def recorded(view: View, *calls: Call) -> Decision:
    """A decision that changes nothing but the record of calls."""
    version = view.execution.version
    return Decision(version, view.execution, calls_inserted=calls)


def kept(view: View, *calls: Call) -> Decision:
    run = view.execution
    after = replace(run, version=run.version + 1, kept=run.kept + len(calls))
    numbered = tuple(replace(one, number=after.version) for one in calls)
    return Decision(run.version, after, calls_inserted=numbered)


def effect(number: str = "!4", **changes: object) -> Frame:
    times = {"begun_at": samples.AT, "ended_at": samples.AT}
    note = EffectNote("/States/A/OnExit", "Down", "a storm", "w1", **times)
    return samples.frame(number, kind=FrameKind.EFFECT, effect=note, **changes)


def test_a_refusal_is_on_record_and_changes_nothing_else(store: Store) -> None:
    view = samples.started(store)
    key = (view.execution.id, "")
    before = store.read([key])
    refused = call("c1").refused("Pending", "pay first", samples.AT)
    assert store.commit([recorded(view, refused)]) == [Committed()]
    assert store.read([key]) == before
    assert store.call(view.execution.id, "c1") == refused
    assert store.call(view.execution.id, "c2") is None


def test_refusals_of_one_version_do_not_hinder_each_other(store: Store) -> None:
    view = samples.started(store)
    for number in ("c1", "c2", "c3"):
        refused = call(number).refused("Pending", "pay first", samples.AT)
        assert store.commit([recorded(view, refused)]) == [Committed()]


def test_a_refusal_that_was_decided_on_what_has_moved_on_is_stale(store: Store) -> None:
    view = samples.started(store)
    assert store.commit([samples.moving(view)]) == [Committed()]
    (outcome,) = store.commit([recorded(view, call("c1").refused("A", "no", samples.AT))])
    assert isinstance(outcome, Stale)
    assert store.call(view.execution.id, "c1") is None


def test_an_id_that_is_taken_makes_a_call_stale_and_writes_nothing_of_it(store: Store) -> None:
    view, other = samples.started(store), samples.started(store)
    accepted = call("c1").accepted("A", "B", samples.AT)
    moving = replace(samples.moving(view), calls_inserted=(accepted,))
    assert store.commit([moving]) == [Committed()]
    view = samples.view_of(store, view.execution.id)
    again = replace(samples.moving(view), calls_inserted=(accepted,))
    beside = recorded(other, call("c1").refused("A", "no", samples.AT))
    outcomes = store.commit([again, beside])
    assert isinstance(outcomes[0], Stale)
    assert outcomes[1] == Committed()
    assert samples.view_of(store, view.execution.id).execution == view.execution


def test_kept_calls_are_read_when_asked_for_in_their_order(store: Store) -> None:
    view = samples.started(store)
    number = view.execution.id
    for name in ("z", "a", "m"):
        view = samples.view_of(store, number)
        assert store.commit([kept(view, call(name))]) == [Committed()]
    view = samples.view_of(store, number)
    assert (view.execution.kept, view.calls) == (3, None)
    more = store.read_more(view, Missing(calls=True))
    assert more is not None
    assert more.calls is not None
    assert [one.id for one in more.calls] == ["z", "a", "m"]

    decided = more.calls[0].accepted("A", "B", samples.AT)
    run = replace(view.execution, version=view.execution.version + 1, kept=2)
    decision = Decision(view.execution.version, run, calls_decided=(decided,))
    assert store.commit([decision]) == [Committed()]
    assert store.call(number, "z") == decided
    more = store.read_more(samples.view_of(store, number), Missing(calls=True))
    assert more is not None
    assert [one.id for one in more.calls or ()] == ["a", "m"]


def test_a_verdict_is_given_once(store: Store) -> None:
    view = samples.started(store)
    assert store.commit([kept(view, call("c"))]) == [Committed()]
    for outcome in (Committed, Stale):
        view = samples.view_of(store, view.execution.id)
        run = replace(view.execution, version=view.execution.version + 1)
        refused = call("c").refused("A", "no", samples.AT)
        (found,) = store.commit([Decision(view.execution.version, run, calls_decided=(refused,))])
        assert isinstance(found, outcome)


def test_calls_are_listed_page_by_page(store: Store) -> None:
    view = samples.started(store)
    refused = [call(f"c{n}", verdict=Verdict.REFUSED) for n in range(5)]
    made = [replace(one, number=n // 2) for n, one in enumerate(refused)]
    assert store.commit([recorded(view, *made)]) == [Committed()]
    number = view.execution.id
    first = store.calls(number, limit=3)
    rest = store.calls(number, (first[-1].number, first[-1].id), limit=3)
    assert [one.id for one in first + rest] == ["c0", "c1", "c2", "c3", "c4"]


def test_calls_under_a_lock_see_each_other(store: Store) -> None:
    view = samples.started(store)
    number = view.execution.id
    with store.locked(number, [""]) as locked:
        first = locked.read("")
        assert first is not None
        assert locked.write(kept(first, call("c1")))
        second = locked.read("")
        assert second is not None
        assert second.execution.kept == 1
        assert locked.call("c1") is not None
        assert locked.write(kept(second, call("c2")))
        third = locked.read("")
        assert third is not None
        more = locked.read_more(third, Missing(calls=True))
        assert more is not None
        assert [one.id for one in more.calls or ()] == ["c1", "c2"]
        run = replace(third.execution, version=third.execution.version + 1, kept=1)
        refused = (more.calls or ())[0].refused("A", "no", samples.AT)
        assert locked.write(Decision(third.execution.version, run, calls_decided=(refused,)))
    assert [one.verdict for one in store.calls(number)] == [Verdict.REFUSED, Verdict.PENDING]


def test_timers_come_back_as_they_were(store: Store) -> None:
    timers = (Timer(1, samples.AT), Timer(0, samples.AT + timedelta(microseconds=3)))
    waiting = samples.frame(rests_on=RestsOn.CALL, task=None, wake_at=samples.AT, timers=timers)
    view = samples.started(store, waiting)
    assert view.frames[""] == waiting


def test_whether_somebody_waits_below_is_one_row_however_many_there_are(store: Store) -> None:
    inner = [samples.frame(f"/5.{n}") for n in range(3)]
    view = samples.started(store, samples.frame(), *inner)
    number = view.execution.id
    more = store.read_more(view, Missing(waiting=("/5.",)))
    assert more is not None
    assert more.waiting == {"/5.": False}
    child = samples.view_of(store, number, "/5.1")
    called = replace(child.frames["/5.1"], task=None, rests_on=RestsOn.CALL)
    assert store.commit([samples.moving(child, called)]) == [Committed()]
    more = store.read_more(samples.view_of(store, number), Missing(waiting=("/5.", "/6.")))
    assert more is not None
    assert more.waiting == {"/5.": True, "/6.": False}


def test_effects_survive_their_fork_and_their_execution(store: Store) -> None:
    view = samples.started(store, samples.frame(), samples.frame("/5.0"))
    number = view.execution.id
    effects = (effect("!4"), effect("/5.0!6"))
    assert store.commit([replace(samples.moving(view), inserted=effects)]) == [Committed()]
    view = samples.view_of(store, number)
    assert store.commit([samples.moving(view, removed=("/5.",))]) == [Committed()]
    view = samples.view_of(store, number)
    last = effect("!9")
    ending = replace(samples.ending(view), inserted=(last,))
    assert store.commit([ending]) == [Committed()]
    assert store.frames(number) == []
    assert store.effects(number) == [effects[0], last, effects[1]]


def test_an_effect_can_be_claimed_and_reported_after_the_end(store: Store) -> None:
    view = samples.started(store)
    number = view.execution.id
    store.announce("w1", {samples.RESOURCE: Announcement(samples.QUEUE)})
    ending = replace(samples.ending(view), inserted=(effect("!4", task=samples.task()),))
    assert store.commit([ending]) == [Committed()]
    (claim,) = samples.claimed(store)
    assert (claim.execution, claim.frame) == (number, "!4")
    found = samples.view_of(store, number, "!4")
    frame = found.frames["!4"]
    ended = replace(frame, status=FrameStatus.ENDED, rests_on=None)
    run = replace(found.execution, version=found.execution.version + 1)
    decision = Decision(
        found.execution.version, run, updated=(FrameUpdate(ended, samples.seen(frame)),)
    )
    assert store.commit([decision]) == [Committed()]
    assert [one.status for one in store.effects(number)] == [FrameStatus.ENDED]


def test_the_unended_effects_of_one_frame_are_read_when_asked_for(store: Store) -> None:
    view = samples.started(store)
    over = effect("!3", status=FrameStatus.ENDED, rests_on=None, task=None)
    failed = effect("!5", status=FrameStatus.FAILED, rests_on=None)
    effects = (over, effect("!4"), failed, effect("/5.0!6"))
    assert store.commit([replace(samples.moving(view), inserted=effects)]) == [Committed()]
    found = samples.view_of(store, view.execution.id)
    more = store.read_more(found, Missing(effects=("",)))
    assert more is not None
    assert set(more.frames) - {""} == {"!4"}
    assert more.effects == {""}
    address = f"{view.execution.machine}:{view.execution.name}"
    assert [(where, one.id) for where, one in store.failed_effects()] == [(address, "!5")]


def test_calls_of_all_kinds_are_written_together(store: Store) -> None:
    """On PostgreSQL in one statement: some executions move, others stay as they are."""
    views = [samples.started(store) for _ in range(6)]
    kept_one = samples.view_of(store, views[0].execution.id)
    assert store.commit([kept(kept_one, call("old"))]) == [Committed()]
    views[0] = samples.view_of(store, views[0].execution.id)
    run = replace(views[0].execution, version=views[0].execution.version + 1, kept=0)
    decided = call("old").refused("A", "no", samples.AT)
    accepted = call("c").accepted("A", "B", samples.AT)
    late = samples.started(store)
    assert store.commit([samples.moving(late)]) == [Committed()]
    decisions = [
        Decision(views[0].execution.version, run, calls_decided=(decided,)),
        replace(samples.moving(views[1]), calls_inserted=(accepted,)),
        recorded(views[2], call("c").refused("A", "no", samples.AT)),
        kept(views[3], call("c")),
        recorded(late, call("c").refused("A", "no", samples.AT)),
        samples.ending(views[4]),
    ]
    outcomes = store.commit(decisions)
    assert isinstance(outcomes.pop(4), Stale)
    assert outcomes == [Committed()] * 5
    verdicts = [store.call(view.execution.id, "c") for view in views[1:4]]
    assert [one.verdict.value for one in verdicts if one] == ["accepted", "refused", "pending"]
    old = store.call(views[0].execution.id, "old")
    assert old is not None
    assert old.answer == decided.answer
    assert store.call(late.execution.id, "c") is None
    assert samples.view_of(store, views[2].execution.id) == views[2]


def test_a_refused_call_costs_three_statements(store: Store) -> None:
    view = samples.started(store)
    with recording() as seen:
        store.commit([recorded(view, call("c1").refused("A", "no", samples.AT))])
    assert len(seen.statements) <= 3
    assert seen.commits == 1


def test_executions_are_found_with_their_calls_in_one_statement(store: Store) -> None:
    view = samples.started(store)
    run = view.execution
    refused = call("c1").refused("A", "no", samples.AT)
    assert store.commit([recorded(view, refused)]) == [Committed()]
    name, other = run.name, samples.started(store).execution
    keys = [(run.machine, name, "c1"), (run.machine, name, "c2"), (run.machine, "nobody", "c1")]
    with recording() as seen:
        found = store.find_called([*keys, (other.machine, other.name, "c1")])
    assert [one and one[1] for one in found] == [refused, None, None, None]
    assert [one and one[0] for one in found] == [
        samples.view_of(store, run.id),
        samples.view_of(store, run.id),
        None,
        samples.view_of(store, other.id),
    ]
    assert len(seen.statements) == 1


def test_a_call_that_is_kept_for_long_is_found(store: Store) -> None:
    view = samples.started(store)
    assert store.commit([kept(view, call("c1"))]) == [Committed()]
    ((address, found),) = store.overdue_calls(0)
    assert (address, found.id) == (f"{view.execution.machine}:{view.execution.name}", "c1")
    assert store.overdue_calls(10**9) == []


def test_the_digest_tells_calls_apart_but_not_ways_to_write_them() -> None:
    def of(name: str, text: str, at: str | None = None) -> str:
        return digest(name, Payload.parse(text), at)

    assert of("pay", '{"a":1,"b":[2.0]}') == of("pay", '{"b":[2],"a":1.0}')
    different = {
        of("pay", "{}"),
        of("ship", "{}"),
        of("pay", "{}", "/5.0"),
        of("pay", '{"a":true}'),
        of("pay", '{"a":1}'),
        of("pay", '{"a":"1"}'),
    }
    assert len(different) == 6
