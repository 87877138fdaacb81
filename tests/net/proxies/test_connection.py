"""Connections from proxies: whose address they have, what is refused, and that nobody hears of a look at the port."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs
from support.live.simulated import SimulatedTime
from support.net.certificates import self_signed, trusting
from support.net.wires import SocketEnd, context

from cgos_protocol.session import Credentials, PlayerSession
from cgos_server.net.listening import bind
from cgos_server.net.proxies.connection import HEADER_US, SAID_EVERY_US, ProxiedConnection, ProxyPort
from cgos_server.net.proxies.header import SIGNATURE
from cgos_server.net.tcp import BotConnection, listen
from cgos_server.net.tls.certificates import read_certificate
from cgos_server.net.tls.connection import TlsPort
from cgos_server.observability.metrics import Metrics

PROXY, STRANGER, BOT = "192.0.2.200", "198.51.100.4", "203.0.113.7"
LOCAL = SIGNATURE + bytes.fromhex("20000000")


def header(source: str = BOT) -> bytes:
    address = ip_address(source)
    family, size = (b"\x11", 12) if address.version == 4 else (b"\x21", 36)
    return SIGNATURE + b"\x21" + family + size.to_bytes(2) + 2 * address.packed + bytes.fromhex("d4311a99")


class Spoken(asyncio.Protocol):
    """What is spoken: takes down whom it got, and what came."""

    def __init__(self, source: str | None) -> None:
        self.source = source
        self.came = b""

    def data_received(self, data: bytes) -> None:
        self.came += data


class Port:
    """One port behind proxies."""

    def __init__(self, *, required: bool = True, each: int = 10_000) -> None:
        self.time = SimulatedTime()
        made = context(self.time, connections_per_address=each)
        self.registry = CollectorRegistry()
        metrics = Metrics(self.registry, "test")
        self.sockets = replace(made.sockets, proxies=(ip_network(f"{PROXY}/32"),), metrics=metrics)
        self.context = replace(made, sockets=self.sockets, reception=self)
        self.port = ProxyPort(self.sockets, required=required, answer=lambda why: f"Error: {why}\n".encode())
        self.spoken: list[Spoken] = []
        self.signed_in: list[tuple[str, bool]] = []

    def sign_in(self, session: PlayerSession, credentials: Credentials) -> None:
        self.signed_in.append((credentials.address, session.proxied))

    def _make(self, source: str | None) -> Spoken:
        self.spoken.append(Spoken(source))
        return self.spoken[-1]

    def connect(self, address: str = PROXY) -> SocketEnd:
        raw = SocketEnd(self.port.connection(self._make), address)
        raw.protocol.connection_made(raw)
        return raw

    def connect_bot(self, source: str) -> SocketEnd:
        """A connection on which the lines are spoken, from its header on."""
        raw = SocketEnd(self.port.connection(lambda source: BotConnection(self.context, source)), PROXY)
        raw.protocol.connection_made(raw)
        raw.protocol.data_received(header(source))
        return raw

    @property
    def refused(self) -> int:
        return int(self.registry.get_sample_value("cgos_refusals_total", {"code": "proxy-header"}) or 0)


@pytest.mark.parametrize("source", [BOT, "2001:db8::7"])
def test_the_header_gives_the_address_however_it_is_cut(source: str) -> None:
    whole = header(source)
    port = Port()
    for cut in range(1, len(whole)):
        raw = port.connect()
        raw.protocol.data_received(whole[:cut])
        assert len(port.spoken) == cut - 1, "nobody speaks before it is known to whom"
        raw.protocol.data_received(whole[cut:] + b"e1 client\n")
        assert (port.spoken[-1].source, port.spoken[-1].came) == (source, b"e1 client\n")
        raw.protocol.data_received(b"anna\n")
        assert (raw.protocol, port.spoken[-1].came) == (port.spoken[-1], b"e1 client\nanna\n"), "nothing between"
    assert (port.sockets.count.open, port.port.waiting) == (0, set()), "counted by whoever speaks from now on"
    port.time.advance(HEADER_US)
    assert not raw.closing


def test_a_proxy_s_own_connection_has_no_address_but_its_own() -> None:
    port = Port()
    port.connect().protocol.data_received(LOCAL)
    assert port.spoken[0].source is None


@pytest.mark.parametrize("required", [True, False])
def test_who_is_no_proxy_is_never_asked_for_a_header_and_never_believed(required: bool) -> None:
    port = Port(required=required)
    raw = port.connect(STRANGER)
    assert raw.protocol is port.spoken[0]
    raw.protocol.data_received(header())
    assert (port.spoken[0].source, port.spoken[0].came) == (None, header()), "for whoever reads what it cannot"


def test_a_bot_has_its_own_limits_and_stays_a_proxied_one() -> None:
    port = Port(each=2)
    here = [port.connect_bot(BOT) for _ in range(3)]
    elsewhere = port.connect_bot("203.0.113.8")
    assert [b"Error: There are 2 connections from 203.0.113.7" in raw.written for raw in here] == [False, False, True]
    assert elsewhere.written.startswith(b"protocol ")
    for line in (b"e1 test\n", b"anna\n", b"secret\n"):
        elsewhere.protocol.data_received(line)
    assert port.signed_in == [("203.0.113.8", True)]
    for raw in (*here, elsewhere):
        raw.protocol.connection_lost(None)
    assert port.sockets.count.open == 0


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"e1 client\n", "does not"),
        (b"PROXY TCP4 203.0.113.7 192.0.2.1 54321 6809\r\n", "version 2"),
        (SIGNATURE + b"\x11", "version 1"),
        (SIGNATURE + bytes.fromhex("2111ffff"), "at most 536"),
    ],
)
def test_a_header_that_is_none_is_answered_with_a_sentence_and_counted(said: bytes, why: str) -> None:
    port = Port()
    with capture_logs() as logs:
        raw = port.connect()
        raw.protocol.data_received(said)
        raw.protocol.data_received(b"more")
    assert raw.written.startswith(b"Error: The proxy before this server is not configured as the server is. ")
    assert why in raw.written.decode()
    assert (raw.ended, raw.closing, port.refused) == (True, False, 1)
    assert [(each["proxy"], each["log_level"]) for each in logs] == [(PROXY, "warning")]
    raw.protocol.connection_lost(None)
    assert (port.sockets.count.open, port.port.waiting, port.spoken) == (0, set(), [])


def test_the_log_says_so_once_a_minute() -> None:
    port = Port()
    with capture_logs() as logs:
        for _ in range(4):
            port.connect().protocol.data_received(b"e1")
        port.time.advance(SAID_EVERY_US)
        port.connect().protocol.data_received(b"e1")
    assert [each["unsaid_before"] for each in logs] == [0, 3]
    assert port.refused == 5


def test_a_header_has_its_time() -> None:
    port = Port()
    silent, half, gone = port.connect(), port.connect(), port.connect()
    half.protocol.data_received(header()[:20])
    gone.protocol.connection_lost(ConnectionResetError())
    port.time.advance(HEADER_US - 1)
    assert (silent.ended, half.ended, port.sockets.count.open) == (False, False, 2)
    port.time.advance(1)
    assert b"not complete after 5 s" in silent.written
    assert half.ended
    assert (gone.written, port.refused) == (b"", 2)
    port.time.advance(10_000_000)
    assert silent.aborted, "it may read why for a while, and not for longer"


def test_a_look_at_the_port_is_neither_counted_nor_logged() -> None:
    port = Port()
    with capture_logs() as logs:
        for error in (None, ConnectionResetError()):
            port.connect().protocol.connection_lost(error)
        port.time.advance(HEADER_US)
    assert (logs, port.refused, port.sockets.count.open, port.spoken) == ([], 0, 0, [])


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\n", b"\x16\x03\x01", b"\r\n\r\nx"])
def test_where_the_peer_speaks_first_a_header_may_be_missing(said: bytes) -> None:
    port = Port(required=False)
    raw, silent, named = port.connect(), port.connect(), port.connect()
    for byte in said:
        raw.protocol.data_received(bytes([byte]))
    named.protocol.data_received(header() + said)
    port.time.advance(HEADER_US)
    assert silent.protocol is port.spoken[-1]
    assert [(each.source, each.came) for each in port.spoken] == [(None, said), (BOT, said), (None, b"")]
    assert port.refused == 0


def test_half_a_header_is_refused_there_too() -> None:
    port = Port(required=False)
    raw = port.connect()
    raw.protocol.data_received(SIGNATURE[:4])
    port.time.advance(HEADER_US)
    assert (raw.ended, port.refused, port.spoken) == (True, 1, [])


def test_the_server_s_end_is_that_of_those_who_wait_too() -> None:
    port = Port()
    raw = port.connect()
    port.port.cut()
    assert raw.aborted
    ProxiedConnection(port.port, Spoken).cut()  # has no socket yet


@pytest.fixture
async def ports(tmp_path: Path) -> AsyncIterator[Any]:
    """Real sockets, with TLS and without, behind a proxy of this machine."""
    desk = Port()
    sockets = replace(desk.sockets, proxies=(ip_network("127.0.0.1/32"),))
    desk.context = replace(desk.context, sockets=sockets)
    front = ProxyPort(sockets, required=True, answer=str.encode)
    files = self_signed(tmp_path)
    failures: list[None] = []
    certificate = read_certificate(files)
    tls = TlsPort(lambda: certificate.context, sockets.count, failed=lambda: failures.append(None))
    async with contextlib.AsyncExitStack() as stack:
        numbers = []
        for inside in (None, tls):
            sock = bind("127.0.0.1", 0, "a test")
            numbers.append(sock.getsockname()[1])
            server = await listen(desk.context, sock, 10, inside, front=front)
            stack.callback(server.close)
        yield desk, numbers, trusting(files), failures
        for connection in list(sockets.open):
            connection.cut()
        await asyncio.sleep(0)


async def greeted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"protocol")
    writer.write(b"e1 test\nanna\nsecret\n")
    await asyncio.wait_for(reader.readline(), 5)


@pytest.mark.parametrize("cut", [28, 5, 0])
async def test_by_a_real_socket(ports: Any, cut: int) -> None:
    desk, (plain, _), _, _ = ports
    reader, writer = await asyncio.open_connection("127.0.0.1", plain)
    for part in (header()[:cut], header()[cut:]):
        writer.write(part)
        await asyncio.sleep(0)
    await greeted(reader, writer)
    await asyncio.wait_for(reader.readline(), 5)
    assert desk.signed_in == [(BOT, True)]
    writer.close()


async def test_the_header_stands_before_tls_and_a_look_is_no_failed_handshake(ports: Any) -> None:
    desk, (_, encrypted), trust, failures = ports
    for said in (b"", LOCAL):
        _, looking = await asyncio.open_connection("127.0.0.1", encrypted)
        looking.write(said)
        looking.transport.abort() if not said else looking.close()
    reader, writer = await asyncio.open_connection("127.0.0.1", encrypted)
    writer.write(header())
    await writer.drain()
    await asyncio.wait_for(writer.start_tls(trust, server_hostname="localhost"), 5)
    await greeted(reader, writer)
    await asyncio.wait_for(reader.readline(), 5)
    assert isinstance(writer.get_extra_info("ssl_object"), ssl.SSLObject)
    assert (desk.signed_in, failures) == ([(BOT, True)], [])
    writer.close()
