"""How long pictures take: `python -m tests.drawing.figures`, with the third-party data beside us.

Prints the slowest of the public definitions, and machines of ours of 50, 150 and 300 states.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from orchestrator.asl.document import Json
from orchestrator.asl.machine import Machine
from orchestrator.drawing import draw
from tests.drawing.machines import machine, of_states, task

ROOT = Path(__file__).resolve().parents[2]
SLOWEST = 5
OURS = "tests.drawing.figures.long "


def long(states: int) -> Machine:
    """Tasks with handlers of their errors, loops and choices, as long machines have them."""
    found: dict[str, Json] = {}
    for n in range(0, states - 2, 5):
        after = f"Work{n + 5}" if n + 5 < states - 2 else "Done"
        caught: Json = [{"ErrorEquals": ["States.ALL"], "Next": "Broken"}]
        found |= {
            f"Work{n}": task(Next=f"Look{n}", Catch=caught),
            f"Look{n}": task(Next=f"Ready{n}", Catch=caught),
            f"Ready{n}": {
                "Type": "Choice",
                "Choices": [
                    {"Variable": "$.ready", "BooleanEquals": True, "Next": after},
                    {"Variable": "$.tries", "NumericGreaterThan": 9, "Next": f"Give{n}"},
                ],
                "Default": f"Rest{n}",
            },
            f"Rest{n}": {"Type": "Wait", "Seconds": 5, "Next": f"Look{n}"},
            f"Give{n}": task(Next=after, Catch=caught),
        }
    return of_states(found | {"Broken": {"Type": "Fail"}, "Done": {"Type": "Succeed"}})


def _measured() -> Iterator[tuple[float, int, str]]:
    shared = Path(os.environ.get("SHARED") or ROOT.parent / "shared")
    files = sorted((shared / "definitions").glob("*.json"))
    texts = {one.stem: one.read_text() for one in files if one.name != "index.json"}
    machines = {name: machine(text) for name, text in texts.items()}
    machines |= {f"{OURS}{states}": long(states) for states in (50, 150, 300)}
    for name, one in machines.items():
        begun = time.perf_counter()
        svg = draw(one).svg()
        seconds = time.perf_counter() - begun
        assert svg
        yield seconds, sum(1 for _ in one.every_state()), name


def main() -> None:
    found = sorted(_measured(), reverse=True)
    public = [one for one in found if not one[2].startswith(OURS)]
    seconds = sum(one[0] for one in public)
    sys.stdout.write(f"{len(public)} public definitions in {seconds:.2f} s; slowest:\n")
    for one in (*public[:SLOWEST], *(one for one in found if one[2].startswith(OURS))):
        sys.stdout.write("  {:.3f} s  {:4} states  {}\n".format(*one))


if __name__ == "__main__":
    main()
