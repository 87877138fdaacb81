"""Rolling against barrier, live: built-in bots of very different speed in two venues of one server at the same time.

Both venues have bots of the same speeds, the same machine and the same minutes. Reports the share of time that bots
were in a game, how long they waited for one, and whom the fastest third met. The server is the shipped one in a process
of its own; loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.moves.server_moves import serving
from benchmarks.reporting import CommandLine, write_json
from cgos_client import CgosClientError, Game, connect
from cgos_protocol.games.go_rules import GoPosition
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History

VENUES = ("rolling", "barrier")
VENUE = """
[[venue]]
name = "{name}"
port = 0
size = 9
komi = 7.0
time = {{ system = "absolute", main = "10m" }}
pairing = {{ policy = "{name}", settle_s = 0.2 }}
"""


def speeds(bots: int, slowest: float, spread: float) -> list[float]:
    """Seconds that each bot thinks about a move, evenly on a logarithmic scale, the fastest first."""
    return [slowest * spread ** (at / (bots - 1) - 1) for at in range(bots)]


def name(number: int) -> str:
    """Of a bot within its venue, by its place in speed."""
    return f"{number:03d}"


async def bot(
    url: str, named: str, venue: str, think: float, *, secret: str, slots: int = 1, scatter: float = 0.3
) -> None:
    """Plays at random, thinking for so long about a move, give or take a share of it, until it is cancelled or the
    server goes."""
    rng = random.Random(named)

    def choose(board: GoPosition) -> str:
        points = [point for point in board.empties() if not board.is_eye(board.to_play, point)]
        rng.shuffle(points)
        return next((board.write(point) for point in points if board.copy().play(point) is None), "pass")

    async def play(game: Game) -> None:
        async for turn in game.turns():
            await asyncio.sleep(think * rng.uniform(1 - scatter, 1 + scatter))
            await game.move(choose(turn.position.board()))

    with suppress(CgosClientError, OSError):
        async with connect(url, bot=named, secret=secret, venues=[venue], slots=slots) as session:
            await session.play(play)


async def play(url: str, thinking: list[float], seconds: float, progress: Progress) -> None:
    """All bots, for the time given."""
    secret = random.Random(1).randbytes(16).hex()
    bar = progress.add_task("playing", total=seconds)
    async with asyncio.TaskGroup() as group:
        bots = [
            group.create_task(bot(url, f"{venue}-{name(number)}", venue, think, secret=secret))
            for number, think in enumerate(thinking)
            for venue in VENUES
        ]
        for _ in range(int(seconds)):
            await asyncio.sleep(1.0)
            progress.advance(bar)
        for task in bots:
            task.cancel()


async def games(database: Path, venue: str) -> list[Any]:
    """What was played there."""
    async with History(database) as history:
        return list(await history.games.find(GameFilter(venue=venue), 100000))


def measured(rows: Iterable[Any], bots: int, since: int, until: int) -> Mapping[str, Any]:
    """Of one venue between two moments in Unix ms."""
    fast = {name(number) for number in range(bots // 3)}
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    opponents: dict[str, Counter[str]] = defaultdict(Counter)
    played = 0
    for row in rows:
        begun, ended = max(row.started_at, since), min(row.ended_at or until, until)
        if begun >= ended:
            continue
        played += 1
        black, white = (label.rsplit("-", 1)[1] for label in (row.black, row.white))
        for first, second in ((black, white), (white, black)):
            spans[first].append((begun, ended))
            opponents[first][second] += 1
    waits = sorted(
        (later[0] - earlier[1]) / 1000
        for own in spans.values()
        for earlier, later in zip(sorted(own), sorted(own)[1:], strict=False)
    )
    busy = [sum(end - begin for begin, end in spans[name(number)]) / (until - since) for number in range(bots)]
    among_fast = sum(opponents[fast_bot][other] for fast_bot in fast for other in fast)
    return {
        "games": played,
        "share_in_games": sum(busy) / bots,
        "least_busy": min(busy),
        "wait_median_s": waits[len(waits) // 2] if waits else None,
        "wait_p90_s": waits[len(waits) * 9 // 10] if waits else None,
        "fast_against_fast": among_fast / max(1, sum(sum(opponents[fast_bot].values()) for fast_bot in fast)),
    }


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, bots=3, minutes=0.05, slowest=0.02, spread=2.0, start_up=1.0)
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--slowest", type=float, default=1.25, help="seconds a move of the slowest bot")
    parser.add_argument("--spread", type=float, default=25.0, help="how many times as fast the fastest is")
    parser.add_argument("--start-up", type=float, default=20.0, help="seconds of signing in, not counted")
    options = parser.read(words)
    thinking = speeds(options.bots, options.slowest, options.spread)
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as directory, Progress(console=console) as progress:
        venues = "".join(VENUE.format(name=venue) for venue in VENUES)
        with serving(Path(directory), venues) as running:
            asyncio.run(
                play(f"ws://127.0.0.1:{running.websocket}", thinking, options.start_up + 60 * options.minutes, progress)
            )
        database = Path(directory) / "data" / "cgos.sqlite"
        by_venue = {}
        for venue in VENUES:
            rows = asyncio.run(games(database, venue))
            until = max(row.ended_at or row.started_at for row in rows)
            by_venue[venue] = measured(rows, options.bots, until - int(60_000 * options.minutes), until)
    write_json(options.json, by_venue)
    table = Table("", *VENUES, title=f"{options.bots} bots, {options.minutes:g} minutes")
    for key in by_venue[VENUES[0]]:
        values = [by_venue[venue][key] for venue in VENUES]
        table.add_row(key.replace("_", " "), *("-" if value is None else f"{value:.3g}" for value in values))
    Console().print(table)


if __name__ == "__main__":
    main()
