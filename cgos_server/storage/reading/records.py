"""The read side's answers about results of versions against each other: counted over all their games in a venue.

What a correction says counts, and not how the game ended. Counts are made in indexes alone, without the games' rows.
Must not know: ratings, who asks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, Column, Select, bindparam, func, select

from cgos_protocol.api.figures import Ending
from cgos_protocol.ids import GameId, VenueId, VersionId
from cgos_server.storage import tables
from cgos_server.storage.parameters import VENUE, portions
from cgos_server.storage.reading.game_answers import OpponentRow, PairRecord
from cgos_server.storage.reading.game_rows import RATED, VOIDS, is_last_correction
from cgos_server.storage.reading.source import Read, Subject, VenueKey, venue_id, version_id, version_numbers

_games, _versions, _corrections = tables.games, tables.versions, tables.corrections

_VERSIONS: BindParameter[Any] = bindparam("versions", expanding=True)
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_WAYS: Final = {
    "among": (_games.c.black_id.in_(_VERSIONS), _games.c.white_id.in_(_VERSIONS)),
    "as black": (_games.c.black_id.in_(_VERSIONS),),
    "as white": (_games.c.white_id.in_(_VERSIONS),),
}
# Not by an index of venues, so that SQLite takes the versions' own.
_HERE = _games.c.venue_id + 0 == VENUE
_KINDS = (_games.c.reason, _games.c.winner)


def _counted(*by: Column[Any]) -> dict[str, Select[Any]]:
    """Ended games by these columns and how they ended; the latest of each kind."""
    figures = func.count().label("games"), func.max(_games.c.id).label("last")
    return {
        way: select(*by, *_KINDS, *figures).where(_HERE, *mine, _games.c.reason.is_not(None)).group_by(*by, *_KINDS)
        for way, mine in _WAYS.items()
    }


def _amended() -> dict[str, Select[Any]]:
    """Corrected games with their last correction."""
    columns = [_games.c[name] for name in ("id", "black_id", "white_id", "reason", "winner")]
    corrected = (
        select(*columns, _corrections.c.winner.label("now"), _corrections.c.result)
        .join_from(_corrections, _games, _games.c.id == _corrections.c.game_id)
        .where(_HERE, is_last_correction)
    )
    return {way: corrected.where(*mine) for way, mine in _WAYS.items()}


# Built once: to build them takes longer than most answers.
_COUNTED: Final = _counted(_games.c.black_id, _games.c.white_id)
_ENDED: Final = _counted()
_AMENDED: Final = _amended()
_TIMES: Final = select(_games.c.id, _games.c.ended_at).where(_games.c.id.in_(_IDS))
_NAMES: Final = select(_versions.c.id, _versions.c.wire_name).where(_versions.c.id.in_(_IDS))

_NO_GAME: Final = GameId(0)

_BLACK, _WHITE, _DRAW, _NONE = 0, 1, 2, 3
"""What a game counts as: its winner, or neither."""


class Records(Subject):
    """Who won how often."""

    async def pair(self, venue: VenueKey, one: str, other: str) -> PairRecord:
        """What came of the games of two versions in a venue, from the side of `one`."""
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            ids = await version_id(read, one), await version_id(read, other)
            tallies = await _tallies(read, at, "among", list(ids))
            times = await _ended(read, (tally.last for tally in tallies))
        return _record((one, ids[0]), (other, ids[1]), tallies, times)

    async def crosstable(self, venue: VenueKey, versions: Sequence[str]) -> list[PairRecord]:
        """What came of the games among these versions: a record of each two that met, the one first that stands first
        in `versions`."""
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            ids = {number: name for name, number in (await version_numbers(read, versions)).items()}
            place = {version: number for number, version in enumerate(ids)}
            met: dict[tuple[VersionId, VersionId], list[_Tally]] = defaultdict(list)
            if len(ids) > 1:
                for tally in await _tallies(read, at, "among", list(ids)):
                    if tally.black != tally.white:
                        first, second = sorted((tally.black, tally.white), key=place.__getitem__)
                        met[first, second].append(tally)
            times = await _ended(read, (tally.last for tallies in met.values() for tally in tallies))
        pairs = sorted(met, key=lambda pair: (place[pair[0]], place[pair[1]]))
        return [_record((ids[one], one), (ids[other], other), met[one, other], times) for one, other in pairs]

    async def opponents(self, venue: VenueKey, version: str) -> list[OpponentRow]:
        """What came of a version's games against each of its opponents in a venue; who met it most comes first."""
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            tallies = [*await _tallies(read, at, "as black", [me]), *await _tallies(read, at, "as white", [me])]
            times = await _ended(read, (tally.last for tally in tallies))
            names = await _names(read, {tally.black for tally in tallies} | {tally.white for tally in tallies})
        against: dict[VersionId, list[_Tally]] = defaultdict(list)
        for tally in tallies:
            against[tally.white if tally.black == me else tally.black].append(tally)
        rows = []
        for other, some in against.items():
            record = _record((version, me), (names[other], other), some, times)
            rows.append(
                OpponentRow(
                    opponent=record.other,
                    games=record.games,
                    wins=record.one_wins,
                    losses=record.other_wins,
                    draws=record.draws,
                    without_result=record.without_result,
                    with_result=record.with_result,
                    as_black=record.one_black,
                    as_white=record.games - record.one_black,
                    score=record.one_wins + record.draws / 2,
                    last_game=record.last_game or _NO_GAME,
                    last_at=record.last_at,
                )
            )
        return sorted(rows, key=lambda row: (-row.games, row.opponent.encode()))

    async def verdicts(self, venue: VenueKey, versions: Sequence[str]) -> list[Ending]:
        """How the ended games of these versions (of one bot, say) in a venue ended, by their color."""
        counts: dict[tuple[str, str, str], int] = defaultdict(int)
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            ids = list((await version_numbers(read, versions)).values())
            for color, way in (("black", "as black"), ("white", "as white")):
                for row in await read(_ENDED[way], venue=at, versions=ids):
                    outcome = _outcome(row["reason"], row["winner"])
                    counts[color, row["reason"], _OUTCOMES[color][outcome]] += row["games"]
                for tally in await _corrected(read, at, way, ids):
                    counts[color, tally.reason, _OUTCOMES[color][tally.outcome]] += tally.games
        return [
            Ending(color=color, reason=reason, outcome=outcome, games=games)
            for (color, reason, outcome), games in sorted(counts.items())
            if games
        ]


