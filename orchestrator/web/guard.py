"""What keeps other sites' pages out: a token in each form, and headers that forbid foreign code.

The token is the visitor's cookie under a key that all processes share. A page of another site can
neither read it nor set that cookie, so it cannot send a form that counts. Where a browser says
that another site asks, it is refused as well; so is a stream of news that it would keep open.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from hashlib import sha256
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from fastapi import Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.web.request import Refused, Visitor

COOKIE: Final = "orchestrator-console"
WHO: Final = "orchestrator-who"
TOKEN: Final = "token"  # noqa: S105  # the name of the field, not what stands in it
MOST_WHO: Final = 80
YEAR_SECONDS: Final = 31_536_000
_SECRET_CHARACTERS: Final = 32

HEADERS: Final = {
    "Cache-Control": "no-store",
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
    def admit(request: Request) -> None:
        """Raise Refused where a page of another site embeds one of these; links may lead here."""
        mode = request.headers.get("sec-fetch-mode", "navigate")
        shown = request.headers.get("sec-fetch-dest", "document")
        if is_foreign(request) and (mode, shown) != ("navigate", "document"):
            raise Refused(403, "Not for other sites", "Pages of other sites may only link here.")

    @staticmethod
    def check(request: Request, visitor: Visitor, given: str) -> None:
        """Raise Refused unless a form comes from a page of this console."""
        known = not visitor.new and hmac.compare_digest(given.encode(), visitor.token.encode())
        if is_foreign(request) or not known:
            raise Refused(
                403,
                "Not from this page",
                "Nothing was changed: the form carries no token of this console. "
                "Load the page again and send it once more.",
            )

    @staticmethod
    def greet(response: Response, visitor: Visitor | None) -> None:
        """Give a new visitor the cookie."""
        if visitor is not None and visitor.new:
            response.set_cookie(COOKIE, visitor.secret, path="/", httponly=True, samesite="strict")

    @staticmethod
    def remember(response: Response, who: str) -> None:
        """Keep the name that a visitor gave, so that the next form knows it."""
        name = quote(who[:MOST_WHO])
        response.set_cookie(WHO, name, YEAR_SECONDS, path="/", httponly=True, samesite="strict")


def is_foreign(request: Request) -> bool:
    """Tell whether a browser says that a page of another site asks.

    Another port is another origin. Who says nothing is no browser, or one that leaves it out where
    somebody follows a link: there the token counts.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


class Dressed:
    """Gives every response the headers that forbid foreign code, also where nothing was found."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and dress what comes back."""

        async def dress(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.setdefault("headers", [])
                there = {name.lower() for name, _ in given}
                message["headers"] = [*given, *(one for one in _RAW if one[0] not in there)]
            await send(message)

        await self._app(scope, receive, dress if scope["type"] == "http" else send)


_RAW: Final = tuple((name.lower().encode(), value.encode()) for name, value in HEADERS.items())
