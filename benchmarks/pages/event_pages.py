"""How long the pages and the API's answers of a large event take, over HTTP to the real web process.

The event is made in a database without playing (``made_event.py``), in its last round, with all games of it running.
Every address is asked for twice over: while nothing happens, and each time right after a result was written, so that
nothing made of the event before can be shown again. Milliseconds of the web process's CPU, of the clock, and the
longest that a request for a light page, asked for again and again meanwhile, took. Then, in this process, what a
command pays: the log's first reading, and the next one after a result.
"""

from __future__ import annotations

import asyncio
import http.client
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from benchmarks.pages.made_event import NAME, MadeEvent, name, prepare, write, write_result
from benchmarks.pages.page_speed import web_process
from benchmarks.reporting import CommandLine, table, write_json
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.storage import DATABASE
from cgos_server.storage.reading.history import History

PAGES = {
    "front page": "/",
    "list": "/events",
    "event": "/events/{event}",
    "standings": "/events/{event}/standings",
    "crosstable": "/events/{event}/crosstable",
    "rounds": "/events/{event}/rounds",
    "round": "/events/{event}/rounds/{round}",
    "games": "/events/{event}/games?n=1",
    "entrants": "/events/{event}/entrants",
    "log": "/events/{event}/log",
    "feed": "/events/{event}/feed.atom",
    "bot": "/bot/{bot}",
    "API event": "/api/v1/events/{event}",
    "API standings": "/api/v1/events/{event}/standings",
    "API crosstable": "/api/v1/events/{event}/crosstable",
    "API rounds": "/api/v1/events/{event}/rounds",
    "API games": "/api/v1/events/{event}/games",
    "API log": "/api/v1/events/{event}/log",
    "API text": "/api/v1/events/{event}/export.txt",
    "API JSON": "/api/v1/events/{event}/export.json",
}
LIGHT = "/connect"
START_S = 30.0
AGAIN_S = 0.002


class Asked(NamedTuple):
    """Medians of one address in ms, but for `waits`: the longest; `kb` as transferred (gzip)."""

    page: str
    quiet_cpu: float
    quiet: float
    moved_cpu: float
    moved: float
    waits: float
    kb: float


