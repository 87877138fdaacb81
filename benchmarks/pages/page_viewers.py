"""What 500 viewers of live streams and 50 page requests a second cost the players: nothing, or how much?

The server is the shipped one with its web process; bots as in ``server_moves.py``. While they play, short windows
without and with viewers take turns, so that what drifts concerns both. Two occasions: 200 bots without thought (CPU of
the game process a move, from /proc), and bots that think 1 s (a move's way to its opponent, over all windows
together). The game process and its bots are on one core, the web process, viewers and visitors on another. Beside each
figure stands what load there really was: streams that were open, pages that were served, and what failed; where that
was less than was asked for it says so. Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.moves import load_bots
from benchmarks.moves.loads import REPORT, SIGN_IN_LIMIT_S, cpu_seconds
from benchmarks.moves.server_moves import Running, scripted_game, server
from benchmarks.pages.page_crowd import CROWD_REPORT, REACHED, Crowd, CrowdReport
from benchmarks.reporting import CommandLine, write_json

WEB = "port = 0\nrequests_per_minute = 1000000\nstreams_per_address = 1000"
COMING_S = 30.0
"""Time in which the viewers must have come."""
MOST_S = 30.0
"""Of a window, where no bot moves."""
SETTLE_S = 1.0
"""After the viewers have come or gone, before anything is measured."""
FAILED = 0.01
"""Share of requests that may fail."""


class Mix(NamedTuple):
    """Who watches what. The rest of the viewers follow the venue without its moves.

    :ivar games: one game each, then the next one
    :ivar walls: all moves of the venue
    """

    games: int
    walls: int


BUSY = Mix(games=50, walls=50)
"""Games of bots without thought last two seconds: most who watch then follow the venue."""
THINKING = Mix(games=400, walls=50)


# -- the measurement


class Load:
    """Bots that play, with what they have said so far. One a server."""

    def __init__(self, running: Running, bots: int, script: Path, seconds: float, think: float) -> None:
        options = ("--script", str(script), *(("--think", str(think), "--latency") if think else ()))
        self.moves = 0
        self.failure: str | None = None
        self._latency: list[float] = []
        command = [sys.executable, load_bots.__file__, "--port", str(running.lines), "--bots", str(bots)]
        self._process = subprocess.Popen(
            [*command, "--seconds", str(seconds), *options], stdout=subprocess.PIPE, text=True
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Load:
        return self

    def __exit__(self, *_: object) -> None:
        _end(self._process, self._thread)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            report = REPORT.decode(line)
            if report.errors or report.closed:
                self.failure = str(report.first_error)
            self._latency += report.latency
            self.moves = report.moves

    def latency(self) -> list[float]:
        """Since the last time, in seconds."""
        latency, self._latency = self._latency, []
        return latency

    def wait(self, moves: int) -> None:
        begun = time.monotonic()
        while self.moves < moves:
            if self.failure is not None or time.monotonic() - begun > SIGN_IN_LIMIT_S:
                raise RuntimeError(f"the load never got going: {self.failure}")
            time.sleep(0.2)


def _end(process: subprocess.Popen[str], reader: threading.Thread) -> None:
    """A load's process, and the thread that reads what it says."""
    process.kill()
    process.wait(timeout=30)
    reader.join(timeout=30)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


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
    """The crowd's process, and what it reports."""

    def __init__(self, running: Running, options: argparse.Namespace, mix: Mix, core: int | None, fleeting: bool):
        self._viewers = options.viewers
        words = {"port": running.web, "viewers": options.viewers, "games": mix.games, "walls": mix.walls}
        words |= {"pages": options.pages, "bots": options.bots, "seconds": 900}
        command = [sys.executable, __file__, "--crowd", *(["--fleeting"] if fleeting else [])]
        command += [f"--{name}={value}" for name, value in words.items()]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        pin(self._process.pid, core)
        self.reports: list[CrowdReport] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.reports.append(CROWD_REPORT.decode(line))

    def __enter__(self) -> Viewers:
        return self

    def __exit__(self, *_: object) -> None:
        _end(self._process, self._thread)

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def come(self) -> None:
        """Have them come; return when they are there, or too much time has passed."""
        self._say("come")
        deadline = time.monotonic() + COMING_S
        while time.monotonic() < deadline:
            time.sleep(0.2)
            if self.reports and self.reports[-1].streams >= 0.99 * self._viewers:
                return

    def go(self) -> None:
        self._say("go")

    def between(self, since: float, until: float) -> dict[str, Any]:
        """What load there was between two instants of the monotonic clock."""
        rows = [row for row in self.reports if since <= row.at <= until]
        first, last = rows[0], rows[-1]
        took = last.at - first.at

        failures = Counter(last.failures) - Counter(first.failures)
        return {
            "streams": statistics.mean(row.streams for row in rows),
            "streams_least": min(row.streams for row in rows),
            "opened_per_s": (last.opened - first.opened) / took,
            "events_per_s": (last.events - first.events) / took,
            "bytes_per_s": (last.bytes - first.bytes) / took,
            "asked_per_s": (last.requested - first.requested) / took,
            "pages_per_s": (last.pages - first.pages) / took,
            "requests": last.requested - first.requested + last.opened - first.opened,
            "failures": dict(failures),
            "page_ms": [took for row in rows[1:] for took in row.page_ms],
        }


