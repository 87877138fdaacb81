"""TLS on one connection: what passes through it, how it ends, and who gets none."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.net.certificates import key_updates, self_signed, trusting
from support.net.wires import SocketEnd

from cgos_server.net.limits import ConnectionCount
from cgos_server.net.lingering import DISCARDED_MAX, linger
from cgos_server.net.tls.certificates import Certificate, TlsFiles, read_certificate
from cgos_server.net.tls.connection import TlsConnection, TlsPort

PLAIN = b"Error: this port speaks TLS\n"


class Raw(SocketEnd):
    """The socket under a connection, which sends nothing by itself."""

    def get_write_buffer_size(self) -> int:
        return len(self.written)


class Spoken(asyncio.Protocol):
    """What is spoken inside: takes down what it is given. `answer` is called with what came."""

    def __init__(self) -> None:
        self.transport: Any = None
        self.came: list[Any] = []
        self.answer: Any = lambda _: None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.came.append(data)
        self.answer(data)

    def eof_received(self) -> None:
        self.came.append("end")

    def pause_writing(self) -> None:
        self.came.append("full")

    def resume_writing(self) -> None:
        self.came.append("room")

    def connection_lost(self, exc: Exception | None) -> None:
        self.came.append(type(exc).__name__ if exc else "lost")


class Peer:
    """The other end, by the standard library's TLS in memory, and the network between."""

    def __init__(self, port: Port, address: str = "192.0.2.1") -> None:
        self.spoken = Spoken()
        self.connection = port.tls.connection(lambda: self.spoken)
        self.raw = Raw(self.connection, address)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = port.trust.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.connection.connection_made(self.raw)

    def carry(self) -> None:
        """Everything that was sent, to both sides."""
        if self.outgoing.pending:
            self.connection.data_received(self.outgoing.read())
        self.incoming.write(self.raw.written)
        self.raw.written.clear()

    def shake(self) -> Peer:
        for _ in range(4):
            with contextlib.suppress(ssl.SSLWantReadError):
                self.tls.do_handshake()
            self.carry()
        assert self.spoken.transport is self.connection
        return self

    def say(self, data: bytes) -> None:
        self.tls.write(data)
        self.carry()

    def hear(self) -> bytes:
        self.carry()
        heard = b""
        while True:
            try:
                data = self.tls.read(1 << 16)
            except ssl.SSLWantReadError:
                return heard
            except ssl.SSLZeroReturnError:
                data = b""
            if not data:
                return heard + b"(end)"
            heard += data


