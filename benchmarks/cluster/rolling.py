"""A cluster is upgraded node after node under bots of both protocols: who is refused, and how long games pause.

Three nodes and two groups behind HAProxy, as `faults.py` has them. A round begins the node that stands by anew, as an
upgrade without a change of schema does, then has it take one group over (`cluster handover`), and begins the node that
let go anew, which stands by from then on. Somebody connects to each port of HAProxy ten times a second meanwhile and
waits for the greeting. A pause of a bot is the time between two of its moves after which
the server went on; in it its opponent thinks, too.
Loopback only, bounded, stops by itself. Needs `haproxy`.

    python -m benchmarks.cluster.rolling
    python -m benchmarks.cluster.rolling --rounds 2 --bots 40
"""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
from statistics import median
from typing import Annotated

import msgspec

from benchmarks.cluster.faults import charges_of, lost_of
from benchmarks.cluster.memory import Memory
from benchmarks.cluster.running import GROUPS, Cluster, Ports, playing, running, until
from benchmarks.reporting import program, table

EVERY_S = 0.1
GREETED_S = 90.0


class Knocker(threading.Thread):
    """Connects to one port again and again.

    :ivar refused: connects that were refused, or closed before a greeting
    :ivar waits: seconds from a connect to its greeting
    """

    def __init__(self, port: int, greeted: bool) -> None:
        super().__init__(name=f"knocker {port}", daemon=True)
        self.port = port
        self.greeted = greeted
        self.refused: list[str] = []
        self.waits: list[float] = []
        self.stopping = threading.Event()

    def run(self) -> None:
        while not self.stopping.wait(EVERY_S):
            began = time.monotonic()
            try:
                with socket.create_connection(("127.0.0.1", self.port), GREETED_S) as knock:
                    if self.greeted and not knock.recv(100):
                        self.refused.append("closed before a greeting")
            except OSError as error:
                self.refused.append(str(error))
            self.waits.append(time.monotonic() - began)


class Round(msgspec.Struct, kw_only=True):
    """One group that moves.

    :ivar handed_over_s: what the command took
    :ivar pause_s: the longest pause of a bot that was in it
    """

    group: str
    handed_over_s: float
    pause_s: float


def run(
    rounds: Annotated[int, "in each of which both groups move"] = 5,
    bots: Annotated[int, "that play, half of them by each protocol"] = 200,
    ttl_s: Annotated[float, "time to live of a node, seconds"] = 5.0,
    think_s: Annotated[float, "for which a bot thinks, on average"] = 1.0,
) -> dict[str, object]:
    """Print what came of connects, games and clocks; the same as figures."""
    memory = Memory()
    moved: list[Round] = []
    with running(bots=bots, ttl_s=ttl_s, proxied=False) as (cluster, ports):
        knockers = _knockers(ports)
        with playing(memory, ports, bots, think_s):
            for knocker in knockers:
                knocker.start()
            for number in range(rounds):
                for group in GROUPS:
                    moved.append(_moved(cluster, memory, group, bots))
                    print(f"  {number + 1} of {rounds}: {moved[-1]}", file=sys.stderr)
            for knocker in knockers:
                knocker.stopping.set()
            for knocker in knockers:
                knocker.join(GREETED_S)
        lost = lost_of(cluster.url, memory)
        charges = charges_of(cluster.url, memory)
    figures: dict[str, object] = {
        "groups moved": len(moved),
        "command, s, p50": round(median(each.handed_over_s for each in moved), 2),
        "longest pause of a bot, s, p50": round(median(each.pause_s for each in moved), 2),
        "longest pause of a bot, s, worst": round(max(each.pause_s for each in moved), 2),
        "connects": sum(len(knocker.waits) for knocker in knockers),
        "connects refused or not greeted": sum(len(knocker.refused) for knocker in knockers),
        "longest wait for a greeting, s": round(max(max(knocker.waits) for knocker in knockers), 2),
        "most charged for a move beyond thinking, s": round(max(charge.seconds for charge in charges), 3),
        **lost,
    }
    print(table("upgraded node after node", ("figure", "value"), figures.items()))
    return figures


def _knockers(ports: Ports) -> list[Knocker]:
    """One for each port; by WebSocket nobody speaks before the client does."""
    return [
        knocker for lines, websocket in ports.values() for knocker in (Knocker(lines, True), Knocker(websocket, False))
    ]


def _moved(cluster: Cluster, memory: Memory, group: str, bots: int) -> Round:
    """Have the node that stands by begin anew and take the group; and the other one stand by."""
    owners = cluster.owners()
    standby = next(node for node in cluster.nodes if node.name not in owners.values())
    assert standby.process is not None
    standby.process.send_signal(signal.SIGTERM)
    standby.process.wait(30)
    standby.stand_by()
    former = cluster.named(owners[group])
    until(lambda: memory.after(time.monotonic() - 5.0) == bots, "not every bot plays")
    memory.pauses.clear()
    began = time.monotonic()
    done = standby.command("cluster", "handover", group)
    assert done.returncode == 0, done.stderr
    handed_over = time.monotonic() - began
    assert former.process is not None
    former.process.wait(30)
    former.stand_by()
    until(lambda: memory.after(began + handed_over) == bots, "not every bot plays on")
    return Round(group=group, handed_over_s=handed_over, pause_s=max(memory.pauses.values()))


main = program(run, rounds=1, bots=8, ttl_s=1.5, think_s=0.05)

if __name__ == "__main__":
    main()
