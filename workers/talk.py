"""`python -m workers.talk`: an order that one can talk to, embedded; the demo shows it.

The same call means different things in different states, and each is answered with a verdict.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

from orchestrator import main
from orchestrator.asl.document import Json

DEFINITIONS: Final = Path(__file__).resolve().parent.parent / "definitions"
LONGEST_SECONDS: Final = 30.0
HEADING: Final = "An order that one can talk to: what it is asked, and what it answers"
SAID: Final[tuple[tuple[str, Json], ...]] = (
    ("ship", {}),
    ("pay", {"amount": 3900}),
    ("ship", {}),
    ("pay", {"cleared": True}),
    ("ship", {}),
    ("cancel", {}),
)


def talk(data: Path) -> None:
    """Start an order, make the calls one after the other, and print what each is answered."""
    sys.stdout.write(f"\n{HEADING}\n\n")
    with main.embedded(data, ["workers"]) as parts:
        service = parts.service
        service.deploy("order", (DEFINITIONS / "order.asl.json").read_text("utf-8"))
        given = (DEFINITIONS / "inputs" / "order" / "plain.json").read_text("utf-8")
        address = service.start_execution("order", "4711", given).address
        for name, call_input in SAID:
            text = json.dumps(call_input)
            call = service.call_execution(address, name, text, wait_seconds=LONGEST_SECONDS)
            said = json.loads(call.said)
            sys.stdout.write(f"{name:<7}{'' if text == '{}' else text:<18} {_words(said)}\n")


def _words(said: dict[str, str]) -> str:
    match said:
        case {"verdict": "accepted", "from": origin, "to": to}:
            return f"accepted: {origin} → {to}"
        case {"verdict": "refused", "state": state, "reason": reason}:
            return f"refused in {state}: {reason}"
        case _:
            return said["verdict"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        talk(Path(folder))