_OUTCOMES = {"black": ("won", "lost", "drawn", "none"), "white": ("lost", "won", "drawn", "none")}


class _Tally(NamedTuple):
    """Games with these colors that ended for this reason and count as this now. `last`: the latest of them."""

    black: VersionId
    white: VersionId
    reason: str
    outcome: int
    games: int
    last: GameId


def _outcome(reason: str, winner: int | None) -> int:
    if reason not in RATED:
        return _NONE
    return _DRAW if winner is None else winner


async def _tallies(read: Read, venue: VenueId, way: str, versions: Sequence[VersionId]) -> list[_Tally]:
    """The games of these versions, counted; `way` is a key of :data:`_WAYS`."""
    tallies = [
        _Tally(
            black=row["black_id"],
            white=row["white_id"],
            reason=row["reason"],
            outcome=_outcome(row["reason"], row["winner"]),
            games=row["games"],
            last=row["last"],
        )
        for row in await read(_COUNTED[way], venue=venue, versions=versions)
    ]
    return tallies + await _corrected(read, venue, way, versions)


async def _corrected(read: Read, venue: VenueId, way: str, versions: Sequence[VersionId]) -> list[_Tally]:
    """For each corrected game: one less of what it was, one more of what it is."""
    tallies = []
    for row in await read(_AMENDED[way], venue=venue, versions=versions):
        sides = row["black_id"], row["white_id"], row["reason"]
        was = _outcome(row["reason"], row["winner"])
        now = _NONE if row["result"] in VOIDS else _DRAW if row["now"] is None else row["now"]
        tallies += [
            _Tally(*sides, outcome=was, games=-1, last=_NO_GAME),
            _Tally(*sides, outcome=now, games=1, last=row["id"]),
        ]
    return tallies


async def _ended(read: Read, games: Iterable[GameId]) -> dict[GameId, int | None]:
    """When these games ended."""
    times: dict[GameId, int | None] = {}
    for some in portions(sorted(set(games))):
        times.update((row["id"], row["ended_at"]) for row in await read(_TIMES, ids=some))
    return times


async def _names(read: Read, versions: Iterable[VersionId]) -> dict[VersionId, str]:
    names: dict[VersionId, str] = {}
    for some in portions(sorted(set(versions))):
        names.update((row["id"], row["wire_name"]) for row in await read(_NAMES, ids=some))
    return names


def _record(
    one: tuple[str, VersionId], other: tuple[str, VersionId], tallies: Iterable[_Tally], times: dict[GameId, int | None]
) -> PairRecord:
    counts: dict[tuple[bool, int], int] = defaultdict(int)
    last = _NO_GAME
    for tally in tallies:
        counts[tally.black == one[1], tally.outcome] += tally.games
        last = max(last, tally.last)
    games = sum(counts.values())
    without = counts[True, _NONE] + counts[False, _NONE]
    return PairRecord(
        one=one[0],
        other=other[0],
        games=games,
        one_black=sum(count for (black, _), count in counts.items() if black),
        one_wins_black=counts[True, _BLACK],
        one_wins_white=counts[False, _WHITE],
        other_wins_black=counts[False, _BLACK],
        other_wins_white=counts[True, _WHITE],
        draws=counts[True, _DRAW] + counts[False, _DRAW],
        without_result=without,
        with_result=games - without,
        last_game=last or None,
        last_at=times.get(last),
    )
