"""Bots ask about themselves, for their owners, and hear how their questions stand."""

from __future__ import annotations

from typing import Any

import pytest
from support.live.house import House
from support.live.question_room import QuestionRoom

from cgos_protocol.api.people import Done
from cgos_protocol.api.questions import AskedQuestion, QuestionCost
from cgos_protocol.errors import Code, Conflict, StoreError
from cgos_protocol.ids import QuestionId
from cgos_protocol.question_news import ExpectedCost, QuestionNews, QuestionTaken, QuestionWish, StopWish
from cgos_server.live.questions.herald import QuestionHerald
from cgos_server.service.commands.declaration import Command
from cgos_server.service.questions.asking import AskChallenge, AskGauntlet, AskTest
from cgos_server.service.questions.managing import QuestionStop

COST = QuestionCost(case="all games", difference=None, games=4.0, hours=1.5, accepted=None)


class Desk:
    """An admin that takes what bots ask; `fault` is raised instead."""

    def __init__(self, room: QuestionRoom) -> None:
        self.performed: list[tuple[str, Command[Any]]] = []
        self.fault: Exception | None = None
        self._room = room

    async def for_bot(self, command: Command[Any], bot: str) -> Any:
        if self.fault is not None:
            raise self.fault
        self.performed.append((bot, command))
        if isinstance(command, QuestionStop):
            self._room.director.stop(command.question, "Its owner has stopped it.")
            return Done(sentence="It is stopped.")
        return AskedQuestion(question=QuestionId(9), venue="9x9", kind="test", sentence="Question 9.", costs=[COST])


class Heralded(QuestionRoom):
    """Bots hear of questions here."""

    desk: Desk

    async def take_up(self) -> None:
        self.desk = Desk(self)
        venues = {self.house.venue.name: self.house.live}
        QuestionHerald(self.director, venues, self.desk, self.house.spawn).open()  # type: ignore[arg-type]

    async def wish(self, name: str, wish: QuestionWish | StopWish) -> tuple[Any, ...]:
        """What it hears at last."""
        seat = self.house.sessions[name].seat
        assert seat is not None
        seat.question(wish)
        await self.house.settle()
        return self.house.sessions[name].last()

    def news(self, name: str) -> list[QuestionNews]:
        return [entry[1] for entry in self.house.sessions[name].entries if entry[0] == "question"]


async def heralded(*names: str) -> Heralded:
    room = await Heralded.open(*names)
    assert isinstance(room, Heralded)
    await room.take_up()
    return room


async def test_the_version_that_it_is_about_is_told_each_change_and_nobody_else() -> None:
    room = await heralded("anna", "bert")
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    await room.play_on(question, "anna")
    asked, ended = room.news("anna")
    what = f"Question {question}: Is anna stronger than bert?"
    assert (asked.state, asked.text, asked.counts) == ("open", f"{what} It is open.", (0, 0, 0, 0, 0))
    assert (ended.state, ended.text) == ("accepted", f"{what} Accepted: The log-likelihood ratio reached its bound.")
    assert ended.wins > ended.losses
    assert ended.wins + ended.draws + ended.losses == 2 * sum(ended.counts)
    assert (ended.elo, ended.lower) == (None, None), "seven pairs say too little"
    assert not room.news("bert")


async def test_whoever_comes_back_hears_how_it_stands() -> None:
    room = await heralded("anna", "bert")
    question = room.ask(room.challenge("anna", "bert", 8))
    await room.look()
    for _ in range(2):
        await room.end(room.of_questions[0], "anna")
    room.leave("anna")
    await room.house.arrive("anna")
    (now,) = room.news("anna")
    assert (now.question, now.state, now.wins, now.losses, now.against) == (question, "open", 2, 0, ("bert",))
    room.director.stop(question, "An operator has stopped it.")
    await room.director.resume(question)
    assert [one.state for one in room.news("anna")] == ["open", "stopped", "open"]
    assert room.news("anna")[1].text.endswith("Stopped: An operator has stopped it.")
    room.director.prioritize(question, 7)
    assert len(room.news("anna")) == 3, "priorities are its owner's business"


