"""The text of a picture: valid XML whatever names say, the same each time, readable aloud."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.states import Choice, Fail
from orchestrator.drawing import STYLE, Mark, draw
from orchestrator.drawing.drawing import MOST_KEPT
from tests.drawing.geometry import faults
from tests.drawing.machines import machine, of_states, task

ROOT = Path(__file__).resolve().parents[2]
ORDER = (ROOT / "definitions" / "order.asl.json").read_text()
SVG = "{http://www.w3.org/2000/svg}"

HOSTILE = (
    "<script>alert(1)</script>",
    "]]><svg onload=alert(1)>",
    '" onclick="alert(1)" x=\'',
    "&lt;&amp;&#0;&bogus;",
    "<!-- --><![CDATA[",
    "</title></svg><h1>",
    "{{ 7*7 }} ${7*7} {% raw %}",
    "مرحبا بالعالم \u202e gnp.exe",
    "👩‍👩‍👧‍👦👍🏽" * 12,
    "日本語の状態名" * 8,
    "e\u0301" * 60,
    "long" * 250,
    "nul\x00 bell\x07 escape\x1b delete\x7f\x9f",
    "lines\nand\ttabs\rand \u2028 more",
    "half \ud800 of a pair \udfff",
    "\ufffe\uffff",
    " ",
    "",
)


def tree(svg: str) -> ET.Element:
    svg.encode()
    return ET.fromstring(svg)  # noqa: S314  # our own text


def groups(svg: str, kind: str) -> list[ET.Element]:
    return [one for one in tree(svg).iter(f"{SVG}g") if kind in one.get("class", "").split()]


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda one: ascii(one)[:20])
def test_hostile_texts_are_text(hostile: str) -> None:
    """Also those that no definition may hold: the picture relies on no check before it."""
    tame = of_states(
        {
            "First": task(Next="Asks", Comment=""),
            "Asks": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.a", "StringEquals": "TEXT", "Next": "First"}],
                "Default": "Refused",
            },
            "Refused": {"Type": "Fail", "Error": "E"},
        }
    )
    first, asks, refused = (tame.state(name) for name in ("First", "Asks", "Refused"))
    assert isinstance(asks, Choice)
    assert isinstance(refused, Fail)
    first = replace(first, name=hostile, comment=hostile)
    rules = (replace(asks.rules[0], next=hostile, comment=hostile),)
    wild = replace(
        tame,
        start_at=hostile,
        comment=hostile,
        text=f"hostile {hostile}",
        states={
            hostile: first,
            "Asks": replace(asks, rules=rules),
            "Refused": replace(refused, error=hostile),
        },
    )
    drawing = draw(wild)
    assert faults(drawing.scene) == []
    svg = drawing.svg({hostile: Mark.DONE}, links={hostile: f"/x?state={hostile}"})
    found = tree(svg)
    names = {one.tag.removeprefix(SVG) for one in found.iter()}
    assert names == {"svg", "title", "desc", "style", "rect", "g", "a", "path", "text", "circle"}
    for one in found.iter():
        assert not any(key.startswith("on") or key == "style" for key in one.attrib)
    (marked,) = [one for one in groups(svg, "state") if one.get("data-mark") == "done"]
    carried = "".join("\ufffd" if _uncarried(one) else one for one in hostile)
    assert marked.get("data-state") == carried
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", "".join(_shown(found)))


def _uncarried(character: str) -> bool:
    return not character.isprintable() and (
        character in "\x7f\ufffe\uffff"
        or (character < " " and character not in "\t\n\r")
        or "\x80" <= character <= "\x9f"
        or "\ud800" <= character <= "\udfff"
    )


def _shown(found: ET.Element) -> list[str]:
    return [one.text or "" for one in found.iter(f"{SVG}text")]


def test_the_same_text_is_the_same_picture() -> None:
    svg = draw(machine(ORDER)).svg()
    for n in range(MOST_KEPT + 1):  # so that nothing of it is kept
        draw(of_states({f"Only{n}": task(End=True)}))
    assert draw(machine(ORDER)).svg() == svg


def test_a_machine_that_was_drawn_is_kept_at_hand_by_its_text() -> None:
    drawing = draw(machine(ORDER))
    assert draw(machine(ORDER)) is drawing
    assert draw(machine(ORDER + " ")) is not drawing


def test_marks_colour_states_and_are_told_in_words() -> None:
    svg = draw(machine(ORDER)).svg({"Pending": Mark.DONE, "OnHold": Mark.WAITING})
    marks = {one.get("data-state"): one.get("data-mark") for one in groups(svg, "state")}
    assert (marks["Pending"], marks["OnHold"]) == ("done", "waiting")
    assert {marks[name] for name in ("Paid", "Shipped", "Cancelled")} == {None}
    titles = [one.findtext(f"{SVG}title") for one in groups(svg, "state")]
    assert "OnHold (Await, waiting)" in titles
    assert "OnHold (Await, waiting)" in (tree(svg).findtext(f"{SVG}desc") or "")


@pytest.mark.parametrize("mark", Mark)
def test_each_mark_has_its_colour(mark: Mark) -> None:
    assert f'[data-mark="{mark}"] .box' in STYLE


def test_a_picture_is_named_and_told_in_words() -> None:
    found = tree(draw(machine(ORDER)).svg())
    assert found.get("role") == "img"
    ids = {one.get("id"): one.text or "" for one in found if one.get("id")}
    assert ids[found.get("aria-labelledby")].startswith("An order:")
    told = ids[found.get("aria-describedby")]
    assert "Starts at Pending." in told
    assert "OnHold (Await): to Paid (on the call pay if" in told
    assert "to ReviewStalled (after review or 3 days)" in told


def test_states_lead_where_links_say() -> None:
    svg = draw(machine(ORDER)).svg(links={"Paid": "/executions/1?state=Paid&x=1"})
    (link,) = tree(svg).iter(f"{SVG}a")
    assert link.get("href") == "/executions/1?state=Paid&x=1"
    assert link.get("aria-label") == "Paid (Await)"
    assert tree(svg).get("role") == "group"  # what is in an image cannot be reached


def test_a_page_may_bring_the_style_itself() -> None:
    svg = draw(machine(ORDER)).svg(style=False)
    assert "<style" not in svg
    assert "style=" not in svg
    assert "prefers-color-scheme: dark" in STYLE


def test_arrows_say_why_they_are_taken() -> None:
    svg = draw(machine(ORDER)).svg()
    kinds = {
        (one.get("data-from"), one.get("data-to")): one.get("class", "").removeprefix("edge ")
        for one in groups(svg, "edge")
    }
    assert kinds["Pending", "ScreenForFraud"] == "edge-call"
    assert kinds["OnHold", "ReviewStalled"] == "edge-timer"
    assert kinds["ScreenForFraud", "OnHold"] == "edge-next"
    texts = _shown(tree(svg))
    assert "pay if Call.Input.cleared = true" in texts
    assert "after review or 3 days" in texts
    assert "on enter: reviews.open" in texts


def test_errors_are_dashed_and_choices_say_their_conditions() -> None:
    drawn = of_states(
        {
            "Work": task(
                Next="Big?",
                Catch=[
                    {"ErrorEquals": ["Busy", "Tired"], "Next": "Later"},
                    {"ErrorEquals": ["States.ALL"], "Next": "Broken"},
                ],
            ),
            "Big?": {
                "Type": "Choice",
                "Choices": [
                    {
                        "And": [
                            {"Variable": "$.size", "NumericGreaterThanEquals": 10},
                            {"Not": {"Variable": "$.kind", "StringEquals": "soft"}},
                        ],
                        "Next": "Later",
                    }
                ],
                "Default": "Done",
            },
            "Later": {"Type": "Wait", "Seconds": 7200, "Next": "Work"},
            "Broken": {"Type": "Fail", "Error": "Shop.Broken"},
            "Done": {"Type": "Succeed"},
        }
    )
    svg = draw(drawn).svg()
    errors = {one.get("data-to") for one in groups(svg, "edge") if "edge-error" in str(one.attrib)}
    assert errors == {"Later", "Broken"}
    assert ".machine .edge-error .line { stroke: var(--m-red); stroke-dasharray" in STYLE
    texts = " ".join(_shown(tree(svg)))
    assert "Busy, Tired" in texts
    assert "size ≥ 10 and not (kind = “soft”)" in texts
    assert "default" in texts
    assert "wait 2 h" in texts
    assert "Shop.Broken" in texts


def test_reactions_of_what_is_around_lead_away_from_there() -> None:
    inner: Json = {
        "StartAt": "Rests",
        "States": {
            "Rests": {"Type": "Await", "On": {"go": {"Next": "Went"}}},
            "Went": {"Type": "Pass", "End": True},
        },
    }
    drawn = of_states(
        {
            "Asked": {"Type": "Await", "On": {"go": {"Next": "Fork"}}},
            "Fork": {"Type": "Parallel", "Branches": [inner], "Next": "Own"},
            "Own": {
                "Type": "Await",
                "On": {"go": {"Next": "Stopped"}, "stop": {"Next": "Left"}},
            },
            "Left": {"Type": "Succeed"},
            "Stopped": {"Type": "Succeed"},
        },
        Calls={"stop": {}, "go": {}},
        On={"stop": {"Next": "Stopped"}},
    )
    calls_drawn = {
        (one.get("data-from"), one.get("data-to"))
        for one in groups(draw(drawn).svg(), "edge")
        if "edge-call" in str(one.attrib)
    }
    assert calls_drawn == {
        ("Asked", "Fork"),
        ("Asked", "Stopped"),
        ("Fork", "Stopped"),
        ("Rests", "Went"),
        ("Own", "Stopped"),
        ("Own", "Left"),
    }
    told = tree(draw(drawn).svg()).findtext(f"{SVG}desc") or ""
    assert "to Stopped (on the call stop, as everywhere)" in told
    assert "to Left (on the call stop)." in told


def test_what_is_undone_is_told() -> None:
    undo: Json = {"Resource": "celery:shop.undo"}
    drawn = of_states(
        {
            "Reserve": task(Compensate=undo, CompensateUnknown=True, Next="Fork"),
            "Fork": {
                "Type": "Parallel",
                "Branches": [{"StartAt": "In", "States": {"In": task(Compensate=undo, End=True)}}],
                "Compensate": {"Resource": "celery:shop.undo_all"},
                "Catch": [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "Undo"}],
                "Next": "Charge",
            },
            "Charge": task(Pivot=True, End=True),
            "Undo": {"Type": "Compensate", "Next": "Failed"},
            "Failed": {"Type": "Fail"},
        }
    )
    svg = draw(drawn).svg()
    assert faults(draw(drawn).scene) == []
    rows = {one.text for one in tree(svg).iter(f"{SVG}text") if "row-undo" in str(one.attrib)}
    assert rows == {
        "undo, also if unknown: shop.undo",
        "undo: shop.undo",
        "undo: shop.undo_all",
        "pivot: no way back",
    }
    (edge,) = groups(svg, "edge-undo")[:1]
    assert (edge.get("data-from"), edge.get("data-to")) == ("Fork", "Undo")
    assert "undo first" in _shown(tree(svg))
    assert "Fork (Parallel): to Charge, to Undo (on States.ALL, once it is undone)." in (
        tree(svg).findtext(f"{SVG}desc") or ""
    )


def test_what_a_fork_is_called_is_written_as_wide_as_what_stands_in_it() -> None:
    name = "Everything that is made ready before it is sent"
    for count, lines in ((1, 2), (4, 1)):
        branches: Json = [
            {"StartAt": f"{n}", "States": {f"{n}": task(End=True)}} for n in range(count)
        ]
        found = draw(of_states({name: {"Type": "Parallel", "Branches": branches, "End": True}}))
        (box, *_) = found.scene.boxes
        assert len(box.face.name) == lines
        assert box.rect.width >= box.face.width
