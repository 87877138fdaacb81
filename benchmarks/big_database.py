"""Makes a large, believable database of a server's past, and measures how fast the read side answers from it.

    python benchmarks/big_database.py /tmp/big/cgos.sqlite
    python benchmarks/big_database.py /tmp/big/cgos.sqlite --measure

A million games of 2 000 versions over four years: versions come, play and go, meet others of about their strength, some
a thousand times as much as others; games end by score or resignation mostly, by time or illegal moves sometimes, and
seldom otherwise. The same seed makes the same rows. Moves and analysis are there for the latest games alone
(``--moves``), acts of pairing for the latest ones too (``--rounds``); there is no saved rating state, and ratings are a
plain running Elo with shrinking spreads under the name of the headline system, since what is measured is reading and
not rating.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cgos_server.config import load
from cgos_server.config.venues import fixed, venue_value
from cgos_server.core.games.registry import game_kind
from cgos_server.core.referee import encode, terms_of
from cgos_server.core.venue import Venue
from cgos_server.storage import schema
from cgos_server.storage.game_answers import GamesAsked
from cgos_server.storage.history import History

T0 = 1_640_995_200_000  # 2022-01-01 00:00 UTC
YEARS = 4
SPAN_MS = YEARS * 365 * 86_400_000
VENUES = ("9x9", "19x19")
SHARES = (0.9, 0.1)
HEADLINE, VIEW = "bayes", "cgos-elo"
PORTION = 20_000

REASONS = ("score", "resignation", "time", "illegal move", "forfeit", "abort", "void")
REASON_SHARES = (0.55, 0.395, 0.04, 0.006, 0.0005, 0.008, 0.0005)
RESULTS = {"resignation": "Resign", "time": "Time", "illegal move": "Illegal", "forfeit": "Forfeit"}
LENGTHS = ((75.0, 20.0, 243), (235.0, 55.0, 1_083))
"""Mean, standard deviation and limit of a game's plies, by venue."""

OPENINGS = tuple(f"opening {number}" for number in range(1, 25))


@dataclass(frozen=True)
class Sizes:
    """How much there is to be; `moves` is the number of games with moves, `rounds` that of acts of pairing."""

    games: int = 1_000_000
    versions: int = 2_000
    bots: int = 1_500
    moves: int = 5_000
    rounds: int = 25_000
    running: int = 40
    refit_every: int = 2_000
    corrections: int = 30
    seed: int = 1


class _Games(NamedTuple):
    """Games in the order of their ids, an array a column. `reason` is a place in REASONS; `winner` 2: nobody."""

    venue: NDArray[np.int64]
    black: NDArray[np.int64]
    white: NDArray[np.int64]
    started: NDArray[np.int64]
    ended: NDArray[np.int64]
    reason: NDArray[np.int64]
    winner: NDArray[np.int64]
    margin2: NDArray[np.int64]
    plies: NDArray[np.int64]
    opening: NDArray[np.int64]


