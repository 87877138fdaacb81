"""The library as programs use it, against a strict server on the loopback."""

from __future__ import annotations

import asyncio
import logging
import random

import pytest
from support.clients.v2_model import Model, ModelGame
from support.clients.v2_server import V2Server
from websockets.asyncio.server import serve

from cgos_client import (
    Analysis,
    BadSetting,
    CannotConnect,
    CgosClientError,
    ConnectionLost,
    MoveRefused,
    ServerFault,
    SessionClosed,
    SignInRefused,
    WatchRefused,
    connect,
)
from cgos_client.retry import Pauses
from cgos_protocol.facts import GameEnded, GameStarted
from cgos_protocol.openings import Opening
from cgos_protocol.v2 import messages as ws

SECONDS = 30
WELCOME = '{"type":"welcome","server":"s","software":"","protocol":2,"at":0,"venues":[],"more":1}'


def quick() -> Pauses:
    return Pauses(random.Random(1), first=0.02, longest=0.1)


def first_legal(position, skip: int = 0) -> str:
    board = position.board()
    points = [p for p in board.empties() if not board.is_eye(board.to_play, p) and board.copy().play(p) is None]
    return board.write(points[skip % len(points)]) if points and len(position.moves) < 40 else "pass"


def house(game: ModelGame) -> str:
    board = game.referee.position
    points = [p for p in board.empties() if not board.is_eye(board.to_play, p) and board.copy().play(p) is None]
    return board.write(points[-1]) if points and len(game.moves) < 40 else "pass"


async def until(condition) -> None:
    """Wait for what happens elsewhere, and may pass within a millisecond: that a session is cut."""
    while not condition():  # noqa: ASYNC110 - it may happen in the library, on the server or in the model
        await asyncio.sleep(0)


def as_bot(server: V2Server, **more):
    return connect(server.url, **{"bot": "Bot", "secret": "sesame", "venues": ["5x5"], "pauses": quick(), **more})


async def play(game, choose=first_legal):
    async for turn in game.turns():
        await game.move(choose(turn.position))


@pytest.mark.parametrize("encoding", ["json", "msgpack"])
async def test_a_bot_plays_a_game_and_drains(encoding):
    model = Model(opponent=house)
    async with (
        asyncio.timeout(SECONDS),
        V2Server(model) as server,
        as_bot(server, encoding=encoding, engine="mine 1") as session,
    ):
        assert (session.name, session.venues) == ("Bot", ("5x5",))
        assert session.connected
        async for game in session.games():
            assert (game.number, game.venue, game.color, game.rated) == (1, "5x5", "black", True)
            assert game.why == "they are near each other"
            assert game.opponent == ws.Player("House", "1700")
            assert game.rules.size == 5
            assert game.time.main_ms == 60_000
            async for turn in game.turns():
                assert turn.position.to_play == "black"
                assert turn.ply == len(turn.position.moves) + 1
                assert turn.left_ms == 60_000
                assert await game.move(first_legal(turn.position), analysis={"winrate": 0.5, "custom": {"a": 1}})
            assert game.result is not None
            assert game.position.moves == tuple(model.games[1].texts)
            assert game.result.rating == (1800.0, 1812.5)
            assert await game.ended() == game.result
            assert not await game.move("A1"), "too late"
            await session.drain()
    assert model.seen_games == [1]
    assert server.subprotocols == ["cgos.v2" if encoding == "json" else "cgos.v2.msgpack"]
    assert model.games[1].analyses[1] == ws.Analysis(winrate=0.5, custom={"a": 1})
    assert model.sign_ins[0].engine == "mine 1"
    assert model.sign_ins[0].client.startswith("cgos-client ")


@pytest.mark.parametrize("moves", [("C3", "B2"), ("C3", "B2", "D4")])
async def test_a_bot_plays_on_from_an_opening(moves):
    model = Model(opponent=house, games=2, opening=Opening("two or three", moves))
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        firsts = []
        async for game in session.games():
            assert game.opening == "two or three"
            assert game.position.moves[: len(moves)] == moves
            async for turn in game.turns():
                firsts += [turn.ply] if turn.ply <= len(moves) + 2 else []
                assert turn.left_ms == 60_000
                await game.move(first_legal(turn.position))
            assert game.position.moves == tuple(model.games[game.number].texts)
            if game.number == 2:
                await session.drain()
    assert firsts == sorted({len(moves) + 1, len(moves) + 2}, key=lambda ply: (ply % 2 == 0, ply))