def window(running: Running, web: int, load: Load, seconds: float) -> dict[str, Any]:
    """CPU of both processes, moves, and how long these took (`ways`, seconds), in the next seconds; longer where there
    is no move in them."""
    load.latency()
    moves, cpu, web_cpu, began = load.moves, cpu_seconds(running.pid), cpu_seconds(web), time.monotonic()
    time.sleep(seconds)
    while load.moves == moves and load.failure is None and time.monotonic() - began < MOST_S:
        time.sleep(0.1)
    moves, cpu, web_cpu = load.moves - moves, cpu_seconds(running.pid) - cpu, cpu_seconds(web) - web_cpu
    ended = time.monotonic()
    if load.failure is not None or not moves:
        raise RuntimeError(f"the bots stopped: {load.failure}")
    took = ended - began
    return {
        "began": began,
        "ended": ended,
        "moves": moves,
        "cpu": cpu,
        "us": cpu / moves * 1e6,
        "per_s": moves / took,
        "web_cores": web_cpu / took,
        "ways": load.latency(),
    }


def occasion(root: Path, options: argparse.Namespace, think: float, mix: Mix, pinned: bool) -> dict[str, Any]:
    """Pairs of windows without and with viewers, on one server."""
    bots = options.bots
    script = root / "script.json"
    script.write_text(json.dumps(scripted_game()))
    directory = root / f"think-{think:g}-{bots}"
    directory.mkdir()
    cores = sorted(os.sched_getaffinity(0))
    ours, theirs = (cores[0], cores[-1]) if pinned else (None, None)
    without: list[dict[str, Any]] = []
    with_them: list[dict[str, Any]] = []
    spans: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        if ours is not None:
            stack.callback(os.sched_setaffinity, 0, set(cores))
            os.sched_setaffinity(0, {ours})  # whoever is started inherits it
        running = stack.enter_context(server(directory, bots, web=WEB))
        web = web_child(running.pid)
        pin(web, theirs)
        seconds = SIGN_IN_LIMIT_S + options.windows * (2 * options.window + COMING_S + 10)
        load = stack.enter_context(Load(running=running, bots=bots, script=script, seconds=seconds, think=think))
        viewers = stack.enter_context(Viewers(running, options, mix, theirs, fleeting=not think))
        load.wait(3 * bots)
        time.sleep(3)
        for number in range(options.windows):
            # Which of them comes first changes, so that neither always follows the other.
            for there in (False, True) if number % 2 == 0 else (True, False):
                if there:
                    viewers.come()
                time.sleep(SETTLE_S)
                row = window(running, web, load, options.window)
                (with_them if there else without).append(row)
                if there:
                    spans.append(viewers.between(row["began"], row["ended"]))
                    viewers.go()
                    time.sleep(SETTLE_S)
    return _figures(options, without, with_them, spans)


def _figures(
    options: argparse.Namespace,
    without: list[dict[str, Any]],
    with_them: list[dict[str, Any]],
    spans: list[dict[str, Any]],
) -> dict[str, Any]:
    sides = {"without": without, "with": with_them}
    ways = {name: [way for row in rows for way in row.pop("ways")] for name, rows in sides.items()}
    page_ms = sorted(took for span in spans for took in span.pop("page_ms"))
    failures: Counter[str] = sum((Counter(span["failures"]) for span in spans), Counter())
    requests = sum(span["requests"] for span in spans)
    load = {
        "streams": statistics.mean(span["streams"] for span in spans),
        "streams_least": min(span["streams_least"] for span in spans),
        **{
            name: statistics.mean(span[name] for span in spans)
            for name in ("opened_per_s", "events_per_s", "bytes_per_s", "pages_per_s")
        },
        "page_ms": _quantiles([took / 1e3 for took in page_ms]),
        "failed": failures.total() / max(1, requests),
        "failures": dict(failures.most_common(6)),
    }
    short = []
    if load["streams"] < REACHED * options.viewers:
        short.append(f"{load['streams']:.0f} of {options.viewers} viewers")
    if load["pages_per_s"] < REACHED * options.pages:
        short.append(f"{load['pages_per_s']:.1f} of {options.pages:g} pages a second")
    if load["failed"] > FAILED:
        short.append(f"{load['failed']:.1%} of all requests failed")
    return {
        "load": load,
        "load_short_of": short,
        "us": {
            name: sum(row["cpu"] for row in rows) / sum(row["moves"] for row in rows) * 1e6
            for name, rows in sides.items()
        },
        "us_ratios": [b["us"] / a["us"] for a, b in zip(without, with_them, strict=True)],
        "ways_ms": {name: _quantiles(seconds) for name, seconds in ways.items()},
        "per_s": {name: statistics.mean(row["per_s"] for row in rows) for name, rows in sides.items()},
        "web_cores": {name: statistics.mean(row["web_cores"] for row in rows) for name, rows in sides.items()},
        "windows": {**sides, "viewers": spans},
    }


