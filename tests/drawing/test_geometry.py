"""What a reader needs of any picture: nothing on top of anything, children in their parents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.asl.document import Json
from orchestrator.drawing import draw
from orchestrator.drawing.scene import Scene
from tests.drawing.geometry import faults
from tests.drawing.machines import machine, of_states, task

ROOT = Path(__file__).resolve().parents[2]
OURS = sorted((ROOT / "definitions").glob("*.asl.json"))


def test_public_definitions_are_drawn_without_overlaps(shared: Path) -> None:
    files = [one for one in (shared / "definitions").glob("*.json") if one.name != "index.json"]
    found = {one.name: faults(draw(machine(one.read_text())).scene) for one in files}
    assert len(found) == 236
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.name)
def test_our_definitions_are_drawn_without_overlaps(file: Path) -> None:
    assert faults(draw(machine(file.read_text())).scene) == []


def _tangle(states: int) -> dict[str, Json]:
    """States of which each leads to many, on and back."""
    names = [f"S{n}" for n in range(states)]
    found: dict[str, Json] = {}
    for n, name in enumerate(names):
        found[name] = {
            "Type": "Choice",
            "Choices": [
                {
                    "Variable": "$.way",
                    "NumericEquals": way,
                    "Next": names[(n * 7 + way * way) % states],
                }
                for way in range(1, 5)
            ],
            "Default": names[n + 1] if n + 1 < states else "Done",
        }
    return found | {"Done": {"Type": "Succeed"}}


def _nest(depth: int) -> dict[str, Json]:
    inner: dict[str, Json] = {f"Work{depth}": task(End=True)}
    if depth:
        branch: Json = {"StartAt": next(iter(_nest(depth - 1))), "States": _nest(depth - 1)}
        inner = {
            f"Fork{depth}": {
                "Type": "Parallel",
                "Branches": [
                    branch,
                    {
                        "StartAt": f"Aside{depth}",
                        "States": {
                            f"Aside{depth}": task(
                                Catch=[{"ErrorEquals": ["States.ALL"], "Next": f"Caught{depth}"}],
                                Next=f"Caught{depth}",
                            ),
                            f"Caught{depth}": task(End=True),
                        },
                    },
                ],
                "End": True,
            }
        }
    return inner


def _wide(branches: int) -> dict[str, Json]:
    return {
        "Fork": {
            "Type": "Parallel",
            "Branches": [
                {"StartAt": f"B{n}", "States": {f"B{n}": task(End=True)}} for n in range(branches)
            ],
            "End": True,
        }
    }


def _loops() -> dict[str, Json]:
    return {
        "Wait": {"Type": "Wait", "Seconds": 5, "Next": "Look"},
        "Look": task(Next="Ready?", Catch=[{"ErrorEquals": ["Busy"], "Next": "Look"}]),
        "Ready?": {
            "Type": "Choice",
            "Choices": [
                {"Variable": "$.ready", "BooleanEquals": True, "Next": "Done"},
                {"Variable": "$.broken", "BooleanEquals": True, "Next": "Ready?"},
            ],
            "Default": "Wait",
        },
        "Done": {"Type": "Succeed"},
    }


@pytest.mark.parametrize(
    "states",
    [_tangle(30), _nest(6), _wide(40), _loops()],
    ids=["tangled", "nested", "wide", "looping"],
)
def test_what_nobody_would_write_is_drawn_without_overlaps(states: dict[str, Json]) -> None:
    assert faults(draw(of_states(states)).scene) == []


def test_many_branches_go_on_below_each_other() -> None:
    scene = draw(of_states(_wide(40))).scene
    assert scene.width < 1_800
    assert len({frame.y for frame in scene.boxes[0].frames}) > 2


def test_a_fault_is_noticed() -> None:
    scene = draw(machine(OURS[0].read_text())).scene
    first, second, *_ = scene.boxes
    moved = replace(first, rect=replace(first.rect, y=second.rect.y, x=second.rect.x))
    assert any("overlaps" in one for one in faults(_with(scene, moved)))
    edge = next(one for one in scene.edges if one.label_rect is not None)
    across = replace(edge, label_rect=second.rect)
    wrong = faults(replace(scene, edges=(across, *scene.edges)))
    assert any("lies on" in one for one in wrong)


def _with(scene: Scene, box: object) -> Scene:
    from orchestrator.drawing.scene import Box

    assert isinstance(box, Box)
    return replace(scene, boxes=(box, *scene.boxes[1:]))


def test_the_way_that_the_text_names_first_runs_straight_down() -> None:
    found = draw(machine((ROOT / "definitions" / "order.asl.json").read_text())).scene
    middle = {box.state.name: box.rect.x + box.rect.width / 2 for box in found.boxes}
    main = ("Pending", "ScreenForFraud", "OnHold", "Paid", "Shipped")
    assert len({round(middle[name], 3) for name in main}) == 1
