"""Simulated games for the hub: a history in memory, a clock, and what the game process would say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

import msgspec

from cgos_protocol.api.games import Game
from cgos_protocol.errors import Code, NotFound, StoreError
from cgos_protocol.facts import GameEnded, GameStarted, MovePlayed
from cgos_protocol.games.notation import vertex
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.reading.answers import GameDetail, MoveRow, VenueRow
from cgos_server.storage.reading.game_answers import GameTerms
from cgos_server.web.live.hub import Hub
from support.storage.subjects import Subjects
from support.web.past import NINE, terms

POINTS = [vertex(column, row) for column in range(9) for row in range(9)]


class PlayedGame:
    def __init__(self, number: int, at: int) -> None:
        self.number = number
        self.started_at = at
        self.moves: list[MoveRow] = []
        self.result: str | None = None

    def row(self) -> Game:
        end = None if self.result is None else self.started_at
        reason = None if self.result is None else "resignation"
        return Game(
            id=self.number,
            venue="9x9",
            black="Ann",
            white="Bob",
            black_label="1800",
            white_label="1700",
            started_at=self.started_at,
            ended_at=end,
            result=self.result,
            reason=reason,
            moves=len(self.moves),
            corrected=None,
            opening="",
        )

    def detail(self) -> GameDetail:
        winner = None if self.result is None else "black"
        agreed = msgspec.to_builtins(terms(NINE))
        return GameDetail(
            game=self.row(),
            terms=agreed,
            start=None,
            winner=winner,
            margin2=None,
            detail="",
            pairing=None,
            moves=list(self.moves),
            ratings=[],
        )


class FakeHistory:
    """Games in memory. While a game is read, `meanwhile` happens: after what is read, before it is answered."""

    def __init__(self) -> None:
        self.games: dict[int, PlayedGame] = {}
        self.meanwhile: Callable[[], None] | None = None
        self.queries: list[dict[int, int]] = []
        self.down = False

    def _answered(self) -> None:
        happened, self.meanwhile = self.meanwhile, None
        if happened is not None:
            happened()
        if self.down:
            raise StoreError("the disk is away")

    async def games_detail(self, number: int) -> GameDetail:
        if number not in self.games:
            raise NotFound(Code.NO_GAME, "There is no such game.")
        detail = self.games[number].detail()
        await asyncio.sleep(0)
        self._answered()
        return detail

    async def games_moves_after(self, games: Mapping[int, int], until: int | None = None) -> dict[int, list[MoveRow]]:
        self.queries.append(dict(games))
        moves = {number: self.games[number].moves[ply:] for number, ply in games.items()}
        await asyncio.sleep(0)
        self._answered()
        return moves

    async def games_terms_of(self, games: Collection[int]) -> dict[int, GameTerms]:
        terms_by_game = {number: GameTerms(self.games[number].detail().terms, None) for number in games}
        await asyncio.sleep(0)
        self._answered()
        return terms_by_game

    async def games_running(self, venue: str | None = None) -> list[Game]:
        rows = [game.row() for game in self.games.values() if game.result is None]
        await asyncio.sleep(0)
        self._answered()
        return rows[::-1]

    async def server_venues(self) -> list[VenueRow]:
        return [VenueRow(id=1, name="9x9", fixed={"size": 9}, created_at=0)]


class World:
    """A hub, its games and its clock."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.now = 1_000_000
        self.delay = round(1000 * delay_s)
        self.history = FakeHistory()
        web = WebSettings(venues={"9x9": VenueSettings(delay_s=delay_s)})
        self.hub = Hub(Subjects(self.history), web, lambda: self.now)  # type: ignore[arg-type]

    def begin(self, number: int) -> GameStarted:
        self.history.games[number] = PlayedGame(number, self.now)
        return GameStarted(venue="9x9", game=number, black="Ann", white="Bob", at=self.now / 1000)

    def play(self, number: int, analysis: str | None = None) -> MovePlayed:
        game = self.history.games[number]
        ply = len(game.moves) + 1
        move = POINTS[ply - 1]
        game.moves.append(
            MoveRow(
                ply=ply,
                move=move,
                main_us=300_000_000,
                period_us=0,
                quota=0,
                bank_us=0,
                used_us=1_500_000,
                at=self.now,
                analysis=analysis,
            )
        )
        return MovePlayed(venue="9x9", game=number, ply=ply, move=move, left_ms=300_000)

    def end(self, number: int) -> GameEnded:
        self.history.games[number].result = "B+Resign"
        return GameEnded(venue="9x9", game=number, result="B+Resign", reason="resignation", at=self.now / 1000)
