"""Questions on the live server: their games, who waits for whom, how they end."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from support.live.house import S
from support.live.question_room import QuestionRoom

from cgos_protocol.errors import Conflict, NotFound
from cgos_protocol.ids import BotId, GameId, QuestionId
from cgos_protocol.openings import OpeningSet
from cgos_protocol.session import Limits
from cgos_server.core.questions.asked import State
from cgos_server.core.rating.together import JointRatings
from cgos_server.presentation.questions.record import stored_answer
from cgos_server.service.holds import Hold
from cgos_server.storage.writing import asking, records


async def test_a_test_plays_each_opening_with_both_colors_until_it_accepts() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    (first,) = room.of_questions
    assert first.question == question
    assert (first.sides[0].name, first.ply) == ("anna", 1), "the opening is on the board"
    assert not first.referee.terms.rated
    await room.end(first, "anna")
    (second,) = room.of_questions
    assert second.sides[0].name == "bert"
    assert second.setup().moves[0] == first.setup().moves[0]
    await room.end(second, "anna")
    assert room.runner(question).tally.counts() == (0, 0, 0, 0, 1)
    await room.play_on(question, "anna")
    row = room.row(question)
    assert (row.state, row.why) == (State.ACCEPTED, "The log-likelihood ratio reached its bound.")
    assert '"llr":' in row.answer
    assert room.moved[-1] == (question, State.ACCEPTED)
    assert not room.house.store.of(records.LedgerAdded)[2:], "games of questions are not rated: only two have entered"


async def test_a_test_rejects_where_the_new_version_loses() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    await room.play_on(question, "bert")
    assert room.row(question).state == State.REJECTED


async def test_a_challenge_ends_with_its_games_and_may_be_rated() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.challenge("anna", "bert", 4, rated=True))
    await room.look()
    assert await room.play_on(question) == 4
    assert room.row(question).state == State.ANSWERED
    rated = [entry for entry in room.house.store.of(records.LedgerAdded) if entry.game_id is not None]
    assert len(rated) == 4


async def test_a_challenge_to_whoever_accepts_meets_those_alone() -> None:
    room = await QuestionRoom.open("anna", "bert", "carl")
    room.house.live.play_limits.wish(BotId(room.version("carl")), False, Limits(accepts=frozenset({"Olive"})))
    question = room.ask(room.challenge("anna", None, 2))
    await room.look()
    assert room.playing() == {("anna", "carl")}
    await room.play_on(question)
    assert room.row(question).state == State.ANSWERED


async def test_a_gauntlet_ends_at_its_precision() -> None:
    room = await QuestionRoom.open("anna", "bert", "carl")
    question = room.ask(room.gauntlet("anna", {"bert": 1700.0, "carl": 1900.0}, within=200.0))
    await room.look()
    played = await room.play_on(question)
    assert room.row(question).state == State.ANSWERED
    opponents = {name for game in room.house.store.of(records.GameAdded) for name in (game.black_id, game.white_id)}
    assert opponents == {1, 2, 3}
    assert 8 <= played <= 30


async def test_a_gauntlet_has_its_answer_in_the_store_after_each_game() -> None:
    """Who reads it does not know what the venue knows of the opponents."""
    room = await QuestionRoom.open("anna", "bert", "carl")
    field = {"bert": 1700.0, "carl": 1900.0}
    known = JointRatings(np.array([1700.0, 1900.0]), 10.0**2 * np.eye(2), note="Ratings count one by one.")
    room.house.live.ratings.joint_ratings = lambda _versions: known  # type: ignore[method-assign]
    joint, earlier = (room.ask(room.gauntlet("anna", field, within=20.0, joint=joint)) for joint in (True, False))
    for _ in range(8):
        await room.look()
        for game in room.of_questions:
            await room.end(game, "anna")
    runner = room.runner(joint)
    answer = stored_answer(room.row(joint))
    assert answer == runner.answer()
    assert answer is not None
    assert answer.games > 0
    assert answer.note == known.note
    assert stored_answer(room.row(earlier)) is None
    assert room.runner(earlier).answer().note == ""
    room.director.prioritize(joint, 5)
    await room.look()
    assert stored_answer(room.row(joint)) == answer
    room.director.take_out(joint, {1})
    await room.look()
    without = stored_answer(room.row(joint))
    assert without == runner.answer()
    assert without is not None
    assert without.games == answer.games - 2


async def test_a_gauntlet_ends_where_the_venue_hardly_knows_its_opponents() -> None:
    room = await QuestionRoom.open("anna", "bert", "carl")
    field = {"bert": 1700.0, "carl": 1900.0}
    hardly = JointRatings(np.array([1700.0, 1900.0]), 80.0**2 * np.eye(2))
    room.house.live.ratings.joint_ratings = lambda _versions: hardly  # type: ignore[method-assign]
    joint, earlier = (room.ask(room.gauntlet("anna", field, within=100.0, joint=joint)) for joint in (True, False))
    await room.look()
    assert room.row(joint).state == State.NOT_ANSWERED
    assert room.row(joint).why.startswith("No number of games makes it more precise than 110 Elo")
    assert room.row(earlier).state == State.OPEN, "it was begun when opponents counted as known"


async def test_a_void_game_is_played_again_with_the_same_opening() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    (game,) = room.of_questions
    game.abort("The operator ends it.")
    room.ready()
    await room.look()
    (again,) = room.of_questions
    first, second = room.house.store.of(asking.QuestionGame)
    assert (first.pair, first.opening) == (second.pair, second.opening) == (1, first.opening)
    assert again.sides == game.sides
    assert room.runner(question).tally.begun == 1


async def test_slots_wait_for_who_still_plays_and_the_ladder_takes_nobody_of_them() -> None:
    room = await QuestionRoom.open("anna", "bert")
    await room.house.run_pass()
    (ladder,) = room.running
    await room.house.arrive("carl", "dora")
    room.house.time.advance(20 * S)
    question = room.ask(room.test("carl", "anna"))
    await room.look()
    assert Hold.QUESTION in room.holds("carl")
    assert room.runner(question).waits == "Its bots play other games, which end first."
    await room.house.run_pass()
    assert len(room.running) == 1, "Dora has nobody to play with"
    await room.end(ladder, "anna")
    assert room.playing() == {("carl", "anna")}


async def test_a_share_of_time_is_left_to_the_ladder() -> None:
    room = await QuestionRoom.open("anna", "bert", "carl", "dora", share=0.5)
    room.ask(room.challenge("anna", "bert", 10_000))
    spent = {"question": 0, "ladder": 0}
    for _ in range(200):
        await room.look()
        await room.house.run_pass()
        for game in room.running:
            names = {side.name for side in game.sides}
            if "anna" in names:
                spent["question" if game.question else "ladder"] += 60
        await room.look(60)
        for game in room.running:
            await room.end(game, game.sides[0].name)
    whole = sum(spent.values())
    assert 0.40 < spent["question"] / whole < 0.60
    assert whole > 180 * 60


async def test_whoever_has_nothing_else_to_play_has_all_its_time() -> None:
    room = await QuestionRoom.open("anna", "bert", share=0.1)
    question = room.ask(room.challenge("anna", "bert", 10))
    for _ in range(10):
        await room.look(10)
        for game in room.of_questions:
            await room.end(game, "anna")
    assert room.row(question).state == State.ANSWERED


async def test_engines_that_repeat_themselves_end_it_once_all_openings_are_played() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert", most_games=1000))
    await room.look()
    played = await room.play_on(question, same=True)
    row = room.row(question)
    assert (row.state, played) == (State.NOT_ANSWERED, 2 * (2 + 3))
    assert "repeat their games" in row.why
    assert '"repeated":3' in row.answer


async def test_the_budget_ends_it_unanswered_with_what_is_known() -> None:
    room = await QuestionRoom.open("anna", "bert", openings=OpeningSet())
    question = room.ask(room.test("anna", "bert", most_games=6))
    await room.look()
    assert await room.play_on(question) == 6
    row = room.row(question)
    assert (row.state, row.why) == (State.NOT_ANSWERED, "Its 6 games are played, and they did not decide.")
    assert '"counts":[0,0,3,0,0]' in row.answer


async def test_it_ends_when_its_time_is_up() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert", ends_at=room.house.time.wall_ms() + 5_000))
    await room.look(6)
    assert room.row(question).state == State.NOT_ANSWERED


async def test_it_says_whom_it_waits_for_before_its_first_game() -> None:
    room = await QuestionRoom.open("anna", "bert")
    named, anybody = room.ask(room.test("anna", "bert")), room.ask(room.challenge("anna", None, 2))
    room.leave("bert")
    await room.look()
    assert room.runner(named).waits == "Somebody whom it needs is not signed in, or takes no games now."
    assert room.runner(anybody).waits == "Nobody who accepts such games is free now."


async def test_it_waits_for_a_bot_that_vanished_and_ends_after_a_while() -> None:
    room = await QuestionRoom.open("anna", "bert", patience_ms=60_000)
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    room.leave("bert")
    (game,) = room.of_questions
    await room.end(game, "anna")
    await room.look(30)
    assert room.runner(question).waits == "Somebody whom it needs is not signed in, or takes no games now."
    await room.house.arrive("bert")
    await room.look()
    (game,) = room.of_questions
    room.leave("bert")
    await room.end(game, "anna")
    await room.look(90)
    row = room.row(question)
    assert row.state == State.NOT_ANSWERED
    assert '"wins":2' in row.answer


async def test_a_stopped_one_goes_on_with_its_games_of_before() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    await room.end(room.of_questions[0], "anna")
    await room.end(room.of_questions[0], "anna")
    running = room.of_questions[0]
    room.director.stop(question, "Its owner has stopped it.")
    assert room.row(question).state == State.STOPPED
    await room.end(running, "anna")
    assert not room.running
    with pytest.raises(NotFound, match="no question"):
        room.director.stop(question, "Again.")
    await room.director.resume(question)
    with pytest.raises(Conflict, match="has not ended"):
        await room.director.resume(question)
    await room.look()
    assert room.runner(question).tally.counts() == (0, 0, 0, 0, 1)
    assert room.runner(question).tally.begun == 4
    await room.play_on(question, "anna")
    with pytest.raises(Conflict, match="has ended"):
        await room.director.resume(question)


async def test_a_restart_finds_the_tally_and_the_running_game() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    await room.end(room.of_questions[0], "anna")
    await room.end(room.of_questions[0], "bert")
    before = room.runner(question).tally
    (game,) = room.of_questions
    room.house.store.records = [one for one in room.house.store.records if not isinstance(one, records.MoveAdded)]
    await room.restart("anna", "bert", restored=(game,))
    after = room.runner(question).tally
    assert (after.pairs, after.counts()) == (before.pairs, before.counts())
    await room.look()
    (restored,) = room.running
    assert restored.id == game.id
    await room.end(restored, "anna")
    assert room.runner(question).tally.begun == 4


async def test_an_account_has_so_many_running_and_the_others_wait_their_turn() -> None:
    room = await QuestionRoom.open("anna", "bert", "carl", "dora", running_per_owner=1)
    first = room.ask(room.challenge("anna", "bert", 2))
    second = room.ask(room.challenge("carl", "dora", 2))
    await room.look()
    assert room.playing() == {("anna", "bert")}
    assert room.runner(second).waits.startswith("It waits for its turn")
    room.director.prioritize(second, 5)
    await room.end(room.of_questions[0], "anna")
    assert room.playing() == {("carl", "dora")}
    await room.play_on(second)
    await room.play_on(first)


async def test_whoever_takes_its_agreement_back_is_not_met_any_more() -> None:
    room = await QuestionRoom.open("anna", "bert", patience_ms=60_000)
    bert = room.version("bert")
    room.house.live.play_limits.wish(BotId(bert), False, Limits(accepts=frozenset({"anna"})))
    question = room.ask(room.challenge("anna", "bert", 20, foreign=(bert,)))
    await room.look()
    room.house.live.play_limits.wish(BotId(bert), False, Limits())
    await room.end(room.of_questions[0], "anna")
    await room.look(90)
    assert not room.running
    assert room.row(question).state == State.NOT_ANSWERED


async def test_two_who_resume_it_at_once_have_it_once_with_a_game_that_ends_meanwhile() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    (game,) = room.of_questions
    room.director.stop(question, "Its owner has stopped it.")
    store, read, ended = room.house.store, room.house.store.questions_games, False

    async def games(number: QuestionId) -> Any:
        nonlocal ended
        rows = await read(number)
        if not ended:
            ended = True
            await room.end(game, "anna")
        await asyncio.sleep(0)
        return rows

    store.questions_games = games
    outcomes = await asyncio.gather(
        room.director.resume(question), room.director.resume(question), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [type(None), Conflict]
    tally = room.runner(question).tally
    assert (tally.begun, tally.running) == (1, 0)


async def test_a_fault_in_one_question_stops_that_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    room = await QuestionRoom.open("anna", "bert", "carl", "dora")
    first = room.ask(room.challenge("anna", "bert", 2))
    second = room.ask(room.challenge("carl", "dora", 2))

    def fail(*_given: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(room.runner(first), "ended", fail)
    await room.look()
    assert room.row(first).state == State.STOPPED
    await room.play_on(second)
    assert room.row(second).state == State.ANSWERED


async def test_a_paused_venue_begins_no_game_of_a_question() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    room.house.live.matchmaker.holds.add(Hold.VENUE_PAUSED)
    await room.look(5)
    assert not room.running
    assert room.runner(question).waits == "The venue pairs nobody now."


async def test_bots_that_leave_the_server_end_it() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    room.director.leave([room.house.live.roster.families.bot(room.version("bert"))])
    assert room.row(question).state == State.NOT_ANSWERED


async def test_two_slots_play_both_games_of_a_pair_at_once() -> None:
    room = await QuestionRoom.open()
    for name in ("anna", "bert"):
        await room.house.check_in(name, 2)
    room.ask(room.test("anna", "bert"))
    await room.look()
    assert room.playing() == {("anna", "bert"), ("bert", "anna")}


def correction(game: int, result: str) -> records.CorrectionAdded:
    return records.CorrectionAdded(
        game_id=GameId(game), at=0, seq=None, actor="operator", reason="the wrong network", winner=None, result=result
    )


async def test_a_test_goes_on_with_one_pair_more_where_one_is_taken_out() -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert", most_games=6))
    await room.look()
    for _ in range(2):
        for game in room.of_questions:
            await room.end(game, "anna")
    assert room.runner(question).tally.counts() == (0, 0, 0, 0, 1)
    await room.house.store.commit([correction(1, "Void")])
    room.director.take_out(question, {1})
    await room.look()
    assert room.moved[-1] == (question, State.OPEN), "pages are told"
    assert room.runner(question).tally.counts() == (0,) * 5
    played = await room.play_on(question)
    assert played == 6, "the budget is for the pairs that count"
    row = room.row(question)
    assert (row.state, row.why) == (State.NOT_ANSWERED, "Its 6 games are played, and they did not decide.")
    games = await room.house.store.questions_games(question)  # type: ignore[attr-defined]
    assert [game.pair for game in games] == [1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("results", [["Void"], ["Void", "B+Forfeit"]])
async def test_what_is_taken_out_stays_out_after_a_restart(results: list[str]) -> None:
    room = await QuestionRoom.open("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    for _ in range(2):
        for game in room.of_questions:
            await room.end(game, "anna")
    await room.house.store.commit([correction(1, result) for result in results])
    await room.restart("anna", "bert")
    assert room.runner(question).tally.counts()[4] == len(results) - 1
