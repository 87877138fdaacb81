"""WebSocket for load clients: a request, frames masked with zeros, whole messages out. As little work as possible."""

from __future__ import annotations

import asyncio
import base64
import os

MASK = b"\0\0\0\0"


def request(port: int, subprotocol: str) -> bytes:
    """An opening handshake."""
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        + (f"Sec-WebSocket-Protocol: {subprotocol}\r\n" if subprotocol else "")
        + "\r\n"
    ).encode()


def text(payload: bytes) -> bytes:
    """One text frame of a client."""
    length = len(payload)
    if length < 126:
        return bytes((0x81, 0x80 | length)) + MASK + payload
    return bytes((0x81, 0x80 | 126)) + length.to_bytes(2, "big") + MASK + payload


class Frames(asyncio.Protocol):
    """A client's connection; subclasses say what is done with each message."""

    def __init__(self, port: int, subprotocol: str) -> None:
        self.port = port
        self.subprotocol = subprotocol
        self.transport: asyncio.Transport | None = None
        self.buffer = b""
        self.open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(request(self.port, self.subprotocol))

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None

    def say(self, payload: bytes) -> None:
        if self.transport is not None:
            self.transport.write(text(payload))

    def message(self, payload: bytes) -> None:
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:
        data = self.buffer + data if self.buffer else data
        if not self.open:
            end = data.find(b"\r\n\r\n") + 4
            if end < 4:
                self.buffer = data
                return
            if not data.startswith(b"HTTP/1.1 101"):
                raise ConnectionError(data[:300].decode(errors="replace"))
            self.open = True
            data = data[end:]
        at = 0
        while len(data) - at >= 2:
            opcode, length, head = data[at] & 15, data[at + 1] & 127, 2
            if length == 126:
                length, head = int.from_bytes(data[at + 2 : at + 4], "big"), 4
            elif length == 127:
                length, head = int.from_bytes(data[at + 2 : at + 10], "big"), 10
            if len(data) - at < head + length:
                break
            payload = data[at + head : at + head + length]
            at += head + length
            if opcode == 1:
                self.message(payload)
            elif opcode == 9 and self.transport is not None:
                self.transport.write(bytes((0x8A, 0x80 | length)) + MASK + payload)
        self.buffer = data[at:]
