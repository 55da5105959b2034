"""Documents, paths, templates and rules made up by hypothesis: small, and close to each other."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

KEYS = ("a", "b", "c", "d e", "x.y", "é", "k-1")
WORDS = ("", "a", "ab", "abc", "1", "1.0", "b*", "\\", "true", "é", "\U0001f600", "\uffff")
MOMENTS = (
    "2024-01-01T12:00:00Z",
    "2024-01-01T13:00:00+01:00",
    "2024-01-01T12:00:00.5Z",
    "2024-01-01T12:00:00.500000001Z",
    "2024-01-01T12:00:00",
    "2024-02-30T12:00:00Z",
    "2024-01-01 12:00:00Z",
    "2024-01-01t12:00:00z",
    "2023-12-31T23:30:00-12:30",
)

numbers = st.one_of(
    st.integers(-3, 12), st.sampled_from([0.0, 0.5, 1.0, -1.5, 2.5, 1e21, 2**53 + 1])
)
strings = st.sampled_from(WORDS + MOMENTS)
scalars = st.one_of(st.none(), st.booleans(), numbers, strings)
documents: SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    ),
    max_leaves=20,
)
objects = st.dictionaries(st.sampled_from(KEYS), documents, min_size=1, max_size=5)


# ------------------------------------------------------------------------------------ paths


def _dotted(name: str) -> str:
    return "." + "".join("\\" + letter if letter in ". " else letter for letter in name)


names = st.one_of(
    st.sampled_from(KEYS).map(_dotted),
    st.sampled_from(KEYS).map(lambda name: f"['{name}']"),
    st.sampled_from(KEYS).map(lambda name: f'.["{name}"]'),
)
several_names = st.lists(st.sampled_from(KEYS), min_size=2, max_size=3, unique=True).map(
    lambda given: "[" + ", ".join(f"'{name}'" for name in given) + "]"
)
indices = st.integers(-4, 4).map(lambda index: f"[{index}]")
several_indices = st.lists(st.integers(-3, 3), min_size=2, max_size=3).map(
    lambda given: "[" + ",".join(map(str, given)) + "]"
)
slices = st.tuples(
    st.integers(-4, 4), st.integers(-4, 4), st.sampled_from(["both", "first", "last"])
)
slice_pieces = slices.map(
    lambda given: {
        "both": f"[{given[0]}:{given[1]}]",
        "first": f"[{given[0]}:]",
        "last": f"[:{given[1]}]",
    }[given[2]]
)
wildcards = st.sampled_from([".*", "[*]", ".[*]"])
definite_pieces = st.one_of(names, names, indices)
functions = st.sampled_from(
    [f".{name}()" for name in ("length", "keys", "min", "max", "sum", "avg", "concat", "first")]
)


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value) if isinstance(value, float) else str(value)


small_numbers = st.one_of(st.integers(-3, 12), st.sampled_from([0.5, 1.0, -1.5]))
literals = st.one_of(
    st.one_of(st.none(), st.booleans(), small_numbers).map(_literal),
    st.sampled_from(["a", "ab", "1", "1.0", "é", "true"]).map(lambda text: f"'{text}'"),
    st.just("bare"),
)
relative = st.lists(definite_pieces, max_size=2).map(lambda pieces: "@" + "".join(pieces))
rooted = st.lists(definite_pieces, max_size=2).map(lambda pieces: "$" + "".join(pieces))
descending = st.sampled_from(KEYS[:3]).map(lambda name: f"@..{name}")
comparisons = st.one_of(
    st.tuples(
        st.one_of(relative, relative, rooted, literals),
        st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
        st.one_of(literals, literals, relative, rooted),
        st.sampled_from(["", " "]),
    ).map(lambda parts: f"{parts[0]}{parts[3]}{parts[1]}{parts[3]}{parts[2]}"),
    st.tuples(relative, st.sampled_from(["/a.*/", "/[ab]+/", "/1|true/", "/.*/"])).map(
        lambda parts: f"{parts[0]} =~ {parts[1]}"
    ),
    st.one_of(relative, rooted, descending),
    relative.map("!{}".format),
)
tests = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", " && ", "||", " || "]), inner).map("".join),
        inner.map("({})".format),
        inner.map("!({})".format),
    ),
    max_leaves=4,
)
filters = tests.map("[?({})]".format)
descents = st.one_of(
    st.sampled_from(KEYS[:3]).map(lambda name: f"..{name}"),
    st.sampled_from(["..*", "..[0]", "..['a']", "..['a', 'b']", "..[*]", "..[1:]"]),
)
any_pieces = st.one_of(
    names,
    names,
    indices,
    several_names,
    several_indices,
    slice_pieces,
    wildcards,
    filters,
    descents,
)


@st.composite
def paths(draw: st.DrawFn) -> str:
    """A path that both readings take, of every kind."""
    root = draw(st.sampled_from(["$", "$", "$", "$$"]))
    pieces = draw(st.lists(any_pieces, max_size=4))
    ending = draw(st.sampled_from(["", "", "function"]))
    return root + "".join(pieces) + (draw(functions) if ending else "")


short_paths = st.lists(definite_pieces, max_size=2).map(lambda pieces: "$" + "".join(pieces))
definite_paths = st.lists(definite_pieces, max_size=3).map(lambda pieces: "$" + "".join(pieces))


# -------------------------------------------------------------------------------- templates


def _quoted(text: str) -> str:
    return "'" + "".join("\\" + letter if letter in "'{}\\" else letter for letter in text) + "'"


constants = st.one_of(
    st.sampled_from(["null", "true", "false", "0", "1", "2", "-1", "1.5", "-0.5", "1001"]),
    st.sampled_from([*WORDS, "it's", "{}", "a,b;c", "[1, 2]", '{"a": 1}', "aGk=", "aGk"]).map(
        _quoted
    ),
)
arguments = st.one_of(constants, definite_paths, paths())


@st.composite
def format_calls(draw: st.DrawFn) -> str:
    """A call of States.Format, most with as many arguments as places."""
    places = draw(st.integers(0, 3))
    given = places + draw(st.sampled_from([0, 0, 0, 1]))
    pieces = draw(
        st.lists(
            st.sampled_from(["", "x", "\\{\\}", "it\\'s ", "{", "\\\\"]),
            min_size=places + 1,
            max_size=places + 1,
        )
    )
    values = draw(st.lists(arguments, min_size=given, max_size=given))
    return f"States.Format({', '.join(['{}'.join(pieces).join(chr(39) * 2), *values])})"


whole_numbers = st.sampled_from(["0", "1", "2", "3", "-1", "1.5", "-0.5", "2.49", "$$.numbers[0]"])
texts = st.one_of(
    st.sampled_from([*WORDS, "it's", "a,b;c", "[1, 2]", '{"a": 1}', "aGk=", "aGk", "é"]).map(
        _quoted
    ),
    st.sampled_from(["$$.c", "$$.text"]),
)
arrays = st.sampled_from(["$$.a.b", "$$.numbers", "$$.mixed", "States.Array()", "$$.a.b[0:2]"])
maps = st.sampled_from(["$$", "$$.a", "$$.a.b[2]", """States.StringToJson('\\{"a": 2\\}')"""])
ARGUMENTS: dict[str, tuple[SearchStrategy[str], ...]] = {
    "StringToJson": (texts,),
    "JsonToString": (arguments,),
    "ArrayPartition": (arrays, whole_numbers),
    "ArrayContains": (arrays, arguments),
    "ArrayRange": (whole_numbers, whole_numbers, whole_numbers),
    "ArrayGetItem": (arrays, whole_numbers),
    "ArrayLength": (arrays,),
    "ArrayUnique": (arrays,),
    "Base64Encode": (texts,),
    "Base64Decode": (texts,),
    "Hash": (arguments, st.sampled_from(["'MD5'", "'SHA-256'", "'SHA-512'", "'sha1'"])),
    "JsonMerge": (maps, maps, st.sampled_from(["false", "false", "false", "true"])),
    "MathAdd": (whole_numbers, st.one_of(whole_numbers, st.just("2147483647"))),
    "StringSplit": (texts, texts),
}


def _call(name: str, inner: SearchStrategy[str]) -> SearchStrategy[str]:
    kinds = (st.one_of(kind, kind, kind, inner) for kind in ARGUMENTS[name])
    return st.tuples(*kinds).map(lambda given: f"States.{name}({', '.join(given)})")


def _calls(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    """Make calls whose arguments fit, and a few where some are anything."""
    fitting = [_call(name, inner) for name in ARGUMENTS]
    lists = st.lists(inner, max_size=3).map(lambda given: f"States.Array({','.join(given)})")
    return st.one_of(*fitting, lists, format_calls())


def _nested(calls: SearchStrategy[str]) -> SearchStrategy[str]:
    return _calls(st.one_of(calls, arguments))


calls = st.recursive(_calls(arguments), _nested, max_leaves=3)
expressions = st.one_of(paths(), calls)


@st.composite
def templates(draw: st.DrawFn) -> Any:
    """A payload template."""
    shape = draw(st.recursive(st.sampled_from(["copy", "evaluate"]), _shapes, max_leaves=6))
    return _filled(draw, shape)


def _shapes(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner))


def _filled(draw: st.DrawFn, shape: Any) -> Any:
    if isinstance(shape, list):
        return [_filled(draw, part) for part in shape]
    if not isinstance(shape, dict):
        return draw(documents)
    made = {}
    for key, part in shape.items():
        if part == "evaluate":
            made[key + ".$"] = draw(expressions)
        else:
            made[key] = _filled(draw, part)
    return made


# ------------------------------------------------------------------------------------ rules

RELATIONS = ("Equals", "LessThan", "GreaterThan", "LessThanEquals", "GreaterThanEquals")
WANTED: dict[str, SearchStrategy[Any]] = {
    **{f"String{relation}": strings for relation in RELATIONS},
    **{f"Numeric{relation}": numbers for relation in RELATIONS},
    **{
        f"Timestamp{relation}": st.sampled_from([MOMENTS[place] for place in (0, 1, 2, 3, 8)])
        for relation in RELATIONS
    },
    "BooleanEquals": st.booleans(),
}
PATTERNS = ("", "*", "a*", "*b*", "a\\*", "b\\*", "\\\\", "\\", "*c", "a**b*c", "**")


@st.composite
def data_tests(draw: st.DrawFn) -> Any:
    """A comparison, a test of a type, of presence or of a pattern."""
    variable = draw(short_paths)
    kind = draw(st.sampled_from(["compare", "compare", "path", "is", "present", "like"]))
    if kind == "present":
        return {"Variable": variable, "IsPresent": draw(st.booleans())}
    if kind == "is":
        name = draw(
            st.sampled_from(["IsNull", "IsNumeric", "IsString", "IsBoolean", "IsTimestamp"])
        )
        return {"Variable": variable, name: draw(st.booleans())}
    if kind == "like":
        return {"Variable": variable, "StringMatches": draw(st.sampled_from(PATTERNS))}
    operator = draw(st.sampled_from(sorted(WANTED)))
    if kind == "path":
        return {"Variable": variable, operator + "Path": draw(short_paths)}
    return {"Variable": variable, operator: draw(WANTED[operator])}


rules: SearchStrategy[Any] = st.recursive(
    data_tests(),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda tests: {"And": tests}),
        st.lists(inner, min_size=1, max_size=3).map(lambda tests: {"Or": tests}),
        inner.map(lambda test: {"Not": test}),
    ),
    max_leaves=4,
)
