"""However records are cut into batches, and wherever one fails and is tried again, the same rows stand at the end."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from support.storage.storage_sample import elsewhere, execute, move, query, version
from support.storage.writer_bench import Bench, PostgresDisk

from cgos_server.storage import tables
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.statements import _split
from cgos_server.storage.sqlite.writer import ROWS_PER_STATEMENT, write
from cgos_server.storage.writing import records, refitting
from cgos_server.storage.writing.effects import KINDS, STATEMENTS
from cgos_server.storage.writing.group_commit import Group
from cgos_server.storage.writing.records import Record


def test_every_kind_of_record_has_a_statement() -> None:
    assert set(STATEMENTS) == set(KINDS) == set(get_args(records.Record))


def memory() -> sqlite3.Connection:
    """An empty database with foreign keys on."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    dialect = sqlite.dialect()
    for table in tables.metadata.sorted_tables:
        connection.execute(str(CreateTable(table).compile(dialect=dialect)))
        for index in table.indexes:
            connection.execute(str(CreateIndex(index).compile(dialect=dialect)))
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def content(connection: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    return {
        name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
        for name in tables.metadata.tables
    }


class Story:
    """Makes records that could have happened in this order: what is changed was added before."""

    def __init__(self) -> None:
        self.records: list[Record] = [records.VenueAdded(1, "9x9", "{}", 0)]
        self.bots = self.owners = self.tokens = self.connections = self.entries = 0
        self.refits = 0
        self.moves: dict[int, int] = {}
        self.ended: list[int] = []
        for _ in range(2):
            self.bot(0, 0)

    def happens(self, what: int, which: int, value: int) -> None:
        kinds = (
            self.bot, self.bot_state, self.password, self.owner, self.owner_changed, self.token, self.revoked,
            self.opened, self.closed, self.game, self.move, self.move, self.move, self.end, self.heard, self.rated,
            self.rated, self.noted, self.described, self.refit, self.saved, self.corrected, self.family,
            self.suspension,
        )  # fmt: skip
        kinds[what % len(kinds)](which, value)

    def bot(self, _which: int, value: int) -> None:
        self.bots += 1
        name = f"b{self.bots}"
        self.records.append(records.BotAdded(self.bots, name, name, f"p{value}", "active", value))
        self.records.append(version(self.bots, self.bots, name, value))

    def bot_state(self, which: int, value: int) -> None:
        self.records.append(records.BotState(f"s{value}", f"r{value}", value, 1 + which % self.bots))

    def described(self, which: int, value: int) -> None:
        self.records.append(records.VersionDescribed(f"e{value}", "{}", f"a{value}", 1 + which % self.bots))

    def password(self, which: int, value: int) -> None:
        self.records.append(records.BotPassword(f"p{value}", 1 + which % self.bots))

    def owner(self, _which: int, value: int) -> None:
        self.owners += 1
        self.records.append(records.OwnerAdded(self.owners, f"o{self.owners}", f"o{self.owners}", f"p{value}", 0, 0))

    def owner_changed(self, which: int, value: int) -> None:
        if self.owners:
            self.records.append(records.OwnerChanged(f"p{value}", value % 2, "active", 1 + which % self.owners))

    def token(self, which: int, value: int) -> None:
        self.tokens += 1
        self.records.append(records.TokenAdded(self.tokens, 1 + which % self.bots, f"d{value}", "", value))

    def revoked(self, which: int, value: int) -> None:
        if self.tokens:
            self.records.append(records.TokenRevoked(value, 1 + which % self.tokens))

    def opened(self, which: int, value: int) -> None:
        self.connections += 1
        self.records.append(records.ConnectionOpened(self.connections, 1, 1 + which % self.bots, "", "", value))

    def closed(self, which: int, value: int) -> None:
        if self.connections:
            self.records.append(records.ConnectionClosed(value, f"r{value}", 1 + which % self.connections))

    def game(self, which: int, value: int) -> None:
        game = len(self.moves) + len(self.ended) + 1
        black = 1 + which % self.bots
        white = 1 + (which + 1) % self.bots
        self.records.append(records.GameAdded(game, 1, None, black, white, "", "", "{}", "", value, f"{value}"))
        self.moves[game] = 0

    def _running(self, which: int) -> int | None:
        return list(self.moves)[which % len(self.moves)] if self.moves else None

    def move(self, which: int, value: int) -> None:
        game = self._running(which)
        if game is not None:
            for _ in range(1 + value % (ROWS_PER_STATEMENT + 2) if value > 90 else 1):
                self.moves[game] += 1
                self.records.append(move(game, self.moves[game]))
            if value % 2:
                self.records.append(records.AnalysisAdded(game, self.moves[game], f"{value}"))

    def end(self, which: int, value: int) -> None:
        game = self._running(which)
        if game is not None:
            del self.moves[game]
            self.ended.append(game)
            self.entries += 1
            self.records.append(records.GameEnded(value, 0, "time", None, "", "B+Time", 0, 0, game))
            self.records.append(records.LedgerAdded(1, self.entries, value, "game", game, None, 1, 2, 2, None))
            self.records.append(records.RatingMoved(1, "k", self.entries, 1, 0.0, 1.0, value, 1.0, self.entries))
            self.records.append(records.BlackTold(1 + value % 2, game))

    def heard(self, which: int, value: int) -> None:
        if self.ended:
            kind = records.BlackTold if value % 2 else records.WhiteTold
            self.records.append(kind(value % 3, self.ended[which % len(self.ended)]))

    def rated(self, which: int, value: int) -> None:
        self.records.append(records.RatingNow(1, "k", 1 + which % 2, float(value), 1.0, value, 0, 0, value))

    def suspension(self, which: int, value: int) -> None:
        self.records.append(records.SuspensionNow(1, 1 + which % 2, value, value % 2, f"why {which}", value))

    def refit(self, which: int, value: int) -> None:
        self.refits += 1
        build = f"build {value % 3}"
        self.records.append(records.BuildSeen(build, f"text {value}"))
        self.records.append(
            refitting.RefitAdded(1, "b", self.refits, value, 0, value, value % 2, f"{which}", build, value, value)
        )
        for bot in (1, 2):
            self.records.append(refitting.RefitMoved(1, "b", bot, self.refits, value, float(value), 1.0))

    def saved(self, which: int, value: int) -> None:
        self.records.append(records.StateSaved(1, f"s{which % 2}", value, which, value, bytes([0, value])))

    def corrected(self, which: int, value: int) -> None:
        if self.ended:
            game = self.ended[which % len(self.ended)]
            self.entries += 1
            self.records.append(
                records.LedgerAdded(1, self.entries, value, "correction", game, None, 1, 2, None, None, was2=2)
            )
            self.records.append(records.CorrectionAdded(game, value, self.entries, "who", "why", None, "Void"))

    def family(self, which: int, value: int) -> None:
        self.records.append(records.BotFamily(1 + value % self.bots if value % 2 else None, 1 + which % self.bots))

    def noted(self, which: int, value: int) -> None:
        self.records.append(records.AuditAdded(value, f"who {which}", "what", "whom", "{}"))


class Flaky:
    """A connection whose n-th `execute` fails, for each n given."""

    def __init__(self, connection: sqlite3.Connection, failures: Sequence[int]) -> None:
        self._connection = connection
        self._failures = set(failures)
        self._count = 0

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self._count += 1
        if self._count in self._failures:
            raise sqlite3.OperationalError("database or disk is full")
        return self._connection.execute(sql, parameters)


happenings = st.lists(st.tuples(st.integers(0, 22), st.integers(0, 5), st.integers(0, 99)), min_size=5, max_size=60)


batch_sizes = st.lists(st.integers(1, 25), min_size=1, max_size=8)
failing_places = st.lists(st.integers(1, 80), max_size=12)
few_places = st.lists(st.integers(1, 80), max_size=5)
"""Not so many in a row that the writer gives up."""


def records_of(what: list[tuple[int, int, int]]) -> list[Record]:
    story = Story()
    for happening in what:
        story.happens(*happening)
    return story.records


@settings(max_examples=60, deadline=None)
@given(happenings, batch_sizes, failing_places)
def test_batches_and_retries_change_nothing(
    what: list[tuple[int, int, int]], sizes: list[int], failures: list[int]
) -> None:
    to_write = records_of(what)
    with contextlib.closing(memory()) as one_by_one, contextlib.closing(memory()) as batched:
        for record in to_write:
            write(one_by_one, [Group([record], None)])
        flaky: Any = Flaky(batched, failures)
        rest, turn = to_write, 0
        while rest:
            size = sizes[turn % len(sizes)]
            batch, rest, turn = rest[:size], rest[size:], turn + 1
            groups = [Group(batch[:2], None), Group(batch[2:], None)]
            while True:
                try:
                    assert write(flaky, groups) == len(batch)
                    break
                except sqlite3.OperationalError:
                    # What closing the connection does to a transaction.
                    batched.rollback()
        assert content(batched) == content(one_by_one)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(happenings, batch_sizes, few_places, few_places)
def test_postgresql_ends_up_with_the_same_rows_however_it_fails(
    shared_url: PostgresUrl,
    what: list[tuple[int, int, int]],
    sizes: list[int],
    failures: list[int],
    lost_answers: list[int],
) -> None:
    """Statements fail before they are executed, or their answers get lost; compared with SQLite, record by record."""
    to_write = records_of(what)
    with contextlib.closing(memory()) as one_by_one:
        for record in to_write:
            write(one_by_one, [Group([record], None)])
        expected = content(one_by_one)
    names = ", ".join(tables.metadata.tables)
    execute(shared_url, f"TRUNCATE {names} RESTART IDENTITY CASCADE")  # what only PostgreSQL has points at them
    elsewhere(lambda: _in_batches(shared_url, to_write, sizes, set(failures), set(lost_answers)))
    rows_by_table = {
        name: sorted(query(shared_url, f"SELECT {', '.join(map(_quoted, table.columns.keys()))} FROM {name}"), key=repr)
        for name, table in tables.metadata.tables.items()
    }
    # A transaction that was undone leaves a gap in the numbers that PostgreSQL gives out; their order is kept.
    for rows in (rows_by_table, expected):
        for numbered in ("audit", "corrections"):
            rows[numbered] = [row[1:] for row in sorted(rows[numbered])]
    assert rows_by_table == expected


def _quoted(name: str) -> str:
    return f'"{name}"'


async def _in_batches(
    url: PostgresUrl, to_write: list[Record], sizes: list[int], failures: set[int], lost_answers: set[int]
) -> None:
    disk = PostgresDisk(url)
    bench = Bench(disk)
    await bench.writer.start()
    count = 0

    def fail(_sql: str) -> Exception | None:
        nonlocal count
        count += 1
        return OSError("reset") if count in failures else None

    disk.fault = fail
    disk.after = lambda _sql: OSError("reset") if count in lost_answers else None
    rest, turn = to_write, 0
    while rest:
        size = sizes[turn % len(sizes)]
        batch, rest, turn = rest[:size], rest[size:], turn + 1
        bench.submit(*batch[:2])
        bench.submit(*batch[2:])
        await bench.writer.drain()
    await bench.writer.close()
    assert bench.failures == []


@pytest.fixture(scope="module")
def shared_url(lasting_url: Callable[..., PostgresUrl]) -> PostgresUrl:
    """One database for all examples."""
    return lasting_url()


def test_kinds_share_a_statement_where_none_touches_what_another_one_writes() -> None:
    def together(*kinds: type) -> list[list[str]]:
        return [[kind.__name__ for kind in run] for run in _split(kinds)]

    assert together(records.MoveAdded, records.AnalysisAdded) == [["MoveAdded", "AnalysisAdded"]]
    assert together(records.BotPassword, records.BotState) == [["BotPassword"], ["BotState"]]
    assert together(records.MoveAdded, records.GameEnded, records.BlackTold, records.LedgerAdded) == [
        ["MoveAdded"],
        ["GameEnded"],
        ["BlackTold", "LedgerAdded"],
    ]
