"""No question of the read side walks through a large table: asked of the query planner, before and after ANALYZE.

Every public method of :class:`History` is asked here; a new one without a line fails.
"""

from __future__ import annotations

import contextlib
import inspect
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import big_database
import pytest
from rich.progress import Progress
from sqlalchemy import event

from cgos_server.storage.bulk_history import BulkHistory
from cgos_server.storage.connections import connect_for_reading, connect_for_writing
from cgos_server.storage.game_answers import GamesAsked
from cgos_server.storage.history import History

BIG = ("games", "moves", "analysis", "ledger", "rating_changes", "refits", "refit_points", "connections", "pairings")

SMALL_KEYS = (
    *("(venue_id=?)", "(venue_id=? AND system=?)", "(venue_id=? AND seq>?)", "(venue_id=? AND seq<?)"),
    *("(venue_id>? AND venue_id<?)", "(rowid>?)", "(rowid<?)"),
)
"""Searches that find nearly all of a large table."""

ALLOWED: Mapping[str, str] = {
    "rounds": "one page in the order of its index",
    "counts": "counts everything, in one index alone",
    "amended": "all corrections there are, by their partial index",
    "corrections": "all corrections there are",
}


def streamed(stream: Any) -> Awaitable[Any]:
    async def everything() -> list[Any]:
        return [chunk async for chunk in stream]

    return everything()


Question = Callable[[History], Awaitable[Any]]


def searches() -> list[GamesAsked]:
    """All kinds of walks that :meth:`History.find_games` takes."""
    found: list[GamesAsked] = []
    for players in ({}, {"bot": "Bot1"}, {"bot": "Bot1", "opponent": "Bot2"}):
        for venue in (None, "9x9"):
            kinds: list[dict[str, Any]] = [
                {},
                {"reason": "score"},
                {"reason": "void"},
                {"result": "B"},
                {"result": "none"},
                {"reason": "time", "result": "W"},
                {"min_moves": 500},
                {"max_moves": 1},
                {"since": 50},
                {"until": 900},
                {"running": True},
                {"running": False},
                {"running": True, "since": 10},
                {"reason": "score", "result": "draw", "min_moves": 3, "since": 2, "until": 10**9, "running": False},
            ]
            found += [GamesAsked(venue=venue, **players, **asked) for asked in kinds]
    return found


