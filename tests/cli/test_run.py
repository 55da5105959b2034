"""`orchestrator run`: one execution, embedded, told from what was stored."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from orchestrator import main
from tests.acceptance.orders import DEFINITION, ROOT
from tests.cli.conftest import ASKS, AWAITS, FAILS, PASSES, TRACEBACK, WAITS, Call, definition

File = Callable[[str, str], Path]
INPUTS = ROOT / "definitions" / "inputs" / "order-payment"


def _stored(data: Path, address: str) -> list[str]:
    """The names of the states that were entered, as the database has kept them."""
    with main.embedded(data, []) as parts:
        events = parts.service.whole_history(address)
    return [str(e.details["name"]) for e in events if e.type.endswith("StateEntered")]


def test_two_inputs_show_two_ways_and_both_are_those_of_the_stored_history(
    call: Call, tmp_path: Path
) -> None:
    told = {}
    for name, code in (("paid", 0), ("declined", 1)):
        answer = call("run", DEFINITION, "--input", f"@{INPUTS / name}.json", "--name", name)
        assert answer.code == code
        lines = re.findall(
            r"^ +[\d.]+ s  (\w+) +(?:begins|chooses|waits|passes|is)", answer.err, re.MULTILINE
        )
        assert lines == _stored(tmp_path / ".orchestrator", f"order-payment:{name}")
        told[name] = answer
    assert json.loads(told["paid"].out)["status"] == "shipped"
    assert "SUCCEEDED" in told["paid"].err
    assert told["declined"].out == ""
    assert "FAILED CardDeclined: the bank declined the card" in told["declined"].err
    assert "ShipParcel" not in told["declined"].err
    assert (tmp_path / ".orchestrator" / "ledger.db").exists()
    assert not (tmp_path / "ledger.db").exists()


def test_the_output_alone_is_on_stdout(call: Call, file: File) -> None:
    answer = call("run", file("greet.asl.json", PASSES), "--data", "kept")
    assert answer.json == {"said": "hello"}
    whole = call("run", file("greet.asl.json", PASSES), "--data", "kept", "--json").json
    assert (whole["status"], whole["output"]) == ("SUCCEEDED", {"said": "hello"})


def test_a_failed_execution_is_exit_code_1(call: Call, file: File) -> None:
    answer = call("run", file("stop.asl.json", FAILS), "--name", "s")
    assert (answer.code, answer.out) == (1, "")
    assert "FAILED Broken" in answer.err
    again = call("run", file("stop.asl.json", FAILS), "--name", "s", "--json")
    assert (again.code, again.json["error"]) == (1, "Broken")
    assert "stop:s has ended before: FAILED" in again.err


def test_the_same_name_shows_the_outcome_and_another_input_is_refused(
    call: Call, file: File
) -> None:
    greet = file("greet.asl.json", PASSES)
    first = call("run", greet, "--name", "g", "--input", "1")
    again = call("run", greet, "--name", "g", "--input", " 1 ")
    assert (again.code, again.out) == (first.code, first.out)
    assert "greet:g has ended before: SUCCEEDED" in again.err
    other = call("run", greet, "--name", "g", "--input", "2")
    assert other.code == 2
    assert "was started with another input" in other.err


def test_a_wrong_input_or_name_leaves_nothing_behind(
    call: Call, file: File, tmp_path: Path
) -> None:
    greet = file("greet.asl.json", PASSES)
    assert call("run", greet, "--name", "g", "--input", "NaN").code == 2
    assert call("run", greet, "--name", "a b").code == 2
    assert call("run", file("no machine.json", PASSES)).code == 2
    assert not (tmp_path / ".orchestrator").exists()


def test_handlers_are_looked_for_in_the_working_directory(call: Call, file: File) -> None:
    file(
        "my_greeter.py",
        "from orchestrator.handlers import handler\n"
        "@handler('my.greet')\n"
        "def greet(who):\n"
        "    return f'hello {who}'\n",
    )
    task = {
        "Type": "Task",
        "Resource": "celery:my.greet",
        "Parameters": {"who.$": "$"},
        "End": True,
    }
    machine = file("greet.asl.json", definition(Greet=task))
    answer = call("run", machine, "--input", '"Ada"', "--handlers", "my_greeter")
    assert answer.json == "hello Ada"


def test_handlers_that_cannot_be_imported_are_a_sentence(call: Call, file: File) -> None:
    machine = file("greet.asl.json", PASSES)
    missing = call("run", machine, "--handlers", "no_such_module_here")
    assert missing.code == 2
    assert "the handlers of 'no_such_module_here' cannot be imported" in missing.err
    file("my_broken.py", "1 / 0")
    broken = call("run", machine, "--handlers", "my_broken")
    assert broken.code == 2
    assert "ZeroDivisionError: division by zero" in broken.err


def test_what_a_handler_says_in_its_error_is_printed_without_acting_on_the_terminal(
    call: Call, file: File
) -> None:
    file(
        "my_hostile.py",
        "from orchestrator.handlers import TaskError, handler\n"
        "@handler('my.hostile')\n"
        "def fail(event):\n"
        "    raise TaskError('Bad\\x1b[2J', 'nul \\0, half \\ud800\\nand more')\n",
    )
    machine = file(
        "fail.json", definition(A={"Type": "Task", "Resource": "celery:my.hostile", "End": True})
    )
    answer = call("run", machine, "--handlers", "my_hostile", "--name", "f", "--json")
    assert answer.json["error"] == "Bad\x1b[2J"
    assert answer.json["cause"] == "nul \0, half \ud800\nand more"
    assert "FAILED Bad\\x1b[2J: nul \\x00, half \\ud800\\nand more\n" in answer.err
    assert "\x1b" not in answer.err


def test_a_folder_that_cannot_be_used_is_a_sentence(call: Call, file: File) -> None:
    answer = call("run", file("greet.asl.json", PASSES), "--data", file("taken", ""))
    assert answer.code == 2
    assert "cannot be used" in answer.err


def test_an_unserved_resource_times_out_and_says_meanwhile_that_nobody_serves_it(
    call: Call, file: File
) -> None:
    task = {"Type": "Task", "Resource": "celery:nobody", "TimeoutSeconds": 3, "End": True}
    answer = call("run", file("ask.asl.json", definition(Ask=task)))
    assert answer.code == 1
    assert "Ask: no worker serves celery:nobody" in answer.err
    assert "FAILED States.Timeout" in answer.err


def test_undoing_that_is_blocked_is_told_with_the_commands_that_let_it_go_on(
    call: Call, file: File, tmp_path: Path
) -> None:
    file(
        "my_trip.py",
        "from orchestrator.handlers import TaskError, handler\n"
        "@handler('trip.book')\n"
        "def book():\n"
        "    return {}\n"
        "@handler('trip.cancel')\n"
        "def cancel():\n"
        "    raise TaskError('Stuck', 'nobody answers')\n",
    )
    book = {
        "Type": "Task",
        "Resource": "celery:trip.book",
        "Next": "Stop",
        "Compensate": {"Resource": "celery:trip.cancel", "Parameters": {}, "Retry": []},
    }
    file("trip.asl.json", definition(Book=book, Stop={"Type": "Fail", "Error": "Broken"}))
    run = ["run", "trip.asl.json", "--name", "t", "--handlers", "my_trip", "--input", "{}"]
    with subprocess.Popen(
        [sys.executable, "-m", "orchestrator", *run],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        lines: list[str] = []
        while "orchestrator skip" not in (line := process.stderr.readline()):
            assert line, lines
            lines.append(line.strip())
        skip = shlex.split(line.replace("WHY", "'done by hand'"))[1:]
        assert call(*skip).code == 0
        out, err = process.communicate(timeout=30)
    blocked = "undoing is blocked: the compensation ~2 of Book has failed for good"
    assert any(f"Book: {blocked}: Stuck: nobody answers" in one for one in lines), lines
    assert lines[-1].startswith("orchestrator retry trip:t --compensation '~2' --reason WHY")
    assert (process.returncode, out) == (1, "")
    assert "Book                     is not undone: it was skipped" in err
    assert "FAILED Broken" in err


def test_what_waits_to_be_called_says_how(call: Call, file: File, tmp_path: Path) -> None:
    file("hold.asl.json", AWAITS)
    with subprocess.Popen(
        [sys.executable, "-m", "orchestrator", "run", "hold.asl.json", "--name", "h"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while "orchestrator call" not in (line := process.stderr.readline()):
            assert line
        typed, _, takes = line.partition(": it takes ")
        assert takes == "go\n"
        assert call(*shlex.split(typed.replace("CALL", "go"))[1:]).code == 0
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, "SUCCEEDED" in err) == (0, "{}\n", True)


@pytest.mark.parametrize("text", [WAITS, ASKS], ids=["wait", "task"])
def test_ctrl_c_says_how_to_go_on(file: File, tmp_path: Path, text: str) -> None:
    path = file("rest.asl.json", text)
    command = [
        sys.executable,
        "-m",
        "orchestrator",
        "run",
        str(path),
        "--name",
        "r",
        "--data",
        "kept",
    ]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "rest:r starts\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    assert "interrupted; the same command with --name r --data kept goes on" in err
    assert TRACEBACK not in err


def test_ctrl_c_while_the_command_is_still_read_is_no_traceback(file: File, tmp_path: Path) -> None:
    file("typer.py", "raise KeyboardInterrupt")  # whatever is imported at that moment
    command = [sys.executable, "-m", "orchestrator", "list"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_the_fifth_process_on_one_folder_is_told_so_in_a_sentence(
    call: Call, file: File, tmp_path: Path
) -> None:
    data = tmp_path / "shared"
    data.mkdir()
    database = data / "orchestrator.db"
    greet = file("greet.asl.json", PASSES)
    assert call("run", greet, "--data", data).code == 0
    with ExitStack() as others:
        for number in range(1, 5):
            slot = others.enter_context(
                database.with_name(f"{database.name}.writer-{number}").open("ab")
            )
            fcntl.flock(slot, fcntl.LOCK_EX)
        url = f"sqlite:///{database}"
        for command in (("run", greet, "--data", data), ("scheduler", "--database-url", url)):
            answer = call(*command)
            assert (answer.code, answer.out) == (1, "")
            assert answer.err.startswith("orchestrator: 4 processes write to")
            assert answer.err.count("\n") == 1
