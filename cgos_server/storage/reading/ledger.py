"""The read side's answers about the ledger: its entries, what was published after them, and corrections; all that a
replay needs besides refits.

Reads by keys and indexes only, so that a database of a million games answers as fast as a new one. Must not know: the
formulas, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import (
    BigInteger,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    union_all,
)

from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.api.games import GameChange
from cgos_protocol.api.messages import VersionLink
from cgos_protocol.ids import GameId, VenueId, VersionId
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.storage import tables
from cgos_server.storage.functions import latest
from cgos_server.storage.intervals import change_intervals
from cgos_server.storage.parameters import AFTER, SOME, SYSTEM, VENUE, bounded, limited, number, portions
from cgos_server.storage.reading.answers import CorrectionRow, PublishedChange
from cgos_server.storage.reading.game_rows import SIDES
from cgos_server.storage.reading.source import Read, Subject, VenueKey, value, venue_id
from cgos_server.storage.reading.stored import Counted, FirstRepeat

_games, _versions, _ledger, _changes = tables.games, tables.versions, tables.ledger, tables.rating_changes
_corrections, _venues = tables.corrections, tables.venues
_black, _white, _other = (_versions.alias(side) for side in ("black", "white", "other"))
_KINDS: Final = {kind.value: kind for kind in Kind}

# Kinds are spelt out, so that SQLite sees that the partial indexes serve.
is_game = _ledger.c.kind == literal_column("'game'")
_is_correction = _ledger.c.kind == literal_column("'correction'")
entry_of_change = and_(_ledger.c.venue_id == _changes.c.venue_id, _ledger.c.seq == _changes.c.seq)

_GAME = bindparam("game", type_=BigInteger)
_GAMES = bindparam("games", type_=BigInteger, expanding=True)
_first, _earlier, _taken_back = _ledger.alias("first"), _corrections.alias("earlier"), _ledger.alias("taken_back")

# Built once: to build them takes longer than most answers.
_LAST: Final = select(_ledger.c.seq).where(_ledger.c.venue_id == VENUE).order_by(_ledger.c.seq.desc()).limit(1)
_CHANGED: Final = (
    select(_changes, _versions.c.wire_name.label("version"), _ledger.c.game_id.label("game"))
    .join_from(_ledger, _changes, entry_of_change)
    .join(_versions, _versions.c.id == _changes.c.version_id)
    .where(is_game, _ledger.c.game_id.in_(_GAMES))
    .order_by(_changes.c.system, _changes.c.version_id)
)
_REPEATED: Final = (
    select(_first.c.game_id)
    .join_from(
        _ledger,
        _first,
        and_(
            *(_first.c[name] == _ledger.c[name] for name in ("black_id", "white_id", "digest", "venue_id")),
            _first.c.kind == literal_column("'game'"),
            _first.c.seq < _ledger.c.seq,
        ),
    )
    .where(_ledger.c.game_id == _GAME, is_game, _ledger.c.repeat != 0)
    .order_by(_first.c.seq)
    .limit(1)
)
_was = latest(
    _earlier.c.result,
    where=[_earlier.c.game_id == _corrections.c.game_id, _earlier.c.id < _corrections.c.id],
    by=_earlier.c.id,
    of=_corrections,
)
_CORRECTED_GAMES: Final = (
    select(
        _corrections,
        _corrections.c.game_id.label("game"),
        _venues.c.name.label("venue"),
        func.coalesce(_was, _games.c.result, literal("")).label("was"),
    )
    .join_from(_corrections, _games, _games.c.id == _corrections.c.game_id)
    .join(_venues, _venues.c.id == _games.c.venue_id)
    .where(_corrections.c.game_id.in_(_GAMES))
    .order_by(_corrections.c.id)
)
_ENTRIES: Final = (
    select(
        *(_ledger.c[name] for name in ("seq", "kind", "score2", "value", "sd", "was2", "repeat", "at", "surely")),
        *(_ledger.c[f"{name}_id"].label(name) for name in ("version", "black", "white", "other")),
    )
    .where(_ledger.c.venue_id == VENUE, _ledger.c.seq > AFTER)
    .order_by(_ledger.c.seq)
    .limit(SOME)
)
# By the partial index of what is said of versions, and not by the key, which would go through all games.
_link_columns = [_ledger.c[name] for name in ("seq", "kind", "at", "sd", "surely")]
_up_to = (_ledger.c.venue_id + 0 == VENUE, _ledger.c.seq <= bindparam("last"))
_ABOUT_VERSIONS: Final = select(func.count().label("less")).where(_ledger.c.version_id.is_not(None), *_up_to)
_counts, _counted = _ledger.c.score2.is_not(None), _ledger.c.was2.is_not(None)
_starts_to_count = case((and_(_counts, or_(_counted, _ledger.c.repeat == 0)), 1))
_CORRECTED: Final = select(
    # Of these entries, less the games that count by them, more those that counted before.
    (func.count() - func.count(_starts_to_count) + func.count(case((_counted, 1)))).label("less")
).where(_is_correction, *_up_to)
_LINKS: Final = (
    select(*_link_columns, _ledger.c.version_id, _ledger.c.other_id)
    .where(_ledger.c.version_id.is_not(None), _ledger.c.other_id.is_not(None), _ledger.c.venue_id + 0 == VENUE)
    .order_by(_ledger.c.seq)
)
_PREDECESSORS: Final = (
    select(
        *_link_columns,
        _venues.c.name.label("venue"),
        *(_versions.c.wire_name.label("version"), _other.c.wire_name.label("predecessor")),
    )
    .join_from(_ledger, _versions, _versions.c.id == _ledger.c.version_id)
    .join(_other, _other.c.id == _ledger.c.other_id)
    .join(_venues, _venues.c.id == _ledger.c.venue_id)
    .where(_ledger.c.version_id.in_(bindparam("versions", expanding=True)))
    .order_by(_ledger.c.version_id, _ledger.c.venue_id, _ledger.c.seq)
)
_NAMED: Final = (
    select(
        _ledger,
        _ledger.c.game_id.label("game"),
        *(
            side.c.wire_name.label(name)
            for name, side in (("version", _versions), ("black", _black), ("white", _white), ("other", _other))
        ),
    )
    .outerjoin(_versions, _versions.c.id == _ledger.c.version_id)
    .outerjoin(_black, _black.c.id == _ledger.c.black_id)
    .outerjoin(_white, _white.c.id == _ledger.c.white_id)
    .outerjoin(_other, _other.c.id == _ledger.c.other_id)
    .where(_ledger.c.venue_id == VENUE, _ledger.c.seq > AFTER)
    .order_by(_ledger.c.seq)
    .limit(SOME)
)
# Not by the key, so that SQLite goes through the few corrections and not through all of the entries.
_corrections_here = (_ledger.c.venue_id + 0 == VENUE, _is_correction)
_amended_columns = [_ledger.c[name] for name in ("seq", "game_id", "score2")]
_AMENDED: Final = union_all(
    select(*_amended_columns).where(*_corrections_here),
    select(*_amended_columns).where(
        _ledger.c.game_id.in_(select(_ledger.c.game_id).where(*_corrections_here)), is_game
    ),
).order_by("seq")
_counted_columns = [_ledger.c[name] for name in ("seq", "kind", "score2", "digest", "repeat")]
_COUNTED: Final = union_all(
    select(*_counted_columns).where(_ledger.c.game_id == _GAME, is_game),
    select(*_counted_columns).where(_ledger.c.game_id == _GAME, _is_correction),
).order_by("seq")
_correction_of_it = and_(
    _taken_back.c.game_id == _ledger.c.game_id, _taken_back.c.kind == literal_column("'correction'")
)
_changed_score = or_(_taken_back.c.score2.is_(None), _taken_back.c.score2 != _ledger.c.score2)
_PUBLISHED: Final = (
    select(_changes, _changes.c.version_id.label("version"))
    .where(
        _changes.c.venue_id == VENUE,
        _changes.c.seq > AFTER,
        _changes.c.seq <= bindparam("last", type_=BigInteger),
        _changes.c.system == SYSTEM,
    )
    .order_by(_changes.c.seq, _changes.c.version_id)
)
_DIGESTS: Final = (
    select(*(_ledger.c[name] for name in ("seq", "black_id", "white_id", "digest")))
    .where(_ledger.c.venue_id == VENUE, _ledger.c.seq > AFTER, is_game, _ledger.c.digest.is_not(None))
    .where(~exists().where(_correction_of_it, _changed_score))
    .order_by(_ledger.c.seq)
    .limit(SOME)
)
_FIRST_REPEAT: Final = (
    select(_ledger.c.game_id, _ledger.c.score2)
    .where(_ledger.c.venue_id == VENUE, is_game, _ledger.c.repeat == literal_column("1"))
    .where(*(_ledger.c[name] == bindparam(name) for name in ("black_id", "white_id", "digest")))
    .where(~exists().where(_correction_of_it))
    .order_by(_ledger.c.seq)
    .limit(literal_column("1"))
)


class Ledger(Subject):
    """The numbered entries of venues."""

    async def entries(self, venue: VenueKey, after: int = 0, limit: int | None = None) -> list[Entry]:
        """A venue's entries from `after` + 1 on as a rating system takes them, `limit` at most. A million of them at
        once take seconds of the event loop; portions of some thousands do not."""
        rows = await self._source.venue_rows(venue, _ENTRIES, after=bounded(after), some=limited(limit))
        return [
            Entry(
                seq=row["seq"],
                kind=_KINDS[row["kind"]],
                version=row["version"],
                black=row["black"],
                white=row["white"],
                score2=row["score2"],
                value=row["value"],
                sd=row["sd"],
                other=row["other"],
                was2=row["was2"],
                repeat=row["repeat"] != 0,
                at=row["at"],
                surely=row["surely"] != 0,
            )
            for row in rows
        ]

    async def named(self, venue: VenueKey, after: int = 0, limit: int | None = None) -> list[LedgerEntry]:
        """The same entries by names, as they are published."""
        rows = await self._source.venue_rows(venue, _NAMED, after=bounded(after), some=limited(limit))
        return [
            value(LedgerEntry, row, digest=None if row["digest"] is None else f"{row['digest']:#018x}") for row in rows
        ]

    async def links(self, venue: VenueKey) -> list[Entry]:
        """A venue's entries that say which version succeeds which, or does not any more, in order."""
        return [
            Entry(
                seq=row["seq"],
                kind=_KINDS[row["kind"]],
                version=row["version_id"],
                sd=row["sd"],
                other=row["other_id"],
                at=row["at"],
                surely=row["surely"] != 0,
            )
            for row in await self._source.venue_rows(venue, _LINKS)
        ]

    async def predecessors(self, versions: Iterable[int]) -> list[VersionLink]:
        """Whom these versions succeed, by version and venue. In ledgers of before links that go in a circle were
        refused the oldest of a circle does not count, and is among these all the same."""
        links: dict[tuple[str, str], VersionLink] = {}
        async with self._source.snapshot() as read:
            for some in portions(sorted(set(versions))):
                for row in await read(_PREDECESSORS, versions=some):
                    key, now = (row["version"], row["venue"]), links.get((row["version"], row["venue"]))
                    if row["kind"] != Kind.UNLINK:
                        links[key] = value(VersionLink, row)
                    elif now is not None and now.predecessor == row["predecessor"]:
                        del links[key]
        return list(links.values())

    async def last_entry(self, venue: VenueKey) -> int:
        """The number of a venue's last entry, 0 for none."""
        async with self._source.snapshot() as read:
            return await last_entry(read, await venue_id(read, venue))

    async def games_at(self, venue: VenueKey, entry: int) -> int:
        """Count the games that count after an entry: by the entries that are no games, which are few."""
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            entry = min(entry, await last_entry(read, at))
            no_games = [await read(each, venue=at, last=entry) for each in (_ABOUT_VERSIONS, _CORRECTED)]
        return entry - sum(int(rows[0]["less"]) for rows in no_games)

    async def entry_at(self, venue: VenueKey, at_ms: int) -> int:
        """The number of a venue's last entry at or before a time (Unix ms), 0 for none, by bisection: entries are taken
        to be in the order of their times."""
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            low, high = 0, await last_entry(read, at)
            # Entries are numbered without gaps.
            while low < high:
                middle = (low + high + 1) // 2
                rows = await read(select(_ledger.c.at).where(_ledger.c.venue_id == at, _ledger.c.seq == number(middle)))
                if rows[0]["at"] <= at_ms:
                    low = middle
                else:
                    high = middle - 1
        return low

    async def amended(self, venue: VenueKey) -> dict[int, int | None]:
        """Entry of a corrected game, or of the first correction of a game without an entry of its own -> what it counts
        as now: half points for Black, None for nothing."""
        first: dict[GameId, int] = {}
        now: dict[int, int | None] = {}
        for row in await self._source.venue_rows(venue, _AMENDED):
            now[first.setdefault(row["game_id"], row["seq"])] = row["score2"]
        return now

    async def published(
        self, venue: VenueKey, system: str, after: int = 0, limit: int = 10_000
    ) -> list[PublishedChange]:
        """What the entries from `after` + 1 to `after` + `limit` did to ratings under a system, in the order of entries
        and version ids. Entries without a change have no row: go on to :meth:`last_entry`, not until nothing comes."""
        last = bounded(after + limit)
        rows = await self._source.venue_rows(venue, _PUBLISHED, system=system, after=bounded(after), last=last)
        return [value(PublishedChange, row, **change_intervals(system, row)) for row in rows]

    async def digests(
        self, venue: VenueKey, after: int = 0, limit: int | None = None
    ) -> list[tuple[int, VersionId, VersionId, int]]:
        """(entry, black, white, digest) of every GAME entry above `after` that has a digest and counts as it was
        played, in order, `limit` at most."""
        rows = await self._source.venue_rows(venue, _DIGESTS, after=bounded(after), some=limited(limit))
        return [(row["seq"], row["black_id"], row["white_id"], row["digest"]) for row in rows]

    async def counted(self, game_id: GameId) -> Counted | None:
        """What the ledger says of an ended game, corrections included; None where it has no entry there."""
        counted = None
        for row in await self._source.rows(_COUNTED, game=game_id):
            score2 = row["score2"]
            if row["kind"] == Kind.GAME:
                counted = value(Counted, row, ruled=False)
            else:
                counted = counted or Counted(None, None, None, repeat=False, ruled=False)
                ruled = counted.ruled or counted.score2 != score2
                counted = counted._replace(score2=score2, repeat=False, ruled=ruled)
        return counted

    async def first_repeat(
        self, venue: VenueKey, black: VersionId, white: VersionId, digest: int
    ) -> FirstRepeat | None:
        """The earliest uncorrected game between these two that was marked as a repeat with this digest, or None."""
        rows = await self._source.venue_rows(venue, _FIRST_REPEAT, black_id=black, white_id=white, digest=digest)
        return value(FirstRepeat, rows[0]) if rows else None


