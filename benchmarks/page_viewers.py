"""What 500 viewers of live streams and 50 page requests a second cost the players: nothing, or how much?

The server is the shipped one with its web process; bots as in ``server_moves.py``. While they play, windows without and
with viewers follow each other, so that what drifts concerns both. Two occasions: 200 bots without thought (CPU of the
game process a move, from /proc), and bots that think 1 s (a move's way to its opponent). The game process and its bots
are on one core, the web process, viewers and visitors on another. Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from server_moves import HERE, SIGN_IN_LIMIT_S, Running, cpu_seconds, scripted_game, server

WEB = "port = 0\nrequests_per_minute = 1000000\nstreams_per_address = 1000"
PAGES = ("/", "/venue/9x9", "/game/{game}", "/bot/Load-{bot:05d}")
ENOUGH = 0.88
"""Share of the viewers that must have seen something before visitors come and anything is measured."""
VISITORS = 50
"""Page requests under way at once; those beyond are counted as failures."""
SETTLE_S = 1.5
"""After the viewers have come or gone, before anything is measured."""


# -- viewers and visitors, in a process of their own


class Crowd:
    """What all viewers of this process saw. `running`: games that a viewer may choose."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.running: list[int] = []
        self.events = self.bytes = self.pages = self.page_bytes = self.streams = 0
        self.failures: Counter[str] = Counter()
        self.page_s: list[float] = []
        self.arrived: set[int] = set()
        self.visitors = 0

    def _failed(self, path: str, what: object) -> None:
        self.failures[f"{re.sub('[0-9]+', 'N', path)}: {what}"] += 1

    async def _open(self, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, int]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.options.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        return reader, writer, int(head.split(b" ", 2)[1])

    async def view(self, number: int, path: str) -> None:
        """One stream, until it ends."""
        reader, writer, status = await self._open(path)
        try:
            if status != 200:
                self._failed(path, status)
                await asyncio.sleep(1)
                return
            self.streams += 1
            self.arrived.add(number)
            while data := await reader.read(65_536):
                self.bytes += len(data)
                self.events += data.count(b"\ndata: ") + data.startswith(b"data: ")
        finally:
            self.streams -= status == 200
            writer.close()

    async def keep_viewing(self, number: int) -> None:
        """One viewer: of the venue with its moves, or of one game after the other."""
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                if number < self.options.venue_viewers or not self.running:
                    await self.view(number, "/api/v1/live?venue=9x9&moves=true")
                else:
                    await self.view(number, f"/api/v1/games/{random.choice(self.running)}/live?since=0")
            await asyncio.sleep(random.uniform(0.5, 1.5))  # a look at how it ended

    async def scout(self) -> None:
        """Knows which games run."""
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer, status = await self._open("/api/v1/games?running=true&limit=100")
                data = await reader.read()
                writer.close()
                if status == 200:
                    body = data if data[:1] in b"{[" else b"".join(_unchunked(data))
                    self.running = [game["id"] for game in json.loads(body)["items"]] or self.running
                else:
                    self._failed("games", status)
            await asyncio.sleep(1.0)

    async def visit(self) -> None:
        """Page requests at a steady rate, each on a connection of its own."""
        kinds = itertools.cycle(PAGES)
        while len(self.arrived) < ENOUGH * self.options.viewers:  # noqa: ASYNC110 - a look now and then is enough
            await asyncio.sleep(0.1)
        due = time.monotonic()
        async with asyncio.TaskGroup() as group:
            while True:
                due += 1 / self.options.pages
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                if self.visitors >= VISITORS:
                    self._failed("pages", "not asked for, as too many wait")
                    continue
                game = random.choice(self.running or [1])
                group.create_task(self._page(next(kinds).format(game=game, bot=random.randrange(self.options.bots))))

    async def _page(self, path: str) -> None:
        began = time.perf_counter()
        self.visitors += 1
        try:
            async with asyncio.timeout(20):
                reader, writer, status = await self._open(path)
                data = await reader.read()
                writer.close()
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            self._failed(path, type(error).__name__)
            return
        finally:
            self.visitors -= 1
        if status != 200:
            self._failed(path, status)
        self.pages += 1
        self.page_bytes += len(data)
        self.page_s.append(time.perf_counter() - began)

    async def report(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            page_s = sorted(self.page_s) or [0.0]
            print(json.dumps({
                "streams": self.streams, "arrived": len(self.arrived), "events": self.events, "bytes": self.bytes,
                "pages": self.pages,
                "page_bytes": self.page_bytes, "page_p50_ms": page_s[len(page_s) // 2] * 1e3,
                "page_p99_ms": page_s[int(len(page_s) * 0.99)] * 1e3, "failures": self.failures.total(),
                "first_failures": self.failures.most_common(6), "at": time.monotonic(),
            }), flush=True)  # fmt: skip


def _unchunked(data: bytes) -> Iterator[bytes]:
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        yield data[:length]
        data = data[length + 2 :]


async def crowd(options: argparse.Namespace) -> None:
    """Be all of them for the time given."""
    here = Crowd(options)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(options.seconds), asyncio.TaskGroup() as group:
            group.create_task(here.report())
            group.create_task(here.scout())
            await asyncio.sleep(0.5)
            group.create_task(here.visit())
            for number in range(options.viewers):
                group.create_task(here.keep_viewing(number))
                if number % 20 == 19:
                    await asyncio.sleep(0.02)


# -- the measurement


class Load:
    """Bots that play, with what they have said so far. One a server."""

    def __init__(self, running: Running, bots: int, script: Path, seconds: float, think: float) -> None:
        options = ("--script", str(script), *(("--think", str(think), "--latency") if think else ()))
        self.moves = 0
        self.failure: str | None = None
        self._latency: list[float] = []
        command = [sys.executable, str(HERE / "load_bots.py"), "--port", str(running.lines), "--bots", str(bots)]
        self._process = subprocess.Popen(
            [*command, "--seconds", str(seconds), *options], stdout=subprocess.PIPE, text=True
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Load:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(timeout=30)
        self._thread.join(timeout=30)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            report = json.loads(line)
            if report["errors"] or report["closed"]:
                self.failure = str(report["first_error"])
            self._latency += report["latency"]
            self.moves = report["moves"]

    def latency(self) -> list[float]:
        """Since the last time, in seconds."""
        found, self._latency = self._latency, []
        return found

    def wait(self, moves: int) -> None:
        begun = time.monotonic()
        while self.moves < moves:
            if self.failure is not None or time.monotonic() - begun > SIGN_IN_LIMIT_S:
                raise RuntimeError(f"the load never got going: {self.failure}")
            time.sleep(0.2)


def web_child(pid: int) -> int:
    """The web process of a server."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                if b"cgos_server.web" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
        time.sleep(0.1)
    raise RuntimeError("the server has no web process")


def pin(pid: int, core: int | None) -> None:
    """All threads of a process to one core; None: anywhere."""
    if core is not None:
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(thread), {core})


class Viewers:
    """The crowd's process while the block runs, and what it saw."""

    def __init__(self, running: Running, options: argparse.Namespace, core: int | None) -> None:
        command = [
            sys.executable, str(HERE / "page_viewers.py"), "--crowd", "--port", str(running.web),
            "--viewers", str(options.viewers), "--venue-viewers", str(options.venue_viewers),
            "--pages", str(options.pages), "--bots", str(options.bots), "--seconds", str(10 * options.window + 60),
        ]  # fmt: skip
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        pin(self._process.pid, core)
        self.seen: dict[str, Any] = {}
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.seen = json.loads(line)

    def __enter__(self) -> Viewers:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(timeout=30)
        self._thread.join(timeout=30)

    def wait(self, viewers: int) -> None:
        begun = time.monotonic()
        # Not all at the same instant: those whose games end are on their way to the next one.
        while self.seen.get("arrived", 0) < ENOUGH * viewers:
            if time.monotonic() - begun > 60:
                raise RuntimeError(f"the viewers never came: {self.seen}")
            time.sleep(0.2)


def window(running: Running, web: int, load: Load, seconds: float, ways: list[float]) -> dict[str, float]:
    """CPU of both processes a move, and how long moves took, in the next seconds; these are added to `ways`."""
    load.latency()
    moves, cpu, web_cpu, began = load.moves, cpu_seconds(running.pid), cpu_seconds(web), time.monotonic()
    time.sleep(seconds)
    moves, cpu, web_cpu = load.moves - moves, cpu_seconds(running.pid) - cpu, cpu_seconds(web) - web_cpu
    took = time.monotonic() - began
    if load.failure is not None or not moves:
        raise RuntimeError(f"the bots stopped: {load.failure}")
    result = {"us": cpu / moves * 1e6, "per_s": moves / took, "web_cores": web_cpu / took}
    latency = sorted(load.latency())
    ways += latency
    if latency:
        result |= {"p50_ms": latency[len(latency) // 2] * 1e3, "p99_ms": latency[int(len(latency) * 0.99)] * 1e3}
    return result


def occasion(root: Path, options: argparse.Namespace, bots: int, think: float, pinned: bool) -> dict[str, Any]:
    """Pairs of windows without and with viewers, on one server."""
    script = root / "script.json"
    script.write_text(json.dumps(scripted_game()))
    directory = root / f"think-{think:g}-{bots}"
    directory.mkdir()
    cores = sorted(os.sched_getaffinity(0))
    ours, theirs = (cores[0], cores[-1]) if pinned else (None, None)
    without: list[dict[str, float]] = []
    with_them: list[dict[str, float]] = []
    seen: list[dict[str, Any]] = []
    ways: tuple[list[float], list[float]] = ([], [])
    with contextlib.ExitStack() as stack:
        if ours is not None:
            stack.callback(os.sched_setaffinity, 0, set(cores))
            os.sched_setaffinity(0, {ours})  # whoever is started inherits it
        running = stack.enter_context(server(directory, bots, web=WEB))
        web = web_child(running.pid)
        pin(web, theirs)
        seconds = SIGN_IN_LIMIT_S + options.windows * (2 * options.window + 70)
        load = stack.enter_context(Load(running, bots, script, seconds, think))
        load.wait(3 * bots)
        time.sleep(SETTLE_S + 2)
        for _ in range(options.windows):
            without.append(window(running, web, load, options.window, ways[0]))
            with Viewers(running, options, theirs) as viewers:
                viewers.wait(options.viewers)
                time.sleep(SETTLE_S)
                with_them.append(window(running, web, load, options.window, ways[1]))
                seen.append(viewers.seen)
            time.sleep(SETTLE_S)
    return {
        "bots": bots,
        "without": without,
        "with": with_them,
        "viewers": seen,
        "all_windows": [_quantiles(each) for each in ways],
        **{
            f"{figure}_ratio": [b[figure] / a[figure] for a, b in zip(without, with_them, strict=True)]
            for figure in ("us", "p50_ms", "p99_ms")
            if figure in without[0]
        },
    }


def _quantiles(ways: list[float]) -> dict[str, float]:
    """In milliseconds; of nothing, nothing."""
    ways = sorted(ways)
    return {f"p{share * 100:g}": ways[int(len(ways) * share)] * 1e3 for share in (0.5, 0.9, 0.99) if ways}


def _median(rows: list[dict[str, float]], figure: str) -> float:
    return statistics.median(row[figure] for row in rows)


def _show(what: str, figures: dict[str, Any], names: tuple[str, ...]) -> None:
    without, with_them = figures["without"], figures["with"]
    for name in names:
        ratios = figures[f"{name}_ratio"]
        print(
            f"{what}: {name} without {_median(without, name):.2f}, with {_median(with_them, name):.2f},"
            f" ratio {statistics.median(ratios):.2f} ({', '.join(f'{ratio:.2f}' for ratio in ratios)})"
        )
    if figures["all_windows"][0]:
        print(
            f"{what}: all windows together in ms: without {figures['all_windows'][0]}, with {figures['all_windows'][1]}"
        )
    last = figures["viewers"][-1]
    print(
        f"{what}: {_median(without, 'per_s'):.0f} moves/s without, {_median(with_them, 'per_s'):.0f} with;"
        f" web process {_median(with_them, 'web_cores'):.2f} cores; {last['streams']} streams,"
        f" {last['events']} events, pages p50 {last['page_p50_ms']:.0f} ms p99 {last['page_p99_ms']:.0f} ms,"
        f" failures {last['failures']} {last['first_failures']}",
        flush=True,
    )


def run(options: argparse.Namespace | None = None) -> dict[str, Any]:
    """Both occasions, as they are by default."""
    options = options or _parser().parse_args([])
    result: dict[str, Any] = {"viewers": options.viewers, "pages_per_s": options.pages}
    with tempfile.TemporaryDirectory(prefix="cgos-bench-") as root:
        if "busy" in options.occasions:
            result["busy"] = occasion(Path(root), options, options.bots, 0.0, pinned=not options.anywhere)
            _show(f"{options.bots} bots, no thought", result["busy"], ("us",))
        if "think" in options.occasions:
            result["think"] = occasion(Path(root), options, options.bots, 1.0, pinned=True)
            _show(f"{options.bots} bots that think 1 s, web side on the other core", result["think"],
                  ("p50_ms", "p99_ms", "us"))  # fmt: skip
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=500)
    parser.add_argument("--venue-viewers", type=int, default=50, help="of these, of the venue with all its moves")
    parser.add_argument("--pages", type=float, default=50.0, help="page requests a second")
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--windows", type=int, default=5, help="pairs of windows, without and with viewers")
    parser.add_argument("--window", type=float, default=5.0, help="seconds of one window")
    parser.add_argument("--occasions", nargs="*", default=["busy", "think"], choices=("busy", "think"))
    parser.add_argument("--anywhere", action="store_true", help="bots without thought: pin nothing to a core")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--crowd", action="store_true", help="be the viewers")
    parser.add_argument("--port", type=int)
    parser.add_argument("--seconds", type=float, default=60.0)
    return parser


def main() -> None:
    options = _parser().parse_args()
    if options.crowd:
        asyncio.run(crowd(options))
        return
    result = run(options)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
