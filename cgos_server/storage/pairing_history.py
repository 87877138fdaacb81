"""The part of the read side that is about pairing: a venue's latest games and acts of pairing, in portions.

Must not know: what is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import or_, select

from cgos_server.storage import tables
from cgos_server.storage.answers import ConnectionSpan, PairedGame, PairedRound
from cgos_server.storage.reading import Reader, decoded, number, value, venue_id

_VERSIONS_AT_ONCE = 500

_games, _rounds, _pairings, _connections = tables.games, tables.rounds, tables.pairings, tables.connections


class PairingHistory(Reader):
    """The part of :class:`cgos_server.storage.history.History` that is about pairing."""

    async def paired_games(self, venue: str, limit: int, before: int | None = None) -> list[PairedGame]:
        """The venue's games, newest first; the next portion is `before` the last one's id."""
        async with self._snapshot() as read:
            asked = [_games.c.venue_id == await venue_id(read, venue)]
            if before is not None:
                asked.append(_games.c.id < number(before))
            rows = await read(
                select(
                    *(_games.c[name] for name in PairedGame.__struct_fields__ if name not in ("round", "detail")),
                    _games.c.round_id.label("round"),
                    _pairings.c.detail,
                )
                .outerjoin(_pairings, _pairings.c.game_id == _games.c.id)
                .where(*asked)
                .order_by(_games.c.id.desc())
                .limit(limit)
            )
        return [value(PairedGame, row, detail=decoded(row["detail"])) for row in rows]

    async def paired_rounds(self, venue: str, limit: int, before: int | None = None) -> list[PairedRound]:
        """The venue's acts of pairing, newest first; the next portion is `before` the last one's number.

        What an act of a thousand versions was decided from is a megabyte and more: portions should be small.
        """
        async with self._snapshot() as read:
            asked = [_rounds.c.venue_id == await venue_id(read, venue)]
            if before is not None:
                asked.append(_rounds.c.number < number(before))
            rows = await read(
                select(*(_rounds.c[name] for name in PairedRound.__struct_fields__))
                .where(*asked)
                .order_by(_rounds.c.number.desc())
                .limit(limit)
            )
        return [value(PairedRound, row, sits_out=decoded(row["sits_out"]), notes=decoded(row["notes"])) for row in rows]

    async def connection_spans(
        self, venue: str, versions: Iterable[int], since: int, until: int
    ) -> list[ConnectionSpan]:
        """When these versions were signed in there between two times (Unix ms), each version's oldest first."""
        wanted = sorted(set(versions))
        found: list[ConnectionSpan] = []
        async with self._snapshot() as read:
            there = await venue_id(read, venue)
            for at in range(0, len(wanted), _VERSIONS_AT_ONCE):
                rows = await read(
                    select(*(_connections.c[name] for name in ConnectionSpan.__struct_fields__))
                    .where(
                        _connections.c.version_id.in_(wanted[at : at + _VERSIONS_AT_ONCE]),
                        _connections.c.venue_id == there,
                        or_(_connections.c.closed_at.is_(None), _connections.c.closed_at >= since),
                        _connections.c.opened_at <= until,
                    )
                    .order_by(_connections.c.version_id, _connections.c.id)
                )
                found += [value(ConnectionSpan, row) for row in rows]
        return found
