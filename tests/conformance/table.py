"""The table of docs/conformance.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

HEAD: Final = """# Conformance

How near this engine comes to what AWS Step Functions was recorded to do, written by
`make conformance` (`python -m tests.conformance`) where the corpus of recorded cases stands beside
the project. A case that is skipped counts as failed. *Outcome*: status, output and error name;
*full history*: also causes, every event, every id and every detail.

"""
TAIL: Final = """
What is left of `executions-aws`: distributed Maps run inside their execution so far, so that their
histories have the events of their iterations instead of a Map Run's; two recordings are older than
`RedriveCount` in the context object. The `api` answers name `encryptionConfiguration`, as AWS does
today; eight recordings are older.
"""


def written(report: Mapping[str, Any]) -> str:
    """The page for a report of run_cases.py."""
    lines = ["| scope | cases | outcome | full history | skipped |", "|---|---|---|---|---|"]
    for scope, tally in report["scopes"].items():
        if tally.get("n"):
            lines.append(
                f"| {scope} | {tally['n']} | {_share(tally, 'outcome')} "
                f"| {_share(tally, 'history')} | {tally.get('skipped', 0)} |"
            )
    lines += ["", "| group | cases | outcome | full history |", "|---|---|---|---|"]
    for group, tally in report["table"].items():
        lines.append(
            f"| {group} | {tally['n']} | {tally.get('outcome', 0)} | {tally.get('history', 0)} |"
        )
    return HEAD + "\n".join(lines) + "\n" + TAIL


def _share(tally: Mapping[str, int], level: str) -> str:
    return f"{100 * tally.get(level, 0) / tally['n']:.1f} %"
