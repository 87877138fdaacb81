"""The whole server in this process: what it tells of itself, how it ends, and how it refuses to begin."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from cgos_protocol.errors import Refused
from cgos_server.app import App
from cgos_server.config.schema import (
    Config,
    HealthConfig,
    ListenConfig,
    PairingConfig,
    ServerConfig,
    Span,
    TimeConfig,
    VenueConfig,
    WebConfig,
    WebSocketConfig,
)
from cgos_server.config.values import PublicAddress
from cgos_server.live.pairing.game_starter import GameStarter
from cgos_server.net.loop import PollClock, new_loop
from cgos_server.observability.logs import LogCounts


def config(data: Path, drain_limit_s: float = 0.0) -> Config:
    venue = VenueConfig(
        name="9x9", port=0, size=9, time=TimeConfig(main=Span(60_000_000)),
        pairing=PairingConfig(interval_s=0.01, settle_s=0.0),
    )  # fmt: skip
    return Config(
        server=ServerConfig(data=data, drain_limit_s=drain_limit_s),
        listen=ListenConfig(bots_host="127.0.0.1"),
        web=WebConfig(mode="off"),
        health=HealthConfig(port=0),
        websocket=WebSocketConfig(host="127.0.0.1", port=0),
        venue=(venue,),
    )


def run(settings: Config, during: Callable[[App], Awaitable[None]]) -> int:
    """Run a server; once it has started do `during`, then a signal. The exit code."""
    works: list[asyncio.Task[None]] = []

    async def work(app: App) -> None:
        try:
            async with asyncio.timeout(10):
                await during(app)
        finally:
            app.stop.ask()

    clock = PollClock()
    app = App(settings, clock, LogCounts(), "test", lambda app: works.append(asyncio.create_task(work(app))))

    async def whole() -> int:
        code = await app.run()
        await works[0]
        return code

    with asyncio.Runner(loop_factory=lambda: new_loop(clock)) as runner:
        return runner.run(whole())


async def knock(app: App, name: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that has sent its password and waits for the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", app.venues["9x9"].port)
    for word in ("e1 test", name, "secret"):
        await reader.readline()
        writer.write(f"{word}\n".encode())
    return reader, writer


def rows(data: Path, sql: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(data / "cgos.sqlite")) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("public", ["", "cgos.example.org:6809"])
def test_the_welcome_names_the_port_by_which_bots_reach_a_venue(tmp_path: Path, public: str) -> None:
    settings = config(tmp_path)
    venue = msgspec.structs.replace(settings.venue[0], public_address=PublicAddress(public))
    ports: list[tuple[int, int]] = []

    async def during(app: App) -> None:
        async with connect(app.addresses.websocket, subprotocols=[Subprotocol("cgos.v2")]) as client:
            welcome = json.loads(await client.recv())
        ports.append((welcome["venues"][0]["cgos_port"], app.venues["9x9"].port))

    assert run(msgspec.structs.replace(settings, venue=(venue,)), during) == 0
    ((announced, bound),) = ports
    assert announced == (6809 if public else bound)


def test_the_end_does_not_wait_for_a_queue_of_passwords(tmp_path: Path) -> None:
    peers: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def during(app: App) -> None:
        peers.extend([await knock(app, f"bot{number}") for number in range(60)])
        await peers[0][0].readline()  # it is in: told that it is alone, or seated if the second one was quicker

    with capture_logs() as logs:
        assert run(config(tmp_path), during) == 0
    assert 1 <= len(rows(tmp_path, "select 1 from bots")) < 60
    assert [event for event in logs if event["log_level"] in ("warning", "error")] == []
    assert rows(tmp_path, "select 1 from connections where closed_at is null") == []


def test_a_running_game_is_left_as_it_is_and_everybody_is_let_go(tmp_path: Path) -> None:
    peers: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def during(app: App) -> None:
        peers.extend([await knock(app, name) for name in ("anna", "bert")])
        for reader, _ in peers:
            await reader.readuntil(b"setup ")

    with capture_logs() as logs:
        assert run(config(tmp_path), during) == 0
    assert rows(tmp_path, "select result from games") == [(None,)]
    assert [event for event in logs if event["log_level"] in ("warning", "error")] == []
    closed = rows(tmp_path, "select closed_at is null, reason from connections")
    assert closed == 2 * [(0, "the server was stopped")]


def test_connections_of_a_killed_server_end_at_the_next_start(tmp_path: Path) -> None:
    async def sign_in(app: App) -> None:
        reader, writer = await knock(app, "anna")
        await reader.readuntil(b"info ")
        peers.append(writer)

    async def nothing(_: App) -> None:
        pass

    peers: list[asyncio.StreamWriter] = []
    assert run(config(tmp_path), sign_in) == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "cgos.sqlite")) as connection, connection:
        connection.execute("update connections set closed_at = null, reason = ''")
    assert run(config(tmp_path), nothing) == 0
    assert rows(tmp_path, "select closed_at >= opened_at, reason from connections") == [(1, "the server was killed")]


def test_a_game_that_is_just_being_committed_is_played_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resign(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            if line.startswith(b"genmove"):
                writer.write(b"resign\n")
        writer.close()
        await writer.wait_closed()

    async def during(app: App) -> None:
        submit, signaled = GameStarter.submit, app.stop.ask

        def signaled_meanwhile(*args: Any) -> None:
            submit(*args)
            signaled()
            submitted.set()

        submitted = asyncio.Event()
        monkeypatch.setattr(GameStarter, "submit", signaled_meanwhile)
        monkeypatch.setattr(app.stop, "ask", lambda: None)
        playing.extend([asyncio.ensure_future(resign(*await knock(app, name))) for name in ("anna", "bert")])
        await submitted.wait()

    playing: list[asyncio.Future[None]] = []
    with capture_logs() as logs:
        assert run(config(tmp_path, drain_limit_s=5.0), during) == 0
    assert rows(tmp_path, "select reason from games") == [("resignation",)]
    assert [event["games"] for event in logs if event["event"] == "draining"] == [1]


def test_a_data_directory_that_cannot_be_used_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def never(_: App) -> None:
        raise AssertionError("it started")

    with pytest.raises(Refused, match="cannot be used"):
        run(config(tmp_path / "file" / "data"), never)


def test_a_signal_while_old_results_are_folded_ends_the_start_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def until_told(venue: object, shared: object) -> None:
        folded = shared.folded  # type: ignore[attr-defined]
        folded("9x9", 20_000)  # nobody has said anything yet
        app.stop.ask()
        folded("9x9", 40_000)
        pytest.fail("the start went on")

    monkeypatch.setattr("cgos_server.app.open_venue", until_told)
    clock = PollClock()
    app = App(config(tmp_path / "data"), clock, LogCounts(), "test", lambda _: pytest.fail("it started"))
    with asyncio.Runner(loop_factory=lambda: new_loop(clock)) as runner:
        assert runner.run(app.run()) == 0
    monkeypatch.undo()
    assert run(config(tmp_path / "data"), lambda _: asyncio.sleep(0)) == 0, "the database is free"