class Port:
    def __init__(self, certificate: Certificate, files: TlsFiles, each: int = 3, handshake_s: float = 60.0) -> None:
        self.count = ConnectionCount(100, each)
        self.failures = 0
        self.trust = trusting(files)
        self.tls = TlsPort(
            lambda: certificate.context,
            self.count,
            failed=self.failed,
            handshake_s=handshake_s,
            proxies=(ip_network("192.0.2.200/32"),),
            plain=PLAIN,
        )

    def failed(self) -> None:
        self.failures += 1


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return self_signed(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def certificate(files: TlsFiles) -> Certificate:
    return read_certificate(files)


@pytest.fixture
async def port(certificate: Certificate, files: TlsFiles) -> Port:
    """In a running loop, which has the deadlines."""
    return Port(certificate, files)


async def test_what_is_said_comes_through_in_the_turn_in_which_it_came(port: Port) -> None:
    peer = Peer(port).shake()
    assert (port.count.open, port.failures) == (0, 0), "counted by whoever speaks inside from now on"
    peer.say(b"e5\n")
    assert peer.spoken.came == [b"e5\n"]
    peer.spoken.transport.write(b"play w D5 1000\n")
    peer.spoken.transport.writelines([b"genmove", b" b 900\n"])
    assert peer.hear() == b"play w D5 1000\ngenmove b 900\n"
    assert peer.spoken.transport.get_extra_info("sslcontext") is not None
    assert peer.spoken.transport.get_extra_info("peername")[0] == "192.0.2.1"


@settings(max_examples=20)
@given(data=st.data())
def test_it_comes_through_however_the_network_cuts_it(
    data: st.DataObject, certificate: Certificate, files: TlsFiles
) -> None:
    async def say() -> None:
        peer = Peer(Port(certificate, files)).shake()
        texts = data.draw(st.lists(st.binary(min_size=1, max_size=40_000), min_size=1, max_size=3))
        for text in texts:
            peer.tls.write(text)
        sent = peer.outgoing.read()
        while sent:
            cut = data.draw(st.integers(1, len(sent)))
            peer.connection.data_received(sent[:cut])
            sent = sent[cut:]
        assert b"".join(peer.spoken.came) == b"".join(texts)
        peer.spoken.transport.write(b"".join(texts))
        assert peer.hear() == b"".join(texts)

    asyncio.run(say())


async def test_a_close_says_so_and_hears_nothing_more(port: Port) -> None:
    peer = Peer(port).shake()
    peer.spoken.answer = lambda _: peer.spoken.transport.close()
    for text in (b"one", b"two"):
        peer.tls.write(text)
    peer.carry()
    assert peer.spoken.came == [b"one"]
    assert peer.hear() == b"(end)"
    assert peer.raw.closing
    peer.spoken.transport.write(b"too late")
    peer.connection.connection_lost(None)
    assert peer.spoken.came == [b"one", "lost"]
    assert peer.spoken.transport.is_closing()


async def test_last_words_reach_a_peer_that_still_sends(port: Port) -> None:
    peer = Peer(port).shake()
    transport = peer.spoken.transport
    transport.write(b"Error: too many lines\n")
    port.count.enter("192.0.2.1")
    linger(peer.spoken, transport, port.count, "192.0.2.1")
    assert peer.raw.ended
    assert not peer.raw.closing
    for _ in range(3):
        peer.tls.write(b"more\n")
    peer.carry()
    assert peer.hear() == b"Error: too many lines\n(end)"
    assert peer.spoken.came == []
    peer.connection.data_received(bytes(DISCARDED_MAX))
    assert not peer.raw.reading, "what follows stays with the peer's system"
    peer.connection.eof_received()
    assert peer.raw.closing
    peer.connection.connection_lost(None)
    assert (peer.spoken.came, port.count.open) == (["lost"], 1), "which the owner takes away"


@pytest.mark.parametrize("politely", [True, False])
async def test_a_peer_that_closes_is_heard_to(port: Port, politely: bool) -> None:
    peer = Peer(port).shake()
    if politely:
        with pytest.raises(ssl.SSLWantReadError):
            peer.tls.unwrap()
        peer.carry()
    else:
        peer.connection.eof_received()
    assert peer.spoken.came == ["end"]
    assert peer.raw.closing
    peer.connection.eof_received()
    assert peer.spoken.came == ["end"]


async def test_what_was_tampered_with_ends_the_connection(port: Port) -> None:
    peer = Peer(port).shake()
    peer.tls.write(b"resign\n")
    sent = bytearray(peer.outgoing.read())
    sent[-1] ^= 1
    peer.connection.data_received(bytes(sent))
    assert peer.raw.aborted
    peer.connection.connection_lost(None)
    assert peer.spoken.came == ["SSLError"]


async def test_who_changes_keys_and_says_nothing_is_cut_before_it_holds_up_the_loop(port: Port) -> None:
    peer = Peer(port).shake()
    key_updates(peer.tls, 5_000)
    flood = peer.outgoing.read()
    peer.connection.data_received(flood)
    assert peer.raw.aborted
    assert len(peer.raw.written) < len(flood) // 3, "each change asks for one of ours: most were never looked at"
    peer.connection.connection_lost(None)
    assert peer.spoken.came[-1] == "SSLError"


async def test_whoever_says_something_may_change_keys(port: Port) -> None:
    peer = Peer(port).shake()
    for _ in range(400):
        key_updates(peer.tls, 4)
        peer.say(b"e5\n")
    for _ in range(3):
        peer.say(bytes(200_000))
    peer.spoken.transport.write(b"play w D5 1000\n")
    assert peer.hear() == b"play w D5 1000\n"
    assert not peer.raw.aborted


async def test_no_more_is_handed_over_than_is_wanted(port: Port) -> None:
    peer = Peer(port).shake()
    peer.spoken.answer = lambda _: peer.spoken.transport.pause_reading()
    peer.tls.write(b"one")
    peer.tls.write(b"two")
    peer.carry()
    assert (peer.spoken.came, peer.raw.reading) == ([b"one"], False)
    assert not peer.spoken.transport.is_reading()
    peer.spoken.transport.resume_reading()
    await asyncio.sleep(0)
    assert peer.spoken.came == [b"one", b"two"]


async def test_who_speaks_inside_hears_of_a_peer_that_does_not_read(port: Port) -> None:
    peer = Peer(port).shake()
    peer.connection.pause_writing()
    peer.connection.resume_writing()
    assert peer.spoken.came == ["full", "room"]
    peer.spoken.transport.set_write_buffer_limits(high=9)
    peer.spoken.transport.write(bytes(100))
    assert peer.raw.high == 9
    assert peer.spoken.transport.get_write_buffer_size() > 100


@pytest.mark.parametrize("said", [b"e1 my own client\n", b"GET / HTTP/1.1\r\n\r\n", bytes(50)])
async def test_who_speaks_no_tls_is_told_so_in_clear_and_counted(port: Port, said: bytes) -> None:
    peer = Peer(port)
    peer.connection.data_received(said)
    assert (bytes(peer.raw.written), peer.raw.ended, peer.raw.closing) == (PLAIN, True, False)
    peer.connection.data_received(said)
    assert bytes(peer.raw.written) == PLAIN
    peer.connection.eof_received()
    assert peer.raw.closing
    peer.connection.connection_lost(None)
    assert (port.count.open, port.failures, peer.spoken.transport) == (0, 1, None)


async def test_handshakes_of_an_address_are_bounded(port: Port) -> None:
    peers = [Peer(port) for _ in range(5)]
    assert [peer.raw.aborted for peer in peers] == [False, False, False, True, True]
    others = [Peer(port, "192.0.2.200") for _ in range(5)]
    assert not any(peer.raw.aborted for peer in others), "a proxy's"
    for peer in peers[1:]:
        peer.connection.connection_lost(None)
    assert not Peer(port).raw.aborted
    peers[0].shake()
    port.tls.cut()
    assert all(peer.raw.aborted for peer in others)
    assert not peers[0].raw.aborted


async def test_a_handshake_has_its_time(certificate: Certificate, files: TlsFiles) -> None:
    port = Port(certificate, files, handshake_s=0.01)
    silent, late, plain, early = Peer(port), Peer(port), Peer(port, "192.0.2.2"), Peer(port).shake()
    peers = (silent, late, plain)
    late.connection.data_received(b"\x16\x03")
    plain.connection.data_received(b"GET")
    await asyncio.sleep(0.05)
    assert (bytes(silent.raw.written), silent.raw.closing, silent.raw.aborted) == (PLAIN, True, False)
    for peer in peers:
        peer.connection.connection_lost(None)
    assert (port.count.open, port.failures) == (0, len(peers))
    assert (bytes(late.raw.written), late.raw.aborted, plain.raw.aborted, early.raw.aborted) == (b"", True, True, False)


@pytest.mark.parametrize("error", [None, ConnectionResetError()])
async def test_who_only_looks_whether_somebody_listens_fails_at_nothing(port: Port, error: Exception | None) -> None:
    peer = Peer(port)
    peer.connection.connection_lost(error)
    assert (port.count.open, port.failures) == (0, 0)


def test_nothing_is_asked_of_one_that_is_not_there(certificate: Certificate, files: TlsFiles) -> None:
    connection = TlsConnection(Port(certificate, files).tls, Spoken)
    for ask in (connection.close, connection.abort, connection.write_eof, connection.pause_reading):
        ask()
    assert connection.is_closing()
    assert connection.get_write_buffer_size() == 0
