"""What keeps others out of the console: hosts, tokens, headers, and whose pages hear news."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI

from orchestrator import main
from orchestrator.web.live import MOST_WATCHERS
from tests.calls.house import House, eventually
from tests.web.visitor import Visitor


@pytest.fixture
def visitor(home: House) -> Iterator[Visitor]:
    found = Visitor(home.url)
    yield found
    found.http.close()


def test_a_form_without_the_visitors_token_changes_nothing(home: House, visitor: Visitor) -> None:
    home.start("mine")
    home.until("order:mine", "Pending")
    token = visitor.token()
    fields = {"call": "cancel", "who": "Eve", "reason": "x"}
    path = f"{home.url}/executions/order:mine"
    stranger = Visitor(home.url)
    foreign = stranger.token()
    stranger.http.close()
    with httpx.Client() as bare:
        forged = [
            bare.post(f"{path}/call", data=fields),
            bare.post(f"{path}/call", data={**fields, "token": token}),
            visitor.http.post(f"{path}/call", data=fields),
            visitor.http.post(f"{path}/call", data={**fields, "token": ""}),
            visitor.http.post(f"{path}/call", data={**fields, "token": foreign}),
            visitor.http.post(f"{path}/call", data={**fields, "token": token + "0"}),
            visitor.http.post(f"{path}/stop", data=fields),
            visitor.http.post("/start", data={"machine": "order", "name": "forged"}),
            visitor.http.post(
                f"{path}/call",
                data={**fields, "token": token},
                headers={"Sec-Fetch-Site": "cross-site"},
            ),
        ]
    assert {answer.status_code for answer in forged} == {403}
    plain = visitor.http.post(
        f"{path}/call", content='{"call": "cancel"}', headers={"Content-Type": "text/plain"}
    )
    assert plain.status_code == 415
    assert home.client.get("order:mine")["state"] == "Pending"
    assert home.client.calls("order:mine") == []
    assert "No operator has touched it" in visitor.read("/executions/order:mine")
    visitor.read("/executions/order:forged", 404)


def test_a_foreign_host_sees_and_changes_nothing(visitor: Visitor) -> None:
    token = visitor.token()
    foreign = {"Host": "evil.example"}
    answers = [
        visitor.http.get("/", headers=foreign),
        visitor.http.get("/static/console.js", headers=foreign),
        visitor.http.post(
            "/start", data={"token": token, "machine": "order", "name": "far"}, headers=foreign
        ),
        visitor.http.post("/v1/machines/order/executions", json={"name": "far"}, headers=foreign),
    ]
    assert {answer.status_code for answer in answers} == {421}
    assert _status(visitor, "/live?execution=1", foreign) == 421
    assert "order" not in answers[0].text
    visitor.read("/executions/order:far", 404)


def test_names_that_are_set_are_answered_and_elsewhere_than_on_loopback_any(
    home: House, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = home.parts.parts
    named = replace(parts, settings=parts.settings.model_copy(update={"hosts": "a.example, b"}))

    def status(app: FastAPI, host: str) -> int:
        async def asked() -> int:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
                return (await client.get("/static/icon.svg", headers={"Host": host})).status_code

        return asyncio.run(asked())

    main.application(parts)
    assert capsys.readouterr().err == ""
    main.application(parts, "0.0.0.0")  # noqa: S104
    assert "any name: set ORCHESTRATOR_HOSTS" in capsys.readouterr().err
    main.application(named, "0.0.0.0")  # noqa: S104
    warned = capsys.readouterr().err
    assert "can be reached from elsewhere" in warned
    assert "a.example" in warned
    for app in (main.application(named), main.application(named, "0.0.0.0")):  # noqa: S104
        assert status(app, "a.example:80") == status(app, "b") == status(app, "localhost") == 200
        assert status(app, "c.example") == 421
    assert status(main.application(parts, "::1"), "c.example") == 421
    assert status(main.application(parts, "0.0.0.0"), "c.example") == 200  # noqa: S104


def test_pages_forbid_foreign_code_and_have_none_of_their_own(
    home: House, visitor: Visitor
) -> None:
    home.start("plain")
    files = ("/static/console.js", "/static/machine.css", "/static/nothing.js")
    others = ("/nowhere.png", "/v1/nowhere", "/live/nowhere")
    for path in ("/", "/start?machine=order", "/executions/order:plain", "/nowhere", *files):
        _forbids_foreign_code(visitor.http.get(path))
    for path in others:
        _forbids_foreign_code(visitor.http.get(path, headers={"Accept": "image/*"}))
    _forbids_foreign_code(visitor.http.put("/check"))
    _forbids_foreign_code(visitor.http.get("/", headers={"Host": "evil.example"}))
    for path in ("/", "/start?machine=order", "/executions/order:plain", "/nowhere"):
        answer = visitor.http.get(path)
        assert not re.findall(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", answer.text)
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', answer.text)
    assert "HttpOnly" in httpx.get(home.url).headers["set-cookie"]
    assert "SameSite=strict" in httpx.get(home.url).headers["set-cookie"]


def _forbids_foreign_code(answer: httpx.Response) -> None:
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] in ("no-store", "no-cache")


def test_what_comes_from_outside_is_shown_as_text(home: House, visitor: Visitor) -> None:
    tag = "<img src=x onerror=alert(1)>"
    address = home.start("texts", order_id=tag)
    home.until(address, "Pending")
    home.parts.service.operations.note(address, tag, tag, tag)
    for path in (f"/executions/{address}", "/start?machine=order", f"/?name={tag}"):
        page = visitor.read(path)
        assert "<img" not in page
        assert "&lt;img src=x onerror=alert(1)&gt;" in page


# -- news ----------------------------------------------------------------------------------------


def test_a_page_of_another_site_hears_no_news(home: House, visitor: Visitor) -> None:
    foreign = (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null"},
    )
    for path in ("/live?execution=1", "/live?machine=order"):
        assert {_status(visitor, path, one) for one in foreign} == {403}
    own: tuple[dict[str, str], ...] = (
        {},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": home.url},
    )
    assert {_status(visitor, "/live?execution=1", one) for one in own} == {200}


def _status(visitor: Visitor, path: str, headers: dict[str, str]) -> int:
    """Ask for news and hang up: who is let in would hear them for ever."""
    with visitor.http.stream("GET", path, headers=headers) as answer:
        return answer.status_code


def test_a_page_of_another_site_may_link_here_and_embed_nothing(visitor: Visitor) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site"}
    for path in ("/", "/health?examine=1", "/machines"):
        for mode in ("no-cors", "cors", "same-origin"):
            answer = visitor.http.get(path, headers={**foreign, "Sec-Fetch-Mode": mode})
            assert answer.status_code == 403
    link = {**foreign, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert visitor.http.get("/", headers=link).is_success
    frame = {**link, "Sec-Fetch-Dest": "iframe"}
    assert visitor.http.get("/", headers=frame).status_code == 403
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert visitor.http.get("/", headers=own).is_success


def test_so_many_pages_hear_news_and_those_that_go_leave_their_places(home: House) -> None:
    with ExitStack() as stack:
        *_, last = (_listens(home, stack) for _ in range(MOST_WATCHERS + 1))
        assert last == 503
        refusal = httpx.get(f"{home.url}/live?execution=1")
        assert refusal.status_code == 503
        assert f"{MOST_WATCHERS} pages hear news from this process already" in refusal.text
        assert refusal.headers["retry-after"] == "5"
    with ExitStack() as stack:
        eventually(lambda: _listens(home, stack) == 200)


def _listens(home: House, stack: ExitStack) -> int:
    """Let one more page listen as long as a stack stands; return the status of the answer."""
    listening = stack.enter_context(closing(_listening(home)))
    return int(listening.recv(12).split()[1])


def _listening(home: House) -> socket.socket:
    address = urlsplit(home.url)
    found = socket.create_connection((address.hostname, address.port), timeout=10)
    found.sendall(f"GET /live?execution=1 HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
    return found
