"""What looks random and can be computed again."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID


class Draw:
    """Draws from a seed: the same seed and the same order of calls give the same values."""

    __slots__ = ("_drawn", "_seed")

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._drawn = 0

    def _bits(self) -> int:
        """Return 256 bits, others at every call."""
        self._drawn += 1
        place = self._drawn.to_bytes(8, "big")
        return int.from_bytes(sha256(place + self._seed).digest(), "big")

    def uuid(self) -> str:
        """Return a version 4 UUID as text."""
        return str(UUID(int=self._bits() >> 128, version=4))

    def integer(self, first: int, last: int) -> int:
        """Return an integer from `first` to `last`, both included."""
        if last < first:
            raise ValueError(f"no integers from {first} to {last}")
        return first + self._bits() % (last - first + 1)

    def fraction(self) -> float:
        """Return a number from 0 (included) to 1 (excluded)."""
        return float((self._bits() >> 203) / (1 << 53))
