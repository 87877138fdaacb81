"""No question of the read side walks through a large table: asked of the query planner, before and after ANALYZE.

Every public method of every subject of :class:`History` is asked here; a new one without a line fails.
"""

from __future__ import annotations

import contextlib
import inspect
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress
from sqlalchemy import event

from benchmarks.storage import big_database
from cgos_protocol.errors import Refused
from cgos_protocol.ids import BotId, EventId, GameId, QuestionId, VenueId, VersionId
from cgos_server.storage.reading.answers import GameDetail
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.keeping.old_rows import Point, SystemKey
from cgos_server.storage.reading.keeping.personal import About
from cgos_server.storage.reading.source import Subject
from cgos_server.storage.sqlite.connections import connect_for_reading, connect_for_writing
from cgos_server.storage.writing.erasing import RoundReworded

BIG = (
    "event_log",
    "event_games",
    "event_entrants",
    "games",
    "moves",
    "analysis",
    "ledger",
    "rating_changes",
    "refits",
    "refit_points",
    "connections",
    "pairings",
)

SMALL_KEYS = (
    *("(venue_id=?)", "(venue_id=? AND system=?)", "(venue_id=? AND seq>?)", "(venue_id=? AND seq<?)"),
    *("(venue_id>? AND venue_id<?)", "(rowid>?)", "(rowid<?)"),
)
"""Searches that find nearly all of a large table."""

ALLOWED: Mapping[str, str] = {
    "events.all": "events are few",
    "pairings.rounds": "one page in the order of its index",
    "sizes.tables": "counts everything, for operators",
    "erasing.naming": "looks for a name in all texts, in portions",
    "personal.everything": "looks for names in the texts of logs, in portions",
    "server.counts": "counts everything, in one index alone",
    "ledger.amended": "all corrections there are, by their partial index",
    "ledger.games_at": "all that is said of versions and all corrections, by their partial indexes",
    "ledger.links": "all that is said of versions besides their games, by its partial index",
    "pairings.meetings": "counts all games of a venue at a start, in one index alone",
    "pairings.halves": "all games of a venue that began with an opening, at a start, by their partial index",
}

NO_STATEMENT: Mapping[str, str] = {"server.size": "looks at files"}


def streamed(stream: Any) -> Awaitable[Any]:
    async def everything() -> list[Any]:
        return [chunk async for chunk in stream]

    return everything()


async def unless_refused(answer: Awaitable[Any]) -> None:
    """Of what need not be there."""
    with contextlib.suppress(Refused):
        await answer


Question = Callable[[History], Awaitable[Any]]


def searches() -> list[GameFilter]:
    """All kinds of walks that :meth:`Games.find` takes."""
    filters: list[GameFilter] = []
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
                {"event": "Autumn"},
                {"event": "Autumn", "result": "B", "min_moves": 3},
                {"event": "Autumn", "running": True},
                {"reason": "score", "result": "draw", "min_moves": 3, "since": 2, "until": 10**9, "running": False},
            ]
            filters += [GameFilter(venue=venue, **players, **kind) for kind in kinds]
    return filters


