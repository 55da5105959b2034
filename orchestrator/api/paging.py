"""Paging tokens: where the next page begins, signed, so that nobody makes up one of his own.

A token names the last thing of its page, not a number of things, so that pages stay right while
data grows. It holds for the question that it answered, and for a day.
"""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final

from orchestrator.api.errors import bad_token
from orchestrator.asl import document
from orchestrator.asl.document import DocumentError, Json

VALID_SECONDS: Final = 86_400
_MAC_BYTES: Final = 16


class Pages:
    """Signs and reads paging tokens."""

    def __init__(self, read_key: Callable[[], bytes]) -> None:
        self._read_key = read_key
        self._key: bytes | None = None

    def token(self, question: str, position: str) -> str:
        """Return the token of the page that follows `position`."""
        value: Json = [position, int(time.time())]
        body = document.write(value).encode()
        return base64.urlsafe_b64encode(self._mac(question, body) + body).decode()

    def position(self, question: str, token: str | None) -> str | None:
        """Return the position that a token names, None without one; raises InvalidToken."""
        if token is None:
            return None
        try:
            data = base64.urlsafe_b64decode(token.encode("ascii"))
        except (ValueError, UnicodeEncodeError):
            raise bad_token() from None
        mac, body = data[:_MAC_BYTES], data[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(question, body)):
            raise bad_token()
        try:
            value = document.read(body)
        except DocumentError:
            raise bad_token() from None
        match value:
            case [str(position), int(made_at)] if time.time() - made_at <= VALID_SECONDS:
                return position
            case _:
                raise bad_token()

    def paged(
        self, shown: dict[str, Json], question: str, positions: Sequence[str], size: int
    ) -> dict[str, Json]:
        """Say where the next page begins, if more was found than a page holds."""
        if len(positions) > size:
            shown["nextToken"] = self.token(question, positions[size - 1])
        return shown

    def _mac(self, question: str, body: bytes) -> bytes:
        text = question.encode("utf-8", "surrogatepass")
        signed = len(text).to_bytes(4, "big") + text + body
        if self._key is None:
            self._key = self._read_key()
        return hmac.digest(self._key, signed, sha256)[:_MAC_BYTES]
