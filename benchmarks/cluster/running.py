"""A cluster of three nodes and two groups behind HAProxy, on a private PostgreSQL, with bots on it, as a block.

Must not know: what is done to it.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.cluster.memory import ClientBots, LineBot, Memory
from benchmarks.moves.server_moves import register
from benchmarks.reporting import ROOT
from cgos_server.storage.location import PostgresUrl

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.nodes import NodeProcess
from support.e2e.processes import end, free_port
from support.net.certificates import cluster_key
from support.net.cutting_proxy import CuttingProxy
from support.storage.postgres import PostgresServer, postgres_server
from support.storage.postgres_fixtures import ask

SECOND = "second"
GROUPS = {"main": "9x9", SECOND: SECOND}
"""Group -> its venue."""
Ports = dict[str, tuple[int, int]]
"""Group -> where HAProxy takes lines and WebSocket."""

LIMIT_S = 120.0
OVERTAKEN = 75

_BALANCER = """
global
    maxconn 4000
defaults
    mode tcp
    timeout client 1h
    timeout server 1h
    timeout connect 2s
    retries 60
    option redispatch 1
    default-server on-marked-down shutdown-sessions
"""
_CHECKS = """
backend has-{group}-{node}
    timeout check 1s
    option tcp-check
    tcp-check connect port {lines}
    tcp-check connect port {health}
    tcp-check send "GET /livez HTTP/1.0\\r\\n\\r\\n"
    tcp-check expect string alive
    default-server check inter 500ms fastinter 250ms downinter 250ms fall 3 rise 1
    server it 127.0.0.1:{lines}
"""


class Cluster:
    """Three nodes; they run as standbys. Each one's ways to PostgreSQL and from HAProxy lead through a proxy.

    HAProxy asks by itself whether a node listens, since that proxy always does, and through it whether its loop turns.
    """

    def __init__(self, folder: Path, postgres: PostgresServer, proxy: CuttingProxy, ttl_s: float) -> None:
        self.postgres = postgres
        self.url = postgres.url("nodes")
        self.ttl_s = ttl_s
        key = cluster_key(folder / "cluster.pem")
        self.nodes = [
            NodeProcess(folder, name, postgres.url("nodes", proxy.port_for(name)), ttl_s=ttl_s, second=SECOND, key=key)
            for name in "abc"
        ]
        self.proxy = proxy
        for node in self.nodes:
            with node.config.open("a") as config:
                config.write("[limits]\nconnections_per_address = 2000\nconnections = 2000\n")

    def owners(self) -> dict[str, str]:
        """Group -> the node that has it."""
        rows = ask(self.url, "SELECT name, node FROM writer WHERE seen > clock_timestamp() - interval '5 s'")
        return {group: node for group, node in rows if node}

    def named(self, name: str) -> NodeProcess:
        return next(node for node in self.nodes if node.name == name)

    def ended(self) -> list[tuple[str, int]]:
        """Those that have ended, and how; they are started again."""
        found = []
        for node in self.nodes:
            if node.process is not None and node.process.poll() is not None:
                found.append((node.name, node.process.returncode))
                if node.process.returncode not in (-signal.SIGKILL, OVERTAKEN):
                    print(node.tail()[-1500:], file=sys.stderr)
                node.serve("--standby")
        return found

    def balancer(self, ports: Ports, proxied: bool) -> str:
        """HAProxy's configuration."""

        def way(node: NodeProcess, port: int) -> int:
            return self.proxy.port_for(balanced(node.name), port) if proxied else port

        text = _BALANCER
        for group, of_group in ports.items():
            for node in self.nodes:
                health = way(node, node.health_port)
                text += _CHECKS.format(group=group, node=node.name, lines=self._lines(node, group), health=health)
            for kind, port in zip(("lines", "websocket"), of_group, strict=True):
                text += f"\nfrontend {kind}-{group}\n    bind 127.0.0.1:{port}\n    default_backend {kind}-{group}\n"
                text += f"\nbackend {kind}-{group}\n"
                for node in self.nodes:
                    to = way(node, self._lines(node, group) if kind == "lines" else node.ws_port)
                    text += f"    server {node.name} 127.0.0.1:{to} track has-{group}-{node.name}/it\n"
                text += "    server nobody 127.0.0.1:1 backup\n"
        return text

    def _lines(self, node: NodeProcess, group: str) -> int:
        return node.port if group == "main" else node.second_port


def balanced(node: str) -> str:
    """What the proxy calls the way from HAProxy to this node."""
    return f"HAProxy to {node}"


@contextlib.contextmanager
def running(*, bots: int, ttl_s: float, seed: int = 1, proxied: bool = True) -> Iterator[tuple[Cluster, Ports]]:
    """The cluster, which knows so many bots, and where HAProxy takes lines and WebSocket of each group.

    :param proxied: False where the ways from HAProxy to the nodes lead through no other proxy
    """
    haproxy = shutil.which("haproxy") or "/usr/sbin/haproxy"
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cgos-cluster-")))
        postgres = stack.enter_context(postgres_server("fsync = on"))
        ask(postgres.url(), "CREATE DATABASE nodes")
        register(PostgresUrl.parse(postgres.url("nodes")), bots)
        cluster = Cluster(folder, postgres, stack.enter_context(CuttingProxy(postgres.port, seed)), ttl_s)
        stack.callback(_end_all, cluster)
        for node in cluster.nodes:
            node.serve("--standby")
        until(lambda: len(cluster.owners()) == len(GROUPS), "no node takes a group")
        ports = {group: (free_port(), free_port()) for group in GROUPS}
        config = folder / "haproxy.cfg"
        config.write_text(cluster.balancer(ports, proxied))
        log = stack.enter_context((folder / "haproxy.log").open("wb"))
        balancer = subprocess.Popen([haproxy, "-db", "-f", str(config)], stdout=log, stderr=log)
        stack.callback(end, balancer)
        yield cluster, ports


@contextlib.contextmanager
def playing(memory: Memory, ports: Ports, bots: int, think_s: float) -> Iterator[None]:
    """A quarter of the bots in each group by each protocol: all play when the block begins, none when it has ended."""
    groups = list(GROUPS)
    by_lines = [LineBot(ports[groups[number % 2]][0], number, memory, think_s) for number in range(bots // 2)]
    places = [
        (f"ws://127.0.0.1:{ports[groups[number % 2]][1]}", GROUPS[groups[number % 2]])
        for number in range(bots - len(by_lines))
    ]
    clients = ClientBots(places, len(by_lines), memory, think_s)
    for thread in (*by_lines, clients):
        thread.start()
    try:
        until(lambda: memory.after(0.0) == bots, "not every bot plays")
        yield
    finally:
        for bot in by_lines:
            bot.stopping.set()
        clients.stop()
        for bot in by_lines:
            bot.join(10)


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while True:
        with contextlib.suppress(OSError):  # PostgreSQL may be away
            if condition():
                return
        if time.monotonic() > deadline:
            raise RuntimeError(f"after {LIMIT_S:g} s {what}")
        time.sleep(0.1)


def _end_all(cluster: Cluster) -> None:
    for node in cluster.nodes:
        if node.process is not None:
            node.process.send_signal(signal.SIGCONT)
            end(node.process)
