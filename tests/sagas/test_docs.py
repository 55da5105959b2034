"""What docs/sagas.md prints is what is printed, and its definitions are those that are compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from orchestrator.asl.definition import parse
from orchestrator.cli import main as command
from orchestrator.main import embedded
from tests.conftest import ROOT
from tests.workers.deployment import until
from workers.ledger import Effect, kept_at

PAGE = (ROOT / "docs" / "sagas.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
DEFINITIONS = [text for language, text in BLOCKS if language == "json"]
PRINTED = [text for language, text in BLOCKS if not language]


@pytest.mark.parametrize(("place", "machine"), [(0, "trip-saga"), (1, "order-fulfilment")])
def test_the_order_of_undoing_on_the_page_is_the_one_that_is_printed(
    place: int, machine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command(["saga", str(ROOT / "definitions" / f"{machine}.asl.json")])
    assert PRINTED[place] == capsys.readouterr().out


def test_the_page_shows_the_definition_and_counts_the_states_of_both() -> None:
    saga, chain = DEFINITIONS
    assert saga == (ROOT / "definitions" / "trip-saga.asl.json").read_text()
    machines = [parse(text).machine for text in (chain, saga)]
    counts = [len(list(machine.every_state())) for machine in machines if machine is not None]
    assert f"| states | {counts[0]} | {counts[1]} |" in PAGE
    assert "ompensate" not in chain


def test_the_command_of_the_page_shows_a_trip_that_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
    monkeypatch.setenv("ORCHESTRATOR_DATA", "")
    (tmp_path / "definitions").symlink_to(ROOT / "definitions")
    monkeypatch.chdir(tmp_path)
    (typed,) = [text for language, text in BLOCKS if language == "sh"]
    with pytest.raises(SystemExit) as ended:
        command(shlex.split(typed)[1:])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "FAILED CardDeclined" in said
    assert said.count(" is undone: ") == 4


WAYS = {
    "booked": None,
    "no-car": "NoCar",
    "no-seats": "NoSeats",
    "gateway-mute": "States.Timeout",
    "tickets-follow": None,
}


def test_the_chain_of_the_page_is_the_same_saga(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
    monkeypatch.setenv("ORCHESTRATOR_DATA", "")
    with embedded(tmp_path, ["workers"]) as house:
        for machine, text in zip(("saga", "chain"), DEFINITIONS, strict=True):
            house.service.deploy(machine, text)
            for way in WAYS:
                given = ROOT / "definitions" / "inputs" / "trip-saga" / f"{way}.json"
                house.service.start_execution(machine, way, given.read_text())
        until(lambda: all(run.ended_at for run in house.service.list_executions()))
        for way, error in WAYS.items():
            runs = [house.service.describe_execution(f"{name}:{way}") for name in ("saga", "chain")]
            assert [run.execution.error for run in runs] == [error, error]
            outputs = [None if run.output is None else run.output.value for run in runs]
            assert outputs[0] == outputs[1]
    with kept_at(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
        for way, error in WAYS.items():
            saga, chain = (_left(ledger.effects(f"{name}:{way}")) for name in ("saga", "chain"))
            assert saga == chain, way
            assert bool(saga) == (error is None)


def _left(effects: list[Effect]) -> set[str]:
    """What has been done to the world and was not undone."""
    left: set[str] = set()
    for effect in effects:
        what = effect.what if isinstance(effect.what, dict) else {}
        match effect.handler.rpartition(".")[2]:
            case "book":
                left.add(str(what["booking"]))
            case "cancel":
                left.discard(str(what["cancelled"]))
            case "reserve_seats":
                left.add(str(what["seats"]))
            case "release_seats":
                left.discard(str(what["released"]))
            case "charge":
                left.add(f"paid {what['amount']}")
            case "refund":
                left.discard(f"paid {what['amount']}")
            case other:
                left.add(other)
    return left
