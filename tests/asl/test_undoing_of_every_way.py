"""The order of undoing is that of every way, and hostile definitions have bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from orchestrator.asl.undoing import (
    MOST_STEPS_IN_ALL,
    Doubt,
    More,
    Outcome,
    Rounds,
    Undo,
)
from tests.asl.undone import Object, choice, failures, plain, said, scope, task

# ------------------------------------------------------------------------------- against all ways


def random_scope(draw: random.Random, loops: bool) -> Object:
    """Tasks, Choices, pivots and Compensate states that lead forwards, or anywhere."""
    count = draw.randint(3, 9)
    names = [f"s{n}" for n in range(count)]
    states: Object = {}
    for n, name in enumerate(names[:-1]):
        ahead = names[n + 1 :]
        onto = [names[n + 1], *draw.sample(names if loops else ahead, k=1)]
        kind = draw.choice(["task", "task", "task", "choice", "pivot", "undo"])
        if kind == "task":
            catch = [{"ErrorEquals": ["States.ALL"], "Next": draw.choice(ahead)}]
            extra = {"Catch": catch} if draw.random() < 0.3 else {}
            states[name] = task(name, onto[0], **extra)
        elif kind == "choice":
            states[name] = choice(*onto)
        elif kind == "pivot":
            states[name] = plain(onto[0], Pivot=True)
        else:
            states[name] = {"Type": "Compensate", "Next": onto[0]}
    states[names[-1]] = plain()
    return scope(**states)


def ways(machine: Object, longest: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every state with what is pending when a way of at most so many states enters it."""
    waiting: list[tuple[str, tuple[str, ...], int]] = [(machine["StartAt"], (), 1)]
    while waiting:
        name, pending, length = waiting.pop()
        yield name, pending
        state = machine["States"][name]
        if length == longest:
            continue
        if state["Type"] == "Choice":
            targets = [state["Default"], *(rule["Next"] for rule in state["Choices"])]
            waiting += [(target, pending, length + 1) for target in targets]
            continue
        waiting += [(one["Next"], pending, length + 1) for one in state.get("Catch", ())]
        if "Next" in state:
            clears = state["Type"] == "Compensate" or "Pivot" in state
            after = () if clears else pending
            after += (name,) if "Compensate" in state else ()
            waiting.append((state["Next"], after, length + 1))


def is_subsequence(some: tuple[str, ...], of: list[str]) -> bool:
    rest = iter(of)
    return all(one in rest for one in some)


@pytest.mark.parametrize("loops", [False, True])
def test_the_order_is_that_of_every_way(loops: bool) -> None:
    draw = random.Random(20)
    for _ in range(300):
        machine = random_scope(draw, loops)
        found = failures(machine)
        seen: dict[str, list[tuple[str, ...]]] = {}
        for name, pending in ways(machine, longest=10):
            seen.setdefault(name, []).append(pending)
        for name in seen.keys() & found.keys():
            steps = found[name].outcomes[-1].steps
            told: list[str] = []
            sure: set[str] = set()
            looped: set[str] = set()
            for step in steps:
                inner = step.steps if isinstance(step, Rounds) else (step,)
                ones = [one for one in inner if isinstance(one, Undo)]
                told += [one.state for one in ones]
                sure |= {one.state for one in ones if one.doubt is Doubt.NONE}
                if isinstance(step, Rounds):
                    looped |= {one.state for one in ones}
            for pending in seen[name]:
                newest = tuple(one for one in reversed(pending) if one not in looped)
                assert is_subsequence(newest, told), (machine, name, pending, steps)
                assert sure <= set(pending), (machine, name, pending, steps)
            if not loops:
                assert set(told) == set().union(*seen[name])
                assert sure == set(seen[name][0]).intersection(*seen[name])


# --------------------------------------------------------------------------------------- hostile


def size(outcome: Outcome) -> int:
    return len(repr(outcome.steps).split("state="))


def test_hostile_definitions_are_answered_within_bounds() -> None:
    many = 2_000
    chain = {f"s{n}": task("a", f"s{n + 1}") for n in range(many)}
    found = failures(scope(**chain, **{f"s{many}": plain()}))
    assert len(found) == many + 1
    assert said(found["s150"].outcomes[0].steps)[-1] == "+50"
    assert sum(size(failure.outcomes[0]) for failure in found.values()) < 2 * MOST_STEPS_IN_ALL
    assert isinstance(found[f"s{many}"].outcomes[0].steps[0], More)

    diamonds: Object = {}
    for n in range(many):  # two ways each: nobody could follow 2 ** many
        diamonds[f"c{n}"] = choice(f"t{n}", f"c{n + 1}")
        diamonds[f"t{n}"] = task("a", f"c{n + 1}")
    diamonds[f"c{many}"] = plain()
    assert said(failures(scope(**diamonds))["c3"].outcomes[0].steps) == ["t2?", "t1?", "t0?"]

    mesh: Object = {f"t{n}": task("a", f"c{n}") for n in range(60)}
    mesh |= {f"c{n}": choice(*[f"t{m}" for m in range(60)], "end") for n in range(60)}
    (step,) = failures(scope(**mesh, end=plain()))["end"].outcomes[0].steps
    assert isinstance(step, Rounds)
    assert len(step.steps) == 60
