"""The client against the server's own state table: both sides of the wire agree on every line of whole games."""

from __future__ import annotations

import random

from cgos_client.bots.engines import GreedyBot, RandomBot
from cgos_client.bots.in_process import InProcessEngine
from cgos_client.bots.mcts import MctsBot
from cgos_client.bridge.supervisor import SupervisedEngine
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.games.go_rules import Go
from cgos_protocol.lines.player import CgosPlayer, Move, Quit, Ready, Reply
from cgos_protocol.session import Credentials, GameSetup
from cgos_protocol.verdict import by_score


class Session:
    """The server's end: lines go through :class:`CgosPlayer` both ways."""

    def __init__(self, peer):
        self.peer = peer
        self.player = CgosPlayer()

    async def write(self, data):
        self.peer.writer.write(data)
        await self.peer.writer.drain()

    async def event(self):
        return self.player.receive((await self.peer.hear()).encode())

    async def sign_in(self):
        await self.write(self.player.greeting())
        for _ in range(2):
            reply = await self.event()
            assert isinstance(reply, Reply)
            await self.write(reply.data)
        signed = await self.event()
        assert isinstance(signed, Credentials)
        await self.write(self.player.accepted() + self.player.info("Welcome."))
        return signed

    async def game(self, number, color, other):
        """One game of the client, who has `color`, against the bot `other`."""
        position = Go().new(Ruleset(size=5, komi2=1))
        other.new_game(5, 1)
        names = ("Bot", "Other") if color is Color.BLACK else ("Other", "Bot")
        await self.write(self.player.setup(GameSetup(number, 5, 1, 60_000, names[0], "1800?", names[1], "-5")))
        if color is Color.BLACK:
            await self.write(self.player.genmove(color, 60_000))
        result = "B+Resign" if color is Color.WHITE else "W+Resign"
        while not position.is_over():
            if position.to_play is color:
                move = await self.event()
                assert isinstance(move, Move)
                if move.text == "RESIGN":
                    break
                assert move.analysis is not None or move.text == "PASS", "nothing is searched before a plain pass"
                other.play(color, move.text)
                assert position.play(position.read(move.text)) is None
            else:
                text = other.genmove(color.other, 60_000)
                assert position.play(position.read(text)) is None
                left = None if position.is_over() else 60_000
                await self.write(self.player.played(color.other, text, 60_000, left))
        else:
            result = by_score(position.score()).text
        await self.write(self.player.game_over("2026-11-21", result, ""))
        return result


async def test_two_games_and_a_good_bye(bench):
    bench.agenda.games_left = 2
    results = []

    async def server(peer):
        session = Session(peer)
        signed = await session.sign_in()
        assert (signed.name, signed.secret, signed.analysis) == ("Bot", "open-sesame", True)
        results.append(await session.game(1, Color.BLACK, RandomBot(random.Random(1))))
        assert isinstance(await session.event(), Ready)
        results.append(await session.game(2, Color.WHITE, GreedyBot(random.Random(2))))
        assert isinstance(await session.event(), Quit)
        assert session.player.ignored == 0
        assert session.player.dropped == 0

    engine = SupervisedEngine(make=lambda: InProcessEngine(lambda: MctsBot(random.Random(3), 30)))
    assert await bench.run(engine, [server]) == 0
    assert [result.result for result in bench.results] == results
