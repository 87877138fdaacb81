"""A bot of ``cgos.v2`` that is signed in, and what it plays."""

from __future__ import annotations

from cgos_protocol.games.base import Color
from cgos_protocol.session import GameOver, GameSetup, PlayerSession, Table
from support.net.websocket import SETUP, WsClient, WsDesk

OVER = GameOver("2026-01-01", "B+2.5", Color.BLACK, "score", "", 5, (1800.0, 1812.5))


def moves(count: int) -> tuple[tuple[str, int], ...]:
    return tuple((f"{'ABCDEFGHJ'[at % 9]}{at // 9 + 1}", 60_000 - at) for at in range(count))


def setup(game: int = 3, plies: int = 0, venue: str = "9x9") -> GameSetup:
    return SETUP._replace(game=game, moves=moves(plies), venue=venue)


def errors(client: WsClient) -> list[tuple[str, bool]]:
    return [(message["code"], message.get("fatal", False)) for message in client.listen() if message["type"] == "error"]


class Bot:
    """A signed-in bot and the server's ends of it."""

    def __init__(self, *venues: str, subprotocol: str = "cgos.v2", slots: int = 1) -> None:
        self.desk = WsDesk()
        self.client = self.desk.signed_in(subprotocol, venues=venues or ("9x9",), slots=slots)
        self.calls = self.desk.server.calls

    def session(self, venue: str = "9x9") -> PlayerSession:
        return self.desk.server.sessions[venue]

    def table(self, game: int = 3, venue: str = "9x9") -> Table:
        return self.session(venue).table(game)
