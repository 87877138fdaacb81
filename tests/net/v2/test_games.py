"""Games in the dialogue of cgos.v2: played, resumed, watched."""

from __future__ import annotations

import pytest
from support.net.websocket import SIGN_IN, S, WsDesk
from support.net.ws_bot import OVER, Bot, errors, moves, setup

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.facts import BotArrived, GameEnded, MovePlayed
from cgos_protocol.games.base import Color, Ko, Ruleset
from cgos_protocol.session import Fault, Known, Limits, ListedGame, ShownGame, Turn
from cgos_protocol.terms import Terms
from cgos_protocol.v2.session import WATCHED_MAX

# -- a game


@pytest.mark.parametrize("subprotocol", ["cgos.v2", "cgos.v2.msgpack"])
def test_a_game(subprotocol: str) -> None:
    bot = Bot(subprotocol=subprotocol)
    table, client = bot.table(), bot.client
    control = TimeControl(system=TimeSystem.FISCHER, main=60 * S, increment=2 * S)
    terms = Terms(
        rules=Ruleset(size=13, komi2=15, ko=Ko.SITUATIONAL, suicide=True),
        time=control,
        move_limit=500,
        first_move_limit=60 * S,
        rated=False,
    )
    table.setup(setup()._replace(terms=terms, why="Both are new."), Color.WHITE)
    (game,) = client.listen()
    assert game == {
        "type": "game", "game": 3, "venue": "9x9", "color": "white",
        "rules": {"game": "go", "size": 13, "komi": 7.5, "ko": "situational", "suicide": True},
        "time": {"system": "fischer", "main_ms": 60_000, "increment_ms": 2000, "lag_ms": 250},
        "black": {"name": "anna", "rating": "1800?"}, "white": {"name": "bert", "rating": "1800?"},
        "from_ply": 0, "moves": [], "black_ms": 60_000, "white_ms": 60_000, "rated": False, "why": "Both are new.",
    }  # fmt: skip
    table.played(
        Turn(ply=1, color=Color.BLACK, move="E5", left_ms=59_000, other_left_ms=60_000, at=1_700_000_000_500, on=True)
    )
    (moved,) = client.listen()
    assert moved == {
        "type": "moved", "game": 3, "ply": 1, "color": "black", "move": "E5", "black_ms": 59_000, "white_ms": 60_000,
        "at": 1_700_000_000.5, "your_turn": True,
    }  # fmt: skip
    client.say(type="move", game=3, ply=2, move="d5", analysis={"winrate": 0.5})
    client.say(type="move", game=3, ply=2, move="d5")
    table.played(Turn(ply=3, color=Color.BLACK, move="PASS", left_ms=58_000, other_left_ms=57_000, at=0, on=False))
    table.game_over(OVER)
    client.say(type="seen", game=3)
    assert [message["type"] for message in client.listen()] == ["moved", "over"]
    assert bot.calls == [("move", 3, 2, "d5", '{"winrate":0.5}'), ("move", 3, 2, "d5", None), ("seen", 3)]


@pytest.mark.parametrize("subprotocol", ["cgos.v2", "cgos.v2.msgpack"])
@pytest.mark.parametrize("color", list(Color))
def test_a_game_that_begins_with_an_opening(subprotocol: str, color: Color) -> None:
    bot = Bot(subprotocol=subprotocol)
    table, client = bot.table(), bot.client
    opening_moves = (("E5", 60_000), ("C3", 60_000), ("G7", 60_000))
    table.setup(setup()._replace(moves=opening_moves, opening="Three stones"), color)
    (game,) = client.listen()
    assert (game["opening"], game["from_ply"]) == ("Three stones", 0)
    assert game["moves"] == [["E5", 60_000], ["C3", 60_000], ["G7", 60_000]]
    assert (game["black_ms"], game["white_ms"]) == (60_000, 60_000)
    if color is Color.WHITE:
        table.genmove(Color.WHITE, 60_000, 60_000)
        (message,) = client.listen()
        assert (message["type"], message["ply"]) == ("turn", 4)
    else:
        table.played(Turn(ply=4, color=Color.WHITE, move="A1", left_ms=59_000, other_left_ms=60_000, at=0, on=True))
        (message,) = client.listen()
        assert (message["type"], message["ply"], message["your_turn"]) == ("moved", 4, True)
    ply = 4 if color is Color.WHITE else 5
    client.say(type="move", game=3, ply=ply, move="D4")
    assert bot.calls == [("move", 3, ply, "D4", None)]


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
    (message,) = bot.client.listen()
    assert (message["code"], message["game"]) == (fault.value, 3)
    assert not message.get("fatal", False)
    if fault is Fault.GAP:
        assert "Ply 9 was sent, and 5 is the next one." in message["text"]


