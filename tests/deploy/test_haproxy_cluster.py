"""HAProxy before two nodes of which one listens at a time: addresses, a node that hangs, and connects during a switch.

The nodes are two real servers on one SQLite database, one after the other, each on an address of its own.
"""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.deploy.proxies import PROXIES, placed, program
from support.e2e.processes import ServerProcess, end, free_port, until
from support.net.certificates import self_signed, trusting
from websockets.sync.client import connect

from cgos_server.config.schema import Config
from cgos_server.net.tls.certificates import TlsFiles

EXAMPLE = "haproxy-cluster.cfg"
NODES = ("127.0.0.11", "127.0.0.12")
LONGEST_S = 15.0
DEFAULT = Config()


class Node(ServerProcess):
    """A server on an address of its own, on the ports and the database of the one before."""

    def __init__(self, directory: Path, address: str) -> None:
        super().__init__(directory, settings="drain_limit_s = 0")
        self.address = address
        self.configure(
            listen='proxies = ["127.0.0.1"]\nproxy_protocol = true',
            web='host = "127.0.0.1"\nproxies = ["127.0.0.1"]',
            health='host = "127.0.0.1"',
        )
        own = re.sub(r'host = "[0-9.]+"', f'host = "{address}"', self.config.read_text())
        self.config.write_text(own)

    def next_on(self, address: str) -> Node:
        """The other node."""
        other = object.__new__(Node)
        other.__dict__ |= self.__dict__ | {"address": address, "process": None}
        other.config = self.directory / f"{address}.toml"
        other.log = self.directory / f"{address}.log"
        other.config.write_text(self.config.read_text().replace(self.address, address))
        return other

    def is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.tail()
        with contextlib.suppress(OSError), socket.create_connection((self.address, self.health_port), 1) as probe:
            probe.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
            return b" 200 " in probe.recv(100)
        return False

    def came_from(self, bot: str) -> list[str]:
        """The addresses under which a bot signed in."""
        return [
            event["address"] for event in self.log_events() if event["event"] == "signed in" and event["bot"] == bot
        ]


class LineClient:
    """A bot's socket on the lines, from an address of its own."""

    def __init__(self, port: int, source: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), LONGEST_S, (source, 0))
        self.file = self.socket.makefile("rb")

    def sign_in(self, name: str) -> None:
        for answer in ("e1 test", name, f"secret-of-{name}"):
            assert self.file.readline(), "closed"
            self.socket.sendall(f"{answer}\n".encode())

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def balanced(node: Node, directory: Path, files: TlsFiles) -> tuple[Path, dict[str, int]]:
    """The example before these nodes, and where it listens."""
    ports = {name: free_port() for name in ("lines", "websocket", "encrypted")}
    fronts = {":6809 tcp-ut": ports["lines"], ":6868 tcp-ut": ports["websocket"]}
    changes: dict[str, int | str] = {front: f"127.0.0.1:{port} tcp-ut" for front, port in fronts.items()}
    for front in (":6813 tcp-ut", ":6819 tcp-ut"):
        changes[front] = f"127.0.0.1:{free_port()} tcp-ut"
    changes |= {":443 ssl": f"127.0.0.1:{ports['encrypted']} ssl", ":80\n": f"127.0.0.1:{free_port()}\n"}
    changes |= {"127.0.0.1:8404": f"127.0.0.1:{free_port()}", "maxconn 20000": "maxconn 200", "maxconn 10000": ""}
    served = {6809: node.port, 6868: node.ws_port, 9809: node.health_port, 8080: node.web_port}
    for host, address in zip(("10.0.0.11", "10.0.0.12"), NODES, strict=True):
        changes |= {f"{host}:{port}": f"{address}:{own}" for port, own in served.items() if port != 9809}
        changes[host] = address
    changes |= {"port 6809": f"port {node.port}", "port 9809": f"port {node.health_port}"}
    changes["timeout check 1s"] = "timeout check 300ms"  # a second each for three answers that do not come
    return placed(EXAMPLE, directory, files, **changes, **{"bots.example.org": "127.0.0.1"}), ports


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[tuple[Node, Node]]:
    first = Node(tmp_path, NODES[0])
    second = first.next_on(NODES[1])
    yield first, second
    for node in (first, second):
        if node.process is not None:
            node.process.send_signal(signal.SIGCONT)
            end(node.process)


def test_the_example_has_the_default_ports() -> None:
    text = (PROXIES / EXAMPLE).read_text()
    ports = {*(venue.port for venue in DEFAULT.venue), DEFAULT.websocket.port, DEFAULT.web.port}
    assert {int(port) for port in re.findall(r"10\.0\.0\.11:(\d+)", text)} == ports
    assert f"tcp-check connect port {DEFAULT.health.port}" in text


@pytest.mark.e2e
def test_bots_keep_their_addresses_and_come_to_the_node_that_is_there(nodes: tuple[Node, Node], tmp_path: Path) -> None:
    haproxy = program("haproxy")
    files = self_signed(tmp_path)
    first, second = nodes
    path, ports = balanced(first, tmp_path, files)
    with contextlib.ExitStack() as stack:
        log = stack.enter_context((tmp_path / "haproxy.log").open("wb"))
        proxy = subprocess.Popen([haproxy, "-db", "-f", str(path)], stdout=log, stderr=log)
        stack.callback(end, proxy)
        first.start()

        here = LineClient(ports["lines"], "127.0.0.21")
        stack.callback(here.close)
        here.sign_in("Lines")
        stack.enter_context(by_websocket(f"ws://127.0.0.1:{ports['websocket']}/9x9", "127.0.0.22", "Plain", files))
        stack.enter_context(by_websocket(f"wss://127.0.0.1:{ports['encrypted']}/9x9", "127.0.0.23", "Encrypted", files))
        addresses = {"Lines": "127.0.0.21", "Plain": "127.0.0.22", "Encrypted": "127.0.0.23"}
        until(lambda: all(first.came_from(bot) for bot in addresses), 10, first.tail())
        assert {bot: first.came_from(bot) for bot in addresses} == {bot: [each] for bot, each in addresses.items()}

        assert first.process is not None
        first.process.send_signal(signal.SIGSTOP)  # no goodbye: the system goes on holding its sockets
        while here.file.readline():  # what it was told before; then it is cut, or its patience ends
            pass
        first.kill()

        during = LineClient(ports["lines"], "127.0.0.24")
        stack.callback(during.close)
        second.start()
        during.sign_in("During")
        assert until(lambda: second.came_from("During"), 10, second.tail()) == ["127.0.0.24"]
        assert second.stop() == 0
    for node in nodes:
        assert [event for event in node.log_events() if event["level"] in ("warning", "error")] == [], "of checks"


@contextlib.contextmanager
def by_websocket(url: str, source: str, name: str, files: TlsFiles) -> Iterator[None]:
    with connect(
        url,
        ssl=trusting(files) if url.startswith("wss") else None,
        subprotocols=["cgos.v1"],  # type: ignore[list-item]
        source_address=(source, 0),
        open_timeout=LONGEST_S,
    ) as bot:
        for answer in ("e1 test", name, f"secret-of-{name}"):
            bot.recv(timeout=LONGEST_S)
            bot.send(answer)
        yield
