"""Sagas under kill -9: at every named place, while steps are done and while they are undone.

`python -m tests.sagas.kills` runs the proof on both databases. A saga is run by one process after
the other; each dies at a place that is drawn by the seed, and which kind of work it died in is
read from the history afterwards. In the end nothing is lost, each effect is there once, and the
ledger's own sequence numbers tell that all was undone in the mirrored order.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator import crashpoint, main
from orchestrator.store import migrate
from tests.calls.machines import at_once, deployment
from tests.sagas.trade import chain, step
from tests.servers import PostgresServer, create_database
from workers.ledger import kept_at

FORKS: Final = multiprocessing.get_context("forkserver")
"""Lives begin in a process that has loaded everything: hundreds of them cost little."""
FORKS.set_forkserver_preload(["tests.sagas.kills"])
MACHINE: Final = "saga"
LIFE_SECONDS: Final = 240.0
"""Far more than a life takes, but for a machine that has no time."""
MOST_LIVES: Final = 60
AT_ONCE: Final = 3
"""Sagas that run side by side: most of a life is waiting for the lease of the one before."""
STEP, COMPENSATION = "step", "compensation"
PAIRS: Final = frozenset(
    (point, kind) for point in crashpoint.POINTS for kind in (STEP, COMPENSATION)
)

DEFINITION: Final[dict[str, Any]] = {
    "StartAt": "a",
    "States": {
        "a": step("a", "pause"),
        "pause": {"Type": "Wait", "Seconds": 1, "Next": "b"},
        "b": step("b", "both"),
        "both": {
            "Type": "Parallel",
            "Branches": [chain(["p1", "p2"]), chain(["q1"])],
            "ResultPath": None,
            "Next": "items",
        },
        "items": {
            "Type": "Map",
            "ItemsPath": "$.items",
            "MaxConcurrency": 2,
            "ItemProcessor": chain(["m1", "m2"]),
            "ResultPath": None,
            "Next": "c",
        },
        "c": step("c", "bad"),
        "bad": step("bad", None),
    },
}


def patient(value: Any) -> Any:
    """Return a definition whose Tasks and compensations outlive any number of kills."""
    if isinstance(value, list):
        return [patient(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: patient(one) for key, one in value.items()}
    if "Resource" in found:
        lost = "Task.DeliveriesSpent" if "Compensate" in found else "States.ALL"
        found["Retry"] = [{"ErrorEquals": [lost], "MaxAttempts": 50, "MaxDelaySeconds": 1}]
    return found


INPUT: Final = {"items": [1, 2, 3], "trouble": {"fail": ["bad"], "hiccup": ["undo c", "undo p2"]}}
DONE: Final = Counter({"a": 1, "b": 1, "p1": 1, "p2": 1, "q1": 1, "m1": 3, "m2": 3, "c": 1})


@dataclass
class Toll:
    """The kills so far, by place and kind of work."""

    wanted: int
    killed: Counter[tuple[str, str]] = field(default_factory=Counter)
    sagas: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, point: str, kind: str) -> None:
        with self.lock:
            self.killed[point, kind] += 1

    @property
    def enough(self) -> bool:
        """Whether there were kills enough, and each pair was among them."""
        return self.killed.total() >= self.wanted and self.killed.keys() >= PAIRS

    def drawn(self, draw: random.Random, kind: str) -> str:
        """A place; those that were not hit yet in such work are drawn more often."""
        with self.lock:
            missing = [one for one in crashpoint.POINTS if not self.killed[one, kind]]
        return draw.choice(missing or crashpoint.POINTS)


@dataclass
class Saga:
    """One execution over a database of its own, run by as many processes as it takes."""

    url: str
    name: str
    draw: random.Random
    toll: Toll

    @property
    def address(self) -> str:
        return f"{MACHINE}:{self.name}"

    def run(self) -> None:
        """Start it, let processes die until it has ended, and check what came of it."""
        parts = main.build(main.settings(self.url))
        try:
            parts.service.deploy(MACHINE, json.dumps(patient(DEFINITION)))
            parts.service.start_execution(MACHINE, self.name, json.dumps(INPUT))
            for _ in range(MOST_LIVES):
                kind = self._kind(parts.service)
                point = self.toll.drawn(self.draw, kind)
                if not self._lives(point, self.draw.randint(1, 3)):
                    break
                self.toll.count(point, self._kind(parts.service))
            self._check(parts.service)
        finally:
            parts.store.dispose()

    def _kind(self, service: Any) -> str:
        types = [event.type for event in service.whole_history(self.address)]
        return COMPENSATION if "CompensationScheduled" in types else STEP

    def _lives(self, point: str, number: int) -> bool:
        """Run a process that is to die at a place; whether it did, before the saga has ended."""
        code = lived(self.url, self.address, f"{point}@{number}")
        assert code in (0, -signal.SIGKILL), f"{self.address} at {point}@{number}: {code}"
        return code != 0

    def _check(self, service: Any) -> None:
        run = service.find_execution(self.address)
        assert (run.status, run.error, run.cause) == ("FAILED", "Broken", "bad is broken"), run
        assert run.undoing == "completed"
        assert service.operations.verify_execution(self.address) == ()
        assert not [one for one in service.operations.diagnose().findings if one.execution]
        with kept_at(self.url) as ledger:
            effects = ledger.effects(self.address)
        assert len({one.key for one in effects}) == len(effects)
        check_order([one.what for one in effects])


def check_order(effects: Sequence[Any]) -> None:
    """Check that all was done once, and undone once in the mirrored order."""
    done = [one for one in effects if isinstance(one, str)]
    undone = [one["undo"] for one in effects if isinstance(one, dict)]
    assert effects[: len(done)] == done, "something was undone before all was done"
    assert Counter(done) == Counter(undone) == DONE, effects
    assert undone[0] == "c", undone
    assert Counter(undone[1:7]) == Counter({"m1": 3, "m2": 3}), undone
    assert Counter(undone[7:10]) == Counter(["p1", "p2", "q1"]), undone
    assert undone.index("p2") < undone.index("p1"), undone
    assert undone[10:] == ["b", "a"], undone
    for place, one in enumerate(undone):  # an m1 is undone when the m2 of its item is
        assert undone[: place + 1].count("m1") <= undone[: place + 1].count("m2"), (one, undone)
    assert all(one["undoes"] == one["done"] for one in effects if isinstance(one, dict))


def rage(toll: Toll, seed: int, urls: Sequence[str], folder: Path) -> None:
    """Run sagas side by side until the toll is paid; `urls`: databases that some of them get."""
    draw, left = random.Random(seed), list(urls)
    while not toll.enough:
        sagas = []
        for _ in range(AT_ONCE):
            toll.sagas += 1
            file = folder / f"saga-{toll.sagas}.db"
            url = left.pop() if left and toll.sagas % 2 else f"sqlite:///{file}"
            migrate(url)  # here: one after the other, as Alembic wants it within a process
            sagas.append(Saga(url, f"s{toll.sagas}", random.Random(draw.random()), toll))
        at_once([saga.run for saga in sagas])


def lived(url: str, address: str, crash_at: str) -> int | None:
    """Let one process live; how it has ended."""
    process = FORKS.Process(target=live, args=(url, address, crash_at))
    process.start()
    process.join(LIFE_SECONDS)
    code = process.exitcode
    process.kill()
    process.join()
    process.close()
    return code


def live(url: str, address: str, crash_at: str) -> None:
    """Be one process that runs whatever is there until the saga has ended, or the place comes."""
    os.environ |= {
        "ORCHESTRATOR_LEASE_SECONDS": "2",
        "ORCHESTRATOR_CRASH_AT": crash_at,
        "ORCHESTRATOR_LEDGER_URL": url,
    }
    importlib.reload(crashpoint)
    with deployment(url, ["tests.sagas.trade"]) as found:
        found.until(
            lambda: found.service.find_execution(address).ended_at is not None, LIFE_SECONDS / 2
        )


def main_() -> int:
    """Run the proof and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=200)
    given = parser.parse_args()
    postgres, began, toll = PostgresServer(), time.monotonic(), Toll(given.kills)
    try:
        postgres.start()
        urls = [
            create_database(postgres.admin_url).render_as_string(hide_password=False)
            for _ in range(20)
        ]
        with tempfile.TemporaryDirectory() as folder:
            rage(toll, given.seed, urls, Path(folder))
    finally:
        postgres.remove()
    told = ", ".join(f"{point} in a {kind} {n}" for (point, kind), n in sorted(toll.killed.items()))
    sys.stdout.write(
        f"{toll.sagas} sagas failed as they should and were undone once and in order, with "
        f"{toll.killed.total()} kills in {time.monotonic() - began:.0f} s: {told}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main_())
