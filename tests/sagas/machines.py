"""Random sagas, and how they are written as definitions of either language."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from hypothesis import strategies as st

from tests.sagas.model import Model
from tests.sagas.nodes import End, Fork, Node, Park, Saga, Step, Undo


@st.composite
def sagas(draw: st.DrawFn) -> Saga:
    """Sagas that come to an end; half of them fail there, so that what is pending shows."""
    begun = sequence(draw, depth=2, weak=True, top=True)
    doomed = (Step("", fails=9),) if draw(st.booleans()) else ()
    saga = iterated(named((*begun, *doomed), count()))
    _, end = Model().predict(saga)
    return without_parks(saga) if end is End.PARKED else saga


def sequence(draw: st.DrawFn, *, depth: int, weak: bool, top: bool = False) -> Saga:
    kinds = ["step"] * 4 + ["undo"] + ["fork"] * (2 * depth)
    least = 3 if top else 1
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=least, max_size=least + 3))
    return tuple(node(draw, kind, depth, weak=weak, top=top) for kind in chosen)


def node(draw: st.DrawFn, kind: str, depth: int, *, weak: bool, top: bool) -> Node:
    if kind == "undo":
        return Undo("")
    if kind == "fork":
        return fork(draw, depth - 1, weak=weak)
    fails = draw(st.sampled_from([0, 0, 1, 9])) if weak else 0
    pivot = top and draw(st.integers(0, 3)) == 0
    undo = not pivot and draw(st.integers(0, 3)) > 0
    catch = draw(st.sampled_from([None, "undo", "keep"])) if fails else None
    return Step("", undo, pivot, fails, bool(fails) and draw(st.integers(0, 2)) == 0, catch)


def fork(draw: st.DrawFn, depth: int, *, weak: bool) -> Fork:
    is_map = draw(st.booleans())
    total = draw(st.integers(2, 3))
    failing = draw(st.integers(0, total - 1))
    if is_map:
        branches: tuple[Saga, ...] = (branch(draw, depth, weak=weak),) * total
    else:
        branches = tuple(branch(draw, depth, weak=weak and n == failing) for n in range(total))
    return Fork(
        "",
        branches,
        failing,
        is_map,
        undo=draw(st.integers(0, 3)) == 0,
        retry=draw(st.booleans()),
        catch=draw(st.sampled_from([None, None, "undo", "keep"])),
    )


def branch(draw: st.DrawFn, depth: int, *, weak: bool) -> Saga:
    """A branch whose last Task tells that all before it was committed; it may go no further."""
    parks = (Park(""),) if draw(st.integers(0, 2)) == 0 else ()
    return (*sequence(draw, depth=depth, weak=weak), Step(""), *parks)


def named(saga: Saga, numbers: Iterator[int]) -> Saga:
    """The saga with a name of its own for every node, the same in all iterations of a Map."""
    found: list[Node] = []
    for one in saga:
        name = f"{type(one).__name__}{next(numbers)}"
        if not isinstance(one, Fork):
            found.append(replace(one, name=name))
            continue
        if one.is_map:
            branches = (named(one.branches[0], numbers),) * len(one.branches)
        else:
            branches = tuple(named(inner, numbers) for inner in one.branches)
        found.append(replace(one, name=name, branches=branches))
    return tuple(found)


def iterated(saga: Saga) -> Saga:
    """The saga in whose Maps only the Tasks of the weak iteration fail."""

    def inner(fork: Fork, n: int) -> Saga:
        inside = iterated(fork.branches[n])
        return inside if n == fork.weak or not fork.is_map else changed(inside, strong)

    return tuple(
        replace(one, branches=tuple(inner(one, n) for n in range(len(one.branches))))
        if isinstance(one, Fork)
        else one
        for one in saga
    )


def without_parks(saga: Saga) -> Saga:
    """The same saga whose branches all go on."""
    return changed(saga, lambda one: None if isinstance(one, Park) else one)


def strong(one: Node) -> Node:
    """The same node as one that never fails."""
    return replace(one, fails=0) if isinstance(one, Step) else one


def changed(saga: Saga, change: Callable[[Node], Node | None]) -> Saga:
    """The saga with every node that is no fork changed, or left out."""
    found: list[Node] = []
    for one in saga:
        if isinstance(one, Fork):
            inside = tuple(changed(inner, change) for inner in one.branches)
            found.append(replace(one, branches=inside))
        elif (now := change(one)) is not None:
            found.append(now)
    return tuple(found)


# ------------------------------------------------------------------------------ as definitions


@dataclass
class Writer:
    """Writes sagas in one of the two languages."""

    queries: bool
    ends: Iterator[int] = field(default_factory=count)

    def machine(self, saga: Saga) -> str:
        language = "JSONata" if self.queries else "JSONPath"
        return json.dumps({"QueryLanguage": language, **self.scope(saga)})

    def scope(self, saga: Saga) -> dict[str, Any]:
        end = f"End{next(self.ends)}"
        names = [*(one.name for one in saga), end]
        states = {one.name: self.state(one, names[n + 1]) for n, one in enumerate(saga)}
        return {"StartAt": names[0], "States": {**states, end: {"Type": "Pass", "End": True}}}

    def state(self, one: Node, then: str) -> dict[str, Any]:
        if isinstance(one, Undo):
            return {"Type": "Compensate", "Next": then}
        if isinstance(one, Park):
            return {"Type": "Wait", "Seconds": 3_600, "Next": then}
        made = self.step(one) if isinstance(one, Step) else self.fork(one)
        state = {**made, **self.passing(), "Next": then}
        if one.retry:
            retry = {"ErrorEquals": ["States.ALL"], "MaxAttempts": 1, "JitterStrategy": "FULL"}
            state["Retry"] = [retry]
        if one.undo:
            arguments = self.named(one.name, ".input")
            state["Compensate"] = {"Resource": "celery:model.undo", **arguments}
        if one.catch is not None:
            catcher = {"ErrorEquals": ["States.ALL"], "Next": then, **self.passing()}
            state["Catch"] = [catcher | ({"Compensate": True} if one.catch == "undo" else {})]
        return state

    def step(self, one: Step) -> dict[str, Any]:
        state = {"Type": "Task", "Resource": "celery:model.do", **self.named(one.name, "")}
        return {**state, "Pivot": True} if one.pivot else state

    def fork(self, one: Fork) -> dict[str, Any]:
        if not one.is_map:
            branches = [self.scope(inner) for inner in one.branches]
            return {"Type": "Parallel", "Branches": branches}
        state = {"Type": "Map", "ItemProcessor": self.scope(one.branches[0])}
        total, index = len(one.branches), "$$.Map.Item.Index"
        if self.queries:
            at = "{% $states.input.at & '#' & $string($states.context.Map.Item.Index) %}"
            return {**state, "Items": list(range(total)), "ItemSelector": {"at": at}}
        at = f"States.Format('{{}}#{{}}', $.at, {index})"
        selector = {"at.$": at, "items.$": "$.items"}
        return {**state, "ItemsPath": f"$.items[:{total}]", "ItemSelector": selector}

    def named(self, name: str, where: str) -> dict[str, Any]:
        if self.queries:
            return {"Arguments": {"name": name, "at": "{% $states.input.at %}"}}
        return {"Parameters": {"name": name, "at.$": f"${where}.at"}}

    def passing(self) -> dict[str, Any]:
        return {"Output": "{% $states.input %}"} if self.queries else {"ResultPath": None}
