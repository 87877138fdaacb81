"""How long pages and answers of the API take on a large database, over HTTP to the real web process.

Each kind of address is asked for with arguments drawn by a seed (bots weighted by their games as visitors meet them),
one request at a time, without conditional requests, so that nothing comes from a browser's cache. Wall-clock
milliseconds, and bytes as they are transferred (gzip). The database is one that `big_database.py` makes.
"""

from __future__ import annotations

import gc
import http.client
import math
import os
import random
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.progress import track

from benchmarks.reporting import CommandLine, processor, table, write_json
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage import DATABASE
from cgos_server.storage.location import PostgresUrl
from cgos_server.web.command_line import command, environment

GOAL_MS = 300.0
STANDINGS_MS = 100.0
REASONS = ("time", "resignation", "score", "illegal", "forfeit", "void")


class Past(NamedTuple):
    """What addresses are made of, as the database has it."""

    venue: str
    bots: list[str]
    games: list[int]
    rounds: list[int]
    last_entry: int

    @classmethod
    def of(cls, database: Path, rng: random.Random, how_many: int) -> Past:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
            (venue, name) = db.execute("SELECT id, name FROM venues ORDER BY id LIMIT 1").fetchone()
            (last,) = db.execute("SELECT max(id) FROM games").fetchone()
            drawn = [rng.randint(1, last) for _ in range(how_many)]
            marks = ",".join("?" * len(drawn))
            rows = db.execute(
                f"SELECT g.id, v.wire_name FROM games g JOIN versions v ON v.id = g.black_id WHERE g.id IN ({marks})",
                drawn,
            ).fetchall()
            rounds = [row[0] for row in db.execute("SELECT id FROM rounds ORDER BY id DESC LIMIT 500")]
            (entry,) = db.execute("SELECT max(seq) FROM ledger WHERE venue_id = ?", (venue,)).fetchone()
            with_moves = [row[0] for row in db.execute("SELECT DISTINCT game_id FROM moves LIMIT 300")]
        return cls(
            venue=name,
            bots=[row[1] for row in rows],
            games=with_moves or [row[0] for row in rows],
            rounds=rounds,
            last_entry=entry,
        )


def kinds(past: Past, rng: random.Random) -> dict[str, Callable[[], str]]:
    """A name for each kind of address, and what draws one."""

    def bot() -> str:
        return rng.choice(past.bots)

    def game() -> int:
        return rng.choice(past.games)

    v, a = f"/venue/{past.venue}", f"/api/v1/venues/{past.venue}"
    addresses: dict[str, Callable[[], str]] = {
        "front": lambda: "/",
        "standings": lambda: v,
        "standings, all": lambda: f"{v}?show=all",
        "standings as of": lambda: f"{v}?as_of={rng.randint(past.last_entry // 2, past.last_entry)}",
        "bot": lambda: f"/bot/{bot()}",
        "pair": lambda: f"{v}/pair?a={bot()}&b={bot()}",
        "crosstable of 50": lambda: f"{v}/crosstable?top=50",
        "games": lambda: "/games",
        "games of a bot": lambda: f"/games?bot={bot()}",
        "games by verdict": lambda: f"/games?venue={past.venue}&reason={rng.choice(REASONS)}",
        "games of a bot by verdict": lambda: f"/games?bot={bot()}&reason={rng.choice(REASONS)}",
        "games by length": lambda: f"/games?min_moves={rng.randint(1, 200)}&max_moves={rng.randint(200, 400)}",
        "game": lambda: f"/game/{game()}",
        "rounds": lambda: f"{v}/rounds",
        "API standings": lambda: f"{a}/standings",
        "API bot": lambda: f"/api/v1/bots/{bot()}",
        "API history": lambda: f"/api/v1/versions/{bot()}/history?venue={past.venue}",
        "API history, 300 points": lambda: f"/api/v1/versions/{bot()}/history?venue={past.venue}&points=300",
        "API opponents": lambda: f"/api/v1/versions/{bot()}/opponents?venue={past.venue}",
        "API crosstable of 50": lambda: f"{a}/crosstable?top=50",
        "API pair": lambda: f"{a}/pairs/{bot()}/{bot()}",
        "API games": lambda: f"/api/v1/games?bot={bot()}&limit=100",
        "API game": lambda: f"/api/v1/games/{game()}",
    }
    if past.rounds:
        addresses["round"] = lambda: f"/round/{rng.choice(past.rounds)}"
    return addresses


