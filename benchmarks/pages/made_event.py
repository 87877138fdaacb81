"""Makes a database with one large event in it, paired by its system and never played: results are drawn by ratings.

Must not know: what is measured on it.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from cgos_protocol.ids import BotId, EventId, GameId, VenueId, VersionId
from cgos_server.config.loader import load
from cgos_server.config.venues import fixed
from cgos_server.storage import schema
from cgos_server.tournaments.base import BLACK_WINS, WHITE_WINS, Game
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import Candidate, entering
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import EventState, after, announced
from cgos_server.tournaments.running.steps import closing, paired
from cgos_server.tournaments.tournament import ready_games

NAME = "Large"
EVENT, VENUE = EventId(1), VenueId(1)
FIRST_MS = 1_790_000_000_000
LENGTH_MS = 60_000


def name(number: int) -> str:
    """Of a bot and of its only version, from 1."""
    return f"Engine-{number:04d}"


class MadeEvent:
    """An event of so many entrants, in the last of so many rounds, whose games all run.

    :ivar state: as it is now
    :ivar entries: of its log, so far
    """

    def __init__(self, system: str, entrants: int, rounds: int, seed: int) -> None:
        self._random = random.Random(seed)
        self._now = FIRST_MS
        settings = EventSettings(name=NAME, venue="9x9", system=system, rounds=rounds, seed=seed)
        self.state: EventState = announced(settings)
        self.entries: list[log.LogEntry] = []
        self._strengths = {VersionId(number): self._random.gauss(1800, 400) for number in range(1, entrants + 1)}
        self._say(log.Announced(settings=settings))
        self._say(log.Opened())
        for version, strength in self._strengths.items():
            who = Candidate(version, BotId(version), name(version), BotId(version), None, strength)
            self._say(entering(self.state, who, by_operator=False))
        self._say(closing(self.state, self._strengths.get))
        self._say(log.Started())
        for number in range(1, rounds + 1):
            self._play(to_the_end=number < rounds)

    def end_one(self) -> log.LogEntry:
        """One more result, of a game that runs."""
        _, game = self.state.open_games[0]
        return self._end(game)

    def _play(self, to_the_end: bool) -> None:
        """Pair the next round and begin its games; they end in an order drawn by lot."""
        said = paired(self.state, ready_games(self.state.event))
        assert isinstance(said, log.Paired)
        self._say(said)
        games = [game for _, game in self.state.due_games]
        for game in games:
            self._say(log.Began(game=game.id, played_as=GameId(game.id)))
        if to_the_end:
            self._random.shuffle(games)
            for game in games:
                self._end(game)

    def _end(self, game: Game) -> log.LogEntry:
        seats = self.state.seats
        black, white = (self._strengths[seats[id_].version] for id_ in (game.black, game.white))
        self._now += LENGTH_MS
        wins = self._random.random() < 1 / (1 + 10 ** ((white - black) / 400))
        return self._say(log.Ended(game=game.id, result=BLACK_WINS if wins else WHITE_WINS))

    def _say(self, said: log.Said) -> log.LogEntry:
        entry = log.LogEntry(self.state.seq + 1, self._now, "server", said)
        self.state = after(self.state, entry)
        self.entries.append(entry)
        return entry


def prepare(path: Path, entrants: int) -> None:
    """A new database with those who will enter."""
    schema.prepare(path, even_elsewhere=True)
    venue = next(venue for venue in load(None, {}, {"server.data": path.parent}).venue if venue.name == "9x9")
    names = {number: name(number) for number in range(1, entrants + 1)}
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        _insert(connection, "venues", "id name fixed created_at", [(VENUE, "9x9", fixed(venue), FIRST_MS)])
        _insert(
            connection,
            "bots",
            "id name name_key password state created_at",
            [(number, each, each.lower(), "none", "active", FIRST_MS) for number, each in names.items()],
        )
        _insert(
            connection,
            "versions",
            "id bot_id wire_name wire_key created_at",
            [(number, number, each, each.lower(), FIRST_MS) for number, each in names.items()],
        )


def write(path: Path, made: MadeEvent) -> None:
    """The event into a database that was prepared for it; of its games it has no more than their numbers."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        event = (EVENT, NAME, VENUE, FIRST_MS, made.state.phase.value)
        _insert(connection, "events", "id name venue_id created_at phase", [event])
        _insert(
            connection,
            "event_entrants",
            "event_id entrant version_id bot_id",
            [(EVENT, seat.entrant, seat.version, seat.bot) for seat in made.state.seats.values()],
        )
        _log(connection, made.entries)


def write_result(path: Path, made: MadeEvent) -> None:
    """One more result, of a game that runs."""
    entry = made.end_one()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        _log(connection, [entry])


def _log(connection: sqlite3.Connection, entries: Sequence[log.LogEntry]) -> None:
    rows = [(EVENT, each.seq, each.at, each.actor, log.kind_of(each.said), log.encode(each.said)) for each in entries]
    _insert(connection, "event_log", "event_id seq at actor kind body", rows)


def _insert(connection: sqlite3.Connection, table: str, columns: str, rows: Sequence[tuple[object, ...]]) -> None:
    names = columns.split()
    marks = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)
