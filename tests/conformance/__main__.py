"""Runs the corpus against a server that knows nothing of it, and writes what came out.

The cases are looked for beside the project; without them there is nothing to do, and that is said.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.conformance.table import written

ROOT: Final = Path(__file__).resolve().parents[2]
PLACES: Final = ("shared/conformance", "conformance")
SCOPES: Final = (
    "executions-aws",
    "validation",
    "validation-third-party",
    "jsonata-suite",
    "api",
    "other",
)
STRATEGIES: Final = {
    "handlers": f"{Path(__file__).with_name('strategy.py')}:Handlers",
    "mock-config": "mock-config",
}


def corpus() -> Path | None:
    """The folder with run_cases.py and its cases, if it stands beside the project."""
    for parent in ROOT.parents:
        for place in PLACES:
            if (parent / place / "run_cases.py").is_file():
                return parent / place
    return None


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """A development server in an empty folder, with an environment of its own; its address."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
    }
    start = "from orchestrator.cli import main; main()"
    arguments = ["dev", "--port", "0", "--data", "data", "--handlers", "json"]
    process = subprocess.Popen(
        [sys.executable, "-c", start, *arguments, "--mock-config", "MockConfigFile.json"],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield process.stderr.readline().split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def run(cases: Path, strategy: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Run the corpus with one strategy; what run_cases.py has written."""
    with tempfile.TemporaryDirectory() as name, server(folder := Path(name)) as address:
        report = folder / "report.json"
        command = [
            *(sys.executable, str(cases / "run_cases.py"), "--endpoint-url", address),
            *("--strategy", STRATEGIES[strategy], "--json", str(report)),
            *("--mock-config", str(folder / "MockConfigFile.json")),
            *arguments,
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "CONFORMANCE_DATABASE": str(folder / "data" / "orchestrator.db"),
            "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
        }
        subprocess.run(command, env=environment, check=False)
        found: dict[str, Any] = json.loads(report.read_text())
        return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("--strategy", choices=[*STRATEGIES], default="handlers")
    parser.add_argument("--scope", action="append", choices=SCOPES)
    parser.add_argument("--group", action="append")
    parser.add_argument("--jobs", default="8")
    parser.add_argument("--no-table", action="store_true", help="leave docs/conformance.md alone")
    given = parser.parse_args()
    cases = corpus()
    if cases is None:
        sys.exit("there are no conformance cases beside this project")
    arguments = ["--jobs", given.jobs, "--timeout", "40", "--list-fails", "--level", "outcome"]
    arguments += [part for scope in given.scope or SCOPES for part in ("--scope", scope)]
    arguments += [part for group in given.group or () for part in ("--group", group)]
    report = run(cases, given.strategy, arguments)
    if not given.no_table:
        (ROOT / "docs" / "conformance.md").write_text(written(report))


if __name__ == "__main__":
    main()
