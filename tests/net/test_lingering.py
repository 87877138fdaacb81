"""Whoever is accepted in the turn of the loop before a server ends is not dropped."""

from __future__ import annotations

import asyncio
import socket

import pytest
from support.net.turns import accepted_in_the_turn_before

from cgos_server.net.lingering import accept_no_more
from cgos_server.net.listening import accept, bind


class Greeting(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"hello\n")
        transport.close()


async def test_whoever_is_accepted_in_the_turn_before_the_end_gets_a_connection_and_nobody_after() -> None:
    sock = bind("127.0.0.1", 0, "bots")
    address = sock.getsockname()
    server = await accept(lambda _source=None: Greeting(), sock, 10, None, front=None)
    with await accepted_in_the_turn_before(lambda: accept_no_more(server), address) as peer:
        assert await asyncio.to_thread(peer.recv, 10) == b"hello\n"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, 5)
