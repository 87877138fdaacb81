"""What is committed of a question goes to the bus: its results together once a second, everything else at once."""

from __future__ import annotations

from support.live.house import S
from support.live.question_room import QuestionRoom

from cgos_protocol.facts import QuestionMoved
from cgos_server.live.questions.question_facts import QuestionFacts


async def published(room: QuestionRoom) -> list[QuestionMoved]:
    """What is published from now on."""
    house = room.house
    facts: list[QuestionMoved] = []
    room.director.moved.append(QuestionFacts(house.live.context.bus, {"9x9": house.live}, house.time).heard)
    house.live.context.bus.subscribe(QuestionMoved, facts.append)
    return facts


async def test_results_within_a_second_are_one_fact() -> None:
    room = await QuestionRoom.open("anna", "bert")
    facts = await published(room)
    question = room.ask(room.test("anna", "bert"))
    await room.look()
    for winner in ("anna", "bert"):
        await room.end(room.of_questions[0], winner)
    assert [fact.what for fact in facts] == ["asked"]
    room.house.time.advance(S)
    asked, result = facts
    assert (asked.version, asked.against, asked.kind, asked.games, asked.llr) == ("anna", "bert", "test", 0, 0.0)
    assert (result.what, result.state, result.question, result.games) == ("result", "open", question, 2)
    assert result.llr is not None
    assert result.llr < 0.0, "one all speaks for the lower bound"


async def test_a_stop_is_told_at_once_and_nothing_after_it() -> None:
    room = await QuestionRoom.open("anna", "bert", "carl")
    facts = await published(room)
    question = room.ask(room.gauntlet("anna", {"bert": 1800.0, "carl": 1900.0}, 50.0))
    await room.look()
    await room.end(room.of_questions[0], "anna")
    room.director.prioritize(question, 3)
    room.director.stop(question, "Its owner has stopped it.")
    room.house.time.advance(2 * S)
    assert [(fact.what, fact.state) for fact in facts] == [
        ("asked", "open"), ("prioritized", "open"), ("ended", "stopped"),
    ]  # fmt: skip
    await room.director.resume(question)
    assert (facts[-1].what, facts[-1].state, facts[-1].games) == ("resumed", "open", 1)
    assert {(fact.against, fact.llr) for fact in facts} == {("", None)}, "there are two opponents, and it is no test"
