"""Whatever an expression does, the process that needs its value goes on, and soon."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.jsonata import Answer, Question, compile_query
from orchestrator.evaluation import Evaluator

HOSTILE = {
    "recursion that ends nowhere": "($f := function($x){1 + $f($x)}; $f(0))",
    "recursion as a loop": "($f := function($x){$f($x + 1)}; $f(0))",
    "two calls in each call": (
        "($f := function($n){$n < 2 ? 1 : $f($n - 1) + $f($n - 2)}; $f(40))"
    ),
    "ten million items": "[1..1e7]",
    "a range walked through": "[1..9999999].(1)",
    "an immense padding": "$pad('x', 1e9)",
    "a large padding, replaced": "$replace($pad('', 8000000, 'ab'), /(a|b)+?/, '$0$0$0')",
    "a backtracking pattern": "$contains($states.input.text, /(a+)+$/)",
    "another of its kind": "$contains($states.input.text, /^(([a-z])+.)+[A-Z]([a-z])+$/)",
    "a text for every letter": "$replace($states.input.text, /a/, $states.input.text)",
    "texts that double": "($a := 'xxxxxxxxxx';" + "$a := $a & $a;" * 40 + "$a)",
    "arrays that double": "($a := [1, 2];" + "$a := $append($a, $a);" * 40 + "$a)",
    "everything with everything": (
        "$states.input.rows@$a.$states.input.rows@$b.{'a': $a.v, 'b': $b.v}"
    ),
    "distinct ones, again and again": "$states.input.rows.$distinct($states.input.rows)",
    "a copy in every copy": "$states.input ~> |**|{'z': $states.input}|",
    "long texts for every row": "$states.input.rows.($states.input.text & v)",
}
ROWS: Json = [{"k": n % 50, "v": n} for n in range(20_000)]
INPUT: dict[str, Json] = {"text": "a" * 100_000 + "!", "rows": ROWS}
LATEST_SECONDS = 3.0


@pytest.fixture(scope="module")
def evaluate() -> Iterator[Evaluator]:
    evaluator = Evaluator()
    asked(evaluator, "$pad('', 1)")  # starts the helper
    yield evaluator
    evaluator.close()


def asked(evaluator: Evaluator, text: str, given: Json = None) -> Answer:
    states: dict[str, Json] = {"input": given}
    return evaluator(Question(compile_query(text), {"states": states}, 1_700_000_000_000, "seed"))


def test_there_are_as_many_as_promised() -> None:
    assert len(HOSTILE) == 16


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_expression_is_answered_soon(evaluate: Evaluator, text: str) -> None:
    begun = time.monotonic()
    answer = asked(evaluate, text, INPUT)
    assert time.monotonic() - begun < LATEST_SECONDS
    assert answer.reason is not None
    assert asked(evaluate, "$pad('a', 3, 'b')").value == "abb"


def test_none_of_them_has_made_this_process_large(evaluate: Evaluator) -> None:
    def size() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()

    before = size()
    for text in ("$states.input.rows.$uppercase($states.input.text)", "$states.input.**.**"):
        asked(evaluate, text, INPUT)
    assert size() - before < 300 * 2**20


def test_light_and_heavy_expressions_have_the_same_values(evaluate: Evaluator) -> None:
    given: Json = {"n": 20, "list": [1, None, {"a": "ä\u0000"}], "big": 1e300}
    for text in (
        "$states.input.list",
        "$states.input.(n * 2)",
        "$uuid() & $random()",
        "$now()",
        "$hash('a', 'SHA-1')",
        "$states.input.nothing",
        "$sum",
        "1 + null",
    ):
        light = asked(evaluate, text, given)
        heavy = asked(evaluate, f"({text} /* .. */)", given)
        assert compile_query(f"({text} /* .. */)").heavy
        assert (heavy.value, heavy.reason) == (light.value, light.reason)


def test_neighbours_of_a_hostile_expression_are_not_disturbed(evaluate: Evaluator) -> None:
    over = threading.Event()

    def attack() -> None:
        asked(evaluate, HOSTILE["distinct ones, again and again"], INPUT)
        over.set()

    attacker = threading.Thread(target=attack)
    attacker.start()
    slowest = 0.0
    while not over.is_set():
        begun = time.monotonic()
        assert asked(evaluate, "$states.input.n + 1", {"n": 1}).value == 2
        slowest = max(slowest, time.monotonic() - begun)
        time.sleep(0.005)
    attacker.join()
    assert slowest < 0.5


def test_what_takes_long_says_so(evaluate: Evaluator) -> None:
    assert asked(evaluate, HOSTILE["a backtracking pattern"], INPUT).seconds > 0.5
    assert asked(evaluate, "1").seconds == 0.0


def test_a_helper_that_has_died_is_replaced() -> None:
    evaluator = Evaluator()
    process = evaluator._helper._at_hand()  # noqa: SLF001  # which process it is, nobody else says
    process.kill()
    process.wait()
    assert asked(evaluator, "$pad('a', 2, 'b')").value == "ab"
    evaluator.close()


def test_a_child_of_the_process_has_a_helper_of_its_own(evaluate: Evaluator) -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover  # ends without a word to pytest
        value = asked(evaluate, "$pad('a', 2, 'b')").value
        os.write(write, str(value).encode())
        evaluate.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 10) == b"ab"
    os.close(read)
    os.close(write)
    assert asked(evaluate, "$pad('a', 3, 'b')").value == "abb"
