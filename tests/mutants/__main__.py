"""`python -m tests.mutants [--only NAME] [--quick] [--jobs N]`: exit 1 if a mutant survives."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.mutants.mutant import Mutant
from tests.mutants.table import MUTANTS
from tests.mutants.trial import Verdict, sound, tried


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", metavar="NAME", default="", help="those whose guard says so")
    parser.add_argument("--quick", action="store_true", help="the few of every test run")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    given = parser.parse_args()
    chosen = [one for one in MUTANTS if given.only in one.guard and (one.quick or not given.quick)]
    with ThreadPoolExecutor(given.jobs) as pool:
        catchers = list(dict.fromkeys(one.caught_by for one in chosen))
        for catcher, wrong in zip(catchers, pool.map(sound, catchers), strict=True):
            if wrong:
                show(f"red without any mutant: {catcher}\n{wrong}")
                return 1
        survived = [one for one in pool.map(told, chosen) if one is not Verdict.CAUGHT]
    show(f"{len(chosen) - len(survived)} of {len(chosen)} mutants were caught")
    return 1 if survived or not chosen else 0


def told(one: Mutant) -> Verdict:
    verdict, seconds = tried(one)
    show(f"{verdict:<9} {seconds:6.1f} s  {one.guard:<72} {one.caught_by}")
    return verdict


def show(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