class Client:
    """One connection to the web process."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_S)
        self._asked = 0

    def ask(self, path: str) -> bytes:
        """The body, as transferred. Each time as another host, so that no answer is remembered from before."""
        self._asked += 1
        headers = {"Accept-Encoding": "gzip", "Host": f"host{self._asked}.localhost"}
        self._connection.request("GET", path, headers=headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status}")
        return body

    def close(self) -> None:
        self._connection.close()


class Waiting:
    """Asks for a light page again and again, from a thread. `longest`: ms, since it was set to 0."""

    def __init__(self, port: int) -> None:
        self.longest = 0.0
        self._client = Client(port)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    @contextmanager
    def going_on(self) -> Iterator[Waiting]:
        self._thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            self._thread.join()
            self._client.close()

    def _ask(self) -> None:
        while not self._ended.wait(AGAIN_S):
            start = time.perf_counter()
            self._client.ask(LIGHT)
            self.longest = max(self.longest, 1000 * (time.perf_counter() - start))


def cpu_ms(process: int) -> float:
    """Of a process so far, finely: the clock that Linux has for each."""
    return 1000 * time.clock_gettime((~process << 3) | 2)


def resident_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


class Measuring:
    """The pages of one event that moves when it is told to."""

    def __init__(self, path: Path, made: MadeEvent, process: int, port: int) -> None:
        self._path = path
        self._made = made
        self._process = process
        self._port = port

    def ask_all(self, requests: int, rounds: int) -> list[Asked]:
        """Every address, so often in each way."""
        client = Client(self._port)
        words = {"event": quote(NAME), "round": rounds, "bot": name(1)}
        addresses = {page: path.format(**words) for page, path in PAGES.items()}
        for path in addresses.values():  # templates and statements are compiled once a process
            client.ask(path)
        asked = [self._ask(client, page, path, requests) for page, path in addresses.items()]
        client.close()
        return asked

    def _ask(self, client: Client, page: str, path: str, requests: int) -> Asked:
        quiet = [self._once(client, path) for _ in range(requests)]
        moved = []
        for _ in range(requests):
            write_result(self._path, self._made)
            moved.append(self._once(client, path))
        with Waiting(self._port).going_on() as waiting:
            for _ in range(requests):
                write_result(self._path, self._made)
                time.sleep(10 * AGAIN_S)
                client.ask(path)
        return Asked(
            page=page,
            quiet_cpu=statistics.median(cpu for cpu, _, _ in quiet),
            quiet=statistics.median(clock for _, clock, _ in quiet),
            moved_cpu=statistics.median(cpu for cpu, _, _ in moved),
            moved=statistics.median(clock for _, clock, _ in moved),
            waits=waiting.longest,
            kb=quiet[0][2] / 1000,
        )

    def _once(self, client: Client, path: str) -> tuple[float, float, int]:
        """ms of CPU, ms by the clock, bytes."""
        cpu, clock = cpu_ms(self._process), time.perf_counter()
        body = client.ask(path)
        return cpu_ms(self._process) - cpu, 1000 * (time.perf_counter() - clock), len(body)


async def read(path: Path, made: MadeEvent, requests: int) -> tuple[float, float]:
    """CPU ms of reading the log for the first time, and of reading on after a result; medians."""
    first, further = [], []
    async with History(path) as history:
        await history.events.all()
        for _ in range(requests):
            events = ReadEvents(history)
            since = time.process_time()
            await events.named(NAME)
            first.append(time.process_time() - since)
            write_result(path, made)
            since = time.process_time()
            await events.named(NAME)
            further.append(time.process_time() - since)
    return 1000 * statistics.median(first), 1000 * statistics.median(further)


def without_events(data: Path) -> float:
    """MB of a web process that has shown pages and knows no event."""
    with web_process(data, "9x9") as (process, port):
        client = Client(port)
        for path in ("/", "/events", "/venue/9x9"):
            client.ask(path)
        client.close()
        return resident_mb(process)


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, entrants=260, rounds=2, requests=1)
    parser.add_argument("--entrants", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--requests", type=int, default=5, help="for each address and way")
    parser.add_argument("--system", default="swiss")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.read(words)
    made = MadeEvent(options.system, options.entrants, options.rounds, options.seed)
    if len(made.state.open) < (2 * len(PAGES) + 1) * options.requests:
        raise SystemExit("More results are asked for than games run. Take fewer requests or more entrants.")
    with tempfile.TemporaryDirectory(prefix="cgos-event-pages-") as folder:
        data = Path(folder)
        path = data / DATABASE
        prepare(path, options.entrants)
        empty = without_events(data)
        write(path, made)
        entries = len(made.entries)
        with web_process(data, "9x9") as (process, port):
            pages = Measuring(path, made, process, port).ask_all(options.requests, options.rounds)
            full = resident_mb(process)
        first, further = asyncio.run(read(path, made, options.requests))
    columns = ("ms", "quiet: CPU", "clock", "after a result: CPU", "clock", "others wait", "KB")
    rows = [(each.page, *(f"{value:.1f}" for value in each[1:])) for each in pages]
    title = f"{options.system}, {options.entrants} entrants, {options.rounds} rounds, {entries} entries of the log"
    print(table(title, columns, rows))
    print(f"reading: first {first:.0f} ms of CPU, after a result {further:.1f} ms")
    print(f"web process: {empty:.0f} MB without an event, {full:.0f} MB with it")
    figures = {"first_ms": first, "further_ms": further, "empty_mb": empty, "full_mb": full}
    write_json(options.json, {"pages": [each._asdict() for each in pages], **figures})


if __name__ == "__main__":
    main()
