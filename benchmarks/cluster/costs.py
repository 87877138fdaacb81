"""What a move costs nodes, PostgreSQL and a web node, where one, two or three groups of venues play.

A private PostgreSQL that waits for its disk, a node for each group, one web node whom nobody asks for anything, and
bots that play by the CGOS lines and think, so that each group has the same rate however many there are. CPU time of
the processes themselves, from /proc, within a window; moves from the database. Loopback only, bounded, stops by itself.

    python -m benchmarks.cluster.costs
    python -m benchmarks.cluster.costs --bots 40 --seconds 10
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from benchmarks.cluster.memory import LineBot, Memory
from benchmarks.cluster.running import until
from benchmarks.moves.server_moves import register
from benchmarks.reporting import ROOT, program, table
from cgos_server.storage.location import PostgresUrl

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.nodes import NodeProcess, nodes
from support.e2e.processes import end, free_port
from support.e2e.web_nodes import WebNode
from support.storage.postgres import PostgresServer, postgres_server
from support.storage.postgres_fixtures import ask

TICKS = os.sysconf("SC_CLK_TCK")
VENUE = """
[[venue]]
name = "{name}"
group = "{name}"
port = {port}
size = 9
komi = 7.0
time = {{ system = "absolute", main = "10m" }}
pairing = {{ interval_s = 0.5, patience_s = 0.5, settle_s = 0.05 }}
"""


class Costs(msgspec.Struct, kw_only=True):
    """CPU microseconds a move; `nodes` is their sum, divided by the moves of all groups."""

    groups: int
    per_s: float
    nodes: float
    postgres: float
    web: float


def run(
    bots: Annotated[int, "of each group"] = 100,
    groups: Annotated[Sequence[int], "how many groups, one after the other"] = (1, 2, 3),
    seconds: Annotated[float, "of a window"] = 30.0,
    think_s: Annotated[float, "for which a bot thinks, on average"] = 0.5,
) -> list[Costs]:
    """Print a table and return it."""
    costs = [_costs(count, bots, seconds=seconds, think_s=think_s) for count in groups]
    heads = ("groups", "moves/s", "nodes, us/move", "PostgreSQL, us/move", "web node, us/move")
    rows = [
        (each.groups, *(f"{value:.0f}" for value in (each.per_s, each.nodes, each.postgres, each.web)))
        for each in costs
    ]
    print(table(f"{bots} bots a group, thinking {think_s:g} s", heads, rows))
    return costs


def _costs(count: int, bots: int, *, seconds: float, think_s: float) -> Costs:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cgos-costs-")))
        postgres = stack.enter_context(postgres_server("fsync = on"))
        ask(postgres.url(), "CREATE DATABASE costs")
        url = postgres.url("costs")
        register(PostgresUrl.parse(url), count * bots)
        names = "abc"[:count]
        made: list[NodeProcess] = stack.enter_context(nodes(folder, url, *names, ttl_s=5.0))
        web = WebNode(folder, "w", url, ttl_s=5.0)
        ports = [[node.port for node in made], *_more_venues([*made, web], count - 1)]
        for node in made:
            node.serve("--standby")
            until(node.serves, f"node {node.name} does not serve")
        web.start()
        assert web.process is not None
        stack.callback(end, web.process)
        memory = Memory()
        players = [
            LineBot(ports[group][group], group * bots + number, memory, think_s)
            for group in range(count)
            for number in range(bots)
        ]
        for player in players:
            player.start()
        stack.callback(_stop, players)
        until(lambda: memory.after(0.0) == count * bots, "not every bot plays")
        time.sleep(5)
        before = _now(url, postgres, made, web)
        began = time.monotonic()
        time.sleep(seconds)
        after = _now(url, postgres, made, web)
        lasted = time.monotonic() - began
    moves, of_nodes, of_postgres, of_web = (late - early for early, late in zip(before, after, strict=True))
    return Costs(
        groups=count,
        per_s=moves / lasted,
        nodes=1e6 * of_nodes / moves,
        postgres=1e6 * of_postgres / moves,
        web=1e6 * of_web / moves,
    )


def _more_venues(all_nodes: Sequence[NodeProcess], count: int) -> list[list[int]]:
    """Add so many venues, each in a group of its own, to all configurations; the port of each at each node."""
    ports = []
    for number in range(count):
        ports.append([free_port() for _ in all_nodes])
        for node, port in zip(all_nodes, ports[-1], strict=True):
            with node.config.open("a") as config:
                config.write(VENUE.format(name=f"more{number}", port=port))
    return ports


def _now(url: str, postgres: PostgresServer, made: Sequence[NodeProcess], web: WebNode) -> tuple[float, ...]:
    """Moves so far, and CPU seconds of nodes, of PostgreSQL and of the web node."""
    [(moves,)] = ask(url, "SELECT count(*) FROM moves")
    postmaster = int((postgres.data / "postmaster.pid").read_text().splitlines()[0])
    assert web.process is not None
    return (
        float(moves),
        sum(_cpu_s(node.process.pid) for node in made if node.process is not None),
        _family_s(postmaster),
        _family_s(web.process.pid),
    )


def _family_s(pid: int) -> float:
    """Of a process and its children, those that have ended among them."""
    children = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _parent(path) == pid]
    return _cpu_s(pid, ended=True) + sum(_cpu_s(child, ended=True) for child in children)


def _parent(path: Path) -> int:
    with contextlib.suppress(OSError):
        return int(_fields(path)[1])
    return 0


def _cpu_s(pid: int, *, ended: bool = False) -> float:
    """User and system time, with that of children that have ended where they are asked for."""
    with contextlib.suppress(OSError):
        fields = _fields(Path(f"/proc/{pid}"))
        return sum(map(int, fields[11 : 15 if ended else 13])) / TICKS
    return 0.0


def _fields(path: Path) -> list[str]:
    """Those of `stat` after the name."""
    return (path / "stat").read_text().rpartition(")")[2].split()


def _stop(players: Sequence[LineBot]) -> None:
    for player in players:
        player.stopping.set()
    for player in players:
        player.join(10)


main = program(run, bots=2, groups=[1], seconds=1.0, think_s=0.05)

if __name__ == "__main__":
    main()
