"""Questions as they are read from a database, and what is said of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace as replace_record
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from support.storage.asked import QuestionPast
from support.storage.storage_sample import put
from support.web.past import NINE, Builder, terms

from cgos_protocol.errors import Refused
from cgos_protocol.ids import GameId, QuestionId, VersionId
from cgos_protocol.terms import encode_terms
from cgos_server.core.questions.answer import answer_of
from cgos_server.core.questions.asked import Asked, Challenge, Gauntlet, Opponent, State, Test
from cgos_server.core.rating.together import JointRatings
from cgos_server.core.sequential import log_likelihood_ratio
from cgos_server.presentation.questions import answers
from cgos_server.presentation.questions.record import MOST_POINTS, QuestionRecord, ReadQuestions
from cgos_server.service.questions.planning import Pace
from cgos_server.storage import schema
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.asking import QuestionAdded
from cgos_server.storage.writing.records import CorrectionAdded

AT = 1_790_000_000_000
TEST = Test(version=VersionId(1), against=VersionId(3), most_games=200, upper=200.0)
GAUNTLET = Gauntlet(
    version=VersionId(1),
    field=(Opponent(version=VersionId(2), rating=1900.0), Opponent(version=VersionId(3), rating=1700.0)),
    within=60.0,
    most_games=100,
)
CHALLENGE = Challenge(version=VersionId(1), most_games=20)
NINE_GAMES = "https://go.example/questions/1"


@pytest.fixture(scope="module")
def past() -> list[object]:
    return list(Builder(with_event=False).build())


@pytest.fixture
async def history(tmp_path: Path, past: list[object]) -> AsyncIterator[History]:
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    put(path, past)  # type: ignore[arg-type]
    async with History(path) as opened:
        yield opened


def asked(question: Asked, number: int = 1, **more: int) -> QuestionPast:
    return QuestionPast(
        number=number,
        asked=question,
        venue_id=NINE,
        terms=encode_terms(terms(NINE)),
        first_game=1000 * number,
        at=AT,
        **more,
    )


def location(history: History) -> Path:
    place = history.source.location
    assert isinstance(place, Path)
    return place


async def read(history: History, past: QuestionPast, state: State = State.OPEN, why: str = "") -> QuestionRecord:
    put(location(history), past.records(state, why))
    return await ReadQuestions(history).numbered(QuestionId(past.number))


async def test_an_open_question_is_read_from_its_games(history: History) -> None:
    past = asked(TEST)
    past.pairs((2, 2), (2, 1), (0, 2), (2, None))
    record = await read(history, past)
    assert record.answer == answer_of(TEST, past.tally)
    assert record.answer.counts == (0, 0, 1, 1, 1)
    assert record.tally.running == 1
    assert (record.version, record.opponents) == ("Sakura-5k", ["Kogo_mcts"])
    assert [point.pairs for point in record.path] == [0, 1, 2, 3]
    assert record.path[0].llr == 0.0
    assert record.path[-1].llr == pytest.approx(record.answer.llr)
    assert record.path[1].llr == pytest.approx(log_likelihood_ratio((0, 0, 0, 0, 1), TEST.hypotheses))


async def test_what_ended_has_the_answer_of_its_end(history: History) -> None:
    past = asked(TEST)
    past.pairs((2, 2), (2, 2))
    records = past.records(State.STOPPED, "Its owner has stopped it.")
    late = asked(TEST)
    late.pairs((2, 2), (2, 2), (0, 0))  # a game that ran went on
    put(location(history), [*records, *(one for one in late.games if one not in past.games)])
    record = await ReadQuestions(history).numbered(QuestionId(1))
    assert record.answer.counts == (0, 0, 0, 0, 2)
    assert [point.pairs for point in record.path] == [0, 1, 2]
    assert len(record.games) == 6


async def test_it_is_read_again_when_something_changed(history: History) -> None:
    past = asked(TEST)
    past.pair(2, None)
    put(location(history), past.records())
    questions = ReadQuestions(history)
    before = await questions.numbered(QuestionId(1))
    assert await questions.numbered(QuestionId(1)) is before
    known = len(past.games)
    past.pair(2, 2)
    put(location(history), past.games[known:])
    after = await questions.numbered(QuestionId(1))
    assert after is not before
    assert after.answer.games == 2


async def test_there_is_no_such_question(history: History) -> None:
    with pytest.raises(Refused, match="There is no question 7"):
        await ReadQuestions(history).numbered(QuestionId(7))


async def test_a_long_path_is_thinned(history: History) -> None:
    past = asked(TEST)
    for number in range(500):
        past.pair(2 * (number % 3 == 0), 2 * (number % 2))
    record = await read(history, past)
    assert len(record.path) == MOST_POINTS
    assert record.path[-1].pairs == 500
    assert record.path[-1].llr == pytest.approx(record.answer.llr)


async def test_opponents_of_a_challenge_to_anybody_have_names(history: History) -> None:
    past = asked(CHALLENGE)
    past.pair(2, 0, opponent=4)
    past.pair(2, 2, opponent=2)
    detail = answers.detail(await read(history, past), link=NINE_GAMES, pace=Pace(60.0, 0.5), strengths=None)
    assert detail.against == []
    assert [each.opponent for each in detail.answer.against] == ["gnugo-3.8-L1", "Tengen.bot"]
    assert detail.answer.games_left == 16
    assert detail.answer.hours_left == pytest.approx(16 * 60 / 3600 / 0.5)


async def test_a_test_that_goes_on_is_said_in_full(history: History) -> None:
    past = asked(TEST)
    past.pairs((2, 2), (2, 1), (0, 2), (2, None))
    detail = answers.detail(await read(history, past), link=NINE_GAMES, pace=Pace(None, 0.5), strengths=None)
    assert detail.asks == "Is Sakura-5k stronger than Kogo_mcts?"
    assert detail.stands.startswith(
        f"It goes on: the log-likelihood ratio is {detail.answer.llr:.2f}, between -2.94 and"
    )
    assert "Of 6 games it won 4, drew 1 and lost 1." in detail.stands
    assert detail.running == 1
    assert detail.answer.hours_left is None
    assert detail.answer.games_left is not None
    lines = detail.text.splitlines()
    assert len(lines) == 6
    assert lines[0] == "Test   | Sakura-5k against Kogo_mcts: goes on"
    assert lines[3:] == ["Games  | N: 6 W: 4 L: 1 D: 1", "Pairs  | [0, 0, 1, 1, 1]", f"Link   | {NINE_GAMES}"]


@pytest.mark.parametrize(
    ("state", "why", "said"),
    [
        (State.NOT_ANSWERED, "Its time is up.", "Not answered: its time is up. Of 4 games it won 4"),
        (State.STOPPED, "Its owner has stopped it.", "Stopped: its owner has stopped it. Of 4 games it won 4"),
    ],
)
async def test_ends_without_an_answer(history: History, state: State, why: str, said: str) -> None:
    past = asked(TEST)
    past.pairs((2, 2), (2, 2))
    detail = answers.detail(await read(history, past, state, why), link="x", pace=Pace(9.0, 0.5), strengths=None)
    assert detail.stands.startswith(said)
    assert detail.text.splitlines()[0].endswith(f": {state.value}")
    assert (detail.answer.games_left, detail.answer.hours_left, detail.running) == (None, None, 0)


async def test_a_decision_is_said_with_its_bound(history: History) -> None:
    past = asked(TEST)
    past.pairs(*[(2, 2), (2, 0), (2, 2)] * 8)
    record = await read(history, past, State.ACCEPTED, "The log-likelihood ratio reached its bound.")
    detail = answers.detail(record, link="x", pace=Pace(9.0, 0.5), strengths=None)
    assert detail.stands.startswith("Accepted: the log-likelihood ratio is ")
    assert "at its upper bound of 2.94 or above it. Of 48 games it won 40" in detail.stands
    assert detail.text.startswith("Test   | Sakura-5k against Kogo_mcts: accepted\n")


async def test_a_gauntlet_has_six_lines(history: History) -> None:
    past = asked(GAUNTLET)
    past.pairs((2, 0), (2, 1), opponent=2)
    past.pairs((2, 2), (0, 2), opponent=3)
    record = await read(history, past, State.ANSWERED, "It is known to 60 Elo.")
    detail = answers.detail(record, link="x", pace=Pace(9.0, 0.5), strengths=None)
    assert detail.asks == "Where does Sakura-5k stand among gnugo-3.8-L1 and Kogo_mcts, to within 60 Elo?"
    assert detail.stands.startswith("Answered: it is known to 60 Elo. Of 8 games it won 5, drew 1 and lost 2.")
    lines = detail.text.splitlines()
    assert len(lines) == 6
    assert lines[0] == "Gauntlet | Sakura-5k: answered"
    assert lines[2].endswith(" Elo, asked for 60")
    assert lines[4] == "Against  | gnugo-3.8-L1 1900 W: 2 L: 1 D: 1; Kogo_mcts 1700 W: 3 L: 1 D: 0"
    assert [each.rating for each in detail.answer.against] == [1900.0, 1700.0]


async def test_an_open_gauntlet_has_the_answer_that_the_server_stored(history: History) -> None:
    past = asked(GAUNTLET)
    past.pairs(*[(2, 0), (2, 1)] * 5, opponent=2)
    ratings = JointRatings(np.array([1900.0, 1700.0]), 20.0**2 * np.eye(2), note="Ratings count one by one.")
    answer = answer_of(GAUNTLET, past.tally, ratings)
    added, *others = past.records()
    assert isinstance(added, QuestionAdded)
    put(location(history), [added._replace(answer=msgspec.json.encode(answer).decode()), *others])
    record = await ReadQuestions(history).numbered(QuestionId(past.number))
    assert record.answer == answer
    assert "on the scale of its opponents. Ratings count one by one. About 80 games" in answers.stands(record)
    by_games = 60.0**2 - record.answer.least_half_width**2
    known = replace(record.answer, lower=1800.0 - 70.0, upper=1800.0 + 70.0)
    assert answers.games_left(replace_record(record, answer=known)) == pytest.approx(
        record.answer.games * ((70.0**2 - record.answer.least_half_width**2) / by_games - 1)
    )
    never = replace(known, least_half_width=65.0)
    assert answers.games_left(replace_record(record, answer=never)) is None
    put(location(history), [void(1002)])
    record = await ReadQuestions(history).numbered(QuestionId(past.number))
    assert answers.stands(record).endswith(" An operator took out pair 2."), "it has not ended"
    assert record.tally.out == {2}


async def test_a_challenge_has_six_lines(history: History) -> None:
    past = asked(CHALLENGE)
    past.pair(2, 0, opponent=4)
    record = await read(history, past)
    lines = answers.text(record, "x").splitlines()
    assert len(lines) == 6
    assert lines[0] == "Challenge | Sakura-5k against whoever accepts: goes on"
    assert lines[3] == "Games     | N: 2 W: 1 L: 1 D: 0, asked for 20"


async def test_games_are_listed_with_repeats(history: History) -> None:
    past = asked(TEST)
    past.pair(2, 0, digest=5)
    past.pair(2, 0, digest=5)
    past.pair(None, None)
    games = answers.games(await read(history, past)).items
    assert [game.repeated for game in games] == [False, False, True, True, False, False]
    assert [(game.black, game.white) for game in games[:2]] == [("Sakura-5k", "Kogo_mcts"), ("Kogo_mcts", "Sakura-5k")]
    assert [game.result for game in games[4:]] == [None, None]


async def test_a_question_without_games_says_so(history: History) -> None:
    for number, question in enumerate((TEST, GAUNTLET, CHALLENGE), 1):
        record = await read(history, asked(question, number))
        detail = answers.detail(record, link="x", pace=Pace(9.0, 0.5), strengths=None)
        assert detail.stands.startswith("It goes on: no pair of games has ended yet.")
        assert len(detail.text.splitlines()) == 6


def void(game: int, result: str = "Void") -> CorrectionAdded:
    return CorrectionAdded(
        game_id=GameId(game), at=AT, seq=None, actor="operator", reason="wrong", winner=None, result=result
    )


async def test_an_open_question_counts_without_a_pair_that_is_taken_out(history: History) -> None:
    past = asked(TEST)
    past.pairs((2, 2), (2, 1), (0, 2))
    before = await read(history, past)
    questions = ReadQuestions(history)
    assert (await questions.numbered(QuestionId(1))).answer == before.answer
    put(location(history), [void(1002)])
    record = await questions.numbered(QuestionId(1))
    assert record.answer.counts == (0, 0, 1, 0, 1), "it was read again"
    assert [point.pairs for point in record.path] == [0, 1, 2]
    assert "An operator took out pair 2." in answers.stands(record)
    assert [game.taken_out for game in answers.games(record).items] == [False, False, True, True, False, False]
    put(location(history), [void(1002, "B+Forfeit")])
    assert (await questions.numbered(QuestionId(1))).answer == before.answer


@pytest.mark.parametrize(
    ("asked_for", "state", "words"),
    [
        (
            TEST,
            State.ACCEPTED,
            "Without pair 7 it would be undecided: the log-likelihood ratio is 2.65, ",
        ),
        (CHALLENGE, State.ANSWERED, "Without pair 7 it would say: No estimate: "),
        (replace(GAUNTLET, joint=True), State.ANSWERED, "An operator took out pair 7."),
    ],
)
async def test_an_ended_question_keeps_its_answer_and_says_what_it_would_be(
    history: History, asked_for: Asked, state: State, words: str
) -> None:
    past = asked(asked_for)
    past.pairs(*[(2, 2)] * 4, (2, 0), (2, 2), (2, 2), opponent=3)
    before = await read(history, past, state, "All are played.")
    late = asked(asked_for)
    late.pairs(*[(2, 2)] * 4, (2, 0), (2, 2), (2, 2), (2, 2), opponent=3)  # played after the end: it counts for nothing
    put(location(history), [*(row for row in late.games if row not in past.games), void(1013)])
    record = await ReadQuestions(history).numbered(QuestionId(1))
    assert (record.answer, record.path, record.state) == (before.answer, before.path, state)
    assert words in answers.stands(record)
    assert "Without" not in answers.stands(before)
