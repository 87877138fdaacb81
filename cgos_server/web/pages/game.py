"""A game: its board at any ply, its moves with their clocks, its file.

Must not know: SQL, the live server.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.games.base import Color
from cgos_protocol.intervals import written
from cgos_protocol.sgf import writing as sgf
from cgos_server.presentation import analysis, game_lines, words
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.web.drawing.board_svg import board_svg
from cgos_server.web.pages import game_view as view
from cgos_server.web.pages.requests import Systems, number, visible_game
from cgos_server.web.site import Pages, Site

SAID_AT_ONCE: Final = 16
"""Moves whose analyses the page's script gets at once."""


class Player(NamedTuple):
    """One side of a game page. `change`: its rating before and after, and the difference."""

    color: str
    name: str
    label: str
    won: bool
    change: tuple[str, str, str] | None
    clock: str
    captures: int


class _Shown(NamedTuple):
    """What is drawn on the board besides stones."""

    numbers: bool
    candidates: bool
    ownership: bool

    @classmethod
    def of(cls, request: Request) -> _Shown:
        """As the form says; without it, candidates."""
        query = request.query_params
        if "shown" not in query:
            return cls(False, True, False)
        return cls("numbers" in query, "candidates" in query, "ownership" in query)


async def show(site: Site, request: Request) -> Response:
    """One game with its board at the ply asked for, or the latest."""
    game = await visible_game(site, request)
    detail = game.detail
    row, last = detail.game, len(detail.moves)
    chosen = number(request.query_params.get("ply"))
    ply = last if chosen is None else min(chosen, last)
    seen = game.position(ply)
    analyses = game_lines.analyses(game)
    now = analyses.get(ply)
    shown = _Shown.of(request)
    title = f"{row.black} – {row.white}, move {ply}" if ply else f"{row.black} – {row.white}, before the first move"
    size = game.terms.rules.size
    board = board_svg(
        size,
        seen.stones,
        last=seen.last,
        title=title,
        description=_described(seen.stones, seen.last),
        numbers=view.numbers(game, ply) if shown.numbers else None,
        owners=analysis.owners(now, game.color(ply), size) if shown.ownership and now else None,
        proposals=view.proposals(now) if shown.candidates else (),
    )
    running = row.result is None
    delay = site.settings.delay_ms(row.venue) if running else 0
    return site.render(
        "game.html",
        refresh=running and chosen is None,
        follows=True,
        here=row.venue,
        game=row,
        detail=detail,
        event=await site.history.events.holding(row.id),
        question=await site.history.questions.of_game(row.id),
        players=_players(site, game, ply, seen.captures),
        ending=game.ending(),
        to_play=game.color(last + 1).name.capitalize(),
        terms=words.terms(game.terms.rules, game.terms.time),
        board=board,
        ply=ply,
        last=last,
        moves=game_lines.move_lines(game, analyses),
        thoughts=game_lines.said_with(game, ply, now),
        analyzed=bool(analyses),
        shown=shown,
        curves=view.curves(view.opinions(game, analyses), last, ply),
        texts=view.texts(game, ply),
        known=view.script_data(game) | {"system": site.settings.rated(row.venue).systems[0]},
        age=max(0, site.now_ms() - detail.moves[-1].at - delay) if running and detail.moves else 0,
        delay_s=delay / 1000,
        base=site.address(request),
    )


async def analyses(site: Site, request: Request) -> Response:
    """What the bots said with some moves, for the page's script: ply -> analysis, from the ply asked for on."""
    game = await visible_game(site, request)
    first = number(request.query_params.get("from")) or 1
    size = game.terms.rules.size
    by_ply = {
        str(row.ply): one
        for row in game.detail.moves[first - 1 : first - 1 + SAID_AT_ONCE]
        if (one := analysis.read(row.analysis, size)) is not None
    }
    return Response(msgspec.json.encode(by_ply), media_type="application/json")


def _players(site: Site, game: StoredGame, ply: int, captures: tuple[int, int]) -> list[Player]:
    detail = game.detail
    row = detail.game
    headline = Systems(site).headline(row.venue, (change.system for change in detail.ratings))
    changes = {
        change.version: (
            written(change.before_mean, change.before_lower, change.before_upper),
            written(change.after_mean, change.after_lower, change.after_upper),
            _difference(round(change.after_mean) - round(change.before_mean)),
        )
        for change in detail.ratings
        if change.system == headline
    }
    return [
        Player(
            color=color.letter,
            name=name,
            label=label,
            won=game.winner == color.name.lower(),
            change=changes.get(name),
            clock=words.time_left(game.terms.time, game.clock_after(color, ply)),
            captures=captures[color],
        )
        for color, name, label in game.sides()
    ]


def _difference(points: int) -> str:
    """Return the difference of two ratings as they are shown."""
    return f"{points:+d}".replace("-", "−") if points else "0"


async def game_sgf(site: Site, request: Request) -> Response:
    """One game as a file."""
    game = await visible_game(site, request)
    headers = {"Content-Disposition": f'attachment; filename="{game.detail.game.id}.sgf"'}
    text = sgf.write(game.record(site.settings.server_name))
    return Response(text, media_type="application/x-go-sgf; charset=utf-8", headers=headers)


def _described(stones: dict[str, Color], last: str | None) -> str:
    """The position for people who cannot see it."""
    parts = [f"The last move was {last}."] if last else []
    for color in Color:
        own = [name for name, stone in stones.items() if stone is color]
        parts.append(f"{color.name.capitalize()}: {', '.join(own) or 'no stones'}.")
    return " ".join(parts)


PAGES: Final[Pages] = {
    "/game/{id:int}.sgf": game_sgf,
    "/game/{id:int}": show,
    "/game/{id:int}/said": analyses,
}
