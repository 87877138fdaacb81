"""A game between two bots whose moves the test makes, on a real server."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json

from support.e2e.line_bot import LineBot

_numbers = itertools.count(1)
"""No name comes twice: a bot that has played before may be told of that game first."""


class Duel:
    """A running game whose moves the test makes."""

    def __init__(self, port: int, stack: contextlib.ExitStack, names: tuple[str, str] | None = None) -> None:
        number = next(_numbers)
        first, second = (stack.enter_context(LineBot(port, name)) for name in names or (f"Ann{number}", f"Bob{number}"))
        self.game = first.game
        assert second.game == self.game
        self.sides = (first, second) if first.is_black else (second, first)
        self.moves: list[str] = []

    async def play(self, *moves: str, analysis: object = None) -> None:
        """Make these moves. After ``resign`` both have been told that the game is over: no later test meets it."""
        for move in moves:
            bot = self.sides[len(self.moves) % 2]
            text = "" if analysis is None else analysis if isinstance(analysis, str) else json.dumps(analysis)
            await asyncio.to_thread(bot.play, move, text)
            self.moves.append(move)
            if move == "resign":
                for side in self.sides:
                    await asyncio.to_thread(side.wait_for_end)
