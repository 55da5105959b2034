"""Tokens by which anybody may answer a task: signed, never stored, the same at every delivery.

What is stored of a task, and its history, hold a placeholder; the claim fills in the token.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from orchestrator.execution.payload import Payload
from orchestrator.execution.token import placeholder
from orchestrator.store import Claim

VERSION: Final = "v1"


class InvalidTaskToken(Exception):
    """A text that is no token, or one that nobody was given."""


@dataclass(frozen=True, slots=True)
class TokenOf:
    """The attempt that a token answers."""

    execution: int
    frame: str
    token: str


class Callbacks:
    """Makes and reads tokens with the key that all processes share."""

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._read_key = key
        self._key: bytes | None = None

    def token(self, claim: Claim) -> str:
        """Return the token that answers the task of a claim."""
        frame = base64.urlsafe_b64encode(claim.frame.encode()).decode().rstrip("=")
        body = f"{VERSION}.{claim.execution}.{frame}.{claim.token}"
        return f"{body}.{self._mac(body)}"

    def filled(self, claim: Claim) -> Payload:
        """Return the arguments of a claim with its token where they want one."""
        there = placeholder(claim.token)
        text = claim.arguments.text
        if there not in text:
            return claim.arguments
        return Payload.parse(text.replace(there, self.token(claim)))

    def read(self, token: str) -> TokenOf:
        """Return what a token answers; raises InvalidTaskToken."""
        body, _, mac = token.rpartition(".")
        parts = body.split(".")
        try:
            signed = hmac.compare_digest(mac.encode("ascii"), self._mac(body).encode())
            version, execution, frame, attempt = parts
            padded = frame + "=" * (-len(frame) % 4)
            of = TokenOf(int(execution), base64.urlsafe_b64decode(padded).decode(), attempt)
        except (ValueError, UnicodeError, binascii.Error):
            raise InvalidTaskToken("Invalid Token: 'Invalid token'") from None
        if not signed or version != VERSION:
            raise InvalidTaskToken("Invalid Token: 'Invalid token'")
        return of

    def _mac(self, body: str) -> str:
        if self._key is None:
            self._key = self._read_key()
        return hmac.digest(self._key, body.encode("utf-8", "surrogatepass"), sha256).hex()
