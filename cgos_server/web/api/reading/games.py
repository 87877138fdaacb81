"""Answers of the API about games, their moves, and why they were played.

Must not know: SQL, how addresses are read.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec.structs import asdict
from starlette.responses import Response

from cgos_protocol.api import games as api
from cgos_protocol.api.route import SGF
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import GameId
from cgos_protocol.sgf import writing as sgf
from cgos_protocol.v2.render import color_word
from cgos_server.presentation.answers import game_detail, published
from cgos_server.presentation.explaining import explain_unpaired
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.api.reading.parameters import Before, GameFilters, GameNumber, PageSize, RoundNumber, up_to
from cgos_server.web.api.typed import Group
from cgos_server.web.site import Site

_games = Group("Games and pairings")


class ReadingGames:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    @_games.get("/games")
    async def games(
        self,
        filters: GameFilters,
        running: Annotated[bool | None, "Only those that run (`true`), or that have ended (`false`)."] = None,
        before: Before = None,
        limit: Annotated[PageSize, up_to(500)] = 50,
    ) -> api.GamePage:
        """Games, newest first, filtered."""
        rows = await self._history.games.find(games_asked(filters, running), limit + 1, before)
        page = await self._site.visible_rows(rows[:limit])
        return api.GamePage(
            items=published(page, list[api.Game]),
            next=page[-1].id if len(rows) > limit else None,
        )

    @_games.get("/games/{game}")
    async def game(self, game: GameNumber) -> api.GameDetail:
        """All about one game but its moves."""
        stored = await self._stored(game)
        return game_detail(stored, await self._history.events.holding(stored.detail.game.id))

    @_games.get("/games/{game}.sgf", media=(SGF,))
    async def game_sgf(self, game: GameNumber) -> Response:
        """One game as a file (SGF)."""
        stored = await self._stored(game)
        text = sgf.write(stored.record(self._site.settings.server_name))
        headers = {"Content-Disposition": f'attachment; filename="{stored.detail.game.id}.sgf"'}
        return Response(text, headers=headers, media_type=f"{SGF}; charset=utf-8")

    @_games.get("/games/{game}/moves")
    async def moves(self, game: GameNumber, after: Annotated[int, "Moves after this ply."] = 0) -> api.Moves:
        """Moves with clocks and analysis.

        Of a running game only moves that are older than the venue's delay.
        """
        stored = await self._stored(game)
        return api.Moves(
            game=stored.detail.game.id,
            after=after,
            running=stored.detail.game.result is None,
            items=[
                api.Move(
                    ply=row.ply,
                    color=color_word(stored.color(row.ply)),
                    move=row.move,
                    used_us=row.used_us,
                    main_us=row.main_us,
                    period_us=row.period_us,
                    quota=row.quota,
                    at=row.at,
                    analysis=_decoded(row.analysis),
                )
                for row in stored.detail.moves
                if row.ply > after
            ],
        )

    @_games.get("/games/{game}/pairing")
    async def pairing(self, game: GameNumber) -> api.RoundDetail:
        """Why these two, with everybody whom they could have met."""
        detail = await self._history.games.detail(game)
        if detail.pairing is None:
            raise NotFound(Code.NO_PAIRING, await explain_unpaired(self._history, detail))
        return await self._site.explaining.round(detail.pairing.round, detail.game.id)

    @_games.get("/rounds/{round}")
    async def round(self, round: RoundNumber) -> api.RoundDetail:  # noqa: A002
        """One round with all it was decided from."""
        return await self._site.explaining.round(round)

    async def _stored(self, game: GameId) -> StoredGame:
        """A game, a running one as far as its moves may be shown."""
        return StoredGame(self._site.visible(await self._history.games.detail(game)))


def games_asked(filters: GameFilters, running: bool | None) -> GameFilter:
    """What a list of games is to hold."""
    return GameFilter(**asdict(filters), running=running)


def _decoded(text: str | None) -> Any:
    """What a bot said with a move; None where that is no JSON."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
