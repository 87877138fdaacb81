"""Load on a server in a process of its own: starts the load, reads what it reports and what the server spent.

CPU time is that of the process's own clock, in nanoseconds, with the threads that ended and without child processes:
ticks of /proc are 10 ms. Must not know: what the server is.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Generator, Iterator

import msgspec

from benchmarks.moves import bare_relay, load_bots, ws_relay

SIGN_IN_LIMIT_S = 120


def cpu_seconds(pid: int) -> float:
    """User and system time of a running process (Linux: clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


class Report(msgspec.Struct, kw_only=True):
    """One line of progress of a load process; counts are since its beginning, games once for each side."""

    moves: int
    begun: int
    games: int
    closed: int
    errors: int
    first_error: list[str]
    signed_in: int
    latency: list[float]
    """Seconds of each move to its opponent since the report before, ascending; only with ``--latency``."""


REPORT = msgspec.json.Decoder(Report)


class Cost(msgspec.Struct, kw_only=True):
    """What a server spent on moves within a window."""

    us: float
    """CPU microseconds a move."""
    per_s: float
    """Moves a second."""
    moves: int
    games: int
    """Games that ended within the window, counted once for each side."""
    p50_ms: float | None = None
    p99_ms: float | None = None


class Window(msgspec.Struct, kw_only=True, frozen=True):
    """When measuring begins and ends."""

    seconds: float
    """At least."""
    warm: int
    """Moves before it begins."""
    settle: float = 1.0
    """Seconds between these moves and its beginning."""
    progress: float = 0.5
    """Seconds between two reports."""
    whole: int = 1
    """Its moves are a multiple of this number, but for what falls between two reports."""


class Wire(msgspec.Struct, kw_only=True, frozen=True):
    """A protocol that bots speak. `relay`: the program of its bare relay."""

    relay: str
    options: tuple[str, ...] = ()


WIRES = {
    "lines": Wire(relay=bare_relay.__file__),
    "websocket": Wire(relay=ws_relay.__file__, options=("--websocket",)),
}


@contextlib.contextmanager
def relay(program: str) -> Iterator[tuple[int, int]]:
    """A bare relay; yields (pid, port)."""
    process = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate(timeout=30)


def reports(port: int, bots: int, seconds: float, *options: str) -> Generator[Report, None, None]:
    """Progress of a load process, which ends by itself."""
    command = [sys.executable, load_bots.__file__, "--port", str(port), "--bots", str(bots)]
    process = subprocess.Popen([*command, "--seconds", str(seconds), *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            yield REPORT.decode(line)
    finally:
        process.kill()
        process.communicate(timeout=30)


def measure(pid: int, port: int, bots: int, window: Window, *options: str) -> Cost:
    """CPU microseconds a move and moves a second, once the load is at full swing.

    :raises RuntimeError: bots were refused or dropped, or the window did not end in time
    """
    warm_at: float | None = None
    first: tuple[float, float, Report] | None = None
    target: int | None = None
    latency: list[float] = []
    limit = SIGN_IN_LIMIT_S + 10 * window.seconds
    for report in reports(port, bots, limit, "--progress", str(window.progress), *options):
        if report.errors or report.closed:
            raise RuntimeError(f"bots were refused or dropped: {report}")
        now, cpu = time.monotonic(), cpu_seconds(pid)
        if warm_at is None and report.moves > window.warm:
            warm_at = now
        if warm_at is None or now < warm_at + window.settle:
            continue
        if first is None:
            first = now, cpu, report
            continue
        latency += report.latency
        moves, elapsed = report.moves - first[2].moves, now - first[0]
        if target is None and elapsed >= window.seconds:
            target = max(1, -(-moves // window.whole)) * window.whole
        if target is not None and moves >= target:
            games = report.games - first[2].games
            cost = Cost(us=(cpu - first[1]) / moves * 1e6, per_s=moves / elapsed, moves=moves, games=games)
            if latency:
                latency.sort()
                cost.p50_ms = latency[len(latency) // 2] * 1e3
                cost.p99_ms = latency[int(len(latency) * 0.99)] * 1e3
            return cost
    raise RuntimeError(f"the load did not play its {window.seconds} s within {limit:.0f} s")
