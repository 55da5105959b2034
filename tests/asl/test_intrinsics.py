"""The eighteen intrinsic functions, one by one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.expressions import compile_expression
from orchestrator.asl.intrinsics import INTRINSICS


def call(text: str, draw: Draw | None = None, **document: Any) -> Json:
    return compile_expression(text).value("f", document, lambda: None, draw or Draw(b"seed"))


def test_there_are_eighteen_functions() -> None:
    assert len(INTRINSICS) == 18


@pytest.mark.parametrize(
    ("text", "document", "value"),
    [
        # Format
        ("States.Format('Hello')", {}, "Hello"),
        ("States.Format('{} {}{}', 'a', 1, true)", {}, "a 1true"),
        ("States.Format('{}', $.v)", {"v": None}, "null"),
        ("States.Format('{}', $.v)", {"v": 1.1}, "1.1"),
        ("States.Format('{}', $.v)", {"v": {"A": 1, "B": []}}, "{A=1, B=[]}"),
        (
            "States.Format('{}', $.v)",
            {"v": ["x", None, True, {"k": "é"}]},
            "[x, null, true, {k=é}]",
        ),
        ("States.Format('it\\'s {}', 1)", {}, "it's 1"),
        ("States.Format('\\{\\} {} {', 1)", {}, "{} 1 {"),
        ("States.Format('\\{}', 1)", {"fails": True}, None),
        ("States.Format('{{}}', 1)", {}, "{1}"),
        ("States.Format('\\\\{}', 1)", {}, "\\1"),
        ("States.Format($.t, $.t)", {"t": "<{}>"}, "<<{}>>"),
        ("States.Format('{}')", {"fails": True}, None),
        ("States.Format('x', 1)", {"fails": True}, None),
        ("States.Format($.t, 1)", {"t": 5, "fails": True}, None),
        # StringToJson, JsonToString
        ("States.StringToJson('')", {}, None),
        ("States.StringToJson(' ')", {}, None),
        ("States.StringToJson('-0')", {}, 0),
        ("States.StringToJson('[1, 2, \"x\"]')", {}, [1, 2, "x"]),
        ("States.StringToJson('{\"a\": \\{\\}}')", {}, {"a": {}}),
        ("States.StringToJson($.s)", {"s": "9007199254740993"}, 9007199254740993),
        ("States.StringToJson('nope')", {"fails": True}, None),
        ("States.StringToJson('NaN')", {"fails": True}, None),
        ("States.StringToJson(5)", {"fails": True}, None),
        ("States.JsonToString($.v)", {"v": {"a": 1, "b": [None, "é"]}}, '{"a":1,"b":[null,"é"]}'),
        ("States.JsonToString(null)", {}, "null"),
        ("States.JsonToString('x')", {}, '"x"'),
        # arrays
        ("States.ArrayPartition($.v, 2)", {"v": [1, 2, 3]}, [[1, 2], [3]]),
        ("States.ArrayPartition($.v, 4)", {"v": [1, 2, 3]}, [[1, 2, 3]]),
        ("States.ArrayPartition($.v, 1.5)", {"v": [1, 2, 3]}, [[1, 2], [3]]),
        ("States.ArrayPartition($.v, 1)", {"v": []}, []),
        ("States.ArrayPartition($.v, 0)", {"v": [1], "fails": True}, None),
        ("States.ArrayPartition($.v, true)", {"v": [1], "fails": True}, None),
        ("States.ArrayPartition('x', 1)", {"fails": True}, None),
        ("States.ArrayContains($.v, 1)", {"v": [1.0]}, True),
        ("States.ArrayContains($.v, true)", {"v": [1, "true"]}, False),
        ("States.ArrayContains($.v, $.v)", {"v": [[1], 2]}, False),
        ("States.ArrayContains($.v, $.w)", {"v": [{"a": 1, "b": 2}], "w": {"b": 2, "a": 1}}, True),
        ("States.ArrayContains(1, 1)", {"fails": True}, None),
        ("States.ArrayRange(1, 9, 2)", {}, [1, 3, 5, 7, 9]),
        ("States.ArrayRange(0, 10, 3)", {}, [0, 3, 6, 9]),
        ("States.ArrayRange(9, 1, -4)", {}, [9, 5, 1]),
        ("States.ArrayRange(1, 0, 1)", {}, []),
        ("States.ArrayRange(0.5, 2.4, 1)", {}, [1, 2]),
        ("States.ArrayRange(1, 9, 0)", {"fails": True}, None),
        ("States.ArrayRange(1, 1000, 1)", {}, list(range(1, 1001))),
        ("States.ArrayRange(0, 1000, 1)", {"fails": True}, None),
        ("States.ArrayRange(0, -1000, -1)", {"fails": True}, None),
        ("States.ArrayRange(0, $.n, 1)", {"n": 10**300, "fails": True}, None),
        ("States.ArrayGetItem($.v, 1)", {"v": [1, 2]}, 2),
        ("States.ArrayGetItem($.v, 0.5)", {"v": [1, 2]}, 2),
        ("States.ArrayGetItem($.v, 2)", {"v": [1, 2], "fails": True}, None),
        ("States.ArrayGetItem($.v, -1)", {"v": [1, 2], "fails": True}, None),
        ("States.ArrayLength($.v)", {"v": [1, [2, 3]]}, 2),
        ("States.ArrayLength('ab')", {"fails": True}, None),
        ("States.ArrayUnique($.v)", {"v": [1, 1.0, True, "1", True, None]}, [1, True, "1", None]),
        (
            "States.ArrayUnique($.v)",
            {"v": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]},
            [{"a": 1, "b": 2}],
        ),
        ("States.ArrayUnique($.v)", {"v": [[], {}, "", "[]"]}, [[], {}, "", "[]"]),
        ("States.ArrayUnique($.v)", {"v": [["a", "b"], ['a","b']]}, [["a", "b"], ['a","b']]),
        ("States.ArrayUnique($)", {"fails": True}, None),
        # text
        ("States.Base64Encode('Hi é')", {}, "SGkgw6k="),
        ("States.Base64Decode('SGkgw6k=')", {}, "Hi é"),
        ("States.Base64Decode('SGkgw6k')", {}, "Hi é"),
        ("States.Base64Decode('')", {}, ""),
        ("States.Base64Decode('?')", {"fails": True}, None),
        ("States.Base64Decode('A')", {"fails": True}, None),
        ("States.Base64Encode($.s)", {"s": "x" * 10_001, "fails": True}, None),
        ("States.Base64Decode($.s)", {"s": "x" * 10_001, "fails": True}, None),
        ("States.Hash('input data', 'SHA-1')", {}, "aaff4a450a104cd177d28d18d74485e8cae074b7"),
        ("States.Hash('input data', 'MD5')", {}, "812f45842bc6d66ee14572ce20db8e86"),
        ("States.Hash($.v, 'MD5')", {"v": {"a": 1}}, "bb6cb5c68df4652941caf652a366f2d8"),
        ("States.Hash('x', 'SHA1')", {"fails": True}, None),
        ("States.Hash('x', 5)", {"fails": True}, None),
        ("States.Hash($.s, 'MD5')", {"s": "x" * 10_001, "fails": True}, None),
        ("States.StringSplit('a.b+c', '.+')", {}, ["a", "b", "c"]),
        ("States.StringSplit(' , ', ',')", {}, [" ", " "]),
        ("States.StringSplit(',,', ',')", {}, []),
        ("States.StringSplit('a]b^c-d\\\\e', ']^-\\\\')", {}, ["a", "b", "c", "d", "e"]),
        ("States.StringSplit('ab', '')", {}, ["ab"]),
        ("States.StringSplit('', '')", {}, []),
        ("States.StringSplit(1, ',')", {"fails": True}, None),
        # objects and numbers
        (
            "States.JsonMerge($.a, $.b, false)",
            {"a": {"x": 1, "y": 1}, "b": {"y": 2}},
            {"x": 1, "y": 2},
        ),
        ("States.JsonMerge($.a, $.a, true)", {"a": {}, "fails": True}, None),
        ("States.JsonMerge($.a, $.a, 0)", {"a": {}, "fails": True}, None),
        ("States.JsonMerge($.a, 1, false)", {"a": {}, "fails": True}, None),
        ("States.MathAdd(1.49, 1.5)", {}, 3),
        ("States.MathAdd(-1.5, 0)", {}, -1),
        ("States.MathAdd(-1.51, 0)", {}, -2),
        ("States.MathAdd(-0.5, 0.5)", {}, 1),
        ("States.MathAdd(0.49999999999999994, 0)", {}, 0),
        ("States.MathAdd(2147483646, 1)", {}, 2147483647),
        ("States.MathAdd(2147483647, 1)", {"fails": True}, None),
        ("States.MathAdd(2147483648, -1)", {"fails": True}, None),
        ("States.MathAdd('1', 1)", {"fails": True}, None),
        ("States.MathAdd(true, 1)", {"fails": True}, None),
        ("States.MathRandom(5, 5)", {"fails": True}, None),
        ("States.MathRandom(0, 2147483648)", {"fails": True}, None),
    ],
)
def test_a_function_gives_what_aws_gives(text: str, document: dict[str, Any], value: Json) -> None:
    if document.pop("fails", False):
        with pytest.raises(StateFailure) as failed:
            call(text, **document)
        assert failed.value.failure.error == "States.IntrinsicFailure"
        assert text in (failed.value.failure.cause or "")
    else:
        found = call(text, **document)
        assert found == value
        assert repr(found) == repr(value)


def test_random_numbers_include_the_start_and_not_the_end() -> None:
    draw = Draw(b"seed")
    assert {call("States.MathRandom(1, 4)", draw) for _ in range(200)} == {1, 2, 3}
    assert {call("States.MathRandom(12.5, 14.6)", draw) for _ in range(200)} == {13, 14}


def test_a_seed_makes_random_numbers_the_same_everywhere() -> None:
    one = call("States.MathRandom(0, 1000000, 3)", Draw(b"one"))
    assert one == call("States.MathRandom(0, 1000000, 3)", Draw(b"other"))
    assert one != call("States.MathRandom(0, 1000000, 4)", Draw(b"one"))


def test_a_uuid_is_drawn() -> None:
    draw = Draw(b"seed")
    one, other = call("States.UUID()", draw), call("States.UUID()", draw)
    assert one != other
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", str(one)
    )
    assert call("States.UUID()", Draw(b"seed")) == one


def test_lone_surrogates_do_not_stop_a_function() -> None:
    assert call("States.Base64Encode($.s)", s="\ud800") == "Pw=="
    assert isinstance(call("States.Hash($.s, 'MD5')", s="\ud800"), str)
    assert call("States.JsonToString($.s)", s="\ud800") == '"\ud800"'
