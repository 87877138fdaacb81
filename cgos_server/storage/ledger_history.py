"""The read side's answers about the ledger: its entries, what was published after them, recorded refits, saved states
and corrections; all that a replay needs.

Reads by keys and indexes only, so that a database of a million games answers as fast as a new one. Must not know: the
formulas, what a saved state holds, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, and_, bindparam, func, literal, literal_column, select, union_all

from cgos_server.core.rating.base import Entry, Kind
from cgos_server.storage import tables
from cgos_server.storage.answers import (
    CorrectionRow,
    GameChange,
    LedgerRow,
    PublishedChange,
    PublishedPoint,
    PublishedRefit,
    RefitRow,
    SavedState,
)
from cgos_server.storage.reading import Read, Reader, decoded, number, value, venue_id
from cgos_server.storage.store import StoredRefit

_games, _versions, _ledger, _changes = tables.games, tables.versions, tables.ledger, tables.rating_changes
_refits, _points, _builds = tables.refits, tables.refit_points, tables.builds
_corrections, _venues = tables.corrections, tables.venues
_black, _white, _other = (_versions.alias(side) for side in ("black", "white", "other"))
_SIDES = {0: "black", 1: "white"}
_KINDS = {kind.value: kind for kind in Kind}

# Kinds are spelt out, so that SQLite sees that the partial indexes serve.
is_game = _ledger.c.kind == literal_column("'game'")
is_correction = _ledger.c.kind == literal_column("'correction'")
entry_of_change = and_(_ledger.c.venue_id == _changes.c.venue_id, _ledger.c.seq == _changes.c.seq)
refit_of_point = and_(
    _refits.c.venue_id == _points.c.venue_id,
    _refits.c.system == _points.c.system,
    _refits.c.number == _points.c.number,
)


_GAME = bindparam("game", type_=BigInteger)
_first, _earlier = _ledger.alias("first"), _corrections.alias("earlier")

# Built once: to build them takes longer than most answers.
_LAST: Final = (
    select(_ledger.c.seq).where(_ledger.c.venue_id == bindparam("venue")).order_by(_ledger.c.seq.desc()).limit(1)
)
_CHANGED_BY_ANY: Final = (
    select(_changes, _versions.c.wire_name.label("version"), _ledger.c.game_id.label("game"))
    .join_from(_ledger, _changes, entry_of_change)
    .join(_versions, _versions.c.id == _changes.c.version_id)
    .where(is_game)
    .order_by(_changes.c.system, _changes.c.version_id)
)
_CHANGED: Final = _CHANGED_BY_ANY.where(_ledger.c.game_id == _GAME)
_REPEATED: Final = (
    select(_first.c.game_id)
    .join_from(
        _ledger,
        _first,
        and_(
            _first.c.black_id == _ledger.c.black_id,
            _first.c.white_id == _ledger.c.white_id,
            _first.c.digest == _ledger.c.digest,
            _first.c.venue_id == _ledger.c.venue_id,
            _first.c.kind == literal_column("'game'"),
            _first.c.seq < _ledger.c.seq,
        ),
    )
    .where(_ledger.c.game_id == _GAME, is_game, _ledger.c.repeat != 0)
    .order_by(_first.c.seq)
    .limit(1)
)
_was = (
    select(_earlier.c.result)
    .where(_earlier.c.game_id == _corrections.c.game_id, _earlier.c.id < _corrections.c.id)
    .order_by(_earlier.c.id.desc())
    .limit(1)
    .correlate(_corrections)
    .scalar_subquery()
)
_CORRECTED: Final = (
    select(
        _corrections,
        _corrections.c.game_id.label("game"),
        _venues.c.name.label("venue"),
        func.coalesce(_was, _games.c.result, literal("")).label("was"),
    )
    .join_from(_corrections, _games, _games.c.id == _corrections.c.game_id)
    .join(_venues, _venues.c.id == _games.c.venue_id)
    .order_by(_corrections.c.id)
)
_CORRECTED_GAME: Final = _CORRECTED.where(_corrections.c.game_id == _GAME)


class LedgerHistory(Reader):
    """The part of :class:`cgos_server.storage.history.History` that is about ledgers."""

    async def refits(self, venue: str, system: str, limit: int | None = None) -> list[RefitRow]:
        """The recorded refits of a system, or the latest `limit` ones; oldest first."""
        async with self._snapshot() as read:
            rows = await read(
                select(
                    *(_refits.c[name] for name in RefitRow.__struct_fields__ if name != "build"),
                    _builds.c.text.label("build"),
                )
                .join_from(_refits, _builds, _builds.c.id == _refits.c.build)
                .where(_refits.c.venue_id == await venue_id(read, venue), _refits.c.system == system)
                .order_by(_refits.c.number.desc())
                .limit(limit)
            )
        return [value(RefitRow, row, cold=bool(row["cold"]), notes=decoded(row["notes"])) for row in reversed(rows)]

    async def rating_state(self, venue: str, system: str) -> SavedState | None:
        """The saved state of this system, or None."""
        states = tables.rating_states
        async with self._snapshot() as read:
            rows = await read(
                select(*(states.c[name] for name in SavedState.__struct_fields__)).where(
                    states.c.venue_id == await venue_id(read, venue), states.c.system == system
                )
            )
        return value(SavedState, rows[0]) if rows else None

    async def rating_plugins(self, venue: str, system: str) -> list[str]:
        """Distributions and versions that computed a system of a plug-in in this venue, the latest one last."""
        seen = tables.rating_plugins
        async with self._snapshot() as read:
            rows = await read(
                select(seen.c.plugin)
                .where(seen.c.venue_id == await venue_id(read, venue), seen.c.system == system)
                .order_by(seen.c.seq, seen.c.plugin)
            )
        return [row["plugin"] for row in rows]

    async def rating_state_place(self, venue: str, system: str) -> tuple[int, int] | None:
        """After which entry and which refit this system's state was saved last; None where it never was."""
        states = tables.rating_states
        async with self._snapshot() as read:
            rows = await read(
                select(states.c.seq, states.c.refit).where(
                    states.c.venue_id == await venue_id(read, venue), states.c.system == system
                )
            )
        return (rows[0]["seq"], rows[0]["refit"]) if rows else None

    async def ledger(self, venue: str, after: int = 0, limit: int | None = None) -> list[LedgerRow]:
        """A venue's numbered entries from `after` + 1 on, in order, `limit` at most."""
        async with self._snapshot() as read:
            rows = await read(
                select(
                    _ledger,
                    _ledger.c.game_id.label("game"),
                    _versions.c.wire_name.label("version"),
                    _black.c.wire_name.label("black"),
                    _white.c.wire_name.label("white"),
                    _other.c.wire_name.label("other"),
                )
                .outerjoin(_versions, _versions.c.id == _ledger.c.version_id)
                .outerjoin(_black, _black.c.id == _ledger.c.black_id)
                .outerjoin(_white, _white.c.id == _ledger.c.white_id)
                .outerjoin(_other, _other.c.id == _ledger.c.other_id)
                .where(_ledger.c.venue_id == await venue_id(read, venue), _ledger.c.seq > number(after))
                .order_by(_ledger.c.seq)
                .limit(limit)
            )
        return [value(LedgerRow, row, repeat=bool(row["repeat"])) for row in rows]

    async def version_names(self) -> dict[int, str]:
        """Version id -> wire name."""
        async with self._snapshot() as read:
            rows = await read(select(_versions.c.id, _versions.c.wire_name))
        return {row["id"]: row["wire_name"] for row in rows}

    async def last_entry(self, venue: str) -> int:
        """The number of a venue's last entry, 0 for none."""
        async with self._snapshot() as read:
            return await last_entry(read, await venue_id(read, venue))

    async def corrections(self, game: int | None = None, venue: str | None = None) -> list[CorrectionRow]:
        """What operators corrected, oldest first; in one game or one venue where that is named."""
        async with self._snapshot() as read:
            asked: list[ColumnElement[bool]] = []
            if game is not None:
                asked.append(_corrections.c.game_id == number(game))
            if venue is not None:
                # Not by an index, so that SQLite goes from the few corrections to their games and not the other way.
                asked.append(_games.c.venue_id + 0 == await venue_id(read, venue))
            return await correction_rows(read, *asked)

    async def entries(self, venue: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        """A venue's entries from `after` + 1 on as a rating system takes them, `limit` at most: for a replay, some
        thousands at a time."""
        columns = [_ledger.c[name] for name in _ENTRY]
        async with self._snapshot() as read:
            rows = await read(
                select(*columns)
                .where(_ledger.c.venue_id == await venue_id(read, venue), _ledger.c.seq > number(after))
                .order_by(_ledger.c.seq)
                .limit(limit)
            )
        return [_entry(row.values()) for row in rows]

    async def amended(self, venue: str) -> dict[int, int | None]:
        """Entry of a corrected game, or of the first correction of a game without an entry of its own -> what it counts
        as now: half points for Black, None for nothing."""
        async with self._snapshot() as read:
            # Not by the key, so that SQLite goes through the few corrections and not through all of the entries.
            here = _ledger.c.venue_id + 0 == await venue_id(read, venue)
            corrected = select(_ledger.c.game_id).where(here, is_correction)
            rows = await read(
                union_all(
                    select(_ledger.c.seq, _ledger.c.game_id, _ledger.c.score2).where(here, is_correction),
                    select(_ledger.c.seq, _ledger.c.game_id, _ledger.c.score2).where(
                        _ledger.c.game_id.in_(corrected), is_game
                    ),
                ).order_by("seq")
            )
        first: dict[int, int] = {}
        now: dict[int, int | None] = {}
        for row in rows:
            now[first.setdefault(row["game_id"], row["seq"])] = row["score2"]
        return now

    async def published(self, venue: str, system: str, after: int = 0, limit: int = 10_000) -> list[PublishedChange]:
        """What the entries from `after` + 1 to `after` + `limit` did to ratings under a system, in the order of entries
        and version ids. Entries without a change have no row: go on to :meth:`last_entry`, not until nothing comes."""
        async with self._snapshot() as read:
            rows = await read(
                select(
                    _changes.c.seq,
                    _changes.c.version_id.label("version"),
                    *(_changes.c[name] for name in PublishedChange.__struct_fields__[2:]),
                )
                .where(
                    _changes.c.venue_id == await venue_id(read, venue),
                    _changes.c.seq > number(after),
                    _changes.c.seq <= number(after + limit),
                    _changes.c.system == system,
                )
                .order_by(_changes.c.seq, _changes.c.version_id)
            )
        return [PublishedChange(*row.values()) for row in rows]

    async def published_refits(
        self, venue: str, system: str, after: int = 0, limit: int | None = None, cold: bool | None = None
    ) -> list[PublishedRefit]:
        """The refits from number `after` + 1 on, in order, `limit` at most, each with what it moved.

        :param cold: only cold ones, or only warm ones
        """
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            refits = await read(
                select(*(_refits.c[name] for name in StoredRefit._fields), _refits.c.at, _builds.c.text)
                .join_from(_refits, _builds, _builds.c.id == _refits.c.build)
                .where(
                    _refits.c.venue_id == at,
                    _refits.c.system == system,
                    _refits.c.number > number(after),
                    *([] if cold is None else [_refits.c.cold == int(cold)]),
                )
                .order_by(_refits.c.number)
                .limit(limit)
            )
            points: dict[int, list[PublishedPoint]] = {row["number"]: [] for row in refits}
            for first, last in _runs(points):
                for row in await read(
                    select(_points.c.number, _points.c.version_id, _points.c.mean, _points.c.spread)
                    .where(
                        _points.c.venue_id == at,
                        _points.c.system == system,
                        _points.c.number >= first,
                        _points.c.number <= last,
                    )
                    .order_by(_points.c.number, _points.c.version_id)
                ):
                    points[row["number"]].append(PublishedPoint(row["version_id"], row["mean"], row["spread"]))
        return [
            PublishedRefit(
                StoredRefit(**{name: row[name] for name in StoredRefit._fields})._replace(cold=bool(row["cold"])),
                row["text"],
                points[row["number"]],
                row["at"],
            )
            for row in refits
        ]


_ENTRY = (
    *("seq", "kind", "version_id", "black_id", "white_id", "score2", "value", "sd", "other_id", "was2", "repeat", "at"),
)


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of consecutive numbers, which are in order."""
    runs: list[tuple[int, int]] = []
    for each in numbers:
        if runs and runs[-1][1] == each - 1:
            runs[-1] = (runs[-1][0], each)
        else:
            runs.append((each, each))
    return runs


def _entry(columns: Iterable[Any]) -> Entry:
    seq, kind, version, black, white, score2, elo, sd, other, was2, repeat, at = columns
    return Entry(
        seq=seq,
        kind=_KINDS[kind],
        version=version,
        black=black,
        white=white,
        score2=score2,
        value=elo,
        sd=sd,
        other=other,
        was2=was2,
        repeat=repeat != 0,
        at=at,
    )


async def last_entry(read: Read, venue: int) -> int:
    """The number of a venue's last entry, 0 for none."""
    rows = await read(_LAST, venue=venue)
    return int(rows[0]["seq"]) if rows else 0


async def changes_by_game(read: Read, game_id: int) -> list[GameChange]:
    """What a game did to ratings."""
    return [value(GameChange, row) for row in await read(_CHANGED, game=game_id)]


async def changes_by_games(read: Read, games: Sequence[int]) -> dict[int, list[GameChange]]:
    """What each of these games did to ratings."""
    found: dict[int, list[GameChange]] = {game: [] for game in games}
    for row in await read(_CHANGED_BY_ANY.where(_ledger.c.game_id.in_(games))):
        found[row["game"]].append(value(GameChange, row))
    return found


async def repeated_by(read: Read, game_id: int) -> int | None:
    """The earliest game with the same moves and result, where this one was marked as a repeat of it."""
    rows = await read(_REPEATED, game=game_id)
    return int(rows[0]["game_id"]) if rows else None


async def correction_rows(read: Read, *asked: ColumnElement[bool]) -> list[CorrectionRow]:
    """Corrections, oldest first."""
    rows = await read(_CORRECTED.where(*asked))
    return [value(CorrectionRow, row, winner=_SIDES.get(row["winner"])) for row in rows]


async def corrections_of(read: Read, game_id: int) -> list[CorrectionRow]:
    """One game's corrections, oldest first."""
    rows = await read(_CORRECTED_GAME, game=game_id)
    return [value(CorrectionRow, row, winner=_SIDES.get(row["winner"])) for row in rows]