QUESTIONS: Mapping[str, list[Question]] = {
    "find_games": [
        *(lambda h, asked=asked: h.find_games(asked, 50) for asked in searches()),  # type: ignore[misc]
        *(lambda h, asked=asked: h.find_games(asked, 50, 2_000) for asked in searches()[::3]),  # type: ignore[misc]
    ],
    "search_games": [lambda h: h.search_games(GamesAsked(min_moves=2), 50)],
    "games_after": [
        lambda h: h.games_after(GamesAsked(), 500, 1_000),
        lambda h: h.games_after(GamesAsked(venue="9x9", result="W"), 500, 1_000),
        lambda h: h.games_after(GamesAsked(bot="Bot1"), 500, 1_000),
    ],
    "moves_after": [lambda h: h.moves_after({1: 0, 200: 0, 3: 1}), lambda h: h.moves_after({1: 0}, 10**6)],
    "terms_of": [lambda h: h.terms_of([1, 200, 3])],
    "played_by": [lambda h: h.played_by([1, 200, 3], 10**6)],
    "pair_record": [lambda h: h.pair_record("9x9", "Bot1", "Bot2")],
    "crosstable": [lambda h: h.crosstable("9x9", ["Bot1", "Bot2", "Bot3"])],
    "opponents": [lambda h: h.opponents("9x9", "Bot1")],
    "verdicts": [lambda h: h.verdicts("9x9", ["Bot1", "Bot3"])],
    "rating_band": [
        lambda h: h.rating_band("9x9", "Bot3", "bayes"),
        lambda h: h.rating_band("9x9", "Bot3", "bayes", 20),
    ],
    "entry_at": [lambda h: h.entry_at("9x9", 2_000)],
    "standings": [
        lambda h: h.standings("9x9"),
        lambda h: h.standings("9x9", "bayes", limit=10),
        lambda h: h.standings("9x9", as_of=4),
        lambda h: h.standings("9x9", "bayes", as_of=4, limit=1),
    ],
    "rating_history": [
        lambda h: h.rating_history("Bot3", "9x9"),
        lambda h: h.rating_history("Bot3", "9x9", limit=2, system="bayes"),
    ],
    "rating_changes": [
        lambda h: h.rating_changes("Bot3", "9x9", "bayes"),
        lambda h: h.rating_changes("Bot3", "9x9", "bayes", (2, 0), 5),
    ],
    "version_games": [lambda h: h.version_games("Bot3", "9x9"), lambda h: h.version_games("Bot3", "9x9", limit=2)],
    "bot": [lambda h: h.bot("Bot1")],
    "relatives": [lambda h: h.relatives("Bot1")],
    "version": [lambda h: h.version("Bot1")],
    "presence": [lambda h: h.presence("Bot1", 0, 10_000)],
    "connections_of": [
        lambda h: h.connections_of(),
        lambda h: h.connections_of(bot="Bot1"),
        lambda h: h.connections_of(venue="9x9", before=1_000),
        lambda h: h.connections_of(address="192.0.2.1"),
        lambda h: h.connections_of(only_open=True),
    ],
    "rounds": [lambda h: h.rounds("9x9", 20), lambda h: h.rounds("9x9", 20, before=2)],
    "audit": [
        lambda h: h.audit(20),
        lambda h: h.audit(20, before=5),
        lambda h: h.audit(20, actor="owner1"),
        lambda h: h.audit(20, action="kick"),
        lambda h: h.audit(20, subject="Bot3"),
    ],
    "stream_rated_games": [lambda h: streamed(h.bulk.stream_rated_games(GamesAsked(venue="9x9")))],
    "stream_games": [lambda h: streamed(h.bulk.stream_games(GamesAsked(venue="9x9")))],
    "stream_refits": [lambda h: streamed(h.bulk.stream_refits("9x9", "bayes"))],
    "stream_details": [lambda h: streamed(h.bulk.stream_details(GamesAsked(venue="9x9", max_moves=0)))],
    "stream_changes": [
        lambda h: streamed(h.bulk.stream_changes("9x9", "bayes")),
        lambda h: streamed(h.bulk.stream_changes("9x9")),
    ],
    "stream_ledger": [lambda h: streamed(h.bulk.stream_ledger("9x9"))],
    "games": [lambda h: h.games(), lambda h: h.games("9x9", before=2_000), lambda h: h.games("9x9", "Bot1")],
    "running_games": [lambda h: h.running_games()],
    "game": [lambda h: h.game(500)],
    "bots": [lambda h: h.bots(), lambda h: h.bots(20, "Bot10")],
    "venues": [lambda h: h.venues()],
    "tokens": [lambda h: h.tokens("Bot3")],
    "accounts": [lambda h: h.accounts()],
    "round": [lambda h: h.round(2)],
    "counts": [lambda h: h.counts()],
    "paired_games": [lambda h: h.paired_games("9x9", 20, before=2_000)],
    "paired_rounds": [lambda h: h.paired_rounds("9x9", 20, before=2)],
    "connection_spans": [lambda h: h.connection_spans("9x9", [1, 2], 0, 1_000)],
    "refits": [lambda h: h.refits("9x9", "bayes", limit=10)],
    "rating_plugins": [lambda h: h.rating_plugins("9x9", "bayes")],
    "rating_state": [lambda h: h.rating_state("9x9", "bayes")],
    "rating_state_place": [lambda h: h.rating_state_place("9x9", "bayes")],
    "ledger": [lambda h: h.ledger("9x9", after=3, limit=10)],
    "version_names": [lambda h: h.version_names()],
    "last_entry": [lambda h: h.last_entry("9x9")],
    "corrections": [lambda h: h.corrections(game=1), lambda h: h.corrections(venue="9x9")],
    "entries": [lambda h: h.entries("9x9", after=3, limit=10)],
    "amended": [lambda h: h.amended("9x9")],
    "published": [lambda h: h.published("9x9", "bayes", after=2, limit=10)],
    "published_refits": [
        lambda h: h.published_refits("9x9", "bayes", after=1, limit=10),
        lambda h: h.published_refits("9x9", "bayes", cold=True),
    ],
    "rated_counts": [lambda h: h.rated_counts("9x9")],
    "ranked": [lambda h: h.ranked(["Bot3"])],
    "means": [lambda h: h.means("9x9", "bayes", ["Bot3"])],
    "person": [lambda h: h.person("0" * 64, 0)],
    "account": [lambda h: h.account(1)],
    "account_id": [lambda h: h.account_id("owner1")],
    "bots_of": [lambda h: h.bots_of(1)],
    "owners_of": [lambda h: h.owners_of(["Bot3"])],
    "owner_of": [lambda h: h.owner_of("Bot3")],
    "access_of": [lambda h: h.access_of(1)],
    "webhooks": [lambda h: h.webhooks(1)],
}


