"""Corrections leave the past as it was published, and the ratings as if the games had always counted so."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.service.real_pool import T0, Elsewhere, RealPool, counts
from support.storage.storage_sample import query

from cgos_protocol.errors import Code, NotFound, Refused
from cgos_protocol.ids import GameId, QuestionId, VenueId, VersionId
from cgos_server.core.questions.asked import Test, encode_asked
from cgos_server.core.rating.base import Kind
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.rating.repeats import game_digest
from cgos_server.presentation.questions.record import ReadQuestions
from cgos_server.service.commands.ratings import GameCorrect
from cgos_server.service.ratings.recomputing import recompute
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.asking import QuestionAdded, QuestionGame, QuestionGameEnded
from cgos_server.storage.writing.records import AuditAdded, CorrectionAdded, LedgerAdded, RatingMoved, Record

SCORES = {"Void": None, "B+Forfeit": 2, "W+Forfeit": 0, "Draw": 1}


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[RealPool]:
    """Two versions, Alpha (1) and Beta (2), in one venue."""
    opened = await RealPool(tmp_path / "cgos.sqlite").open()
    await opened.bot("Alpha", "9x9")
    await opened.bot("Beta", "9x9")
    yield opened
    await opened.store.close()


async def unconfigured(venue: str) -> VenueRatings:
    raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {venue}.")


def correct(pool: RealPool, game: int, result: str, reason: str = "it cheated") -> Any:
    return pool.admin.handle(GameCorrect(game=game, result=result, reason=reason, actor="me"))


async def refusal(pool: RealPool, game: int, result: str, reason: str = "it cheated") -> tuple[str, str]:
    groups = len(await ledger(pool))
    with pytest.raises(Refused) as raised:
        await correct(pool, game, result, reason)
    assert len(await ledger(pool)) == groups
    return raised.value.code, raised.value.sentence


async def ledger(pool: RealPool) -> list[tuple[Any, ...]]:
    """What corrections wrote: (kind, was2, score2, repeat)."""
    entries = await pool.store.history.ledger.entries(1)
    return [(entry.was2, entry.score2, entry.repeat) for entry in entries if entry.kind is Kind.CORRECTION]


def played(ratings: VenueRatings, system: str) -> dict[int, int]:
    run = ratings._runs[system]
    return {version: rating.games for version, rating in run.system.standings(run.state).items()}


async def test_a_correction_is_one_commit_and_the_past_stays(pool: RealPool, monkeypatch: pytest.MonkeyPatch) -> None:
    game = await pool.game(1, 2, "B+Resign")
    groups: list[list[Record]] = []
    commit = pool.store.commit

    async def noting(records: Any) -> None:
        groups.append(list(records))
        await commit(records)

    monkeypatch.setattr(pool.store, "commit", noting)
    done = await correct(pool, game, "W+Forfeit", " the engine \n was swapped ")
    assert done.sentence == (
        "Game 1 of Alpha (Black) and Beta (White) counts as a win for White from now on; it counted as a win for Black."
    )
    assert pool.changed == ["9x9"]
    (group,) = (group for group in groups if group)
    (correction,) = (row for row in group if isinstance(row, CorrectionAdded))
    assert correction._replace(at=0) == (1, 0, 4, "me", "the engine was swapped", 1, "W+Forfeit")
    (entry,) = (row for row in group if isinstance(row, LedgerAdded))
    assert (entry.seq, entry.kind, entry.game_id, entry.was2, entry.score2) == (4, "correction", 1, 2, 0)
    assert {row.system for row in group if isinstance(row, RatingMoved)} == {"bayes", "cgos-elo"}
    assert isinstance(group[-1], AuditAdded)
    stored = await pool.store.history.games.stored(1)
    assert stored is not None
    assert (stored.result, stored.winner) == ("B+Resign", 0)
    async with History(pool.path) as history:
        detail = await history.games.detail(1)
        (row,) = await history.games.find(GameFilter(), 50)
    assert [(change.was, change.result, change.reason) for change in detail.corrections] == [
        ("B+Resign", "W+Forfeit", "the engine was swapped")
    ]
    assert (row.result, row.corrected) == ("B+Resign", "W+Forfeit")


async def test_a_corrected_game_can_be_corrected_again(pool: RealPool) -> None:
    game = await pool.game(1, 2, "B+Time")
    await pool.game(1, 2, "W+Resign")
    for result in ("Void", "Draw", "W+Forfeit", "B+Forfeit"):
        await correct(pool, game, result)
    assert await ledger(pool) == [(2, None, False), (None, 1, False), (1, 0, False), (0, 2, False)]
    assert counts(pool.rated["9x9"]) == {(1, 2): (1, 0, 1)}
    assert played(pool.rated["9x9"], "cgos-elo") == {1: 2, 2: 2}
    code, sentence = await refusal(pool, game, "B+Forfeit")
    assert (code, sentence) == ("no-change", "Game 1 counts as a win for Black already: nothing would change.")


async def test_a_game_without_a_result_may_be_given_one(pool: RealPool) -> None:
    game = await pool.game(1, 2, "Abort")
    assert (await refusal(pool, game, "Void"))[0] == "no-change"
    await correct(pool, game, "W+Forfeit")
    assert await ledger(pool) == [(None, 0, False)]
    assert counts(pool.rated["9x9"]) == {(1, 2): (0, 0, 1)}
    await correct(pool, game, "Void")
    assert counts(pool.rated["9x9"]) == {}
    assert played(pool.rated["9x9"], "bayes") == played(pool.rated["9x9"], "cgos-elo") == {1: 0, 2: 0}


async def test_what_cannot_be_corrected(pool: RealPool) -> None:
    ended = await pool.game(1, 2, "B+Resign")
    running = await pool.game(1, 2, None)
    sandbox = await pool.game(1, 2, "B+Resign", rated=False)
    half = await pool.game(1, 2, "B+Resign", komi2=15)
    assert await refusal(pool, running, "Void") == (
        "running",
        f"Game {running} has not ended. To end it: cgos-server abort {running}",
    )
    assert (await refusal(pool, sandbox, "Void"))[0] == "not-rated"
    assert await refusal(pool, half, "Draw") == (
        "no-draw",
        f"Game {half} was played with komi 7.5, where nobody can draw.",
    )
    assert (await refusal(pool, ended, "B+Time"))[0] == "result"
    assert (await refusal(pool, ended, "Void", " \n "))[0] == "no-reason"
    assert (await refusal(pool, ended, "Void", "x" * 201))[0] == "long-reason"
    for number in (0, -1, 99, 2**63):
        assert (await refusal(pool, number, "Void"))[0] == "no-game"
    del pool.rated["9x9"]
    assert (await refusal(pool, ended, "Void"))[0] == "unknown-venue"
    assert pool.changed == []


async def test_the_next_repeat_takes_the_place_of_a_void_game(pool: RealPool) -> None:
    first, second, third = [await pool.game(1, 2, "B+Resign", "C3 D4") for _ in range(3)]
    ratings = pool.rated["9x9"]
    assert counts(ratings) == {(1, 2): (1, 0, 0)}
    done = await correct(pool, first, "Void")
    assert "game 2 counts in its stead" in done.sentence
    assert await ledger(pool) == [(2, None, False), (None, 2, True)]
    assert counts(ratings) == {(1, 2): (1, 0, 0)}
    assert played(ratings, "bayes") == played(ratings, "cgos-elo") == {1: 2, 2: 2}
    await correct(pool, second, "W+Forfeit")
    assert (await ledger(pool))[2:] == [(2, 0, False), (None, 2, True)]
    assert counts(ratings) == {(1, 2): (1, 0, 1)}
    await correct(pool, third, "Void")
    assert (await ledger(pool))[4:] == [(2, None, False)]
    assert counts(ratings) == {(1, 2): (0, 0, 1)}
    assert played(ratings, "bayes") == played(ratings, "cgos-elo") == {1: 1, 2: 1}
    async with History(pool.path) as history:
        assert [row.corrected for row in await history.games.find(GameFilter(), 50)] == ["Void", "W+Forfeit", "Void"]


async def test_a_repeat_that_is_corrected_leaves_the_first_alone(pool: RealPool) -> None:
    await pool.game(1, 2, "B+Resign", "C3 D4")
    second = await pool.game(1, 2, "B+Resign", "C3 D4")
    await correct(pool, second, "W+Forfeit")
    assert await ledger(pool) == [(2, 0, True)]
    assert counts(pool.rated["9x9"]) == {(1, 2): (1, 0, 1)}
    await correct(pool, second, "Void")
    assert (await ledger(pool))[1:] == [(0, None, False)]
    assert counts(pool.rated["9x9"]) == {(1, 2): (1, 0, 0)}
    assert played(pool.rated["9x9"], "bayes") == played(pool.rated["9x9"], "cgos-elo") == {1: 1, 2: 1}


async def test_a_game_that_gets_its_result_back_counts_by_itself(pool: RealPool) -> None:
    first, *_ = [await pool.game(1, 2, "B+Resign", "C3 D4") for _ in range(3)]
    await correct(pool, first, "Void")
    await correct(pool, first, "B+Forfeit")
    assert await ledger(pool) == [(2, None, False), (None, 2, True), (None, 2, False)]
    await correct(pool, first, "Draw")
    assert (await ledger(pool))[3:] == [(2, 1, False)]
    assert counts(pool.rated["9x9"]) == {(1, 2): (1, 1, 0)}
    assert played(pool.rated["9x9"], "bayes") == {1: 3, 2: 3}


@pytest.mark.parametrize("restart", [False, True])
async def test_after_a_void_game_the_same_game_is_news(pool: RealPool, restart: bool) -> None:
    first = await pool.game(1, 2, "B+Resign", "C3 D4")
    await correct(pool, first, "Void")
    if restart:
        await pool.reopen()
    await pool.game(1, 2, "B+Resign", "C3 D4")
    assert counts(pool.rated["9x9"]) == {(1, 2): (1, 0, 0)}
    await pool.game(1, 2, "B+Resign", "C3 D4")
    assert counts(pool.rated["9x9"]) == {(1, 2): (1, 0, 0)}


async def test_two_corrections_at_once_come_one_after_the_other(pool: RealPool) -> None:
    game = await pool.game(1, 2, "B+Resign")
    results = await asyncio.gather(
        correct(pool, game, "Void"), correct(pool, game, "W+Forfeit"), correct(pool, game, "Void")
    )
    assert len(results) == 3
    assert await ledger(pool) == [(2, None, False), (None, 0, False), (0, None, False)]


async def test_a_repeat_that_ends_meanwhile_is_seen(pool: RealPool, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await pool.game(1, 2, "B+Resign", "C3 D4")
    counted = pool.store.history.ledger.counted

    async def slow(number: int) -> Any:
        tallies = await counted(number)
        if pool.games == 1:
            await pool.game(1, 2, "B+Resign", "C3 D4")
        return tallies

    first_repeat = pool.store.history.ledger.first_repeat
    answers: list[Any] = [None]

    async def stale(*what: int) -> Any:
        """The first answer is of before."""
        return answers.pop() if answers else await first_repeat(*what)

    monkeypatch.setattr(pool.store.history.ledger, "counted", slow)
    monkeypatch.setattr(pool.store.history.ledger, "first_repeat", stale)
    await correct(pool, first, "Void")
    assert counts(pool.rated["9x9"]) == {(1, 2): (1, 0, 0)}


async def test_on_a_closed_database_it_is_the_same(pool: RealPool) -> None:
    first = await pool.game(1, 2, "B+Resign", "C3 D4")
    await pool.game(1, 2, "B+Resign", "C3 D4")
    await Elsewhere(pool).admin.handle(GameCorrect(game=first, result="Void", reason="it cheated"))
    assert pool.changed == []
    await pool.reopen()
    assert await ledger(pool) == [(2, None, False), (None, 2, True)]
    assert counts(pool.rated["9x9"]) == {(1, 2): (1, 0, 0)}
    nowhere = pool.administrator(unconfigured)
    with pytest.raises(Refused, match="There is no venue 9x9"):
        await nowhere.handle(GameCorrect(game=first, result="Draw", reason="it did not"))


async def play_two_pairs(pool: RealPool, *, rated: bool) -> list[int]:
    """Play two pairs of a test, all won by Alpha; return the games."""
    test = Test(version=VersionId(1), against=VersionId(2), most_games=20, rated=rated)
    added = QuestionAdded(
        id=QuestionId(5), venue_id=VenueId(1), owner_id=None, kind="test", asked=encode_asked(test), asked_at=T0,
        priority=0, state="open", ended_at=None, why="", answer="",
    )  # fmt: skip
    await pool.store.commit([added])
    games = []
    for pair in (1, 2):
        for black, white, result in ((1, 2, "B+Resign"), (2, 1, "W+Resign")):
            game = await pool.game(black, white, result, rated=rated)
            row = QuestionGame(GameId(game), QuestionId(5), pair, "")
            await pool.store.commit([row, QuestionGameEnded(1000 + game, GameId(game))])
            games.append(game)
    return games


async def counted(pool: RealPool) -> tuple[int, ...]:
    """Pairs of the question, by its points."""
    async with History(pool.path) as history:
        return (await ReadQuestions(history).numbered(QuestionId(5))).answer.counts


@pytest.mark.parametrize("rated", [False, True])
async def test_void_takes_the_pair_of_a_game_out_of_its_question(pool: RealPool, rated: bool) -> None:
    _, second, third, _ = await play_two_pairs(pool, rated=rated)
    assert await counted(pool) == (0, 0, 0, 0, 2)
    done = await correct(pool, second, "Void", "played with the wrong network")
    assert done.sentence == (
        f"Game {second} of Beta (Black) and Alpha (White) counts as nothing from now on; it counted as a win for "
        "White. Pair 1 of question 5 is taken out."
    )
    assert pool.questions.calls == [("take out", 5, {1})]
    assert await counted(pool) == (0, 0, 0, 0, 1)
    assert (await refusal(pool, second, "Void"))[0] == "no-change"
    await correct(pool, third, "Void")
    assert pool.questions.calls[-1] == ("take out", 5, {1, 2})
    back = await correct(pool, second, "W+Forfeit")
    assert back.sentence.endswith("it counted as nothing. Pair 1 of question 5 counts again.")
    assert pool.questions.calls[-1] == ("take out", 5, {2})
    assert await counted(pool) == (0, 0, 0, 0, 1)
    audit = query(pool.path, "SELECT action, actor, detail FROM audit ORDER BY id")
    assert [row[:2] for row in audit] == [("correct", "me")] * 3
    assert '"pair":1,"question":5,"reason":"played with the wrong network"' in audit[0][2]


async def test_in_a_question_an_unrated_game_counts_as_it_was_played_or_not_at_all(pool: RealPool) -> None:
    games = await play_two_pairs(pool, rated=False)
    code, sentence = await refusal(pool, games[0], "W+Forfeit")
    assert (code, sentence) == (
        "result", f"In its question game {games[0]} counts as it was played, B+Forfeit, or as nothing, Void.",
    )  # fmt: skip
    assert (await refusal(pool, games[0], "B+Forfeit"))[0] == "no-change"
    alone = await pool.game(1, 2, "B+Resign", rated=False)
    code, sentence = await refusal(pool, alone, "Void")
    assert code == "not-rated"
    assert "counts in no question" in sentence
    assert (pool.questions.calls, pool.changed) == ([], [])


# -- whatever happens


@dataclass
class Played:
    """A game of the model: what it counts as, and whether an operator has spoken."""

    black: int
    white: int
    score2: int | None
    moves: str
    ruled: bool = False


def afresh(games: list[Played]) -> VenueRatings:
    """The games that count, folded as if each had ended so at once. A game that was ruled on counts by itself."""
    ratings = VenueRatings(1, rating_system("bayes", 1800.0, {}), [rating_system("cgos-elo", 1800.0, {})])
    for version in (1, 2):
        ratings.enter(version, 1800.0, T0)
    for number, game in enumerate(games, 1):
        if game.score2 is not None:
            alike = game.moves and not game.ruled
            digest = game_digest(game.moves.split(), game.score2) if alike else None
            ratings.game(number, game.black, game.white, game.score2, T0, digest)
    return ratings


GAMES = st.tuples(st.just("game"), st.booleans(), st.sampled_from(["", "C3 D4", "C3 D5"]))
RULINGS = st.tuples(st.just("rule"), st.integers(0, 30), st.sampled_from(sorted(SCORES)))
RESTART = st.tuples(st.just("restart"), st.just(0), st.just(""))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(GAMES, GAMES, RULINGS, RULINGS, RESTART), min_size=4, max_size=24))
def test_corrected_ratings_are_as_if_folded_afresh(events: list[tuple[str, int, str]]) -> None:
    async def run(path: Path) -> None:
        pool = await RealPool(path).open()
        await pool.bot("Alpha", "9x9")
        await pool.bot("Beta", "9x9")
        games: list[Played] = []
        for kind, number, word in events:
            if kind == "game":
                sides = (2, 1) if number else (1, 2)
                result = "W+Resign" if word == "C3 D5" else "B+Resign"
                await pool.game(*sides, result, word)
                games.append(Played(*sides, 0 if result[0] == "W" else 2, word))
            elif kind == "restart":
                await pool.reopen()
            elif games:
                game = games[number % len(games)]
                if game.score2 == SCORES[word]:
                    continue
                await correct(pool, number % len(games) + 1, word)
                game.score2, game.ruled = SCORES[word], True
        ratings, model = pool.rated["9x9"], afresh(games)
        assert counts(ratings) == counts(model)
        for system in ("bayes", "cgos-elo"):
            assert played(ratings, system) == played(model, system)
        await pool.store.close()
        async with History(path) as history:
            recomputed = await recompute(history, "9x9", rating_system("cgos-elo", 1800.0, {}))
        assert recomputed.ratings == model._runs["cgos-elo"].ratings

    with tempfile.TemporaryDirectory() as where:
        asyncio.run(run(Path(where) / "cgos.sqlite"))