async def test_slots_play_at_once():
    model = Model(venues={"5x5": 5, "4x4": 4}, opponent=house, games=8)
    most, ended = 0, []
    async with (
        asyncio.timeout(SECONDS),
        V2Server(model) as server,
        as_bot(server, venues=["5x5", "4x4"], slots=4) as session,
    ):

        async def play_one(game):
            nonlocal most
            async for turn in game.turns():
                most = max(most, len(session.playing))
                await asyncio.sleep(0)
                await game.move(first_legal(turn.position))
            ended.append(game.number)
            if len(ended) == 8:
                await session.drain()

        await session.play(play_one)
    assert most == 4
    assert sorted(model.seen_games) == list(range(1, 9))


async def test_cuts_change_nothing():
    """The server cuts each connection after some messages; the bot is deterministic."""
    records = []
    for limits in (random.Random(5), None):
        model = Model(opponent=house, games=2)
        cut_after = (lambda limits=limits: limits.randrange(2, 9)) if limits else (lambda: None)
        async with asyncio.timeout(SECONDS), V2Server(model, cut_after=cut_after) as server, as_bot(server) as session:
            async for game in session.games():
                await play(game)
                if game.number == 2:
                    await session.drain()
        records.append([game.texts for game in model.games.values()])
        assert server.opened > 5 if limits else server.opened == 1
    assert records[0] == records[1]


async def test_a_game_goes_on_while_the_bot_thinks_through_a_cut():
    """The answer that was chosen while away is sent when the server asks again, and the bot is asked once."""
    model = Model(opponent=house)
    turns = []
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        game = await anext(session.games())
        async for turn in game.turns():
            turns.append(turn.ply)
            if turn.ply == 3:
                server.cut()
                await until(lambda: not session.connected)
                assert await game.move(first_legal(turn.position))
                assert await game.move(first_legal(turn.position)), "the same again is harmless"
                continue
            await game.move(first_legal(turn.position))
    assert server.opened == 2
    assert turns == sorted(set(turns))


async def test_another_move_at_the_same_turn_is_refused():
    model = Model(opponent=house)
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        game = await anext(session.games())
        with pytest.raises(MoveRefused, match="nobody asked"):
            await game.move("A1")
        async for _ in game.turns():
            with pytest.raises(MoveRefused, match="'Z9' is no move on this board"):
                await game.move("Z9")
            server.cut()
            await until(lambda: not session.connected)
            await game.move("C3")
            with pytest.raises(MoveRefused, match="C3 was chosen at move 1 already, not D4") as caught:
                await game.move("D4")
            assert caught.value.code == "second-move"
            break
        async for _ in game.turns():
            await game.resign()
    assert model.games[1].texts[0] == "C3"
    assert model.games[1].over.reason == "resignation"


async def test_a_turn_that_is_left_unanswered_is_said(caplog):
    model = Model(opponent=house)
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        game = await anext(session.games())
        turns = game.turns()
        turn = await anext(turns)
        waiting = asyncio.ensure_future(anext(turns))
        await asyncio.sleep(0)
        assert "the turn at move 1 has no answer yet" in caplog.text
        await game.move("resign")
        with pytest.raises(StopAsyncIteration):
            await waiting
        assert turn.ply == 1


async def test_refusals_are_typed_and_come_out_of_connect():
    model = Model({"Bot": "other"})
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        with pytest.raises(SignInRefused, match="password doesn't match") as caught:
            async with as_bot(server):
                pass
    assert isinstance(caught.value, CgosClientError)
    assert (caught.value.code, caught.value.fatal, caught.value.retry_after) == ("wrong-password", True, None)


