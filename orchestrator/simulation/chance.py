"""Everything that a run draws comes from its seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Draws, the same for the same seed."""

    def __init__(self, seed: int | str) -> None:
        self._random = Random(seed)  # noqa: S311  # repeatable, and that is all it is for

    def happens(self, rate: float) -> bool:
        """Tell whether something of this rate (0 to 1) happens now."""
        return self._random.random() < rate

    def between(self, low: float, high: float) -> float:
        """Draw a number."""
        return low + (high - low) * self._random.random()

    def whole(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included."""
        return self._random.randint(low, high)

    def one_of(self, items: Sequence[T]) -> T:
        """Draw one of several."""
        return items[self._random.randrange(len(items))]

    def some(self, items: Sequence[T], rate: float) -> list[T]:
        """Draw each item or not."""
        return [item for item in items if self.happens(rate)]

    def random_bytes(self, count: int) -> bytes:
        """Draw bytes."""
        return self._random.randbytes(count)
