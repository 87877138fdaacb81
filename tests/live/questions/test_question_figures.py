"""What the metrics say of questions."""

from __future__ import annotations

import pytest
from support.live.question_room import QuestionRoom

from cgos_server.live.questions.question_figures import QuestionFigures


async def test_questions_and_their_games_are_counted_from_beginning_to_end() -> None:
    room = await QuestionRoom.open("anna", "bert")
    figures = QuestionFigures(room.director)
    room.director.moved.append(figures.heard)
    assert (figures.begun(), figures.over()) == ({"9x9": 0}, {"9x9": 0}), "the first one is an increase"
    assert set(figures.ended().values()) == {0}
    first = room.ask(room.challenge("anna", "bert", 4))
    second = room.ask(room.test("anna", "bert"))
    await room.look()
    assert figures.open() == {("9x9", "challenge"): 1, ("9x9", "test"): 1}
    assert (figures.begun(), figures.over()) == ({"9x9": 1}, {"9x9": 0})
    await room.end(room.of_questions[0], "anna")
    room.of_questions[0].abort("An operator ends it.")
    room.ready()
    await room.look()
    assert figures.over() == {"9x9": 1}, "a game without a result is played again"
    await room.play_on(first)
    room.director.stop(second, "Its owner has stopped it.")
    ended = {how: count for (_, how), count in figures.ended().items() if count}
    assert ended == {"answered": 1, "stopped": 1}
    assert not figures.open()


async def test_the_time_of_questions_is_a_share_of_all_time() -> None:
    room = await QuestionRoom.open("anna", "bert", "carl")
    figures = QuestionFigures(room.director)
    question = room.ask(room.challenge("anna", "bert", 2))
    await room.look()
    before = figures.slot_seconds()
    await room.look(10)
    after = figures.slot_seconds()
    gone = {of: after["9x9", of] - before["9x9", of] for of in ("questions", "all")}
    assert gone == {"questions": pytest.approx(20.0), "all": pytest.approx(30.0)}
    assert question in room.director.runners
