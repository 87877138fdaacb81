"""A short history to put into a database: three bots, five games in two venues."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from cgos_server.storage import DATABASE
from cgos_server.storage.location import Location
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import (
    AnalysisAdded,
    BotAdded,
    BuildSeen,
    ConnectionClosed,
    ConnectionOpened,
    CorrectionAdded,
    EventAdded,
    EventEntrant,
    EventGame,
    EventLogged,
    EventPhase,
    GameAdded,
    GameEnded,
    LedgerAdded,
    MoveAdded,
    OwnerAdded,
    PairingAdded,
    RatingMoved,
    RatingNow,
    RatingPluginSeen,
    Record,
    RoundAdded,
    StateSaved,
    TokenAdded,
    TokenRevoked,
    VenueAdded,
    VersionAdded,
)
from cgos_server.storage.writing.refitting import RankMoved, RanksSummed, RefitAdded, RefitMoved
from support.storage.postgres_fixtures import ask

T = TypeVar("T")


def unexpected(error: Exception) -> NoReturn:
    """Nothing may fail in these tests."""
    raise error


def elsewhere(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work` in an event loop of its own, from any test."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def query(location: Location, sql: str) -> list[tuple[Any, ...]]:
    """Look into a database from outside."""
    if isinstance(location, Path):
        with contextlib.closing(sqlite3.connect(location)) as connection:
            return connection.execute(sql).fetchall()
    return ask(location.dsn, sql)


def execute(location: Location, sql: str) -> None:
    """Change a database from outside."""
    if isinstance(location, Path):
        with contextlib.closing(sqlite3.connect(location)) as connection, connection:
            connection.execute(sql)
    else:
        ask(location.dsn, sql)


def bot_row(data: Path, name: str) -> dict[str, Any]:
    """What the SQLite database of a data directory holds of a bot, by column."""
    with contextlib.closing(sqlite3.connect(data / DATABASE)) as connection:
        connection.row_factory = sqlite3.Row
        return dict(connection.execute("SELECT * FROM bots WHERE name = ?", (name,)).fetchone())


def put(location: Location, records: Sequence[Record]) -> None:
    """Commit records to a database on which no store is open."""

    async def work() -> None:
        store = await open_store(location, CommitListener(failed=unexpected, on_error=unexpected))
        await store.commit(records)
        await store.close()

    elsewhere(work)


def move(game: int, ply: int, text: str = "E5") -> MoveAdded:
    """A move; its figures tell which one it was."""
    return MoveAdded(game, ply, text, 60_000_000 - ply, ply, 5, 7, 1_000 + ply, 1_700_000_000_000 + ply)


def version(number: int, bot: int, name: str, at: int, label: str = "") -> VersionAdded:
    """A version of a bot that says of itself what can be told from its name."""
    return VersionAdded(number, bot, name, name.lower(), label, f"{name} engine", "", f"author of {name}", at)


def people() -> list[Record]:
    """Two venues, an account and three bots: alpha and Beta are active, gamma waits for approval."""
    records: list[Record] = [
        VenueAdded(1, "9x9", '{"size":9}', 100),
        VenueAdded(2, "19x19", '{"size":19}', 101),
        OwnerAdded(1, "Olive", "olive", "hash-o", 1, 102),
    ]
    for number, (name, state) in enumerate((("alpha", "active"), ("Beta", "active"), ("gamma", "pending")), 1):
        records.append(BotAdded(number, name, name.lower(), f"hash-{name}", state, 200 + number))
        records.append(version(number, number, name, 200 + number))
    records += [
        TokenAdded(1, 1, "d1", "home", 300),
        TokenAdded(2, 1, "d2", "away", 301),
        TokenRevoked(310, 2),
        ConnectionOpened(1, 1, 1, "192.0.2.1", "client A", 400),
        ConnectionClosed(450, "quit", 1),
        ConnectionOpened(2, 1, 2, "192.0.2.2", "client B", 410),
    ]
    return records


def games() -> list[Record]:
    """In 9x9: game 1 alpha beat Beta, game 2 Beta beat alpha and alpha was not told, game 3 alpha - Beta is running
    with two moves, game 5 was aborted. In 19x19: game 4 Beta - alpha is running without a move."""
    records: list[Record] = [
        RoundAdded(1, 1, 1, 500, "rolling", "birk", '{"formula":"a"}', "42", "[1,2]", '{"gamma":"odd"}', "[]"),
        RoundAdded(2, 1, 2, 600, "rolling", "birk", "{}", "43", "[]", "{}", '["late"]'),
        RoundAdded(3, 2, 1, 610, "rolling", "birk", "{}", "44", "[]", "{}", "[]"),
    ]
    for game, venue, round_, black, white, at in (
        (1, 1, 1, 1, 2, 1_000),
        (2, 1, 1, 2, 1, 2_000),
        (3, 1, 2, 1, 2, 3_000),
        (4, 2, 3, 2, 1, 3_500),
        (5, 1, 2, 1, 2, 3_600),
    ):
        terms = f'{{"venue":{venue}}}'
        records.append(GameAdded(game, venue, round_, black, white, "1800?", "1750", terms, "", at))
        records.append(PairingAdded(game, round_, 1, 2, f"reason {game}", f"colors {game}", f'{{"game":{game}}}'))
    records += [move(1, 1), move(1, 2, "D4"), move(1, 3, "PASS"), AnalysisAdded(1, 2, '{"winrate":1e999}')]
    records += [move(2, 1), move(3, 1, "C3"), move(3, 2, "G7")]
    records += [
        GameEnded(1_500, 0, "score", 7, "counted", "B+3.5", 2, 2, 1),
        GameEnded(2_500, 0, "resignation", None, "", "B+Resign", 2, 0, 2),
        GameEnded(3_700, None, "abort", None, "no first move", "Abort", 2, 2, 5),
        LedgerAdded(1, 1, 900, "enter", None, 1, None, None, None, 1_800.0),
        LedgerAdded(1, 2, 900, "enter", None, 2, None, None, None, 1_750.0),
        LedgerAdded(1, 3, 1_500, "game", 1, None, 1, 2, 2, None, digest=-77),
        LedgerAdded(1, 4, 2_500, "game", 2, None, 2, 1, 2, None),
        RatingMoved(1, "cgos-elo", 1, 1, 1_800.0, 150.0, 1_800.0, 150.0, 0),
        RatingMoved(1, "cgos-elo", 3, 1, 1_800.0, 150.0, 1_860.0, 120.0, 1),
        RatingMoved(1, "cgos-elo", 3, 2, 1_750.0, 150.0, 1_690.0, 120.0, 1),
        RatingMoved(1, "cgos-elo", 4, 1, 1_860.0, 120.0, 1_770.0, 96.0, 2),
        RatingMoved(1, "cgos-elo", 4, 2, 1_690.0, 120.0, 1_780.0, 96.0, 2),
        RatingNow(1, "cgos-elo", 1, 1_770.0, 96.0, 2, 1, 0, 4),
        RatingNow(1, "cgos-elo", 2, 1_780.0, 96.0, 2, 0, 1, 4),
    ]
    return records


def refits() -> list[Record]:
    """More of 9x9: `bayes` beside `cgos-elo`, with two refits after entry 4. Game 6 alpha - Beta is game 1 again; an
    operator takes game 1 back (entry 6) and counts game 6 in its stead (entry 7). Beta succeeds alpha (entry 8)."""
    records: list[Record] = [
        BuildSeen("b1", "Python, a processor"),
        RatingMoved(1, "bayes", 1, 1, 1_800.0, 300.0, 1_800.0, 300.0, 0),
        RatingMoved(1, "bayes", 2, 2, 1_750.0, 300.0, 1_750.0, 300.0, 0),
        RatingMoved(1, "bayes", 3, 1, 1_800.0, 300.0, 1_850.0, 250.0, 1),
        RatingMoved(1, "bayes", 3, 2, 1_750.0, 300.0, 1_700.0, 250.0, 1),
        RatingMoved(1, "bayes", 4, 1, 1_850.0, 250.0, 1_780.0, 220.0, 2),
        RatingMoved(1, "bayes", 4, 2, 1_700.0, 250.0, 1_770.0, 220.0, 2),
        RefitAdded(1, "bayes", 1, 3, 0, 4, 0, '{"draw":0.1}', "b1", 2_600, 1_500),
        RefitMoved(1, "bayes", 1, 1, 4, 1_785.0, 215.0),
        RefitAdded(1, "bayes", 2, 4, 1, 4, 1, '{"draw":0.2}', "b1", 2_700, 90_000),
        RefitMoved(1, "bayes", 1, 2, 4, 1_790.0, 210.0),
        RefitMoved(1, "bayes", 2, 2, 4, 1_760.0, 210.0),
        GameAdded(6, 1, None, 1, 2, "", "", "{}", "", 4_000),
        GameEnded(4_500, 0, "score", 7, "", "B+3.5", 2, 2, 6),
        LedgerAdded(1, 5, 4_500, "game", 6, None, 1, 2, 2, None, repeat=1, digest=-77),
        RatingMoved(1, "bayes", 5, 1, 1_790.0, 210.0, 1_790.0, 210.0, 3),
        RatingMoved(1, "bayes", 5, 2, 1_760.0, 210.0, 1_760.0, 210.0, 3),
        LedgerAdded(1, 6, 5_000, "correction", 1, None, 1, 2, None, None, was2=2),
        LedgerAdded(1, 7, 5_000, "correction", 6, None, 1, 2, 2, None, repeat=1),
        CorrectionAdded(1, 5_000, 6, "Olive", "a broken engine", None, "Void"),
        LedgerAdded(1, 8, 5_100, "link", None, 2, None, None, None, None, 40.0, 1, surely=1),
        RatingNow(1, "bayes", 1, 1_790.0, 210.0, 3, 1, 0, 5),
        RatingNow(1, "bayes", 2, 1_760.0, 210.0, 3, 1, 0, 5),
        RatingPluginSeen(1, "steady-elo", "cgos-steady-elo 1.0", 3),
        RatingPluginSeen(1, "steady-elo", "cgos-steady-elo 1.1", 4),
        RatingPluginSeen(1, "steady-elo", "cgos-steady-elo 1.0", 5),
        StateSaved(1, "bayes", 4, 2, 2_700, b"\0old"),
        StateSaved(1, "bayes", 5, 2, 4_600, bytes(range(256))),
        RankMoved(1, "bayes", 1, 1, 1, 1, 0.75, 1.0),
        RankMoved(1, "bayes", 2, 1, 1, 2, 0.25, 1.0),
        RanksSummed(1, "bayes", 1, 1, 2, 0, 3, "[[1,2,2]]"),
        RankMoved(1, "bayes", 1, 2, 1, 2, 0.625, 1.0),
        RanksSummed(1, "bayes", 2, 1, 2, 0, 1, "[[1,2,2]]"),
    ]
    return records


def events() -> list[Record]:
    """Two events of 9x9: Old, which Beta entered and which was called off; and Cup, in which alpha and Beta have played
    game 1 and play game 3."""
    return [
        EventAdded(1, "Old", 1, 700, "announced"),
        EventLogged(1, 1, 700, "operator", "announced", '{"kind":"announced"}'),
        EventEntrant(1, 1, 2, 2),
        EventPhase("cancelled", 1),
        EventAdded(2, "Cup", 1, 800, "announced"),
        EventLogged(2, 1, 800, "Olive", "announced", '{"kind":"announced"}'),
        EventLogged(2, 2, 810, "server", "opened", '{"kind":"opened"}'),
        EventEntrant(2, 1, 1, 1),
        EventEntrant(2, 2, 2, 2),
        EventPhase("entry", 2),
        EventPhase("running", 2),
        EventLogged(2, 3, 1_000, "server", "began", '{"kind":"began","game":1,"played_as":1}'),
        EventGame(1, 2, 1, 1),
        EventGame(3, 2, 2, 2),
    ]
