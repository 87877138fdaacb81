"""The read side's answers about the ledger of a small known history: corrections, links, games as they count now."""

from __future__ import annotations

import operator
from pathlib import Path

import msgspec
import pytest
from support.storage.rated_past import VENUE
from support.storage.storage_sample import games, people, put, refits

from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.errors import Refused
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Kind
from cgos_server.storage.location import Location
from cgos_server.storage.reading.answers import (
    CorrectionRow,
    VersionGame,
)
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import (
    BotFamily,
    CorrectionAdded,
    GameAdded,
    GameEnded,
    LedgerAdded,
    RatingMoved,
    RatingNow,
)
from cgos_server.storage.writing.refitting import RefitAdded, RefitMoved


async def test_what_corrected_games_count_as_now(rated: Location) -> None:
    async with History(rated) as history:
        assert await history.ledger.amended("9x9") == {3: None, 5: 2}
        assert await history.ledger.amended("19x19") == {}
    put(
        rated,
        [
            LedgerAdded(1, 9, 0, "correction", 1, None, 1, 2, 1, None),
            LedgerAdded(1, 10, 0, "correction", 5, None, 1, 2, 0, None),
            LedgerAdded(1, 11, 0, "correction", 5, None, 1, 2, 2, None, was2=0),
        ],
    )
    async with History(rated) as history:
        assert await history.ledger.amended("9x9") == {3: 1, 5: 2, 10: 2}


async def test_the_ledger_with_links_and_corrections(history: History) -> None:
    assert await history.ledger.named("9x9", after=4) == [
        LedgerEntry(
            seq=5,
            at=4_500,
            kind="game",
            game=6,
            version=None,
            black="alpha",
            white="Beta",
            score2=2,
            value=None,
            repeat=True,
            digest=f"{-77:#018x}",
        ),
        LedgerEntry(
            seq=6,
            at=5_000,
            kind="correction",
            game=1,
            version=None,
            black="alpha",
            white="Beta",
            score2=None,
            value=None,
            was2=2,
        ),
        LedgerEntry(
            seq=7,
            at=5_000,
            kind="correction",
            game=6,
            version=None,
            black="alpha",
            white="Beta",
            score2=2,
            value=None,
            repeat=True,
        ),
        LedgerEntry(
            seq=8,
            at=5_100,
            kind="link",
            game=None,
            version="Beta",
            black=None,
            white=None,
            score2=None,
            value=None,
            sd=40.0,
            other="alpha",
            surely=True,
        ),
    ]


async def test_how_many_games_count_after_each_entry(rated_past: Path) -> None:
    games, counts, kinds = 0, [0], set()
    async with History(rated_past / "cgos.sqlite") as history:
        last = await history.ledger.last_entry(VENUE)
        for entry in await history.ledger.entries(VENUE, after=0, limit=last):
            kinds.add(entry.kind)
            if entry.kind is Kind.CORRECTION:
                only_for_repeats = entry.repeat and entry.was2 is None
                games += (entry.score2 is not None and not only_for_repeats) - (entry.was2 is not None)
            counts.append(games := games + (entry.kind is Kind.GAME))
        assert [await history.ledger.games_at(VENUE, entry) for entry in range(last + 1)] == counts
        assert await history.ledger.games_at(VENUE, 10 * last) == games
    assert {Kind.ENTER, Kind.GAME, Kind.CORRECTION} <= kinds