async def test_a_refusal_that_passes_is_waited_out_for_as_long_as_it_says(caplog):
    model = Model()
    model.refuse = [
        ws.Error(code="too-many", text="Later.", fatal=True, retry_after_s=0.3),
        ws.Error(code="waits-approval", text="Wait.", fatal=True),
    ]
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        began = loop.time()
        async with as_bot(server) as session:
            assert loop.time() - began >= 0.3
            assert session.connected
    assert server.opened == 3
    assert "Bot: Later.; trying again in 0.3" in caplog.text


async def test_a_refusal_after_a_reconnection_ends_the_session_after_some_tries(monkeypatch):
    monkeypatch.setattr("cgos_client.retry.Pauses", lambda *_, **__: quick())
    model = Model()
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        model.secrets["Bot"] = "changed"
        server.cut()
        with pytest.raises(SignInRefused):
            await anext(session.games())
        with pytest.raises(SignInRefused):
            await session.play(play)
    assert server.opened == 1 + 5


async def test_a_session_that_ends_ends_its_games():
    model = Model(opponent=house)
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        async with as_bot(server) as session:
            game = await anext(session.games())
        with pytest.raises(SessionClosed):
            await game.changed()
        with pytest.raises(SessionClosed):
            [turn async for turn in game.turns()]
        with pytest.raises(SessionClosed):
            await game.ended()


async def test_without_reconnection_the_first_end_is_the_last():
    model = Model()
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server, reconnect=False) as session:
        server.cut()
        with pytest.raises(ConnectionLost):
            await anext(session.games())


async def test_an_unreachable_server_is_waited_for(unused_tcp_port, caplog):
    with pytest.raises(CannotConnect, match="cannot be reached"):
        async with connect(f"ws://127.0.0.1:{unused_tcp_port}", reconnect=False):
            pass
    async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as tasks:

        async def bot():
            async with connect(f"ws://127.0.0.1:{unused_tcp_port}", pauses=quick()) as session:
                return session.welcome.server

        waiting = tasks.create_task(bot())
        await until(lambda: "cannot be reached" in caplog.text)
        async with serve(lambda c: c.send(WELCOME), "127.0.0.1", unused_tcp_port, subprotocols=["cgos.v2"]):
            assert await waiting == "s"


async def test_leaving_sends_what_was_said_last():
    model = Model(opponent=house)
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        async with as_bot(server) as session:
            game = await anext(session.games())
            async for _ in game.turns():
                await game.resign()
                break
        await until(lambda: model.games[1].over)


async def test_an_error_of_the_program_comes_out_as_it_is():
    async with asyncio.timeout(SECONDS), V2Server(Model()) as server:
        with pytest.raises(ZeroDivisionError):
            async with as_bot(server):
                raise ZeroDivisionError


async def test_leaving_does_not_wait_for_a_server_that_hangs(monkeypatch):
    """The peer answers nothing any more, not even the closing."""
    monkeypatch.setattr("cgos_client.library.session.LEAVING_SECONDS", 0.2)
    monkeypatch.setattr("cgos_client.library.link.CLOSE_SECONDS", 0.2)
    stopped = asyncio.Event()

    async def deaf(reader, writer):
        await stopped.wait()
        writer.close()

    server = await asyncio.start_server(deaf, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with asyncio.timeout(SECONDS):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2), connect(f"ws://127.0.0.1:{port}"):
                pass
    stopped.set()
    server.close()
    await server.wait_closed()


async def test_a_server_that_does_not_greet(monkeypatch):
    monkeypatch.setattr("cgos_client.library.connection_keeper.GREETING_SECONDS", 0.1)
    async with (
        asyncio.timeout(SECONDS),
        serve(lambda c: c.wait_closed(), "127.0.0.1", 0, subprotocols=["cgos.v2"]) as server,
    ):
        port = next(iter(server.sockets)).getsockname()[1]
        with pytest.raises(ConnectionLost, match="did not greet within"):
            async with connect(f"ws://127.0.0.1:{port}", reconnect=False):
                pass