WISHES: list[tuple[dict[str, Any], Command[Any]]] = [
    (
        {"kind": "test", "against": ("bert",), "upper": 20.0, "scale": "elo", "priority": 3},
        AskTest(version="anna", venue="9x9", against="bert", upper=20.0, scale="elo", priority=3),
    ),
    (
        {"kind": "gauntlet", "against": ("bert", "carl"), "within": 30.0, "ends_at_ms": 7_000, "alpha": 0.1},
        AskGauntlet(version="anna", venue="9x9", opponents=["bert", "carl"], within=30.0, ends_at=7_000),
    ),
    (
        {"kind": "challenge", "most_games": 4, "dry": True},
        AskChallenge(version="anna", venue="9x9", most_games=4, dry=True),
    ),
    (
        {"kind": "challenge", "most_games": 4, "against": ("bert",), "rated": True},
        AskChallenge(version="anna", venue="9x9", most_games=4, against="bert", rated=True),
    ),
]


@pytest.mark.parametrize(("said", "command"), WISHES)
async def test_what_a_bot_asks_is_the_command_that_a_person_gives(said: dict[str, Any], command: Command[Any]) -> None:
    room = await heralded("anna")
    word, taken = await room.wish("anna", QuestionWish(ref="a", venue="9x9", **said))
    assert room.desk.performed == [("anna", command)]
    cost = ExpectedCost("all games", None, 4.0, 1.5, None)
    assert (word, taken) == ("question taken", QuestionTaken("a", QuestionId(9), "9x9", "test", "Question 9.", (cost,)))


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"kind": "test"}, "A test needs an opponent. Name it in against."),
        ({"kind": "test", "against": ("bert", "carl")}, "A test has one opponent. Name it alone in against."),
        ({"kind": "gauntlet"}, "A gauntlet needs opponents. Name them in against."),
        ({"kind": "challenge"}, "A challenge needs the number of its games. Say it in most_games."),
        (
            {"kind": "challenge", "most_games": 2, "ends_at_ms": 1000 * 1_790_000_000_000},
            "ends_at is a Unix time in seconds, such as 1767225600 for 2026-01-01.",
        ),
    ],
)
async def test_what_is_missing_is_said(said: dict[str, Any], sentence: str) -> None:
    room = await heralded("anna")
    assert await room.wish("anna", QuestionWish(ref="a", venue="9x9", **said)) == (
        "question refused", "a", Code.QUESTION, sentence,
    )  # fmt: skip
    assert not room.desk.performed


async def test_a_bot_stops_what_is_asked_about_itself_alone() -> None:
    room = await heralded("anna", "bert")
    question = room.ask(room.challenge("anna", "bert", 8))
    word, ref, code, _ = await room.wish("bert", StopWish("s", question))
    assert (word, ref, code) == ("question refused", "s", Code.NOT_ALLOWED)
    assert (await room.wish("anna", StopWish("s", QuestionId(77))))[2] == Code.NO_QUESTION
    word, news = await room.wish("anna", StopWish("s", question))
    assert (word, news.state) == ("question", "stopped")
    assert question not in room.director.runners


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Conflict(Code.NO_OWNER, "It belongs to nobody."), Code.NO_OWNER),
        (StoreError("gone"), Code.STORE),
        (RuntimeError("oh"), Code.OUR_FAULT),
    ],
)
async def test_every_refusal_and_fault_is_told(fault: Exception, code: Code) -> None:
    room = await heralded("anna")
    room.desk.fault = fault
    wish = QuestionWish(ref="a", kind="challenge", venue="9x9", most_games=2)
    word, ref, said, sentence = await room.wish("anna", wish)
    assert (word, ref, said) == ("question refused", "a", code)
    assert sentence.endswith(".")


async def test_a_server_that_starts_refuses_and_who_has_left_asks_nothing() -> None:
    house = await House().open()
    await house.arrive("anna")
    session = house.sessions["anna"]
    assert session.seat is not None
    session.seat.question(StopWish("s", QuestionId(1)))
    assert session.last()[:3] == ("question refused", "s", Code.STARTING)
    session.seat.left(True)
    before = len(session.entries)
    session.seat.question(StopWish("s", QuestionId(1)))
    assert len(session.entries) == before
