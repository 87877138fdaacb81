"""wss: certificates are checked, against the system's or a file of one's own. A TLS relay stands before the server."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from support.clients.v2_model import Model
from support.clients.v2_server import V2Server
from support.net.relay import Relay

from cgos_client import CannotConnect, connect
from cgos_client.addresses import server_address
from cgos_client.library.link import Endpoint
from cgos_client.playing.text_frames import SUBPROTOCOL, connect_frames

OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="the program openssl, which makes the certificate, is missing")
SECONDS = 30


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key beside it."""
    directory = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            *(str(OPENSSL), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", str(directory / "key.pem"), "-out", str(directory / "cert.pem"), "-days", "2"),
            *("-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return directory / "cert.pem"


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


async def test_a_certificate_of_its_own_needs_the_file(certificate, tls):
    async with asyncio.timeout(SECONDS), V2Server(Model()) as server, Relay(server.port, tls) as relay:
        url = f"wss://127.0.0.1:{relay.port}"
        bot = {"bot": "Bot", "secret": "sesame", "venues": ["5x5"], "reconnect": False}
        with pytest.raises(CannotConnect, match=r"is not trusted .*--ca-file") as caught:
            async with connect(url, **bot):
                pass
        assert caught.value.code == "certificate"
        assert server.opened == 0, "nothing was said to a stranger"
        async with connect(url, ca_file=certificate, **bot) as session:
            assert session.name == "Bot"


async def test_a_name_that_is_not_in_the_certificate(certificate, tls):
    async with asyncio.timeout(SECONDS), V2Server(Model()) as server, Relay(server.port, tls) as relay:
        with pytest.raises(CannotConnect, match=r"is not trusted .*[Hh]ostname mismatch"):
            async with connect(f"wss://localhost:{relay.port}", ca_file=certificate, reconnect=False):
                pass


async def test_a_port_without_tls():
    async with asyncio.timeout(SECONDS), V2Server(Model()) as server:
        with pytest.raises(CannotConnect, match=r"no TLS connection|cannot be reached|does not speak"):
            async with connect(f"wss://127.0.0.1:{server.port}", reconnect=False):
                pass


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_file_that_holds_no_certificates_ends_the_attempts(tmp_path, content):
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    async with asyncio.timeout(SECONDS):
        with pytest.raises(CannotConnect, match="cannot be read") as caught:
            async with connect("wss://127.0.0.1:1", ca_file=file):
                pass
    assert caught.value.code == "ca-file"


async def test_lines_in_frames_over_tls(certificate, tls):
    """The model does not speak lines: that it says so shows that TLS is there."""
    async with asyncio.timeout(SECONDS), V2Server(Model()) as server, Relay(server.port, tls) as relay:
        address = server_address(f"wss://127.0.0.1:{relay.port}/5x5")
        with pytest.raises(CannotConnect, match="HTTP status 400"):
            await connect_frames(Endpoint(address, SUBPROTOCOL, certificate))
