"""The dialogue of cgos.v2: sign-in, going home, and what is answered to anything at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.net.websocket import SIGN_IN, S, Seated, WsDesk
from support.net.ws_bot import OVER, Bot, errors, setup

from cgos_protocol.event_news import EventNews, EventWhat
from cgos_protocol.games.base import Color
from cgos_protocol.hours import parse
from cgos_protocol.ids import QuestionId
from cgos_protocol.question_news import QuestionNews, QuestionTaken
from cgos_protocol.session import Declaration, Known, Limits, NamedPredecessor, Turn, Wish
from cgos_protocol.v2.session import RoundTrip

# -- sign-in


def test_a_sign_in_says_everything_that_the_server_wants_to_know() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(
        **SIGN_IN | {
            "venues": ["13x13", "9x9"], "new_secret": "another", "version": "1.2", "wire_name": "Anna-fast",
            "engine": "eng\nine", "parameters": {"b": 1, "a": "x\x00"}, "author": "A. Body", "client": "test 1",
            "slots": 4, "limits": {"games_a_day": 9, "avoid": ["Anna-slow"], "accepts": ["*"], "hours": "22-6"},
            "games": [{"game": 7, "ply": 12}, {"game": 8, "ply": 0}],
            "predecessor": {"version": "Anna-1.1", "sd": 40, "surely": True},
        }
    )  # fmt: skip
    credentials, wish = desk.server.credentials, desk.server.wish
    assert credentials is not None
    assert credentials[:6] == ("anna", "secret", "another", "test 1", True, "192.0.2.1")
    assert credentials.declared == Declaration(
        label="1.2",
        wire_name="Anna-fast",
        engine="eng?ine",
        parameters='{"a":"x\\u0000","b":1}',
        author="A. Body",
        predecessor=NamedPredecessor("Anna-1.1", 40.0, True),
    )
    limits = Limits(games_a_day=9, avoid=frozenset({"Anna-slow"}), accepts=frozenset({"*"}), hours=parse("22-6"))
    assert wish == Wish(4, limits, (Known(7, 12), Known(8, 0)))
    assert client.listen() == []
    desk.server.admit("Anna-fast")
    (message,) = client.listen()
    assert message == {"type": "signed_in", "name": "Anna-fast", "venues": ["13x13", "9x9"], "slots": 4}
    numbers = [session.id for session in desk.server.sessions.values()]
    assert len({client.connection.id, *numbers}) == 3
    for session in desk.server.sessions.values():
        assert session.alive
        assert not session.says_ready
        assert not session.proxied
        assert session.heard_at == client.connection.heard_at


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"bot": "9lives"}, "name"),
        ({"bot": "admin-anna"}, "name"),
        ({"bot": "a b"}, "name"),
        ({"secret": "x"}, "password"),
        ({"secret": "with blank"}, "password"),
        ({"new_secret": ""}, "password"),
        ({"wire_name": "Anna (new)"}, "wire-name"),
        ({"predecessor": {"version": "Anna (old)"}}, "predecessor"),
        ({"predecessor": {"version": ""}}, "predecessor"),
        ({"limits": {"hours": "6-6"}}, "hours"),
        ({"limits": {"hours": "whenever"}}, "hours"),
        ({"venues": ["9x9", "7x7"]}, "no-venue"),
        ({"venues": ["9x9", "9x9"]}, "invalid"),
    ],
)
def test_a_sign_in_against_the_rules_ends_with_a_sentence(change: dict[str, Any], code: str) -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(**SIGN_IN | change)
    (message,) = client.listen()
    assert (message["type"], message["code"], message["fatal"]) == ("error", code, True)
    assert message["text"].endswith((".", "13x13."))
    assert client.close_code == 1008
    assert desk.server.calls == []


@pytest.mark.parametrize(
    "named",
    [{}, {"version": "Anna-1", "sd": 0.5}, {"version": "Anna-1", "sd": 1001}, {"version": "Anna-1", "surely": 1}, "x"],
)
def test_a_predecessor_out_of_shape_is_no_sign_in(named: Any) -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(**SIGN_IN | {"predecessor": named})
    (message,) = client.listen()
    assert (message["type"], message["code"]) == ("error", "invalid")
    assert "predecessor" in message["text"]
    assert desk.server.calls == []


def test_a_refused_sign_in() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(**SIGN_IN)
    desk.server.sessions["9x9"].refused("wrong-password", "Sorry, password doesn't match.", 2.5)
    (message,) = client.listen()
    assert message == {
        "type": "error", "code": "wrong-password", "text": "Sorry, password doesn't match.", "fatal": True,
        "retry_after_s": 2.5, "venue": "9x9",
    }  # fmt: skip
    assert client.close_code == 1008
    assert not desk.server.sessions["9x9"].alive
    desk.server.sessions["9x9"].refused("again", "Nobody hears this.")
    assert client.listen() == []


def test_one_venue_that_refuses_takes_the_others_along() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.say(**SIGN_IN | {"venues": ["9x9", "13x13"]})
    first, second = desk.server.sessions.values()
    first.accepted(Seated(desk.server.calls), "anna")
    first.table(3).setup(setup(), Color.BLACK)
    second.refused("already-here", "anna is here already.")
    assert [message["type"] for message in client.listen()] == ["welcome", "error"]
    client.transport.lose()
    assert desk.server.calls[-1] == ("left", True), "it answered the close"


def test_nothing_is_told_before_signed_in() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(**SIGN_IN | {"venues": ["9x9", "13x13"]})
    first, second = desk.server.sessions.values()
    first.accepted(Seated(desk.server.calls), "anna")
    first.table(3).setup(setup(), Color.BLACK)
    assert client.listen() == []
    second.accepted(Seated(desk.server.calls), "anna")
    assert [message["type"] for message in client.listen()] == ["signed_in", "game"]


def test_a_session_whose_connection_is_gone_gives_its_seat_back() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.say(**SIGN_IN)
    client.transport.lose()
    desk.server.calls.clear()
    desk.server.admit()
    assert desk.server.calls == [("left", False)]


def test_operators_are_sent_elsewhere() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(**SIGN_IN)
    desk.server.sessions["9x9"].operator(None)  # type: ignore[arg-type]
    assert errors(client) == [("operator", True)]


def test_before_and_while_signing_in_and_twice() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    for kind in ({"type": "move", "game": 1, "ply": 1, "move": "D4"}, {"type": "ready"}, {"type": "sync", "games": []},
                 {"type": "seen", "game": 1}, {"type": "limits", "limits": {}}):  # fmt: skip
        client.say(**kind)
        assert errors(client) == [("not-signed-in", False)]
    client.say(**SIGN_IN)
    client.say(type="drain")
    assert errors(client) == [("not-signed-in", False)]
    client.say(**SIGN_IN)
    assert errors(client) == [("signed-in", False)]
    desk.server.admit()
    client.say(**SIGN_IN)
    assert errors(client) == [("signed-in", False)]
    assert client.close_code is None


# -- going home


def test_pause_ready_drain_and_goodbye() -> None:
    bot = Bot("9x9", "13x13")
    for kind in ("pause", "ready", "drain"):
        bot.client.say(type=kind)
    assert [entry[1] for entry in bot.calls] == ["paused", "paused", "ready", "ready", "draining", "draining"]
    bot.session("13x13").refused("drained", "Goodbye.")
    assert bot.client.listen() == [{"type": "drained"}]
    assert bot.client.close_code == 1000
    assert not bot.session("9x9").alive


def test_a_dismissed_bot_is_told_why() -> None:
    bot = Bot()
    bot.session().refused("dismissed", "The operator says goodbye.")
    (message,) = bot.client.listen()
    assert (message["code"], message["fatal"]) == ("dismissed", True)
    assert bot.client.close_code == 1008


async def test_who_answers_a_ping_is_there() -> None:
    bot = Bot()
    bot.desk.time.advance(20 * S)
    answer = asyncio.create_task(bot.session().answers("Another sign-in."))
    await asyncio.sleep(0)
    assert [message["type"] for message in (*bot.client.listen(), *bot.client.listen())] == ["info", "latency"]
    assert await answer


async def test_who_does_not_answer_a_ping_is_not_there() -> None:
    bot = Bot()
    answer = asyncio.create_task(bot.session().answers("Another sign-in."))
    await asyncio.sleep(0)
    bot.desk.time.advance(6 * S)
    assert not await answer


# -- the way to the client


def test_the_round_trip_is_told_at_first_and_when_it_has_changed_by_a_quarter() -> None:
    way = RoundTrip()
    assert way.sample(10_000) == 10.0
    assert [way.sample(11_000) for _ in range(20)] == [None] * 20
    samples = [way.sample(20_000) for _ in range(20)]
    assert next(value for value in samples if value is not None) == pytest.approx(13.2, abs=0.2)


# -- anything at all


def told(session: Any, what: str) -> None:
    """The live server says something of a question."""
    number, text = QuestionId(3), "Question 3: 4 games of Ann-2 against whoever accepts."
    if what == "asked":
        session.question_taken(QuestionTaken("a", number, "9x9", "challenge", text, ()))
    else:
        session.question(
            QuestionNews(question=number, venue="9x9", kind="challenge", state="open", text=text, version="Ann-2")
        )


VENUES = st.sampled_from(["9x9", "13x13", "7x7", ""])
NUMBERS = st.integers(0, 4)
MESSAGES = st.one_of(
    st.just(SIGN_IN),
    st.builds(lambda venues, slots: SIGN_IN | {"venues": venues, "slots": slots},
              st.lists(st.sampled_from(["9x9", "13x13"]), min_size=1, max_size=2), st.integers(1, 3)),
    st.builds(lambda game, ply, move: {"type": "move", "game": game, "ply": ply, "move": move},
              NUMBERS, st.integers(1, 4), st.sampled_from(["D4", "pass", "", "\u2028", "resign"])),
    st.builds(lambda game: {"type": "seen", "game": game}, NUMBERS),
    st.builds(lambda games: {"type": "sync", "games": [{"game": game, "ply": game} for game in games]},
              st.lists(NUMBERS, max_size=3)),
    st.sampled_from(["ready", "pause", "drain", "bogus"]).map(lambda kind: {"type": kind}),
    st.builds(lambda n: {"type": "limits", "limits": {"games_a_day": n}}, st.integers(0, 2)),
    st.builds(lambda venue: {"type": "watch_venue", "venue": venue}, VENUES),
    st.builds(lambda venue, game: {"type": "watch_game", "venue": venue, "game": game}, VENUES, NUMBERS),
    st.builds(lambda venue, game: {"type": "unwatch", "venue": venue, "game": game}, VENUES, st.none() | NUMBERS),
    st.builds(lambda kind, event: {"type": kind, "event": event},
              st.sampled_from(["enter_event", "withdraw_event", "check_in"]), st.sampled_from(["spring", "", "?"])),
    st.builds(lambda kind, against: {"type": "ask", "kind": kind, "venue": "9x9", "against": against, "ref": "a"},
              st.sampled_from(["test", "gauntlet", "challenge"]), st.lists(st.just("Ann-1"), max_size=2)),
    st.builds(lambda number: {"type": "stop_question", "question": number + 1}, NUMBERS),
    st.sampled_from(["news", "question", "asked", "admit", "refuse", "setup", "genmove", "played", "over", "drained",
                     "unknown", "lose", "wait"]),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(MESSAGES, max_size=25), st.sampled_from(["cgos.v2", "cgos.v2.msgpack"]))
def test_any_sequence_against_a_model(steps: list[Any], subprotocol: str) -> None:
    """The model knows the stage, and so which errors there may be; a seat hears of a move exactly where it has the
    game; after a fatal error nothing is said."""
    desk = WsDesk()
    client = desk.connect(subprotocol)
    client.listen()
    stage = "new"
    games: set[int] = set()
    for step in steps:
        desk.server.calls.clear()
        sessions = list(desk.server.sessions.values())
        if isinstance(step, dict):
            client.say(**step)
            messages = [message for message in client.listen() if message["type"] != "latency"]
            faults = [message for message in messages if message["type"] == "error"]
            assert len(messages) == len(faults) <= 1
            code = faults[0]["code"] if faults else None
            kind = step["type"]
            if stage == "closed":
                assert not messages
            elif kind == "bogus" or (kind == "limits" and not step["limits"]["games_a_day"]):
                assert code == "invalid"
            elif kind in ("watch_venue", "watch_game", "unwatch"):
                assert code == (None if step["venue"] in desk.halls else "no-venue")
            elif kind == "sign_in":
                if stage != "new":
                    assert code == "signed-in"
                elif len(set(step["venues"])) < len(step["venues"]):
                    assert code == "invalid"
                    stage = "closed"
                else:
                    assert code is None
                    stage = "checking"
            elif stage != "in":
                assert code == "not-signed-in"
            elif kind == "move":
                heard = [entry for entry in desk.server.calls if entry[0] == "move"]
                if step["game"] not in games:
                    assert (code, heard) == ("no-game", [])
                elif not step["move"].strip():
                    assert (code, heard) == ("invalid", [])
                else:
                    assert code is None
                    assert len(heard) == 1
            else:
                assert code is None
                assert desk.server.calls
            continue
        if step == "wait":
            desk.time.advance(S)
        elif step == "lose":
            client.transport.lose()
            stage = "closed"
        elif step == "admit" and stage == "checking":
            desk.server.admit()
            stage = "in"
            assert "signed_in" in [message["type"] for message in client.listen()]
        elif step == "refuse" and sessions:
            sessions[0].refused("wrong", "No.")
            assert errors(client) == ([("wrong", True)] if stage != "closed" else [])
            stage = "closed"
        elif stage == "in":
            session = sessions[-1]
            table = session.table(2)
            games.add(2)
            if step == "news":
                client.listen()
                session.event(EventNews("spring", "9x9", EventWhat.STARTED, "spring has started."))
                assert [message["type"] for message in client.listen()] == ["event"]
            elif step in ("question", "asked"):
                client.listen()
                told(session, step)
                assert [message["type"] for message in client.listen()] == [step]
            elif step == "setup":
                table.setup(setup(2), Color.BLACK)
            elif step == "genmove":
                table.genmove(Color.BLACK, 1, 1)
            elif step == "played":
                table.played(Turn(ply=2, color=Color.WHITE, move="D4", left_ms=1, other_left_ms=1, at=0, on=True))
            elif step == "over":
                table.game_over(OVER)
                games.discard(2)
            elif step == "drained":
                for opened in sessions:
                    opened.refused("drained", "Goodbye.")
                stage = "closed"
                assert client.listen()[-1] == {"type": "drained"}
                continue
            elif step == "unknown":
                session.unknown([9])
            assert all(message["type"] != "signed_in" for message in client.listen())
    client.take()
    if not client.transport.gone:
        client.transport.lose()
    assert desk.count.open == 0
