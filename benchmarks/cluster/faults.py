"""Faults of all kinds, at random but seeded, in a cluster of three nodes and two groups under bots of both protocols.

A private PostgreSQL that waits for its disk; each node reaches it through a proxy that can hold everything back and
deliver it late; HAProxy before the nodes, which asks each one on which venue's port it listens and whether its loop
turns; bots that play one legal game and remember all that they were told, half by the CGOS lines, half by our client. A
fault is one of:

- a node that has a group is killed (`kill -9`)
- it is stopped (SIGSTOP) for a while, often longer than its time to live, and goes on (SIGCONT)
- it is cut from PostgreSQL for a while; what it sent comes late
- PostgreSQL is killed, and started again
- the node that stands by is killed

After each one the time is measured until every bot has answered a move, and nodes that have ended are started again.
In the end all moves and results that any bot was told are looked for in the database, and the time is computed that
any clock was charged for a move. Loopback only, bounded, stops by itself. Needs `haproxy`.

    python -m benchmarks.cluster.faults
    python -m benchmarks.cluster.faults --faults 10 --bots 40
"""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Annotated

import msgspec

from benchmarks.cluster.memory import ClientBots, LineBot, Memory
from benchmarks.moves.server_moves import register
from benchmarks.reporting import ROOT, program, table
from cgos_server.storage.location import PostgresUrl

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.nodes import NodeProcess
from support.e2e.processes import end, free_port
from support.net.cutting_proxy import CuttingProxy
from support.storage.postgres import PostgresServer, postgres_server
from support.storage.postgres_fixtures import ask

SECOND = "second"
GROUPS = {"main": "9x9", SECOND: SECOND}
"""Group -> its venue."""
LIMIT_S = 120.0
REST_S = (2.0, 6.0)
"""Between two faults."""
LONGEST_STOP = 3.0
"""Times to live for which a node is stopped or cut off at most."""
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


class Outcome(msgspec.Struct, kw_only=True):
    """Of one fault.

    :ivar fault: in words, with its node
    :ivar lasted_s: how long it was there; 0 for a kill
    :ivar playing_s: from its begin until every bot had answered a move since
    :ivar exits: (node, exit code) of those that ended by themselves
    """

    fault: str
    lasted_s: float
    playing_s: float
    exits: list[tuple[str, int]]


