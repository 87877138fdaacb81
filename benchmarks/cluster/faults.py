"""Faults of all kinds, at random but seeded, in a cluster of three nodes and two groups under bots of both protocols.

A private PostgreSQL that waits for its disk; each node reaches it through a proxy that can hold everything back and
deliver it late; HAProxy before the nodes, which asks each one on which venue's port it listens and whether its loop
turns; bots that play one legal game and remember all that they were told, half by the CGOS lines, half by our client. A
fault is one of:

- a node that has a group is killed (`kill -9`)
- it is stopped (SIGSTOP) for a while, often longer than its time to live, and goes on (SIGCONT)
- it is cut from PostgreSQL for a while; what it sent comes late
- it is cut from HAProxy for a while, likewise
- PostgreSQL is killed, and started again
- the node that stands by is killed

After each one the time is measured until every bot has answered a move, and nodes that have ended are started again.
In the end all moves and results that any bot was told are looked for in the database, and for each move what its clock
was charged beyond the time that its bot took, by the bot's own clock. Loopback only, bounded, stops by itself. Needs
`haproxy`.

    python -m benchmarks.cluster.faults
    python -m benchmarks.cluster.faults --faults 10 --bots 40
"""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Sequence
from statistics import median
from typing import Annotated, NamedTuple

import msgspec

from benchmarks.cluster.memory import Memory
from benchmarks.cluster.running import GROUPS, Cluster, balanced, playing, running, until
from benchmarks.reporting import ROOT, program, table

sys.path.insert(0, str(ROOT / "tests"))

from support.storage.postgres_fixtures import ask

LONGEST_STOP = 3.0
"""Times to live for which a node is stopped or cut off at most."""
LATE_S = 30.0
"""Bots that have not answered a move so long after a fault are named."""
CHARGED_S = 0.25
"""What a clock may be charged for a move besides what its bot thought: the way there and back on a busy machine."""


NEVER = ("moves told and lost", "results told and lost", "told and impossible", "entries of ledgers out of order")
"""What must be 0, whatever the fault."""


class Outcome(msgspec.Struct, kw_only=True):
    """Of one fault.

    :ivar fault: in words, with its node
    :ivar at: when it began, Unix seconds
    :ivar lasted_s: how long it was there; 0 for a kill
    :ivar playing_s: from its begin until every bot had answered a move since
    :ivar exits: (node, exit code) of those that ended by themselves
    """

    fault: str
    at: float
    lasted_s: float
    playing_s: float
    exits: list[tuple[str, int]]


def run(
    faults: Annotated[int, "to be made"] = 100,
    bots: Annotated[int, "that play, half of them by each protocol"] = 200,
    ttl_s: Annotated[float, "time to live of a node, seconds"] = 5.0,
    think_s: Annotated[float, "for which a bot thinks, on average"] = 1.0,
    rest_s: Annotated[float, "between two faults at most, and at least a third of it"] = 6.0,
    seed: Annotated[int, "of the faults"] = 1,
) -> dict[str, object]:
    """Print a table of the kinds and what was lost; the same as figures, with each fault's outcome."""
    memory = Memory()
    with running(bots=bots, ttl_s=ttl_s, seed=seed) as (cluster, ports):
        with playing(memory, ports, bots, think_s):
            outcomes = _campaign(cluster, memory, faults=faults, bots=bots, rest_s=rest_s, lots=random.Random(seed))
        lost = lost_of(cluster.url, memory)
        charges = charges_of(cluster.url, memory)
    _print(outcomes, lost, charges)
    broken = {what: lost[what] for what in NEVER if lost[what]}
    if broken:
        raise RuntimeError(f"this may never happen: {broken}")
    return {"outcomes": outcomes, **lost, "charged beyond thinking": charges[:100], "told": len(memory.moves)}