def methods() -> set[str]:
    """All that somebody can ask."""
    return {
        name
        for reader in (History, BulkHistory)
        for name, _ in inspect.getmembers(reader, inspect.isfunction)
        if not name.startswith("_") and name != "close"
    }


def test_every_method_is_asked() -> None:
    assert methods() == set(QUESTIONS)


@pytest.fixture(scope="module")
def plenty(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """A database with some thousands of games, and the same analyzed."""
    path = tmp_path_factory.mktemp("plans") / "cgos.sqlite"
    with Progress(disable=True) as progress:
        big_database.make(
            path, big_database.Sizes(3_000, 150, 100, moves=100, rounds=200, running=10, refit_every=40), progress
        )
    analyzed = path.with_name("analyzed.sqlite")
    shutil.copyfile(path, analyzed)
    with contextlib.closing(connect_for_writing(analyzed)) as connection:
        connection.execute("ANALYZE")
    return {False: path, True: analyzed}


def walks(sql: str, plan: list[str]) -> list[str]:
    """The steps of a plan that go through a large table, whose end is not near.

    A walk in the order that was asked for ends with the page; it needs a LIMIT and no sorting. One through a partial
    index of few rows ends soon.
    """
    few = ("ix_games_unfinished", "ix_ledger_correction", "ix_connections_open", "ix_ledger_version")
    in_order = "LIMIT" in sql and not any("TEMP B-TREE FOR ORDER BY" in step for step in plan)
    found = []
    for step in plan:
        words = step.split()
        if words[0] not in ("SCAN", "SEARCH") or words[1] not in BIG or any(name in step for name in few):
            continue
        if words[0] == "SCAN" or step.endswith(SMALL_KEYS):
            found.append(step)
    return [] if in_order else found


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize("method", sorted(QUESTIONS))
async def test_no_walk_through_a_large_table(plenty: dict[bool, Path], method: str, analyzed: bool) -> None:
    connection = connect_for_reading(plenty[analyzed])
    asked: list[tuple[str, Any]] = []
    async with History(plenty[analyzed]) as history:
        for engine in (history._engine, history.bulk._engine):
            event.listen(
                engine.sync_engine,
                "before_cursor_execute",
                lambda _connection, _cursor, sql, parameters, *_: asked.append((sql, parameters)),
            )
        for question in QUESTIONS[method]:
            await question(history)
    assert asked
    for sql, parameters in asked:
        if sql != "BEGIN":
            plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
            assert method in ALLOWED or not walks(sql, plan), (sql, plan)
    connection.close()
