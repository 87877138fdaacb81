"""Lists of games and counts over them, on each database, against the same done in Python on small random pasts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import AsyncIterator

import pytest
from support.storage.past_games import HOUR, VERSIONS, Past
from support.storage.storage_sample import games, move, people, put, refits

from cgos_protocol.errors import Refused
from cgos_server.storage.location import Location
from cgos_server.storage.reading import game_search
from cgos_server.storage.reading import games as reading_games
from cgos_server.storage.reading.game_answers import GameFilter, PairRecord
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import AnalysisAdded


@pytest.fixture(scope="module")
def past() -> Past:
    return Past(7)


@pytest.fixture
async def history(database: Location, past: Past) -> AsyncIterator[History]:
    put(database, past.records)
    async with History(database) as opened:
        yield opened


def combinations(past: Past) -> list[GameFilter]:
    """Each filter alone, each two together, and many of more."""
    span = max(past.games) * HOUR
    choices = {
        "venue": ("9x9", "19x19"),
        "bot": ("ant", "cat-2"),
        "opponent": ("bee", "ant"),
        "reason": ("score", "void"),
        "result": ("B", "W", "draw", "none"),
        "min_moves": (2,),
        "max_moves": (2, 0),
        "since": (span // 3,),
        "until": (span * 2 // 3,),
        "running": (True, False),
        "exact": (True,),
    }
    filters = [GameFilter()]
    for names in itertools.chain(itertools.combinations(choices, 1), itertools.combinations(choices, 2)):
        filters += [
            GameFilter(**dict(zip(names, values, strict=True)))  # type: ignore[arg-type]
            for values in itertools.product(*(choices[name] for name in names))
        ]
    for _ in range(120):
        names = tuple(past.rng.sample(sorted(choices), past.rng.randint(3, len(choices))))
        filters.append(GameFilter(**{name: past.rng.choice(choices[name]) for name in names}))  # type: ignore[arg-type]
    return filters


async def test_games_are_found_as_by_a_filter(history: History, past: Past) -> None:
    filters = combinations(past)
    wanted = [past.matching(game_filter) for game_filter in filters]
    assert sum(map(bool, wanted)) > len(wanted) / 3
    for game_filter, games_wanted in zip(filters, wanted, strict=True):
        assert await history.games.find(game_filter, 1_000) == games_wanted, game_filter


async def test_pages_cover_all_without_doubles(history: History, past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_search, "WINDOW", 17)
    monkeypatch.setattr(reading_games, "MOST_WINDOWS", 2)
    for game_filter in past.rng.sample(
        [candidate for candidate in combinations(past) if len(past.matching(candidate)) > 5], 12
    ):
        wanted = past.matching(game_filter)
        before, pages = None, []
        while page := await history.games.find(game_filter, 5, before):
            pages += page
            before = page[-1].id
        assert pages == wanted, game_filter
        after, ascending = 0, []
        while page := await history.games.after(game_filter, 5, after):
            ascending += page
            after = page[-1].id
        assert ascending == wanted[::-1], game_filter
        before, searched, questions = None, [], 0
        while True:
            part = await history.games.search(game_filter, 5, before)
            searched += part.games
            questions += 1
            if part.before is None:
                break
            before = part.before
        assert searched == wanted, game_filter
        assert questions <= 2 + len(wanted) // 5 + max(past.games) // (17 * 2), game_filter


async def test_many_versions_and_verdicts_are_asked_for_in_portions(
    history: History, past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_search, "_BRANCHES_AT_ONCE", 2)
    for game_filter in (GameFilter(bot="ant"), GameFilter(result="none"), GameFilter(reason="score", result="B")):
        assert await history.games.find(game_filter, 7) == past.matching(game_filter)[:7]
    monkeypatch.setattr(game_search, "_AT_FIRST", 1)
    for game_filter in past.rng.sample(
        [candidate for candidate in combinations(past) if candidate.bot is not None], 40
    ):
        wanted = past.matching(game_filter)
        for most in (1, 3, 1_000):
            assert await history.games.find(game_filter, most) == wanted[:most], game_filter
            assert await history.games.after(game_filter, most) == wanted[::-1][:most], game_filter


async def test_numbers_beyond_all_games(history: History, past: Past) -> None:
    everything = past.matching(GameFilter())
    assert await history.games.find(GameFilter(), 1_000, before=2**63 - 1) == everything
    assert await history.games.find(GameFilter(min_moves=2**62), 10) == []
    assert await history.games.find(GameFilter(since=2**62), 10) == []
    assert await history.games.find(GameFilter(until=-(2**62)), 10) == []
    assert await history.games.find(GameFilter(until=2**62, since=-(2**62)), 1_000) == everything
    assert await history.games.find(GameFilter(), 0) == []


async def test_unknown_names_are_refused(history: History) -> None:
    for game_filter, sentence in (
        (GameFilter(venue="7x7"), "There is no venue '7x7'"),
        (GameFilter(bot="dog"), "There is no bot 'dog'"),
        (GameFilter(bot="ant", opponent="dog"), "There is no bot 'dog'"),
    ):
        with pytest.raises(Refused, match=sentence):
            await history.games.find(game_filter, 10)


def counted(past: Past, venue: str, first: str, second: str) -> PairRecord:
    """The record of two versions, counted one by one."""
    tallies: Counter[tuple[bool, str | None]] = Counter()
    last = None
    for number, game in past.games.items():
        if game.venue == venue and {game.black, game.white} == {first, second} and game.result is not None:
            tallies[game.black == first, past.outcome(number)] += 1
            last = number
    without = tallies[True, "none"] + tallies[False, "none"]
    return PairRecord(
        one=first,
        other=second,
        games=tallies.total(),
        one_black=sum(count for (black, _), count in tallies.items() if black),
        one_wins_black=tallies[True, "B"],
        one_wins_white=tallies[False, "W"],
        other_wins_black=tallies[False, "B"],
        other_wins_white=tallies[True, "W"],
        draws=tallies[True, "draw"] + tallies[False, "draw"],
        without_result=without,
        with_result=tallies.total() - without,
        last_game=last,
        last_at=None if last is None else past.games[last].ended_at,
    )


async def test_records_are_what_one_counts(history: History, past: Past) -> None:
    names = sorted(VERSIONS.values())
    for venue in ("9x9", "19x19"):
        records = {}
        for first, second in itertools.permutations(names, 2):
            records[first, second] = await history.records.pair(venue, first, second)
            assert records[first, second] == counted(past, venue, first, second)
        among = [name for name in reversed(names) if name != "bee"]
        assert await history.records.crosstable(venue, among) == [
            records[pair] for pair in itertools.combinations(among, 2) if records[pair].games
        ]
        for me in names:
            rows = await history.records.opponents(venue, me)
            assert [row.opponent for row in rows] == sorted(
                (other for other in names if other != me and records[me, other].games),
                key=lambda other: (-records[me, other].games, other),
            )
            for row in rows:
                record = records[me, row.opponent]
                assert (row.games, row.wins, row.losses, row.draws) == (
                    *(record.games, record.one_wins, record.other_wins, record.draws),
                )
                assert row.score == record.one_wins + record.draws / 2
                assert (row.as_black, row.as_white) == (record.one_black, record.games - record.one_black)
                assert (row.last_game, row.last_at) == (record.last_game, record.last_at)
                assert row.with_result + row.without_result == row.games


async def test_verdicts_are_what_one_counts(history: History, past: Past) -> None:
    outcomes = {"black": {"B": "won", "W": "lost"}, "white": {"B": "lost", "W": "won"}}
    for mine in (["ant"], ["ant", "ant-2"], ["cat-2", "bee"]):
        wanted: Counter[tuple[str, str | None, str]] = Counter()
        for number, game in past.games.items():
            if game.venue == "9x9" and game.result is not None:
                for color, name in (("black", game.black), ("white", game.white)):
                    outcome = past.outcome(number) or ""
                    word = outcomes[color].get(outcome, {"draw": "drawn"}.get(outcome, "none"))
                    wanted[color, game.reason, word] += name in mine
        rows = await history.records.verdicts("9x9", mine)
        assert {(row.color, row.reason, row.outcome): row.games for row in rows} == dict(+wanted)


async def test_an_empty_crosstable(history: History) -> None:
    assert await history.records.crosstable("9x9", []) == []
    assert await history.records.crosstable("9x9", ["ant"]) == []


async def test_moves_after(database: Location) -> None:
    put(
        database, [*people(), *games(), *refits(), AnalysisAdded(3, 2, '{"score":1}'), *(move(4, n) for n in (1, 2, 3))]
    )
    async with History(database) as history:
        whole = {game: (await history.games.detail(game)).moves for game in (1, 2, 3, 4, 5)}
        for plies in ({}, {1: 0, 3: 1, 4: 2, 5: 0}, {2: 5, 1: 1}, {99: 0, 3: 0}):
            wanted = {game: [row for row in whole.get(game, []) if row.ply > ply] for game, ply in plies.items()}
            assert await history.games.moves_after(plies) == wanted
            until = 1_700_000_000_002
            assert await history.games.moves_after(plies, until) == {
                game: [row for row in moves if row.at <= until] for game, moves in wanted.items()
            }
