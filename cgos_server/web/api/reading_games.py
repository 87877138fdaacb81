"""Answers of the API about games, their moves, and why they were played.

Must not know: SQL, how addresses are read.
"""

from __future__ import annotations

from typing import Any, Literal, cast

import msgspec
from starlette.responses import Response

from cgos_protocol.api import games as api
from cgos_protocol.api.route import SGF
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.games.base import Color, Start
from cgos_protocol.sgf import writing as sgf
from cgos_protocol.v2.render import color_word, rules_info, time_info
from cgos_server.storage.game_answers import GamesAsked, Outcome
from cgos_server.web.api.asked import change, like
from cgos_server.web.api.framework import Asked, Handler
from cgos_server.web.site import Site
from cgos_server.web.stored_game import StoredGame


class ReadingGames:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    async def games(self, asked: Asked) -> api.GamePage:
        """Games, newest first."""
        limit = asked.count("limit")
        rows = await self._history.games.find(
            games_asked(asked, asked.flag("running")), limit + 1, asked.number("before")
        )
        page = await self._site.visible_rows(rows[:limit])
        return api.GamePage(items=page, next=page[-1].id if len(rows) > limit else None)

    async def game(self, asked: Asked) -> api.GameDetail:
        """All about one game but its moves."""
        return game_detail(await self._stored(asked))

    async def game_sgf(self, asked: Asked) -> Response:
        """One game as a file."""
        stored = await self._stored(asked)
        text = sgf.write(stored.record(self._site.settings.server_name))
        headers = {"Content-Disposition": f'attachment; filename="{stored.detail.game.id}.sgf"'}
        return Response(text, headers=headers, media_type=f"{SGF}; charset=utf-8")

    async def moves(self, asked: Asked) -> api.Moves:
        """Moves with clocks and analysis."""
        stored, after = await self._stored(asked), asked.count("after")
        return api.Moves(
            game=stored.detail.game.id,
            after=after,
            running=stored.detail.game.result is None,
            items=[
                like(
                    api.Move,
                    row,
                    color=color_word(stored.color(row.ply)),
                    analysis=_decoded(row.analysis),
                )
                for row in stored.detail.moves
                if row.ply > after
            ],
        )

    async def pairing(self, asked: Asked) -> api.RoundDetail:
        """Why these two."""
        detail = await self._history.games.detail(asked.count("game"))
        if detail.pairing is None:
            raise NotFound(
                Code.NO_PAIRING, f"Game {detail.game.id} was arranged by an operator: nobody else was considered."
            )
        return await self._round(detail.pairing.round, detail.game.id)

    async def round(self, asked: Asked) -> api.RoundDetail:
        """One act of pairing."""
        return await self._round(asked.count("round"), None)

    async def rounds(self, asked: Asked) -> api.RoundPage:
        """A venue's acts of pairing, newest first."""
        venue, limit = asked.word("venue"), asked.count("limit")
        rows = await self._history.pairings.rounds(venue, limit + 1, asked.number("before"))
        page = rows[:limit]
        following = page[-1].number if len(rows) > limit else None
        return api.RoundPage(venue=venue, items=page, next=following)

    async def _stored(self, asked: Asked) -> StoredGame:
        """The game as anybody may see it."""
        return StoredGame(self._site.visible(await self._history.games.detail(asked.count("game"))))

    async def _round(self, number: int, asked: int | None) -> api.RoundDetail:
        found = await self._site.explaining.round(number, asked)
        return msgspec.convert(found, api.RoundDetail, from_attributes=True)


def game_detail(stored: StoredGame) -> api.GameDetail:
    """All about one game but its moves."""
    detail, terms = stored.detail, stored.terms
    return api.GameDetail(
        game=detail.game,
        rules=rules_info(terms.rules),
        time=time_info(terms.time),
        move_limit=terms.move_limit,
        rated=terms.rated,
        start=_stones(stored.start),
        winner=cast(Literal["black", "white"] | None, detail.winner),
        margin=None if detail.margin2 is None else detail.margin2 / 2,
        detail=detail.detail,
        ending=stored.ending(),
        pairing=detail.pairing,
        ratings=[change(row) for row in detail.ratings],
        corrections=[like(api.Correction, row) for row in detail.corrections],
        repeats=detail.repeats,
    )


def games_asked(asked: Asked, running: bool | None) -> GamesAsked:
    """What a list of games is to hold."""
    return GamesAsked(
        venue=asked.text("venue"),
        bot=asked.text("bot"),
        opponent=asked.text("opponent"),
        reason=asked.text("reason"),
        result=msgspec.convert(asked.text("result"), Outcome | None),
        min_moves=asked.number("min_moves"),
        max_moves=asked.number("max_moves"),
        since=asked.number("since"),
        until=asked.number("until"),
        running=running,
    )


def _stones(start: Start | None) -> api.Stones | None:
    if start is None:
        return None
    return api.Stones(black=list(start.black), white=list(start.white), to_play=color_word(Color(start.to_play)))


def _decoded(text: str | None) -> Any:
    """What a bot said with a move; None where that is no JSON."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> its handler."""
    reading = ReadingGames(site)
    return {
        "games": reading.games,
        "game": reading.game,
        "game_sgf": reading.game_sgf,
        "moves": reading.moves,
        "pairing": reading.pairing,
        "round": reading.round,
        "rounds": reading.rounds,
    }
