"""Connections that cannot be made: what is said of proxies and of pages, and when the client gives up."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys

import pytest
from support.clients.v2_model import Model
from support.clients.v2_server import V2Server
from websockets.asyncio.server import serve

from cgos_client import api, connect
from cgos_client.addresses import server_address
from cgos_client.errors import CannotConnect
from cgos_client.library.codec import Codec, Encoding
from cgos_client.library.connection_keeper import ConnectionKeeper
from cgos_client.library.link import Endpoint, open_link
from cgos_client.playing.lines_runner import Runner
from cgos_client.playing.lines_session import Agenda, Identity
from cgos_client.playing.text_frames import connect_frames
from cgos_client.retry import REFUSALS, Retries

SECONDS = 30


class Impatient(Retries):
    """Waits for nothing, and counts how often it was asked to."""

    def __init__(self) -> None:
        super().__init__(random.Random(1))
        self.passing = 0

    def pause(self, at_least: float = 0.0) -> float:
        self.passing += 1
        return 0.0 * at_least

    def pause_after_refusal(self, at_least: float = 0.0) -> float | None:
        return None if super().pause_after_refusal(at_least) is None else 0.0


class Nobody:
    """A peer that is never signed in."""

    connected = False
    playing = ()

    def hear(self, message):
        raise AssertionError(message)

    def lost(self) -> None:
        pass


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def endpoint(url: str) -> Endpoint:
    return Endpoint(server_address(url), "cgos.v2")


def pages(status: int, **headers: str):
    """A server that answers every request with that status, as a server of pages does."""

    def respond(connection, _request):
        response = connection.respond(status, "a page\n")
        response.headers.update(headers)
        return response

    return serve(lambda connection: connection.close(), "127.0.0.1", 0, process_request=respond)


def url_of(listening) -> str:
    return f"ws://127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"


@pytest.mark.parametrize(
    ("variable", "proxy", "says"),
    [
        (
            "socks_proxy",
            "socks5://127.0.0.1:1",
            "cannot be used: connecting through a SOCKS proxy requires python-socks",
        ),
        ("WSS_PROXY", "socks5h://ann:secret@127.0.0.1:1", "cannot be used"),
        ("https_proxy", "http://127.0.0.1:1", "before wss://cgos.example.org:443 cannot be reached"),
        ("HTTPS_PROXY", "https://ann:secret@127.0.0.1:1", "before wss://cgos.example.org:443 cannot be reached"),
        ("https_proxy", "127.0.0.1:1", "is no address of a proxy: scheme"),
        ("https_proxy", "http://ann@127.0.0.1:1", "is no address of a proxy: username provided without password"),
    ],
)
async def test_a_proxy_that_does_not_work_is_named_with_its_variable(monkeypatch, variable, proxy, says):
    monkeypatch.setenv(variable, proxy)
    async with asyncio.timeout(SECONDS):
        with pytest.raises(CannotConnect) as caught:
            await open_link(endpoint("wss://cgos.example.org"))
    shown = proxy.replace("ann:secret@", "").replace("ann@", "")
    assert caught.value.text.startswith(f"the proxy {shown} (from {variable}) ")
    assert says in caught.value.text
    assert caught.value.text.endswith(f"; to go without it, unset {variable}, or add cgos.example.org to no_proxy")


async def test_a_proxy_that_refuses_is_named(monkeypatch):
    async with asyncio.timeout(SECONDS), pages(403) as listening:
        monkeypatch.setenv("http_proxy", url_of(listening).replace("ws:", "http:"))
        with pytest.raises(CannotConnect, match=r"^the proxy http://127.* does not lead to ws://cgos.example.org:80 "):
            await open_link(endpoint("ws://cgos.example.org:80"))


async def test_a_server_in_no_proxy_is_reached_without_one(monkeypatch):
    monkeypatch.setenv("ws_proxy", "socks5://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    async with (
        asyncio.timeout(SECONDS),
        V2Server(Model()) as server,
        connect(server.url, bot="Bot", secret="sesame", venues=["5x5"]) as session,
    ):
        assert session.name == "Bot"


async def test_a_proxy_that_cannot_be_used_ends_the_attempts_at_once(monkeypatch):
    monkeypatch.setenv("ws_proxy", "socks5://127.0.0.1:1")
    retries = Impatient()
    keeper = ConnectionKeeper(endpoint("ws://a.example"), Codec(Encoding.JSON), retries, who="Bot", reconnect=True)
    async with asyncio.timeout(SECONDS):
        error = await keeper.run(Nobody())
    assert (error.code, retries.passing, retries.refusals) == ("proxy", 0, 0)


@pytest.mark.parametrize(
    "words", ["--server wss://a.example --venue 9x9", "--server wss://a.example/9x9 --protocol lines"]
)
def test_the_command_says_it_in_one_line_and_exits_with_1(words):
    command = [sys.executable, "-m", "cgos_client", "bot", "random", "--name", "Bot", *words.split()]
    environment = {**os.environ, "socks_proxy": "socks5://127.0.0.1:1", "CGOS_PASSWORD": "sesame"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ran.returncode == 1, ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stderr.count("the proxy socks5://127.0.0.1:1 (from socks_proxy)") == 1


def test_the_api_names_the_proxy(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://ann:secret@127.0.0.1:1")
    with pytest.raises(
        CannotConnect, match=r"^the proxy http://127.0.0.1:1 \(from http_proxy\) before .* unset http_proxy"
    ):
        list(api.Server("http://cgos.example.org").venues())
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(CannotConnect, match=r"^http://127.0.0.1:1/api/v1 cannot be reached"):
        list(api.Server("http://127.0.0.1:1").venues())


HINT = r"Is this the address of its pages\? Its page /connect has the one for bots"


@pytest.mark.parametrize(
    ("status", "headers", "says"),
    [
        (200, {}, f"HTTP status 200 instead of a WebSocket. {HINT}"),
        (404, {}, f"HTTP status 404 instead of a WebSocket. {HINT}"),
        (308, {"Location": "https://cgos.example.org/"}, f"does not speak WebSocket .*https.* {HINT}"),
    ],
)
async def test_at_the_pages_the_client_says_so_and_gives_up_after_some_tries(caplog, status, headers, says):
    async with asyncio.timeout(SECONDS), pages(status, **headers) as listening:
        retries = Impatient()
        keeper = ConnectionKeeper(endpoint(url_of(listening)), Codec(Encoding.JSON), retries, who="Bot", reconnect=True)
        with pytest.raises(CannotConnect, match=says):
            raise await keeper.run(Nobody())
    assert (retries.passing, retries.refusals) == (0, REFUSALS)


async def test_lines_in_frames_give_up_at_the_pages_as_well(bench, caplog):
    async def sleep(_seconds):
        pass

    async with asyncio.timeout(SECONDS), pages(200) as listening:
        runner = Runner(
            connect=lambda: connect_frames(endpoint(f"{url_of(listening)}/9x9")),
            engine=bench.memory(),
            identity=Identity("Bot", "open-sesame", "cgos-client 0"),
            agenda=Agenda(),
            tell=bench.events.append,
            sleep=sleep,
        )
        assert await runner.run() == 1
    assert caplog.text.count("HTTP status 200 instead of a WebSocket. Is this the address of its pages?") == REFUSALS


async def test_a_server_that_is_down_for_a_while_is_waited_for():
    """A proxy before it says 502 or 503 meanwhile."""
    async with asyncio.timeout(SECONDS), pages(502) as listening:
        with pytest.raises(CannotConnect, match=r"HTTP status 502 instead of a WebSocket$") as caught:
            await open_link(endpoint(url_of(listening)))
    assert not caught.value.is_misdirected