async def test_corrections_of_a_game(rated: Location) -> None:
    first = CorrectionRow(
        game=1,
        venue="9x9",
        at=5_000,
        seq=6,
        actor="Olive",
        reason="a broken engine",
        was="B+3.5",
        winner=None,
        result="Void",
    )
    async with History(rated) as history:
        assert (await history.games.detail(2)).corrections == []
        corrected = await history.games.detail(1)
        assert (corrected.game.result, corrected.game.corrected, corrected.corrections) == ("B+3.5", "Void", [first])
        assert [(game.id, game.corrected) for game in await history.games.find(GameFilter(venue="9x9"), 50)] == [
            (6, None),
            (5, None),
            (3, None),
            (2, None),
            (1, "Void"),
        ]
    put(
        rated,
        [
            CorrectionAdded(1, 6_000, 9, "Olive", "", 1, "W+Forfeit"),
            CorrectionAdded(5, 6_500, None, "Olive", "", 0, "B+Time"),
            CorrectionAdded(1, 7_000, 10, "Olive", "as it was", 0, "B+3.5"),
        ],
    )
    async with History(rated) as history:
        assert [(row.was, row.winner, row.result) for row in (await history.games.detail(1)).corrections] == [
            ("B+3.5", None, "Void"),
            ("Void", "white", "W+Forfeit"),
            ("W+Forfeit", "black", "B+3.5"),
        ]
        # It counts again as what it was: there is nothing to say.
        assert (await history.games.detail(1)).game.corrected is None
        assert (await history.games.detail(5)).game.corrected == "B+Time"
        assert (
            msgspec.json.decode(msgspec.json.encode(await history.games.detail(1)))["corrections"][2]["was"]
            == "W+Forfeit"
        )


async def test_a_game_that_was_played_before(rated: Location) -> None:
    put(
        rated,
        [
            GameAdded(7, 1, None, 1, 2, "", "", "{}", "", 0),
            GameEnded(9, 0, "score", 7, "", "B+3.5", 2, 2, 7),
            LedgerAdded(1, 9, 0, "game", 7, None, 1, 2, 2, None, repeat=1, digest=-77),
        ],
    )
    async with History(rated) as history:
        assert [(await history.games.detail(game)).repeats for game in (1, 2, 3, 6, 7)] == [None, None, None, 1, 1]


async def test_digests_are_published_with_all_their_digits(rated: Location) -> None:
    """Beyond 2**53 numbers of JSON lose some, in JavaScript for one."""
    put(
        rated,
        [
            GameAdded(7, 1, None, 1, 2, "", "", "{}", "", 0),
            GameEnded(9, 0, "score", 7, "", "B+3.5", 2, 2, 7),
            LedgerAdded(1, 9, 0, "game", 7, None, 1, 2, 2, None, digest=2**62 + 1),
        ],
    )
    async with History(rated) as history:
        *_, entered, game = await history.ledger.named("9x9")
    assert (entered.digest, game.digest) == (None, "0x4000000000000001")


async def test_a_version_s_games_as_they_count_now(history: History) -> None:
    mine = [
        VersionGame(seq=3, game=1, at=1_500, opponent=2, color="black", score2=None, repeat=False),
        VersionGame(seq=4, game=2, at=2_500, opponent=2, color="white", score2=0, repeat=False),
        VersionGame(seq=5, game=6, at=4_500, opponent=2, color="black", score2=2, repeat=False),
    ]
    assert await history.changes.games("alpha", "9x9") == mine
    assert [(game.game, game.color, game.score2) for game in await history.changes.games("Beta", "9x9")] == [
        (1, "white", None),
        (2, "black", 2),
        (6, "white", 0),
    ]
    for limit in (1, 2, 3):
        assert await history.changes.games("alpha", "9x9", limit) == mine[-limit:]
    assert await history.changes.games("alpha", "9x9", limit=0) == []
    assert await history.changes.games("gamma", "9x9") == await history.changes.games("alpha", "19x19") == []


async def test_a_repeat_counts_as_one_until_it_is_corrected(database: Location) -> None:
    put(database, [*people(), *games(), *refits()[:17]])
    async with History(database) as history:
        assert [(game.game, game.repeat) for game in await history.changes.games("alpha", "9x9")] == [
            (1, False),
            (2, False),
            (6, True),
        ]


