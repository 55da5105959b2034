"""Each command, as text for people and as JSON for programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from orchestrator.cli.app import app
from tests.cli.conftest import ASKS, AWAITS, FAILS, PASSES, WAITS, Call, definition

File = Callable[[str, str], Path]


def test_validate_says_of_each_file_whether_it_is_valid(call: Call, file: File) -> None:
    good, bad = file("good.asl.json", PASSES), file("bad.asl.json", definition(A={"Type": "Pass"}))
    answer = call("validate", good, bad)
    assert answer.code == 2
    assert f"{good}: valid" in answer.out
    assert f"{bad}: 2 errors" in answer.out
    assert "ERROR /States/A" in answer.out
    assert call("validate", good).code == 0

    found = call("validate", good, bad, "--json").json
    assert found[str(good)] == []
    assert "/States/A" in [one["pointer"] for one in found[str(bad)]]
    assert found[str(bad)][0]["severity"] == "ERROR"


def test_deploy_makes_a_revision_once_per_text(on_database: Call, file: File) -> None:
    greet = file("greet.asl.json", PASSES)
    assert on_database("deploy", greet).out == "greet: revision 1\n"
    assert on_database("deploy", greet).out == "greet: revision 1 (unchanged)\n"
    greet.write_text(WAITS)
    assert on_database("deploy", greet, "--json").json == [
        {"machine": "greet", "revision": 2, "created": True, "findings": []}
    ]
    assert on_database("deploy", greet, "--name", "hello").out == "hello: revision 1\n"


def test_deploy_says_the_warnings_that_validate_says(on_sqlite: Call, file: File) -> None:
    asks = file("asks.asl.json", AWAITS)
    warning = on_sqlite("validate", asks).out.splitlines()[1]
    assert "WARNING /States/Hold: " in warning
    assert on_sqlite("deploy", asks).out == f"asks: revision 1\n{warning}\n"
    (deployed,) = on_sqlite("deploy", asks, "--json").json
    assert [one["pointer"] for one in deployed["findings"]] == ["/States/Hold"]


def test_start_answers_an_execution_of_the_same_name_and_input(
    on_database: Call, file: File
) -> None:
    on_database("deploy", file("greet.asl.json", PASSES))
    start = ("start", "greet", "--name", "one", "--input", '{"to": "you"}')
    assert on_database(*start).out == "greet:one\n"
    again = on_database(*start)
    assert (again.code, again.out) == (0, "greet:one (started before)\n")
    answer = on_database(*start, "--json").json
    assert answer["created"] is False
    assert answer["executionArn"].endswith(":execution:greet:one")

    other = on_database("start", "greet", "--name", "one", "--input", "1")
    assert other.code == 2
    assert "greet:one exists already and was started with another input" in other.err


def test_start_draws_a_name_of_its_own(on_sqlite: Call, file: File) -> None:
    on_sqlite("deploy", file("greet.asl.json", PASSES))
    assert on_sqlite("start", "greet").out != on_sqlite("start", "greet").out
    assert len(on_sqlite("list", "--json").json) == 2


def test_start_reads_its_input_from_a_file_and_from_standard_input(
    on_sqlite: Call, file: File
) -> None:
    on_sqlite("deploy", file("greet.asl.json", PASSES))
    on_sqlite("start", "greet", "--name", "f", "--input", f"@{file('in.json', '[1]')}")
    on_sqlite("start", "greet", "--name", "s", "--input", "@-", stdin=b"[2]")
    assert on_sqlite("describe", "greet:f", "--json").json["input"] == [1]
    assert on_sqlite("describe", "greet:s", "--json").json["input"] == [2]


def test_list_shows_newest_first_whole_names_and_one_status(on_database: Call, file: File) -> None:
    long = "n" * 80
    on_database("deploy", file("greet.asl.json", PASSES), file("rest.asl.json", WAITS))
    on_database("start", "greet", "--name", long)
    on_database("start", "rest", "--name", "later")
    lines = on_database("list").out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["EXECUTION", "STATUS"],
        ["rest:later", "RUNNING"],
        [f"greet:{long}", "SUCCEEDED"],
    ]
    assert [one["execution"] for one in on_database("list", "--json").json] == [
        "rest:later",
        f"greet:{long}",
    ]
    running = on_database("list", "--status", "RUNNING", "--json").json
    assert [one["name"] for one in running] == ["later"]
    assert [one["name"] for one in on_database("list", "--machine", "greet", "--json").json] == [
        long
    ]
    assert len(on_database("list", "--limit", "1", "--json").json) == 1


def test_describe_shows_what_an_execution_rests_on(on_database: Call, file: File) -> None:
    on_database("deploy", file("rest.asl.json", WAITS), file("ask.asl.json", ASKS))
    on_database("start", "rest", "--name", "r", "--input", '{"a": 1}')
    on_database("start", "ask", "--name", "a")
    rests = on_database("describe", "rest:r")
    assert rests.out.startswith("rest:r  RUNNING\n")
    assert '  input    {"a":1}\n' in rests.out
    assert "  Rest: waits until 2" in rests.out
    asks = on_database("describe", "ask:a")
    assert "  Ask: no worker serves celery:nobody.knows\n" in asks.out
    found = on_database("describe", "ask:a", "--json").json
    assert found["rests"] == [
        {"frame": "", "state": "Ask", "on": "no worker serves celery:nobody.knows"}
    ]
    assert found["status"] == "RUNNING"
    assert on_database("describe", found["executionArn"], "--json").json == found


def test_describe_shows_how_an_execution_ended(on_database: Call, file: File) -> None:
    on_database("deploy", file("greet.asl.json", PASSES), file("stop.asl.json", FAILS))
    on_database("start", "greet", "--name", "g")
    on_database("start", "stop", "--name", "s")
    assert '  output   {"said":"hello"}\n' in on_database("describe", "greet:g").out
    failed = on_database("describe", "stop:s").out
    assert "stop:s  FAILED" in failed
    assert "in Stop" in failed
    assert "  error    Broken\n  cause    nul\\x00 and \\ud800 half\n" in failed
    found = on_database("describe", "stop:s", "--json").json
    assert (found["error"], found["cause"]) == ("Broken", "nul\x00 and \ud800 half")
    assert found["stopDate"] >= found["startDate"]


def test_history_shows_every_event_in_the_shape_of_aws(on_database: Call, file: File) -> None:
    on_database("deploy", file("greet.asl.json", PASSES))
    on_database("start", "greet", "--name", "g")
    lines = on_database("history", "greet:g").out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "4"]
    assert "PassStateEntered" in lines[1]
    assert "Greet" in lines[1]
    events = on_database("history", "greet:g", "--json").json
    assert [event["type"] for event in events] == [
        "ExecutionStarted",
        "PassStateEntered",
        "PassStateExited",
        "ExecutionSucceeded",
    ]
    assert events[1]["stateEnteredEventDetails"]["name"] == "Greet"


def test_stop_aborts_what_runs_and_leaves_what_has_ended(on_database: Call, file: File) -> None:
    on_database("deploy", file("rest.asl.json", WAITS), file("greet.asl.json", PASSES))
    on_database("start", "rest", "--name", "r")
    on_database("start", "greet", "--name", "g")
    stopped = on_database("stop", "rest:r", "--error", "Late", "--cause", "nobody waits")
    assert (stopped.code, stopped.out) == (0, "rest:r ABORTED\n")
    assert on_database("describe", "rest:r", "--json").json["error"] == "Late"
    again = on_database("stop", "rest:r", "--error", "Other", "--json").json
    assert (again["status"], again["error"], again["alreadyEnded"]) == ("ABORTED", "Late", True)
    ended = on_database("stop", "greet:g")
    assert (ended.code, ended.out) == (0, "greet:g had already ended: SUCCEEDED\n")


@pytest.mark.parametrize(
    "command",
    [
        "list",
        "describe a:b",
        "history a:b",
        "waits a:b",
        "calls a:b",
        "effects a:b",
        "call a:b c",
        "start a",
        "stop a:b",
        "attention",
        "doctor",
        "verify a:b",
        "retry a:b --reason x",
        "skip a:b --reason x",
        "scheduler",
    ],
)
@pytest.mark.parametrize("where", ["", "sqlite:///no/folder/here.db"])
def test_where_no_database_is_that_is_said_and_none_is_made(
    call: Call, tmp_path: Path, command: str, where: str
) -> None:
    answer = call(*command.split(), *(["--database-url", where] if where else []))
    assert (answer.code, answer.out) == (1, "")
    path = tmp_path / (where.removeprefix("sqlite:///") or "orchestrator.db")
    assert f"there is no database {path}: run `orchestrator db upgrade`" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_db_upgrade_makes_the_tables_once(call: Call, empty_database_url: str) -> None:
    first = call("db", "upgrade", "--database-url", empty_database_url)
    assert first.code == 0
    assert "was empty and is" in first.out
    again = call("db", "upgrade", "--database-url", empty_database_url, "--json")
    assert "already" in again.json["schema"]
    assert call("list", "--database-url", empty_database_url, "--json").json == []


def test_a_database_without_tables_is_a_sentence(call: Call, empty_database_url: str) -> None:
    answer = call("list", "--database-url", empty_database_url)
    assert answer.code == 1
    assert "run `orchestrator db upgrade`" in answer.err


def test_help_names_what_is_to_be_given_and_no_type_of_python(call: Call) -> None:
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        shown = call(name, "--help").out
        assert not re.search(r"[ {]<|<(str|int|float|path|list)\b", shown), shown
    assert "{ADDRESS} {CALL}" in call("call", "--help").out


def test_the_command_shows_its_commands(call: Call) -> None:
    answer = call("--help")
    assert answer.code == 0
    for name in ("run", "validate", "deploy", "start", "list", "describe", "history", "stop"):
        assert name in answer.out
