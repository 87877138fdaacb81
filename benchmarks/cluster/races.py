"""Two nodes are asked for the same at once, again and again: to register one name, and to change one bot.

A private PostgreSQL that waits for its disk and two real nodes on loopback, each with a group of its own. Each round
two bots sign in under one new name, at one node each, with two passwords: one has to be let in, the other one refused
by its password. Then the bot is disabled through one node and its games are limited through the other one at the same
time: both must hold afterwards, whichever came first. In the end both nodes must be alive, and every name must be there
once. Bounded, stops by itself.

    python -m benchmarks.cluster.races
    python -m benchmarks.cluster.races --rounds 20
"""

from __future__ import annotations

import asyncio
import functools
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Annotated

from benchmarks.reporting import ROOT, program, table
from cgos_protocol.errors import Refused
from cgos_server.net import control_socket
from cgos_server.service.commands.availability import BotLimit
from cgos_server.service.commands.bots import BotDisable
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.nodes import NodeProcess, nodes, race
from support.e2e.processes import until
from support.storage.postgres import postgres_server
from support.storage.postgres_fixtures import ask as query

SECOND = "second"
LIMIT_S = 60.0
GAMES = 7


def run(rounds: Annotated[int, "of both kinds"] = 1000) -> dict[str, object]:
    """Print how the races ended; the same as figures."""
    with tempfile.TemporaryDirectory(prefix="cgos-races-") as folder, postgres_server("fsync = on") as postgres:
        query(postgres.url(), "CREATE DATABASE nodes")
        url = postgres.url("nodes")
        with nodes(Path(folder), url, "a", "b", ttl_s=5.0, second=SECOND) as both:
            for node, venue in zip(both, ("9x9", SECOND), strict=True):
                node.serve("--standby")
                until(node.serves, LIMIT_S, f"node {node.name} does not serve")
                paused = node.command("pause", "--venue", venue)  # whoever is let in hears nothing more
                assert paused.returncode == 0, paused.stderr
            figures = _races(both[0], both[1], rounds)
            figures["nodes alive"] = sum(node.process is not None and node.process.poll() is None for node in both)
        [(bots, names)] = query(url, "SELECT count(*), count(DISTINCT name_key) FROM bots")
        [(both_hold,)] = query(
            url, f"SELECT count(*) FROM bots WHERE state = 'disabled' AND limits LIKE '%\"games_a_day\":{GAMES}%'"
        )
        figures |= {"bots": bots, "names": names, "disabled and limited": both_hold}
    print(table("two nodes at once", ("figure", "value"), figures.items()))
    return figures


def _races(first: NodeProcess, second: NodeProcess, rounds: int) -> dict[str, object]:
    refused = refusals = 0
    signed: list[float] = []
    changed: list[float] = []
    for number in range(rounds):
        name = f"racer{number}"
        began = time.monotonic()
        told = race((first.port, second.second_port), name)
        signed.append(time.monotonic() - began)
        refused += told == [f"Error: Sorry, password doesn't match the name {name}.\n"]
        began = time.monotonic()
        refusals += asyncio.run(_change(first, second, name))
        changed.append(time.monotonic() - began)
        if not (number + 1) % 50:
            print(f"  {number + 1} of {rounds}", file=sys.stderr)
    return {
        "rounds": rounds,
        "one let in, one refused": refused,
        "changes refused": refusals,
        "registered, ms, median": round(1000 * median(signed), 1),
        "changed, ms, median": round(1000 * median(changed), 1),
    }


async def _change(first: NodeProcess, second: NodeProcess, name: str) -> int:
    """How many of the two were refused."""

    async def change(node: NodeProcess, command: Command[object]) -> int:
        try:
            await ask(functools.partial(control_socket.call, node.data), command)
        except Refused as refusal:
            print(refusal, file=sys.stderr)
            return 1
        return 0

    disable, limit = BotDisable(bot=name, reason="a race"), BotLimit(bot=name, games_a_day=GAMES)
    return sum(await asyncio.gather(change(first, disable), change(second, limit)))  # type: ignore[arg-type]


main = program(run, rounds=3)

if __name__ == "__main__":
    main()
