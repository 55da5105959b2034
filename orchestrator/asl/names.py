"""Names of machines and executions: AWS's characters, so that each fits into an ARN and a path."""

from __future__ import annotations

import re
from typing import Final

MOST_CHARACTERS: Final = 80

_FORBIDDEN: Final = re.compile(r"[\s<>{}\[\]?*\"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class InvalidName(ValueError):
    """A name that no ARN could carry."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"Invalid name {name!r}: {why}")


def check(name: str) -> str:
    """The name itself; raises InvalidName with the reason."""
    if not 1 <= len(name) <= MOST_CHARACTERS:
        raise InvalidName(
            name, f"it has {len(name)} characters, from 1 to {MOST_CHARACTERS} are allowed"
        )
    if found := _FORBIDDEN.search(name):
        raise InvalidName(name, f"the character {found.group()!r} is not allowed in names")
    return name
