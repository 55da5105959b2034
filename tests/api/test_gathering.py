"""Requests that come together share a thread; nobody's trouble or slowness is another's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import pytest

from orchestrator.api.gathering import Gathering

Work: TypeAlias = Callable[[Sequence[int]], Sequence[int | Exception]]
LIMIT_SECONDS = 20


def _with(
    work: Work,
    scene: Callable[[Gathering[int, int]], Awaitable[None]],
    *,
    most: int = 100,
    concerns: Callable[[int], object] = lambda item: item,
) -> None:
    async def play() -> None:
        with ThreadPoolExecutor(2) as pool:
            async with asyncio.timeout(LIMIT_SECONDS):
                await scene(Gathering(work, pool, lanes=2, most=most, concerns=concerns))

    asyncio.run(play())


def test_those_who_come_together_are_worked_on_together_and_each_gets_its_own_answer() -> None:
    sizes: list[int] = []

    def squares(items: Sequence[int]) -> list[int | Exception]:
        sizes.append(len(items))
        return [item * item for item in items]

    async def scene(gathering: Gathering[int, int]) -> None:
        answers = await asyncio.gather(*(gathering.do(item) for item in range(50)))
        assert answers == [item * item for item in range(50)]

    _with(squares, scene)
    assert sizes == [50]


def test_no_more_than_the_most_are_worked_on_at_once() -> None:
    sizes: list[int] = []

    def same(items: Sequence[int]) -> Sequence[int | Exception]:
        sizes.append(len(items))
        return items

    async def scene(gathering: Gathering[int, int]) -> None:
        assert await asyncio.gather(*map(gathering.do, range(20))) == list(range(20))

    _with(same, scene, most=3)
    assert max(sizes) == 3


def test_an_error_is_told_to_the_one_whom_it_concerns() -> None:
    def but_seven(items: Sequence[int]) -> list[int | Exception]:
        return [ValueError("seven") if item == 7 else item for item in items]

    async def scene(gathering: Gathering[int, int]) -> None:
        answers = await asyncio.gather(*map(gathering.do, range(9)), return_exceptions=True)
        assert [str(one) for one in answers] == ["0", "1", "2", "3", "4", "5", "6", "seven", "8"]

    _with(but_seven, scene)


def test_what_the_work_raises_all_are_told_and_the_next_go_on() -> None:
    def without_seven(items: Sequence[int]) -> Sequence[int | Exception]:
        if 7 in items:
            raise ValueError("seven")
        return items

    async def scene(gathering: Gathering[int, int]) -> None:
        answers = await asyncio.gather(*map(gathering.do, (6, 7, 8)), return_exceptions=True)
        assert [str(one) for one in answers] == ["seven"] * 3
        assert await gathering.do(9) == 9

    _with(without_seven, scene)


def test_many_that_are_slow_hold_up_nobody_for_long() -> None:
    slow, done = threading.Event(), threading.Event()

    def work(items: Sequence[int]) -> Sequence[int | Exception]:
        if 0 in items:
            slow.set()
            assert done.wait(LIMIT_SECONDS)
        return items

    async def scene(gathering: Gathering[int, int]) -> None:
        many = [asyncio.create_task(gathering.do(item)) for item in range(50)]
        try:
            await asyncio.to_thread(slow.wait, LIMIT_SECONDS)
            assert await gathering.do(77) == 77
        finally:
            done.set()
        assert await asyncio.gather(*many) == list(range(50))

    _with(work, scene)


def test_what_concerns_what_is_stuck_waits_for_it_and_leaves_the_other_lane_to_others() -> None:
    stuck, done = threading.Event(), threading.Event()

    def work(items: Sequence[int]) -> Sequence[int | Exception]:
        if 7 in items:
            stuck.set()
            assert done.wait(LIMIT_SECONDS)
        return items

    async def scene(gathering: Gathering[int, int]) -> None:
        first = asyncio.create_task(gathering.do(7))
        await asyncio.to_thread(stuck.wait, LIMIT_SECONDS)
        again = asyncio.create_task(gathering.do(17))
        try:
            assert [await gathering.do(item) for item in range(5)] == list(range(5))
            assert not again.done()
        finally:
            done.set()
        assert list(await asyncio.gather(first, again)) == [7, 17]

    _with(work, scene, concerns=lambda item: item % 10)


def test_who_is_given_up_is_told_so_and_what_is_at_work_goes_on() -> None:
    stuck, done, ended = threading.Event(), threading.Event(), threading.Event()

    def work(items: Sequence[int]) -> Sequence[int | Exception]:
        stuck.set()
        assert done.wait(LIMIT_SECONDS)
        ended.set()
        return items

    async def scene(gathering: Gathering[int, int]) -> None:
        at_work = asyncio.create_task(gathering.do(1))
        await asyncio.to_thread(stuck.wait, LIMIT_SECONDS)
        waiting = asyncio.create_task(gathering.do(2))
        await asyncio.sleep(0)
        gathering.give_up(TimeoutError("the server ends"))
        done.set()
        told = await asyncio.gather(at_work, waiting, return_exceptions=True)
        assert [str(one) for one in told] == ["the server ends"] * 2

    _with(work, scene)
    assert ended.is_set()


def test_who_comes_alone_after_many_is_served_alone() -> None:
    sizes: list[int] = []

    def same(items: Sequence[int]) -> Sequence[int | Exception]:
        sizes.append(len(items))
        return items

    async def scene(gathering: Gathering[int, int]) -> None:
        assert await asyncio.gather(*map(gathering.do, range(50))) == list(range(50))
        for item in range(10):
            assert await gathering.do(item) == item

    _with(same, scene)
    assert sizes == [50, *[1] * 10]


def test_a_lane_that_comes_free_serves_those_who_came_while_all_were_in_use() -> None:
    started, done = threading.Semaphore(0), threading.Event()

    def work(items: Sequence[int]) -> Sequence[int | Exception]:
        started.release()
        assert done.wait(LIMIT_SECONDS)
        return items

    async def scene(gathering: Gathering[int, int]) -> None:
        busy = []
        for item in (0, 1):
            busy.append(asyncio.create_task(gathering.do(item)))
            await asyncio.to_thread(started.acquire, timeout=LIMIT_SECONDS)
        late = asyncio.create_task(gathering.do(2))
        await asyncio.sleep(0.05)
        assert not late.done()
        done.set()
        assert await asyncio.gather(*busy, late) == [0, 1, 2]

    _with(work, scene)


def test_somebody_who_goes_away_disturbs_nobody() -> None:
    done = threading.Event()

    def work(items: Sequence[int]) -> Sequence[int | Exception]:
        assert done.wait(LIMIT_SECONDS)
        return items

    async def scene(gathering: Gathering[int, int]) -> None:
        going, staying = (asyncio.create_task(gathering.do(item)) for item in (1, 2))
        await asyncio.sleep(0.01)
        going.cancel()
        done.set()
        assert await staying == 2
        with pytest.raises(asyncio.CancelledError):
            await going
        assert await gathering.do(3) == 3

    _with(work, scene)
