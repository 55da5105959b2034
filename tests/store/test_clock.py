"""The clock is an upper bound of the database's, from readings that took some time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.store import clock
from orchestrator.store.clock import Clock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class World:
    """A database's clock and ours, and how long a question and its answer travel."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.offset = timedelta()
        self.travel = (0.0, 0.0)

    def monotonic(self) -> float:
        return self.seconds

    def database_now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds) + self.offset

    def ask(self) -> datetime:
        there, back = self.travel
        self.seconds += there
        at = self.database_now()
        self.seconds += back
        return at

    def read(self, into: Clock) -> None:
        sent = self.seconds
        into.note(self.ask(), sent)


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("travel", [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.2, 0.3)])
def test_it_is_ahead_by_at_most_the_round_trip(world: World, travel: tuple[float, float]) -> None:
    world.travel = travel
    ours = Clock(world.ask, world.monotonic)
    for _ in range(5):
        ahead = ours.now() - world.database_now()
        assert timedelta() <= ahead <= timedelta(seconds=sum(travel), microseconds=2)
        world.seconds += 3.0


def test_the_quickest_reading_counts(world: World) -> None:
    ours = Clock(world.ask, world.monotonic)
    for travel in ((0.4, 0.1), (0.001, 0.001), (0.3, 0.0)):
        world.travel = travel
        world.read(ours)
    assert ours.now() - world.database_now() <= timedelta(seconds=0.002, microseconds=2)


def test_it_follows_a_clock_that_is_set_forward_or_back(world: World) -> None:
    world.travel = (0.01, 0.01)
    ours = Clock(world.ask, world.monotonic)
    for offset in (timedelta(hours=1), timedelta(), timedelta(hours=-1), timedelta(seconds=1)):
        world.offset = offset
        world.read(ours)
        ahead = ours.now() - world.database_now()
        assert timedelta() <= ahead <= timedelta(seconds=0.03)


def test_a_reading_is_trusted_for_a_while_only(world: World) -> None:
    ours = Clock(world.ask, world.monotonic)
    ours.now()
    world.offset = timedelta(seconds=7)
    world.seconds += clock.TRUSTED_SECONDS - 1
    assert ours.now() < world.database_now()
    world.seconds += 2
    assert ours.now() >= world.database_now()
