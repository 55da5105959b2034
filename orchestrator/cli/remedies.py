"""What somebody can type about what does not mend itself."""

from __future__ import annotations

from shlex import quote
from typing import Final

from orchestrator.service import AttentionKind, Blocked

WHY: Final = "--reason WHY"


def remedies(kind: str, address: str, part: str | None) -> tuple[str, ...]:
    """The commands for a kind of AttentionKind; `part`: the compensation, effect or call."""
    where, what = quote(address), quote(part or "")
    match kind:
        case AttentionKind.COMPENSATION.value:
            return tuple(
                f"orchestrator {verb} {where} --compensation {what} {WHY}"
                for verb in ("retry", "skip")
            )
        case AttentionKind.EFFECT.value:
            return (f"orchestrator effects {where} --again {what}",)
        case AttentionKind.CALL.value:
            return (f"orchestrator waits {where}",)
        case AttentionKind.POISON.value:
            return (f"orchestrator retry {where} {WHY}",)
        case _:
            return ()


def of_blocked(address: str, blocked: Blocked) -> tuple[str, ...]:
    """The commands for a compensation that is blocked."""
    return remedies(AttentionKind.COMPENSATION.value, address, blocked.id)
