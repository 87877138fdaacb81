"""How fast the read side answers from a large database: each of its questions, asked with random arguments."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.storage.generated_past import HEADLINE, REASONS, SPAN_MS, T0, VENUES
from cgos_protocol.ids import GameId
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History


class Drawn:
    """Random arguments: versions by how much they played, so that busy ones are asked for often."""

    def __init__(self, path: Path, seed: int) -> None:
        self.random = random.Random(seed)
        with contextlib.closing(sqlite3.connect(path)) as connection:

            def ask(sql: str) -> list[tuple[Any, ...]]:
                return connection.execute(sql).fetchall()

            self.games: int = ask("SELECT max(id) FROM games")[0][0]
            self.rounds: int = ask("SELECT max(id) FROM rounds")[0][0]
            self.entries: int = ask("SELECT max(seq) FROM ledger WHERE venue_id = 1")[0][0]
            self.versions = [name for (name,) in ask("SELECT wire_name FROM versions ORDER BY id")]
            self.bots = [name for (name,) in ask("SELECT name FROM bots ORDER BY id")]
            self.players = ask(
                "SELECT b.wire_name, w.wire_name FROM games g JOIN versions b ON b.id = black_id "
                f"JOIN versions w ON w.id = white_id WHERE g.venue_id = 1 AND g.id % {max(1, self.games // 5_000)} = 0"
            )
            self.busiest = [
                name
                for (name,) in ask(
                    "SELECT wire_name FROM versions JOIN ratings ON version_id = versions.id WHERE venue_id = 1 "
                    "AND system = 'bayes' ORDER BY games DESC LIMIT 50"
                )
            ]

    def version(self) -> str:
        """One side of a random game."""
        return str(self.random.choice(self.players)[0])

    def pair(self) -> tuple[str, str]:
        """The sides of a random game."""
        first, second = self.random.choice(self.players)
        return str(first), str(second)

    def game(self) -> GameId:
        return GameId(self.random.randint(1, self.games))

    def recent(self) -> GameId:
        return GameId(self.games - self.random.randrange(min(self.games, 4_000)))

    def entry(self) -> int:
        return self.random.randint(1, self.entries)

    def time(self) -> int:
        return T0 + self.random.randrange(SPAN_MS)


Question = Callable[[], Awaitable[Any]]


def questions(history: History, drawn: Drawn) -> dict[str, Question]:
    """What is measured: a name and something that asks once with random arguments."""
    rand, venue = drawn.random, VENUES[0]

    def find(**draws: Callable[[], Any]) -> Question:
        return lambda: history.games.find(GameFilter(**{name: draw() for name, draw in draws.items()}), 50)

    def with_bot(**draws: Callable[[], Any]) -> Question:
        def ask() -> Awaitable[Any]:
            first, second = drawn.pair()
            both: dict[str, Any] = {"bot": first} | ({"opponent": second} if "opponent" in draws else {})
            rest = {name: draw() for name, draw in draws.items() if name != "opponent"}
            return history.games.find(GameFilter(**both, **rest), 50)

        return ask

    def there() -> str:
        return rand.choice(VENUES)

    def reason() -> str:
        return rand.choice(REASONS)

    def result() -> str:
        return rand.choice(("B", "W", "draw", "none"))

    def short() -> int:
        return rand.randint(0, 20)

    def long() -> int:
        return rand.randint(150, 1_100)

    return {
        "standings": lambda: history.ratings.standings(venue, HEADLINE),
        "standings, 50 of them": lambda: history.ratings.standings(venue, HEADLINE, limit=50),
        "standings as of an entry": lambda: history.ratings.standings(venue, HEADLINE, as_of=drawn.entry()),
        "games": lambda: history.games.find(GameFilter(venue=venue), 50),
        "find: all": find(),
        "find: venue": find(venue=there),
        "find: reason": find(reason=reason),
        "find: venue, reason": find(venue=there, reason=reason),
        "find: result": find(result=result),
        "find: reason, result": find(reason=reason, result=result),
        "find: dates": find(since=drawn.time, until=drawn.time),
        "find: venue, until": find(venue=there, until=drawn.time),
        "find: no longer than": find(max_moves=short),
        "find: no shorter than": find(venue=there, min_moves=long),
        "find: a length nobody had": find(min_moves=lambda: 2_000),
        "find: reason, length, since": find(reason=reason, min_moves=long, since=drawn.time),
        "find: running": find(running=lambda: True),
        "find: bot": with_bot(),
        "find: bot, venue, reason": with_bot(venue=there, reason=reason),
        "find: bot, result, until": with_bot(result=result, until=drawn.time),
        "find: bot, length": with_bot(min_moves=long),
        "find: bot, opponent": with_bot(opponent=str),
        "find: bot, opponent, reason": with_bot(opponent=str, reason=reason),
        "game": lambda: history.games.detail(drawn.recent()),
        "game, an old one": lambda: history.games.detail(drawn.game()),
        "pair_record": lambda: history.records.pair(venue, *drawn.pair()),
        "opponents": lambda: history.records.opponents(venue, drawn.version()),
        "verdicts": lambda: history.records.verdicts(venue, [drawn.version()]),
        "crosstable of 50": lambda: history.records.crosstable(
            venue, rand.sample(drawn.versions, min(50, len(drawn.versions)))
        ),
        "crosstable of the busiest 50": lambda: history.records.crosstable(venue, drawn.busiest),
        "rating_band": lambda: history.changes.band(venue, drawn.version(), HEADLINE),
        "rating_history, latest 50": lambda: history.changes.latest(drawn.version(), venue, 50, HEADLINE),
        "version_games, latest 50": lambda: history.changes.games(drawn.version(), venue, 50),
        "entry_at": lambda: history.ledger.entry_at(venue, drawn.time()),
        "moves_after, 30 games": lambda: history.games.moves_after(
            {drawn.recent(): rand.randrange(80) for _ in range(30)}
        ),
        "bot": lambda: history.bots.detail(rand.choice(drawn.bots)),
        "version": lambda: history.bots.version(drawn.version()),
        "presence": lambda: history.bots.presence(drawn.version(), drawn.time(), T0 + SPAN_MS),
        "connections_of": lambda: history.bots.connections(),
        "connections_of a bot": lambda: history.bots.connections(bot=drawn.version()),
        "rounds": lambda: history.pairings.rounds(venue, 50),
        "round": lambda: history.pairings.round(rand.randint(1, drawn.rounds)),
        "audit": lambda: history.server.audit(50),
        "ledger, 100 entries": lambda: history.ledger.named(venue, drawn.entry(), 100),
        "bots": lambda: history.bots.page(),
        "counts": lambda: history.server.counts(),
        "running_games": lambda: history.games.running(),
        "rated_counts": lambda: history.ratings.rated_counts(venue),
        "ranked": lambda: history.ratings.ranked([drawn.version()]),
        "means": lambda: history.ratings.means(venue, HEADLINE, [drawn.version()]),
    }


class Took(NamedTuple):
    """Milliseconds of each time a question was asked, sorted: by the clock, and of processor time, which other work on
    the machine does not change."""

    clock: list[float]
    processor: list[float]


async def measure(path: Path, times: int, seed: int, most_s: float = 20.0) -> AsyncIterator[tuple[str, Took]]:
    """Each question and what it took, one after the other; fewer times where they take more than `most_s`."""
    async with History(path) as history:
        for name, ask in questions(history, Drawn(path, seed)).items():
            clock: list[float] = []
            processor: list[float] = []
            while len(clock) < times and sum(clock) < 1_000.0 * most_s:
                begun, used = time.perf_counter(), time.process_time()
                await ask()
                clock.append((time.perf_counter() - begun) * 1_000.0)
                processor.append((time.process_time() - used) * 1_000.0)
            yield name, Took(sorted(clock), sorted(processor))


async def report(path: Path, times: int, seed: int) -> None:
    """Prints a line for each question as soon as it is measured."""
    print(f"{'milliseconds':32} {'p50':>8} {'p99':>8} {'p50, CPU':>9} {'p99, CPU':>9}")
    async for name, took in measure(path, times, seed):
        figures = [_quantile(of, share) for of in took for share in (0.5, 0.99)]
        print(f"{name:32} {figures[0]:8.1f} {figures[1]:8.1f} {figures[2]:9.1f} {figures[3]:9.1f}", flush=True)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
