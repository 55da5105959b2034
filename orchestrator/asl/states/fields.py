"""The fields of one object of a definition, read one by one; what is wrong becomes a finding.

A reader asks for each field it knows by the type it should have and gets None where it is absent
or wrong; a wrong one has been noted then. So readers never stop at the first fault.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from orchestrator.asl.diagnostics import Code, Findings, child
from orchestrator.asl.document import Json
from orchestrator.asl.errors import CompileError
from orchestrator.asl.expressions import Expression, ExpressionSyntaxError, compile_expression
from orchestrator.asl.jsonata import Query, QuerySyntaxError, compile_query, expression_in
from orchestrator.asl.paths import (
    Path,
    PathSyntaxError,
    ReferencePath,
    compile_path,
    compile_reference_path,
)
from orchestrator.asl.query_templates import QueryTemplate, compile_query_template
from orchestrator.asl.spelling import number_in
from orchestrator.asl.states.quantity import Placeholder, Quantity
from orchestrator.asl.templates import Template, compile_template

MOST_SECONDS = 99_999_999
"""The largest TimeoutSeconds, HeartbeatSeconds, Seconds and MaxAttempts."""

JSONPATH: Final = "JSONPath"
JSONATA: Final = "JSONata"

JSONATA_FIELDS = frozenset({"Arguments", "Condition", "Items", "Output"})
"""Fields that only JSONata knows."""

_PATH_FIELDS = frozenset(
    {
        "InputPath",
        "OutputPath",
        "Parameters",
        "Result",
        "ResultPath",
        "ResultSelector",
        "Variable",
    }
)
"""Fields that only JSONPath knows, beside those that end in `Path`."""

_PASSING_STATES = frozenset({"result", "errorOutput"})
"""Members of `$states` that only some fields find."""

WHOLE = compile_path("$")
ALL_OF_IT = compile_reference_path("$")

_Value = TypeVar("_Value")


_EXPRESSION = re.compile(r"\$\$?[.\[]|States\.[A-Za-z0-9]+\(")


def looks_like_expression(value: Json) -> bool:
    """Tell whether a literal text may have been meant as a path or a call."""
    return isinstance(value, str) and _EXPRESSION.match(value) is not None


class Fields:
    """One object of a definition, at its place, with the findings of its definition.

    `language` is the query language that its fields speak, `default` that of states which do not
    name any: the machine's.
    """

    def __init__(
        self,
        value: Mapping[str, Json],
        pointer: str,
        findings: Findings,
        default: str = JSONPATH,
        language: str | None = None,
    ) -> None:
        self.value = value
        self.pointer = pointer
        self.findings = findings
        self.default = default
        self.language = language or default

    @property
    def queries(self) -> bool:
        """Tell whether the fields speak JSONata."""
        return self.language == JSONATA

    def speaking(self, language: str) -> Fields:
        """Return the same object as one whose fields speak a language."""
        return Fields(self.value, self.pointer, self.findings, self.default, language)

    def _inner(self, value: Mapping[str, Json], pointer: str) -> Fields:
        return Fields(value, pointer, self.findings, self.default, self.language)

    def __contains__(self, name: str) -> bool:
        return name in self.value

    def at(self, name: str) -> str:
        """Return the pointer of a field."""
        return child(self.pointer, name)

    def wrong(self, name: str, message: str) -> None:
        """Note what is wrong with a field."""
        self.findings.schema(message, self.at(name))

    def allow(self, known: Iterable[str]) -> None:
        """Note every field that is not `known` here."""
        names = frozenset(known)
        for name in self.value:
            if name not in names:
                self._refuse(name)

    def _refuse(self, name: str) -> None:
        other = JSONPATH if self.queries else JSONATA
        if self.queries:
            of_other = name in _PATH_FIELDS or name.endswith("Path")
        else:
            of_other = name in JSONATA_FIELDS
        if of_other:
            self.findings.schema(
                f"The QueryLanguage is set to '{self.language}', but field '{name}' is only"
                f" supported for the '{other}' QueryLanguage",
                self.pointer,
            )
        else:
            self.findings.schema(f"Field '{name}' is not supported", self.pointer)

    def require(self, *names: str) -> bool:
        """Note the fields that are missing; tell whether none is."""
        missing = [name for name in names if name not in self.value]
        if missing:
            listed = ", ".join(missing)
            self.findings.schema(f"These fields are required: [{listed}]", self.pointer)
        return not missing

    def only_one_of(self, *names: str) -> None:
        """Note it if more than one of the fields is there."""
        given = [name for name in names if name in self.value]
        if len(given) > 1:
            listed = ", ".join(given)
            self.findings.schema(f"Only one of these fields can be used: [{listed}]", self.pointer)

    def one_of(self, *names: str) -> None:
        """Note it unless exactly one of the fields is there."""
        self.only_one_of(*names)
        if not any(name in self.value for name in names):
            listed = ", ".join(names)
            self.findings.schema(f"One of these fields is required: [{listed}]", self.pointer)

    # ----------------------------------------------------------------------------- plain values

    def text(self, name: str) -> str | None:
        """Read a string."""
        value = self.value.get(name)
        if isinstance(value, str):
            return value
        if name in self.value:
            self.wrong(name, "Expected a string")
        return None

    def flag(self, name: str) -> bool | None:
        """Read a boolean."""
        value = self.value.get(name)
        if isinstance(value, bool):
            return value
        if name in self.value:
            self.wrong(name, "Expected a boolean")
        return None

    def choice(self, name: str, *allowed: str) -> str | None:
        """Read one of several words."""
        value = self.text(name)
        if value is None or value in allowed:
            return value
        listed = ", ".join(allowed)
        self.wrong(name, f"The field '{name}' should have one of these values: [{listed}]")
        return None

    def integer(self, name: str, least: int = 0, most: int = MOST_SECONDS) -> int | None:
        """Read an integer; 3.0 is one."""
        value = self.number(name, least, most)
        if value is None or isinstance(value, int):
            return value
        if value.is_integer():
            return int(value)
        self.wrong(name, "Expected an integer")
        return None

    def number(self, name: str, least: float, most: float = math.inf) -> int | float | None:
        """Read a number within bounds."""
        value = self.value.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            if name in self.value:
                self.wrong(name, "Expected a number")
            return None
        return self._within(name, value, least, most)

    def _within(self, name: str, value: float, least: float, most: float) -> int | float | None:
        if least <= value <= most:
            return value
        bound = f"between {least} and {most}" if most < math.inf else f"{least} or more"
        self.wrong(name, f"The value must be {bound}")
        return None

    def whole(
        self, name: str, least: int = 0, most: int = MOST_SECONDS, *, spelled: bool = False
    ) -> Quantity | None:
        """Read a whole number, or what will give one."""
        value = self.quantity(name, least, most, spelled=spelled)
        if not isinstance(value, float):
            return value
        if value.is_integer():
            return int(value)
        self.wrong(name, "Expected an integer")
        return None

    def quantity(
        self, name: str, least: float, most: float = math.inf, *, spelled: bool = False
    ) -> Quantity | None:
        """Read a number, or what will give one.

        That is an expression, and where it is `spelled` any text, but with a warning: deployed
        definitions have texts that templates were to replace.
        """
        value = self.value.get(name)
        if self.queries and expression_in(value) is not None:
            return self.query(name)
        if not spelled or not isinstance(value, str):
            return self.number(name, least, most)
        number = number_in(value)
        if number is not None:
            self._warn_of_text(name, "it is taken as the number that it spells")
            return self._within(name, number, least, most)
        self._warn_of_text(name, "the state fails when it is reached")
        return Placeholder(value)

    def _warn_of_text(self, name: str, outcome: str) -> None:
        self.findings.warn(
            Code.NO_NUMBER, f"Expected a number but found a string: {outcome}", self.at(name)
        )

    # ---------------------------------------------------------------------------------- objects

    def object(self, name: str) -> Fields | None:
        """Read an object."""
        value = self.value.get(name)
        if isinstance(value, dict):
            return self._inner(value, self.at(name))
        if name in self.value:
            self.wrong(name, "Expected an object")
        return None

    def objects(self, name: str, *, filled: bool = False) -> list[Fields]:
        """Read an array of objects; `filled` ones may not be empty."""
        place = self.at(name)
        found = []
        for index, value in enumerate(self.array(name, filled=filled)):
            if isinstance(value, dict):
                found.append(self._inner(value, child(place, index)))
            else:
                self.findings.schema("Expected an object", child(place, index))
        return found

    def array(self, name: str, *, filled: bool = False) -> list[Json]:
        """Read an array; absent or wrong it is empty."""
        value = self.value.get(name)
        if isinstance(value, list):
            if filled and not value:
                self.wrong(name, "Value cannot be empty")
            return value
        if name in self.value:
            self.wrong(name, "Expected an array")
        return []

    # -------------------------------------------------------------------- paths and templates

    def path(self, name: str, default: Path | None = None) -> Path | None:
        """Read a path where JSON null is a value of its own: None then, `default` if absent."""
        if name in self.value and self.value[name] is None:
            return None
        return self._compiled(name, compile_path, default)

    def full_path(self, name: str) -> Path | None:
        """Read a path; JSON null is none."""
        return self._compiled(name, compile_path, None)

    def definite_path(self, name: str) -> Path | None:
        """Read a path that can only yield one value; JSON null is none."""
        path = self.full_path(name)
        if path is not None and not path.definite:
            self.wrong(name, "Value is not a Reference Path")
        return path

    def reference_path(self, name: str, default: ReferencePath | None) -> ReferencePath | None:
        """Read the place of a result: None for JSON null, `default` if absent."""
        if name in self.value and self.value[name] is None:
            return None
        path = self._compiled(name, compile_reference_path, default)
        if path is not None and path.reads_context:
            self.wrong(name, "A result cannot be placed into the context object")
        if path is not None and path.reads_variable:
            self.wrong(name, "A result cannot be placed into a variable")
        return path

    def _compiled(
        self, name: str, compiled: Callable[[str], _Value], default: _Value | None
    ) -> _Value | None:
        text = self.text(name)
        if text is None:
            return default
        try:
            return compiled(text)
        except (PathSyntaxError, ValueError) as error:
            # int() raises ValueError where a number has more than some thousand digits.
            self.wrong(name, f"Value is not a valid JSONPath: {error}")
            return default

    def expression(self, name: str) -> Expression | None:
        """Read a path or a call of an intrinsic function."""
        text = self.text(name)
        if text is None:
            return None
        try:
            return compile_expression(text)
        except (ExpressionSyntaxError, ValueError):
            self.wrong(
                name,
                f"The value for the field '{name}' must be a valid JSONPath or a valid intrinsic"
                " function call",
            )
            return None

    def template(self, name: str) -> Template | None:
        """Read a payload template, any JSON value."""
        if name not in self.value:
            return None
        self._warn_of_literals(self.value[name], self.at(name))
        try:
            template = compile_template(self.value[name], self.at(name))
        except CompileError as error:
            for fault in error.faults:
                self.findings.schema(fault.message, fault.pointer)
            return None
        except ValueError as error:
            self.wrong(name, f"Value is not a valid template: {error}")
            return None
        for doubt in template.doubts:
            self.findings.warn(Code.NO_PATH, doubt.message, doubt.pointer)
        return template

    # --------------------------------------------------------------------------------- queries

    def query(self, name: str) -> Query | None:
        """Read an expression of JSONata."""
        text = expression_in(self.value.get(name))
        if text is None:
            if name in self.value:
                self.wrong(name, "Expected a JSONata expression")
            return None
        try:
            query = compile_query(text)
        except QuerySyntaxError as error:
            self.wrong(name, f"Value is not a valid JSONata expression: {error}")
            return None
        self._check_states(query, name, frozenset())
        if query.doubt is not None:
            self.findings.warn(Code.NO_PATH, query.doubt, self.at(name))
        return query

    def text_or_query(self, name: str) -> str | Query | None:
        """Read a text, or in JSONata an expression that gives one."""
        if self.queries and expression_in(self.value.get(name)) is not None:
            return self.query(name)
        return self.text(name)

    def query_template(
        self, name: str, field: str | None = None, also: frozenset[str] = frozenset()
    ) -> QueryTemplate | None:
        """Read a template of JSONata, any JSON value; `field` is how causes name its place.

        `also` names the members of `$states` that it finds beside input and context.
        """
        if name not in self.value:
            return None
        try:
            template = compile_query_template(self.value[name], field or name, self.at(name))
        except CompileError as error:
            for fault in error.faults:
                self.findings.schema(fault.message, fault.pointer)
            return None
        for doubt in template.doubts:
            self.findings.warn(Code.NO_PATH, doubt.message, doubt.pointer)
        for query in template.queries:
            self._check_states(query, name, also)
        return template

    def _check_states(self, query: Query, name: str, also: frozenset[str]) -> None:
        for member in sorted((query.states or frozenset()) & _PASSING_STATES - also):
            self.wrong(name, f"$states.{member} is not available in the field '{name}'")

    def _warn_of_literals(self, value: Json, pointer: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                place = child(pointer, key)
                if not key.endswith(".$") and looks_like_expression(inner):
                    message = f"The field '{key}' looks like a JSONPath or a function call, but its"
                    self.findings.warn(
                        Code.NO_DOLLAR, f"{message} name does not end with '.$'", place
                    )
                self._warn_of_literals(inner, place)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self._warn_of_literals(inner, child(pointer, index))