def _quantiles(ways: list[float]) -> dict[str, float]:
    """Seconds in, milliseconds out; of nothing, nothing."""
    ways = sorted(ways)
    return {f"p{share * 100:g}": ways[int(len(ways) * share)] * 1e3 for share in (0.5, 0.9, 0.99) if ways}


def _show(what: str, figures: dict[str, Any]) -> None:
    load, ratios = figures["load"], sorted(figures["us_ratios"])
    print(f"\n{what}                        without      with     ratio")

    def line(name: str, pair: dict[str, float], digits: int, note: str = "") -> None:
        ratio = pair["with"] / pair["without"] if pair["without"] else float("nan")
        print(f"  {name:42}{pair['without']:12.{digits}f}{pair['with']:10.{digits}f}{ratio:10.2f}  {note}")

    spread = f"windows {ratios[0]:.2f} .. {statistics.median(ratios):.2f} .. {ratios[-1]:.2f}"
    line("game process, CPU a move in us", figures["us"], 1, spread)
    ways = figures["ways_ms"]
    for share in ways["without"]:
        line(f"a move's way in ms, {share}, all windows", {name: ways[name][share] for name in ways}, 3)
    line("moves a second", figures["per_s"], 0)
    line("web process, cores", figures["web_cores"], 2)
    pages = load["page_ms"]
    print(
        f"  load: {load['streams']:.0f} streams open (never less than {load['streams_least']}),"
        f" {load['opened_per_s']:.1f} opened, {load['events_per_s']:.0f} events and"
        f" {load['bytes_per_s'] / 1e6:.1f} MB a second;\n"
        f"        {load['pages_per_s']:.1f} pages a second,"
        f" p50 {pages.get('p50', 0):.0f} ms, p99 {pages.get('p99', 0):.0f} ms;"
        f" failed {load['failed']:.2%} {load['failures'] or ''}"
    )
    short = figures["load_short_of"]
    print(f"  THE LOAD WAS NOT REACHED: {'; '.join(short)}" if short else "  the load was reached", flush=True)


def run(options: argparse.Namespace | None = None) -> dict[str, Any]:
    """Both occasions, as they are by default: some five minutes."""
    options = options or _parser().read([])
    if options.brief:
        options.windows, options.window = min(options.windows, 3), min(options.window, 5.0)
    result: dict[str, Any] = {"viewers": options.viewers, "pages_per_s": options.pages, "bots": options.bots}
    with tempfile.TemporaryDirectory(prefix="cgos-bench-") as root:
        if "busy" in options.occasions:
            result["busy"] = occasion(Path(root), options, 0.0, BUSY, pinned=not options.anywhere)
            _show(f"{options.bots} bots, no thought      ", result["busy"])
        if "think" in options.occasions:
            result["think"] = occasion(Path(root), options, 1.0, THINKING, pinned=True)
            _show(f"{options.bots} bots that think 1 s   ", result["think"])
    return result


def brief() -> dict[str, Any]:
    """Both occasions with few windows: some two minutes."""
    return run(_parser().read(["--brief"]))


def _parser() -> CommandLine:
    parser = CommandLine(__doc__, viewers=4, pages=4.0, bots=4, windows=1, window=1.2, occasions=["think"])
    parser.add_argument("--viewers", type=int, default=500)
    parser.add_argument("--pages", type=float, default=50.0, help="page requests a second")
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--windows", type=int, default=8, help="pairs of windows, without and with viewers")
    parser.add_argument("--window", type=float, default=5.0, help="seconds of one window")
    parser.add_argument("--brief", action="store_true", help="three pairs of windows")
    parser.add_argument("--occasions", nargs="*", default=["busy", "think"], choices=("busy", "think"))
    parser.add_argument("--anywhere", action="store_true", help="bots without thought: pin nothing to a core")
    parser.add_argument("--crowd", action="store_true", help="be the viewers")
    parser.add_argument("--games", type=int, default=0, help="of the crowd, those who watch games")
    parser.add_argument("--walls", type=int, default=0, help="of the crowd, those who follow all moves of the venue")
    parser.add_argument("--fleeting", action="store_true", help="games last so short that only the newest still run")
    parser.add_argument("--port", type=int)
    parser.add_argument("--seconds", type=float, default=60.0)
    return parser


def main(words: Sequence[str] | None = None) -> None:
    options = _parser().read(words)
    if options.crowd:
        asyncio.run(Crowd(options).run())
        return
    result = run(options)
    write_json(options.json, result)


if __name__ == "__main__":
    main()
