"""The WebSocket port on real sockets, with the library's own client at the other end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from support.net.websocket import SETUP, WsDesk
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from cgos_protocol.games.base import Color
from cgos_server.net.listening import bind
from cgos_server.net.loop import LoopTime, PollClock
from cgos_server.net.websocket.connection import listen_ws

V2 = [Subprotocol("cgos.v2")]


class RealDesk(WsDesk):
    """The same port on the running loop."""

    async def open(self, **limits: int) -> str:
        object.__setattr__(self.sockets, "time", LoopTime(asyncio.get_running_loop(), PollClock()))
        object.__setattr__(self.port.heart, "_time", self.sockets.time)
        sock = bind("127.0.0.1", 0, "a test")
        self.listener = await listen_ws(self.port, sock, 16)
        return f"ws://127.0.0.1:{sock.getsockname()[1]}"

    async def close(self) -> None:
        self.listener.close()
        for connection in list(self.sockets.open):
            connection.cut()
        await asyncio.sleep(0)


async def until(condition: Callable[[], Any]) -> None:
    """The other end of a socket takes its time."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.fixture
async def desk() -> AsyncIterator[RealDesk]:
    desk = RealDesk(outbox=65_536)
    yield desk
    await desk.close()


async def test_a_bot_of_the_librarys_own_client(desk: RealDesk) -> None:
    url = await desk.open()

    async def heard() -> dict[str, Any]:
        async with asyncio.timeout(10):
            message: dict[str, Any] = json.loads(await client.recv())
            return message

    async with connect(url, subprotocols=V2) as client:
        assert (await heard())["type"] == "welcome"
        await client.send(json.dumps({"type": "sign_in", "bot": "anna", "secret": "secret", "venues": ["9x9"]}))
        await until(lambda: desk.server.sessions)
        desk.server.admit()
        session = desk.server.sessions["9x9"]
        session.table(3).setup(SETUP, Color.BLACK)
        session.table(3).genmove(Color.BLACK, 1000, 1000)
        assert [(await heard())["type"] for _ in range(3)] == ["signed_in", "game", "turn"]
        await client.send([b'{"type":"move","game":3,'.decode(), '"ply":1,"move":"D4"}'])
        assert await asyncio.wait_for(session.answers("Are you there?"), 10)
        assert ("move", 3, 1, "D4", None) in desk.server.calls
        for connection in list(desk.sockets.open):
            connection.shut()
        with pytest.raises(ConnectionClosed) as closed:
            [await heard() for _ in range(10)]
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
    await until(lambda: desk.server.calls[-1] == ("left", True))


@pytest.mark.parametrize(("offer", "path", "status"), [(None, "/", 400), (V2, "/7x7", 404), (["chat"], "/", 400)])
async def test_refused_handshakes_arrive(desk: RealDesk, offer: Any, path: str, status: int) -> None:
    url = await desk.open()
    with pytest.raises(InvalidStatus) as refused:
        async with asyncio.timeout(10), connect(url + path, subprotocols=offer):
            pass
    assert refused.value.response.status_code == status
    assert refused.value.response.body


async def test_a_watcher_that_never_reads_is_passed_over_and_costs_a_bounded_outbox(desk: RealDesk) -> None:
    url = await desk.open()
    async with connect(url, subprotocols=V2, max_queue=1, close_timeout=0.1) as client:
        await client.send('{"type":"watch_venue","venue":"9x9"}')
        await until(lambda: desk.halls["9x9"].spectators)
        (spectator,) = desk.halls["9x9"].spectators
        sent = 0
        while spectator.has_room and sent < 100_000:
            spectator.listed([], sent)
            sent += 1
            if sent % 100 == 0:
                await asyncio.sleep(0)
        assert 100 < sent < 100_000
        (connection,) = desk.sockets.open
        assert connection.alive  # type: ignore[attr-defined]
        connection.cut()
