"""The dialogue of cgos.v2: sign-in, games, resume, watching, and what is answered to everything else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.websocket import SETUP, Seated, WsClient, WsDesk

from cgos_server.core.clock import TimeControl, TimeSystem
from cgos_server.core.facts import BotArrived, GameEnded, MovePlayed
from cgos_server.core.games.base import Color, Ko, Ruleset
from cgos_server.core.referee import Terms
from cgos_server.protocol.session import (
    Declaration,
    Fault,
    GameOver,
    GameSetup,
    Known,
    Limits,
    ListedGame,
    PlayerSession,
    ShownGame,
    Table,
    Turn,
    Wish,
)
from cgos_server.protocol.ws_session import WATCHED_MAX, RoundTrip

S = 1_000_000
OVER = GameOver("2026-01-01", "B+2.5", Color.BLACK, "score", "", 5, (1800.0, 1812.5))
SIGN_IN: dict[str, Any] = {"type": "sign_in", "bot": "anna", "secret": "secret", "venues": ["9x9"]}


def moves(count: int) -> tuple[tuple[str, int], ...]:
    return tuple((f"{'ABCDEFGHJ'[at % 9]}{at // 9 + 1}", 60_000 - at) for at in range(count))


def setup(game: int = 3, plies: int = 0, venue: str = "9x9") -> GameSetup:
    return SETUP._replace(game=game, moves=moves(plies), venue=venue)


def errors(client: WsClient) -> list[tuple[str, bool]]:
    return [(said["code"], said.get("fatal", False)) for said in client.listen() if said["type"] == "error"]


class Bot:
    """A signed-in bot and the server's ends of it."""

    def __init__(self, *venues: str, subprotocol: str = "cgos.v2", slots: int = 1) -> None:
        self.desk = WsDesk()
        self.client = self.desk.signed_in(subprotocol, venues=venues or ("9x9",), slots=slots)
        self.told = self.desk.server.told

    def session(self, venue: str = "9x9") -> PlayerSession:
        return self.desk.server.sessions[venue]

    def table(self, game: int = 3, venue: str = "9x9") -> Table:
        return self.session(venue).table(game)


# -- sign-in


def test_a_sign_in_says_everything_that_the_server_wants_to_know() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(
        **SIGN_IN | {
            "venues": ["13x13", "9x9"], "new_secret": "another", "version": "1.2", "wire_name": "Anna-fast",
            "engine": "eng\nine", "parameters": {"b": 1, "a": "x\x00"}, "author": "A. Body", "client": "test 1",
            "slots": 4, "limits": {"games_a_day": 9, "avoid": ["Anna-slow"]},
            "games": [{"game": 7, "ply": 12}, {"game": 8, "ply": 0}],
        }
    )  # fmt: skip
    credentials, wish = desk.server.credentials, desk.server.wish
    assert credentials is not None
    assert credentials[:6] == ("anna", "secret", "another", "test 1", True, "192.0.2.1")
    assert credentials.declared == Declaration("1.2", "Anna-fast", "eng?ine", '{"a":"x\\u0000","b":1}', "A. Body")
    assert wish == Wish(4, Limits(9, frozenset({"Anna-slow"})), (Known(7, 12), Known(8, 0)))
    assert client.listen() == []
    desk.server.admit("Anna-fast")
    (said,) = client.listen()
    assert said == {"type": "signed_in", "name": "Anna-fast", "venues": ["13x13", "9x9"], "slots": 4}
    numbers = [session.id for session in desk.server.sessions.values()]
    assert len({client.connection.id, *numbers}) == 3
    for session in desk.server.sessions.values():
        assert session.alive
        assert not session.says_ready
        assert not session.proxied
        assert session.heard == client.connection.heard


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
        ({"venues": ["9x9", "7x7"]}, "no-venue"),
        ({"venues": ["9x9", "9x9"]}, "invalid"),
    ],
)
def test_a_sign_in_against_the_rules_ends_with_a_sentence(change: dict[str, Any], code: str) -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(**SIGN_IN | change)
    (said,) = client.listen()
    assert (said["type"], said["code"], said["fatal"]) == ("error", code, True)
    assert said["text"].endswith((".", "13x13."))
    assert client.close_code == 1008
    assert desk.server.told == []