async def test_many_games_of_a_version_come_in_portions(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.storage.reading.changes._SEQS_AT_ONCE", 1)
    assert [game.game for game in await history.changes.games("alpha", "9x9")] == [1, 2, 6]
    # Entries that are no games of its own do not make fewer of them.
    assert [game.game for game in await history.changes.games("alpha", "9x9", limit=3)] == [1, 2, 6]


async def test_bots_with_their_families(rated: Location) -> None:
    put(rated, [BotFamily(1, 2)])
    async with History(rated) as history:
        assert [(bot.name, bot.family) for bot in await history.bots.page()] == [
            ("alpha", None),
            ("Beta", "alpha"),
            ("gamma", None),
        ]


@pytest.mark.parametrize("question", ["refits.recorded", "refits.state", "ledger.published", "refits.published"])
async def test_an_unknown_venue_is_refused(history: History, question: str) -> None:
    with pytest.raises(Refused, match="There is no venue '7x7'"):
        await operator.attrgetter(question)(history)("7x7", "bayes")


async def test_unknown_names_are_refused(history: History) -> None:
    with pytest.raises(Refused, match="There is no version 'nobody'"):
        await history.changes.games("nobody", "9x9")
    for question in (history.ledger.entries, history.ledger.last_entry):
        with pytest.raises(Refused, match="There is no venue '7x7'"):
            await question("7x7")


async def test_ends_of_intervals_are_read_as_they_are_stored(rated: Location) -> None:
    put(
        rated,
        [
            LedgerAdded(1, 9, 6_000, "game", None, None, 1, 2, 2, None),
            RatingMoved(1, "bayes", 9, 1, 1_790.0, 210.0, 2_750.0, 300.0, 4, 1_380.0, 2_200.0, 2_320.0, 4_600.0),
            RatingNow(1, "bayes", 1, 2_750.0, 300.0, 4, 1, 0, 9, 2_320.0, 4_600.0),
        ],
    )
    before, after = (1_380.0, 2_200.0, 410.0), (2_320.0, 4_600.0, 1_140.0)
    async with History(rated) as history:
        row = next(row for row in await history.ratings.standings("9x9", "bayes") if row.version == "alpha")
        assert (row.lower, row.upper, row.half_width) == after
        (then,) = (row for row in await history.ratings.standings("9x9", "bayes", as_of=9) if row.version == "alpha")
        assert (then.lower, then.upper, then.half_width) == after
        *_, change = await history.changes.latest("alpha", "9x9", system="bayes")
        assert (change.before_lower, change.before_upper, change.before_half_width) == before
        assert (change.after_lower, change.after_upper, change.after_half_width) == after
        *_, drawn = await history.changes.band("9x9", "alpha", "bayes")
        assert (drawn.lower, drawn.upper, drawn.half_width) == after
        *_, published = await history.ledger.published("9x9", "bayes")
        assert (published.after_lower, published.after_upper) == after[:2]
        (*_, exported) = [row async for rows in history.bulk.changes("9x9", "bayes") for row in rows]
        assert (exported.before_lower, exported.before_upper) == before[:2]
        assert (exported.after_lower, exported.after_upper) == after[:2]
        assert (await history.ratings.shown("9x9", "bayes"))[VersionId(1)][4:] == after[:2]
    put(
        rated,
        [
            RefitAdded(1, "bayes", 3, 9, 2, 9, 1, "{}", "b1", 6_100, 1),
            RefitMoved(1, "bayes", 1, 3, 9, 2_760.0, 300.0, 2_330.0, 4_610.0),
        ],
    )
    async with History(rated) as history:
        *_, change = await history.changes.latest("alpha", "9x9", system="bayes")
        assert (change.refit, change.before_upper, change.after_lower, change.after_upper) == (3, 4_600, 2_330, 4_610)
        *_, refit = await history.refits.published("9x9", "bayes")
        assert [(moved.lower, moved.upper) for moved in refit.points] == [(2_330.0, 4_610.0)]
        *_, exported_refit = [row async for rows in history.bulk.refits("9x9", "bayes") for row in rows]
        assert [(moved.lower, moved.upper) for moved in exported_refit.moved] == [(2_330.0, 4_610.0)]