class Cluster:
    """Three nodes, each with a port of its own in a proxy before PostgreSQL; they run as standbys."""

    def __init__(self, folder: Path, postgres: PostgresServer, proxy: CuttingProxy, ttl_s: float) -> None:
        self.postgres = postgres
        self.url = postgres.url("nodes")
        self.ttl_s = ttl_s
        self.nodes = [
            NodeProcess(folder, name, postgres.url("nodes", proxy.port_for(name)), ttl_s=ttl_s, second=SECOND)
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

    def balancer(self, ports: dict[str, tuple[int, int]]) -> str:
        """HAProxy's configuration; `ports`: group -> where it takes lines and WebSocket."""
        text = _BALANCER
        for group, of_group in ports.items():
            for node in self.nodes:
                lines = node.port if group == "main" else node.second_port
                text += _CHECKS.format(group=group, node=node.name, lines=lines, health=node.health_port)
            for way, port in zip(("lines", "websocket"), of_group, strict=True):
                text += f"\nfrontend {way}-{group}\n    bind 127.0.0.1:{port}\n    default_backend {way}-{group}\n"
                text += f"\nbackend {way}-{group}\n"
                for node in self.nodes:
                    lines = node.port if group == "main" else node.second_port
                    to = lines if way == "lines" else node.ws_port
                    text += f"    server {node.name} 127.0.0.1:{to} track has-{group}-{node.name}/it\n"
                text += "    server nobody 127.0.0.1:1 backup\n"
        return text


def run(
    faults: Annotated[int, "to be made"] = 100,
    bots: Annotated[int, "that play, half of them by each protocol"] = 200,
    ttl_s: Annotated[float, "time to live of a node, seconds"] = 5.0,
    think_s: Annotated[float, "for which a bot thinks, on average"] = 1.0,
    seed: Annotated[int, "of the faults"] = 1,
) -> dict[str, object]:
    """Print a table of the kinds and what was lost; the same as figures, with each fault's outcome."""
    haproxy = shutil.which("haproxy") or "/usr/sbin/haproxy"
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cgos-faults-")))
        postgres = stack.enter_context(postgres_server("fsync = on"))
        ask(postgres.url(), "CREATE DATABASE nodes")
        register(PostgresUrl.parse(postgres.url("nodes")), bots)
        cluster = Cluster(folder, postgres, stack.enter_context(CuttingProxy(postgres.port, seed)), ttl_s)
        stack.callback(_end_all, cluster)
        for node in cluster.nodes:
            node.serve("--standby")
        _until(lambda: len(cluster.owners()) == len(GROUPS), "no node takes a group")
        ports = {group: (free_port(), free_port()) for group in GROUPS}
        config = folder / "haproxy.cfg"
        config.write_text(cluster.balancer(ports))
        log = stack.enter_context((folder / "haproxy.log").open("wb"))
        balancer = subprocess.Popen([haproxy, "-db", "-f", str(config)], stdout=log, stderr=log)
        stack.callback(end, balancer)
        memory = Memory()
        with _playing(memory, ports, bots, think_s):
            _until(lambda: memory.after(0.0) == bots, "not every bot plays")
            outcomes = _campaign(cluster, memory, faults=faults, bots=bots, lots=random.Random(seed))
        lost = _lost(cluster.url, memory)
        charged = _charged(cluster.url)
    _print(outcomes, lost, charged, think_s)
    return {"outcomes": outcomes, **lost, "most charged for a move, s": charged, "told": len(memory.moves)}


def _campaign(cluster: Cluster, memory: Memory, *, faults: int, bots: int, lots: random.Random) -> list[Outcome]:
    kinds = [_killed, _stopped, _cut_off, _without_postgres, _standby_killed]
    outcomes: list[Outcome] = []
    for number in range(faults):
        _until(lambda: len(cluster.owners()) == len(GROUPS), "a group has no node")
        time.sleep(lots.uniform(*REST_S))
        began = time.monotonic()
        what, lasted = lots.choice(kinds)(cluster, lots)
        exits = cluster.ended()
        since = time.monotonic() if lasted else began  # while a node hangs its bots may go on at another one
        _until(lambda since=since: memory.after(since) == bots, f"after fault {number} ({what}) not every bot plays")  # type: ignore[misc]
        playing = time.monotonic() - began
        exits += cluster.ended()
        outcomes.append(Outcome(fault=what, lasted_s=round(lasted, 2), playing_s=round(playing, 2), exits=exits))
        print(
            f"  {number + 1} of {faults}: {what}, {lasted:.1f} s; all play after {playing:.1f} s; {exits}",
            file=sys.stderr,
        )
        if memory.faults:
            raise RuntimeError("; ".join(memory.faults[:5]))
    return outcomes


def _killed(cluster: Cluster, lots: random.Random) -> tuple[str, float]:
    node = cluster.named(lots.choice(sorted(cluster.owners().values())))
    node.kill()
    return "a node with a group is killed", 0.0


def _stopped(cluster: Cluster, lots: random.Random) -> tuple[str, float]:
    node = cluster.named(lots.choice(sorted(cluster.owners().values())))
    lasting = lots.uniform(0.2, LONGEST_STOP) * cluster.ttl_s
    assert node.process is not None
    node.process.send_signal(signal.SIGSTOP)
    time.sleep(lasting)
    node.process.send_signal(signal.SIGCONT)
    return "a node with a group is stopped and goes on", lasting


def _cut_off(cluster: Cluster, lots: random.Random) -> tuple[str, float]:
    name = lots.choice(sorted(cluster.owners().values()))
    lasting = lots.uniform(0.2, LONGEST_STOP) * cluster.ttl_s
    cluster.proxy.stop_flow(name)
    time.sleep(lasting)
    cluster.proxy.let_flow(name)
    return "a node with a group is cut from PostgreSQL", lasting


def _without_postgres(cluster: Cluster, lots: random.Random) -> tuple[str, float]:
    lasting = lots.uniform(0.0, 4.0)
    cluster.postgres.stop("immediate")
    time.sleep(lasting)
    cluster.postgres.start()
    return "PostgreSQL is killed and started", lasting


def _standby_killed(cluster: Cluster, lots: random.Random) -> tuple[str, float]:
    owners = set(cluster.owners().values())
    node = lots.choice([node for node in cluster.nodes if node.name not in owners])
    node.kill()
    return "the node that stands by is killed", 0.0


@contextlib.contextmanager
def _playing(memory: Memory, ports: dict[str, tuple[int, int]], bots: int, think_s: float) -> Iterator[None]:
    """A quarter of the bots in each group by each protocol, while the block runs."""
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
        yield
    finally:
        for bot in by_lines:
            bot.stopping.set()
        clients.stop()
        for bot in by_lines:
            bot.join(10)


def _lost(url: str, memory: Memory) -> dict[str, object]:
    """What was told and is not there, and games that ended otherwise than by their moves."""
    stored = set(ask(url, "SELECT game_id, ply FROM moves"))
    results = dict(ask(url, "SELECT id, result FROM games"))
    told = {(game, ply) for game, ply in memory.moves if ply}
    ends = [(game, result) for game, told_ends in memory.ends.items() for result in told_ends if result != "?"]
    reasons = dict(ask(url, "SELECT reason, count(*) FROM games WHERE ended_at IS NOT NULL GROUP BY 1"))
    return {
        "moves told": len(told),
        "moves told and lost": len(told - stored),
        "results told": len(ends),
        "results told and lost": sum(results.get(game) != result for game, result in ends),
        "told and impossible": len(memory.faults),
        "games by how they ended": reasons,
        "entries of ledgers out of order": _gaps(url),
    }


def _gaps(url: str) -> int:
    """Entries that are missing in a ledger: a write that came late would leave some."""
    rows = ask(url, "SELECT count(*), max(seq) FROM ledger GROUP BY venue_id")
    return sum(last - count for count, last in rows)


def _charged(url: str) -> float:
    """Seconds, the most that a clock was charged for one move: main time is all that there is."""
    rows = ask(
        url,
        "SELECT max(before - main_us) FROM (SELECT main_us, lag(main_us, 2) OVER (PARTITION BY game_id ORDER BY ply) "
        "AS before FROM moves) AS of_side",
    )
    return round((rows[0][0] or 0) / 1e6, 3)


def _print(outcomes: list[Outcome], lost: dict[str, object], charged: float, think_s: float) -> None:
    rows = []
    for fault in sorted({outcome.fault for outcome in outcomes}):
        these = [outcome for outcome in outcomes if outcome.fault == fault]
        playing = [outcome.playing_s for outcome in these]
        codes = [code for outcome in these for _, code in outcome.exits]
        ended = ", ".join(f"{codes.count(code)} by {code}" for code in sorted(set(codes))) or "none"
        rows.append((fault, len(these), f"{median(playing):.1f}", f"{max(playing):.1f}", ended))
    print(table("faults", ("fault", "times", "all play after, s, p50", "worst", "nodes ended"), rows))
    thinking = f"bots think {0.5 * think_s:g} to {1.5 * think_s:g}"
    figures = [*lost.items(), (f"most charged for a move, s ({thinking})", charged)]
    print(table("what was lost", ("figure", "value"), figures))


def _until(condition: Callable[[], bool], what: str) -> None:
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


main = program(run, faults=2, bots=8, ttl_s=1.5, think_s=0.05)

if __name__ == "__main__":
    main()
