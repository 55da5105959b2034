"""Lists as one bound value, so that the text of a statement does not depend on their length.

PostgreSQL unnests arrays; SQLite reads a JSON text. Texts that stay the same are prepared once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    FromClause,
    Text,
    any_,
    bindparam,
    column,
    func,
    select,
)
from sqlalchemy.types import TypeEngine

INTEGER: Final = BigInteger()
TEXT: Final = Text()


def wanted(dialect: str, **columns: TypeEngine[Any]) -> FromClause:
    """Return a table of bound rows, `wanted`, with these columns; `wanted_rows` binds them."""
    if dialect == "sqlite":
        rows = func.json_each(bindparam("wanted", type_=Text())).table_valued("value", name="rows")
        picked = [
            func.json_extract(rows.c.value, f"$[{place}]", type_=kind).label(name)
            for place, (name, kind) in enumerate(columns.items())
        ]
        return select(*picked).select_from(rows).subquery("wanted")
    arrays = [bindparam(f"wanted_{name}", type_=ARRAY(kind)) for name, kind in columns.items()]
    named = [column(name, kind) for name, kind in columns.items()]
    return func.unnest(*arrays).table_valued(*named, name="wanted").render_derived(name="wanted")


def wanted_rows(
    dialect: str, names: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> dict[str, object]:
    """Return the parameters that put rows into `wanted`."""
    if dialect == "sqlite":
        return {"wanted": json.dumps(rows)}
    return {f"wanted_{name}": [row[place] for row in rows] for place, name in enumerate(names)}


def one_of(
    dialect: str, compared: ColumnElement[Any], name: str, kind: TypeEngine[Any]
) -> ColumnElement[bool]:
    """Return the condition that a column is one of a bound list; `listed` binds it."""
    if dialect == "sqlite":
        rows = func.json_each(bindparam(name, type_=Text())).table_valued("value", name=f"{name}_")
        return compared.in_(select(rows.c.value))
    return compared == any_(bindparam(name, type_=ARRAY(kind)))


def listed(dialect: str, values: Sequence[object]) -> object:
    """Return the parameter that binds a list to `one_of`."""
    return json.dumps(list(values)) if dialect == "sqlite" else list(values)