def test_a_move_of_a_game_that_is_not_there() -> None:
    bot = Bot()
    bot.client.say(type="move", game=77, ply=1, move="D4")
    (message,) = bot.client.listen()
    assert (message["code"], message["game"]) == ("no-game", 77)
    assert bot.calls == []


@pytest.mark.parametrize(
    ("sent", "heard"), [("  D4 ", "D4"), ("Q\x0010", "Q?10"), ("räsign", "r??sign"), ("a b", "a"), ("pass", "pass")]
)
def test_a_move_is_one_word_of_plain_text(sent: str, heard: str) -> None:
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.say(type="move", game=3, ply=1, move=sent)
    assert bot.calls == [("move", 3, 1, heard, None)]


@pytest.mark.parametrize("sent", ["", "  ", "\t"])
def test_an_empty_move_loses_no_game(sent: str) -> None:
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.listen()
    bot.client.say(type="move", game=3, ply=1, move=sent)
    assert errors(bot.client) == [("invalid", False)]
    assert bot.calls == []


def test_analysis_that_does_not_fit_is_dropped_and_the_move_counts() -> None:
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.listen()
    bot.client.say(type="move", game=3, ply=1, move="D4", analysis={"custom": "x" * 70_000})
    assert errors(bot.client) == [("analysis", False)]
    assert bot.calls == [("move", 3, 1, "D4", None)]


def test_repetitions_are_harmless_up_to_a_bound() -> None:
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.listen()
    for _ in range(200):
        bot.client.say(type="move", game=3, ply=1, move="D4")
    assert len(bot.calls) == 122  # the move, and what ignored_per_minute allows
    assert errors(bot.client) == [("flood", True)]


def test_a_thousand_moves_a_minute_are_no_flood() -> None:
    bot = Bot()
    table = bot.table()
    table.setup(setup(), Color.BLACK)
    for ply in range(1, 1000, 2):
        bot.client.say(type="move", game=3, ply=ply, move="D4")
        table.played(Turn(ply=ply + 1, color=Color.WHITE, move="D5", left_ms=1, other_left_ms=1, at=0, on=True))
    assert bot.client.close_code is None


def test_two_venues_are_told_apart_by_the_game() -> None:
    bot = Bot("9x9", "13x13", slots=2)
    seats = bot.desk.server.seats
    seats["9x9"].calls, seats["13x13"].calls = nine, thirteen = [], []
    bot.table(3, "9x9").setup(setup(3), Color.BLACK)
    bot.table(4, "13x13").setup(setup(4, venue="13x13"), Color.BLACK)
    bot.client.say(type="move", game=4, ply=1, move="D4")
    bot.table(4, "13x13").game_over(OVER)
    bot.client.say(type="seen", game=4)
    bot.client.say(type="seen", game=99)
    bot.client.say(type="limits", limits={"avoid": ["anna-slow"], "hours": "25-6"})
    assert errors(bot.client) == [("hours", False)]
    bot.client.say(type="limits", limits={"avoid": ["bert"], "accepts": ["Berta"]})
    bot.client.say(type="pause")
    limits = Limits(avoid=frozenset({"bert"}), accepts=frozenset({"Berta"}))
    both = [("seen", 99), ("limit", limits), ("available", "paused")]
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
    sync = ("sync", (Known(3, 2), Known(99, 1)))
    assert bot.calls == [sync, sync]
    bot.table().setup(setup(plies=5), Color.BLACK)
    bot.table().genmove(Color.BLACK, 1, 1)
    bot.session("13x13").unknown([3, 99])
    game, turn = bot.client.listen()
    assert (game["from_ply"], len(game["moves"]), turn["ply"]) == (2, 3, 6)
    bot.session("9x9").unknown([99])
    (message,) = bot.client.listen()
    assert (message["code"], message["game"]) == ("no-game", 99)


