"""Words that say how the engine is made, and nothing to those who use it."""

from __future__ import annotations

import re
from typing import Final

PYTHON: Final = re.compile(
    r"\b(None|NoneType|dict|str|tuple|True|False|list index|object has no|not subscriptable"
    r"|unhashable|iterable|Traceback|(Key|Type|Value|Index|Attribute|Assertion)Error)\b|<class|<orch"
)
"""What no message may hold that a user can see."""
