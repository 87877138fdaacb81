"""What is said of questions goes both ways unchanged, and an old client or server is not harmed by it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from clients.library.test_event_messages import CODECS, TEXT
from hypothesis import given
from hypothesis import strategies as st

from cgos_client.library.codec import Codec as ClientCodec
from cgos_client.library.codec import Encoding
from cgos_protocol.ids import QuestionId
from cgos_protocol.question_news import ExpectedCost, QuestionNews, QuestionTaken
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2 import render
from cgos_protocol.v2.encoding import JSON, MSGPACK, Codec, Malformed

NUMBERS = st.integers(1, 1 << 53).map(QuestionId)
KINDS = st.sampled_from(["test", "gauntlet", "challenge"])
FIGURES = st.none() | st.floats(-2_000, 2_000)
COUNTS = st.integers(0, 1_000_000)
NEWS = st.builds(
    QuestionNews,
    question=NUMBERS,
    venue=TEXT,
    kind=KINDS,
    state=st.sampled_from(["open", "accepted", "rejected", "answered", "not answered", "stopped"]),
    text=TEXT,
    version=TEXT,
    against=st.lists(TEXT, max_size=3).map(tuple),
    wins=COUNTS,
    draws=COUNTS,
    losses=COUNTS,
    counts=st.tuples(*[COUNTS] * 5),
    llr=FIGURES,
    elo=FIGURES,
    lower=FIGURES,
    upper=FIGURES,
)
COSTS = st.builds(
    ExpectedCost, TEXT, FIGURES, games=st.floats(0, 1e9), hours=FIGURES, accepted=st.none() | st.floats(0, 1)
)
TAKEN = st.builds(
    QuestionTaken, TEXT, st.none() | NUMBERS, TEXT, KINDS, TEXT, costs=st.lists(COSTS, max_size=3).map(tuple)
)
ENCODINGS = pytest.mark.parametrize(("codec", "encoding"), [(JSON, Encoding.JSON), (MSGPACK, Encoding.MSGPACK)])


def heard(codec: Codec, encoding: Encoding, message: ws.ServerMessage) -> Any:
    data = codec.encode(message)
    return ClientCodec(encoding).decode(data if codec.binary else data.decode())


@ENCODINGS
@given(news=NEWS)
def test_news_reach_the_client_as_they_are(codec: Codec, encoding: Encoding, news: QuestionNews) -> None:
    message = heard(codec, encoding, render.question(news))
    assert isinstance(message, ws.QuestionTold)
    fields = msgspec.structs.asdict(news)
    assert msgspec.structs.asdict(message) == fields | {"against": list(news.against), "counts": list(news.counts)}


@ENCODINGS
@given(taken=TAKEN)
def test_answers_reach_the_client_as_they_are(codec: Codec, encoding: Encoding, taken: QuestionTaken) -> None:
    message = heard(codec, encoding, render.asked(taken))
    assert isinstance(message, ws.Asked)
    assert (message.ref, message.question or None, message.venue, message.kind, message.text) == taken[:5]
    assert [ExpectedCost(**msgspec.structs.asdict(cost)) for cost in message.costs] == list(taken.costs)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.subprotocol)
@given(
    kind=KINDS,
    against=st.lists(st.text(max_size=70), max_size=2),
    numbers=st.fixed_dictionaries(
        {}, optional={"lower": st.floats(), "upper": st.floats(), "alpha": st.floats(), "within": st.floats()}
    ),
    most_games=st.none() | st.integers(-1, 2_000_000),
)
def test_wishes_reach_the_server_or_are_answered(
    codec: Codec, kind: Any, against: list[str], numbers: dict[str, float], most_games: int | None
) -> None:
    wish = ws.Ask(kind=kind, venue="9x9", against=against, most_games=most_games, ref="a", **numbers)
    message = codec.decode((msgspec.msgpack if codec.binary else msgspec.json).encode(wish))
    if isinstance(message, Malformed):
        assert (message.code, message.fatal) == ("invalid", False)
        return
    assert isinstance(message, ws.Ask)
    assert message.most_games is None or 2 <= message.most_games <= 1_000_000
    for name, value in numbers.items():
        got = getattr(message, name)
        assert got is None or abs(got) <= 1_000, "no number that is none gets in"
        assert got is None or got == value


def test_a_question_of_no_game_is_not_written() -> None:
    assert b'"question"' not in JSON.encode(ws.Error(code="invalid", text="No."))
    assert b'"ref"' not in JSON.encode(ws.Error(code="invalid", text="No."))


def test_a_client_reads_a_state_that_it_does_not_know() -> None:
    word = msgspec.json.encode(render.question(QuestionNews(
        question=QuestionId(3), venue="9x9", kind="test", state="adjourned", text="It waits.", version="B-2"
    )))  # fmt: skip
    message = ClientCodec(Encoding.JSON).decode(word.decode())
    assert isinstance(message, ws.QuestionTold)
    assert message.state == "adjourned"
