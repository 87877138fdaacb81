"""The read side for pages and commands: what was played, by whom, and why; ratings are in `rating_history`, ledgers
in `ledger_history`, what was paired in `pairing_history`.

Reads by keys and indexes only, so that a database of a million games answers as fast as a new one. Must not know: the
live server, which database, how an answer is shown.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from sqlalchemy import BigInteger, ColumnElement, RowMapping, and_, bindparam, func, select, union_all

from cgos_protocol.errors import Code, NotFound
from cgos_protocol.names import fold
from cgos_server.storage import tables
from cgos_server.storage.answers import (
    AccountRow,
    BotRow,
    Counts,
    GameDetail,
    GameRow,
    MoveRow,
    PairingRow,
    RoundDetail,
    TokenRow,
    VenueRow,
)
from cgos_server.storage.band_history import BandHistory
from cgos_server.storage.bot_history import BotHistory, belongings
from cgos_server.storage.bulk_history import BulkHistory
from cgos_server.storage.functions import bytewise
from cgos_server.storage.game_history import GameHistory, game_rows, games_by_id, version_ids
from cgos_server.storage.ledger_history import changes_by_game, corrections_of, repeated_by
from cgos_server.storage.location import Location
from cgos_server.storage.pairing_history import PairingHistory
from cgos_server.storage.people_history import PeopleHistory
from cgos_server.storage.rank_history import RankHistory
from cgos_server.storage.rating_history import RatingHistory
from cgos_server.storage.reading import decoded, no_bot, number, value, venue_id
from cgos_server.storage.record_history import RecordHistory

_games, _moves, _versions, _bots = tables.games, tables.moves, tables.versions, tables.bots
_venues, _rounds = tables.venues, tables.rounds
_black, _white, _high, _low = (_versions.alias(side) for side in ("black", "white", "high", "low"))
_SIDES = {0: "black", 1: "white"}
_MOVE_FIELDS: Final = MoveRow.__struct_fields__

# Built once: to build them takes longer than most answers.
_MORE: Final = select(*(_games.c[name] for name in ("terms", "start", "winner", "margin2", "detail"))).where(
    _games.c.id == bindparam("game", type_=BigInteger)
)
_MOVES: Final = (
    select(*(_moves.c[name] for name in _MOVE_FIELDS if name != "analysis"), tables.analysis.c.text.label("analysis"))
    .outerjoin(
        tables.analysis,
        and_(tables.analysis.c.game_id == _moves.c.game_id, tables.analysis.c.ply == _moves.c.ply),
    )
    .where(_moves.c.game_id == bindparam("game", type_=BigInteger))
    .order_by(_moves.c.ply)
)
_PAIRED: Final = (
    select(
        tables.pairings,
        tables.pairings.c.game_id.label("game"),
        tables.pairings.c.round_id.label("round"),
        _black.c.wire_name.label("black"),
        _white.c.wire_name.label("white"),
        _high.c.wire_name.label("high"),
        _low.c.wire_name.label("low"),
    )
    .join_from(tables.pairings, _games, _games.c.id == tables.pairings.c.game_id)
    .join(_black, _black.c.id == _games.c.black_id)
    .join(_white, _white.c.id == _games.c.white_id)
    .join(_high, _high.c.id == tables.pairings.c.high_id)
    .join(_low, _low.c.id == tables.pairings.c.low_id)
    .order_by(tables.pairings.c.game_id)
)
_PAIRED_GAME: Final = _PAIRED.where(tables.pairings.c.game_id == bindparam("game", type_=BigInteger))
_PAIRED_ROUND: Final = _PAIRED.where(tables.pairings.c.round_id == bindparam("round", type_=BigInteger))


class History(
    RatingHistory, PairingHistory, BandHistory, GameHistory, RankHistory, RecordHistory, BotHistory, PeopleHistory
):
    """Reads a database on connections that cannot write. Close it, or use it as a context manager.

    Every method raises StoreError where the database cannot be read, and Refused where a name or number is unknown.

    :ivar bulk: hands out everything
    """

    def __init__(self, location: Location) -> None:
        super().__init__(location)
        self.bulk = BulkHistory(location)

    async def close(self) -> None:
        """Close all connections."""
        await super().close()
        await self.bulk.close()

    async def venues(self) -> list[VenueRow]:
        """All venues, oldest first."""
        async with self._snapshot() as read:
            return [
                VenueRow(row["id"], row["name"], decoded(row["fixed"]), row["created_at"])
                for row in await read(select(_venues).order_by(_venues.c.id))
            ]

    async def games(
        self, venue: str | None = None, bot: str | None = None, limit: int = 50, before: int | None = None
    ) -> list[GameRow]:
        """Games, newest first; the next page is `before` the last one's id. `bot`: a bot's or a version's name."""
        async with self._snapshot() as read:
            asked: list[ColumnElement[bool]] = []
            if venue is not None:
                asked.append(_games.c.venue_id == await venue_id(read, venue))
            if before is not None:
                asked.append(_games.c.id < number(before))
            if bot is None:
                return await game_rows(read, *asked, limit=limit)
            versions = await version_ids(read, bot)
            sides = [
                select(_games.c.id).where(side.in_(versions), *asked).order_by(_games.c.id.desc()).limit(limit)
                for side in (_games.c.black_id, _games.c.white_id)
            ]
            newest = union_all(*(select(side.subquery()) for side in sides))
            return await game_rows(read, _games.c.id.in_(newest), limit=limit)

    async def running_games(self, venue: str | None = None) -> list[GameRow]:
        """Games without a verdict, newest first."""
        async with self._snapshot() as read:
            if venue is not None:
                await venue_id(read, venue)
            running = await game_rows(read, _games.c.result.is_(None))
        return [game for game in running if venue in (None, game.venue)]

    async def game(self, game_id: int) -> GameDetail:
        """All about one game."""
        async with self._snapshot() as read:
            rows = await games_by_id(read, [game_id])
            if not rows:
                raise NotFound(Code.NO_GAME, f"There is no game {game_id}. `cgos-server games` lists them.")
            (more,) = await read(_MORE, game=game_id)
            moves = await read(_MOVES, game=game_id)
            pairings = [_pairing(row) for row in await read(_PAIRED_GAME, game=game_id)]
            changes = await changes_by_game(read, game_id)
            repeats = await repeated_by(read, game_id)
            corrections = await corrections_of(read, game_id)
        return GameDetail(
            game=rows[0],
            terms=decoded(more["terms"]),
            start=decoded(more["start"]),
            winner=_SIDES.get(more["winner"]),
            margin2=more["margin2"],
            detail=more["detail"],
            pairing=pairings[0] if pairings else None,
            moves=[MoveRow(*[move[name] for name in _MOVE_FIELDS]) for move in moves],
            ratings=changes,
            corrections=corrections,
            repeats=repeats,
        )

    async def bots(self, limit: int | None = None, after: str = "") -> list[BotRow]:
        """All registered bots, or the first `limit` ones whose names come after this one; by name, without regard to
        capitals."""
        owners, leaders = tables.owners, _bots.alias("leaders")
        async with self._snapshot() as read:
            bots = await read(
                select(_bots, leaders.c.name.label("family"), owners.c.name.label("owner"))
                .outerjoin(leaders, leaders.c.id == _bots.c.family_id)
                .outerjoin(owners, owners.c.id == _bots.c.owner_id)
                .where(bytewise(_bots.c.name_key) > fold(after))
                .order_by(bytewise(_bots.c.name_key))
                .limit(limit)
            )
            more = await belongings(read, [bot["id"] for bot in bots], all_of_them=limit is None)
        return [value(BotRow, bot, paused=bool(bot["paused"]), **more[bot["id"]]._asdict()) for bot in bots]

    async def tokens(self, bot: str) -> list[TokenRow]:
        """The tokens of the bot with this name, revoked ones too."""
        async with self._snapshot() as read:
            found = await read(select(_bots.c.id).where(_bots.c.name == bot))
            if not found:
                raise no_bot(bot)
            tokens = tables.tokens
            rows = await read(select(tokens).where(tokens.c.bot_id == found[0]["id"]).order_by(tokens.c.id))
        return [value(TokenRow, row) for row in rows]

    async def accounts(self) -> list[AccountRow]:
        """All accounts of people, by name."""
        async with self._snapshot() as read:
            rows = await read(select(tables.owners).order_by(bytewise(tables.owners.c.name_key)))
        return [value(AccountRow, row, admin=bool(row["admin"])) for row in rows]

    async def round(self, round_id: int) -> RoundDetail:
        """One act of pairing with its inputs and its pairs."""
        async with self._snapshot() as read:
            rows = await read(
                select(_rounds, _venues.c.name.label("venue")).join(_venues).where(_rounds.c.id == number(round_id))
            )
            if not rows:
                raise NotFound(
                    Code.NO_ROUND, f"There is no act of pairing {round_id}. `cgos-server show GAME` names one."
                )
            pairings = [_pairing(row) for row in await read(_PAIRED_ROUND, round=round_id)]
        texts = {name: decoded(rows[0][name]) for name in ("options", "inputs", "sits_out", "notes")}
        return value(RoundDetail, rows[0], pairings=pairings, **texts)

    async def counts(self) -> Counts:
        """How much there is."""
        async with self._snapshot() as read:
            reasons = await read(
                select(_games.c.reason, func.count().label("games"), func.sum(_games.c.plies).label("moves"))
                .where(_games.c.reason.is_not(None))
                # In the order of an index, so that nothing need be sorted.
                .group_by(_games.c.venue_id, _games.c.reason)
            )
            running = select(_games.c.id).where(_games.c.result.is_(None))
            (row,) = await read(
                select(
                    select(tables.server.c.created_at).scalar_subquery().label("created_at"),
                    select(func.count()).select_from(_bots).scalar_subquery().label("bots"),
                    select(func.count()).select_from(_versions).scalar_subquery().label("versions"),
                    select(func.count()).select_from(running.subquery()).scalar_subquery().label("running"),
                    select(func.count()).where(_moves.c.game_id.in_(running)).scalar_subquery().label("moves"),
                )
            )
        ended: dict[str, int] = defaultdict(int)
        for reason in reasons:
            ended[reason["reason"]] += reason["games"]
        return value(Counts, row, ended=dict(ended), moves=row["moves"] + sum(reason["moves"] for reason in reasons))


def _pairing(row: RowMapping) -> PairingRow:
    return value(PairingRow, row, detail=decoded(row["detail"]))
