"""What strangers put into requests and addresses: nothing of it is believed, and the server does not fail for it."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.exceptions import HTTPException
from support.web.past import NOW

from cgos_server.net import control_socket
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import STATIC, create_app
from cgos_server.web.pages.embeds import WAITING, Pictures
from cgos_server.web.server import OneServer

SETTINGS: dict[str, Any] = {"venues": {"9x9": VenueSettings(port=6809)}}
HOSTS = (
    "[evil",
    "e vil",
    "evil.example/path?x#y",
    'evil"><script>',
    "user@evil.example",
    "",
    "evilé",
    "[::evil",
    "evil:99999999",
)
SINKS = re.compile(
    r"\.(innerHTML|outerHTML|srcdoc)\s*\+?=(?!=)|insertAdjacentHTML|document\.write|createContextualFragment|"
    r"setHTMLUnsafe|\beval\(|new Function|javascript:|set(?:Timeout|Interval)\(\s*[\"'`]|setAttribute\(\s*[\"'`]on"
)
"""Where a text of somebody's becomes a part of the page or a program."""


def visitor(
    history: History, address: str = "192.0.2.7", remember_s: float = 0.0, **settings: Any
) -> httpx2.AsyncClient:
    app = create_app(history, WebSettings(**SETTINGS | settings), lambda: NOW, remember_s=remember_s)
    transport = httpx2.ASGITransport(app, client=(address, 1), raise_app_exceptions=True)
    return httpx2.AsyncClient(transport=transport, base_url="http://go.example.org")


@pytest.mark.parametrize("host", HOSTS)
async def test_no_host_goes_into_a_page_that_is_none(history: History, host: str) -> None:
    async with visitor(history) as web:
        for path in ("/", "/game/1", "/venue/9x9", "/venue/9x9?sort=games", "/embed/game/1", "/venue/9x9/feed.atom",
                     "/connect", "/docs/api", "/account", "/sign-in", "/games?bot=amigo"):  # fmt: skip
            answer = await web.get(path, headers=[("Host", host.encode())])
            assert answer.status_code < 400, path
            assert "<script>" not in answer.text
            assert path == "/connect" or "evil" not in answer.text
            assert "evil" not in answer.headers.get("location", "")


async def test_who_is_limited_behind_a_proxy(history: History) -> None:
    limit = {"requests_per_minute": 2}
    async with visitor(history, **limit) as web:
        answers = [await web.get("/api/v1", headers={"X-Forwarded-For": f"203.0.113.{n}"}) for n in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429], "without a proxy its words are wind"
    async with visitor(history, "10.0.0.1", proxies=("10.0.0.0/8",), **limit) as web:
        for last in ("192.0.2.1", "192.0.2.2"):
            answers = [
                await web.get("/api/v1", headers=[("X-Forwarded-For", f"203.0.113.{n}"), ("X-Forwarded-For", last)])
                for n in range(3)
            ]
            assert [answer.status_code for answer in answers] == [200, 200, 429]


async def test_a_proxy_says_how_a_visitor_came(history: History) -> None:
    secured = {"X-Forwarded-Proto": "https"}
    async with visitor(history, "10.0.0.1", proxies=("10.0.0.0/8",)) as web:
        assert 'content="https://go.example.org/game/1"' in (await web.get("/game/1", headers=secured)).text
        assert "; Secure" in (await web.get("/sign-in", headers=secured)).headers["set-cookie"]
        assert "; Secure" not in (await web.get("/sign-in")).headers["set-cookie"]
    async with visitor(history) as web:
        assert 'content="http://go.example.org/game/1"' in (await web.get("/game/1", headers=secured)).text


async def test_addresses_hold_no_nul(history: History) -> None:
    async with visitor(history) as web:
        for path in ("/bot/a%00b", "/venue/%00", "/games?bot=%00", "/api/v1/bots/a%00b", "/api/v1/games?bot=%00"):
            answer = await web.get(path)
            assert answer.status_code == 400, path
            assert ("problem" in answer.headers["content-type"]) is path.startswith("/api/")


async def test_no_number_in_an_address_is_too_long_to_be_refused(history: History) -> None:
    """Python reads no number of more than 4,300 digits."""
    async with visitor(history) as web:
        for path in ("/game/{}", "/game/{}.sgf", "/round/{}", "/embed/game/{}", "/og/game/{}.png", "/api/v1/games/{}"):
            for digits in (30, 1_000, 5_000):
                answer = await web.get(path.format("9" * digits))
                of_api = path.startswith("/api/")
                assert answer.status_code == (400 if of_api or digits == 5_000 else 404), (path, digits)
                assert ("problem" in answer.headers["content-type"]) is of_api


async def test_where_the_server_keeps_its_data_is_told_to_nobody(history: History, tmp_path: Path) -> None:
    """Commands name the directory on which no server runs; visitors learn that it is away, and no more."""
    app = create_app(
        history, WebSettings(**SETTINGS), lambda: NOW, server=OneServer(partial(control_socket.call, tmp_path))
    )
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://go.example.org") as web:
        answer = await web.post("/api/v1/sign-in", json={"name": "alice", "password": "secret-of-alice"})
    assert (answer.status_code, answer.json()["code"]) == (503, "no-server")
    assert str(tmp_path) not in answer.text


@pytest.mark.parametrize("path", ["/static/../application.py", "/static/..%2fapplication.py", "/static/%2e%2e/x",
                                  "/static//etc/passwd", "/static/....//x", "/static/", "/static"])  # fmt: skip
async def test_nothing_but_static_files_is_among_them(history: History, path: str) -> None:
    async with visitor(history) as web:
        answer = await web.get(path, follow_redirects=False)
        assert answer.status_code in (307, 404)
        assert "location" not in answer.headers or answer.headers["location"].startswith("http://go.example.org/")


def test_scripts_make_no_markup_of_texts() -> None:
    scripts = sorted(STATIC.glob("*.js"))
    assert scripts
    sinks = {(path.name, match.group()) for path in scripts for match in SINKS.finditer(path.read_text("utf-8"))}
    assert sinks == set()


async def test_pictures_wait_in_a_short_line() -> None:
    pictures, gate = Pictures(), asyncio.Event()
    await pictures.get(("known",), lambda: b"known")

    async def first() -> bytes:
        loop = asyncio.get_running_loop()
        return await pictures.get(
            (0,), lambda: asyncio.run_coroutine_threadsafe(gate.wait(), loop).result() and b"drawn"
        )

    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(first())]
        waiting += [group.create_task(pictures.get((number,), lambda: b"drawn")) for number in range(1, WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(HTTPException) as raised:
            await pictures.get(("one more",), lambda: b"")
        gate.set()
    assert raised.value.status_code == 503
    assert [task.result() for task in waiting] == [b"drawn"] * WAITING
    assert await pictures.get(("one more",), lambda: b"now") == b"now"
