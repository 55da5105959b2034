"""Runs the benchmark: python -m tests.benchmarks [--only W1] [--peers] [--json FILE]."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from tests.benchmarks import counting, full, pages, pgbench, w1, w2, w3, w4, w5, w6, w7
from tests.benchmarks.meter import load
from tests.benchmarks.peers import NoPeer, Peers, peers
from tests.benchmarks.report import Figures, results, shown, table
from tests.benchmarks.stage import Stage, stage

REPETITIONS: Final = 5
LOADED: Final = 2.5
"""From this load on a note says that others were at work."""
NOISY_TIMERS: Final = 3_000

Turn: TypeAlias = "Callable[[], Figures]"
Round: TypeAlias = "Mapping[tuple[str, str], Turn]"
"""Who runs in turns, by workload and name (`ours` or a peer's)."""


def rounds(place: Stage, others: Peers | None) -> dict[str, Round]:
    """The workloads, by name: those of a round run in turns with each other."""
    first: dict[tuple[str, str], Turn] = {
        (name, "ours"): partial(w1.run, place, shape)
        for name, shape in w1.SHAPES.items()
        if name != "W1_single"
    }
    first["W1", "pgbench"] = partial(pgbench.run, place)
    single: dict[tuple[str, str], Turn] = {
        ("W1_single", "ours"): partial(w1.run, place, w1.SHAPES["W1_single"])
    }
    fan: dict[tuple[str, str], Turn] = {("W2", "ours"): partial(w2.run, place)}
    timers: dict[tuple[str, str], Turn] = {("W3", "ours"): partial(w3.run, place)}
    crash: dict[tuple[str, str], Turn] = {("W5", "ours"): partial(w5.run, place)}
    if others is not None:
        first["W1", "dbos"] = partial(others.dbos, 50, 200)
        first["W1", "celery"] = partial(others.celery_chain, 50, 200)
        single["W1_single", "dbos"] = partial(others.dbos, 1, 60)
        single["W1_single", "celery"] = partial(others.celery_chain, 1, 60)
        fan["W2", "celery"] = others.celery_chord
        timers["W3", "celery"] = partial(others.celery_timers, NOISY_TIMERS)
        timers["W3", "dbos"] = partial(others.dbos_timers, NOISY_TIMERS)
        crash["W5", "celery"] = others.celery_crash
        crash["W5", "dbos"] = others.dbos_crash
    return {
        "W1": first,
        "W1_single": single,
        "W1_sqlite": {("W1_sqlite", "ours"): w1.run_embedded},
        "W2": fan,
        "W3": timers,
        "W4": {("W4", "ours"): partial(w4.run, place)},
        "W4_await": {("W4_await", "ours"): partial(w4.run, place, definition=w4.AWAIT)},
        "W5": crash,
        "W6": {("W6", "ours"): partial(w6.run, place)},
        "W7": {("W7", "ours"): w7.figures},
        "full": {("full", "ours"): partial(full.run, place)},
        "pages": {("pages", "ours"): partial(pages.run, place)},
    }


ONCE: Final = ("W4", "W4_await", "full", "pages")
"""What takes minutes, and its figures vary little."""


def play(
    chosen: Mapping[str, Round], repetitions: int, draw: random.Random
) -> dict[str, dict[str, list[Figures]]]:
    """Run the chosen workloads, each repetition in an order of its own; print every run."""
    runs: dict[str, dict[str, list[Figures]]] = {}
    for name, contenders in chosen.items():
        for repetition in range(1 if name in ONCE else repetitions):
            order = list(contenders)
            draw.shuffle(order)
            for workload, contender in order:
                try:
                    figures = contenders[workload, contender]()
                except NoPeer as reason:
                    _say(f"{workload} {contender}: {reason}")
                    continue
                runs.setdefault(workload, {}).setdefault(contender, []).append(figures)
                _say(
                    f"{workload} {contender} {repetition + 1}: {shown(figures)}  load {load():.1f}"
                )
    return runs


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _matches(name: str, only: list[str]) -> bool:
    return not only or any(name == one or name.startswith(f"{one}_") for one in only)


def _chosen(all_rounds: Mapping[str, Round], only: list[str]) -> dict[str, Round]:
    chosen: dict[str, Round] = {}
    for name, contenders in all_rounds.items():
        kept = {key: turn for key, turn in contenders.items() if _matches(key[0], only)}
        if any(contender == "ours" for _, contender in kept):
            chosen[name] = kept
    return chosen


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], help="W1, W1_single, W2, ..., full, pages"
    )
    parser.add_argument("--peers", action="store_true", help="with Celery and DBOS, in turns")
    parser.add_argument("--json", type=Path, help="write the results to a file")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seed", type=int, default=None, help="of the order of turns")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**6)
    _say(f"order of turns drawn from --seed {seed}")
    with ExitStack() as stack:
        place = stack.enter_context(stage())
        stack.enter_context(counting.counting(place.folder))
        others = None
        if asked.peers:
            try:
                others = stack.enter_context(peers(place))
            except NoPeer as reason:
                _say(f"without peers: {reason}")
        chosen = _chosen(rounds(place, others), asked.only)
        runs = play(chosen, asked.repetitions, random.Random(seed))
    found = results(runs)
    _say("")
    _say(table(found))
    if load() > LOADED:
        _say(f"The machine is loaded ({load():.1f}): trust ratios; repeat times when it is quiet.")
    if asked.json is not None:
        shape = {name: asdict(result) | {"runs": runs[name]} for name, result in found.items()}
        asked.json.write_text(json.dumps(shape, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
