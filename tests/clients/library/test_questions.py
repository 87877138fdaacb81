"""What a bot asks of its own strength with the library: wishes and their answers, over any connections."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.clients.v2_model import Model, told_question
from support.clients.v2_server import V2Server

from cgos_client import Ask, QuestionRefused, SessionClosed, connect
from cgos_client.library.questions import Questions
from cgos_client.retry import Pauses
from cgos_protocol.ids import QuestionId
from cgos_protocol.v2 import messages as ws

SECONDS = 10
WISH = Ask(kind="test", venue="5x5", against=["Old"])


def as_bot(server: V2Server, **more):
    pauses = Pauses(random.Random(1), first=0.02, longest=0.1)
    return connect(server.url, **{"bot": "Bot", "secret": "sesame", "venues": ["5x5"], "pauses": pauses, **more})


# -- without a server


def answer_to(message: ws.Ask | ws.StopQuestion) -> list[ws.ServerMessage]:
    """What a server may say to it."""
    refusal = ws.Error(code="not-agreed", text="No.", ref=message.ref)
    if isinstance(message, ws.StopQuestion):
        return [refusal, told_question(message.question, "Bot", "stopped")]
    return [refusal, ws.Asked(question=1, venue="5x5", kind="test", text="Asked.", costs=[], ref=message.ref)]


@given(st.data())
def test_each_wish_gets_its_own_answer_once(data: st.DataObject) -> None:
    """Against a model: a wish waits until its answer came or the connection is gone, and nothing answers it then."""
    questions = Questions()
    waiting: dict[str, ws.Ask | ws.StopQuestion] = {}
    answered: dict[str, object] = {}
    heard = 0
    for step in data.draw(st.lists(st.sampled_from(["ask", "stop", "answer", "strange", "news", "lose"]), max_size=20)):
        if step in ("ask", "stop"):
            message = questions.ask(WISH) if step == "ask" else questions.stop(data.draw(st.integers(1, 2)))
            assert message.ref not in (*waiting, *answered)
            waiting[message.ref] = message
        elif step == "answer" and waiting:
            message = waiting.pop(data.draw(st.sampled_from(sorted(waiting))))
            answer = data.draw(st.sampled_from(answer_to(message)))
            questions.receive(answer)
            heard += isinstance(answer, ws.QuestionTold)
            answered[message.ref] = answer
            for ref, other in list(waiting.items()):
                if isinstance(answer, ws.QuestionTold) and getattr(other, "question", None) == answer.question:
                    answered[ref] = waiting.pop(ref) and answer
        elif step == "strange":
            questions.receive(ws.Error(code="no-game", text="No."))
            questions.receive(ws.Error(code="not-agreed", text="No.", ref="nobody's"))
        elif step == "news":
            questions.receive(told_question(QuestionId(1), "Bot", "open"))
            heard += 1
        elif step == "lose":
            questions.lost()
            answered |= dict.fromkeys(waiting, "connection-lost")
            waiting.clear()
        assert len(questions.news) == heard
        assert [ref for ref, answer in questions.answers.items() if answer is None] == list(waiting)
        for ref, answer in answered.items():
            got = questions.answers[ref]
            if isinstance(got, QuestionRefused):
                assert got.code == (answer.code if isinstance(answer, ws.Error) else answer)
            else:
                assert got == answer


# -- against a server


async def test_a_bot_asks_hears_and_stops():
    model = Model(games=0)
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        first, second = await asyncio.gather(session.ask(WISH), session.ask(Ask(kind="test", venue="5x5")))
        assert {first.question, second.question} == {1, 2}
        stopped = await session.stop_question(1)
        assert (stopped.question, stopped.state) == (1, "stopped")
        news = session.question_news()
        assert [(one.question, one.state) for one in [await anext(news) for _ in range(3)]] == [
            (1, "open"), (2, "open"), (1, "stopped"),
        ]  # fmt: skip
        with pytest.raises(QuestionRefused) as refused:
            await session.stop_question(7)
        assert refused.value.code == "no-question"
    with pytest.raises(SessionClosed):
        await session.ask(WISH)
    with pytest.raises(StopAsyncIteration):
        await anext(session.question_news())


async def test_what_cannot_be_asked_is_said_in_a_sentence():
    model = Model(games=0)
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        with pytest.raises(QuestionRefused, match=r"Stranger has not agreed\.") as refused:
            await session.ask(Ask(kind="challenge", venue="5x5", against=["Stranger"], most_games=2))
        assert (refused.value.code, refused.value.fatal) == ("not-agreed", False)


async def test_a_server_that_knows_no_questions_is_no_harm():
    model = Model(games=0)
    model.knows_questions = False
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        with pytest.raises(QuestionRefused, match="this server knows no questions"):
            await session.ask(WISH)
        assert session.connected


async def test_a_wish_whose_connection_ends_has_failed():
    model = Model(games=0)
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        server.cut()
        with pytest.raises(QuestionRefused) as refused:
            await session.ask(WISH)
        assert refused.value.code == "connection-lost"
