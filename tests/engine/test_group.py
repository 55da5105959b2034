"""Threads that hand in together share one transaction; nobody's trouble is another's."""

from __future__ import annotations

import threading
import time

import pytest

from orchestrator.engine import Group


def _in_threads(group: Group[int, int], items: list[int]) -> list[object]:
    answers: list[object] = [None] * len(items)

    def ask(place: int, item: int) -> None:
        try:
            answers[place] = group.do(item)
        except ValueError as error:
            answers[place] = str(error)

    threads = [threading.Thread(target=ask, args=pair) for pair in enumerate(items)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    return answers


def test_each_gets_its_own_answer_and_those_who_wait_are_worked_on_together() -> None:
    sizes: list[int] = []

    def work(items: list[int]) -> list[int]:
        sizes.append(len(items))
        time.sleep(0.02)
        return [item * item for item in items]

    assert _in_threads(Group(work, 100), list(range(50))) == [n * n for n in range(50)]
    assert sum(sizes) == 50
    assert len(sizes) < 25


def test_no_more_than_the_most_are_worked_on_at_once() -> None:
    sizes: list[int] = []

    def work(items: list[int]) -> list[int]:
        sizes.append(len(items))
        time.sleep(0.005)
        return items

    assert _in_threads(Group(work, 3), list(range(20))) == list(range(20))
    assert max(sizes) <= 3


def test_what_the_work_raises_everybody_in_it_is_told_and_the_next_go_on() -> None:
    def work(items: list[int]) -> list[int]:
        time.sleep(0.005)
        if 7 in items:
            raise ValueError("seven")
        return items

    answers = _in_threads(Group(work, 4), list(range(20)))
    assert answers[7] == "seven"
    assert {n for n in answers if n != "seven"} < set(range(20))
    assert answers.count("seven") <= 4


def test_a_thread_alone_is_worked_for_at_once() -> None:
    group: Group[int, int] = Group(lambda items: [item + 1 for item in items], 10)
    assert [group.do(n) for n in range(100)] == list(range(1, 101))


def test_an_interrupt_reaches_who_works_and_leaves_the_group_usable() -> None:
    def work(items: list[int]) -> list[int]:
        if items == [0]:
            raise KeyboardInterrupt
        return items

    group: Group[int, int] = Group(work, 10)
    with pytest.raises(KeyboardInterrupt):
        group.do(0)
    assert group.do(1) == 1


def test_who_leads_may_wait_a_while_for_others_to_come() -> None:
    sizes: list[int] = []

    def work(items: list[int]) -> list[int]:
        sizes.append(len(items))
        return items

    group = Group(work, 10, lambda: 0.2)
    threads = [threading.Thread(target=group.do, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sizes == [5]
