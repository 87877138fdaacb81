"""Simulated games for the hub: a history in memory, a clock, and what the game process would say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

import msgspec

from cgos_protocol.errors import Code, NotFound, StoreError
from cgos_protocol.facts import GameEnded, GameStarted, MovePlayed
from cgos_protocol.games.notation import vertex
from cgos_server.storage.answers import GameDetail, GameRow, MoveRow, VenueRow
from cgos_server.storage.game_answers import GameTerms
from cgos_server.web.live.hub import Hub
from cgos_server.web.settings import VenueSettings, WebSettings
from support.web.past import NINE, terms

POINTS = [vertex(column, row) for column in range(9) for row in range(9)]


class PlayedGame:
    def __init__(self, number: int, at: int) -> None:
        self.number = number
        self.started_at = at
        self.moves: list[MoveRow] = []
        self.result: str | None = None

    def row(self) -> GameRow:
        end = None if self.result is None else self.started_at
        reason = None if self.result is None else "resignation"
        return GameRow(
            self.number, "9x9", "Ann", "Bob", "1800", "1700", self.started_at, end, self.result, reason, len(self.moves)
        )

    def detail(self) -> GameDetail:
        winner = None if self.result is None else "black"
        agreed = msgspec.to_builtins(terms(NINE))
        return GameDetail(self.row(), agreed, None, winner, None, "", None, list(self.moves), [])


class FakeHistory:
    """Games in memory. While a game is read, `meanwhile` happens: after what is read, before it is answered."""

    def __init__(self) -> None:
        self.games: dict[int, PlayedGame] = {}
        self.meanwhile: Callable[[], None] | None = None
        self.asked: list[dict[int, int]] = []
        self.down = False

    def _answered(self) -> None:
        happened, self.meanwhile = self.meanwhile, None
        if happened is not None:
            happened()
        if self.down:
            raise StoreError("the disk is away")

    async def game(self, number: int) -> GameDetail:
        if number not in self.games:
            raise NotFound(Code.NO_GAME, "There is no such game.")
        detail = self.games[number].detail()
        await asyncio.sleep(0)
        self._answered()
        return detail

    async def moves_after(self, games: Mapping[int, int], until: int | None = None) -> dict[int, list[MoveRow]]:
        self.asked.append(dict(games))
        found = {number: self.games[number].moves[ply:] for number, ply in games.items()}
        await asyncio.sleep(0)
        self._answered()
        return found

    async def terms_of(self, games: Collection[int]) -> dict[int, GameTerms]:
        found = {number: GameTerms(self.games[number].detail().terms, None) for number in games}
        await asyncio.sleep(0)
        self._answered()
        return found

    async def running_games(self, venue: str | None = None) -> list[GameRow]:
        rows = [game.row() for game in self.games.values() if game.result is None]
        await asyncio.sleep(0)
        self._answered()
        return rows[::-1]

    async def venues(self) -> list[VenueRow]:
        return [VenueRow(1, "9x9", {"size": 9}, 0)]


class World:
    """A hub, its games and its clock."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.now = 1_000_000
        self.delay = round(1000 * delay_s)
        self.history = FakeHistory()
        web = WebSettings(venues={"9x9": VenueSettings(delay_s=delay_s)})
        self.hub = Hub(self.history, web, lambda: self.now)  # type: ignore[arg-type]

    def begin(self, number: int) -> GameStarted:
        self.history.games[number] = PlayedGame(number, self.now)
        return GameStarted("9x9", number, "Ann", "Bob", self.now / 1000)

    def play(self, number: int, analysis: str | None = None) -> MovePlayed:
        game = self.history.games[number]
        ply = len(game.moves) + 1
        move = POINTS[ply - 1]
        game.moves.append(MoveRow(ply, move, 300_000_000, 0, 0, 0, 1_500_000, self.now, analysis))
        return MovePlayed("9x9", number, ply, move, 300_000)

    def end(self, number: int) -> GameEnded:
        self.history.games[number].result = "B+Resign"
        return GameEnded("9x9", number, "B+Resign", "resignation", self.now / 1000)
