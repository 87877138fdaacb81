"""The read side's answers about pairing: pairing passes with their reasons, a venue's latest games as pairing sees
them, and what the matchmaker remembers when it starts.

Must not know: what is computed from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import BigInteger, RowMapping, bindparam, case, func, literal_column, or_, select

from cgos_protocol.api.games import Pairing, Round
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.games.base import Color, Start
from cgos_protocol.ids import GameId, VersionId
from cgos_server.storage import tables
from cgos_server.storage.functions import bytewise
from cgos_server.storage.parameters import VENUE, number
from cgos_server.storage.reading.answers import PairedGame, PairedRound, RoundDetail
from cgos_server.storage.reading.game_rows import RATED
from cgos_server.storage.reading.source import Read, Subject, VenueKey, decoded, value
from cgos_server.storage.reading.stored import Half, Meeting, StoredSuspension

MOST_RECENT: Final = 50_000
"""Games of a venue that are looked through for its versions' latest opponents: 100 games for each of a thousand."""

_games, _moves, _versions, _venues = tables.games, tables.moves, tables.versions, tables.venues
_rounds, _pairings, _suspensions = tables.rounds, tables.pairings, tables.suspensions
_black, _white, _high, _low = (_versions.alias(side) for side in ("black", "white", "high", "low"))

# Built once: to build them takes longer than most answers.
_PAIRED: Final = (
    select(
        _pairings,
        _pairings.c.game_id.label("game"),
        _pairings.c.round_id.label("round"),
        *(side.c.wire_name.label(side.name) for side in (_black, _white, _high, _low)),
    )
    .join_from(_pairings, _games, _games.c.id == _pairings.c.game_id)
    .join(_black, _black.c.id == _games.c.black_id)
    .join(_white, _white.c.id == _games.c.white_id)
    .join(_high, _high.c.id == _pairings.c.high_id)
    .join(_low, _low.c.id == _pairings.c.low_id)
    .order_by(_pairings.c.game_id)
)
_PAIRED_GAME: Final = _PAIRED.where(_pairings.c.game_id == bindparam("game", type_=BigInteger))
_PAIRED_ROUND: Final = _PAIRED.where(_pairings.c.round_id == bindparam("round", type_=BigInteger))
_PAIRED_GAMES: Final = (
    select(
        *(_games.c[name] for name in PairedGame.__struct_fields__ if name in _games.c and name != "detail"),
        _games.c.round_id.label("round"),
        _pairings.c.detail,
        tables.event_games.c.event_id,
        tables.question_games.c.question_id,
    )
    .outerjoin(_pairings, _pairings.c.game_id == _games.c.id)
    .outerjoin(tables.event_games, tables.event_games.c.game_id == _games.c.id)
    .outerjoin(tables.question_games, tables.question_games.c.game_id == _games.c.id)
    .where(_games.c.venue_id == VENUE)
    .order_by(_games.c.id.desc())
)
_begun = select(func.count()).where(_pairings.c.round_id == _rounds.c.id).correlate(_rounds).scalar_subquery()

_rated = or_(*(_games.c.reason == reason for reason in RATED))
_MEETINGS: Final = (
    select(_games.c.black_id.label("black"), _games.c.white_id.label("white"), func.count().label("games"))
    .where(_games.c.venue_id == VENUE, _rated)
    .group_by(_games.c.black_id, _games.c.white_id)
)
_RECENT_OPPONENTS: Final = (
    select(_games.c.black_id, _games.c.white_id)
    .where(_games.c.venue_id == VENUE)
    .order_by(_games.c.id.desc())
    .limit(literal_column(str(MOST_RECENT)))
)

