"""The command, called as from a shell but in this process."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli import main
from tests.robustness.words import PYTHON

TRACEBACK = "Traceback (most recent call last)"
"""What no answer may hold; and, where the command refuses something, no word of Python."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call of the command has left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Answer]


@pytest.fixture
def call(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Call:
    """Calls the command in an empty folder; no answer may be a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORCHESTRATOR_DATA", "")  # restored, since `run` sets it
    for name in ("ORCHESTRATOR_DATABASE_URL", "ORCHESTRATOR_BROKER_URL", "ORCHESTRATOR_LEDGER_URL"):
        monkeypatch.delenv(name, raising=False)

    def calling(*arguments: object, stdin: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert TRACEBACK not in out + err
        code = end.value.code
        assert isinstance(code, int)
        assert code == 0 or not PYTHON.search(err), err
        return Answer(code, out, err)

    return calling


@pytest.fixture
def on_database(call: Call, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command on a fresh database with tables, SQLite and PostgreSQL in turn."""
    monkeypatch.setenv("ORCHESTRATOR_DATABASE_URL", database_url)
    return call


@pytest.fixture
def on_sqlite(call: Call, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command on a fresh SQLite database with tables."""
    monkeypatch.setenv("ORCHESTRATOR_DATABASE_URL", sqlite_url)
    return call


def definition(**states: object) -> str:
    """The text of a machine of these states, in their order."""
    return json.dumps({"StartAt": next(iter(states)), "States": states})


PASSES = definition(Greet={"Type": "Pass", "Result": {"said": "hello"}, "End": True})
WAITS = definition(Rest={"Type": "Wait", "Seconds": 86_400, "End": True})
ASKS = definition(Ask={"Type": "Task", "Resource": "celery:nobody.knows", "End": True})
AWAITS = json.dumps(
    {
        "Calls": {"go": {}},
        "StartAt": "Hold",
        "States": {
            "Hold": {"Type": "Await", "On": {"go": {"Next": "Done"}}},
            "Done": {"Type": "Succeed"},
        },
    }
)
FAILS = definition(Stop={"Type": "Fail", "Error": "Broken", "Cause": "nul\x00 and \ud800 half"})


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a text file into the test's folder."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
