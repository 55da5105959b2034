"""The fields of a request, read as AWS's model of it says; what is unknown is ignored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.api.errors import ApiError, invalid_value
from orchestrator.asl.document import Json

MOST_PAGE: Final = 1_000
DEFAULT_PAGE: Final = 100
MOST_TOKEN: Final = 1_024
SHOWN_CHARACTERS: Final = 1_024


class Given:
    """What a request holds."""

    def __init__(self, fields: dict[str, Json]) -> None:
        self._fields = fields

    def text(self, field: str, most: int, least: int = 1) -> str:
        """A text that has to be there."""
        found = self.optional(field, most, least)
        if found is None:
            raise invalid_value(None, field, "not be null")
        return found

    def optional(self, field: str, most: int, least: int = 1) -> str | None:
        """A text, if it is there."""
        value = self._fields.get(field)
        if value is None:
            return None
        if not isinstance(value, str):
            raise _wrong_type(value, "String")
        if len(value) < least:
            raise invalid_value(value, field, f"have length greater than or equal to {least}")
        if len(value) > most:
            shown = value[:SHOWN_CHARACTERS]
            raise invalid_value(shown, field, f"have length less than or equal to {most}")
        return value

    def one_of(self, field: str, values: Sequence[str]) -> str | None:
        """One of some words, if it is there."""
        value = self.optional(field, SHOWN_CHARACTERS, least=0)
        if value is not None and value not in values:
            listed = ", ".join(values)
            raise invalid_value(value, field, f"satisfy enum value set: [{listed}]")
        return value

    def flag(self, field: str, *, default: bool) -> bool:
        """True or false."""
        value = self._fields.get(field)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise _wrong_type(value, "Boolean")
        return value

    def structure(self, field: str) -> dict[str, Json] | None:
        """An object, if it is there."""
        value = self._fields.get(field)
        if value is None or isinstance(value, dict):
            return value
        raise _wrong_type(value, "Structure")

    def items(self, field: str) -> list[Json]:
        """A list; an empty one if it is not there."""
        value = self._fields.get(field)
        if value is None:
            return []
        if not isinstance(value, list):
            raise _wrong_type(value, "List")
        return value

    def page_size(self, most: int = MOST_PAGE) -> int:
        """How many results a page may have; 0 and nothing mean a hundred."""
        value = self._fields.get("maxResults")
        if value is None:
            return min(DEFAULT_PAGE, most)
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong_type(value, "Integer")
        if value < 0:
            raise invalid_value(str(value), "maxResults", "have value greater than or equal to 0")
        if value > most:
            raise invalid_value(
                str(value), "maxResults", f"have value less than or equal to {most}"
            )
        return value or min(DEFAULT_PAGE, most)

    def page_token(self, most: int = MOST_TOKEN) -> str | None:
        """Where the page begins."""
        return self.optional("nextToken", most)


def _wrong_type(value: Json, wanted: str) -> ApiError:
    kinds = {
        bool: "TRUE_VALUE" if value is True else "FALSE_VALUE",
        int: "NUMBER_VALUE",
        float: "NUMBER_VALUE",
        str: "STRING_VALUE",
        list: "START_ARRAY",
        dict: "START_OBJECT",
    }
    return ApiError(
        "SerializationException", f"{kinds[type(value)]} cannot be converted to {wanted}"
    )