# One of the two versions stands first in each pair, so that both colors come together. The openings' condition is spelt
# out, so that SQLite sees that the partial index serves.
_black_is_lower = _games.c.black_id < _games.c.white_id
_played_halves = (
    select(
        case((_black_is_lower, _games.c.black_id), else_=_games.c.white_id).label("lower"),
        case((_black_is_lower, _games.c.white_id), else_=_games.c.black_id).label("higher"),
        _games.c.opening,
        func.sum(case((_black_is_lower, literal_column("1")), else_=literal_column("-1"))).label("more"),
        func.max(_games.c.started_at).label("at"),
    )
    .where(
        _games.c.venue_id == VENUE,
        _games.c.opening != literal_column("''"),
        or_(_games.c.reason.is_(None), _rated),
    )
    .group_by(literal_column("1"), literal_column("2"), _games.c.opening)
    .subquery()
)
_HALVES: Final = (
    select(_played_halves)
    .where(_played_halves.c.more != literal_column("0"))
    .order_by(_played_halves.c.lower, _played_halves.c.higher, bytewise(_played_halves.c.opening))
)

_thought_games = (
    select(_games.c.id, _games.c.black_id, _games.c.white_id, _games.c.start)
    .where(_games.c.venue_id == VENUE, _rated)
    .order_by(_games.c.id.desc())
    .limit(bindparam("games"))
    .subquery()
)
_thought_moves = (
    select(
        _moves.c.game_id,
        (_moves.c.ply % literal_column("2")).label("odd"),
        func.sum(_moves.c.used_us).label("used_us"),
    )
    .where(_moves.c.game_id.in_(select(_thought_games.c.id)))
    .group_by(_moves.c.game_id, literal_column("2"))
    .subquery()
)
_THINKING: Final = select(_thought_games, _thought_moves.c.odd, _thought_moves.c.used_us).join_from(
    _thought_games, _thought_moves, _thought_moves.c.game_id == _thought_games.c.id
)
_SUSPENSIONS: Final = (
    select(_suspensions)
    .where(
        _suspensions.c.venue_id == VENUE,
        or_(_suspensions.c.spoilt > literal_column("0"), _suspensions.c.suspended == literal_column("1")),
    )
    .order_by(_suspensions.c.version_id)
)
_LAST_ROUND: Final = select(func.coalesce(func.max(_rounds.c.number), 0).label("number")).where(
    _rounds.c.venue_id == VENUE
)