def test_an_ended_game_is_told_whole() -> None:
    bot = Bot()
    bot.client.say(type="sync", games=[{"game": 8, "ply": 4}])
    table = bot.table(8)
    table.setup(setup(8, plies=5), Color.BLACK)
    table.game_over(OVER)
    assert [message["type"] for message in bot.client.listen()] == ["game", "over"]
    bot.client.say(type="seen", game=8)
    assert bot.calls[-1] == ("seen", 8)


# -- watching


def test_watching_a_venue() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    client.say(type="watch_venue", venue="9x9")
    hall = desk.halls["9x9"]
    (spectator,) = hall.spectators
    spectator.listed([ListedGame(1, 1.5, 9, 15, "anna", "1800", "bert", "1700?", "B+0.5")], 3)
    spectator.facts([BotArrived("9x9", "cora"), GameEnded(venue="9x9", game=2, result="Draw", reason="score", at=2.0)])
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
    assert hall.calls == [("enter", True), ("ignore", None), ("leave",)]


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
    spectator.moved(3, [Turn(ply=5, color=Color.BLACK, move="J9", left_ms=100, other_left_ms=0, at=0, on=True)])
    spectator.ended(3, OVER)
    spectator.shown(4, None, 0)
    spectator.shown(5, ShownGame(setup(5, plies=4), 1.5, OVER), 9)
    shown, moved, ended, unknown, archived = client.listen()
    assert (shown["type"], shown["from_ply"], shown["moves"]) == ("shown", 2, [list(move) for move in moves(4)[2:]])
    assert moved["fact"] == {"fact": "MovePlayed", "venue": "9x9", "game": 3, "ply": 5, "move": "J9", "left_ms": 100}
    assert (ended["fact"]["fact"], ended["fact"]["result"]) == ("GameEnded", "B+2.5")
    assert (unknown["code"], unknown["game"]) == ("no-game", 4)
    assert (archived["from_ply"], archived["result"], archived["reason"]) == (4, "B+2.5", "score")
    assert hall.calls == [("enter", False), ("observe", 3, 2), ("observe", 4, 0)]


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
    assert [message["type"] for message in client.listen()] == ["fact"]


def test_a_gallery_that_has_no_room() -> None:
    desk = WsDesk()
    client = desk.connect()
    client.listen()
    desk.halls["9x9"].refusal = "There is no room."
    client.say(type="watch_game", venue="9x9", game=1)
    (message,) = client.listen()
    assert (message["code"], message["text"], message["game"]) == ("too-many", "There is no room.", 1)


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
    assert bot.desk.halls["13x13"].calls == [("enter", False), ("observe", 9, 0)]
    bot.client.transport.lose()
    assert bot.desk.halls["13x13"].calls[-1] == ("leave",)
    assert bot.calls == [("left", False)]


def test_nothing_is_said_on_a_lost_connection() -> None:
    bot = Bot()
    table, session = bot.table(), bot.session()
    bot.client.say(type="watch_venue", venue="9x9")
    (spectator,) = bot.desk.halls["9x9"].spectators
    bot.client.transport.lose()
    written = bytes(bot.client.transport.written)
    table.setup(setup(), Color.BLACK)
    table.genmove(Color.BLACK, 1, 1)
    table.played(Turn(ply=1, color=Color.WHITE, move="D4", left_ms=1, other_left_ms=1, at=0, on=True))
    table.game_over(OVER)
    table.hurry()
    session.info("x")
    session.refused("x", "x")
    session.unknown([1])
    spectator.listed([], 0)
    spectator.facts([MovePlayed(venue="9x9", game=1, ply=1, move="D4", left_ms=1)])
    assert not spectator.has_room
    assert not session.alive
    assert bytes(bot.client.transport.written) == written