async def test_a_server_that_does_not_answer_the_sign_in(monkeypatch):
    monkeypatch.setattr("cgos_client.library.connection_keeper.SIGN_IN_SECONDS", 0.1)
    monkeypatch.setattr("support.clients.v2_model.Link._sign_in", lambda *_: None)
    async with asyncio.timeout(SECONDS), V2Server(Model()) as server:
        with pytest.raises(ConnectionLost, match="did not answer the sign-in within"):
            async with as_bot(server, reconnect=False):
                pass


@pytest.mark.parametrize(
    ("line", "words"),
    [("nonsense", "cannot be read"), ('{"type":"welcome"}', "cannot be read"), (b"\x81", "binary frame")],
)
async def test_a_server_that_speaks_nonsense(line, words):
    async with (
        asyncio.timeout(SECONDS),
        serve(lambda c: c.send(line), "127.0.0.1", 0, subprotocols=["cgos.v2"]) as server,
    ):
        port = next(iter(server.sockets)).getsockname()[1]
        with pytest.raises(ServerFault, match=words):
            async with connect(f"ws://127.0.0.1:{port}", reconnect=False):
                pass


async def test_messages_of_a_newer_server_are_passed_over():
    async def newer(connection):
        await connection.send('{"type":"weather","sky":"blue"}')
        await connection.send(WELCOME)
        await connection.wait_closed()

    async with asyncio.timeout(SECONDS), serve(newer, "127.0.0.1", 0, subprotocols=["cgos.v2"]) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}", reconnect=False) as session:
            assert session.welcome.server == "s"


async def test_a_port_of_another_kind(fake_server):
    async def lines(peer):
        await peer.say("protocol genmove_analyze")

    async with asyncio.timeout(SECONDS), fake_server(lines) as server:
        with pytest.raises(CannotConnect, match="does not speak WebSocket"):
            async with connect(f"ws://127.0.0.1:{server.port}", reconnect=False):
                pass
    async with asyncio.timeout(SECONDS), serve(lambda c: c.wait_closed(), "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with pytest.raises(CannotConnect, match="does not speak cgos\\.v2"):
            async with connect(f"ws://127.0.0.1:{port}", reconnect=False):
                pass


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"url": "localhost:6868"}, "is not one of a WebSocket"),
        ({"url": "http://localhost"}, "choose tcp://"),
        ({"url": "ws://me:secret@here"}, "holds a name or password"),
        ({"bot": "x"}, "A name has at least 3 characters"),
        ({"secret": ""}, "needs its secret"),
        ({"secret": "two words"}, "without blanks"),
        ({"venues": []}, "at least one venue"),
        ({"venues": ["a", "a"]}, "each once"),
        ({"slots": 0}, "slots are 1 to 256"),
        ({"predecessor": ws.Predecessor(version="Bot-1", sd=0.5)}, "is 1 to 1000 Elo, not 0.5"),
        ({"hours": "6-6"}, "begin and end at once"),
        ({"encoding": "xml"}, "json or msgpack"),
    ],
)
def test_arguments_that_cannot_be_used(arguments, words):
    usual = {"url": "ws://localhost:6868", "bot": "Bot", "secret": "sesame", "venues": ["9x9"]}
    with pytest.raises(BadSetting, match=words):
        connect(**usual | arguments)


async def test_wishes_reach_the_server():
    model = Model(opponent=house, games=1)
    async with (
        asyncio.timeout(SECONDS),
        V2Server(model) as server,
        as_bot(server, games_a_day=9, avoid=["Twin"], accepts=["Them"], hours="22-6", predecessor="Bot-1") as session,
    ):
        await session.pause()
        await session.ready()
        with pytest.raises(BadSetting, match="are no hours"):
            await session.limits(hours="whenever")
        await session.limits(games_a_day=3, accepts=["*"])
        await play(await anext(session.games()))
        await session.drain()
        assert [game async for game in session.games()] == []
    kinds = [type(message).__name__ for message in server.heard if not isinstance(message, ws.Move | ws.Seen)]
    assert kinds == ["SignIn", "Pause", "Ready", "SetLimits", "Drain"]
    assert model.sign_ins[0].limits == ws.OwnerLimits(games_a_day=9, avoid=["Twin"], accepts=["Them"], hours="22-6")
    assert ws.SetLimits(ws.OwnerLimits(games_a_day=3, accepts=["*"])) in server.heard
    assert model.sign_ins[0].predecessor == ws.Predecessor(version="Bot-1")


