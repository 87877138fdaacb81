"""Whether every panel of the dashboards, and every metric of the alerts, has data when a real Prometheus scrapes a real
server under load.

Bots play; a visitor reads pages and follows all games; wrong passwords, too many requests, a webhook's messages, a
backup, an event and refits of the ratings happen. Then every query is put to Prometheus: the program exits with 1 where
one has no data. Loopback only, bounded, stops by itself. Needs `prometheus` and `openssl`.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.operations import peers
from benchmarks.operations.servers import prepared, started
from benchmarks.operations.watching import DEPLOY, Watcher, rules, watcher
from benchmarks.reporting import ROOT, CommandLine, write_json

sys.path.insert(0, str(ROOT / "tests"))

from support.deploy.queries import OF_PROMETHEUS, names
from support.e2e.processes import ServerProcess

INTERVAL_S = 1.0
MOVE_S = 0.1
"""Thinking time of a move."""
SPARE_S = 900.0
"""For which bots play longer at most, where a busy machine is late with the rest."""
REQUESTS_A_MINUTE = 120
VENUE = 'time = { system = "absolute", main = "10m" }'


class Query(NamedTuple):
    """Something that is read."""

    place: str
    text: str


def drawn() -> Iterator[Query]:
    """The queries of all panels, for all venues."""
    for path in sorted((DEPLOY / "grafana" / "dashboards").glob("*.json")):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel.get("targets", ()):
                text = target["expr"].replace("$venue", ".*").replace("$__rate_interval", f"{15 * INTERVAL_S:.0f}s")
                yield Query(f"{path.stem}: {panel['title']}: {target['legendFormat']}", text)


def weighed() -> Iterator[Query]:
    """What the alerts read: their conditions themselves have no data while all is well."""
    for rule in (rule for group in rules()["groups"] for rule in group["rules"]):
        for name in sorted(names(rule["expr"]) - OF_PROMETHEUS):
            yield Query(f"{rule['alert']}: {name}", f"count({name})")


def settings() -> str:
    """Keys of the server, and tables: a backup is due as soon as it runs."""
    due = time.strftime("%H:%M", time.gmtime(time.time() - 120))
    return f'[limits]\nconnections = 2000\nconnections_per_address = 2000\n[backup]\nat = "{due}"'


def happen(running: ServerProcess, bots: int) -> None:
    """What does not come by itself."""
    event = ("create drill round-robin --starts-with 2", "open drill")
    entries = (f"enter drill Load-{number:05d}" for number in (0, bots))  # the second is not there: its game stays due
    for words in (*event, *entries):
        done = running.command("event", *words.split())
        if done.returncode:
            raise RuntimeError(f"event {words}: {done.stderr}")
    for number in range(3):
        peers.sign_in(running.port, f"Load-{bots:05d}", password="wrong" * (number + 1))
    peers.sign_in(running.port, f"Load-{bots:05d}", then="what?")
    for _ in range(REQUESTS_A_MINUTE + 20):
        peers.visit(running.web_port, "/api/v1/venues")


def run(bots: int, seconds: float) -> dict[str, Any]:
    """Load, look, report."""
    with tempfile.TemporaryDirectory(prefix="cgos-scrape-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        webhook_port = stack.enter_context(peers.receiver())
        serving = prepared(folder, bots + 1, webhook_port, settings(), venue=VENUE, requests=REQUESTS_A_MINUTE)
        running = stack.enter_context(started(serving))
        watching = stack.enter_context(watcher(folder, running.health_port, INTERVAL_S))
        stack.enter_context(peers.players(folder, running.port, bots, MOVE_S, seconds + SPARE_S))
        stack.enter_context(peers.stream(running.web_port))
        stack.enter_context(peers.repeated(lambda: peers.visit(running.web_port, "/venue/9x9"), 1.0))
        time.sleep(seconds / 2)
        happen(running, bots)
        time.sleep(seconds / 2)
        return report(watching)


def report(watching: Watcher) -> dict[str, Any]:
    """The queries that have no data, and how many have."""
    asked = [*drawn(), *weighed()]
    empty = [query for query in asked if not watching.values(query.text)]
    for query in empty:
        print(f"no data: {query.place}\n    {query.text}")
    moves = sum(watching.values("sum(rate(cgos_moves_total[15s]))"))
    print(f"{len(asked)} queries, {len(empty)} without data; {moves:.0f} moves a second")
    return {"queries": len(asked), "without_data": [query._asdict() for query in empty], "moves_per_s": moves}


def main(words: Sequence[str] | None = None) -> None:
    """:raises SystemExit: a query has no data"""
    parser = CommandLine(__doc__, bots=2, seconds=0.2)
    parser.add_argument("--bots", type=int, default=100, help="that play (default 100)")
    parser.add_argument("--seconds", type=float, default=40.0, help="of load before the queries (default 40)")
    options = parser.read(words)
    figures = run(options.bots, options.seconds)
    write_json(options.json, figures)
    if figures["without_data"] and not options.tiny:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
