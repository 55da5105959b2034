"""A shell, as far as the documents need one: it types what stands there."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(sys.executable).parent


@dataclass(slots=True)
class Shell:
    """A folder, and the environment that `export` changes; `given` are values of its own."""

    folder: Path
    given: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def type(self, line: str) -> str:
        """Run a line as a shell would; what it prints on stdout."""
        words = shlex.split(line)
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self.environment[name] = self.given.get(name, value)
            return ""
        if words[-1] == "&":
            self._leave_running(words[:-1])
            return ""
        ended = subprocess.run(
            self._program(words),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def all(self, lines: Sequence[str]) -> dict[str, str]:
        return {line: self.type(line) for line in lines}

    def end(self) -> None:
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            assert process.wait(30) == 0

    def _leave_running(self, words: Sequence[str]) -> None:
        with (self.folder / f"{len(self.running)}.log").open("wb") as log:
            process = subprocess.Popen(
                self._program(words),
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.running.append(process)

    @staticmethod
    def _program(words: Sequence[str]) -> list[str]:
        return [str(PROGRAMS / words[0]), *words[1:]]


def until(there: Callable[[], object], seconds: float = 60) -> None:
    limit_at = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < limit_at
        time.sleep(0.2)
