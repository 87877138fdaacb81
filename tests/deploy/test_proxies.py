"""The examples of proxies: the real programs take them, and bots and visitors come through them to a real server."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.deploy.proxies import PROXIES, placed, program
from support.e2e.processes import ServerProcess, client, end, free_port, until
from support.net.certificates import self_signed, trusting
from websockets.sync.client import connect

from cgos_server.config.schema import Config
from cgos_server.net.tls.certificates import TlsFiles

DEFAULT = Config()
CHECK = {
    "nginx.conf": ("nginx", "-t", "-c"),
    "haproxy.cfg": ("haproxy", "-c", "-f"),
    "haproxy-cluster.cfg": ("haproxy", "-c", "-f"),
    "Caddyfile": ("caddy", "validate", "--adapter", "caddyfile", "--config"),
}
RUN = {
    "nginx.conf": ("nginx", "-g", "daemon off; error_log stderr;", "-c"),
    "haproxy.cfg": ("haproxy", "-db", "-f"),
}
ELSEWHERE = "127.0.0.2"
"""An address of this machine that is no proxy's."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return self_signed(tmp_path_factory.mktemp("certificate"))


@pytest.mark.parametrize("example", sorted(CHECK))
def test_the_program_takes_its_example(example: str, tmp_path: Path, files: TlsFiles) -> None:
    name, *arguments = CHECK[example]
    path = placed(example, tmp_path, files)
    command = [program(name), *arguments, str(path)]
    check = subprocess.run(
        command, capture_output=True, text=True, timeout=30, env=os.environ | {"HOME": str(tmp_path)}
    )
    said = check.stdout + check.stderr
    assert check.returncode == 0, said
    assert not [word for word in ("[WARNING]", "[warn]", '"level":"warn"') if word in said], said


@pytest.mark.parametrize("example", sorted(set(CHECK) - {"haproxy-cluster.cfg"}))
def test_an_example_leads_to_the_default_ports_and_not_to_health(example: str) -> None:
    text = (PROXIES / example).read_text()
    assert f"127.0.0.1:{DEFAULT.web.port}" in text
    assert f"127.0.0.1:{DEFAULT.websocket.port}" in text
    assert str(DEFAULT.health.port) not in text
    assert DEFAULT.websocket.ping_s < 60


class Proxied:
    """A server with a proxy before it."""

    def __init__(self, server: ServerProcess, port: int, files: TlsFiles) -> None:
        self.server, self.port = server, port
        self.ca, self.trust = files.certificate, trusting(files)


@pytest.fixture(params=sorted(RUN))
def proxied(request: pytest.FixtureRequest, tmp_path: Path, files: TlsFiles) -> Iterator[Proxied]:
    name, *arguments = RUN[request.param]
    executable = program(name)
    serving = ServerProcess(tmp_path, settings="drain_limit_s = 0")
    header = "proxy_protocol = true" if name == "haproxy" else ""
    serving.configure(listen=f'proxies = ["127.0.0.1"]\n{header}', web='proxies = ["127.0.0.1"]')
    port, plain, lines = free_port(), free_port(), free_port()
    changes: dict[str, int | str] = {
        "bots.example.org": "127.0.0.1",
        "cgos.example.org": "localhost",
        ":8080": f":{serving.web_port}",
        ":6868": f":{serving.ws_port}",
    }
    if name == "haproxy":
        changes |= {":443": f"127.0.0.1:{port}", ":80\n": f"127.0.0.1:{plain}\n"}
        changes |= {":6810": f"127.0.0.1:{lines}", ":6809": f":{serving.port}", "maxconn 20000": "maxconn 200"}
    else:
        changes |= {"listen 443": f"listen 127.0.0.1:{port}", "listen 80": f"listen 127.0.0.1:{plain}"}
        changes |= {"http {": f"pid {tmp_path}/pid;\nhttp {{\naccess_log off;"}
    path = placed(request.param, tmp_path, files, **changes)
    with contextlib.ExitStack() as stack:
        serving.start()
        assert serving.process is not None
        stack.callback(end, serving.process)
        output = stack.enter_context((tmp_path / "proxy.log").open("wb"))
        proxy = subprocess.Popen([executable, *arguments, str(path)], stdout=output, stderr=output)
        stack.callback(end, proxy)
        until(lambda: reached(port) or proxy.poll() is not None, 10, "nothing listens")
        assert proxy.poll() is None, (tmp_path / "proxy.log").read_text()
        yield Proxied(serving, port, files)
        assert serving.stop() == 0
    assert [event for event in serving.log_events() if event["level"] in ("warning", "error")] == []


def reached(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@pytest.mark.e2e
def test_bots_and_visitors_come_through_a_proxy(proxied: Proxied) -> None:
    server, port = proxied.server, proxied.port
    arguments = ["bot", "random", "--venue", "9x9", "--ca-file", proxied.ca]
    with (
        client(server, "One", arguments, address=f"wss://127.0.0.1:{port}"),
        client(server, "Two", arguments, address=f"wss://127.0.0.1:{port}"),
    ):
        ended = "select count(*) from games where ended_at is not null and reason in ('score', 'resignation')"
        until(lambda: server.query(ended)[0][0] >= 1, 30, f"no game:\n{server.tail()}")
        pages(proxied)
        lied_about(proxied)


def pages(proxied: Proxied) -> None:
    with contextlib.closing(http.client.HTTPSConnection("localhost", proxied.port, context=proxied.trust)) as page:
        page.request("GET", "/connect")
        answer = page.getresponse()
        assert (answer.status, "max-age" in answer.headers["Strict-Transport-Security"]) == (200, True)
        answer.read()
        page.request("GET", "/events.atom")
        assert f"https://localhost:{proxied.port}/events" in page.getresponse().read().decode()
        page.request("GET", "/api/v1/live", headers={"Accept": "text/event-stream"})
        with page.getresponse() as stream:
            assert stream.status == 200
            assert stream.readline(), "not kept back until it is over"


def lied_about(proxied: Proxied) -> None:
    """The address is the one that the proxy has seen, whatever the client makes up."""
    trust: ssl.SSLContext = proxied.trust
    with connect(
        f"wss://127.0.0.1:{proxied.port}/9x9",
        ssl=trust,
        subprotocols=["cgos.v1"],  # type: ignore[list-item]
        additional_headers={"X-Forwarded-For": "203.0.113.9"},
        source_address=(ELSEWHERE, 0),
        open_timeout=30,
    ) as bot:
        for answer in ("e1 test", "Liar", "secret-of-liar"):
            bot.recv(timeout=30)
            bot.send(answer)

        def signed_in() -> list[str]:
            events = proxied.server.log_events()
            return [each["address"] for each in events if each["event"] == "signed in" and each["bot"] == "Liar"]

        assert until(signed_in, 10, proxied.server.tail()) == [ELSEWHERE]
