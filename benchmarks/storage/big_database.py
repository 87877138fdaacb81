"""Makes a large, believable database of a server's past, and measures how fast the read side answers from it.

    python benchmarks/storage/big_database.py /tmp/big/cgos.sqlite
    python benchmarks/storage/big_database.py /tmp/big/cgos.sqlite --measure

A million games of 2 000 versions over four years, drawn by ``generated_past.py``. Moves and analysis are there for the
latest games alone (``--moves``), pairing passes for the latest ones too (``--rounds``). There is no saved rating
state, and ratings are a plain running Elo with shrinking spreads under the name of the headline system, since what is
measured (``reading_questions.py``) is reading and not rating.
"""

import asyncio
import contextlib
import json
import random
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.reporting import CommandLine
from benchmarks.storage.generated_past import (
    HEADLINE,
    OPENINGS,
    REASONS,
    SPAN_MS,
    T0,
    VENUES,
    VIEW,
    Sizes,
    analysis,
    crowd,
    draw,
    random_game,
    result,
)
from benchmarks.storage.reading_questions import report
from cgos_protocol.ids import VenueId, VersionId
from cgos_protocol.terms import encode_terms
from cgos_server.config.loader import load
from cgos_server.config.venues import fixed, venue_value
from cgos_server.core.pairing.base import Candidate, PairingPass
from cgos_server.core.pairing.explain import encode_inputs
from cgos_server.core.venue import Venue, terms_of
from cgos_server.storage import schema

PORTION = 20_000
SCORE2 = (2, 0, 1)
"""Twice Black's score by winner, nobody last."""

LEDGER = {
    "ledger": "venue_id seq at kind game_id version_id black_id white_id score2 value digest was2",
    "rating_changes": "venue_id system seq version_id before_mean before_spread after_mean after_spread games",
    "refits": "venue_id system number included base applied cold notes build at took_us",
    "refit_points": "venue_id system version_id number applied mean spread",
    "ratings": "venue_id system version_id mean spread games provisional anchor seq",
    "corrections": "game_id at seq actor reason winner result",
    "audit": "at actor action subject detail",
}
"""The ledger's table and those that follow from it, with their columns."""

Rows = dict[str, list[tuple[Any, ...]]]


