"""Upgrades of a server in place while bots play on it: who is refused, what is lost, how long games pause.

One server, bots of our client on both protocols and some of another kind, and for each port somebody who connects to it
again and again. Several times the installed program takes over (`cgos-server upgrade`). In the end all that bots were
told is held against the database. Every tenth bot is of the other kind: it waits before it connects again, as old
clients do. A game's pause goes from the last move that a bot was told before the upgrade to the first one after it, its
thinking included. With `--programs` several take over in turn, so that versions are compared under one load. Loopback
only, bounded, stops by itself; exits with 1 where anything was refused or lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from rich.progress import Progress

from benchmarks.moves.crowd import free_ports
from benchmarks.moves.server_moves import Running, scripted_game, server
from benchmarks.operations import returning_bots
from benchmarks.operations.returning_bots import Told, Witnessed
from benchmarks.reporting import ROOT, program, table

LOST = ("time", "forfeit", "void", "abort", "illegal move")
"""Verdicts that no bot of the drill brings about."""

KNOCK_S = 0.02
SIGNED_IN_S = 60.0


class Knocking:
    """Connects to some ports again and again; waits each time until there is an answer.

    :ivar refused: what went wrong
    :ivar longest_s: that somebody waited for an answer
    """

    def __init__(self, ports: dict[str, int]) -> None:
        self.knocks = 0
        self.refused: list[str] = []
        self.longest_s = 0.0
        self._done = threading.Event()
        self._threads = [threading.Thread(target=self._knock, args=each, daemon=True) for each in ports.items()]

    def _knock(self, name: str, port: int) -> None:
        request = b"" if name == "lines" else b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        while not self._done.wait(KNOCK_S):
            began = time.monotonic()
            self.knocks += 1
            try:
                with socket.create_connection(("127.0.0.1", port), 60) as peer:
                    peer.sendall(request)
                    if not peer.recv(64):
                        self.refused.append(f"{name}: closed without a word after {time.monotonic() - began:.2f} s")
            except OSError as error:
                self.refused.append(f"{name}: {error!r} after {time.monotonic() - began:.2f} s")
            self.longest_s = max(self.longest_s, time.monotonic() - began)

    def __enter__(self) -> Knocking:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join(timeout=90)


class Upgrade(msgspec.Struct, kw_only=True):
    """One upgrade. Seconds, `began` and `ended` those of the monotonic clock round the command.

    :ivar program: that took over; empty: the one that ran
    :ivar stated_s: that nobody was served, as the server says
    :ivar cpu_s: of the server's process, from the command until the next upgrade
    :ivar ours_s: the longest pause of a game in which both bots are our client's; None where none went on
    :ivar others_s: the same with a bot of the other kind
    :ivar games: that went on
    :ivar charged_s: the most that a move was charged for that was made across the upgrade
    """

    began: float
    ended: float
    stated_s: float
    load: float
    program: str = ""
    cpu_s: float = 0.0
    ours_s: float | None = None
    others_s: float | None = None
    games: int = 0
    charged_s: float | None = None


class Stored(msgspec.Struct, kw_only=True):
    """What the database has of the games.

    :ivar moves: (game, ply) -> move, seconds charged, when it was committed (Unix time)
    :ivar lost: games with a verdict that no bot brought about, as (game, reason)
    """

    moves: dict[tuple[int, int], tuple[str, float, float]]
    lost: list[tuple[int, str]]


@contextlib.contextmanager
def crowd(
    folder: Path, running: Running, *, bots: int, think_s: float, wait_s: float
) -> Iterator[subprocess.Popen[bytes]]:
    """The bots, in a process of their own; they go when its standard input is closed."""
    script = folder / "script.json"
    script.write_text(json.dumps(scripted_game()))
    options: dict[str, object] = {"bots": bots, "think": think_s, "wait": wait_s}
    options |= {"lines": running.lines, "websocket": running.websocket}
    options |= {"script": script, "output": folder / "told.json"}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    process = subprocess.Popen(
        [sys.executable, "-m", returning_bots.__name__, *words],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=30)
        process.kill()
        process.wait(timeout=30)


def upgraded(folder: Path, program: str = "") -> Upgrade:
    """Have a program take over. Raises RuntimeError where it does not."""
    began, load = time.monotonic(), os.getloadavg()[0]
    done = subprocess.run(
        [sys.executable, "-m", "cgos_server", "upgrade", "--json", "--config", str(folder / "cgos.toml")]
        + (["--program", program] if program else []),
        capture_output=True,
        text=True,
        timeout=180,
        cwd=folder,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the upgrade failed: {done.stderr}")
    return Upgrade(
        began=began, ended=time.monotonic(), stated_s=json.loads(done.stdout)["pause_s"], load=load, program=program
    )


def cpu_s(pid: int) -> float:
    """CPU time of a process so far, in all programs that it was."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stored(database: Path) -> Stored:
    """Read it all."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        moves = connection.execute("SELECT game_id, ply, move, used_us, at FROM moves").fetchall()
        marks = ", ".join("?" * len(LOST))
        lost = connection.execute(f"SELECT id, reason FROM games WHERE reason IN ({marks})", LOST).fetchall()
    return Stored(
        moves={(game, ply): (move, used / 1e6, at / 1e3) for game, ply, move, used, at in moves},
        lost=[(game, reason) for game, reason in lost],
    )


def missing(witnessed: Witnessed, there: Stored, script: list[str]) -> list[tuple[int, int]]:
    """Moves (game, ply) that a bot was told of, and that the database has not, or has otherwise."""
    told = {(each.game, each.ply) for each in witnessed.moves}
    told |= {(game, ply) for game, plies in witnessed.shown.items() for ply in range(1, plies + 1)}
    return sorted(place for place in told if there.moves.get(place, ("", 0, 0))[0] != script[place[1] - 1])


def pauses(upgrade: Upgrade, moves: list[Told], others: Collection[int]) -> None:
    """Fill in how long games paused across an upgrade."""
    before: dict[int, float] = {}
    after: dict[int, float] = {}
    for told in moves:
        if told.at <= upgrade.began:
            before[told.game] = told.at
        elif told.game in before and told.at > upgrade.ended - upgrade.stated_s:
            after.setdefault(told.game, told.at)
    # The last move before may also have come while the new program was checked.
    for told in moves:
        if told.game in after and upgrade.began < told.at < after[told.game]:
            before[told.game] = max(before[told.game], told.at)
    lengths = {game: at - before[game] for game, at in after.items()}
    upgrade.games = len(lengths)
    upgrade.ours_s = max((length for game, length in lengths.items() if game not in others), default=None)
    upgrade.others_s = max((length for game, length in lengths.items() if game in others), default=None)


def charged(upgrade: Upgrade, there: Stored, offset_s: float) -> None:
    """Fill in the most that a move was charged for whose game paused.

    :param offset_s: Unix time less the monotonic clock's
    """
    first: dict[int, tuple[int, float]] = {}
    for (game, ply), (_, used, at) in there.moves.items():
        if at - offset_s > upgrade.ended - upgrade.stated_s and (game not in first or ply < first[game][0]):
            first[game] = ply, used
    running = {game for (game, _), (_, _, at) in there.moves.items() if at - offset_s < upgrade.began}
    upgrade.charged_s = max((used for game, (_, used) in first.items() if game in running), default=None)


def run(
    bots: Annotated[int, "that play"] = 200,
    times: Annotated[int, "upgrades"] = 10,
    every_s: Annotated[float, "seconds between two"] = 25.0,
    think_s: Annotated[float, "mean thinking time of a move; least half of it, most one and a half"] = 1.0,
    wait_s: Annotated[float, "seconds after which the other bots connect again"] = 10.0,
    programs: Annotated[Sequence[str], "take over in turn, by their paths; without them the one that runs"] = (),
) -> dict[str, Any]:
    """Play, upgrade again and again, compare."""
    with tempfile.TemporaryDirectory(prefix="cgos-upgrade-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        running = stack.enter_context(server(folder, bots, ports=free_ports(), web="port = 0"))
        with crowd(folder, running, bots=bots, think_s=think_s, wait_s=wait_s):
            progress = stack.enter_context(Progress(disable=not sys.stderr.isatty()))
            task = progress.add_task("upgrades", total=times)
            time.sleep(min(every_s, SIGNED_IN_S))
            doors = {"lines": running.lines, "websocket": running.websocket, "web": running.web}
            with Knocking(doors | {"health": running.health}) as knocking:
                upgrades = []
                for number in range(times):
                    before = cpu_s(running.pid)
                    upgrades.append(upgraded(folder, programs[number % len(programs)] if programs else ""))
                    print(f"the server states a pause of {upgrades[-1].stated_s:.2f} s", file=sys.stderr, flush=True)
                    progress.advance(task)
                    time.sleep(every_s)
                    upgrades[-1].cpu_s = cpu_s(running.pid) - before
        offset_s = time.time() - time.monotonic()
        witnessed = msgspec.json.decode((folder / "told.json").read_bytes(), type=Witnessed)
        there = stored(folder / "data" / "cgos.sqlite")
    for upgrade in upgrades:
        pauses(upgrade, witnessed.moves, witnessed.others)
        charged(upgrade, there, offset_s)
    figures = {
        "upgrades": upgrades,
        "knocks": knocking.knocks,
        "connects_refused": knocking.refused,
        "longest_wait_s": knocking.longest_s,
        "moves_told": len(witnessed.moves),
        "moves_lost": missing(witnessed, there, scripted_game()),
        "games_lost": there.lost,
        "errors_told": witnessed.errors,
    }
    _show(figures)
    return figures


def _show(figures: dict[str, Any]) -> None:
    def seconds(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    rows = [
        (
            number,
            seconds(each.load),
            each.games,
            *map(seconds, (each.stated_s, each.ours_s, each.others_s, each.charged_s, each.cpu_s)),
        )
        for number, each in enumerate(figures["upgrades"], 1)
    ]
    head = ("upgrade", "load", "games", "stated, s", "our client, s", "others, s", "most charged, s", "CPU, s")
    print(table("upgrades in place", head, rows))
    for path in dict.fromkeys(each.program for each in figures["upgrades"]):
        stated = [each.stated_s for each in figures["upgrades"] if each.program == path]
        words = f"nobody was served for {statistics.median(stated):.2f} s (median), {max(stated):.2f} s at most"
        print(f"{path}: {words}" if path else words)
    print(f"{figures['knocks']} connects, {len(figures['connects_refused'])} refused {figures['connects_refused'][:3]}")
    print(f"the longest wait for an answer: {figures['longest_wait_s']:.2f} s")
    print(f"{figures['moves_told']} moves told, {len(figures['moves_lost'])} of them lost")
    print(f"games lost: {len(figures['games_lost'])} {figures['games_lost'][:3]}")
    print(f"errors told to the other bots: {len(figures['errors_told'])} {figures['errors_told'][:3]}")


def failed(figures: dict[str, Any]) -> bool:
    """Whether anybody was refused, or anything lost."""
    return bool(figures["connects_refused"] or figures["moves_lost"] or figures["games_lost"])


main = program(run, failed, bots=4, times=1, every_s=1.5, think_s=0.1, wait_s=0.2)


if __name__ == "__main__":
    main()
