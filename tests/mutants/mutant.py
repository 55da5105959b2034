"""What a mutant is, and what must catch it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tests:
    """Tests by their node ids."""

    nodes: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(node.rpartition("::")[2] for node in self.nodes)


@dataclass(frozen=True)
class Seeds:
    """Seeds of the simulation."""

    first: int
    count: int

    def __str__(self) -> str:
        return f"seeds {self.first} to {self.first + self.count - 1}"


@dataclass(frozen=True)
class Mutant:
    """A guard, how it is taken out, and who must notice."""

    guard: str
    """What holds because of it, in a few words."""
    files: tuple[str, ...]
    change: tuple[tuple[str, str], ...]
    """One piece of each file, there once, and what stands there instead."""
    caught_by: Tests | Seeds
    quick: bool = False
    """Whether it is among the few that every test run tries."""


def mutant(
    guard: str,
    file: str,
    old: str,
    new: str,
    caught_by: str | Seeds,
    *,
    quick: bool = False,
) -> Mutant:
    """Return a mutant with one change, caught by one test or by seeds."""
    catcher = caught_by if isinstance(caught_by, Seeds) else Tests((caught_by,))
    return Mutant(guard, (file,), ((old, new),), catcher, quick)
