"""A visitor without scripts: reads pages, and sends their forms."""

from __future__ import annotations

import html
import re
from urllib.parse import quote

import httpx


class Visitor:
    """Keeps the console's cookies, as a browser does."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, headers={"Accept": "text/html"}, timeout=30)

    def read(self, path: str, status: int = 200) -> str:
        answer = self.http.get(path)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        return answer.text

    def token(self, path: str = "/start?machine=order") -> str:
        (found, *_) = re.findall(r'name="token" value="(\w+)"', self.read(path))
        return str(found)

    def send(self, path: str, **fields: str) -> httpx.Response:
        """Send a form as a page of the console would."""
        return self.http.post(path, data={"token": self.token(), **fields})

    def call(self, address: str, call: str, **fields: str) -> str:
        """Make a call, and return what the page says then."""
        answer = self.send(f"/executions/{quote(address)}/call", call=call, **fields)
        assert answer.status_code == 303, answer.text
        return said(self.read(answer.headers["location"]))


def said(page: str) -> str:
    """The text of the notice on a page."""
    (found, *_) = re.findall(r'<p class="notice[^>]*>(.*?)</p>', page, re.DOTALL)
    return text(str(found))


def text(markup: str) -> str:
    """What somebody reads of markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())
