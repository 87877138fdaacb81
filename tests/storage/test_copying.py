"""A database moved from one place to another: the same rows on both sides, or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.storage.storage_sample import events, execute, games, move, people, put, query, refits

from cgos_protocol.errors import DatabaseLocked, NotFound, Refused, StoreError
from cgos_server.storage import copying, schema, tables
from cgos_server.storage.copying import Copied, copy
from cgos_server.storage.location import Location, PostgresUrl, note_elsewhere, note_path
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.writing.records import (
    AnalysisAdded,
    AuditAdded,
    BotFamily,
    CorrectionAdded,
    RatingNow,
    StateSaved,
    SuspensionNow,
    VersionDescribed,
)


def silent(_what: str, _done: int, _total: int) -> None:
    """Nobody looks."""


ODD = [
    AuditAdded(1, "é漢\U0001f600", "a\nb", "", "{}"),
    AuditAdded(2, "", "gap below", "", "{}"),
    VersionDescribed("engine 'x' \"y\"\t\\", '{"a":[1,2]}', "", 3),
    AnalysisAdded(3, 1, "x" * 20_000),
    RatingNow(1, "cgos-elo", 3, 1 / 3, -0.0, 2, 0, 1, 4),
    RatingNow(1, "Another", 3, 1e-300, 1e300, 2, 0, 1, 4),
    StateSaved(2, "bayes", 0, 0, 1, bytes(range(256)) * 5_000),
    StateSaved(2, "empty", 0, 0, 1, b""),
    BotFamily(3, 1),
    SuspensionNow(1, 3, 5, 1, "é", 2),
]


def fingerprint(location: Location) -> list[Copied]:
    """How many rows each table of a database has, and their hash."""

    async def accounts() -> list[Copied]:
        copied = []
        async with copying._open(location, writing=False) as end:
            for table in tables.metadata.sorted_tables:
                account = copying._Account(table)
                async for rows in end.rows(table, copying.ROWS_AT_ONCE):
                    account.add(rows)
                copied.append(account.closed())
        return copied

    return asyncio.run(accounts())


def without_server(copied: list[Copied]) -> list[Copied]:
    """All but the table whose row names the incarnation."""
    return [table for table in copied if table.table != "server"]


@pytest.fixture
def full(database: Location) -> Location:
    put(database, [*people(), *games(), *refits(), *events(), *ODD])
    return database


@pytest.fixture(params=["to sqlite", "to postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "to sqlite":
        return tmp_path / "target" / "cgos.sqlite"
    return request.getfixturevalue("new_url")(empty=True)  # type: ignore[no-any-return]


def test_a_copy_has_the_same_rows_and_goes_on(full: Location, target: Location) -> None:
    steps: list[tuple[str, int, int]] = []
    copied = copy(full, target, lambda *step: steps.append(step))
    assert fingerprint(full) == copied
    assert without_server(fingerprint(target)) == without_server(copied)
    assert {table.table for table in copied} == set(tables.metadata.tables)
    rows = {table.table: table.rows for table in copied}
    assert (rows["games"], rows["moves"], rows["audit"], rows["server"]) == (6, 6, 2, 1)
    assert query(target, "SELECT created_at FROM server") == query(full, "SELECT created_at FROM server")
    assert steps[-1][1] == steps[-1][2] == 2 * sum(rows.values())
    # A server goes on from there: numbers that the database gives out are free.
    more = CorrectionAdded(1, 0, None, "", "", 0, "B+3.5")
    put(target, [move(3, 3), AuditAdded(3, "", "after the move", "", "{}"), more])
    assert query(target, "SELECT id FROM audit ORDER BY id") == [(1,), (2,), (3,)]
    assert query(target, "SELECT id FROM corrections ORDER BY id") == [(1,), (2,)]
    states = query(target, "SELECT system, state FROM rating_states WHERE venue_id = 2 ORDER BY system")
    assert states == [("bayes", bytes(range(256)) * 5_000), ("empty", b"")]


def test_there_and_back_gives_the_same_hashes(
    full: Location, new_url: Callable[..., PostgresUrl], tmp_path: Path
) -> None:
    there: Location = new_url(empty=True) if isinstance(full, Path) else tmp_path / "there.sqlite"
    back: Location = tmp_path / "back.sqlite" if isinstance(full, Path) else new_url(empty=True)
    first, second = copy(full, there, silent), copy(there, back, silent)
    every = [first, second, fingerprint(full), fingerprint(there), fingerprint(back)]
    assert all(without_server(one) == without_server(first) for one in every)


def test_many_rows_come_in_several_portions(full: Location, target: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    put(full, [move(4, ply) for ply in range(1, 100)])
    monkeypatch.setattr(copying, "ROWS_AT_ONCE", 1)
    first = len(query(full, "SELECT id FROM bots WHERE family_id > id"))
    assert first == 1  # a row that points at a later one
    steps: list[Any] = []
    assert copy(full, target, lambda *step: steps.append(step)) == fingerprint(full)
    assert len([step for step in steps if step[0] == "copying moves"]) >= 10


def test_a_target_with_rows_is_left_as_it_is(full: Location, target: Location) -> None:
    schema.prepare(target)
    execute(target, "INSERT INTO venues VALUES (9, 'mine', '{}', 0)")
    with pytest.raises(Refused, match="is not empty: its table venues has rows"):
        copy(full, target, silent)
    assert query(target, "SELECT id FROM venues") == [(9,)]
    assert query(target, "SELECT count(*) FROM server") == [(1,)]


def test_a_copy_that_differs_leaves_the_target_empty(
    full: Location, target: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = copying._Account.add

    def wrong(account: Any, rows: Any) -> Any:
        clean = honest(account, rows)
        return [(*row[:2], "Z9", *row[3:]) for row in clean] if account._table is tables.moves else clean

    monkeypatch.setattr(copying._Account, "add", wrong)
    with pytest.raises(StoreError, match="the copy of the table moves is not what was sent"):
        copy(full, target, silent)
    monkeypatch.undo()
    assert {table.table: table.rows for table in fingerprint(target) if table.rows} == {"server": 1}
    assert copy(full, target, silent) == fingerprint(full)


def test_databases_in_use_are_not_touched(full: Location, target: Location) -> None:
    for held in (full, target):
        with (
            DatabaseLock(held, "cgos-server serve"),
            pytest.raises(DatabaseLocked, match="in use by cgos-server serve"),
        ):
            copy(full, target, silent)
    assert copy(full, target, silent) == fingerprint(full)


def test_what_cannot_be_a_source(place: Location, target: Location, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no database at"):
        copy(place, target, silent)
    assert schema.current(target) is None
    with pytest.raises(Refused, match="cannot be copied to itself"):
        copy(place, place, silent)


def test_rows_that_point_nowhere_are_not_accepted(sqlite_database: Path, target: Location) -> None:
    execute(sqlite_database, "INSERT INTO tokens VALUES (1, 99, 'd', '', 0, NULL)")
    with pytest.raises(StoreError, match=r"tokens|bots"):
        copy(sqlite_database, target, silent)
    assert {table.table: table.rows for table in fingerprint(target) if table.rows} == {"server": 1}


def test_the_character_that_postgresql_cannot_hold(sqlite_database: Path, new_url: Callable[..., PostgresUrl]) -> None:
    put(sqlite_database, [AuditAdded(1, "a\0b", "x", "", "{}")])
    url = new_url(empty=True)
    assert copy(sqlite_database, url, silent) == fingerprint(sqlite_database)
    assert query(url, "SELECT actor FROM audit") == [("a\ufffdb",)]


def test_a_value_of_a_kind_that_only_sqlite_holds_is_a_sentence(
    sqlite_database: Path, new_url: Callable[..., PostgresUrl]
) -> None:
    execute(sqlite_database, "INSERT INTO audit VALUES (1, 'not a number', '', '', '', '')")
    with pytest.raises(StoreError, match="the table audit has a value that is not of its column"):
        copy(sqlite_database, new_url(empty=True), silent)


def test_a_directory_gets_its_database_back(full: Location, tmp_path: Path) -> None:
    target = tmp_path / "data" / "cgos.sqlite"
    target.parent.mkdir()
    note_elsewhere(target.parent, PostgresUrl.parse("postgresql://h/games"))
    copy(full, target, silent)
    assert not note_path(target).exists()
    schema.check(target)
