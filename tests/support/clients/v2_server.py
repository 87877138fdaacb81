"""The model of ``cgos.v2`` behind a real WebSocket port on the loopback."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from cgos_protocol.v2 import messages as ws
from support.clients.v2_model import Breach, Link, Model


class V2Server:
    """Serves `model`. What a client does wrong comes out at the end of the block.

    :param cut_after: messages heard on a connection after which it is cut off, asked anew for each; None: never
    """

    def __init__(
        self, model: Model, tls: ssl.SSLContext | None = None, cut_after: Callable[[], int | None] = lambda: None
    ) -> None:
        self.model = model
        self.connections: list[ServerConnection] = []
        self.opened = 0
        self.heard: list[ws.ClientMessage] = []
        self.subprotocols: list[str | None] = []
        self.failed: BaseException | None = None
        self._tls = tls
        self._cut_after = cut_after

    async def __aenter__(self) -> V2Server:
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            0,
            ssl=self._tls,
            subprotocols=["cgos.v2", "cgos.v2.msgpack"],
            compression=None,
            close_timeout=1,
        )
        self.port: int = next(iter(self._server.sockets)).getsockname()[1]
        self.url = f"{'ws' if self._tls is None else 'wss'}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()
        if self.failed is not None:
            raise self.failed

    def cut(self) -> None:
        """Every connection breaks, without a word."""
        for connection in self.connections:
            connection.transport.abort()

    async def _serve(self, connection: ServerConnection) -> None:
        self.opened += 1
        self.connections.append(connection)
        self.subprotocols.append(connection.subprotocol)
        binary = connection.subprotocol == "cgos.v2.msgpack"
        coding = msgspec.msgpack if binary else msgspec.json
        decoder = coding.Decoder(ws.ClientMessage, strict=True)
        outbox: asyncio.Queue[ws.ServerMessage] = asyncio.Queue()
        link = Link(self.model, outbox.put_nowait)
        limit, count = self._cut_after(), 0

        async def write() -> None:
            with suppress(ConnectionClosed):
                while True:
                    payload = coding.encode(await outbox.get())
                    await connection.send(payload if binary else payload.decode())
                    if link.closed and outbox.empty():
                        await connection.close()

        try:
            async with asyncio.TaskGroup() as tasks:
                writing = tasks.create_task(write())
                link.open()
                with suppress(ConnectionClosed):
                    async for frame in connection:
                        message = decoder.decode(frame)
                        self.heard.append(message)
                        link.hear(as_json(message) if binary else message)
                        count += 1
                        if count == limit:
                            connection.transport.abort()
                writing.cancel()
        except* (Breach, msgspec.DecodeError, AssertionError) as group:
            self.failed = self.failed or group.exceptions[0]
            connection.transport.abort()
        finally:
            link.lost()
            self.connections.remove(connection)


def as_json(message: ws.ClientMessage) -> ws.ClientMessage:
    """The model reads analyses as JSON."""
    if isinstance(message, ws.Move) and isinstance(message.analysis, msgspec.Raw):
        raw = msgspec.json.encode(msgspec.msgpack.decode(message.analysis))
        return msgspec.structs.replace(message, analysis=msgspec.Raw(raw))
    return message
