"""What is said of events goes both ways unchanged, and neither an old client nor an old server is harmed by it."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_client.library.codec import Codec as ClientCodec
from cgos_client.library.codec import Encoding
from cgos_protocol.event_news import EventNews, EventWhat, Occasion
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_protocol.session import GameSetup
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2 import render
from cgos_protocol.v2.encoding import JSON, MSGPACK, Codec, Malformed

CODECS = [JSON, MSGPACK]
OF_EVENTS = {"enter_event", "withdraw_event", "check_in", "event"}
TEXT = st.text(max_size=200)
NEWS = st.builds(
    EventNews,
    event=TEXT,
    venue=TEXT,
    what=st.sampled_from(EventWhat),
    text=TEXT,
    round=st.integers(0, 10_000),
    opponent=TEXT,
    color=st.none() | st.sampled_from(Color),
    until_ms=st.none() | st.integers(0, 1 << 42),
    place=st.integers(0, 10_000),
    entrants=st.integers(0, 10_000),
    series=TEXT,
    next=TEXT,
)


def older(union: Any) -> Any:
    """The messages of a side that knows no events."""
    kinds = [kind for kind in get_args(union) if kind.__struct_config__.tag not in OF_EVENTS]
    assert len(kinds) < len(get_args(union))
    older_union = kinds[0]
    for kind in kinds[1:]:
        older_union = older_union | kind
    return older_union


@pytest.mark.parametrize(("codec", "encoding"), [(JSON, Encoding.JSON), (MSGPACK, Encoding.MSGPACK)])
@given(news=NEWS)
def test_news_reach_the_client_as_they_are(codec: Codec, encoding: Encoding, news: EventNews) -> None:
    data = codec.encode(render.event(news))
    message = ClientCodec(encoding).decode(data if codec.binary else data.decode())
    assert isinstance(message, ws.EventTold)
    assert (message.event, message.venue, message.what, message.text) == (*news[:2], news.what.value, news.text)
    assert (message.round, message.opponent, message.place, message.entrants) == (
        news.round,
        news.opponent,
        news.place,
        news.entrants,
    )
    assert (message.series, message.next) == (news.series, news.next)
    assert message.color == (None if news.color is None else news.color.name.lower())
    assert (message.until is None) == (news.until_ms is None)
    assert news.until_ms is None or round(1000 * (message.until or 0)) == news.until_ms


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.subprotocol)
@given(kind=st.sampled_from([ws.EnterEvent, ws.WithdrawEvent, ws.CheckInEvent]), event=st.text(max_size=80))
def test_wishes_reach_the_server_or_are_answered(codec: Codec, kind: Any, event: str) -> None:
    message = codec.decode((msgspec.msgpack if codec.binary else msgspec.json).encode(kind(event)))
    if len(event) <= 64:
        assert message == kind(event)
    else:
        assert isinstance(message, Malformed)
        assert (message.code, message.fatal) == ("invalid", False)


def test_an_old_server_answers_and_loses_nobody() -> None:
    sign_in = ws.SignIn(bot="Bot", secret="sesame", venues=["9x9"], events=["spring"])
    decoder: Any = msgspec.json.Decoder(older(ws.ClientMessage))
    with pytest.raises(msgspec.ValidationError, match="enter_event"):
        decoder.decode(msgspec.json.encode(ws.EnterEvent("spring")))

    class OldSignIn(msgspec.Struct, tag_field="type", tag="sign_in"):
        bot: str
        secret: str
        venues: list[str]

    assert msgspec.json.decode(msgspec.json.encode(sign_in), type=OldSignIn).bot == "Bot"


def test_an_old_client_reads_the_game_of_an_event() -> None:
    setup = GameSetup(GameId(3), 9, 14, 60_000, "anna", "1800?", "bert", "1800?", occasion=Occasion("spring", 2))
    message = render.game(setup, Color.BLACK, 0)
    assert (message.event, message.round) == ("spring", 2)

    class OldGame(msgspec.Struct, tag_field="type", tag="game"):
        game: int
        venue: str
        from_ply: int

    assert msgspec.json.decode(JSON.encode(message), type=OldGame).game == 3
    ladder = JSON.encode(render.game(setup._replace(occasion=None), Color.BLACK, 0))
    assert b'"event"' not in ladder
    assert b'"round"' not in ladder, "a game of no event is written as before"


def test_a_client_that_does_not_know_a_message_reads_on() -> None:
    data = b'{"type":"event_of_a_later_release","event":"spring"}'
    assert ClientCodec(Encoding.JSON).decode(data.decode()) is None
    word = b'{"type":"event","event":"spring","venue":"9x9","what":"adjourned","text":"spring is adjourned."}'
    message = ClientCodec(Encoding.JSON).decode(word.decode())
    assert isinstance(message, ws.EventTold)
    assert message.what == "adjourned"