QUESTIONS: Mapping[str, list[Question]] = {
    "games.find": [
        *(lambda h, game_filter=each_filter: h.games.find(game_filter, 50) for each_filter in searches()),  # type: ignore[misc]
        *(lambda h, game_filter=each_filter: h.games.find(game_filter, 50, 2_000) for each_filter in searches()[::3]),  # type: ignore[misc]
    ],
    "games.search": [lambda h: h.games.search(GameFilter(min_moves=2), 50)],
    "games.after": [
        lambda h: h.games.after(GameFilter(), 500, 1_000),
        lambda h: h.games.after(GameFilter(venue="9x9", result="W"), 500, 1_000),
        lambda h: h.games.after(GameFilter(bot="Bot1"), 500, 1_000),
    ],
    "games.moves_after": [
        lambda h: h.games.moves_after({1: 0, 200: 0, 3: 1}),
        lambda h: h.games.moves_after({1: 0}, 10**6),
    ],
    "games.terms_of": [lambda h: h.games.terms_of([1, 200, 3])],
    "games.played_by": [lambda h: h.games.played_by([1, 200, 3], 10**6)],
    "records.pair": [lambda h: h.records.pair("9x9", "Bot1", "Bot2")],
    "records.crosstable": [lambda h: h.records.crosstable("9x9", ["Bot1", "Bot2", "Bot3"])],
    "records.opponents": [lambda h: h.records.opponents("9x9", "Bot1")],
    "records.verdicts": [lambda h: h.records.verdicts("9x9", ["Bot1", "Bot3"])],
    "changes.band": [
        lambda h: h.changes.band("9x9", "Bot3", "bayes"),
        lambda h: h.changes.band("9x9", "Bot3", "bayes", 20),
    ],
    "ledger.games_at": [lambda h: h.ledger.games_at("9x9", 7)],
    "ledger.entry_at": [lambda h: h.ledger.entry_at("9x9", 2_000)],
    "ratings.standings": [
        lambda h: h.ratings.standings("9x9"),
        lambda h: h.ratings.standings("9x9", "bayes", limit=10),
        lambda h: h.ratings.standings("9x9", as_of=4),
        lambda h: h.ratings.standings("9x9", "bayes", as_of=4, limit=1),
    ],
    "changes.latest": [
        lambda h: h.changes.latest("Bot3", "9x9"),
        lambda h: h.changes.latest("Bot3", "9x9", limit=2, system="bayes"),
    ],
    "changes.page": [
        lambda h: h.changes.page("Bot3", "9x9", "bayes"),
        lambda h: h.changes.page("Bot3", "9x9", "bayes", (2, 0), 5),
    ],
    "changes.games": [lambda h: h.changes.games("Bot3", "9x9"), lambda h: h.changes.games("Bot3", "9x9", limit=2)],
    "bots.detail": [lambda h: h.bots.detail("Bot1")],
    "bots.relatives": [lambda h: h.bots.relatives("Bot1")],
    "bots.version": [lambda h: h.bots.version("Bot1")],
    "bots.presence": [lambda h: h.bots.presence("Bot1", 0, 10_000)],
    "bots.connections": [
        lambda h: h.bots.connections(),
        lambda h: h.bots.connections(bot="Bot1"),
        lambda h: h.bots.connections(venue="9x9", before=1_000),
        lambda h: h.bots.connections(address="192.0.2.1"),
        lambda h: h.bots.connections(only_open=True),
    ],
    "pairings.rounds": [lambda h: h.pairings.rounds("9x9", 20), lambda h: h.pairings.rounds("9x9", 20, before=2)],
    "server.audit": [
        lambda h: h.server.audit(20),
        lambda h: h.server.audit(20, before=5),
        lambda h: h.server.audit(20, actor="owner1"),
        lambda h: h.server.audit(20, action="kick"),
        lambda h: h.server.audit(20, subject="Bot3"),
    ],
    "bulk.rated_games": [lambda h: streamed(h.bulk.rated_games(GameFilter(venue="9x9")))],
    "bulk.games": [lambda h: streamed(h.bulk.games(GameFilter(venue="9x9")))],
    "bulk.refits": [lambda h: streamed(h.bulk.refits("9x9", "bayes"))],
    "bulk.details": [lambda h: streamed(h.bulk.details(GameFilter(venue="9x9", max_moves=0)))],
    "bulk.changes": [
        lambda h: streamed(h.bulk.changes("9x9", "bayes")),
        lambda h: streamed(h.bulk.changes("9x9")),
    ],
    "bulk.ranks": [lambda h: streamed(h.bulk.ranks("9x9", "bayes"))],
    "bulk.ledger": [lambda h: streamed(h.bulk.ledger("9x9"))],
    "games.running": [lambda h: h.games.running()],
    "games.detail": [lambda h: h.games.detail(500)],
    "bots.page": [lambda h: h.bots.page(), lambda h: h.bots.page(20, "Bot10")],
    "lengths.of_venue": [lambda h: h.lengths.of_venue("9x9")],
    "server.venues": [lambda h: h.server.venues()],
    "bots.tokens": [lambda h: h.bots.tokens("Bot3")],
    "people.accounts": [lambda h: h.people.accounts()],
    "pairings.round": [lambda h: h.pairings.round(2)],
    "server.counts": [lambda h: h.server.counts()],
    "pairings.games": [lambda h: h.pairings.games("9x9", 20, before=2_000)],
    "pairings.decided": [lambda h: h.pairings.decided("9x9", 20, before=2)],
    "bots.connection_spans": [lambda h: h.bots.connection_spans("9x9", [1, 2], 0, 1_000)],
    "refits.recorded": [lambda h: h.refits.recorded("9x9", "bayes", limit=10)],
    "refits.plugins": [lambda h: h.refits.plugins("9x9", "bayes")],
    "refits.state": [lambda h: h.refits.state("9x9", "bayes")],
    "refits.state_place": [lambda h: h.refits.state_place("9x9", "bayes")],
    "ledger.named": [lambda h: h.ledger.named("9x9", after=3, limit=10)],
    "bots.version_names": [lambda h: h.bots.version_names()],
    "ledger.last_entry": [lambda h: h.ledger.last_entry("9x9")],
    "ledger.entries": [lambda h: h.ledger.entries("9x9", after=3, limit=10)],
    "ledger.amended": [lambda h: h.ledger.amended("9x9")],
    "ledger.links": [lambda h: h.ledger.links("9x9")],
    "ledger.predecessors": [lambda h: h.ledger.predecessors([1, 2])],
    "ledger.published": [lambda h: h.ledger.published("9x9", "bayes", after=2, limit=10)],
    "refits.published": [
        lambda h: h.refits.published("9x9", "bayes", after=1, limit=10),
        lambda h: h.refits.published("9x9", "bayes", cold=True),
    ],
    "ratings.rated_counts": [lambda h: h.ratings.rated_counts("9x9")],
    "ratings.ranked": [lambda h: h.ratings.ranked(["Bot3"])],
    "ratings.means": [lambda h: h.ratings.means("9x9", "bayes", ["Bot3"])],
    "ratings.last_games": [lambda h: h.ratings.last_games("9x9", "bayes")],
    "ranks.last": [lambda h: h.ranks.last("9x9", "bayes")],
    "ranks.last_summary": [lambda h: h.ranks.last_summary("9x9", "bayes")],
    "ranks.summary": [lambda h: h.ranks.summary("9x9", "bayes"), lambda h: h.ranks.summary("9x9", "bayes", as_of=4)],
    "ranks.page": [lambda h: h.ranks.page("Bot3", "9x9", "bayes", after=1, limit=10)],
    "ranks.of_refits": [lambda h: h.ranks.of_refits("9x9", "bayes", after=1, last=10)],
    "people.person": [lambda h: h.people.person("0" * 64, 0)],
    "people.account": [lambda h: h.people.account(1)],
    "people.account_id": [lambda h: h.people.account_id("owner1")],
    "people.bots_of": [lambda h: h.people.bots_of(1)],
    "people.owners_of": [lambda h: h.people.owners_of(["Bot3"])],
    "people.owner_of": [lambda h: h.people.owner_of("Bot3")],
    "people.access_of": [lambda h: h.people.access_of(1)],
    "people.webhooks": [lambda h: h.people.webhooks(1)],
    "games.files": [lambda h: files(h)],
    "games.unfinished": [lambda h: h.games.unfinished()],
    "games.untold": [lambda h: h.games.untold(1, 1, 0)],
    "games.stored": [lambda h: h.games.stored(1)],
    "games.recent": [lambda h: h.games.recent(1, 10)],
    "games.begun": [lambda h: h.games.begun(1, 1, 0)],
    "pairings.meetings": [lambda h: h.pairings.meetings(1)],
    "pairings.recent_opponents": [lambda h: h.pairings.recent_opponents(1, 100)],
    "pairings.halves": [lambda h: h.pairings.halves(1)],
    "pairings.thinking": [lambda h: h.pairings.thinking(1, 2_000)],
    "pairings.suspensions": [lambda h: h.pairings.suspensions(1)],
    "pairings.last_round": [lambda h: h.pairings.last_round(1)],
    "ratings.last_published": [lambda h: h.ratings.last_published(1)],
    "ratings.shown": [lambda h: h.ratings.shown(1, "bayes")],
    "refits.after": [lambda h: h.refits.after(1, "bayes", 1, 10)],
    "refits.last": [lambda h: h.refits.last(1, "bayes")],
    "ledger.digests": [lambda h: h.ledger.digests(1, 3, 10)],
    "ledger.counted": [lambda h: h.ledger.counted(1)],
    "ledger.first_repeat": [lambda h: h.ledger.first_repeat(1, 1, 2, 3)],
    "bots.login": [lambda h: h.bots.login("Bot1")],
    "bots.labeled": [lambda h: h.bots.labeled(1, "")],
    "bots.name_taken": [lambda h: h.bots.name_taken("bot1")],
    "bots.names": [lambda h: h.bots.names()],
    "bots.of_versions": [lambda h: h.bots.of_versions()],
    "people.owner": [lambda h: h.people.owner("owner1")],
    "people.bot_owner": [lambda h: h.people.bot_owner("Bot3")],
    "people.access": [lambda h: h.people.access(1)],
    "people.valid_access": [lambda h: h.people.valid_access(1, 0)],
    "people.old_access": [lambda h: h.people.old_access(1, 0)],
    "people.webhook": [lambda h: h.people.webhook(1)],
    "questions.open": [lambda h: h.questions.open()],
    "questions.numbered": [lambda h: unless_refused(h.questions.numbered(QuestionId(1)))],
    "questions.owner_of": [lambda h: h.questions.owner_of(QuestionId(1))],
    "questions.page": [
        lambda h: h.questions.page(20),
        lambda h: h.questions.page(20, before=9, venue="9x9", state="open"),
        lambda h: h.questions.page(20, owner=1),
        lambda h: h.questions.page(20, versions=[VersionId(1), VersionId(2)]),
    ],
    "questions.names": [lambda h: h.questions.names([VersionId(1), VersionId(2)])],
    "questions.progress": [lambda h: h.questions.progress(QuestionId(1))],
    "questions.games": [lambda h: h.questions.games(QuestionId(1))],
    "questions.of_game": [lambda h: h.questions.of_game(GameId(1))],
    "events.all": [lambda h: h.events.all()],
    "events.page": [
        lambda h: h.events.page(20),
        lambda h: h.events.page(20, before=9, phase="over", venue="9x9"),
    ],
    "events.named": [lambda h: h.events.named("Autumn")],
    "events.of_bot": [lambda h: h.events.of_bot(BotId(1))],
    "events.of_bot_named": [lambda h: h.events.of_bot_named("Bot1")],
    "events.log": [lambda h: h.events.log(EventId(1), since=3)],
    "events.bots": [lambda h: h.events.bots(EventId(1))],
    "events.games": [lambda h: h.events.games(EventId(1))],
    "events.holding": [lambda h: h.events.holding(GameId(1))],
    "events.of_game": [lambda h: h.events.of_game(GameId(1))],
    "keeping.connections": [lambda h: h.keeping.connections(10, 50)],
    "keeping.analyses": [lambda h: h.keeping.analyses((10, 3), 50)],
    "keeping.rounds": [lambda h: h.keeping.rounds(10, 50)],
    "keeping.last_emptied_round": [lambda h: h.keeping.last_emptied_round()],
    "keeping.audit": [lambda h: h.keeping.audit(10, 50)],
    "keeping.last_audited": [lambda h: h.keeping.last_audited()],
    "keeping.systems": [lambda h: h.keeping.systems()],
    "keeping.next_refit": [lambda h: h.keeping.next_refit(SystemKey(VenueId(1), "bayes"), 3)],
    "keeping.last_refit_before": [lambda h: h.keeping.last_refit_before(SystemKey(VenueId(1), "bayes"), 3, 10**13)],
    "keeping.moves": [
        lambda h: h.keeping.moves(SystemKey(VenueId(1), "bayes"), Point(3, VersionId(0)), last=9, some=50)
    ],
    "keeping.ranks": [
        lambda h: h.keeping.ranks(SystemKey(VenueId(1), "bayes"), Point(3, VersionId(0)), last=9, some=50)
    ],
    "keeping.sums": [lambda h: h.keeping.sums(SystemKey(VenueId(1), "bayes"), 3, 9)],
    "sizes.tables": [lambda h: h.sizes.tables()],
    "erasing.versions": [lambda h: h.erasing.versions([BotId(1)])],
    "erasing.belongings": [lambda h: h.erasing.belongings(1, [BotId(1)])],
    "erasing.connections": [lambda h: h.erasing.connections([VersionId(1)])],
    "erasing.operators": [lambda h: h.erasing.operators()],
    "erasing.naming": [lambda h: streamed(h.erasing.naming(RoundReworded, ["Amigo"]))],
    "personal.about": [lambda h: h.personal.about(1, [])],
    "personal.everything": [lambda h: streamed(h.personal.everything(About(1, [BotId(1)], ["Amigo"])))],
    "server.check_cursor": [lambda h: h.server.check_cursor(None)],
    "server.incarnation": [lambda h: h.server.incarnation()],
    "server.next_ids": [lambda h: h.server.next_ids()],
    "server.size": [lambda h: h.server.size()],
    "server.lately": [lambda h: h.server.lately(1000)],
    "server.left_open": [lambda h: h.server.left_open()],
}