def make(path: Path, sizes: Sizes, progress: Progress) -> None:
    """A new database at `path`, which must not exist."""
    if path.exists():
        raise SystemExit(f"{path} is there already; remove it first")
    schema.prepare(path, even_elsewhere=True)
    configured = {venue.name: venue for venue in load(None, {}, {"server.data": path.parent}).venue}
    venues = [venue_value(configured[name], VenueId(number)) for number, name in enumerate(VENUES, 1)]
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("synchronous = OFF", "foreign_keys = OFF", "cache_size = -400000", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        indexes = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        later = indexes.fetchall()
        for name, _ in later:
            connection.execute(f'DROP INDEX "{name}"')
        writer = _Writer(connection, sizes, venues, progress)
        writer.write({venue.id: fixed(configured[venue.name]) for venue in venues})
        task = progress.add_task("indexes", total=len(later))
        for _, sql in later:
            connection.execute(sql)
            progress.advance(task)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


class _Writer:
    """Writes what was drawn, a table at a time."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        sizes: Sizes,
        venues: Sequence[Venue],
        progress: Progress,
    ) -> None:
        self._connection = connection
        self._sizes = sizes
        self._venues = venues
        self._progress = progress
        self._random = random.Random(sizes.seed)
        rng = np.random.default_rng(sizes.seed)
        self._crowd = crowd(sizes, rng)
        self._drawn = draw(sizes, self._crowd, rng, progress)

    def write(self, configured: Mapping[int, str]) -> None:
        """All of it; `configured` is what the first start fixed for each venue."""
        self._people(configured)
        self._play()
        self._rounds()
        self._games()
        self._moves()
        self._ledger()
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

    def _people(self, configured: Mapping[int, str]) -> None:
        sizes, there = self._sizes, self._crowd
        self._connection.execute("UPDATE server SET created_at = ?, created_by = 'a benchmark'", (T0,))
        self._insert(
            "venues",
            "id name fixed created_at",
            [(venue.id, venue.name, configured[venue.id], T0) for venue in self._venues],
        )
        owners = max(1, sizes.bots // 10)
        self._insert(
            "owners",
            "id name name_key password admin state created_at",
            [(n, f"owner{n}", f"owner{n}", "none", int(n == 1), "active", T0 + n) for n in range(1, owners + 1)],
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
        versions = []
        for place, (bot, number, came) in enumerate(zip(there.bot, there.number, there.came, strict=True)):
            label = "" if number == 1 else f"v{number}"
            name = f"Bot{bot}" + (f"-{label}" if label else "")
            at = T0 + int(came * SPAN_MS)
            versions.append(
                (place + 1, int(bot), name, name.lower(), label, f"Engine {bot % 97}", '{"visits":100}', f"A{bot}", at)
            )
        self._insert("versions", "id bot_id wire_name wire_key label engine parameters author created_at", versions)
        self._insert(
            "tokens",
            "id bot_id digest label created_at",
            [(n, n, f"{n:064x}", "", T0) for n in range(1, sizes.bots, 2)],
        )

    def _is_running(self, place: int) -> bool:
        return place >= self._sizes.games - self._sizes.running

    def _rounds(self) -> None:
        """Pairing passes for the latest games, some games each."""
        games = self._drawn
        games_a_round = 4
        first = max(0, self._sizes.games - games_a_round * self._sizes.rounds)
        self._round_of: dict[int, int] = {}
        rounds: list[tuple[object, ...]] = []
        pairings: list[tuple[object, ...]] = []
        numbers = {1: 0, 2: 0}
        for at in range(first, self._sizes.games, games_a_round):
            for venue in (1, 2):
                some = [n for n in range(at, min(at + games_a_round, self._sizes.games)) if games.venue[n] == venue]
                if not some:
                    continue
                numbers[venue] += 1
                ready = sorted({VersionId(int(side[n])) for n in some for side in (games.black, games.white)})
                inputs = encode_inputs(
                    PairingPass(candidates=[Candidate(version, str(version), 1_800.0) for version in ready])
                )
                out = {str(version): "There was nobody left to meet." for version in ready[:1]}
                rounds.append(
                    (
                        len(rounds) + 1,
                        venue,
                        numbers[venue],
                        int(games.started[some[0]]),
                        "rolling",
                        "information",
                        "{}",
                        str(at),
                        inputs,
                        json.dumps(out),
                        "[]",
                        1_000,
                    )
                )
                for n in some:
                    self._round_of[n] = len(rounds)
                    sides = sorted((int(games.black[n]), int(games.white[n])))
                    why = ("It tells most about both.", "Fewer games with Black.", '{"worth":12}')
                    pairings.append((n + 1, len(rounds), *sides, *why))
        self._insert(
            "rounds",
            "id venue_id number at policy method options seed inputs sits_out notes total",
            rounds,
            len(rounds),
        )
        self._pairings = pairings

    def _games(self) -> None:
        terms = ["", *(encode_terms(terms_of(venue)) for venue in self._venues)]
        openings = ("", *OPENINGS)
        columns = [column.tolist() for column in self._drawn]

        def rows() -> Iterator[Sequence[Any]]:
            for n, (venue, black, white, started, ended, reason, winner, margin2, plies, opening) in enumerate(
                zip(*columns, strict=True)
            ):
                common = (n + 1, venue, self._round_of.get(n), black, white, "1800?", "1750", terms[venue], "", started)
                if self._is_running(n):
                    yield (*common, None, None, None, None, "", None, 2, 2, None, openings[opening])
                    continue
                word = REASONS[reason]
                margin = (-margin2 if winner == 1 else margin2) if word == "score" else None
                yield (
                    *common,
                    ended,
                    None if winner == 2 else winner,
                    word,
                    margin,
                    "",
                    result(word, winner, margin2),
                    2,
                    2,
                    plies,
                    openings[opening],
                )

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

    def _moves(self) -> None:
        """Legal games by chance, each of a few cut to length: the latest games are alike, and long."""
        games = self._drawn
        first = max(0, self._sizes.games - self._sizes.moves)
        analyses = [analysis(venue) for venue in self._venues]

        def each() -> Iterator[tuple[int, VenueId, int, int, str]]:
            for n in range(first, self._sizes.games):
                venue = VenueId(int(games.venue[n]))
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
            ((n + 1, ply, analyses[venue - 1]) for n, venue, ply, _, _ in each() if n % 2 == 0),
        )

    def _play(self) -> None:
        """Some games by chance for each venue; none of the latest games is longer than the one it is a copy of."""
        games = self._drawn
        self._played = {venue.id: [random_game(venue, self._random) for _ in range(8)] for venue in self._venues}
        for n in range(max(0, self._sizes.games - self._sizes.moves), self._sizes.games):
            games.plies[n] = min(int(games.plies[n]), len(self._played[VenueId(int(games.venue[n]))][n % 8]))

    def _ledger(self) -> None:
        """Entries in the order in which games ended, the ratings they moved, refits between them, corrections at the
        end."""
        rows: Rows = {table: [] for table in LEDGER}
        ended = np.argsort(self._drawn.ended, kind="stable").tolist()
        for venue in self._venues:
            mine = [n for n in ended if self._drawn.venue[n] == venue.id and not self._is_running(n)]
            seq, state = self._rate(venue, mine, rows)
            self._correct(venue.id, mine, seq, rows)
            for version, (mean, spread, count, last) in state.items():
                shown = (spread, count, int(count < 20), int(version <= 2), last)
                rows["ratings"] += [
                    (venue.id, system, version, mean + offset, *shown)
                    for system, offset in ((HEADLINE, 0.0), (VIEW, 5.0))
                ]
        self._insert("builds", "id text", [("b", "a benchmark")])
        for table, columns in LEDGER.items():
            self._insert(table, columns, rows[table], len(rows[table]))

    def _rate(self, venue: Venue, mine: Sequence[int], rows: Rows) -> tuple[int, dict[int, list[Any]]]:
        """The venue's last entry, and for each version mean, spread, games and the entry that moved it last."""
        games = self._drawn
        state: dict[int, list[Any]] = {}
        seq = number = 0
        task = self._progress.add_task(f"ratings {venue.name}", total=len(mine))
        for place, n in enumerate(mine):
            black, white, at = int(games.black[n]), int(games.white[n]), int(games.ended[n])
            for version in (black, white):
                if version not in state:
                    seq += 1
                    state[version] = [1_800.0, 300.0, 0, seq]
                    entered = int(games.started[n])
                    rows["ledger"].append(_entry(venue.id, seq, entered, "enter", version=version, value=1_800.0))
                    rows["rating_changes"].append((venue.id, HEADLINE, seq, version, 1_800.0, 300.0, 1_800.0, 300.0, 0))
            if place % 10_000 == 0:
                self._progress.update(task, completed=place)
            if games.reason[n] >= REASONS.index("abort"):
                continue
            seq += 1
            score2 = SCORE2[int(games.winner[n])]
            rows["ledger"].append(
                _entry(venue.id, seq, at, "game", game=n + 1, black=black, white=white, score2=score2, digest=n)
            )
            first, second = state[black], state[white]
            surprise = score2 / 2 - 1.0 / (1.0 + 10.0 ** ((second[0] - first[0]) / 400.0))
            for version, side, sign in ((black, first, 1.0), (white, second, -1.0)):
                mean, spread = side[0] + sign * surprise * side[1] / 8.0, max(25.0, side[1] * 0.99)
                rows["rating_changes"].append(
                    (venue.id, HEADLINE, seq, version, side[0], side[1], mean, spread, side[2] + 1)
                )
                side[:] = [mean, spread, side[2] + 1, seq]
            if len(state) > 2 and place % self._sizes.refit_every == self._sizes.refit_every - 1:
                number += 1
                rows["refits"].append(
                    (venue.id, HEADLINE, number, seq, number - 1, seq, int(number % 20 == 0), "{}", "b", at, 90_000)
                )
                for version in self._random.sample(sorted(state), min(len(state), 60)):
                    side = state[version]
                    side[0] += self._random.gauss(0.0, 3.0)
                    side[3] = seq
                    rows["refit_points"].append((venue.id, HEADLINE, version, number, seq, side[0], side[1]))
        self._progress.update(task, completed=len(mine))
        return seq, state

    def _correct(self, venue: int, mine: Sequence[int], seq: int, rows: Rows) -> None:
        """Some results are corrected, after the entry `seq`."""
        games = self._drawn
        for _ in range(self._sizes.corrections):
            n = mine[self._random.randrange(len(mine))]
            if games.reason[n] >= REASONS.index("abort"):
                continue
            seq += 1
            at = T0 + SPAN_MS + seq
            now, winner, word = self._random.choice([(None, None, "Void"), (2, 0, "B+Forfeit"), (0, 1, "W+Forfeit")])
            sides = {"black": int(games.black[n]), "white": int(games.white[n])}
            was2 = SCORE2[int(games.winner[n])]
            rows["ledger"].append(_entry(venue, seq, at, "correction", game=n + 1, score2=now, was2=was2, **sides))
            rows["corrections"].append((n + 1, at, seq, "owner1", "The engine was broken.", winner, word))
            rows["audit"].append((at, "owner1", "correct", f"game {n + 1}", "{}"))

    def _connections(self) -> None:
        """A version comes and goes as long as it is there; the more active it is the more often."""
        there = self._crowd
        rows: list[tuple[Any, ...]] = []
        for place in range(self._sizes.versions):
            many = 1 + int(min(1_000.0, 20.0 * there.activity[place]))
            begin, end = (T0 + int(when[place] * SPAN_MS) for when in (there.came, there.left))
            step = max(2, (end - begin) // many)
            for number in range(many):
                opened = begin + number * step
                last = number == many - 1 and there.left[place] >= 1.0
                rows.append(
                    (
                        2 if there.both[place] and number % 9 == 0 else 1,
                        place + 1,
                        f"192.0.2.{place % 250}",
                        "client 1.0",
                        opened,
                        None if last else opened + step * 2 // 3,
                        "" if last else "quit",
                    )
                )
        rows.sort(key=lambda row: int(row[4]))
        self._insert("connections", "venue_id version_id address client opened_at closed_at reason", rows, len(rows))


def _entry(
    venue: int,
    seq: int,
    at: int,
    kind: str,
    *,
    game: int | None = None,
    version: int | None = None,
    black: int | None = None,
    white: int | None = None,
    score2: int | None = None,
    value: float | None = None,
    digest: int | None = None,
    was2: int | None = None,
) -> tuple[Any, ...]:
    """A row of the ledger."""
    return (venue, seq, at, kind, game, version, black, white, score2, value, digest, was2)


def _portions(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    portion: list[Sequence[Any]] = []
    for row in rows:
        portion.append(row)
        if len(portion) == PORTION:
            yield portion
            portion = []
    if portion:
        yield portion


def main(words: Sequence[str] | None = None) -> None:
    """Make it, or measure it."""
    parser = CommandLine(__doc__, games=40, versions=8, bots=6, rounds=4, running=2, times=1, moves=10)
    parser.add_argument("path", type=Path)
    names = ("games", "versions", "bots", "moves", "rounds", "running", "seed")
    for name in names:
        parser.add_argument(f"--{name}", type=int, default=getattr(Sizes, name))
    parser.add_argument("--measure", action="store_true", help="only measure the one that is there")
    parser.add_argument("--times", type=int, default=200, help="how often each question is asked")
    chosen = parser.read(words)
    if not chosen.measure:
        sizes = Sizes(**{name: getattr(chosen, name) for name in names})
        columns = (TextColumn("{task.description:>16}"), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns) as progress:
            make(chosen.path, sizes, progress)
        return
    asyncio.run(report(chosen.path, chosen.times, chosen.seed))


if __name__ == "__main__":
    main()