def test_a_refused_sign_in() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(**SIGN_IN)
    desk.server.sessions["9x9"].refused("wrong-password", "Sorry, password doesn't match.", 2.5)
    (said,) = client.listen()
    assert said == {
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
    first.accepted(Seated(desk.server.told), "anna")
    first.table(3).setup(setup(), Color.BLACK)
    second.refused("already-here", "anna is here already.")
    assert [said["type"] for said in client.listen()] == ["welcome", "error"]
    client.transport.lose()
    assert desk.server.told[-1] == ("left", True), "it answered the close"


def test_nothing_is_told_before_signed_in() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(**SIGN_IN | {"venues": ["9x9", "13x13"]})
    first, second = desk.server.sessions.values()
    first.accepted(Seated(desk.server.told), "anna")
    first.table(3).setup(setup(), Color.BLACK)
    assert client.listen() == []
    second.accepted(Seated(desk.server.told), "anna")
    assert [said["type"] for said in client.listen()] == ["signed_in", "game"]


def test_a_session_whose_connection_is_gone_gives_its_seat_back() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.say(**SIGN_IN)
    client.transport.lose()
    desk.server.told.clear()
    desk.server.admit()
    assert desk.server.told == [("left", False)]


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


# -- a game


@pytest.mark.parametrize("subprotocol", ["cgos.v2", "cgos.v2.msgpack"])
def test_a_game(subprotocol: str) -> None:
    bot = Bot(subprotocol=subprotocol)
    table, client = bot.table(), bot.client
    control = TimeControl(TimeSystem.FISCHER, main=60 * S, increment=2 * S)
    terms = Terms(Ruleset(size=13, komi2=15, ko=Ko.SITUATIONAL, suicide=True), control, 500, 60 * S, False)
    table.setup(setup()._replace(terms=terms, why="Both are new."), Color.WHITE)
    (game,) = client.listen()
    assert game == {
        "type": "game", "game": 3, "venue": "9x9", "color": "white",
        "rules": {"game": "go", "size": 13, "komi": 7.5, "ko": "situational", "suicide": True},
        "time": {"system": "fischer", "main_ms": 60_000, "increment_ms": 2000, "lag_ms": 250},
        "black": {"name": "anna", "rating": "1800?"}, "white": {"name": "bert", "rating": "1800?"},
        "from_ply": 0, "moves": [], "black_ms": 60_000, "white_ms": 60_000, "rated": False, "why": "Both are new.",
    }  # fmt: skip
    table.played(Turn(1, Color.BLACK, "E5", 59_000, 60_000, 1_700_000_000_500, True))
    (moved,) = client.listen()
    assert moved == {
        "type": "moved", "game": 3, "ply": 1, "color": "black", "move": "E5", "black_ms": 59_000, "white_ms": 60_000,
        "at": 1_700_000_000.5, "your_turn": True,
    }  # fmt: skip
    client.say(type="move", game=3, ply=2, move="d5", analysis={"winrate": 0.5})
    client.say(type="move", game=3, ply=2, move="d5")
    table.played(Turn(3, Color.BLACK, "PASS", 58_000, 57_000, 0, False))
    table.game_over(OVER)
    client.say(type="seen", game=3)
    assert [said["type"] for said in client.listen()] == ["moved", "over"]
    assert bot.told == [("move", 3, 2, "d5", '{"winrate":0.5}'), ("move", 3, 2, "d5", None), ("seen", 3)]


@pytest.mark.parametrize("subprotocol", ["cgos.v2", "cgos.v2.msgpack"])
@pytest.mark.parametrize("color", list(Color))
def test_a_game_that_begins_with_an_opening(subprotocol: str, color: Color) -> None:
    bot = Bot(subprotocol=subprotocol)
    table, client = bot.table(), bot.client
    given = (("E5", 60_000), ("C3", 60_000), ("G7", 60_000))
    table.setup(setup()._replace(moves=given, opening="Three stones"), color)
    (game,) = client.listen()
    assert (game["opening"], game["from_ply"]) == ("Three stones", 0)
    assert game["moves"] == [["E5", 60_000], ["C3", 60_000], ["G7", 60_000]]
    assert (game["black_ms"], game["white_ms"]) == (60_000, 60_000)
    if color is Color.WHITE:
        table.genmove(Color.WHITE, 60_000, 60_000)
        (asked,) = client.listen()
        assert (asked["type"], asked["ply"]) == ("turn", 4)
    else:
        table.played(Turn(4, Color.WHITE, "A1", 59_000, 60_000, 0, True))
        (asked,) = client.listen()
        assert (asked["type"], asked["ply"], asked["your_turn"]) == ("moved", 4, True)
    ply = 4 if color is Color.WHITE else 5
    client.say(type="move", game=3, ply=ply, move="D4")
    assert bot.told == [("move", 3, ply, "D4", None)]


def test_the_first_move_and_the_end() -> None:
    bot = Bot()
    table, client = bot.table(), bot.client
    table.setup(setup(plies=4), Color.BLACK)
    table.genmove(Color.BLACK, 50_000, 60_000)
    table.game_over(OVER)
    _, turn, over = client.listen()
    assert turn == {"type": "turn", "game": 3, "ply": 5, "color": "black", "black_ms": 50_000, "white_ms": 60_000}
    assert over == {
        "type": "over", "game": 3, "result": "B+2.5", "winner": "black", "reason": "score", "detail": "", "plies": 5,
        "date": "2026-01-01", "rating": {"before": 1800.0, "after": 1812.5},
    }  # fmt: skip


@pytest.mark.parametrize("fault", list(Fault))
def test_a_move_that_is_not_taken_is_answered(fault: Fault) -> None:
    bot = Bot()
    bot.table().setup(setup(plies=4), Color.BLACK)
    bot.client.listen()
    bot.desk.server.seats["9x9"].fault = fault
    bot.client.say(type="move", game=3, ply=9, move="D4")
    (said,) = bot.client.listen()
    assert (said["code"], said["game"]) == (fault.value, 3)
    assert not said.get("fatal", False)
    if fault is Fault.GAP:
        assert "Ply 9 was sent, and 5 is the next one." in said["text"]


def test_a_move_of_a_game_that_is_not_there() -> None:
    bot = Bot()
    bot.client.say(type="move", game=77, ply=1, move="D4")
    (said,) = bot.client.listen()
    assert (said["code"], said["game"]) == ("no-game", 77)
    assert bot.told == []


@pytest.mark.parametrize(
    ("sent", "heard"), [("  D4 ", "D4"), ("Q\x0010", "Q?10"), ("räsign", "r?sign"), ("a b", "a?b"), ("pass", "pass")]
)
def test_a_move_is_one_word_of_plain_text(sent: str, heard: str) -> None:
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.say(type="move", game=3, ply=1, move=sent)
    assert bot.told == [("move", 3, 1, heard, None)]


@pytest.mark.parametrize("sent", ["", "  ", "\t"])
def test_an_empty_move_loses_no_game(sent: str) -> None:
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.listen()
    bot.client.say(type="move", game=3, ply=1, move=sent)
    assert errors(bot.client) == [("invalid", False)]
    assert bot.told == []


def test_analysis_that_does_not_fit_is_dropped_and_the_move_counts() -> None:
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.listen()
    bot.client.say(type="move", game=3, ply=1, move="D4", analysis={"custom": "x" * 70_000})
    assert errors(bot.client) == [("analysis", False)]
    assert bot.told == [("move", 3, 1, "D4", None)]


def test_repetitions_are_harmless_up_to_a_bound() -> None:
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.listen()
    for _ in range(200):
        bot.client.say(type="move", game=3, ply=1, move="D4")
    assert len(bot.told) == 122  # the move, and what ignored_per_minute allows
    assert errors(bot.client) == [("flood", True)]


def test_a_thousand_moves_a_minute_are_no_flood() -> None:
    bot = Bot()
    table = bot.table()
    table.setup(setup(), Color.BLACK)
    for ply in range(1, 1000, 2):
        bot.client.say(type="move", game=3, ply=ply, move="D4")
        table.played(Turn(ply + 1, Color.WHITE, "D5", 1, 1, 0, True))
    assert bot.client.close_code is None


def test_two_venues_are_told_apart_by_the_game() -> None:
    bot = Bot("9x9", "13x13", slots=2)
    seats = bot.desk.server.seats
    seats["9x9"].told, seats["13x13"].told = nine, thirteen = [], []
    bot.table(3, "9x9").setup(setup(3), Color.BLACK)
    bot.table(4, "13x13").setup(setup(4, venue="13x13"), Color.BLACK)
    bot.client.say(type="move", game=4, ply=1, move="D4")
    bot.table(4, "13x13").game_over(OVER)
    bot.client.say(type="seen", game=4)
    bot.client.say(type="seen", game=99)
    bot.client.say(type="limits", limits={"avoid": ["bert"]})
    bot.client.say(type="pause")
    both = [("seen", 99), ("limit", Limits(None, frozenset({"bert"}))), ("available", "paused")]
    assert nine == both
    assert thirteen == [("move", 4, 1, "D4", None), ("seen", 4), *both]


def test_words_to_people() -> None:
    bot = Bot()
    bot.session().info("Hello.")
    assert bot.client.listen() == [{"type": "info", "text": "Hello.", "venue": "9x9"}]


# -- resume


@pytest.mark.parametrize(("known", "from_ply"), [(None, 0), (0, 0), (3, 3), (5, 5), (9, 5)])
def test_what_the_client_knows_is_left_out_once(known: int | None, from_ply: int) -> None:
    desk = WsDesk()
    client = desk.connect()
    games = [] if known is None else [{"game": 3, "ply": known}]
    client.say(**SIGN_IN | {"games": games})
    desk.server.admit()
    table = desk.server.sessions["9x9"].table(3)
    client.listen()
    table.setup(setup(plies=5), Color.WHITE)
    table.setup(setup(plies=5), Color.WHITE)
    first, second = client.listen()
    assert first["from_ply"] == from_ply
    assert first["moves"] == [list(move) for move in moves(5)[from_ply:]]
    assert second["from_ply"] == 0
    assert len(second["moves"]) == 5


def test_sync_asks_every_venue_and_the_answer_leaves_out_what_is_known() -> None:
    bot = Bot("9x9", "13x13")
    bot.client.say(type="sync", games=[{"game": 3, "ply": 2}, {"game": 99, "ply": 1}])
    asked = ("sync", (Known(3, 2), Known(99, 1)))
    assert bot.told == [asked, asked]
    bot.table().setup(setup(plies=5), Color.BLACK)
    bot.table().genmove(Color.BLACK, 1, 1)
    bot.session("13x13").unknown([3, 99])
    game, turn = bot.client.listen()
    assert (game["from_ply"], len(game["moves"]), turn["ply"]) == (2, 3, 6)
    bot.session("9x9").unknown([99])
    (said,) = bot.client.listen()
    assert (said["code"], said["game"]) == ("no-game", 99)


def test_an_ended_game_is_told_whole() -> None:
    bot = Bot()
    bot.client.say(type="sync", games=[{"game": 8, "ply": 4}])
    table = bot.table(8)
    table.setup(setup(8, plies=5), Color.BLACK)
    table.game_over(OVER)
    assert [said["type"] for said in bot.client.listen()] == ["game", "over"]
    bot.client.say(type="seen", game=8)
    assert bot.told[-1] == ("seen", 8)


# -- going home


def test_pause_ready_drain_and_goodbye() -> None:
    bot = Bot("9x9", "13x13")
    for kind in ("pause", "ready", "drain"):
        bot.client.say(type=kind)
    assert [told[1] for told in bot.told] == ["paused", "paused", "ready", "ready", "draining", "draining"]
    bot.session("13x13").refused("drained", "Goodbye.")
    assert bot.client.listen() == [{"type": "drained"}]
    assert bot.client.close_code == 1000
    assert not bot.session("9x9").alive


def test_a_dismissed_bot_is_told_why() -> None:
    bot = Bot()
    bot.session().refused("dismissed", "The operator says goodbye.")
    (said,) = bot.client.listen()
    assert (said["code"], said["fatal"]) == ("dismissed", True)
    assert bot.client.close_code == 1008


async def test_who_answers_a_ping_is_there() -> None:
    bot = Bot()
    bot.desk.time.advance(20 * S)
    answer = asyncio.create_task(bot.session().answers("Another sign-in."))
    await asyncio.sleep(0)
    assert [said["type"] for said in (*bot.client.listen(), *bot.client.listen())] == ["info", "latency"]
    assert await answer


async def test_who_does_not_answer_a_ping_is_not_there() -> None:
    bot = Bot()
    answer = asyncio.create_task(bot.session().answers("Another sign-in."))
    await asyncio.sleep(0)
    bot.desk.time.advance(6 * S)
    assert not await answer


# -- watching


def test_watching_a_venue() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(type="watch_venue", venue="9x9")
    hall = desk.halls["9x9"]
    (spectator,) = hall.spectators
    spectator.listed([ListedGame(1, 1.5, 9, 15, "anna", "1800", "bert", "1700?", "B+0.5")], 3)
    spectator.facts([BotArrived("9x9", "cora"), GameEnded("9x9", 2, "Draw", "score", 2.0)])
    picture, arrived, ended = client.listen()
    assert picture == {
        "type": "picture", "venue": "9x9", "missed": 3,
        "games": [{"game": 1, "started_at": 1.5, "size": 9, "komi": 7.5, "black": {"name": "anna", "rating": "1800"},
                   "white": {"name": "bert", "rating": "1700?"}, "result": "B+0.5"}],
    }  # fmt: skip
    assert arrived == {"type": "fact", "fact": {"fact": "BotArrived", "venue": "9x9", "version": "cora"}}
    assert ended["fact"]["result"] == "Draw"
    client.say(type="unwatch", venue="9x9")
    client.transport.lose()
    assert hall.told == [("enter", True), ("ignore", None), ("leave",)]


def test_watching_a_game() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(type="watch_game", venue="9x9", game=3, ply=2)
    client.say(type="watch_game", venue="9x9", game=4)
    hall = desk.halls["9x9"]
    (spectator,) = hall.spectators
    spectator.listed([], 0)
    spectator.shown(3, ShownGame(setup(plies=4), 1.5, None), 2)
    spectator.moved(3, [Turn(5, Color.BLACK, "J9", 100, 0, 0, True)])
    spectator.ended(3, OVER)
    spectator.shown(4, None, 0)
    spectator.shown(5, ShownGame(setup(5, plies=4), 1.5, OVER), 9)
    shown, moved, ended, unknown, archived = client.listen()
    assert (shown["type"], shown["from_ply"], shown["moves"]) == ("shown", 2, [list(move) for move in moves(4)[2:]])
    assert moved["fact"] == {"fact": "MovePlayed", "venue": "9x9", "game": 3, "ply": 5, "move": "J9", "left_ms": 100}
    assert (ended["fact"]["fact"], ended["fact"]["result"]) == ("GameEnded", "B+2.5")
    assert (unknown["code"], unknown["game"]) == ("no-game", 4)
    assert (archived["from_ply"], archived["result"], archived["reason"]) == (4, "B+2.5", "score")
    assert hall.told == [("enter", False), ("observe", 3, 2), ("observe", 4, 0)]


def test_watching_is_bounded_and_ended_games_make_room() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    for game in range(WATCHED_MAX):
        client.say(type="watch_game", venue=("9x9", "13x13")[game % 2], game=game)
    client.say(type="watch_game", venue="9x9", game=1000)
    assert errors(client) == [("too-many", False)]
    client.say(type="watch_game", venue="9x9", game=0)
    client.say(type="unwatch", venue="9x9", game=2)
    client.say(type="watch_game", venue="9x9", game=1000)
    desk.halls["9x9"].spectators[0].ended(1000, OVER)
    client.say(type="watch_game", venue="9x9", game=1001)
    assert [said["type"] for said in client.listen()] == ["fact"]


def test_a_gallery_that_has_no_room() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    desk.halls["9x9"].refusal = "There is no room."
    client.say(type="watch_game", venue="9x9", game=1)
    (said,) = client.listen()
    assert (said["code"], said["text"], said["game"]) == ("too-many", "There is no room.", 1)


def test_watching_what_is_not_there() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    for kind in ({"type": "watch_venue"}, {"type": "watch_game", "game": 1}, {"type": "unwatch"}):
        client.say(**kind, venue="7x7\x1b")
        assert errors(client) == [("no-venue", False)]
    client.say(type="unwatch", venue="9x9", game=5)
    assert client.listen() == []


def test_a_bot_may_watch_as_well() -> None:
    bot = Bot()
    bot.client.say(type="watch_game", venue="13x13", game=9)
    assert bot.desk.halls["13x13"].told == [("enter", False), ("observe", 9, 0)]
    bot.client.transport.lose()
    assert bot.desk.halls["13x13"].told[-1] == ("leave",)
    assert bot.told == [("left", False)]


def test_nothing_is_said_on_a_lost_connection() -> None:
    bot = Bot()
    table, session = bot.table(), bot.session()
    bot.client.say(type="watch_venue", venue="9x9")
    (spectator,) = bot.desk.halls["9x9"].spectators
    bot.client.transport.lose()
    written = bytes(bot.client.transport.written)
    table.setup(setup(), Color.BLACK)
    table.genmove(Color.BLACK, 1, 1)
    table.played(Turn(1, Color.WHITE, "D4", 1, 1, 0, True))
    table.game_over(OVER)
    table.hurry()
    session.info("x")
    session.refused("x", "x")
    session.unknown([1])
    spectator.listed([], 0)
    spectator.facts([MovePlayed("9x9", 1, 1, "D4", 1)])
    assert not spectator.has_room
    assert not session.alive
    assert bytes(bot.client.transport.written) == written


# -- the way to the client


def test_the_round_trip_is_told_at_first_and_when_it_has_changed_by_a_quarter() -> None:
    way = RoundTrip()
    assert way.sample(10_000) == 10.0
    assert [way.sample(11_000) for _ in range(20)] == [None] * 20
    told = [way.sample(20_000) for _ in range(20)]
    assert next(value for value in told if value is not None) == pytest.approx(13.2, abs=0.2)


# -- anything at all

VENUES = st.sampled_from(["9x9", "13x13", "7x7", ""])
NUMBERS = st.integers(0, 4)
MESSAGES = st.one_of(
    st.just(SIGN_IN),
    st.builds(lambda venues, slots: SIGN_IN | {"venues": venues, "slots": slots},
              st.lists(st.sampled_from(["9x9", "13x13"]), min_size=1, max_size=2), st.integers(1, 3)),
    st.builds(lambda game, ply, move: {"type": "move", "game": game, "ply": ply, "move": move}, NUMBERS, NUMBERS,
              st.sampled_from(["D4", "pass", "", "\u2028", "resign"])),
    st.builds(lambda game: {"type": "seen", "game": game}, NUMBERS),
    st.builds(lambda games: {"type": "sync", "games": [{"game": game, "ply": game} for game in games]},
              st.lists(NUMBERS, max_size=3)),
    st.sampled_from(["ready", "pause", "drain", "bogus"]).map(lambda kind: {"type": kind}),
    st.builds(lambda n: {"type": "limits", "limits": {"games_a_day": n}}, st.integers(0, 2)),
    st.builds(lambda venue: {"type": "watch_venue", "venue": venue}, VENUES),
    st.builds(lambda venue, game: {"type": "watch_game", "venue": venue, "game": game}, VENUES, NUMBERS),
    st.builds(lambda venue, game: {"type": "unwatch", "venue": venue, "game": game}, VENUES, st.none() | NUMBERS),
    st.sampled_from(["admit", "refuse", "setup", "genmove", "played", "over", "drained", "unknown", "lose", "wait"]),
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
        desk.server.told.clear()
        sessions = list(desk.server.sessions.values())
        if isinstance(step, dict):
            client.say(**step)
            said = [message for message in client.listen() if message["type"] != "latency"]
            found = [message for message in said if message["type"] == "error"]
            assert len(said) == len(found) <= 1
            code = found[0]["code"] if found else None
            kind = step["type"]
            if stage == "closed":
                assert not said
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
                heard = [told for told in desk.server.told if told[0] == "move"]
                if step["game"] not in games:
                    assert (code, heard) == ("no-game", [])
                elif not step["move"].strip():
                    assert (code, heard) == ("invalid", [])
                else:
                    assert code is None
                    assert len(heard) == 1
            else:
                assert code is None
                assert desk.server.told
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
            if step == "setup":
                table.setup(setup(2), Color.BLACK)
            elif step == "genmove":
                table.genmove(Color.BLACK, 1, 1)
            elif step == "played":
                table.played(Turn(2, Color.WHITE, "D4", 1, 1, 0, True))
            elif step == "over":
                table.game_over(OVER)
                games.discard(2)
            elif step == "drained":
                for each in sessions:
                    each.refused("drained", "Goodbye.")
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