class Measured(NamedTuple):
    """One kind of address. Milliseconds by the clock; `cpu`: of the web process on average; `bytes` is the median
    of what was transferred."""

    kind: str
    requests: int
    p50: float
    p99: float
    worst: float
    cpu: float
    bytes: int
    failed: int


def cpu_ms(process: int) -> float:
    """Processor time that a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(process: int, port: int, kind: str, draw: Callable[[], str], requests: int) -> Measured:
    """Ask so many times, one after another over one connection."""
    taken, sizes, failed = [], [], 0
    used = 0.0
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for number in range(requests + 2):
        if number == 2:
            used = cpu_ms(process)
        path = draw()
        start = time.perf_counter()
        # Each as another host, so that no answer is remembered from the one before.
        headers = {"Accept-Encoding": "gzip", "Host": f"host{number}.localhost"}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        spent = 1000 * (time.perf_counter() - start)
        if number < 2:  # templates and statements are compiled once a process
            continue
        # Two bots drawn may be one and the same, or not have met: an answer all the same.
        failed += answer.status >= 500 or answer.status == 429
        taken.append(spent)
        sizes.append(len(body))
    connection.close()
    used = (cpu_ms(process) - used) / requests
    taken.sort()
    p99 = taken[math.ceil(0.99 * len(taken)) - 1]
    size = round(statistics.median(sizes))
    return Measured(
        kind=kind,
        requests=requests,
        p50=statistics.median(taken),
        p99=p99,
        worst=taken[-1],
        cpu=used,
        bytes=size,
        failed=failed,
    )


@contextmanager
def web_process(data: Path, venue: str, postgres: PostgresUrl | None = None) -> Iterator[tuple[int, int]]:
    """The web process on a database that no server holds; its number and its port."""
    settings = WebSettings(
        server_name="page speed", venues={venue: VenueSettings(port=6809)}, requests_per_minute=1_000_000
    )
    reading, writing = os.pipe()
    scraper, scraped = socket.socketpair()
    with socket.socket() as sock, scraper, scraped:
        sock.bind(("127.0.0.1", 0))
        sock.listen(128)
        inherited = {"--listen-fd": sock.fileno(), "--pipe-fd": reading, "--scrape-fd": scraped.fileno()}
        line = command(data, settings, log_format="json", log_level="warning")
        line += [f"{option}={descriptor}" for option, descriptor in inherited.items()]
        child = subprocess.Popen(line, pass_fds=tuple(inherited.values()), env=os.environ | environment(postgres))
        os.close(reading)
        try:
            yield child.pid, sock.getsockname()[1]
        finally:
            os.close(writing)
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def goal(kind: str) -> float:
    return STANDINGS_MS if kind in ("standings", "API standings") else GOAL_MS


def as_table(rows: list[Measured]) -> str:
    cells = []
    for row in rows:
        mark = "" if row.p99 <= goal(row.kind) and not row.failed else " *"
        figures = (f"{row.p50:.1f}", f"{row.p99:.1f}{mark}", f"{row.worst:.1f}", f"{goal(row.kind):.0f}")
        cells.append((row.kind, row.requests, *figures, f"{row.cpu:.1f}", f"{row.bytes / 1000:.1f}"))
    columns = ("page", "requests", "p50", "p99", "worst", "goal p99", "CPU", "KB")
    return table("One request at a time, wall-clock milliseconds", columns, cells)


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, requests=1)
    parser.add_argument("data", type=Path, help=f"directory with a {DATABASE}")
    parser.add_argument("--requests", type=int, default=200, help="for each kind of address")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--postgres", type=PostgresUrl.parse, metavar="URL", help="a copy of it (`cgos-server db copy`) to answer from"
    )
    parser.add_argument("--only", help="kinds whose name contains this")
    options = parser.read(words)
    rng = random.Random(options.seed)
    past = Past.of(options.data / DATABASE, rng, 400)
    chosen = {name: draw for name, draw in kinds(past, rng).items() if not options.only or options.only in name}
    gc.freeze()
    with web_process(options.data, past.venue, options.postgres) as (process, port):
        rows = [
            measure(process, port, kind=name, draw=draw, requests=options.requests)
            for name, draw in track(chosen.items(), "asking", transient=True)
        ]
    print(f"{processor()}, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    print(as_table(rows))
    if any(row.failed for row in rows):
        print("failed:", ", ".join(f"{row.kind} {row.failed}" for row in rows if row.failed))
    write_json(options.json, [row._asdict() for row in rows])


if __name__ == "__main__":
    main()
