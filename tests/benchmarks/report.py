"""Medians, ratios and goals, as a table and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Figures: TypeAlias = "dict[str, float]"
Runs: TypeAlias = "Mapping[str, Mapping[str, Sequence[Figures]]]"
"""By workload and contender (`ours`, or a peer's name): the figures of each turn."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a workload."""

    ours: Figures
    peers: Mapping[str, Figures]
    ratios: Figures


RATIO_OF: Final = {
    "W1": "steps_per_s",
    "W1_queues": "steps_per_s",
    "W1_prefork": "steps_per_s",
    "W1_single": "p50_ms",
    "W2": "seconds",
    "W3": "p50_ms",
    "W5": "seconds_to_the_last_end",
}
"""What the ratio to a peer is made of; in all but W1's throughput less is better."""


def medians(turns: Sequence[Figures]) -> Figures:
    """The median of each figure."""
    return {name: statistics.median(turn[name] for turn in turns) for name in turns[0]}


def results(runs: Runs) -> dict[str, Result]:
    """Medians and ratios by workload; peers that ran for W1 count for its other shapes, too."""
    found: dict[str, Result] = {}
    for workload, contenders in runs.items():
        if "ours" not in contenders:
            continue
        ours = medians(contenders["ours"])
        beside = runs.get("W1", {}) if workload in ("W1_queues", "W1_prefork") else contenders
        peers = {name: medians(turns) for name, turns in beside.items() if name != "ours"}
        key = RATIO_OF.get(workload)
        ratios = {
            name: ours[key] / figures[key]
            for name, figures in peers.items()
            if key is not None and figures.get(key)
        }
        found[workload] = Result(ours, peers, ratios)
    return found


# -- goals ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be reached; `value` raises KeyError where it was not measured."""

    workload: str
    what: str
    limit: float
    value: Callable[[Result], float]
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Whether a value reaches it."""
        return value >= self.limit if self.at_least else value <= self.limit


def _ours(name: str) -> Callable[[Result], float]:
    return lambda result: result.ours[name]


def _ratio(name: str) -> Callable[[Result], float]:
    return lambda result: result.ratios[name]


GOALS: Final = (
    Goal("W1", "x DBOS", 4.5, _ratio("dbos"), at_least=True),
    Goal("W1", "x Celery chain", 5.0, _ratio("celery"), at_least=True),
    Goal("W1", "x pgbench", 0.35, _ratio("pgbench"), at_least=True),
    Goal("W1", "CPU-ms per step", 1.3, _ours("cpu_ms_per_step")),
    Goal("W1", "commits per execution", 3.0, _ours("commits_per_execution")),
    Goal("W1", "bytes of WAL per step", 1_500, _ours("wal_bytes_per_step")),
    Goal("W1_prefork", "x Celery chain", 2.0, _ratio("celery"), at_least=True),
    Goal("W1_queues", "x Celery chain", 2.0, _ratio("celery"), at_least=True),
    Goal("W1_queues", "x DBOS", 1.5, _ratio("dbos"), at_least=True),
    Goal("W1_single", "p50 x Celery chain's", 0.5, _ratio("celery")),
    Goal("W1_single", "p50 x DBOS's", 0.33, _ratio("dbos")),
    Goal("W1_sqlite", "steps per second", 400, _ours("steps_per_s"), at_least=True),
    Goal("W2", "seconds x Celery chord's", 0.25, _ratio("celery")),
    Goal("W2", "10,000 items x 1,000 items", 13.0, _ours("growth")),
    Goal("W3", "p50 late, ms", 20.0, _ours("p50_ms")),
    Goal("W3", "p99 late, ms", 100.0, _ours("p99_ms")),
    Goal("W4", "bytes per parked execution", 2_000, _ours("bytes_per_execution")),
    Goal("W4", "memory per parked execution, bytes", 10.0, _ours("memory_bytes_per_execution")),
    Goal("W4", "idle, per cent of a core", 1.0, _ours("idle_percent")),
    Goal("W4_await", "bytes per parked execution", 2_000, _ours("bytes_per_execution")),
    Goal("W4_await", "memory per parked, bytes", 10.0, _ours("memory_bytes_per_execution")),
    Goal("W4_await", "idle, per cent of a core", 1.0, _ours("idle_percent")),
    Goal("W6", "calls x empty endpoint", 0.35, _ours("ratio"), at_least=True),
    Goal("W6", "calls/s with handlers", 200, _ours("calls_per_s.on"), at_least=True),
    Goal("W6", "p99 with handlers, ms", 300, _ours("p99_ms.on")),
    Goal("W6", "CPU of a refusal x an acceptance", 1.0, _ours("refusal_ratio")),
    Goal("W5", "seconds to the last end", 5.0, _ours("seconds_to_the_last_end")),
    Goal("full", "CPU-ms per step x empty", 1.15, _ours("cpu_ratio")),
    Goal("full", "p50 late x empty", 1.15, _ours("late_ratio")),
    Goal("pages", "list of 1,000,000 executions, ms", 200, _ours("list_worst_ms")),
    Goal("pages", "Map over 10,000 items, ms", 1_000, _ours("map_ms")),
    Goal("pages", "history of 100,000 events, ms", 1_000, _ours("events_ms")),
    Goal("pages", "the Map in Chromium, ms", 1_000, _ours("map_opens_ms")),
    Goal("pages", "an iteration of it, ms", 1_000, _ours("iterations_open_ms")),
    Goal("pages", "100,000 events in Chromium, ms", 1_000, _ours("events_opens_ms")),
    Goal("pages", "their history, ms", 1_000, _ours("history_opens_ms")),
    Goal("pages", "its next page, ms", 1_000, _ours("history_goes_on_ms")),
)


def table(found: Mapping[str, Result]) -> str:
    """The goals with what was reached."""
    lines = [f"{'workload':12} {'goal':38} {'limit':>8} {'reached':>10}"]
    for goal in GOALS:
        if goal.workload not in found:
            continue
        try:
            value = goal.value(found[goal.workload])
        except KeyError:
            continue
        limit = f"{'>=' if goal.at_least else '<='} {goal.limit:g}"
        met = "yes" if goal.met(value) else "NO"
        lines.append(f"{goal.workload:12} {goal.what:38} {limit:>8} {value:10.2f}  {met}")
    return "\n".join(lines)


def shown(figures: Figures) -> str:
    """The figures in one line, those that have a dot in their names left out."""
    return "  ".join(f"{name} {value:.2f}" for name, value in figures.items() if "." not in name)
