"""What became of a seed, and of all so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from orchestrator.asl.document import Json
from orchestrator.simulation.sometimes import Sometimes

ENOUGH_SEEDS: Final = 200
"""From so many on, every `Sometimes` must have happened."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one seed."""

    seed: int
    faults: tuple[str, ...]
    counts: Counter[Sometimes]
    log: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield what people read: the log, if it was kept, and every fault."""
        yield from self.log
        if self.faults:
            yield f"seed {self.seed} failed; see `orchestrator simulate --seed {self.seed} --log`"
            yield from (f"    {fault}" for fault in self.faults)

    def value(self) -> Json:
        """Return the same for programs."""
        return {"seed": self.seed, "faults": list(self.faults)}


@dataclass(slots=True)
class Summary:
    """What became of all seeds so far."""

    seeds: int = 0
    failed: list[Report] = field(default_factory=list)
    counts: Counter[Sometimes] = field(default_factory=Counter)

    def add(self, report: Report) -> None:
        """Take one more in."""
        self.seeds += 1
        self.counts += report.counts
        if report.faults:
            self.failed.append(report)

    @property
    def passed(self) -> bool:
        """Whether nothing has happened that must not, and everything that must."""
        return not self.failed and not self.never

    @property
    def never(self) -> list[Sometimes]:
        """What has never happened, though there were enough seeds for it."""
        if self.seeds < ENOUGH_SEEDS:
            return []
        return [what for what in Sometimes if not self.counts[what]]

    def lines(self) -> Iterator[str]:
        """Yield what people read: of several seeds what happened in them; the verdict is last."""
        for what in Sometimes if self.seeds > 1 else ():
            yield f"{self.counts[what]:8}  {what}"
        yield self._verdict()

    def _verdict(self) -> str:
        of = f"{len(self.failed)} of {self.seeds} seeds failed"
        if self.failed:
            return f"FAILED: {of}: {', '.join(str(report.seed) for report in self.failed)}"
        if self.never:
            return f"FAILED: {of}, but it has never happened that {', nor that '.join(self.never)}"
        return f"passed: {of}"

    def value(self) -> Json:
        """Return the same for programs."""
        counts: dict[str, Json] = {what.value: self.counts[what] for what in Sometimes}
        never: list[Json] = [what.value for what in self.never]
        failed: list[Json] = [report.value() for report in self.failed]
        return {"seeds": self.seeds, "failed": failed, "counts": counts, "never": never}
