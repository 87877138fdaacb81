"""Two events and the other games of a venue at once, among bots that think: what each of them gets of it.

First without events, then with a round robin and a Swiss event that share entrants, on the same server with the same
bots for as long. Reports whether a bot was ever in more games than it has slots, the share of time that bots were in a
game (of each slot), and how long those outside the events waited for a game, in mean games. The server is the shipped
one in a process of its own, the bots come by WebSocket; loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import msgspec

from benchmarks.moves.server_moves import serving
from benchmarks.pairing.pairing_live import bot
from benchmarks.reporting import CommandLine, table, write_json
from cgos_server.net import control_socket
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.entering import EventEnter
from cgos_server.service.events.holding import EventStart

VENUE = """
[[venue]]
name = "9x9"
port = 0
size = {size}
komi = 7.0
time = {{ system = "absolute", main = "10m" }}
pairing = {{ interval_s = 0.2, patience_s = 1.0, settle_s = 0.0 }}
"""
SECRET = random.Random(1).randbytes(16).hex()


class Span(NamedTuple):
    """A game of one bot, Unix ms."""

    begun: int
    ended: int


class Shares(msgspec.Struct, kw_only=True):
    """What bots got of some minutes; waits and games in seconds.

    :ivar most_at_once: games that some bot had at once; never more than its slots
    :ivar share: of all slots' time that was spent in a game
    :ivar outside: the same of the bots outside the events
    :ivar longest_wait: of a bot outside the events, from the end of a game to the beginning of its next one
    """

    games: int
    of_events: int
    mean_game: float
    most_at_once: int
    share: float
    least_share: float
    outside: float
    median_wait: float
    longest_wait: float

    @property
    def longest_in_games(self) -> float:
        return self.longest_wait / self.mean_game


def name(number: int) -> str:
    """Of a bot, from 0."""
    return f"Bot-{number:02d}"


def player(url: str, number: int, slots: int, think: float) -> Coroutine[Any, Any, None]:
    """A bot of the venue that plays at random, thinking about so long about a move."""
    return bot(url, name(number), "9x9", think, secret=SECRET, slots=slots, scatter=0.5)


async def hold(say: Callable[[Command[Any]], Any], event: str, system: str, rounds: int | None, field: range) -> None:
    """Announce an event and start it with these bots."""
    await say(EventCreate(event=event, system=system, venue="9x9", rounds=rounds))
    await say(EventOpen(event=event))
    for number in field:
        await say(EventEnter(event=event, version=name(number)))
    await say(EventStart(event=event))


async def minutes(url: str, data: Path, options: Any) -> tuple[Span, Span]:
    """Sign in, play without events, then with two; when both were, in Unix ms. The second ends with the first event."""
    say: Callable[[Command[Any]], Any] = partial(ask, partial(control_socket.call, data))
    field = options.bots - options.outside
    seconds = 60 * options.minutes
    async with asyncio.TaskGroup() as group:
        thinking = [options.think * (0.5 + number % 3 / 2) for number in range(options.bots)]
        bots = [
            group.create_task(player(url, number, slots=options.slots, think=think))
            for number, think in enumerate(thinking)
        ]
        await asyncio.sleep(options.start_up)
        without = now_ms()
        await asyncio.sleep(seconds)
        with_events = now_ms()
        await hold(say, "Robin", "round-robin", None, range(field * 3 // 4))
        await hold(say, "Swiss", "swiss", max(2, field // 3), range(field // 4, field))
        for _ in range(max(1, int(6 * seconds))):
            await asyncio.sleep(0.5)
            if any_over(data):
                break
        until = now_ms()
        for task in bots:
            task.cancel()
    await asyncio.sleep(0.2)  # connections of those who were cancelled close in turns of the loop that follow
    return Span(without, with_events), Span(with_events, until)


def now_ms() -> int:
    return int(1000 * time.time())


def query(data: Path, sql: str) -> list[tuple[Any, ...]]:
    """Of the database, read only."""
    with closing(sqlite3.connect(f"file:{data / 'cgos.sqlite'}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(sql).fetchall()


def any_over(data: Path) -> bool:
    return bool(query(data, "SELECT 1 FROM events WHERE phase = 'over'"))


def measured(data: Path, within: Span, outside: Sequence[str], bots: int, slots: int) -> Shares:
    """What was played between two moments."""
    rows = query(
        data,
        "SELECT b.wire_name, w.wire_name, g.started_at, g.ended_at, p.game_id"
        " FROM games g JOIN versions b ON b.id = g.black_id"
        " JOIN versions w ON w.id = g.white_id LEFT JOIN event_games p ON p.game_id = g.id",
    )
    whole = [Span(begun, ended) for *_, begun, ended, _ in rows if ended and begun >= within.begun]
    spans: dict[str, list[Span]] = defaultdict(list)
    of_events = 0
    for black, white, begun, ended, of_event in rows:
        span = Span(max(begun, within.begun), min(ended or within.ended, within.ended))
        if span.begun < span.ended:
            of_events += of_event is not None
            for side in (black, white):
                spans[side].append(span)
    shares = {side: sum(end - begin for begin, end in own) for side, own in spans.items()}
    length = slots * (within.ended - within.begun)
    waits = [wait for side in outside for wait in waited(spans[side], within)]
    return Shares(
        games=sum(map(len, spans.values())) // 2,
        of_events=of_events,
        mean_game=mean(end - begin for begin, end in whole) / 1000,
        most_at_once=max(map(at_once, spans.values())),
        share=sum(shares.values()) / length / bots,
        least_share=min(shares.values()) / length,
        outside=sum(shares[side] for side in outside) / length / len(outside),
        median_wait=median(waits) / 1000,
        longest_wait=max(waits) / 1000,
    )


def at_once(spans: Sequence[Span]) -> int:
    """How many there were at most at one time; a game that begins when another ends comes after it."""
    most = now = 0
    for _, change in sorted((at, change) for span in spans for at, change in ((span.begun, 1), (span.ended, -1))):
        now += change
        most = max(most, now)
    return most


def waited(spans: Sequence[Span], within: Span) -> list[int]:
    """How long there was no game, each time; ms."""
    waits, last = [], within.begun
    for begun, ended in sorted(spans):
        if begun > last:
            waits.append(begun - last)
        last = max(last, ended)
    return [*waits, max(0, within.ended - last)]


def rows_of(by_part: Mapping[str, Shares]) -> list[tuple[str, ...]]:
    words = {field: field.replace("_", " ") for field in Shares.__struct_fields__}
    rows = [(word, *(f"{getattr(part, field):.3g}" for part in by_part.values())) for field, word in words.items()]
    return [*rows, ("longest wait, in mean games", *(f"{part.longest_in_games:.2f}" for part in by_part.values()))]


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, bots=6, outside=2, minutes=0.04, think=0.001, start_up=2.0, size=5)
    parser.add_argument("--bots", type=int, default=20)
    parser.add_argument("--outside", type=int, default=6, help="of them that enter no event")
    parser.add_argument("--slots", type=int, default=1, help="games at once of each bot")
    parser.add_argument("--size", type=int, default=9, help="of the board")
    parser.add_argument("--minutes", type=float, default=3.0, help="without events; with events until one is over")
    parser.add_argument("--think", type=float, default=0.2, help="mean seconds a move")
    parser.add_argument("--start-up", type=float, default=15.0, help="seconds of signing in, not counted")
    options = parser.read(words)
    outside = [name(number) for number in range(options.bots - options.outside, options.bots)]
    with tempfile.TemporaryDirectory(prefix="cgos-events-") as folder:
        data = Path(folder) / "data"
        with serving(Path(folder), VENUE.format(size=options.size)) as running:
            spans = asyncio.run(minutes(f"ws://127.0.0.1:{running.websocket}", data, options))
        by_part = {
            part: measured(data, span, outside, bots=options.bots, slots=options.slots)
            for part, span in zip(("without events", "with two events"), spans, strict=True)
        }
    title = f"{options.bots} bots of {options.slots} slots, {options.outside} of them in no event"
    print(table(title, ("", *by_part), rows_of(by_part)))
    write_json(options.json, by_part)
    if any(part.most_at_once > options.slots for part in by_part.values()):
        raise SystemExit("A bot was in more games than it has slots.")


if __name__ == "__main__":
    main()
