"""The doctor finds each injury that is made by hand, names the execution, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from orchestrator.cli import main
from orchestrator.doctor import Finding, Kind
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import Announcement, Lifeline, Report, WorkerKind
from tests.engine.pump import QUEUE, RESOURCE, WORKER, Pump
from tests.store.test_liveness import shift_beats

TASK = {"Type": "Task", "Resource": RESOURCE, "End": True}
MACHINES = {
    "tasks": {"StartAt": "Ask", "States": {"Ask": TASK}},
    "waits": {
        "StartAt": "Wait",
        "States": {"Wait": {"Type": "Wait", "Seconds": 86_400, "End": True}},
    },
    "forks": {
        "StartAt": "Each",
        "States": {
            "Each": {
                "Type": "Map",
                "ItemsPath": "$",
                "ItemProcessor": {"StartAt": "Ask", "States": {"Ask": TASK}},
                "End": True,
            }
        },
    },
    "ends": {"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}},
    "calls": {
        "Calls": {"later": {}},
        "StartAt": "Hold",
        "States": {
            "Hold": {
                "Type": "Await",
                "OnEnter": {"Resource": RESOURCE},
                "On": {"later": {"Postpone": True}},
                "After": [{"Seconds": 86_400, "Next": "Done"}],
            },
            "Done": {"Type": "Succeed"},
        },
    },
}


@dataclass
class Ward:
    """Executions of every kind, healthy, with a worker and a scheduler that live."""

    pump: Pump
    engine: sa.Engine

    def injure(self, statement: str, address: str = "") -> None:
        """Change a row of an execution by SQL."""
        machine, _, name = address.partition(":")
        with self.engine.begin() as connection:
            found = connection.execute(
                sa.text("SELECT id FROM executions WHERE machine = :m AND name = :n"),
                {"m": machine, "n": name},
            ).scalar()
            changed = connection.execute(sa.text(statement), {"id": found})
            assert changed.rowcount >= 1, statement

    def findings(self) -> list[Finding]:
        return list(self.pump.service.operations.diagnose().findings)


@pytest.fixture
def ward(database_url: str) -> Iterator[Ward]:
    engine = sa.create_engine(database_url)
    with Pump(database_url) as pump:
        for name, definition in MACHINES.items():
            pump.service.deploy(name, json.dumps(definition))
            for number in range(2):
                pump.service.start_execution(name, f"{name}{number}", "[1, 2, 3]")
        pump.service.call_execution("calls:calls0", "later", "{}")
        pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=3)
        with living(pump, WorkerKind.WORKER, "w1"), living(pump, WorkerKind.SCHEDULER, "s1"):
            yield Ward(pump, engine)
    engine.dispose()


@contextmanager
def living(
    pump: Pump, kind: WorkerKind, name: str, serves: dict[str, str] | None = None, **report: str
) -> Iterator[Lifeline]:
    """A process that was heard of just now, however long the test takes."""
    life = pump.store.lifeline(name)
    served = serves or {RESOURCE: QUEUE} if kind is WorkerKind.WORKER else None
    life.beat(Report(kind, serves=served, **report))  # type: ignore[arg-type]
    engine = sa.create_engine(pump.url)
    shift_beats(engine, 3_600, name)
    engine.dispose()
    yield life
    life.end()


FORGOTTEN = (
    "INSERT INTO calls (execution, call_id, number, arrived_at, call, digest, input, verdict)"
    " SELECT :id, call_id, number, arrived_at, call, digest, input, verdict FROM calls"
)
INJURIES = {
    "the only frame is gone": (
        "waits:waits0",
        "DELETE FROM frames WHERE execution = :id",
        Kind.ASLEEP,
        "no root frame",
    ),
    "a moment is gone": (
        "waits:waits0",
        "UPDATE frames SET wake_at = NULL WHERE execution = :id",
        Kind.ASLEEP,
        "waits for no moment",
    ),
    "a lease is gone": (
        "tasks:tasks0",
        "UPDATE frames SET lease_until = NULL WHERE execution = :id",
        Kind.ASLEEP,
        "claimed without a lease",
    ),
    "a task is never ready": (
        "tasks:tasks1",
        "UPDATE frames SET ready_at = NULL, claimed_by = NULL WHERE execution = :id",
        Kind.ASLEEP,
        "never ready",
    ),
    "a frame rests on nothing": (
        "waits:waits1",
        "UPDATE frames SET rests_on = NULL WHERE execution = :id",
        Kind.ASLEEP,
        "rests on nothing",
    ),
    "a fork is gone": (
        "forks:forks0",
        "DELETE FROM forks WHERE execution = :id",
        Kind.ASLEEP,
        "the fork that it waits for is not there",
    ),
    "all children ended and nobody joined them": (
        "forks:forks0",
        "UPDATE frames SET status = 'ended' WHERE execution = :id AND kind = 'child'",
        Kind.ASLEEP,
        "none of the children",
    ),
    "a tally is wrong": (
        "forks:forks1",
        "UPDATE forks SET succeeded = succeeded + 1 WHERE execution = :id",
        Kind.DISAGREEMENT,
        "counts 1 ended, there are 0",
    ),
    "a child is gone": (
        "forks:forks1",
        "DELETE FROM frames WHERE execution = :id AND kind = 'child' AND id LIKE '%.1'",
        Kind.DISAGREEMENT,
        "counts 3 children, there are 2",
    ),
    "a history has a gap": (
        "forks:forks0",
        "DELETE FROM history WHERE execution = :id AND first_id = 1",
        Kind.GAP,
        "gap",
    ),
    "the next event is another": (
        "tasks:tasks0",
        "UPDATE executions SET next_event_id = 99 WHERE id = :id",
        Kind.DISAGREEMENT,
        "its row expects 99",
    ),
    "a row says that it has ended": (
        "tasks:tasks0",
        "UPDATE executions SET status = 'FAILED', ended_at = started_at WHERE id = :id",
        Kind.DISAGREEMENT,
        "its history says RUNNING, its row FAILED",
    ),
    "a row says that it runs": (
        "ends:ends0",
        "UPDATE executions SET status = 'RUNNING', phase = 'open', ended_at = NULL WHERE id = :id",
        Kind.DISAGREEMENT,
        "its history says SUCCEEDED, its row RUNNING",
    ),
    "an output is gone": (
        "ends:ends1",
        "DELETE FROM documents WHERE execution = :id AND what = 'output'",
        Kind.DISAGREEMENT,
        "succeeded without an output",
    ),
    "an input is gone": (
        "waits:waits0",
        "DELETE FROM documents WHERE execution = :id AND what = 'input'",
        Kind.DISAGREEMENT,
        "its input is not there",
    ),
    "the moment of a timer is gone": (
        "calls:calls0",
        "UPDATE frames SET wake_at = NULL WHERE execution = :id AND kind = 'root'",
        Kind.ASLEEP,
        "its timers have no moment",
    ),
    "an effect is never ready": (
        "calls:calls0",
        "UPDATE frames SET ready_at = NULL WHERE execution = :id AND kind = 'effect'",
        Kind.ASLEEP,
        "never ready",
    ),
    "an effect waits for no other": (
        "calls:calls1",
        "UPDATE frames SET status = 'pending' WHERE execution = :id AND kind = 'effect'",
        Kind.ASLEEP,
        "its turn has come",
    ),
    "a kept call is gone": (
        "calls:calls0",
        "DELETE FROM calls WHERE execution = :id",
        Kind.DISAGREEMENT,
        "counts 1 calls without a verdict, there are 0",
    ),
    "a call was forgotten at the end": (
        "ends:ends0",
        FORGOTTEN,
        Kind.DISAGREEMENT,
        "1 of its calls have no verdict",
    ),
    "a revision is gone": (
        "waits:waits0",
        "UPDATE executions SET revision = 4711 WHERE id = :id",
        Kind.DISAGREEMENT,
        "revision 4711 is not there",
    ),
}


def test_the_healthy_have_nothing(ward: Ward) -> None:
    assert ward.findings() == []
    diagnosis = ward.pump.service.operations.diagnose()
    assert diagnosis.examined == 10
    assert diagnosis.living == {"worker": 1, "child": 0, "scheduler": 1}


@pytest.mark.parametrize("name", INJURIES)
def test_an_injury_is_found_and_its_execution_named(ward: Ward, name: str) -> None:
    address, statement, kind, words = INJURIES[name]
    if name == "a history has a gap":
        ward.pump.turn()  # two rows at least
    ward.injure(statement, address)
    found = ward.findings()
    assert {one.execution for one in found} == {address}
    assert any(one.kind is kind and words in one.text for one in found), found


def test_what_goes_on_while_it_is_examined_is_no_fault(ward: Ward) -> None:
    operations = ward.pump.service.operations
    looks: list[object] = []
    examined = operations._examined  # noqa: SLF001 - the moment between two looks

    def moving(execution: int) -> list[Finding]:
        looks.append(execution)
        if len(looks) == 2:
            ward.injure(
                "UPDATE frames SET wake_at = started.started_at FROM executions AS started"
                " WHERE execution = :id AND started.id = execution",
                "waits:waits0",
            )
        return examined(execution)

    operations._examined = moving  # type: ignore[method-assign]  # noqa: SLF001
    ward.injure("UPDATE frames SET wake_at = NULL WHERE execution = :id", "waits:waits0")
    assert ward.findings() == []
    assert len(looks) == 3


def test_dead_schedulers_and_queues_without_living_workers_are_found(ward: Ward) -> None:
    shift_beats(ward.engine, -7_200)
    found = {one.kind: one.text for one in ward.findings()}
    assert set(found) == {Kind.SCHEDULER, Kind.UNSERVED}
    assert "no scheduler lives, the last was heard of at" in found[Kind.SCHEDULER]
    assert f"no worker that lives consumes the queue {QUEUE}" in found[Kind.UNSERVED]


def test_unhealthy_workers_are_found(ward: Ward) -> None:
    with living(ward.pump, WorkerKind.WORKER, "w2", unhealthy="idle, though tasks wait"):
        (found,) = ward.findings()
    assert (found.kind, found.text) == (Kind.UNHEALTHY, "w2 says: idle, though tasks wait")


def _command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    code = ended.value.code
    return int(code or 0), capsys.readouterr().out


def test_the_command_says_what_is_wrong_and_ends_with_1(
    ward: Ward, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = ("--database-url", database_url)
    code, said = _command(capsys, "doctor", *url)
    assert (code, said.splitlines()[-1]) == (0, "nothing is wrong")
    ward.injure("UPDATE frames SET wake_at = NULL WHERE execution = :id", "waits:waits0")
    code, said = _command(capsys, "doctor", *url)
    assert code == 1
    assert "nothing will wake it: waits:waits0: frame (root) in 'Wait'" in said
    assert "::" not in said
    code, said = _command(capsys, "doctor", "--json", *url)
    assert code == 1
    (finding,) = json.loads(said)["findings"]
    assert finding["execution"] == "waits:waits0"


def test_verify_finds_what_was_changed_and_ends_with_1(
    ward: Ward, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = ("--database-url", database_url)
    every = [f"{run.machine}:{run.name}" for run in ward.pump.service.list_executions(limit=100)]
    code, said = _command(capsys, "verify", *every, *url)
    assert (code, set(said.split()) - {f"{one}:" for one in every}) == (0, {"clean"})
    ward.injure(
        "UPDATE history SET events = replace(events, 'SucceedStateExited', 'PassStateExited')"
        " WHERE execution = :id",
        "ends:ends0",
    )
    code, said = _command(capsys, "verify", "--json", "ends:ends0", "ends:ends1", *url)
    assert code == 1
    found = json.loads(said)
    assert found["ends:ends1"] == []
    assert found["ends:ends0"][0]["event"] is not None
    assert ward.pump.service.describe_execution("ends:ends0").execution.status is (
        ExecutionStatus.SUCCEEDED
    )


def test_attention_lists_what_does_not_mend_itself(
    ward: Ward, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pump = ward.pump
    listed = pump.service.operations.attention
    assert listed() == []
    unknown = json.dumps(
        {"StartAt": "Ask", "States": {"Ask": {**TASK, "Resource": "celery:nobody"}}}
    )
    pump.service.deploy("unknown", unknown)
    pump.service.start_execution("unknown", "one")
    pump.store.announce(WORKER, {"celery:gone": Announcement("elsewhere")})
    pump.engine.routes.forget()
    gone = json.dumps({"StartAt": "Ask", "States": {"Ask": {**TASK, "Resource": "celery:gone"}}})
    pump.service.deploy("gone", gone)
    pump.service.start_execution("gone", "one")
    with living(pump, WorkerKind.WORKER, "w2", {RESOURCE: "another"}):
        found = {one.kind.value: one for one in listed()}
        assert {kind: one.subject for kind, one in found.items()} == {
            "unserved": "celery:nobody",
            "dead queue": "elsewhere",
            "two queues": RESOURCE,
        }
        code, said = _command(capsys, "attention", "--json", "--database-url", database_url)
    assert code == 0
    assert {one["kind"] for one in json.loads(said)} == set(found)


def test_a_resource_that_no_living_worker_of_its_queue_serves_is_listed(ward: Ward) -> None:
    pump = ward.pump
    pump.store.announce(WORKER, {"celery:old": Announcement(QUEUE)})
    pump.engine.routes.forget()
    old = json.dumps({"StartAt": "Ask", "States": {"Ask": {**TASK, "Resource": "celery:old"}}})
    pump.service.deploy("old", old)
    pump.service.start_execution("old", "one")
    (found,) = pump.service.operations.attention()
    assert (found.kind.value, found.subject) == ("unserved", "celery:old")


def test_poison_is_listed_and_retried_by_the_command(
    database_url: str, capsys: pytest.CaptureFixture[str], ward: Ward
) -> None:
    pump = ward.pump
    run = pump.service.describe_execution("tasks:tasks0").execution
    (frame,) = pump.store.frames(run.id)
    assert frame.task is not None
    from orchestrator.execution.events import TaskFailed
    from orchestrator.store import Pauses

    event = TaskFailed(
        run.id, "", frame.task.token, frame.task.deliveries, WORKER, "E", None, run.started_at
    )
    for _ in range(5):
        pump.store.strike(event, "ValueError: a fault of ours", Pauses(0.0))
    (found,) = pump.service.operations.attention()
    assert (found.kind.value, found.subject) == ("poison", "tasks:tasks0")
    assert "ValueError: a fault of ours" in found.text
    url = ("--database-url", database_url)
    code, said = _command(capsys, "retry", "tasks:tasks0", "--reason", "mended", *url)
    assert (code, said) == (0, "tasks:tasks0: 1 applied, 0 kept\n")
    assert pump.service.describe_execution("tasks:tasks0").execution.error == "E"
    (act,) = pump.service.operations.trail("tasks:tasks0")
    assert (act.what, act.reason) == ("retry", "mended")
    assert "@" in act.who
    code, _ = _command(capsys, "retry", "tasks:tasks0", "--reason", "again", *url)
    assert code == 2