async def last_entry(read: Read, venue: VenueId) -> int:
    """The number of a venue's last entry, 0 for none."""
    rows = await read(_LAST, venue=venue)
    return int(rows[0]["seq"]) if rows else 0


async def changes_of_games(read: Read, games: Sequence[GameId]) -> dict[GameId, list[GameChange]]:
    """What each of these games did to ratings."""
    changes: dict[GameId, list[GameChange]] = {game: [] for game in games}
    for row in await read(_CHANGED, games=games):
        changes[row["game"]].append(value(GameChange, row, **change_intervals(row["system"], row)))
    return changes


async def repeated_by(read: Read, game_id: GameId) -> GameId | None:
    """The earliest game with the same moves and result, where this one was marked as a repeat of it."""
    rows = await read(_REPEATED, game=game_id)
    return GameId(rows[0]["game_id"]) if rows else None


async def corrections_of_games(read: Read, games: Sequence[GameId]) -> dict[GameId, list[CorrectionRow]]:
    """Each of these games' corrections, oldest first."""
    corrections: dict[GameId, list[CorrectionRow]] = {game: [] for game in games}
    for row in await read(_CORRECTED_GAMES, games=games):
        corrections[row["game_id"]].append(value(CorrectionRow, row, winner=SIDES.get(row["winner"])))
    return corrections
