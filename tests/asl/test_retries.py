"""How long a Retrier waits."""

from __future__ import annotations

import pytest

from orchestrator.asl.draw import Draw
from orchestrator.asl.limits import LONGEST_DELAY_SECONDS
from orchestrator.asl.retries import Catcher, Retrier, delay_seconds

DRAW = Draw(b"seed")


def test_the_defaults_wait_1_2_and_4_seconds() -> None:
    retrier = Retrier(("States.ALL",))
    assert [delay_seconds(retrier, n, DRAW) for n in (1, 2, 3)] == [1, 2, 4]
    assert retrier.max_attempts == 3


def test_the_pause_grows_by_the_rate() -> None:
    retrier = Retrier(("E",), interval_seconds=3, backoff_rate=1.5)
    assert [delay_seconds(retrier, n, DRAW) for n in (1, 2, 3)] == [3, 4.5, 6.75]
    steady = Retrier(("E",), interval_seconds=3, backoff_rate=1.0)
    assert [delay_seconds(steady, n, DRAW) for n in (1, 2, 99)] == [3, 3, 3]


def test_the_pause_is_never_longer_than_the_longest() -> None:
    retrier = Retrier(("E",), interval_seconds=10, max_delay_seconds=25)
    assert [delay_seconds(retrier, n, DRAW) for n in (1, 2, 3, 4)] == [10, 20, 25, 25]


@pytest.mark.parametrize(
    ("retrier", "n"),
    [
        (Retrier(("E",), interval_seconds=99_999_999, backoff_rate=1e308), 99_999_998),
        (Retrier(("E",), interval_seconds=1, backoff_rate=2.0), 5_000),
        (Retrier(("E",), interval_seconds=10**300, backoff_rate=10.0), 300),
        (Retrier(("E",), interval_seconds=10**305, backoff_rate=1.0), 1),
    ],
)
def test_huge_numbers_end_at_the_longest_delay(retrier: Retrier, n: int) -> None:
    assert delay_seconds(retrier, n, DRAW) == LONGEST_DELAY_SECONDS


def test_full_jitter_draws_between_nothing_and_the_pause() -> None:
    retrier = Retrier(("E",), interval_seconds=8, max_delay_seconds=16, full_jitter=True)
    draw = Draw(b"jitter")
    drawn = [delay_seconds(retrier, 3, draw) for _ in range(500)]
    assert all(0 <= delay < 16 for delay in drawn)
    assert min(drawn) < 1
    assert max(drawn) > 15


def test_jitter_can_be_computed_again() -> None:
    retrier = Retrier(("E",), full_jitter=True)
    assert delay_seconds(retrier, 2, Draw(b"s")) == delay_seconds(retrier, 2, Draw(b"s"))


def test_a_pause_without_jitter_draws_nothing() -> None:
    used, fresh = Draw(b"s"), Draw(b"s")
    delay_seconds(Retrier(("E",)), 1, used)
    assert used.uuid() == fresh.uuid()


def test_a_catcher_puts_the_error_in_place_of_the_input_unless_told_otherwise() -> None:
    catcher = Catcher(("States.ALL",), next="Mend")
    assert catcher.result_path is not None
    assert catcher.result_path.text == "$"
