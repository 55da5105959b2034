"""Whatever is wrong is a sentence and an exit code; nothing is stored, nothing is stuck."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import PASSES, WAITS, Answer, Call, definition

File = Callable[[str, str], Path]

UNREADABLE = {
    "no JSON": "{",
    "nothing": "",
    "NaN": "[NaN]",
    "Infinity": '{"a": -Infinity}',
    "1e400": "1e400",
    "400 digits": "9" * 400,
    "depth 100,000": "[" * 100_000 + "]" * 100_000,
    "unended depth 100,000": '{"a":' * 100_000,
    "a raw line feed in a string": '"a\nb"',
    "a control character": "\x01",
}
WRONG_NAMES = ["", "n" * 81, "a b", "a/b", "a:b", "tab\t", "x\x1b[31m", "half\udcff"]


def sentence(answer: Answer) -> str:
    """The one line in which the command says what was wrong."""
    assert answer.out == ""
    assert answer.err.startswith("orchestrator: ")
    assert answer.err.count("\n") == 1
    return answer.err


@pytest.fixture
def greets(on_sqlite: Call, file: File) -> Iterator[Call]:
    """The command on a database with one machine, in which nothing may have been started."""
    on_sqlite("deploy", file("greet.asl.json", PASSES))
    yield on_sqlite
    assert on_sqlite("list", "--json").json == []


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_input_that_is_no_json_is_refused(greets: Call, file: File, text: str) -> None:
    for given in (text, f"@{file('input.json', text)}"):
        answer = greets("start", "greet", "--input", given)
        assert answer.code == 2
        assert "Invalid State Machine Execution Input" in sentence(answer)


def test_nul_and_lone_surrogates_come_back_as_they_were(on_database: Call, file: File) -> None:
    echo = definition(Echo={"Type": "Pass", "End": True})
    given = '{"nul": "\\u0000", "half": "\\ud800", "\\udc00": 1}'
    on_database("deploy", file("echo.asl.json", echo))
    assert on_database("start", "echo", "--name", "e", "--input", given).code == 0
    assert on_database("describe", "echo:e", "--json").json["output"] == json.loads(given)
    assert on_database("describe", "echo:e").code == 0
    assert on_database("history", "echo:e").code == 0


def test_a_file_that_is_missing_a_folder_or_binary_is_a_sentence(
    greets: Call, tmp_path: Path
) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\x80\x00\xff")
    for path, reason in [
        (tmp_path / "missing", "No such file"),
        (tmp_path, "directory"),
        (binary, "is not UTF-8: byte 0"),
    ]:
        for command in (
            ("start", "greet", "--input", f"@{path}"),
            ("run", path),
            ("validate", path),
            ("deploy", path),
        ):
            answer = greets(*command)
            assert answer.code == 2
            assert reason in sentence(answer)
    answer = greets("start", "greet", "--input", "@-", stdin=b"\xff")
    assert "standard input is not UTF-8" in sentence(answer)


@pytest.mark.parametrize("name", WRONG_NAMES)
def test_a_name_that_no_arn_could_carry_is_refused(greets: Call, file: File, name: str) -> None:
    answer = greets("start", "greet", "--name", name)
    assert answer.code == 2
    assert "Invalid name" in sentence(answer)
    assert greets("deploy", file("x.json", PASSES), "--name", name).code == 2


def test_unknown_machines_and_executions_are_sentences(greets: Call) -> None:
    missing = "arn:aws:states:us-east-1:000000000000:execution:greet:none"
    for command, words in [
        (("start", "nobody"), "there is no machine 'nobody'"),
        (("list", "--machine", "nobody"), "there is no machine 'nobody'"),
        (("describe", "greet:none"), "there is no execution 'greet:none'"),
        (("describe", missing), "there is no execution"),
        (("history", "greet:none"), "there is no execution"),
        (("stop", "greet:none"), "there is no execution"),
        (("describe", ""), "there is no execution"),
        (("describe", "\udcff:\x00"), "there is no execution"),
    ]:
        answer = greets(*command)
        assert answer.code == 2
        assert words in sentence(answer)


def test_a_wrong_definition_is_told_in_full_and_not_stored(
    on_sqlite: Call, file: File, tmp_path: Path
) -> None:
    wrong = file(
        "wrong.asl.json",
        definition(
            A={"Type": "Pass", "Next": "Nowhere"},
            B={"Type": "Wait", "Seconds": -1, "End": True},
            C={"Type": "Nothing"},
        ),
    )
    good = file("good.asl.json", PASSES)
    for command in (("run", wrong), ("deploy", good, wrong), ("validate", wrong)):
        answer = on_sqlite(*command)
        assert answer.code == 2
        for pointer in ("/States/A/Next", "/States/B/Seconds", "/States/C/Type"):
            assert f"ERROR {pointer}:" in answer.out
        found = on_sqlite(*command, "--json").json[str(wrong)]
        assert {"/States/A/Next", "/States/B/Seconds"} <= {one["pointer"] for one in found}
    assert not (tmp_path / ".orchestrator").exists()
    assert on_sqlite("start", "good").code == 2  # nothing was stored


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "\ufeff{}", "[" * 100_000, '{"a": NaN}', '{"\\ud800": 1}']
)
def test_a_definition_that_is_none_is_told_so(call: Call, file: File, text: str) -> None:
    path = file("machine.asl.json", text)
    for command in ("validate", "deploy", "run"):
        answer = call(command, path)
        assert answer.code == 2
        assert "ERROR" in answer.out


def test_the_same_machine_twice_is_refused(on_sqlite: Call, file: File, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first, second = file("greet.asl.json", PASSES), file("other/greet.json", WAITS)
    assert "the same machine" in sentence(on_sqlite("deploy", first, second))
    assert "names one machine" in sentence(on_sqlite("deploy", first, second, "--name", "x"))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ORCHESTRATOR_LEASE_SECONDS", "abc"),
        ("ORCHESTRATOR_POLL_SECONDS", "0"),
        ("ORCHESTRATOR_POLL_SECONDS", "inf"),
        ("ORCHESTRATOR_SWEEP_SECONDS", "1e300"),
        ("ORCHESTRATOR_LEASE_SECONDS", "nan"),
        ("ORCHESTRATOR_STATES_PER_TRANSACTION", "1000000000"),
        ("ORCHESTRATOR_REGION", "a b:c"),
        ("ORCHESTRATOR_LIMITS", "none"),
        ("ORCHESTRATOR_ACCOUNT", "12"),
        ("ORCHESTRATOR_LOG_LEVEL", "loud"),
    ],
)
def test_a_wrong_setting_is_named(
    call: Call, file: File, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    for command in (("list",), ("scheduler",), ("run", file("greet.asl.json", PASSES))):
        answer = call(*command)
        assert answer.code == 2
        assert f"{variable} is {value!r}" in sentence(answer)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("nonsense", 2),
        ("", 2),
        ("mysql://u:p@host/db", 2),
        ("nonsense://host", 2),
        ("sqlite://", 2),
        ("postgresql://127.0.0.1:1/none", 1),
        ("postgresql://127.0.0.1:port/none", 2),
        ("sqlite:////nowhere/at/all.db", 1),
    ],
)
def test_a_database_that_cannot_be_reached_is_a_sentence(call: Call, url: str, code: int) -> None:
    for command in (("list",), ("start", "x"), ("db", "upgrade")):
        answer = call(*command, "--database-url", url)
        assert (answer.code, answer.out) == (code, "")
        assert sentence(answer)


def test_a_file_that_is_no_database_is_a_sentence(call: Call, file: File) -> None:
    garbage = file("garbage.db", "this is no database, but it is long enough to look at" * 99)
    for command in (("list",), ("db", "upgrade")):
        answer = call(*command, "--database-url", f"sqlite:///{garbage}")
        assert answer.code == 1
        assert "not a database" in sentence(answer)


def test_a_broker_that_is_away_or_unknown_delays_nothing(on_sqlite: Call, file: File) -> None:
    on_sqlite("deploy", file("greet.asl.json", PASSES))
    for number, url in enumerate(["redis://127.0.0.1:1/0", "nonsense://", "redis://nowhere:port"]):
        answer = on_sqlite("start", "greet", "--name", f"b{number}", "--broker-url", url)
        assert answer.code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("start",),
        ("list", "--status", "WALKING"),
        ("list", "--limit", "0"),
        ("list", "--limit", "many"),
        ("run",),
        ("start", "x", "--nonsense"),
    ],
)
def test_wrong_arguments_are_wrong_use(call: Call, arguments: tuple[str, ...]) -> None:
    answer = call(*arguments)
    assert answer.code == 2
    assert answer.err