class Pairings(Subject):
    """Who met whom, and why."""

    async def rounds(self, venue: VenueKey, limit: int, before: int | None = None) -> list[Round]:
        """A venue's pairing passes, newest first; the next page is `before` the last one's number."""
        rows = await self._latest_rounds(venue, limit, before)
        return [value(Round, row, sits_out=len(decoded(row["sits_out"]) or ())) for row in rows]

    async def round(self, round_id: int) -> RoundDetail:
        """One pairing pass with its inputs and its pairs."""
        async with self._source.snapshot() as read:
            rows = await read(
                select(_rounds, _venues.c.name.label("venue")).join(_venues).where(_rounds.c.id == number(round_id))
            )
            if not rows:
                raise NotFound(Code.NO_ROUND, f"There is no round {round_id}. `cgos-server show GAME` names one.")
            pairings = [value(Pairing, row) for row in await read(_PAIRED_ROUND, round=round_id)]
        return value(RoundDetail, rows[0], pairings=pairings)

    async def games(self, venue: VenueKey, limit: int, before: int | None = None) -> list[PairedGame]:
        """The venue's games, newest first; the next portion is `before` the last one's id."""
        wanted = _PAIRED_GAMES if before is None else _PAIRED_GAMES.where(_games.c.id < number(before))
        rows = await self._source.venue_rows(venue, wanted.limit(limit))
        return [value(PairedGame, row) for row in rows]

    async def decided(self, venue: VenueKey, limit: int, before: int | None = None) -> list[PairedRound]:
        """The venue's pairing passes with what they were decided from, newest first; the next portion is `before` the
        last one's number.

        What a pass of a thousand versions was decided from is a megabyte and more: portions should be small.
        """
        rows = await self._latest_rounds(venue, limit, before, whole=True)
        return [value(PairedRound, row) for row in rows]

    # -- as the matchmaker goes on with it

    async def meetings(self, venue: VenueKey) -> list[Meeting]:
        """How often each version played Black against each other, in games that ended with a result."""
        rows = await self._source.venue_rows(venue, _MEETINGS)
        return [value(Meeting, row) for row in rows]

    async def recent_opponents(self, venue: VenueKey, last: int) -> dict[VersionId, list[VersionId]]:
        """Version id -> version ids of the opponents in its last games, `last` at most, oldest first.

        Whoever played in none of the venue's latest :data:`MOST_RECENT` games is left out, and of the others older
        games are.
        """
        met: dict[VersionId, list[VersionId]] = {}
        rows = await self._source.venue_rows(venue, _RECENT_OPPONENTS)
        for row in rows:
            black, white = row["black_id"], row["white_id"]
            for version, opponent in ((black, white), (white, black)):
                opponents = met.setdefault(version, [])
                if len(opponents) < last:
                    opponents.append(opponent)
        return {version: opponents[::-1] for version, opponents in met.items()}

    async def halves(self, venue: VenueKey) -> list[Half]:
        """The openings that two versions have not yet played equally often with either color. Games that run count,
        void and aborted ones do not."""
        rows = await self._source.venue_rows(venue, _HALVES)
        return [
            Half(
                black=row["lower"] if row["more"] > 0 else row["higher"],
                white=row["higher"] if row["more"] > 0 else row["lower"],
                opening=row["opening"],
                games=abs(row["more"]),
                at=row["at"],
            )
            for row in rows
        ]

    async def thinking(self, venue: VenueKey, games: int) -> dict[VersionId, float]:
        """Version id -> mean microseconds a game that it thought itself, in the venue's latest `games` games that ended
        with a result."""
        totals: dict[VersionId, tuple[int, int]] = {}
        rows = await self._source.venue_rows(venue, _THINKING, games=games)
        for row in rows:
            start = row["start"]
            black_first = not start or msgspec.json.decode(start, type=Start).to_play is Color.BLACK
            mover = row["black_id"] if (row["odd"] == 1) is black_first else row["white_id"]
            before, counted = totals.get(mover, (0, 0))
            totals[mover] = (before + int(row["used_us"]), counted + 1)
        return {version: used_us / counted for version, (used_us, counted) in totals.items()}

    async def suspensions(self, venue: VenueKey) -> list[StoredSuspension]:
        """The versions that spoilt their latest game or are suspended, by id."""
        rows = await self._source.venue_rows(venue, _SUSPENSIONS)
        return [value(StoredSuspension, row) for row in rows]

    async def last_round(self, venue: VenueKey) -> int:
        """Number of the venue's latest pairing pass, 0 for none."""
        rows = await self._source.venue_rows(venue, _LAST_ROUND)
        return int(rows[0]["number"])

    async def _latest_rounds(
        self, venue: VenueKey, limit: int, before: int | None, *, whole: bool = False
    ) -> Sequence[RowMapping]:
        """Rows of pairing passes, newest first, with the number of games that they began, or `whole`: with what they
        were decided from."""
        columns: list[Any] = [_rounds.c[name] for name in ("id", "number", "at", "policy", "method", "sits_out")]
        columns += [_rounds.c.inputs, _rounds.c.notes] if whole else [_begun.label("games")]
        wanted = select(*columns).where(_rounds.c.venue_id == VENUE)
        if before is not None:
            wanted = wanted.where(_rounds.c.number < number(before))
        return await self._source.venue_rows(venue, wanted.order_by(_rounds.c.number.desc()).limit(limit))


async def pairing_of(read: Read, game_id: GameId) -> Pairing | None:
    """Why a game was played; None where no matchmaker paired it."""
    rows = await read(_PAIRED_GAME, game=game_id)
    return value(Pairing, rows[0]) if rows else None
