"""CGOS lines in text frames: another transport under the same sessions."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.server import serve

from cgos_client.addresses import server_address
from cgos_client.errors import CannotConnect
from cgos_client.library.link import Endpoint
from cgos_client.playing.lines_runner import Runner
from cgos_client.playing.lines_session import Agenda, Identity
from cgos_client.playing.text_frames import SUBPROTOCOL, connect_frames

SECONDS = 30


def endpoint(server) -> Endpoint:
    port = next(iter(server.sockets)).getsockname()[1]
    return Endpoint(server_address(f"ws://127.0.0.1:{port}/9x9"), SUBPROTOCOL)


async def test_a_whole_game(bench, caplog):
    caplog.set_level("DEBUG")
    paths = []

    async def server(connection):
        paths.append(connection.request.path)
        await connection.send("protocol genmove_analyze\n")
        assert (await connection.recv()).startswith("e1 ")
        await connection.send("username\n")
        assert await connection.recv() == "Bot"
        await connection.send("password")
        assert await connection.recv() == "open-sesame"
        await connection.send("info hello\nsetup 17 9 7.0 60000 Other(1700?) Bot(1800)\ngenmove b 60000\n")
        assert await connection.recv() == "D4"
        await connection.send("play w E5 60000\r\ngenmove b 59000\r\n")
        assert await connection.recv() == "F6"
        await connection.send("gameover 2026-11-21 B+Resign ")
        assert await connection.recv() == "quit"

    async with asyncio.timeout(SECONDS), serve(server, "127.0.0.1", 0, subprotocols=["cgos.v1"]) as listening:
        runner = Runner(
            connect=lambda: connect_frames(endpoint(listening)),
            engine=bench.memory("D4", "F6"),
            identity=Identity("Bot", "open-sesame", "cgos-client 0"),
            agenda=Agenda(games_left=1),
            tell=bench.events.append,
        )
        assert await runner.run() == 0
    assert paths == ["/9x9"]
    assert [result.result for result in bench.results] == ["B+Resign"]
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("cgos_client")]
    assert "client: (secret)" in ours
    assert not [line for line in ours if "open-sesame" in line]


async def test_what_can_go_wrong():
    async def server(connection):
        await connection.send("info last words\n\n")

    async with asyncio.timeout(SECONDS), serve(server, "127.0.0.1", 0, subprotocols=["cgos.v1"]) as listening:
        connection = await connect_frames(endpoint(listening))
        assert await connection.read(10) == "info last words"
        assert connection.lost is None
        assert await connection.read(10) is None
        assert "the server closed the connection (1000)" in connection.lost
        await connection.send("too late")
        await connection.close()
    with pytest.raises(CannotConnect):
        await connect_frames(Endpoint(server_address("ws://127.0.0.1:1/9x9"), SUBPROTOCOL))


async def test_silence_is_no_loss():
    async with (
        asyncio.timeout(SECONDS),
        serve(lambda c: c.wait_closed(), "127.0.0.1", 0, subprotocols=["cgos.v1"]) as listening,
    ):
        connection = await connect_frames(endpoint(listening))
        assert await connection.read(0.05) is None
        assert connection.lost is None
        await connection.close()
        assert connection.lost == "closed by this client"


async def test_binary_frames_are_no_lines():
    async with (
        asyncio.timeout(SECONDS),
        serve(lambda c: c.send(b"\x00"), "127.0.0.1", 0, subprotocols=["cgos.v1"]) as listening,
    ):
        connection = await connect_frames(endpoint(listening))
        assert await connection.read(10) is None
        assert "binary frame" in connection.lost
        await connection.close()
