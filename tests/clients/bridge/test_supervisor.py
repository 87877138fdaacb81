"""An engine that is interrupted while it starts or replays is never taken for one that is ready."""

from __future__ import annotations

import asyncio

import pytest

from cgos_client.bridge.engine import EngineFailure, EngineMove, NewGame
from cgos_client.bridge.restarts import Restarts
from cgos_client.bridge.supervisor import EngineGone, SupervisedEngine
from cgos_protocol.games.base import Color

GAME = NewGame(9, 14, 60_000)


class Engine:
    """Takes a while to start the second time, and writes down its life."""

    label, analyses = "engine", False

    def __init__(self, life, gate, faults):
        self.life, self.gate, self.faults = life, gate, faults

    async def start(self):
        self.life.append("start")
        if self.life.count("start") > 1:
            await self.gate.wait()
        self.life.append("started")

    async def new_game(self, game):
        self.life.append("new")

    async def play(self, color, move):
        self.life.append(f"play {move}")

    async def genmove(self, color, left_ms, stones_left=0):
        if self.faults:
            raise EngineFailure(self.faults.pop())
        self.life.append("genmove")
        return EngineMove("C3")

    async def settle(self, grace):
        pass

    async def game_over(self, result):
        self.life.append("over")

    async def close(self):
        self.life.append("close")


async def test_interrupted_while_it_restarts():
    life, gate = [], asyncio.Event()
    engine = SupervisedEngine(make=lambda: Engine(life, gate, faults))
    faults = ["broken"]
    await engine.start()
    await engine.sit(GAME, ["D4"])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await engine.genmove(Color.WHITE, 60_000)
    assert life == ["start", "started", "new", "play D4", "close", "start", "close"]
    life.clear()
    gate.set()
    await engine.game_over("B+Time")
    await engine.sit(GAME, [])
    assert await engine.genmove(Color.BLACK, 60_000) == EngineMove("C3")
    assert life == ["start", "started", "new", "genmove"]
    assert engine.ply == 1


async def test_a_new_game_is_a_new_chance():
    """Also where no ending was heard between, after a lost connection."""
    life, gate = [], asyncio.Event()
    gate.set()
    faults = ["broken"] * 3
    engine = SupervisedEngine(make=lambda: Engine(life, gate, faults))
    await engine.start()
    await engine.sit(GAME, [])
    assert (await engine.genmove(Color.BLACK, 60_000)).text == "RESIGN"
    await engine.sit(GAME, [])
    assert (await engine.genmove(Color.BLACK, 60_000)).text == "C3"


async def test_games_given_up_count_only_in_a_row():
    life, gate = [], asyncio.Event()
    gate.set()
    faults = []
    engine = SupervisedEngine(make=lambda: Engine(life, gate, faults), restarts=Restarts(in_a_row=2))
    for broken in (True, False, True, True):
        await engine.start()
        await engine.sit(GAME, [])
        faults += ["broken"] * 2 if broken else []
        assert (await engine.genmove(Color.BLACK, 60_000)).text == ("RESIGN" if broken else "C3")
        await engine.game_over("W+Resign")
    with pytest.raises(EngineGone, match="2 games in a row were lost because the engine failed: broken"):
        await engine.start()


async def test_an_engine_that_fails_now_and_then_is_given_up_in_time():
    """Every third answer fails, so nothing is ever in a row."""
    life, gate, clock = [], asyncio.Event(), iter(range(0, 10_000, 60))
    gate.set()
    faults = []
    engine = SupervisedEngine(make=lambda: Engine(life, gate, faults), restarts=Restarts(), now=clock.__next__)
    moves = []

    async def games():
        for _ in range(20):
            await engine.start()
            await engine.sit(GAME, [])
            for number in range(6):
                faults.extend(["broken"] if number % 3 == 2 else [])
                moves.append((await engine.genmove(Color.BLACK, 60_000)).text)
            assert engine.spent == ("RESIGN" in moves)
            await engine.game_over("W+Resign")

    with pytest.raises(EngineGone, match="the engine failed 10 times within 60 minutes: broken"):
        await games()
    assert moves == ["C3"] * 29 + ["RESIGN"]
    assert life.count("started") == 10
