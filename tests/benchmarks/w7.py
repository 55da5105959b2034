"""W7: the language without any Task: CPU per transition in the pure core.

`python -m tests.benchmarks.w7` prints a table; a transition is a state entered and left.
"""

from __future__ import annotations

import statistics
import sys
import time
from datetime import UTC, datetime
from typing import Any

from orchestrator.asl import document
from orchestrator.asl.definition import parse
from orchestrator.asl.document import Json
from orchestrator.evaluation import Evaluator
from orchestrator.execution.decide import begin
from orchestrator.execution.frame import Execution, ExecutionStatus, Phase, Scope
from orchestrator.execution.history import encode
from orchestrator.execution.payload import Payload

STATES = 300
TURNS = 15
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
INPUT: dict[str, Json] = {
    "id": 4711,
    "customer": {"name": "Ada", "city": "London"},
    "lines": [{"sku": f"A-{n}", "count": n, "price": 9.5} for n in range(4)],
    "note": "leave it at the door, please",
}
RULE = {"Variable": "$.id", "NumericGreaterThan": 3}
KINDS: dict[str, dict[str, Any]] = {
    "pass": {"Type": "Pass"},
    "pass with a template": {"Type": "Pass", "ResultPath": "$.t", "Parameters": {"id.$": "$.id"}},
    "choice": {"Type": "Choice"},
    "intrinsic function": {
        "Type": "Pass",
        "ResultPath": "$.t",
        "Parameters": {"t.$": "States.Format('{} of {}', $.id, $.customer.name)"},
    },
    "assign": {"Type": "Pass", "Assign": {"seen.$": "$.id"}},
    "jsonata: a member": {
        "Type": "Pass",
        "QueryLanguage": "JSONata",
        "Assign": {"who": "{% $states.input.customer.name %}"},
    },
    "jsonata: small": {
        "Type": "Pass",
        "QueryLanguage": "JSONata",
        "Assign": {"n": "{% $states.input.id + 1 %}"},
    },
    "jsonata: sum of lines": {
        "Type": "Pass",
        "QueryLanguage": "JSONata",
        "Assign": {"sum": "{% $sum($states.input.lines.(count * price)) %}"},
    },
    "jsonata: in the helper": {
        "Type": "Pass",
        "QueryLanguage": "JSONata",
        "Assign": {"t": "{% $join($states.input.lines.sku, ', ') %}"},
    },
}


def chain(kind: dict[str, Any]) -> dict[str, Any]:
    """Return a machine of many states of one kind."""
    states: dict[str, Any] = {}
    for n in range(STATES):
        following = f"S{n + 1}"
        if kind["Type"] == "Choice":
            states[f"S{n}"] = {**kind, "Choices": [{**RULE, "Next": following}]}
        else:
            states[f"S{n}"] = {**kind, "Next": following}
    states[f"S{STATES}"] = {"Type": "Succeed"}
    return {"StartAt": "S0", "States": states}


def run() -> dict[str, tuple[float, float]]:
    """Return CPU microseconds of this process per transition: of the decision, and with its row."""
    evaluator = Evaluator()
    machines = {name: parse(document.write(chain(kind))).machine for name, kind in KINDS.items()}
    text = document.write(INPUT)
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in KINDS}
    for _ in range(TURNS):
        for name, machine in machines.items():
            assert machine is not None
            execution = Execution(
                1, "m", 1, "e", ExecutionStatus.RUNNING, Phase.OPEN, 0, 1, NOW, NOW
            )
            begun = time.process_time()
            decision = begin(
                machine,
                execution,
                Scope(),
                Payload.parse(text),
                NOW,
                b"bits",
                evaluate=evaluator,
            )
            decided = time.process_time()
            encode(decision.history)
            written = time.process_time()
            assert decision.execution.status is ExecutionStatus.SUCCEEDED, decision.execution.cause
            count = STATES + 1
            seen[name].append(((decided - begun) / count, (written - begun) / count))
    evaluator.close()
    return {
        name: (
            1e6 * statistics.median(core for core, _ in turns),
            1e6 * statistics.median(whole for _, whole in turns),
        )
        for name, turns in seen.items()
    }


def figures() -> dict[str, float]:
    """Return the same as the benchmark's figures: by kind, the decision and the whole."""
    found: dict[str, float] = {}
    for name, (core, whole) in run().items():
        kind = name.replace(":", "").replace(" ", "_")
        found[f"{kind}_us"], found[f"{kind}_with_row_us"] = core, whole
    return found


def main() -> None:
    """Print the table."""
    lines = [f"{'CPU microseconds per transition':34}{'decided':>9}{'and packed':>12}"]
    lines += [f"{name:34}{core:9.1f}{whole:12.1f}" for name, (core, whole) in run().items()]
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
