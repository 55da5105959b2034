"""What paths mean: Jayway's JSONPath, as AWS runs it."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.paths import PathNotFound, PathSyntaxError, compile_path

STORE: Json = {
    "store": {
        "book": [
            {"title": "Sayings", "price": 8.95, "tags": ["a", "b"], "isbn": None},
            {"title": "Sword", "price": 12.99, "tags": []},
            {"title": "Moby Dick", "price": 8.99, "tags": ["c"], "stock": {"here": 3}},
        ],
        "bicycle": {"color": "red", "price": 19.95},
    },
    "store.book": "dotted",
    "abc": {"def ghi": [10, 20]},
    "error-info": {"Cause": "why"},
    "numbers": [4, 1, -3, 2.5],
    "words": ["x", "y", 1],
    "limit": 9,
    "wanted": ["Sword"],
    "empty": [],
    "n": None,
}
CONTEXT: Json = {"Execution": {"Input": {"id": 7}, "Name": "e-1"}, "Map": {"Item": {"Index": 2}}}


NO_OBJECT_AT_A = "Expected an object with property ['b'] in path $['a'] but found"
NO_OBJECT_AT_A_BOTH = "Expected an object with property ['b','c'] in path $['a'] but found"


def read(text: str, document: Json = STORE) -> Json:
    return compile_path(text).read(document, lambda: CONTEXT)


def no_context() -> Json:
    raise AssertionError("the context object was made for nothing")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$", STORE),
        ("$.store.bicycle.color", "red"),
        ("$['store']['bicycle'][\"color\"]", "red"),
        ("$.store.book[0].title", "Sayings"),
        ("$.store.book[-1].title", "Moby Dick"),
        ("$.n", None),
        ("$.numbers[ 1 ]", 1),
        ("$.store\\.book", "dotted"),
        ("$.\\store\\.boo\\k", "dotted"),
        ("$.abc.['def ghi']", [10, 20]),
        ("$.abc['def ghi'].[1]", 20),
        ("$.abc.def\\ ghi[0]", 10),
        ("$.error-info.Cause", "why"),
        ("$.error-info ", {"Cause": "why"}),
        ("$.numbers[(@.length-1)]", 2.5),
        ("$['n', 'limit', 'absent']", {"n": None, "limit": 9}),
    ],
)
def test_a_definite_path_gives_the_value(text: str, value: Json) -> None:
    assert read(text) == value
    assert compile_path(text).definite


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("$.store.book[*].price", [8.95, 12.99, 8.99]),
        ("$.store.*.color", ["red"]),
        ("$.store.book[0,2].title", ["Sayings", "Moby Dick"]),
        ("$.store.book[1:].title", ["Sword", "Moby Dick"]),
        ("$.store.book[:1].title", ["Sayings"]),
        ("$.store.book[-2:].title", ["Sword", "Moby Dick"]),
        ("$.numbers[1:3]", [1, -3]),
        ("$.numbers[-3:-1]", [1, -3]),
        ("$.numbers[1:-1]", []),
        ("$.numbers[:-1]", [4, 1, -3]),
        ("$.numbers[2:99]", [-3, 2.5]),
        ("$.numbers[-999999999999:2]", [4, 1, -3, 2.5, 4, 1]),
        ("$..price", [8.95, 12.99, 8.99, 19.95]),
        ("$.store..['color', 'price']", [{"color": "red", "price": 19.95}]),
        ("$..tags[0]", ["a", "c"]),
        ("$..book[1].title", ["Sword"]),
        ("$..stock.*", [3]),
        ("$.store.book[*]['title', 'isbn']", None),
        ("$['abc', 'store'].bicycle.price", [19.95]),
        ("$.empty[*]", []),
        ("$.empty[*].a.b", []),
        ("$..absent", []),
        ("$.store.book[7,8]", []),
    ],
)
def test_an_indefinite_path_gives_a_list(text: str, values: Any) -> None:
    found = read(text)
    if values is None:
        titles = [{"title": "Sayings", "isbn": None}, {"title": "Sword"}, {"title": "Moby Dick"}]
        assert found == titles
    elif text == "$.store..['color', 'price']":
        assert {"color": "red", "price": 19.95} in found  # type: ignore[operator]
    elif text == "$.numbers[-999999999999:2]":
        assert found == [4, 1, -3, 2.5, 4, 1]
    else:
        assert found == values
    assert not compile_path(text).definite


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("$.items[*]", []),
        ("$.item.items[:1].itemValue", []),
        ("$.item.items[1:5]", []),
        ("$.limit[?(@.a)]", []),
        ("$.limit.a[0,1]", []),
        ("$.limit.*", []),
        ("$.limit..a", []),
    ],
)
def test_an_indefinite_path_below_something_missing_gives_an_empty_list(
    text: str, values: Json
) -> None:
    assert read(text) == values


@pytest.mark.parametrize(
    ("test", "titles"),
    [
        ("@.price < 9", ["Sayings", "Moby Dick"]),
        ("@.price<9 && @.title == 'Sayings'", ["Sayings"]),
        ("@.price > 12 || @.stock", ["Sword", "Moby Dick"]),
        ("!(@.price > 12 || @.stock)", ["Sayings"]),
        ("!@.stock", ["Sayings", "Sword"]),
        ("@.isbn", ["Sayings"]),
        ("@.isbn == null", ["Sayings"]),
        ("@.isbn != null", ["Sword", "Moby Dick"]),
        ("@.price < $.limit", ["Sayings", "Moby Dick"]),
        ("@.price < $['limit'] && $.store", ["Sayings", "Moby Dick"]),
        ("@.title == Sword", ["Sword"]),
        ('@.title == "Moby Dick"', ["Moby Dick"]),
        ("@.stock.here == 3", ["Moby Dick"]),
        ("@.stock.here == '3'", ["Moby Dick"]),
        ("@.stock.here === '3'", []),
        ("@.stock.here !== '3'", ["Sayings", "Sword", "Moby Dick"]),
        ("'Sword' == @.title", ["Sword"]),
        ("@['price'] >= 12.99", ["Sword"]),
        ("@.title =~ /S.*/", ["Sayings", "Sword"]),
        ("@.title =~ /s.*/i", ["Sayings", "Sword"]),
        ("@.title =~ /.*by/", []),
        ("@.title in ['Sword', 'x']", ["Sword"]),
        ("@.title in $.wanted", ["Sword"]),
        ("@.title nin ['Sword']", ["Sayings", "Moby Dick"]),
        ("@.tags contains 'c'", ["Moby Dick"]),
        ("@.title contains 'ob'", ["Moby Dick"]),
        ("@.tags size 2", ["Sayings"]),
        ("@.tags empty true", ["Sword"]),
        ("@.tags empty false", ["Sayings", "Moby Dick"]),
        ("@.tags subsetof ['a', 'b', 'z']", ["Sayings", "Sword"]),
        ("@.tags anyof ['b', 'c']", ["Sayings", "Moby Dick"]),
        ("@.tags noneof ['b']", ["Sword", "Moby Dick"]),
        ("@.tags all ['a']", ["Sayings"]),
        ("@.tags == ['a', 'b']", ["Sayings"]),
        ('@.stock == {"here": 3.0}', ["Moby Dick"]),
        ("@.tags =~ /[ab]/", ["Sayings"]),
        ("@.tags.length() > 1", ["Sayings"]),
        ("@..here", ["Moby Dick"]),
        ("@.title == $$.none", []),
        ("true", ["Sayings", "Sword", "Moby Dick"]),
        ("false || false", []),
    ],
)
def test_a_filter_lets_pass_what_its_test_says(test: str, titles: Json) -> None:
    assert read(f"$.store.book[?({test})].title") == titles
    assert read(f"$.store.book.[?( {test} )].title") == titles


def test_a_filter_on_an_object_tests_the_object_itself() -> None:
    assert read("$.store.bicycle[?(@.color == 'red')].price") == [19.95]
    assert read("$.store.bicycle[?(@.color == 'blue')]") == []


def test_a_filter_after_a_descent_tests_everything_inside() -> None:
    assert read("$..[?(@.here)]") == [{"here": 3}]


@pytest.mark.parametrize(
    ("left", "right"), [("true", "1"), ("false", "0"), ("null", "false"), ("true", "'true'")]
)
def test_a_boolean_equals_no_number_and_no_text(left: str, right: str) -> None:
    assert read(f"$.empty[?({left} == {right})]", {"empty": [1]}) == []
    assert read(f"$.empty[?({left} != {right})]", {"empty": [1]}) == [1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$.numbers.length()", 4),
        ("$.store.length()", 2),
        ("$.store.book.size()", 3),
        ("$.limit.length()", None),
        ("$.numbers.min()", -3.0),
        ("$.numbers.max()", 4.0),
        ("$.numbers.sum()", 4.5),
        ("$.numbers.avg()", 1.125),
        ("$.words.sum()", 1.0),
        ("$.words.concat()", "xy"),
        ('$.words.concat("-", $.error-info.Cause)', "xy-why"),
        ("$.store.keys()", ["book", "bicycle"]),
        ("$.numbers.first()", 4),
        ("$.numbers.last()", 2.5),
        ("$.numbers.index(-2)", -3),
        ("$.words.append(2)", ["x", "y", 1, 2]),
        ("$.sum($.limit, 1)", 10.0),
        ("$.length($.numbers)", 4),
        ("$..here.sum()", 3.0),
        ("$..book.length()", 1),
        ("$..price.length()", 4),
        ("$.store.book[*].tags.length()", [2, 0, 1]),
        ("$.empty.length()", 0),
    ],
)
def test_a_function_at_the_end_of_a_path_is_applied(text: str, value: Json) -> None:
    assert read(text) == value
    assert isinstance(value, float) is isinstance(read(text), float)


@pytest.mark.parametrize(
    "text", ["$.empty.sum()", "$.empty.first()", "$.limit.avg()", "$..x.max()"]
)
def test_a_function_that_makes_nothing_leads_nowhere(text: str) -> None:
    with pytest.raises(PathNotFound):
        read(text)


def test_a_sum_beyond_binary64_leads_nowhere() -> None:
    with pytest.raises(PathNotFound, match="binary64"):
        read("$.sum()", [1.7e308, 1.7e308])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$$", CONTEXT),
        ("$$.Execution.Input.id", 7),
        ("$$['Execution']['Name']", "e-1"),
        ("$$.Map.Item.Index", 2),
        ("$$..id", [7]),
        ("$.store.book[?(@.price > $$.Execution.Input.id)].title.length()", [None] * 3),
    ],
)
def test_a_path_that_begins_with_two_dollars_reads_the_context(text: str, value: Json) -> None:
    assert read(text) == value
    assert compile_path(text).reads_context


def test_the_context_is_made_only_where_it_is_read() -> None:
    for text in ("$.store", "$.numbers[0]", "$..price", "$.store.book[?(@.price)]"):
        assert compile_path(text).read(STORE, no_context) is not None
        assert not compile_path(text).reads_context


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("$$", True),
        ("$$.Execution", True),
        ("$$.Execution.Input", True),
        ("$$.Execution.Input.a[0]", True),
        ("$$['Execution']", True),
        ("$$.*", True),
        ("$$..a", True),
        ("$.a[?(@.b == $$.Execution.Input.b)]", True),
        ("$$.Execution.Id", False),
        ("$$.State.Name", False),
        ("$.Execution.Input", False),
    ],
)
def test_a_path_knows_whether_it_can_see_the_input_of_the_execution(text: str, reads: bool) -> None:
    assert compile_path(text).reads_execution_input is reads


@pytest.mark.parametrize(
    ("text", "document", "cause"),
    [
        ("$.x", {}, "Invalid path '$.x' : No results for path: $['x']"),
        ("$.a.x", {"a": {}}, "Invalid path '$.a.x' : No results for path: $['a']['x']"),
        ("$.no.such", {}, "Invalid path '$.no.such' : Missing property in path $['no']"),
        ("$.a[3]", {"a": [1]}, "Invalid path '$.a[3]' : No results for path: $['a'][3]"),
        ("$.a[-2]", {"a": [1]}, "Invalid path '$.a[-2]' : No results for path: $['a'][-2]"),
        ("$.a.b", {"a": "text"}, f"Invalid path '$.a.b' : {NO_OBJECT_AT_A} a string"),
        ("$.a.b", {"a": [1]}, f"Invalid path '$.a.b' : {NO_OBJECT_AT_A} an array"),
        ("$.a.b", {"a": None}, f"Invalid path '$.a.b' : {NO_OBJECT_AT_A} null"),
        ("$.a.b", {"a": 1}, f"Invalid path '$.a.b' : {NO_OBJECT_AT_A} a number"),
        (
            "$.a['b', 'c']",
            {"a": 1},
            f"Invalid path '$.a['b', 'c']' : {NO_OBJECT_AT_A_BOTH} a number",
        ),
        ("$[0]", True, "Invalid path '$[0]' : Expected an array in path $ but found a boolean"),
        ("$[0]", {"0": 1}, "Invalid path '$[0]' : Expected an array in path $ but found an object"),
    ],
)
def test_a_definite_path_that_leads_nowhere_fails_with_its_cause(
    text: str, document: Json, cause: str
) -> None:
    with pytest.raises(StateFailure) as failed:
        read(text, document)
    assert failed.value.failure.error == "States.Runtime"
    assert failed.value.failure.cause == cause


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$order", {"lines": [{"n": 1}, {"n": 2}], "min": 2}),
        ("$order.min", 2),
        ("$order['lines'][1].n", 2),
        ("$order.lines[?(@.n >= $order.min)].n", [2]),
        ("$.wanted[?(@ == $größe)]", ["xl"]),
        ("$größe", "xl"),
    ],
)
def test_a_path_may_begin_with_a_variable(text: str, value: Json) -> None:
    order: Json = {"lines": [{"n": 1}, {"n": 2}], "min": 2}
    variables: dict[str, Json] = {"order": order, "größe": "xl"}
    path = compile_path(text)
    assert path.read({"wanted": ["l", "xl"]}, lambda: None, None, variables) == value
    assert path.variables <= variables.keys()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("$nothing.a", "No results for path: $nothing"),
        ("$order.a", "No results for path: $order['a']"),
    ],
)
def test_what_a_variable_does_not_have_is_not_found(text: str, reason: str) -> None:
    with pytest.raises(PathNotFound) as missed:
        compile_path(text).read({}, lambda: None, None, {"order": {}})
    assert missed.value.reason == reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "store.book",
        " $.a",
        "@.a",
        "$.",
        "$..",
        "$...a",
        "$.a.",
        "$.a..",
        "$$a",
        "$1",
        "$-a",
        "$.a b",
        "$.a[",
        "$.a]",
        "$.a[]",
        "$.a[x]",
        "$.a['b'",
        "$.a['b]",
        "$.a['b',]",
        "$.a['b' 'c']",
        "$.a[:]",
        "$.a[0:4:2]",
        "$.a[1,]",
        "$.a[99999999999999999999]",
        "$.a[?]",
        "$.a[?@.b]",
        "$.a[?()]",
        "$.a[?(@.b ==)]",
        "$.a[?(@.b == 'c)]",
        "$.a[?(@.b &&)]",
        "$.a[?(@.b & @.c)]",
        "$.a[?('b')]",
        "$.a[?((@.b)]",
        "$.a[?(@.b =~ /(/)]",
        "$.a[?(@.b =~ /x)]",
        "$.a[?(@.b == {)]",
        '$.a[?(@.b == {"c": NaN})]',
        "$.a.nosuch()",
        "$.a.length(",
        "$.a.length(1, 2)",
        "$.a.index()",
        "$.a.sum($.b",
    ],
)
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(PathSyntaxError):
        compile_path(text)


def test_a_refusal_says_where_the_path_goes_wrong() -> None:
    with pytest.raises(PathSyntaxError) as refused:
        compile_path("$.a[?(@.b == 'c' && )]")
    assert refused.value.position == 20
    assert refused.value.text == "$.a[?(@.b == 'c' && )]"


def test_reading_shares_with_the_document_and_changes_nothing() -> None:
    document: Json = {"a": {"b": [1, 2]}}
    assert read("$.a.b", document) is document["a"]["b"]  # type: ignore[index,call-overload]
    read("$.a.b.append(3)", document)
    assert document == {"a": {"b": [1, 2]}}
