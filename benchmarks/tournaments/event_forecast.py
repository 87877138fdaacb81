"""How long events take, beside what the server forecast before they started: each system, one event after the other.

The server is the shipped one in a process of its own; bots think a random time about each move, come by WebSocket, and
play the other games of the venue between those of an event, as everywhere. Each event is forecast when its entrants are
in, and then played. Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.moves.server_moves import serving
from benchmarks.reporting import CommandLine, table, write_json
from benchmarks.tournaments.event_all import PLANS, Plan
from benchmarks.tournaments.event_live import VENUE, name, player, query
from cgos_server.net import control_socket
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.entering import EventEnter
from cgos_server.service.events.holding import EventStart

STEP_S = 0.1


class Compared(msgspec.Struct, kw_only=True):
    """One event; seconds.

    :ivar median: half of the rehearsals are over by then
    :ivar likely: nine in ten are
    :ivar took: what it took
    :ivar game_forecast: mean length of a game
    :ivar game: the same of those that were played
    """

    event: str
    entrants: int
    rounds: int
    games: int
    median: float
    likely: float
    took: float
    game_forecast: float
    game: float

    @property
    def ratio(self) -> float:
        return self.took / self.median


Ask = Callable[[Command[Any]], Any]


async def hold(say: Ask, web: int, data: Path, plan: Plan, limit_s: float) -> Compared:
    """Announce it, have it forecast, and play it. Raises TimeoutError."""
    options = dict(plan.options)
    await say(EventCreate(event=plan.name, system=plan.system, venue="9x9", rounds=plan.rounds, options=options))
    await say(EventOpen(event=plan.name))
    for number in range(plan.bots):
        await say(EventEnter(event=plan.name, version=name(number)))
    ahead = await asyncio.to_thread(forecast, web, plan.name)
    await say(EventStart(event=plan.name))
    await until(data, f"SELECT 1 FROM events WHERE name = '{plan.name}' AND phase = 'over'", limit_s)
    of_event = f"(SELECT id FROM events WHERE name = '{plan.name}')"
    ((begun, ended),) = query(
        data,
        "SELECT min(CASE WHEN kind = 'started' THEN at END), max(CASE WHEN kind = 'finished' THEN at END)"
        f" FROM event_log WHERE event_id = {of_event}",
    )
    ((games, rounds, mean),) = query(
        data,
        "SELECT count(*), max(p.round), avg(g.ended_at - g.started_at) FROM event_games p"
        f" JOIN games g ON g.id = p.game_id WHERE p.event_id = {of_event}",
    )
    return Compared(
        event=plan.name,
        entrants=plan.bots,
        rounds=rounds,
        games=games,
        median=ahead["duration_s"]["median"],
        likely=ahead["duration_s"]["likely"],
        took=(ended - begun) / 1000,
        game_forecast=ahead["game_s"],
        game=mean / 1000,
    )


async def until(data: Path, sql: str, limit_s: float) -> None:
    """Until a question has an answer. Raises TimeoutError."""
    for _ in range(int(limit_s / STEP_S)):
        if query(data, sql):
            return
        await asyncio.sleep(STEP_S)
    raise TimeoutError(sql)


def forecast(web: int, event: str) -> Any:
    """What the API says."""
    address = f"http://127.0.0.1:{web}/api/v1/events/{event}/forecast"
    with urllib.request.urlopen(address, timeout=60) as answer:
        return json.loads(answer.read())


async def run(websocket: int, web: int, data: Path, plans: Sequence[Plan], options: Any) -> list[Compared]:
    """All of them, one after the other. Raises TimeoutError."""
    say: Ask = partial(ask, partial(control_socket.call, data))
    compared: list[Compared] = []
    async with asyncio.TaskGroup() as group:
        bots = [
            group.create_task(player(f"ws://127.0.0.1:{websocket}", number, slots=1, think=options.think))
            for number in range(max(plan.bots for plan in plans))
        ]
        limit_s = 60 * options.minutes
        enough = f"SELECT 1 FROM games WHERE ended_at IS NOT NULL LIMIT 1 OFFSET {options.ladder - 1}"
        await until(data, enough, limit_s)
        for plan in plans:
            compared.append(await hold(say, web, data, plan, limit_s))
            last = compared[-1]
            print(f"{plan.name}: {last.median:.0f} s, took {last.took:.0f} s", file=sys.stderr, flush=True)
        for task in bots:
            task.cancel()
    await asyncio.sleep(0.2)  # connections of those who were cancelled close in turns of the loop that follow
    return compared


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, only=["cup"], size=5, think=0.002, ladder=4, minutes=1.0)
    parser.add_argument("--only", nargs="*", choices=[plan.name for plan in PLANS], help="these events alone")
    parser.add_argument("--size", type=int, default=5, help="of the board")
    parser.add_argument("--think", type=float, default=0.1, help="mean seconds a move")
    parser.add_argument("--ladder", type=int, default=40, help="games of the ladder before, whose lengths are known")
    parser.add_argument("--minutes", type=float, default=20.0, help="give up after so long")
    options = parser.read(words)
    plans = [plan for plan in PLANS if options.only is None or plan.name in options.only]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cgos-events-") as folder:
        data = Path(folder) / "data"
        with serving(Path(folder), VENUE.format(size=options.size), web="port = 0") as running:
            compared = asyncio.run(run(running.websocket, running.web, data, plans, options))
    columns = ("event", "entrants", "rounds", "games", "forecast", "nine in ten", "took", "took / forecast", "game")
    rows = [
        (
            *(one.event, one.entrants, one.rounds, one.games),
            *(f"{value:.1f}" for value in (one.median, one.likely, one.took)),
            *(f"{one.ratio:.2f}", f"{one.game:.2f} / {one.game_forecast:.2f}"),
        )
        for one in compared
    ]
    print(table(f"Forecast and real length, s; {time.monotonic() - begun:.0f} s in all", columns, rows))
    write_json(options.json, compared)


if __name__ == "__main__":
    main()
