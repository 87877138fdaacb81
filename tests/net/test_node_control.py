"""Commands between nodes: whoever has the cluster's key is answered, nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.e2e.processes import free_port
from support.net.certificates import cluster_key, self_signed

from cgos_protocol.errors import Invalid, OurFault, Unavailable
from cgos_server.net import node_control


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return cluster_key(tmp_path / "cluster.pem")


async def answer(line: bytes) -> bytes:
    if line == b"slow":
        await asyncio.sleep(60)
    return line.upper()


@pytest.fixture
async def address(key: Path) -> AsyncIterator[str]:
    sock = socket.create_server(("127.0.0.1", 0))
    async with node_control.serve(sock, node_control.server_context(key), answer):
        yield f"127.0.0.1:{sock.getsockname()[1]}"


async def test_a_line_is_answered(key: Path, address: str) -> None:
    context = node_control.client_context(key)
    assert await node_control.call(address, context, b"one") == b"ONE"
    lines = await asyncio.gather(*(node_control.call(address, context, b"%d" % number) for number in range(20)))
    assert lines == [b"%d" % number for number in range(20)]


async def test_the_server_ends_a_conversation_once_all_is_on_its_way(key: Path, address: str) -> None:
    context = node_control.client_context(key)
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), ssl=context)
    writer.write(b"one\n")
    async with asyncio.timeout(5):
        assert await reader.read() == b"ONE\n"
    writer.close()
    assert await node_control.call(address, context, b"x" * 900_000) == b"X" * 900_000


async def test_another_key_is_not_answered(tmp_path: Path, address: str) -> None:
    other = node_control.client_context(cluster_key(tmp_path / "other.pem"))
    with pytest.raises(Unavailable, match=r"cannot be reached: .*certificate verify failed"):
        await node_control.call(address, other, b"one")


async def test_whoever_has_no_key_is_not_answered(address: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with pytest.raises((OurFault, Unavailable)):
        await node_control.call(address, context, b"one")
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"one\n")
    with contextlib.suppress(ConnectionError):
        assert b"ONE" not in await reader.read()
    writer.close()


async def test_nobody_there_and_nobody_who_answers(key: Path, address: str) -> None:
    context = node_control.client_context(key)
    with pytest.raises(Unavailable, match=r"The node at 127\.0\.0\.1:\d+ cannot be reached"):
        await node_control.call(f"127.0.0.1:{free_port()}", context, b"one")
    with pytest.raises(Unavailable, match="cannot be reached"):
        await node_control.call("nonsense", context, b"one")
    with pytest.raises(OurFault, match=r"did not answer within 0\.1 seconds"):
        await node_control.call(address, context, b"slow", timeout_s=0.1)


@pytest.mark.parametrize("content", ["", "nonsense", None], ids=["empty", "nonsense", "missing"])
def test_a_file_that_is_no_key_is_refused(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "cluster.pem"
    if content is not None:
        file.write_text(content)
    for context in (node_control.server_context, node_control.client_context):
        with pytest.raises(Invalid, match=r"cannot be used as the key of the cluster .*PEM file with a certificate"):
            context(file)


def test_a_certificate_without_its_key_is_refused(tmp_path: Path) -> None:
    files = self_signed(tmp_path)
    with pytest.raises(Invalid, match="cannot be used as the key of the cluster"):
        node_control.server_context(Path(files.certificate))
