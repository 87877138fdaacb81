"""Rows of lists of games, and their moves: the statements that several subjects ask.

Must not know: which games are wanted, how they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Select, and_, bindparam, func, select, union_all

from cgos_protocol.api.games import Game
from cgos_protocol.ids import GameId, VersionId
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.storage import tables
from cgos_server.storage.functions import latest
from cgos_server.storage.reading.source import Read, no_bot, value

_games, _moves, _versions, _bots = tables.games, tables.moves, tables.versions, tables.bots
_venues, _corrections, _analysis = tables.venues, tables.corrections, tables.analysis
_black, _white = _versions.alias("black"), _versions.alias("white")

RATED: Final = tuple(reason.value for reason in Reason if Verdict(None, reason).rated)
"""Reasons with which a game has a result."""

UNRATED: Final = tuple(reason.value for reason in Reason if reason.value not in RATED)
"""Reasons with which it has none."""

VOIDS: Final = tuple(Verdict(None, reason).text for reason in Reason if reason.value in UNRATED)
"""Results that are none."""

SIDES: Final = {0: "black", 1: "white"}
"""What a winner is stored as -> the color."""

_latest_correction = latest(
    _corrections.c.result, where=[_corrections.c.game_id == _games.c.id], by=_corrections.c.id, of=_games
)
_later = _corrections.alias("later")
is_last_correction: Final = (
    ~select(_later.c.id).where(_later.c.game_id == _corrections.c.game_id, _later.c.id > _corrections.c.id).exists()
)
"""No other correction of its game came after."""

_so_far = select(func.count()).where(_moves.c.game_id == _games.c.id).correlate(_games).scalar_subquery()

# Built once: to build it takes longer than most answers.
_GAMES: Final = (
    select(
        *(_games.c[name] for name in Game.__struct_fields__ if name in _games.c),
        _venues.c.name.label("venue"),
        _black.c.wire_name.label("black"),
        _white.c.wire_name.label("white"),
        func.coalesce(_games.c.plies, _so_far).label("moves"),
        func.nullif(_latest_correction, _games.c.result).label("corrected"),
    )
    .join_from(_games, _venues)
    .join(_black, _black.c.id == _games.c.black_id)
    .join(_white, _white.c.id == _games.c.white_id)
    .order_by(_games.c.id.desc())
)
_GAMES_BY_ID: Final = _GAMES.where(_games.c.id.in_(bindparam("ids", type_=BigInteger, expanding=True)))
_VERSIONS_OF: Final = union_all(
    # In two steps, each by a name's index.
    select(_versions.c.id).where(_versions.c.wire_name == bindparam("name")),
    select(_versions.c.id)
    .join_from(_bots, _versions, _versions.c.bot_id == _bots.c.id)
    .where(_bots.c.name == bindparam("name")),
)


def moves_said(wanted: ColumnElement[bool]) -> Select[Any]:
    """Moves with what their movers said about them, in the order of play."""
    return (
        select(_moves, _analysis.c.text.label("analysis"))
        .outerjoin(_analysis, and_(_analysis.c.game_id == _moves.c.game_id, _analysis.c.ply == _moves.c.ply))
        .where(wanted)
        .order_by(_moves.c.game_id, _moves.c.ply)
    )


async def version_ids(read: Read, name: str) -> list[VersionId]:
    """The numbers of the versions of the bot of this name, or of the version. Raises Refused."""
    rows = await read(_VERSIONS_OF, name=name)
    if not rows:
        raise no_bot(name)
    return sorted({row["id"] for row in rows})


async def game_rows(read: Read, *wanted: ColumnElement[bool]) -> list[Game]:
    """These games, newest first."""
    return [value(Game, row) for row in await read(_GAMES.where(*wanted))]


async def games_by_id(read: Read, ids: Sequence[GameId]) -> list[Game]:
    """The games of these numbers, newest first; some hundreds at most."""
    return [value(Game, row) for row in await read(_GAMES_BY_ID, ids=ids)] if ids else []
