"""A real server whose every port speaks TLS: bots play, visitors look, the certificate changes, the server stops."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import signal
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, client, end, free_port, until
from support.net.certificates import self_signed, trusting

from cgos_server.net.tls.certificates import TlsFiles

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return self_signed(tmp_path_factory.mktemp("certificate"))


class EncryptedServer(ServerProcess):
    """Its pages, WebSocket and lines speak TLS, its lines without it too."""

    def __init__(self, directory: Path, files: TlsFiles) -> None:
        super().__init__(directory, settings="drain_limit_s = 0")
        self.tls_port, self.redirect_port = free_port(), free_port()
        own = directory / "tls"
        own.mkdir()
        for path in (files.certificate, files.key):
            shutil.copy(path, own)
        self.configure(
            websocket="tls = true",
            web=f"tls = true\nredirect_port = {self.redirect_port}\nhsts_days = 1",
            venue=f"tls_port = {self.tls_port}",
        )
        with self.config.open("a") as config:
            config.write('[tls]\ncertificate = "tls/own.pem"\nkey = "tls/own.key"\n')
        self.trust = trusting(files)
        self.ca = files.certificate

    def shown(self, port: int, trust: ssl.SSLContext | None = None) -> dict[str, object]:
        """The certificate that a port shows to a new connection."""
        with (
            socket.create_connection(("127.0.0.1", port), 10) as plain,
            (trust or self.trust).wrap_socket(plain, server_hostname="localhost") as secure,
        ):
            return dict(secure.getpeercert() or {})

    def hang_up(self, event: str) -> None:
        """SIGHUP, and wait until the log has this event."""
        assert self.process is not None
        self.process.send_signal(signal.SIGHUP)
        until(lambda: any(each["event"] == event for each in self.log_events()), 10, event)

    def page(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("localhost", self.web_port, timeout=30, context=self.trust)


@pytest.fixture
def server(tmp_path: Path, files: TlsFiles) -> Iterator[EncryptedServer]:
    serving = EncryptedServer(tmp_path, files)
    try:
        serving.start()
        yield serving
    finally:
        if serving.process is not None:
            end(serving.process)


def test_everything_by_tls(server: EncryptedServer, tmp_path: Path) -> None:
    address = f"wss://localhost:{server.ws_port}"
    trust = ["--ca-file", server.ca]
    with (
        client(server, "Lines", ["bot", "random", *trust], address=f"cgoss://localhost:{server.tls_port}"),
        client(server, "Sockets", ["bot", "random", "--venue", "9x9", *trust], address=address),
    ):
        ended = "select count(*) from games where ended_at is not null and reason in ('score', 'resignation')"
        until(lambda: server.query(ended)[0][0] >= 1, 30, f"no game:\n{server.tail()}")
        pages_stay_encrypted(server)
        who_speaks_no_tls_is_told(server)
        bots_come_again_by_tls_to_the_program_that_takes_over(server)
        with contextlib.closing(server.page()) as page:
            the_certificate_changes_and_connections_stay(server, page, tmp_path)
            with socket.create_connection(("127.0.0.1", server.tls_port), 10):
                assert server.stop() == 0
    warnings = [event for event in server.log_events() if event["level"] in ("warning", "error")]
    assert [event["event"] for event in warnings] == ["the certificate stays as it was"]
    assert "Traceback" not in server.log.read_text()


def pages_stay_encrypted(server: EncryptedServer) -> None:
    page = server.page()
    for path in ("/", "/connect"):
        page.request("GET", path)
        answer = page.getresponse()
        text = answer.read().decode()
        assert (answer.status, answer.headers["Strict-Transport-Security"]) == (200, "max-age=86400")
    assert f"wss://127.0.0.1:{server.ws_port}" in text
    assert f"127.0.0.1:{server.tls_port}" in text
    page.close()

    plain = http.client.HTTPConnection("localhost", server.redirect_port, timeout=30)
    plain.request("GET", "/venue/9x9?page=2", headers={"Host": "cgos.example.org:80"})
    answer = plain.getresponse()
    where = f"https://cgos.example.org:{server.web_port}/venue/9x9?page=2"
    assert (answer.status, answer.headers["Location"]) == (308, where)
    assert "Strict-Transport-Security" not in answer.headers
    plain.close()


def who_speaks_no_tls_is_told(server: EncryptedServer) -> None:
    for port in (server.web_port, server.ws_port):
        page = http.client.HTTPConnection("localhost", port, timeout=30)
        page.request("GET", "/")
        answer = page.getresponse()
        assert (answer.status, b"begin the address with https://" in answer.read()) == (400, True)
        page.close()
    with socket.create_connection(("127.0.0.1", server.tls_port), 10) as plain:
        plain.sendall(b"e1 a client without TLS\n")
        assert plain.makefile().read().startswith("Error: This port speaks TLS: connect by cgoss://")


def bots_come_again_by_tls_to_the_program_that_takes_over(server: EncryptedServer) -> None:
    moves = "select count(*) from moves"
    upgraded = server.command("upgrade", "--json")
    assert upgraded.returncode == 0, upgraded.stderr
    told = server.query(moves)[0][0]
    until(lambda: server.query(moves)[0][0] > told + 5, 30, f"no moves after it:\n{server.tail()}")
    assert server.query("select count(*) from games where reason in ('time', 'forfeit', 'void', 'abort')") == [(0,)]


def the_certificate_changes_and_connections_stay(
    server: EncryptedServer, page: http.client.HTTPSConnection, tmp_path: Path
) -> None:
    page.request("GET", "/api/v1/live", headers={"Accept": "text/event-stream"})
    stream = page.getresponse()
    assert stream.status == 200

    opened = server.query("select count(*) from connections")[0][0]
    new = self_signed(tmp_path, word="new")
    shutil.copy(new.certificate, tmp_path / "tls/own.pem")
    server.hang_up("the certificate stays as it was")
    assert server.shown(server.ws_port), "the old one is shown still"
    shutil.copy(new.key, tmp_path / "tls/own.key")
    server.hang_up("the certificate is read")
    assert server.shown(server.tls_port, trusting(new))
    with pytest.raises(ssl.SSLCertVerificationError):
        server.shown(server.tls_port)
    assert server.query("select count(*) from connections")[0][0] == opened, "no bot had to come again"

    seconds = server.get("/metrics")[1]
    assert 'cgos_certificate_expiry_timestamp_seconds{listener="websocket"}' in seconds
    assert "cgos_certificate_reload_failures_total 1.0" in seconds
    assert "cgos_tls_handshake_failures_total 1.0" in seconds, "whose client did not trust it"
    assert stream.readline()
    stream.close()