async def test_analysis_that_does_not_fit_is_left_out(caplog):
    model = Model(opponent=house)
    analyses = [
        Analysis(winrate=0.25),
        '{"visits": 7}',
        "nonsense",
        {"winrate": 7},
        {"comment": "x" * 70_000},
        {"a": object()},
    ]
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server) as session:
        game = await anext(session.games())
        async for turn in game.turns():
            analysis = analyses.pop(0) if analyses else None
            assert await game.move(first_legal(turn.position), analysis)
    assert model.games[1].analyses == {1: ws.Analysis(winrate=0.25), 3: ws.Analysis(visits=7)}
    assert caplog.text.count("is left out") == 4


# -- watching


async def test_a_watcher_sees_a_game_from_its_start_to_its_end():
    model = Model(opponent=house)
    async with asyncio.timeout(SECONDS), V2Server(model) as server, asyncio.TaskGroup() as tasks:

        async def look():
            async with connect(server.url, pauses=quick()) as session:
                events = []
                async for event in session.watch("5x5"):
                    events.append(event)
                    if isinstance(event, GameEnded):
                        break
                views = [view async for view in session.watch_game("5x5", 1)]
                return events, views

        looking = tasks.create_task(look())
        await until(lambda: model.watchers)
        async with as_bot(server) as session:
            await play(await anext(session.games()))
        events, views = await looking
    assert isinstance(events[0], ws.Picture)
    assert isinstance(events[-1], GameEnded)
    assert views[-1].position.moves == tuple(model.games[1].texts)
    assert views[-1].result == model.games[1].over.result


async def test_a_watched_game_over_cuts():
    model = Model(opponent=house)
    async with (
        asyncio.timeout(SECONDS),
        V2Server(model) as server,
        as_bot(server) as session,
        connect(server.url, pauses=quick()) as watcher,
        asyncio.TaskGroup() as on,
    ):
        game = await anext(session.games())

        async def look():
            return [len(view.position.moves) async for view in watcher.watch_game("5x5", 1)]

        looking = on.create_task(look())
        async for turn in game.turns():
            if turn.ply in (5, 11):
                server.cut()
                await until(lambda: session.connected)
            await game.move(first_legal(turn.position))
        lengths = await looking
    assert lengths == sorted(lengths)
    assert lengths[-1] == len(model.games[1].moves)


async def test_a_venue_or_game_that_is_not_there():
    async with asyncio.timeout(SECONDS), V2Server(Model()) as server, connect(server.url) as session:
        with pytest.raises(WatchRefused, match="no venue '7x7'; it has 5x5"):
            await anext(session.watch("7x7"))
        with pytest.raises(WatchRefused, match="no such game"):
            await anext(session.watch_game("5x5", 99))


async def test_a_watcher_that_looks_seldom_gets_a_fresh_picture(monkeypatch):
    monkeypatch.setattr("cgos_client.library.watching.QUEUE", 5)
    model, ended = Model(opponent=house, games=20), []
    async with (
        asyncio.timeout(SECONDS),
        V2Server(model) as server,
        connect(server.url) as watcher,
        as_bot(server, slots=2) as session,
    ):
        events = watcher.watch("5x5")
        first = await anext(events)
        assert isinstance(first, ws.Picture)

        async def play_one(game):
            await play(game)
            ended.append(game.number)
            if len(ended) == 20:
                await session.drain()

        await session.play(play_one)
        async for event in events:
            if isinstance(event, ws.Picture):
                break
            assert isinstance(event, GameStarted | GameEnded)
        assert len(event.games) == 20


def test_the_secret_is_in_no_log(caplog):
    caplog.set_level(logging.DEBUG)

    async def run():
        async with asyncio.timeout(SECONDS), V2Server(Model()) as server, as_bot(server):
            pass

    asyncio.run(run())
    assert "sign-in as Bot" in caplog.text
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("cgos_client")]
    assert ours
    assert not [line for line in ours if "sesame" in line]
