"""Sockets that a server listens on, where something else holds the port."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator

import pytest

from cgos_protocol.errors import Refused
from cgos_server.net.listening import RETRY_S, bind, until_free


@pytest.fixture
def holder() -> Iterator[socket.socket]:
    with bind("127.0.0.1", 0, "another program") as sock:
        yield sock


def again(port: int) -> socket.socket:
    return bind("127.0.0.1", port, "the pages")


def test_a_port_that_becomes_free_is_taken(holder: socket.socket) -> None:
    port = holder.getsockname()[1]
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            holder.close()

    with asyncio.run(until_free(lambda: again(port), 5.0, pause)) as sock:
        assert sock.getsockname()[1] == port
    assert pauses == [RETRY_S] * 3


def test_a_port_that_stays_busy_is_refused_in_a_sentence(holder: socket.socket) -> None:
    port = holder.getsockname()[1]
    waited = 0.0

    async def pause(seconds: float) -> None:
        nonlocal waited
        waited += seconds

    with pytest.raises(Refused, match=f"Port {port} for the pages is in use by another program"):
        asyncio.run(until_free(lambda: again(port), 5.0, pause))
    assert waited == pytest.approx(5.0)


def test_what_waiting_cannot_mend_is_refused_at_once() -> None:
    async def pause(seconds: float) -> None:
        raise AssertionError("no reason to wait")

    with pytest.raises(Refused, match="Cannot listen on"):
        asyncio.run(until_free(lambda: bind("192.0.2.1", 0, "the pages"), 5.0, pause))


def test_a_port_that_needs_a_right_says_what_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(Refused, match=r"127\.0\.0\.1:443 for the pages: .*CAP_NET_BIND_SERVICE"):
        bind("127.0.0.1", 443, "the pages")
