"""What keeps other sites' pages out: a token in each form, and headers that forbid foreign code.

The token is the visitor's cookie under a key that all processes share. A page of another site can
neither read it nor set that cookie, so it cannot send a form that counts.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from hashlib import sha256
from typing import Final
from urllib.parse import quote, unquote

from fastapi import Request, Response

from orchestrator.web.request import Refused, Visitor

COOKIE: Final = "orchestrator-console"
WHO: Final = "orchestrator-who"
TOKEN: Final = "token"  # noqa: S105  # the name of the field, not what stands in it
MOST_WHO: Final = 80
YEAR_SECONDS: Final = 31_536_000
_SECRET_CHARACTERS: Final = 32

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Knows visitors by their cookies, and lets only their own forms change anything."""

    def __init__(self, read_key: Callable[[], bytes]) -> None:
        self._read_key = read_key
        self._key: bytes | None = None

    def visitor(self, request: Request) -> Visitor:
        """Who asks; a visitor without a cookie gets one. Takes a transaction the first time."""
        secret = request.cookies.get(COOKIE, "")
        new = len(secret) < _SECRET_CHARACTERS
        if new:
            secret = secrets.token_urlsafe(_SECRET_CHARACTERS)
        who = unquote(request.cookies.get(WHO, ""))[:MOST_WHO]
        return Visitor(secret, self._token(secret), who, new)

    def _token(self, secret: str) -> str:
        if self._key is None:
            self._key = self._read_key()
        return hmac.digest(self._key, secret.encode(), sha256).hex()

    @staticmethod
    def check(request: Request, visitor: Visitor, given: str) -> None:
        """Raise Refused unless a form comes from a page of this console."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        known = not visitor.new and hmac.compare_digest(given.encode(), visitor.token.encode())
        if site not in ("same-origin", "none") or not known:
            raise Refused(
                403,
                "Not from this page",
                "Nothing was changed: the form carries no token of this console. "
                "Load the page again and send it once more.",
            )

    @staticmethod
    def dress(response: Response, visitor: Visitor | None = None) -> None:
        """Give a response the headers of the console, and a new visitor the cookie."""
        response.headers.update(HEADERS)
        response.headers.setdefault("Cache-Control", "no-store")
        if visitor is not None and visitor.new:
            response.set_cookie(COOKIE, visitor.secret, path="/", httponly=True, samesite="strict")

    @staticmethod
    def remember(response: Response, who: str) -> None:
        """Keep the name that a visitor gave, so that the next form knows it."""
        name = quote(who[:MOST_WHO])
        response.set_cookie(WHO, name, YEAR_SECONDS, path="/", httponly=True, samesite="strict")
