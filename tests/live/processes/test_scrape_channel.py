"""Questions for the metrics of the web process: one at a time of each form, bounded in time, never out of step."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from cgos_protocol.errors import Unavailable
from cgos_server.live.processes.scrape_channel import LARGEST, ScrapeChannel
from cgos_server.observability.exposition import Form
from cgos_server.web.scrape_answers import answer_scrapes

PLAIN, OPEN = Form.PROMETHEUS, Form.OPENMETRICS


class Peer:
    """The other end, in a test's hand."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    async def questions(self, count: int) -> bytes:
        data = b""
        async with asyncio.timeout(20):
            while len(data) < count:
                data += await asyncio.get_running_loop().sock_recv(self._sock, count - len(data))
        return data

    def waiting(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            return self._sock.recv(100)
        return b""

    async def answer(self, body: bytes) -> None:
        await self.send(len(body).to_bytes(4, "big") + body)

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._sock, data)

    def leave(self) -> None:
        self._sock.close()


@contextlib.asynccontextmanager
async def connected(limit_s: float = 20.0) -> AsyncIterator[tuple[ScrapeChannel, Peer]]:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    channel = ScrapeChannel(limit_s)
    with ours, theirs:
        channel.opened(ours.fileno())
        yield channel, Peer(theirs)
        channel.closed()


async def test_whoever_asks_at_the_same_time_gets_the_same_answer() -> None:
    async with connected() as (channel, peer), asyncio.TaskGroup() as group:
        scrapes = [group.create_task(channel.ask(form)) for form in (PLAIN, PLAIN, OPEN, PLAIN)]
        assert await peer.questions(2) == PLAIN.value + OPEN.value
        assert peer.waiting() == b""
        await peer.answer(b"plain" * 100_000)
        await peer.answer(b"open")
        bodies = await asyncio.gather(*scrapes)
    assert bodies == [b"plain" * 100_000, b"plain" * 100_000, b"open", b"plain" * 100_000]


async def test_an_answer_may_come_in_any_pieces() -> None:
    async with connected() as (channel, peer), asyncio.TaskGroup() as group:
        scrape = group.create_task(channel.ask(PLAIN))
        await peer.questions(1)
        for byte in b"\0\0\0\x03abc":
            await peer.send(bytes([byte]))
            await asyncio.sleep(0)
        assert await scrape == b"abc"


async def test_a_slow_child_is_waited_for_no_longer_than_the_limit_and_its_late_answer_is_dropped() -> None:
    async with connected(limit_s=0.01) as (channel, peer):
        with pytest.raises(Unavailable, match="did not answer within"):
            await channel.ask(PLAIN)
        assert await peer.questions(1) == PLAIN.value
        with pytest.raises(Unavailable, match="did not answer within"):
            await channel.ask(PLAIN)  # waits for the first question's answer; puts no second one
        assert peer.waiting() == b""
        await peer.answer(b"late")
        await asyncio.sleep(0.05)
        with pytest.raises(Unavailable):
            await channel.ask(PLAIN)
        assert peer.waiting() == PLAIN.value  # a new question: the late answer is nobody's


async def test_where_no_child_is_the_answer_comes_at_once() -> None:
    with pytest.raises(Unavailable, match="does not run just now"):
        await ScrapeChannel(limit_s=1e9).ask(PLAIN)


async def test_a_child_that_goes_is_waited_for_no_longer() -> None:
    async with connected(limit_s=1e9) as (channel, peer), asyncio.TaskGroup() as group:
        scrape = group.create_task(_refused(channel))
        await peer.questions(1)
        peer.leave()
        assert "does not run just now" in await scrape
        assert "does not run just now" in await _refused(channel)


@pytest.mark.parametrize("head", [LARGEST + 1, 2**32 - 1])
async def test_a_child_that_answers_nonsense_is_asked_no_more(head: int) -> None:
    async with connected(limit_s=1e9) as (channel, peer), asyncio.TaskGroup() as group:
        scrape = group.create_task(_refused(channel))
        await peer.questions(1)
        with capture_logs() as logs:
            await peer.send(head.to_bytes(4, "big"))
            assert "does not run just now" in await scrape
    assert [entry["log_level"] for entry in logs] == ["warning"]


async def _refused(channel: ScrapeChannel) -> str:
    with pytest.raises(Unavailable) as caught:
        await channel.ask(PLAIN)
    return caught.value.sentence


async def test_both_ends_fit() -> None:
    ours, theirs = socket.socketpair()
    channel = ScrapeChannel(20)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        answering = group.create_task(answer_scrapes(theirs.detach(), CollectorRegistry()))
        with ours:
            channel.opened(ours.fileno())
            for _ in range(3):
                assert await channel.ask(OPEN) == b"# EOF\n"
                assert await channel.ask(PLAIN) == b""
            channel.closed()
        await answering  # it ends as the other end closes