def make(path: Path, sizes: Sizes, progress: Progress) -> None:
    """A new database at `path`, which must not exist."""
    if path.exists():
        raise SystemExit(f"{path} is there already; remove it first")
    schema.prepare(path, even_elsewhere=True)
    rng = np.random.default_rng(sizes.seed)
    venues = [
        venue_value(venue, VENUES.index(venue.name) + 1)
        for venue in load(None, {}, {"server.data": path.parent}).venue
        if venue.name in VENUES
    ]
    configured = {venue.name: fixed(venue) for venue in load(None, {}, {"server.data": path.parent}).venue}
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("synchronous = OFF", "foreign_keys = OFF", "cache_size = -400000", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        indexes = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        later = indexes.fetchall()
        for name, _ in later:
            connection.execute(f'DROP INDEX "{name}"')
        _Writer(connection, sizes, rng, venues, configured, progress).write()
        task = progress.add_task("indexes", total=len(later))
        for _, sql in later:
            connection.execute(sql)
            progress.advance(task)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


class _Writer:
    def __init__(
        self,
        connection: sqlite3.Connection,
        sizes: Sizes,
        rng: np.random.Generator,
        venues: Sequence[Venue],
        configured: dict[str, str],
        progress: Progress,
    ) -> None:
        self._connection = connection
        self._sizes = sizes
        self._rng = rng
        self._random = random.Random(sizes.seed)
        self._venues = sorted(venues, key=lambda venue: venue.id)
        self._configured = configured
        self._progress = progress

    def write(self) -> None:
        self._people()
        games = self._draw()
        self._play(games)
        self._rounds(games)
        self._games(games)
        self._moves(games)
        self._ledger(games)
        self._connections()

    def _insert(self, table: str, columns: str, rows: Iterable[Sequence[Any]], total: int | None = None) -> None:
        names = columns.split()
        sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        task = self._progress.add_task(table, total=total)
        self._connection.execute("BEGIN")
        for portion in _portions(rows):
            self._connection.executemany(sql, portion)
            self._progress.advance(task, len(portion))
        self._connection.execute("COMMIT")

    def _people(self) -> None:
        sizes, rng = self._sizes, self._rng
        self._connection.execute("UPDATE server SET created_at = ?, created_by = 'a benchmark'", (T0,))
        self._insert(
            "venues",
            "id name fixed created_at",
            [(venue.id, venue.name, self._configured[venue.name], T0) for venue in self._venues],
        )
        owners = max(1, sizes.bots // 10)
        self._insert(
            "owners",
            "id name name_key password admin state created_at",
            [(n, f"owner{n}", f"owner{n}", "none", int(n == 1), "active", T0 + n) for n in range(1, owners + 1)],
        )
        # A few bots have many versions, most have one.
        of_bot = np.concatenate(
            [np.arange(1, sizes.bots + 1), 1 + np.minimum(rng.zipf(1.6, sizes.versions - sizes.bots), sizes.bots) - 1]
        )
        of_bot = np.where(of_bot > sizes.bots, sizes.bots, of_bot)
        numbers: dict[int, int] = {}
        self.names: list[str] = [""]
        versions = []
        strength = rng.normal(1_800.0, 400.0, sizes.bots + 1)
        # When each comes and for how long it stays: most for some months, a few for years.
        came = np.sort(rng.uniform(0.0, 0.97, sizes.versions))
        came[: max(8, sizes.versions // 20)] = 0.0
        self.came = came
        self.left = np.minimum(1.0, came + rng.exponential(0.2, sizes.versions) + 0.01)
        self.left[: max(8, sizes.versions // 50)] = 1.0
        self.activity = rng.lognormal(0.0, 1.2, sizes.versions)
        self.strength = np.zeros(sizes.versions)
        for place, bot in enumerate(of_bot):
            number = numbers[int(bot)] = numbers.get(int(bot), 0) + 1
            label = "" if number == 1 else f"v{number}"
            name = f"Bot{bot}" + (f"-{label}" if label else "")
            self.names.append(name)
            self.strength[place] = strength[bot] + 25.0 * number
            at = T0 + int(came[place] * SPAN_MS)
            versions.append(
                (place + 1, int(bot), name, name.lower(), label, f"Engine {bot % 97}", '{"visits":100}', f"A{bot}", at)
            )
        self._insert(
            "bots",
            "id name name_key password state created_at owner_id",
            [
                (
                    n,
                    f"Bot{n}",
                    f"bot{n}",
                    "none",
                    "active" if n % 50 else "disabled",
                    T0 + n,
                    1 + n % owners if n % 3 else None,
                )
                for n in range(1, sizes.bots + 1)
            ],
        )
        self._insert("versions", "id bot_id wire_name wire_key label engine parameters author created_at", versions)
        self._insert(
            "tokens",
            "id bot_id digest label created_at",
            [(n, n, f"{n:064x}", "", T0) for n in range(1, sizes.bots, 2)],
        )
        self.both = rng.random(sizes.versions) < 0.4
        self.both[: max(8, sizes.versions // 50)] = True

    def _draw(self) -> _Games:
        """Who played whom when, and how it ended: in slices of time, neighbours in strength by chance."""
        n, rng = self._sizes.games, self._rng
        order = np.sort(rng.uniform(0.0, 1.0, n)) ** 0.8  # the server grows
        black, white = np.zeros(n, np.int64), np.zeros(n, np.int64)
        venue = np.where(rng.random(n) < SHARES[0], 1, 2)
        slices = max(4, n // 400)
        task = self._progress.add_task("pairing", total=slices)
        for some in np.array_split(np.arange(n), slices):
            now = order[some[len(some) // 2]]
            there = (self.came <= now) & (self.left >= now)
            for number in (1, 2):
                here = some[venue[some] == number]
                ready = np.flatnonzero(there & (self.both if number == 2 else True))
                ready = ready[np.argsort(self.strength[ready], kind="stable")]
                weight = self.activity[ready] / self.activity[ready].sum()
                one = rng.choice(len(ready), len(here), p=weight)
                step = np.maximum(1, np.abs(rng.normal(0.0, 6.0, len(here))).astype(np.int64))
                step = np.where(rng.random(len(here)) < 0.5, -step, step)
                other = np.clip(one + step, 0, len(ready) - 1)
                other = np.where(other == one, np.where(one == 0, 1, one - 1), other)
                flip = rng.random(len(here)) < 0.5
                black[here] = ready[np.where(flip, one, other)]
                white[here] = ready[np.where(flip, other, one)]
            self._progress.advance(task)
        reason = rng.choice(len(REASONS), n, p=np.array(REASON_SHARES) / sum(REASON_SHARES))
        chance = 1.0 / (1.0 + 10.0 ** ((self.strength[white] - self.strength[black]) / 400.0))
        winner = np.where(rng.random(n) < chance, 0, 1)
        mean, spread, most = (np.array(column)[venue - 1] for column in zip(*LENGTHS, strict=True))
        plies = np.clip(rng.normal(mean, spread), 6, most).astype(np.int64)
        plies = np.where(rng.random(n) < 0.0002, most.astype(np.int64), plies)
        rare = reason >= REASONS.index("abort")
        plies = np.where(rare, rng.integers(0, 4, n), plies)
        margin2 = 2 * rng.integers(0, 40, n) + np.where(venue == 1, 0, 1)
        drawn = (margin2 == 0) & (reason == 0)
        winner = np.where(rare | drawn, 2, winner)
        started = T0 + (order * SPAN_MS).astype(np.int64)
        ended = started + 1_000 + (plies * rng.lognormal(7.3, 0.6, n)).astype(np.int64)
        opening = np.where(rng.random(n) < 0.3, rng.integers(1, len(OPENINGS) + 1, n), 0)
        return _Games(venue, black + 1, white + 1, started, ended, reason, winner, margin2, plies, opening)

    def _is_running(self, place: int) -> bool:
        return place >= self._sizes.games - self._sizes.running

    def _rounds(self, games: _Games) -> None:
        """Acts of pairing for the latest games, some games each."""
        each = 4
        first = max(0, self._sizes.games - each * self._sizes.rounds)
        self.round_of: dict[int, int] = {}
        rounds, pairings = [], []
        numbers = {1: 0, 2: 0}
        for at in range(first, self._sizes.games, each):
            for venue in (1, 2):
                some = [n for n in range(at, min(at + each, self._sizes.games)) if games.venue[n] == venue]
                if not some:
                    continue
                numbers[venue] += 1
                ready = sorted({int(side[n]) for n in some for side in (games.black, games.white)})
                inputs = json.dumps([[version, 1_800, 40] for version in ready], separators=(",", ":"))
                out = {str(version): "There was nobody left to meet." for version in ready[:1]}
                rounds.append(
                    (
                        len(rounds) + 1, venue, numbers[venue], int(games.started[some[0]]), "rolling", "information",
                        "{}", str(at), inputs, json.dumps(out), "[]", 1_000,
                    )
                )  # fmt: skip
                for n in some:
                    self.round_of[n] = len(rounds)
                    sides = sorted((int(games.black[n]), int(games.white[n])))
                    pairings.append(
                        (
                            n + 1,
                            len(rounds),
                            *sides,
                            "It tells most about both.",
                            "Fewer games with Black.",
                            '{"worth":12}',
                        )
                    )
        self._insert(
            "rounds",
            "id venue_id number at policy method options seed inputs sits_out notes total",
            rounds,
            len(rounds),
        )
        self._pairings = pairings

    def _games(self, games: _Games) -> None:
        terms = ["", *(encode(terms_of(venue)) for venue in self._venues)]
        openings = ("", *OPENINGS)
        columns = [column.tolist() for column in games]

        def rows() -> Iterator[Sequence[Any]]:
            for n, (venue, black, white, started, ended, reason, winner, margin2, plies, opening) in enumerate(
                zip(*columns, strict=True)
            ):
                common = (n + 1, venue, self.round_of.get(n), black, white, "1800?", "1750", terms[venue], "", started)
                if self._is_running(n):
                    yield (*common, None, None, None, None, "", None, 2, 2, None, openings[opening])
                    continue
                word = REASONS[reason]
                margin = (-margin2 if winner == 1 else margin2) if word == "score" else None
                yield (
                    *common, ended, None if winner == 2 else winner, word, margin, "", _result(word, winner, margin2),
                    2, 2, plies, openings[opening],
                )  # fmt: skip

        self._insert(
            "games",
            "id venue_id round_id black_id white_id black_label white_label terms start started_at ended_at winner "
            "reason margin2 detail result black_told white_told plies opening",
            rows(),
            self._sizes.games,
        )
        self._insert(
            "pairings", "game_id round_id high_id low_id reason colors detail", self._pairings, len(self._pairings)
        )

    def _moves(self, games: _Games) -> None:
        """Legal games by chance, each of a few cut to length: the latest games are alike, and long."""
        first = max(0, self._sizes.games - self._sizes.moves)
        said = [self._analysis(venue) for venue in self._venues]

        def each() -> Iterator[tuple[int, int, int, int, str]]:
            for n in range(first, self._sizes.games):
                venue = int(games.venue[n])
                texts = self._played[venue][n % 8]
                plies = int(games.plies[n]) // (2 if self._is_running(n) else 1)
                for ply, text in enumerate(texts[:plies], 1):
                    yield n, venue, ply, plies, text

        self._insert(
            "moves",
            "game_id ply move main_us period_us quota bank_us used_us at",
            (
                (n + 1, ply, text, 300_000_000 - ply * 900_000, 0, 0, 0, 900_000, int(games.started[n]) + ply * 900)
                for n, _, ply, _, text in each()
            ),
        )
        self._insert(
            "analysis",
            "game_id ply text",
            ((n + 1, ply, said[venue - 1]) for n, venue, ply, _, _ in each() if n % 2 == 0),
        )

    def _play(self, games: _Games) -> None:
        """Some games by chance for each venue; none of the latest games is longer than the one it is a copy of."""
        self._played = {venue.id: [self._random_game(venue) for _ in range(8)] for venue in self._venues}
        for n in range(max(0, self._sizes.games - self._sizes.moves), self._sizes.games):
            games.plies[n] = min(int(games.plies[n]), len(self._played[int(games.venue[n])][n % 8]))

    def _random_game(self, venue: Venue) -> list[str]:
        position = game_kind(venue.rules.game).new(venue.rules)
        size, letters = venue.rules.size, "ABCDEFGHJKLMNOPQRSTUVWXYZ"
        points = [f"{letter}{row + 1}" for letter in letters[:size] for row in range(size)]
        texts: list[str] = []
        while len(texts) < size * size * 2:
            self._random.shuffle(points)
            for text in points:
                move = position.read(text)
                if move is not None and position.play(move) is None:
                    texts.append(text)
                    break
            else:
                break
        return texts

    def _analysis(self, venue: Venue) -> str:
        points = venue.rules.size**2
        move = {"move": "E5", "winrate": 0.52, "score": 1.5, "prior": 0.2, "pv": "E5 D4 C3", "visits": 50}
        whole = {"winrate": 0.52, "score": 1.5, "visits": 400, "moves": [move] * 5, "ownership": "a" * points}
        return json.dumps(whole, separators=(",", ":"))

    def _ledger(self, games: _Games) -> None:
        """Entries in the order in which games ended, the ratings they moved, refits between them, corrections at the
        end."""
        ledger: list[tuple[Any, ...]] = []
        changes: list[tuple[Any, ...]] = []
        refits: list[tuple[Any, ...]] = []
        points: list[tuple[Any, ...]] = []
        ratings: list[tuple[Any, ...]] = []
        corrections: list[tuple[Any, ...]] = []
        audit: list[tuple[Any, ...]] = []
        ended = np.argsort(games.ended, kind="stable")
        for venue in self._venues:
            mine = [n for n in ended.tolist() if games.venue[n] == venue.id and not self._is_running(n)]
            state: dict[int, list[Any]] = {}
            seq = number = 0
            task = self._progress.add_task(f"ratings {venue.name}", total=len(mine))
            for place, n in enumerate(mine):
                black, white, at = int(games.black[n]), int(games.white[n]), int(games.ended[n])
                for version in (black, white):
                    if version not in state:
                        seq += 1
                        state[version] = [1_800.0, 300.0, 0, seq]
                        ledger.append(
                            (
                                venue.id,
                                seq,
                                int(games.started[n]),
                                "enter",
                                None,
                                version,
                                None,
                                None,
                                None,
                                1_800.0,
                                None,
                            )
                        )
                        changes.append((venue.id, HEADLINE, seq, version, 1_800.0, 300.0, 1_800.0, 300.0, 0))
                if place % 10_000 == 0:
                    self._progress.update(task, completed=place)
                if games.reason[n] >= REASONS.index("abort"):
                    continue
                seq += 1
                score2 = {0: 2, 1: 0, 2: 1}[int(games.winner[n])]
                ledger.append((venue.id, seq, at, "game", n + 1, None, black, white, score2, None, n))
                one, other = state[black], state[white]
                surprise = score2 / 2 - 1.0 / (1.0 + 10.0 ** ((other[0] - one[0]) / 400.0))
                for version, side, sign in ((black, one, 1.0), (white, other, -1.0)):
                    mean, spread = side[0] + sign * surprise * side[1] / 8.0, max(25.0, side[1] * 0.99)
                    changes.append((venue.id, HEADLINE, seq, version, side[0], side[1], mean, spread, side[2] + 1))
                    side[:] = [mean, spread, side[2] + 1, seq]
                if len(state) > 2 and place % self._sizes.refit_every == self._sizes.refit_every - 1:
                    number += 1
                    refits.append(
                        (venue.id, HEADLINE, number, seq, number - 1, seq, int(number % 20 == 0), "{}", "b", at, 90_000)
                    )
                    for version in self._random.sample(sorted(state), min(len(state), 60)):
                        side = state[version]
                        side[0] += self._random.gauss(0.0, 3.0)
                        side[3] = seq
                        points.append((venue.id, HEADLINE, version, number, seq, side[0], side[1]))
            self._progress.update(task, completed=len(mine))
            for _ in range(self._sizes.corrections):
                n = mine[self._random.randrange(len(mine))]
                if games.reason[n] >= REASONS.index("abort"):
                    continue
                seq += 1
                was2 = {0: 2, 1: 0, 2: 1}[int(games.winner[n])]
                at = T0 + SPAN_MS + seq
                now, winner, result = self._random.choice(
                    [(None, None, "Void"), (2, 0, "B+Forfeit"), (0, 1, "W+Forfeit")]
                )
                ledger.append(
                    (
                        venue.id,
                        seq,
                        at,
                        "correction",
                        n + 1,
                        None,
                        int(games.black[n]),
                        int(games.white[n]),
                        now,
                        None,
                        None,
                    )
                )
                ledger[-1] = (*ledger[-1], was2)
                corrections.append((n + 1, at, seq, "owner1", "The engine was broken.", winner, result))
                audit.append((at, "owner1", "correct", f"game {n + 1}", "{}"))
            for version, (mean, spread, count, last) in state.items():
                for system, offset in ((HEADLINE, 0.0), (VIEW, 5.0)):
                    ratings.append(
                        (
                            venue.id,
                            system,
                            version,
                            mean + offset,
                            spread,
                            count,
                            int(count < 20),
                            int(version <= 2),
                            last,
                        )
                    )
        self._insert("builds", "id text", [("b", "a benchmark")])
        self._insert(
            "ledger",
            "venue_id seq at kind game_id version_id black_id white_id score2 value digest was2",
            (row if len(row) == 12 else (*row, None) for row in ledger),
            len(ledger),
        )
        self._insert(
            "rating_changes",
            "venue_id system seq version_id before_mean before_spread after_mean after_spread games",
            changes,
            len(changes),
        )
        self._insert("refits", "venue_id system number included base applied cold notes build at took_us", refits)
        self._insert("refit_points", "venue_id system version_id number applied mean spread", points)
        self._insert("ratings", "venue_id system version_id mean spread games provisional anchor seq", ratings)
        self._insert("corrections", "game_id at seq actor reason winner result", corrections)
        self._insert("audit", "at actor action subject detail", audit)

    def _connections(self) -> None:
        """A version comes and goes as long as it is there; the more active it is the more often."""
        rows: list[tuple[Any, ...]] = []
        for place in range(self._sizes.versions):
            many = 1 + int(min(1_000.0, 20.0 * self.activity[place]))
            begin, end = (T0 + int(when[place] * SPAN_MS) for when in (self.came, self.left))
            step = max(2, (end - begin) // many)
            for number in range(many):
                opened = begin + number * step
                last = number == many - 1 and self.left[place] >= 1.0
                rows.append(
                    (
                        2 if self.both[place] and number % 9 == 0 else 1, place + 1, f"192.0.2.{place % 250}",
                        "client 1.0", opened, None if last else opened + step * 2 // 3, "" if last else "quit",
                    )
                )  # fmt: skip
        rows.sort(key=lambda row: int(row[4]))
        self._insert("connections", "venue_id version_id address client opened_at closed_at reason", rows, len(rows))


def _result(reason: str, winner: int, margin2: int) -> str:
    if reason in ("abort", "void"):
        return reason.capitalize()
    if winner == 2:
        return "Draw"
    return f"{'BW'[winner]}+{RESULTS.get(reason, margin2 / 2)}"


def _portions(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    portion: list[Sequence[Any]] = []
    for row in rows:
        portion.append(row)
        if len(portion) == PORTION:
            yield portion
            portion = []
    if portion:
        yield portion


class _Drawn:
    """Random arguments: versions by how much they played, so that busy ones are asked for often."""

    def __init__(self, path: Path, seed: int) -> None:
        self.random = random.Random(seed)
        with contextlib.closing(sqlite3.connect(path)) as connection:

            def ask(sql: str) -> list[tuple[Any, ...]]:
                return connection.execute(sql).fetchall()

            self.games = ask("SELECT max(id) FROM games")[0][0]
            self.rounds = ask("SELECT max(id) FROM rounds")[0][0]
            self.entries = ask("SELECT max(seq) FROM ledger WHERE venue_id = 1")[0][0]
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
        one, other = self.random.choice(self.players)
        return str(one), str(other)

    def game(self) -> int:
        return self.random.randint(1, self.games)

    def recent(self) -> int:
        return self.games - self.random.randrange(min(self.games, 4_000))

    def entry(self) -> int:
        return self.random.randint(1, self.entries)

    def time(self) -> int:
        return T0 + self.random.randrange(SPAN_MS)


Asked = Callable[[], Awaitable[Any]]


def questions(history: History, drawn: _Drawn) -> dict[str, Asked]:
    """What is measured: a name and something that asks once with random arguments."""
    rand, venue = drawn.random, VENUES[0]

    def found(**asked: Callable[[], Any]) -> Asked:
        return lambda: history.find_games(GamesAsked(**{name: draw() for name, draw in asked.items()}), 50)

    def with_bot(**asked: Callable[[], Any]) -> Asked:
        def ask() -> Awaitable[Any]:
            one, other = drawn.pair()
            both = {"bot": one} | ({"opponent": other} if "opponent" in asked else {})
            rest = {name: draw() for name, draw in asked.items() if name != "opponent"}
            return history.find_games(GamesAsked(**both, **rest), 50)

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
        "standings": lambda: history.standings(venue, HEADLINE),
        "standings, 50 of them": lambda: history.standings(venue, HEADLINE, limit=50),
        "standings as of an entry": lambda: history.standings(venue, HEADLINE, as_of=drawn.entry()),
        "games": lambda: history.games(venue, limit=50),
        "find: all": found(),
        "find: venue": found(venue=there),
        "find: reason": found(reason=reason),
        "find: venue, reason": found(venue=there, reason=reason),
        "find: result": found(result=result),
        "find: reason, result": found(reason=reason, result=result),
        "find: dates": found(since=drawn.time, until=drawn.time),
        "find: venue, until": found(venue=there, until=drawn.time),
        "find: no longer than": found(max_moves=short),
        "find: no shorter than": found(venue=there, min_moves=long),
        "find: a length nobody had": found(min_moves=lambda: 2_000),
        "find: reason, length, since": found(reason=reason, min_moves=long, since=drawn.time),
        "find: running": found(running=lambda: True),
        "find: bot": with_bot(),
        "find: bot, venue, reason": with_bot(venue=there, reason=reason),
        "find: bot, result, until": with_bot(result=result, until=drawn.time),
        "find: bot, length": with_bot(min_moves=long),
        "find: bot, opponent": with_bot(opponent=str),
        "find: bot, opponent, reason": with_bot(opponent=str, reason=reason),
        "game": lambda: history.game(drawn.recent()),
        "game, an old one": lambda: history.game(drawn.game()),
        "pair_record": lambda: history.pair_record(venue, *drawn.pair()),
        "opponents": lambda: history.opponents(venue, drawn.version()),
        "verdicts": lambda: history.verdicts(venue, [drawn.version()]),
        "crosstable of 50": lambda: history.crosstable(
            venue, rand.sample(drawn.versions, min(50, len(drawn.versions)))
        ),
        "crosstable of the busiest 50": lambda: history.crosstable(venue, drawn.busiest),
        "rating_band": lambda: history.rating_band(venue, drawn.version(), HEADLINE),
        "rating_history, latest 50": lambda: history.rating_history(drawn.version(), venue, 50, HEADLINE),
        "version_games, latest 50": lambda: history.version_games(drawn.version(), venue, 50),
        "entry_at": lambda: history.entry_at(venue, drawn.time()),
        "moves_after, 30 games": lambda: history.moves_after({drawn.recent(): rand.randrange(80) for _ in range(30)}),
        "bot": lambda: history.bot(rand.choice(drawn.bots)),
        "version": lambda: history.version(drawn.version()),
        "presence": lambda: history.presence(drawn.version(), drawn.time(), T0 + SPAN_MS),
        "connections_of": lambda: history.connections_of(),
        "connections_of a bot": lambda: history.connections_of(bot=drawn.version()),
        "rounds": lambda: history.rounds(venue, 50),
        "round": lambda: history.round(rand.randint(1, drawn.rounds)),
        "audit": lambda: history.audit(50),
        "ledger, 100 entries": lambda: history.ledger(venue, drawn.entry(), 100),
        "bots": lambda: history.bots(),
        "counts": lambda: history.counts(),
        "running_games": lambda: history.running_games(),
        "rated_counts": lambda: history.rated_counts(venue),
        "ranked": lambda: history.ranked([drawn.version()]),
        "means": lambda: history.means(venue, HEADLINE, [drawn.version()]),
    }


class Took(NamedTuple):
    """Milliseconds of each time a question was asked, sorted: by the clock, and of processor time, which other work on
    the machine does not change."""

    clock: list[float]
    processor: list[float]


async def measure(path: Path, times: int, seed: int, most_s: float = 20.0) -> AsyncIterator[tuple[str, Took]]:
    """Each question and what it took, one after the other; fewer times where they take more than `most_s`."""
    async with History(path) as history:
        for name, ask in questions(history, _Drawn(path, seed)).items():
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


def main(words: Sequence[str] | None = None) -> None:
    """Make it, or measure it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    names = ("games", "versions", "bots", "moves", "rounds", "running", "seed")
    for name in names:
        parser.add_argument(f"--{name}", type=int, default=getattr(Sizes, name))
    parser.add_argument("--measure", action="store_true", help="only measure the one that is there")
    parser.add_argument("--times", type=int, default=200, help="how often each question is asked")
    chosen = parser.parse_args(words)
    if not chosen.measure:
        sizes = Sizes(**{name: getattr(chosen, name) for name in names})
        columns = (TextColumn("{task.description:>16}"), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns) as progress:
            make(chosen.path, sizes, progress)
        return
    asyncio.run(report(chosen.path, chosen.times, chosen.seed))


if __name__ == "__main__":
    main()
