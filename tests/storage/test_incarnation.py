"""Restored and copied databases: names of their own, and numbers that nothing else has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from support.storage.storage_sample import events, execute, games, move, people, put, query

from cgos_server.storage import schema
from cgos_server.storage.backups import restoring, taking
from cgos_server.storage.copying import copy
from cgos_server.storage.incarnation import LEFT_OUT
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.stored import Incarnation, NextIds
from cgos_server.storage.writing.asking import QuestionAdded, QuestionGame
from cgos_server.storage.writing.records import AnalysisAdded, EventLogged

NOW = 1_800_000_000_000
BEGAN = '{"kind":"began","game":2,"played_as":3}'


def silent(_what: str, _done: int, _total: int) -> None:
    """Nobody looks."""


def begun(location: Location) -> tuple[Incarnation, NextIds]:
    """As a start of the server asks."""

    async def ask() -> tuple[Incarnation, NextIds]:
        history = History(location)
        try:
            return await history.server.incarnation(), await history.server.next_ids()
        finally:
            await history.close()

    return asyncio.run(ask())


def word(location: Location) -> str:
    return begun(location)[0].incarnation


@pytest.fixture
def full(database: Location) -> Location:
    question = QuestionAdded(1, 1, None, "test", "{}", 900, 0, "open", None, "", "")
    put(database, [*people(), *games(), *events(), EventLogged(2, 4, 1_100, "server", "began", BEGAN)])
    put(database, [question, QuestionGame(4, 1, 1, ""), AnalysisAdded(3, 1, "{}")])
    return database


@pytest.fixture(params=["to sqlite", "to postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "to sqlite":
        return tmp_path / "target" / "cgos.sqlite"
    return request.getfixturevalue("new_url")(empty=True)  # type: ignore[no-any-return]


@pytest.fixture
def backup(full: Location, tmp_path: Path) -> Path:
    return Path(taking.take(full, tmp_path / "backups" / "one.sqlite", NOW, silent).file)


def test_a_database_has_a_name_and_its_backups_keep_it(full: Location, backup: Path) -> None:
    incarnation, ids = begun(full)
    assert incarnation.numbers_above == 0
    assert (ids.game, ids.bot, ids.owner) == (6, 4, 2)
    assert len(incarnation.incarnation) == 8
    assert word(backup) == incarnation.incarnation


def test_a_restored_database_has_another_name_and_leaves_numbers_out(
    full: Location, backup: Path, target: Location
) -> None:
    restoring.restore(backup, target, NOW, silent)
    incarnation, ids = begun(target)
    assert incarnation.incarnation not in (word(full), "")
    assert incarnation.numbers_above == LEFT_OUT + 5
    assert min(ids) == LEFT_OUT + 6
    assert ids.game == LEFT_OUT + 8, "two unfinished games have new numbers"


def test_a_copy_has_another_name_and_the_same_games(full: Location, target: Location) -> None:
    copy(full, target, silent)
    incarnation, ids = begun(target)
    assert incarnation.incarnation not in (word(full), "")
    assert min(ids) == ids.game == LEFT_OUT + 6
    for table in ("games", "moves", "event_log"):
        assert sorted(query(target, f"SELECT * FROM {table}")) == sorted(query(full, f"SELECT * FROM {table}"))


def test_unfinished_games_go_on_under_new_numbers(full: Location, backup: Path, target: Location) -> None:
    restoring.restore(backup, target, NOW, silent)
    third, fourth = LEFT_OUT + 6, LEFT_OUT + 7
    assert query(target, "SELECT id FROM games ORDER BY id") == [(1,), (2,), (5,), (third,), (fourth,)]
    moves = query(target, f"SELECT ply, move FROM moves WHERE game_id = {third} ORDER BY ply")
    assert moves == [(1, "C3"), (2, "G7")]
    assert query(target, f"SELECT ply FROM analysis WHERE game_id = {third}") == [(1,)]
    assert query(target, f"SELECT reason FROM pairings WHERE game_id = {fourth}") == [("reason 4",)]
    assert query(target, "SELECT game_id FROM question_games") == [(fourth,)]
    assert query(target, "SELECT game_id FROM event_games ORDER BY game_id") == [(1,), (third,)]
    began = query(target, "SELECT body FROM event_log WHERE kind = 'began' ORDER BY seq")
    assert began == [('{"kind":"began","game":1,"played_as":1}',), (BEGAN.replace("3", str(third)),)]
    put(target, [move(third, 3)])  # it goes on
    assert query(full, "SELECT id FROM games ORDER BY id") == [(1,), (2,), (3,), (4,), (5,)]


def test_all_that_is_known_of_later_lives_is_left_out(backup: Path, target: Location, tmp_path: Path) -> None:
    later = tmp_path / "backups" / "later.sqlite"
    restoring.restore(backup, later, NOW, silent)
    (tmp_path / "backups" / "damaged.sqlite").write_bytes(b"x")
    kept = sorted((tmp_path / "backups").iterdir())
    restoring.restore(backup, target, NOW, silent, kept=kept)
    assert min(begun(target)[1]) > 2 * LEFT_OUT
    if isinstance(target, Path):
        restoring.restore(backup, target, NOW, silent)  # the database that was there counts, too
        assert min(begun(target)[1]) > 3 * LEFT_OUT
        restoring.restore(backup, target.with_name("other.sqlite"), NOW, silent, highest=9_999_999)
        assert min(begun(target.with_name("other.sqlite"))[1]) == 11 * LEFT_OUT


def test_what_was_moved_aside_counts(backup: Path, tmp_path: Path) -> None:
    target = tmp_path / "data" / "cgos.sqlite"
    for lives in (1, 2):
        restoring.restore(backup, target, NOW, silent)
        assert min(begun(target)[1]) > lives * LEFT_OUT
    target.unlink()
    restoring.restore(backup, target, NOW, silent)
    assert min(begun(target)[1]) > 2 * LEFT_OUT


def test_a_backup_of_an_older_schema_gets_its_numbers_with_the_upgrade(
    target: Location, new_url: Callable[..., PostgresUrl], tmp_path: Path
) -> None:
    old: Location = tmp_path / "old.sqlite" if isinstance(target, Path) else new_url(empty=True)
    schema.prepare(old, revision="0008_questions")
    execute(old, "INSERT INTO audit VALUES (7, 0, 'a', 'b', 'c', '{}')")
    execute(old, "INSERT INTO owners VALUES (41, 'Olive', 'olive', 'h', 0, 'active', 0)")
    taken = Path(taking.take(old, tmp_path / "backups" / "old.sqlite", NOW, silent).file)
    restoring.restore(taken, target, NOW, silent)
    assert schema.current(target) == "0008_questions"
    schema.upgrade(target)
    incarnation, ids = begun(target)
    assert len(incarnation.incarnation) == 8
    assert min(ids) == LEFT_OUT + 42
    schema.upgrade(old)  # was never restored
    assert min(begun(old)[1]) == 1