def _campaign(
    cluster: Cluster, memory: Memory, *, faults: int, bots: int, rest_s: float, lots: random.Random
) -> list[Outcome]:
    kinds = [_killed, _stopped, _cut_off, _unbalanced, _without_postgres, _standby_killed]
    outcomes: list[Outcome] = []
    for number in range(faults):
        until(lambda: len(cluster.owners()) == len(GROUPS), "a group has no node")
        time.sleep(lots.uniform(rest_s / 3, rest_s))
        began, at = time.monotonic(), time.time()
        what, lasted = lots.choice(kinds)(cluster, lots)
        exits = cluster.ended()
        since = time.monotonic() if lasted else began  # while a node hangs its bots may go on at another one
        patience = began + LATE_S
        until(
            lambda since=since, patience=patience: memory.after(since) == bots or time.monotonic() > patience,  # type: ignore[misc]
            "they are waited for no longer than that",
        )
        late = memory.late(since)
        if late:
            print(f"  {len(late)} bots play late: {', '.join(late[:10])}", file=sys.stderr)
        until(lambda since=since: memory.after(since) == bots, f"after fault {number} ({what}) not every bot plays")  # type: ignore[misc]
        playing = time.monotonic() - began
        exits += cluster.ended()
        outcomes.append(Outcome(fault=what, at=at, lasted_s=round(lasted, 2), playing_s=round(playing, 2), exits=exits))
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


def _unbalanced(cluster: Cluster, lots: random.Random) -> tuple[str, float]:
    name = lots.choice(sorted(cluster.owners().values()))
    lasting = lots.uniform(0.2, LONGEST_STOP) * cluster.ttl_s
    cluster.proxy.stop_flow(balanced(name))
    time.sleep(lasting)
    cluster.proxy.let_flow(balanced(name))
    return "a node with a group is cut from HAProxy", lasting


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


def lost_of(url: str, memory: Memory) -> dict[str, object]:
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


class Charge(NamedTuple):
    """What a clock was charged for a move beyond what its bot took. `at`: when it was played, Unix seconds."""

    game: int
    ply: int
    at: float
    seconds: float


def charges_of(url: str, memory: Memory) -> list[Charge]:
    """All of them, the largest first."""
    rows = ask(
        url,
        "SELECT game_id, ply, at, before - main_us FROM (SELECT game_id, ply, at, main_us, "
        "lag(main_us, 2) OVER (PARTITION BY game_id ORDER BY ply) AS before FROM moves) AS of_side WHERE before > 0",
    )
    charges = [
        Charge(game, ply, at / 1000, max(0.0, used / 1e6 - memory.thought[game, ply]))
        for game, ply, at, used in rows
        if (game, ply) in memory.thought
    ]
    return sorted(charges, key=lambda charge: -charge.seconds)


def _by_fault(outcomes: Sequence[Outcome], charges: Sequence[Charge]) -> dict[str, float]:
    """Fault -> the most that was charged for a move after one of that kind, and before the next."""
    most: dict[str, float] = {}
    for charge in charges:
        before = [outcome for outcome in outcomes if outcome.at <= charge.at]
        kind = before[-1].fault if before else "none yet"
        most[kind] = max(most.get(kind, 0.0), charge.seconds)
    return most


def _print(outcomes: Sequence[Outcome], lost: dict[str, object], charges: Sequence[Charge]) -> None:
    rows, most = [], _by_fault(outcomes, charges)
    for fault in sorted({outcome.fault for outcome in outcomes}):
        these = [outcome for outcome in outcomes if outcome.fault == fault]
        playing = [outcome.playing_s for outcome in these]
        codes = [code for outcome in these for _, code in outcome.exits]
        ended = ", ".join(f"{codes.count(code)} by {code}" for code in sorted(set(codes))) or "none"
        times = (f"{median(playing):.1f}", f"{max(playing):.1f}", f"{most.get(fault, 0.0):.2f}")
        rows.append((fault, len(these), *times, ended))
    heads = ("fault", "times", "all play after, s, p50", "worst", "most charged beyond thinking, s", "nodes ended")
    print(table("faults", heads, rows))
    beyond = sum(charge.seconds > CHARGED_S for charge in charges)
    figures = [*lost.items(), (f"moves charged {CHARGED_S} s or more beyond thinking", f"{beyond} of {len(charges)}")]
    print(table("what was lost", ("figure", "value"), figures))


main = program(run, faults=10, bots=8, ttl_s=1.5, think_s=0.05, rest_s=1.0)

if __name__ == "__main__":
    main()
