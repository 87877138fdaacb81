"""With many games in the database no answer walks through all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from support.storage.storage_sample import execute, games, people, put, refits, version

from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.storage.sqlite.connections import connect_for_writing
from cgos_server.storage.writing.records import (
    BotAdded,
    GameAdded,
    GameEnded,
    MoveAdded,
)
from cgos_server.storage.writing.refitting import RefitAdded, RefitMoved


def many_games() -> list[Any]:
    """Three thousand games of one move each: 3000 moves in all, and 300 refits, for the plans of questions."""
    many = range(100, 3_100)
    rows: list[Any] = [BotAdded(8, "delta", "delta", "", "active", 0), version(8, 8, "delta", 0)]
    rows += [GameAdded(game, 1, 1, 8, 2, "", "", "{}", "", game) for game in many]
    rows += [MoveAdded(game, 1, "E5", 0, 0, 0, 0, 0, 0) for game in many]
    for refit in range(3, 303):
        rows.append(RefitAdded(1, "bayes", refit, 5, refit - 1, 5, 0, "{}", "b1", 0, 0))
        rows += [RefitMoved(1, "bayes", bot, refit, 5, 1_800.0, 100.0) for bot in (1, 2)]
    return rows + [GameEnded(game, 0, "score", 1, "", "B+0.5", 2, 2, game) for game in many]


async def ask_everything(history: History, statements: list[tuple[str, Any]]) -> None:
    """Every question once; `asked` gets the SQL and its parameters."""
    event.listen(
        history.source.engine.sync_engine,
        "before_cursor_execute",
        lambda _connection, _cursor, sql, parameters, *_: statements.append((sql, parameters)),
    )
    await history.ratings.standings("9x9")
    await history.games.find(GameFilter(), 50)
    await history.games.find(GameFilter(venue="9x9"), 50, before=2000)
    assert len(await history.games.find(GameFilter(venue="9x9", bot="delta"), 50)) == 50
    await history.games.running()
    await history.games.detail(500)
    await history.ratings.standings("9x9", as_of=4)
    await history.changes.latest("alpha", "9x9")
    await history.changes.latest("alpha", "9x9", limit=2, system="bayes")
    await history.changes.games("alpha", "9x9")
    await history.changes.games("alpha", "9x9", limit=2)
    await history.ledger.named("9x9", after=3, limit=10)
    await history.ledger.entries("9x9", after=3, limit=10)
    await history.ledger.last_entry("9x9")
    await history.ledger.published("9x9", "bayes", after=2, limit=10)
    await history.refits.published("9x9", "bayes", after=1, limit=10)
    await history.refits.published("9x9", "bayes", cold=True)
    await history.ledger.amended("9x9")
    await history.refits.recorded("9x9", "bayes", limit=10)
    await history.refits.state("9x9", "bayes")
    await history.bots.page()
    await history.pairings.round(2)
    assert len(await history.pairings.games("9x9", 20, before=2_000)) == 20
    await history.pairings.decided("9x9", 20, before=2)
    await history.bots.connection_spans("9x9", [1, 2], 0, 1_000)
    assert (await history.server.counts()).moves == 3_006


@pytest.mark.parametrize("analyzed", [False, True])
async def test_answers_use_indexes(sqlite_database: Path, analyzed: bool) -> None:
    """With many games in the database no answer walks through the games or the moves themselves."""
    put(sqlite_database, [*people(), *games(), *refits(), *many_games()])
    connection = connect_for_writing(sqlite_database)
    if analyzed:
        connection.execute("ANALYZE")
    statements: list[tuple[str, Any]] = []
    async with History(sqlite_database) as history:
        await ask_everything(history, statements)
    assert len(statements) > 20
    big = ("games", "moves", "rating_changes", "ledger", "refits", "refit_points")
    whole = (
        "SEARCH rating_changes USING PRIMARY KEY (venue_id=?)",
        "SEARCH ledger USING PRIMARY KEY (venue_id=?)",
        "SEARCH ledger USING PRIMARY KEY (venue_id=? AND seq<?)",
        "SEARCH rating_changes USING PRIMARY KEY (venue_id=? AND seq<?)",
        "SEARCH games USING INDEX ix_games_venue_id_id (venue_id=?)",
        "SEARCH refit_points USING PRIMARY KEY (venue_id=?)",
        "SEARCH refit_points USING PRIMARY KEY (venue_id=? AND system=?)",
    )
    for sql, parameters in statements:
        if sql != "BEGIN":
            plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
            scans = [step for step in plan if (step.startswith("SCAN") and step.split()[1] in big) or step in whole]
            ordered = ("ORDER BY games.id DESC" in sql, "ORDER BY ledger.seq DESC" in sql and "LIMIT" in sql)
            in_order = any(ordered) and "TEMP B-TREE" not in "".join(plan)
            quick = ("COVERING INDEX", "ix_games_unfinished", "ix_ledger_correction")
            assert in_order or all(any(index in step for index in quick) for step in scans), (sql, plan)
    connection.close()


async def test_answers_use_indexes_on_postgresql(new_url: Callable[..., PostgresUrl]) -> None:
    """As above, with enough games to make a walk through them dear to PostgreSQL, too."""
    database = new_url()
    put(database, [*people(), *games(), *refits(), *many_games()])
    columns = "venue_id, round_id, black_id, white_id, black_label, white_label, terms, start, started_at"
    ending = "ended_at, reason, result, plies"
    execute(
        database,
        f"INSERT INTO games (id, {columns}, {ending}) SELECT g, 2, 3, 1 + g % 2, 3, '', '', '{{}}', '', g, g, 'score', "
        "'B+0.5', 0 FROM generate_series(10000, 50000) AS g",
    )
    execute(database, "VACUUM ANALYZE")
    statements: list[tuple[str, Any]] = []
    async with History(database) as history:
        await history.server.venues()
        await ask_everything(history, statements)
        assert len(statements) > 20
        async with history.source.engine.connect() as connection:
            for sql, parameters in statements[:]:  # looking asks, too
                rows = await connection.exec_driver_sql(f"EXPLAIN {sql}", parameters)
                walks = [step for (step,) in rows if "Seq Scan on games" in step or "Seq Scan on moves" in step]
                assert not walks or "GROUP BY games.venue_id, games.reason" in sql, (sql, walks)
