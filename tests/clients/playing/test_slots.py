"""Engines on a WebSocket server: whole games, failing engines, slots, leaving."""

from __future__ import annotations

import asyncio
import logging
import random
import signal
from contextlib import asynccontextmanager

import pytest
from support.clients.v2_model import Model, ModelGame
from support.clients.v2_server import V2Server

from cgos_client.bridge.engine import EngineFailure, EngineMove, EngineUnfit
from cgos_client.library.session import connect
from cgos_client.playing import seating
from cgos_client.playing.events import Event, GameOver, GameResult, MoveAsked, MoveMade, Seated
from cgos_client.playing.slots import SlotsRunner
from cgos_client.playing.together import SLOT, WHO, Together
from cgos_client.retry import Pauses
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.openings import Opening
from cgos_protocol.v2 import messages as ws

SECONDS = 30


def quick() -> Pauses:
    return Pauses(random.Random(1), first=0.02, longest=0.1)


def passes(game: ModelGame) -> str:
    return "pass"


def resigns_late(game: ModelGame) -> str:
    """Plays along and gives up at its fourth move."""
    board = game.referee.position
    points = [p for p in board.empties() if board.copy().play(p) is None]
    return "resign" if len(game.moves) >= 6 else board.write(points[-1])


class Slots:
    """A runner against a model server."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.events: list[Event] = []
        self.runner: SlotsRunner | None = None

    @property
    def results(self) -> list[GameResult]:
        return [event for event in self.events if isinstance(event, GameResult)]

    async def run(self, *engines, games=None, leave_within=None, meanwhile=None, **more) -> int:
        async with asyncio.timeout(SECONDS), V2Server(self.model) as self.server, asyncio.TaskGroup() as tasks:

            @asynccontextmanager
            async def opened(engine):
                async with connect(
                    self.server.url,
                    bot="Bot",
                    secret="sesame",
                    venues=list(self.model.venues),
                    slots=len(engines),
                    engine=engine,
                    pauses=quick(),
                    **more,
                ) as self.session:
                    yield self.session

            self.runner = SlotsRunner(connect=opened, engines=engines, tell=self.events.append, games=games)
            running = tasks.create_task(Together([("", self.runner)], leave_within).run())
            if meanwhile is not None:
                await meanwhile(self)
            return await running


async def until(condition) -> None:
    """Wait for what happens elsewhere."""
    while not condition():  # noqa: ASYNC110 - it may happen in the client, on the server or in the model
        await asyncio.sleep(0.01)


async def test_a_whole_game(bench):
    slots = Slots(Model(opponent=resigns_late))
    assert await slots.run(bench.memory("C3", EngineMove("B2", '{"winrate":0.5}'), "D4", "A1"), games=1) == 0
    game = slots.model.games[1]
    assert game.texts == ["C3", "E5", "B2", "D5", "D4", "C5", "A1"]
    assert game.analyses == {3: ws.Analysis(winrate=0.5)}
    assert slots.model.sign_ins[0].engine == "memory"
    (result,) = slots.results
    assert (result.result, result.won, result.color, result.moves) == ("B+Resign", True, "black", 7)
    assert (result.opponent, result.opponent_rating, result.size, result.komi) == ("House", "1700", 5, 7.5)
    assert bench.heard[:4] == ["start", "new 5 15 60000 House 1700", "genmove b", "play w E5"]
    assert bench.heard[-2:] == ["over B+Resign", "close"]


async def test_an_engine_is_told_the_opening_and_plays_on(bench):
    slots = Slots(Model(opponent=resigns_late, opening=Opening("far", ("E5", "A5", "E1"))))
    await slots.run(bench.memory("C3", "B2", "D4", "A1"), games=1)
    assert slots.model.games[1].texts[:3] == ["E5", "A5", "E1"]
    seated = slots.events[0]
    assert seated.setup.opening == "far"
    assert seated.setup.moves[:3] == (("E5", 60_000), ("A5", 60_000), ("E1", 60_000))
    genmove_at = bench.heard.index("genmove b")
    assert bench.heard[genmove_at - 4 : genmove_at - 1] == ["play b E5", "play w A5", "play b E1"]
    assert bench.heard[genmove_at - 1].startswith("play w ")


async def test_what_listeners_are_told(bench):
    slots = Slots(Model(opponent=resigns_late))
    await slots.run(bench.memory("C3", "B2", "D4", "A1"), games=1)
    kinds = [type(event) for event in slots.events]
    assert kinds == [Seated, *[MoveAsked, MoveMade, MoveMade] * 3, MoveAsked, MoveMade, GameOver, GameResult]
    assert [event.move for event in slots.events if isinstance(event, MoveMade)] == slots.model.games[1].texts
    seated = slots.events[0]
    assert seated.time.main == 60_000_000
    assert seated.setup.why == "they are near each other"


async def test_cuts_are_not_the_engines_business(bench):
    slots = Slots(Model(opponent=resigns_late))
    gate = asyncio.Event()

    async def cut(slots):
        await bench.move_requested.wait()
        slots.server.cut()
        await until(lambda: slots.server.opened == 2)
        gate.set()

    assert await slots.run(bench.memory(gate, "C3", "B2", "D4", "A1"), games=1, meanwhile=cut) == 0
    assert [line for line in bench.heard if line.startswith("new")] == ["new 5 15 60000 House 1700"]
    assert slots.model.games[1].texts[::2] == ["C3", "B2", "D4", "A1"]


async def test_moves_taken_back_while_the_engine_thinks(bench):
    """The server was put back by two moves, and goes on differently: what the engine thought is of no use."""
    gate, back = asyncio.Event(), []

    def opponent(game: ModelGame) -> str:
        return "A5" if back and len(game.moves) == 3 else resigns_late(game)

    slots = Slots(Model(opponent=opponent))

    async def crash(slots):
        await until(lambda: len(bench.left_ms) == 3)
        back.append(True)
        slots.model.take_back(slots.model.games[1], 2)
        slots.server.cut()
        await until(lambda: len(slots.model.games[1].moves) == 4)
        await until(lambda: slots.session.playing[0].position.moves[3:] == ("A5",))
        gate.set()

    assert await slots.run(bench.memory("C3", "B2", gate, "D4", "A4", "A1"), games=1, meanwhile=crash) == 0
    assert slots.model.games[1].texts[:5] == ["C3", "E5", "B2", "A5", "A4"], "what was made once is made again alike"
    again = bench.heard.index("new 5 15 60000 House 1700", 2)
    assert bench.heard[again + 1 : again + 5] == ["play b C3", "play w E5", "play b B2", "play w A5"]


async def test_slots_have_engines_of_their_own(bench):
    slots = Slots(Model(venues={"9x9": 9}, opponent=resigns_late, games=6))
    engines = [bench.gtp(), bench.gtp(), bench.gtp()]
    for engine in engines:
        assert engine.label == ""
    heard_by: list[tuple[int, str]] = []
    watch = logging.Handler()
    watch.emit = lambda record: heard_by.append((SLOT.get(), record.getMessage()))  # type: ignore[method-assign]
    gtp = logging.getLogger("cgos_client.gtp")
    gtp.setLevel(logging.DEBUG)
    gtp.addHandler(watch)
    try:
        assert await slots.run(*engines, games=6) == 0
    finally:
        gtp.removeHandler(watch)
        gtp.setLevel(logging.NOTSET)
    begun = [slot for slot, line in heard_by if line == "to engine: clear_board"]
    assert len(begun) == 6, "the log tells the engines apart"
    assert set(begun) <= {1, 2, 3}
    assert sorted(slot for slot, line in heard_by if line == "to engine: list_commands") == [1, 2, 3]
    assert len(slots.results) == 6
    assert bench.commands().count("(start)") == 3
    assert bench.commands().count("quit") == 3


async def test_an_engine_that_fails_resigns_its_game_only(bench):
    slots = Slots(Model(opponent=resigns_late, games=2))
    broken = bench.memory(*[EngineFailure("it broke")] * 3, "C3", "B2", "D4", "A1", "E1")
    assert await slots.run(broken, games=2) == 0
    assert slots.results[0].result == "W+Resign"
    assert len(slots.results) == 2


async def test_an_engine_that_never_moves_ends_the_client_after_three_games(bench, caplog):
    slots = Slots(Model(opponent=resigns_late, games=10))
    assert await slots.run(bench.gtp("--fault", "die", "--times", "100")) == 1
    assert len(slots.results) == 3
    assert "3 games in a row were lost because the engine failed" in caplog.text


async def test_an_engine_that_does_not_start_ends_the_client(bench, caplog):
    slots = Slots(Model())
    engine = bench.gtp("--fault", "start")
    unfit = bench.memory()
    unfit.make = lambda: (_ for _ in ()).throw(EngineUnfit("no engine"))
    assert await slots.run(engine, unfit) == 1
    assert "no engine" in caplog.text
    assert slots.server.opened == 0


async def test_a_refused_sign_in_ends_the_client(bench, caplog):
    slots = Slots(Model({"Bot": "other"}))
    assert await slots.run(bench.memory()) == 1
    assert "password doesn't match" in caplog.text
    assert bench.heard == ["start", "close"]


async def test_first_stop_ends_after_the_games(bench, caplog):
    caplog.set_level(logging.INFO)
    slots = Slots(Model(opponent=resigns_late, games=5))
    gates = asyncio.Event()

    async def stop(slots):
        await until(lambda: len(bench.left_ms) == 2)
        signal.raise_signal(signal.SIGTERM)
        await until(lambda: any(isinstance(message, ws.Drain) for message in slots.server.heard))
        gates.set()

    moves = ["C3", "B2", "D4", "A1"]
    engines = [bench.memory(gates, *moves), bench.memory(gates, *moves)]
    assert await slots.run(*engines, meanwhile=stop) == 0
    assert len(slots.results) == 2
    assert "leaving after game 1, 2; ask again to leave at once" in caplog.text


async def test_second_stop_ends_at_once(bench):
    slots = Slots(Model(opponent=resigns_late))

    async def stop(slots):
        await bench.move_requested.wait()
        slots.runner.stop()
        slots.runner.stop()

    assert await slots.run(bench.memory(asyncio.Event()), meanwhile=stop) == 130
    assert bench.heard[-1] == "close"
    assert slots.model.games[1].over is None


async def test_games_that_take_too_long_are_left(bench, caplog):
    caplog.set_level(logging.INFO)
    slots = Slots(Model(opponent=resigns_late))

    async def stop(slots):
        await bench.move_requested.wait()
        signal.raise_signal(signal.SIGINT)

    assert await slots.run(bench.memory(asyncio.Event()), meanwhile=stop, leave_within=0.1) == 130
    assert "the games that are on took longer than 0.1 s" in caplog.text


async def test_each_bot_says_for_itself_that_it_leaves():
    leaving = []

    class Bot:
        def __init__(self) -> None:
            self.stopped = asyncio.Event()

        async def run(self) -> int:
            await self.stopped.wait()
            return 0

        def stop(self) -> None:
            leaving.append(WHO.get())
            self.stopped.set()

    together = Together([("A", Bot()), ("B", Bot())])
    async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(together.run())
        await asyncio.sleep(0)
        together.stop()
        assert await running == 0
    assert leaving == ["A", "B"]
    assert WHO.get() == ""


async def test_stop_without_a_game_ends_at_once(bench):
    slots = Slots(Model(games=0))

    async def stop(slots):
        await until(lambda: slots.model.links)
        signal.raise_signal(signal.SIGINT)

    assert await slots.run(bench.memory(), meanwhile=stop) == 0


async def test_stop_while_the_server_is_away(bench):
    slots = Slots(Model(opponent=resigns_late))

    async def stop(slots):
        await bench.move_requested.wait()
        slots.model.refuse = [ws.Error(code="busy", text="Later.", fatal=True, retry_after_s=60.0)] * 100
        slots.server.cut()
        await until(lambda: len(slots.model.sign_ins) > 1)
        slots.runner.stop()
        slots.runner.stop()

    assert await slots.run(bench.memory(asyncio.Event()), meanwhile=stop) == 130


async def test_the_flag_falls_while_the_engine_thinks(bench):
    slots = Slots(Model(opponent=resigns_late))

    async def flag(slots):
        await bench.move_requested.wait()
        game = slots.model.games[1]
        game.referee.forfeit(game.referee.to_play, "time")
        slots.model._end(game)

    assert await slots.run(bench.memory(asyncio.Event()), games=1, meanwhile=flag) == 0
    assert [result.won for result in slots.results] == [False]
    assert bench.heard[-3:] == ["settle", "over W+Forfeit", "close"]


async def test_a_game_that_ended_while_away_is_reported_and_not_counted(bench):
    model = Model(opponent=resigns_late, games=0)
    old = model.begin("5x5", "Bot", "House")
    old.referee.forfeit(old.referee.to_play, "time")
    model._end(old)
    model.games_to_give = 1
    slots = Slots(model)
    assert await slots.run(bench.memory("C3", "B2", "D4", "A1"), games=1) == 0
    assert [result.result for result in slots.results] == ["W+Forfeit", "W+Resign"]


async def test_a_rating_that_moved_between_two_games_is_explained(bench, caplog):
    model = Model(opponent=resigns_late, games=3)
    model.ratings = [ws.RatingMove(1609.0, 306.2), ws.RatingMove(1046.8, 1100.0), ws.RatingMove(1100.9, 1120.0)]
    with caplog.at_level(logging.INFO):
        await Slots(model).run(bench.memory(*["C3", "B2", "D4", "A1"] * 3), games=3)
    jumps = [record.getMessage() for record in caplog.records if record.getMessage().startswith("refit")]
    assert jumps == ["refit: 306 → 1047 before the end of game 2"]


async def test_once_means_one_connection(bench, caplog):
    slots = Slots(Model(opponent=resigns_late))

    async def cut(slots):
        await bench.move_requested.wait()
        slots.server.cut()

    assert await slots.run(bench.memory(asyncio.Event()), meanwhile=cut, reconnect=False) == 1
    assert slots.server.opened == 1


async def test_one_bot_that_gives_up_stops_no_other(bench):
    """Two in one process; the exit status is the worse one."""
    good, bad = Model(opponent=resigns_late), Model({"Bot": "other"})
    events: list[Event] = []
    async with asyncio.timeout(SECONDS), V2Server(good) as there, V2Server(bad) as here:

        def runner(server, engine):
            open_session = lambda _: connect(server.url, bot="Bot", secret="sesame", venues=["5x5"])  # noqa: E731
            return SlotsRunner(connect=open_session, engines=[engine], tell=events.append, games=1)

        bots = [("A", runner(there, bench.memory("C3", "B2", "D4", "A1"))), ("B", runner(here, bench.memory()))]
        assert await Together(bots).run() == 1
    assert [event.result for event in events if isinstance(event, GameResult)] == ["B+Resign"]


@pytest.mark.parametrize(
    ("info", "level_ms", "left_ms", "expected"),
    [
        (ws.TimeInfo(system="absolute", main_ms=60_000), 60_000, 5_000, (5_000, 0)),
        (ws.TimeInfo(system="fischer", main_ms=60_000, increment_ms=1_000), 60_000, 61_000, (61_000, 0)),
        (ws.TimeInfo(system="byoyomi", main_ms=60_000, period_ms=5_000, periods=3), 65_000, 64_000, (59_000, 0)),
        (ws.TimeInfo(system="byoyomi", main_ms=60_000, period_ms=5_000, periods=3), 65_000, 5_000, (5_000, 1)),
        (ws.TimeInfo(system="canadian", main_ms=60_000, period_ms=30_000, stones=10), 90_000, 80_000, (50_000, 0)),
        (ws.TimeInfo(system="canadian", main_ms=60_000, period_ms=30_000, stones=10), 90_000, 20_000, (20_000, 10)),
        (ws.TimeInfo(system="fixed", period_ms=2_000), 2_000, 2_000, (2_000, 0)),
        (ws.TimeInfo(system="sundial", main_ms=7_000), 7_000, 2_000, (2_000, 0)),
    ],
)
def test_time_controls(info, level_ms, left_ms, expected):
    assert seating.level_ms(info) == level_ms
    assert seating.clock_for_engine(info, left_ms) == expected


def test_a_time_control_as_engines_know_it():
    info = ws.TimeInfo(system="fischer", main_ms=60_000, increment_ms=1_000, lag_ms=250)
    control = TimeControl(system=TimeSystem.FISCHER, main=60_000_000, increment=1_000_000, lag=250_000)
    assert seating.time_control(info) == control
    assert seating.time_control(ws.TimeInfo(system="sundial", main_ms=1)) is None