async def files(history: History) -> list[GameDetail]:
    return await history.games.files(await history.games.find(GameFilter(), 20))


def methods() -> set[str]:
    """All that somebody can ask: subject and method."""
    history = History(Path("nowhere"))
    return {
        f"{subject}.{name}"
        for subject, reader in vars(history).items()
        if isinstance(reader, Subject)
        for name, _ in inspect.getmembers(type(reader), inspect.isfunction)
        if not name.startswith("_")
    }


OF_CLUSTERS = {"people.webhook_notes"}
"""They read small tables that PostgreSQL alone has."""


def test_every_method_is_asked() -> None:
    assert methods() == set(QUESTIONS) | OF_CLUSTERS


@pytest.fixture(scope="module")
def plenty(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """A database with some thousands of games, and the same analyzed."""
    path = tmp_path_factory.mktemp("plans") / "cgos.sqlite"
    with Progress(disable=True) as progress:
        big_database.make(
            path,
            big_database.Sizes(games=3_000, versions=150, bots=100, moves=100, rounds=200, running=10, refit_every=40),
            progress,
        )
    with contextlib.closing(connect_for_writing(path)) as connection:
        connection.execute("INSERT INTO events VALUES (1, 'Autumn', 1, 0, 'over')")
        connection.execute("INSERT INTO event_games SELECT id, 1, 1, id FROM games WHERE id % 30 = 0")
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
    steps = []
    for step in plan:
        words = step.split()
        if words[0] not in ("SCAN", "SEARCH") or words[1] not in BIG or any(name in step for name in few):
            continue
        if words[0] == "SCAN" or step.endswith(SMALL_KEYS):
            steps.append(step)
    return [] if in_order else steps


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize("method", sorted(QUESTIONS))
async def test_no_walk_through_a_large_table(plenty: dict[bool, Path], method: str, analyzed: bool) -> None:
    connection = connect_for_reading(plenty[analyzed])
    statements: list[tuple[str, Any]] = []
    async with History(plenty[analyzed]) as history:
        for engine in (history.source.engine, history.bulk_source.engine):
            event.listen(
                engine.sync_engine,
                "before_cursor_execute",
                lambda _connection, _cursor, sql, parameters, *_: statements.append((sql, parameters)),
            )
        for question in QUESTIONS[method]:
            await question(history)
    assert bool(statements) == (method not in NO_STATEMENT)
    for sql, parameters in statements:
        if sql != "BEGIN":
            plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
            assert method in ALLOWED or not walks(sql, plan), (sql, plan)
    connection.close()
