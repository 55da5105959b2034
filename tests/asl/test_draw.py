"""What looks random is computed, and can be computed again."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest

from orchestrator.asl.draw import Draw


def test_the_same_seed_draws_the_same() -> None:
    one, other = Draw(b"seed"), Draw(b"seed")
    for _ in range(5):
        assert one.uuid() == other.uuid()
        assert one.integer(0, 10**9) == other.integer(0, 10**9)
        assert one.fraction() == other.fraction()


def test_another_seed_draws_something_else() -> None:
    assert Draw(b"one").uuid() != Draw(b"other").uuid()


def test_no_two_draws_of_a_seed_are_the_same() -> None:
    draw = Draw(b"seed")
    assert len({draw.uuid() for _ in range(1_000)}) == 1_000


def test_a_uuid_is_one_of_version_4() -> None:
    drawn = UUID(Draw(b"seed").uuid())
    assert drawn.version == 4
    assert drawn.variant == "specified in RFC 4122"


def test_integers_reach_both_ends_and_nothing_beyond() -> None:
    draw = Draw(b"seed")
    counts = Counter(draw.integer(-1, 2) for _ in range(4_000))
    assert set(counts) == {-1, 0, 1, 2}
    assert min(counts.values()) > 800


def test_fractions_lie_between_0_and_1() -> None:
    draw = Draw(b"seed")
    drawn = [draw.fraction() for _ in range(2_000)]
    assert all(0 <= fraction < 1 for fraction in drawn)
    assert 0.45 < sum(drawn) / len(drawn) < 0.55


def test_there_is_no_integer_in_an_empty_range() -> None:
    with pytest.raises(ValueError, match="no integers"):
        Draw(b"seed").integer(2, 1)
