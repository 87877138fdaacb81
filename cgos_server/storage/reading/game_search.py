"""How games of some kind are looked for among many: in indexes alone, newest or oldest first.

What is looked for is taken apart into *branches*, each a walk along one index in the order of ids that can stop early:

- with a bot: a walk for each of its versions and colors; the longest is through all games of one version;
- with a verdict or a result: a walk for each venue, reason and winner, where every step is one of these;
- with an event: one question for all its games, which are few;
- otherwise: a walk for each venue; a date is turned into ids first, by bisection. Only a length leaves steps that are
  not wanted, in the worst case all of a venue's games, which is why these walks go in windows of :data:`WINDOW` ids
  and a search may be given up after some of them, with the place to go on from.

Must not know: who asks, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, ColumnElement, Select, and_, false, or_, select, union_all

from cgos_protocol.api.games import Game
from cgos_protocol.ids import GameId
from cgos_server.storage import tables
from cgos_server.storage.parameters import number, portions
from cgos_server.storage.reading.game_answers import GameFilter, GamePart
from cgos_server.storage.reading.game_rows import RATED, UNRATED, VOIDS, games_by_id, is_last_correction, version_ids
from cgos_server.storage.reading.source import Read, no_event, venue_id, version_id

WINDOW: Final = 100_000
"""Ids that one question about lengths looks at: some 10 ms."""

CLOCK_MS: Final = 86_400_000
"""Starts of games follow their numbers, except that a machine's clock may have been set back by a day."""

_games, _versions, _venues, _corrections = tables.games, tables.versions, tables.venues, tables.corrections
_events, _event_games = tables.events, tables.event_games
_BRANCHES_AT_ONCE: Final = 60
_AT_FIRST: Final = 8
_LARGEST_ID: Final = 2**62

_WINNERS: Final = {"B": 0, "W": 1}

Conditions = tuple[ColumnElement[bool], ...]
_Key = tuple[str, int]


class _Branch(NamedTuple):
    """A walk along an index: games that fulfill all conditions. `side`, `version`: whose games they are, if one's."""

    conditions: Conditions
    side: Column[int] | None = None
    version: int = 0

    @property
    def key(self) -> _Key:
        """Which walk it is among those of many versions."""
        return "" if self.side is None else self.side.name, self.version


class Span(NamedTuple):
    """Ids from `low` to `high`, both included."""

    low: int
    high: int


def newest_before(before: int | None) -> Span:
    """All ids below this one, or all there are."""
    return Span(1, _LARGEST_ID if before is None else min(before, _LARGEST_ID) - 1)


def oldest_after(after: int) -> Span:
    """All ids above this one."""
    return Span(min(max(after, 0) + 1, _LARGEST_ID), _LARGEST_ID)


async def find(
    read: Read, wanted: GameFilter, limit: int, span: Span, newest: bool, windows: int | None = None
) -> GamePart:
    """The first `limit` games of this kind within the span, or from its end where not `newest`; given up after so many
    `windows`. Raises Refused."""
    branches = await _branches(read, wanted)
    if not branches or limit < 1:
        return GamePart(games=[], before=None)
    span = await _between(read, wanted, span)
    # A bot of many versions: those that played last are asked first, the others only as far as they can add anything.
    players = [] if wanted.bot is None else [branch for branch in branches if branch.side is not None]
    if len(players) > _AT_FIRST:
        others = [branch for branch in branches if branch.side is None]
        return await _merged(read, others, players=players, span=span, limit=limit, newest=newest)
    walks = _has_length(wanted) and not wanted.running and wanted.bot is wanted.opponent is wanted.event is None
    if walks:
        span = await _narrowed(read, span)
    ids: list[GameId] = []
    looked = 0
    while span.low <= span.high and len(ids) < limit:
        if looked == windows:
            return GamePart(games=await _rows(read, ids, newest), before=span.high + 1)
        looked += 1
        part = span
        if walks and newest:
            part = Span(max(span.low, span.high - WINDOW + 1), span.high)
            span = Span(span.low, part.low - 1)
        elif walks:
            part = Span(span.low, min(span.high, span.low + WINDOW - 1))
            span = Span(part.high + 1, span.high)
        else:
            span = Span(1, 0)
        ids += await _ids(read, branches, span=part, limit=limit - len(ids), newest=newest)
    return await _part(read, ids, limit=limit, newest=newest)


async def _merged(
    read: Read, others: Sequence[_Branch], players: Sequence[_Branch], span: Span, limit: int, newest: bool
) -> GamePart:
    """As :func:`find`, by walks through the games of many versions."""
    bounds = await _bounds(read, players, span, newest)
    waiting = sorted((branch for branch in players if branch.key in bounds), key=lambda branch: bounds[branch.key])
    if newest:
        waiting.reverse()
    ids = await _ids(read, others, span=span, limit=limit, newest=newest) if others else []
    at, some = 0, _AT_FIRST
    while at < len(waiting):
        if len(ids) == limit and (bounds[waiting[at].key] < ids[-1]) is newest:
            break
        more = await _ids(read, waiting[at : at + some], span=span, limit=limit, newest=newest)
        ids = sorted({*ids, *more}, reverse=newest)[:limit]
        at, some = at + some, min(2 * some, _BRANCHES_AT_ONCE)
    return await _part(read, ids, limit=limit, newest=newest)


async def _bounds(read: Read, players: Sequence[_Branch], span: Span, newest: bool) -> dict[_Key, int]:
    """The first game of any kind on each of these walks; those without any are left out."""
    bounds: dict[_Key, int] = {}
    for side in (_games.c.black_id, _games.c.white_id):
        for some in portions([branch.version for branch in players if branch.side is side]):
            first = (
                select(_games.c.id)
                .where(side == _versions.c.id, _games.c.id >= number(span.low), _games.c.id <= number(span.high))
                .order_by(_games.c.id.desc() if newest else _games.c.id)
                .limit(1)
                .correlate(_versions)
                .scalar_subquery()
            )
            rows = await read(select(_versions.c.id, first.label("first")).where(_versions.c.id.in_(some)))
            bounds.update({(side.name, row["id"]): row["first"] for row in rows if row["first"] is not None})
    return bounds


async def _ids(read: Read, branches: Sequence[_Branch], span: Span, limit: int, newest: bool) -> list[GameId]:
    """The first ids of all branches together."""
    order = _games.c.id.desc() if newest else _games.c.id
    within = (_games.c.id >= number(span.low), _games.c.id <= number(span.high))
    ids: set[GameId] = set()
    for some in portions(branches, _BRANCHES_AT_ONCE):
        walks = [select(_games.c.id).where(*branch.conditions, *within).order_by(order).limit(limit) for branch in some]
        together: Any = walks[0] if len(walks) == 1 else union_all(*(select(walk.subquery()) for walk in walks))
        ids.update(row["id"] for row in await read(together))
    return sorted(ids, reverse=newest)[:limit]


async def _part(read: Read, ids: Sequence[GameId], limit: int, newest: bool) -> GamePart:
    """The answer that these first ids make."""
    before = ids[-1] if newest and len(ids) == limit else None
    return GamePart(games=await _rows(read, ids, newest), before=before)


async def _rows(read: Read, ids: Sequence[GameId], newest: bool) -> list[Game]:
    rows: dict[GameId, Game] = {}
    for some in portions(ids):
        rows |= {row.id: row for row in await games_by_id(read, some)}
    return [rows[each] for each in sorted(rows, reverse=newest)]


def _has_length(wanted: GameFilter) -> bool:
    return wanted.min_moves is not None or wanted.max_moves is not None


async def _branches(read: Read, wanted: GameFilter) -> list[_Branch]:
    """What is wanted, as walks along indexes that can stop early."""
    venue = None if wanted.venue is None else await venue_id(read, wanted.venue)
    players = [
        [await version_id(read, name)] if wanted.exact else await version_ids(read, name)
        for name in (wanted.bot, wanted.opponent)
        if name is not None
    ]
    filters = _filters(wanted)
    of_event = () if wanted.event is None else (_games.c.id.in_(await _of_event(read, wanted.event)),)
    filters = (*filters, *of_event)
    if wanted.running:
        if _has_length(wanted) or wanted.reason is not None or wanted.result is not None:
            return []
        # Spelt out as in the partial index of these few games; not by an index of venues.
        here = [] if venue is None else [_games.c.venue_id + 0 == venue]
        return [
            _Branch((_games.c.result.is_(None), *here, *filters, *sides.conditions))
            for sides in _sides(players, walk=False)
        ]
    if wanted.running is False and wanted.reason is None and wanted.result is None:
        filters = (*filters, _games.c.reason.is_not(None))
    verdicts = _verdicts(wanted)
    # Where there is something better to go by, not by an index of venues.
    beside = () if venue is None else (_games.c.venue_id + 0 == venue,)
    uncorrected: Conditions = ()
    corrected: list[_Branch] = []
    if wanted.result is not None:
        uncorrected = (_games.c.id.not_in(select(_corrections.c.game_id)),)
        reasons = () if wanted.reason is None else (_games.c.reason == wanted.reason,)
        corrected = [
            _Branch((_games.c.id.in_(_now(wanted.result)), *beside, *reasons, *filters, *sides.conditions))
            for sides in _sides(players, walk=False)
        ]
    if of_event:
        verdict = () if verdicts is None else (or_(false(), *(and_(*each) for each in verdicts)),)
        plain = [
            _Branch((*filters, *beside, *verdict, *uncorrected, *sides.conditions))
            for sides in _sides(players, walk=False)
        ]
    elif players:
        # SQLite is to take the version's own index.
        verdict = () if verdicts is None else (or_(false(), *(and_(*each) for each in verdicts)),)
        plain = [
            sides._replace(conditions=(*sides.conditions, *beside, *verdict, *filters, *uncorrected))
            for sides in _sides(players, walk=True)
        ]
    elif venue is None and verdicts is None and not filters:
        plain = [_Branch(())]
    else:
        venues = [row["id"] for row in await read(select(_venues.c.id))] if venue is None else [venue]
        plain = [
            _Branch((_games.c.venue_id == here, *verdict, *filters, *uncorrected))
            for here in venues
            for verdict in ([()] if verdicts is None else verdicts)
        ]
    return plain + corrected


async def _of_event(read: Read, name: str) -> Select[Any]:
    """The games that were played in an event. Raises Refused where there is none of this name."""
    rows = await read(select(_events.c.id).where(_events.c.name == name))
    if not rows:
        raise no_event(name)
    return select(_event_games.c.game_id).where(_event_games.c.event_id == rows[0]["id"])


def _filters(wanted: GameFilter) -> Conditions:
    conditions: list[ColumnElement[bool]] = []
    if wanted.min_moves is not None:
        conditions.append(_games.c.plies >= number(wanted.min_moves))
    if wanted.max_moves is not None:
        conditions.append(_games.c.plies <= number(wanted.max_moves))
    if wanted.since is not None:
        conditions.append(_games.c.started_at >= number(wanted.since))
    if wanted.until is not None:
        conditions.append(_games.c.started_at < number(wanted.until))
    return tuple(conditions)


def _sides(players: Sequence[Sequence[int]], walk: bool) -> list[_Branch]:
    """Who had which color. For a walk a branch for each version, since only its own index is in the order of ids."""
    if not players:
        return [_Branch(())]
    mine, theirs = players[0], players[1:]
    branches: list[_Branch] = []
    for side, other in ((_games.c.black_id, _games.c.white_id), (_games.c.white_id, _games.c.black_id)):
        # The opponent's side plus 0: not by an index of its own.
        against = tuple((other + 0).in_(those) for those in theirs)
        if walk:
            branches += [_Branch((side == version, *against), side, version) for version in mine]
        else:
            branches.append(_Branch(((side + 0).in_(mine), *against)))
    return branches


def _verdicts(wanted: GameFilter) -> list[Conditions] | None:
    """Verdicts as the games ended, each one seek in an index; None where any will do."""
    if wanted.reason is None and wanted.result is None:
        return None
    verdicts: list[Conditions] = []
    for reasons, rated in ((RATED, True), (UNRATED, False)):
        for reason in reasons:
            if wanted.reason in (None, reason):
                verdicts += [
                    (
                        _games.c.reason == reason,
                        _games.c.winner.is_(None) if winner is None else _games.c.winner == winner,
                    )
                    for winner in (0, 1, None)
                    if wanted.result in (None, _result(rated, winner))
                ]
    return verdicts


def _result(rated: bool, winner: int | None) -> str:
    return "none" if not rated else {0: "B", 1: "W", None: "draw"}[winner]


def _now(result: str) -> Select[Any]:
    """Corrected games that count as this now."""
    void = _corrections.c.result.in_(VOIDS)
    counts: ColumnElement[bool]
    match result:
        case "none":
            counts = void
        case "draw":
            counts = and_(_corrections.c.winner.is_(None), ~void)
        case _:
            counts = _corrections.c.winner == _WINNERS[result]
    return select(_corrections.c.game_id).where(is_last_correction, counts)


async def _between(read: Read, wanted: GameFilter, span: Span) -> Span:
    """The ids that games of these dates can have, by bisection of their starts."""
    if wanted.since is None and wanted.until is None:
        return span
    span = await _narrowed(read, span)
    low, high = span
    if wanted.since is not None:
        low = await _first_since(read, span, wanted.since - CLOCK_MS)
    if wanted.until is not None:
        high = await _first_since(read, span, wanted.until + CLOCK_MS) - 1
    return Span(low, high)


async def _narrowed(read: Read, span: Span) -> Span:
    """No further than there are games."""
    rows = await read(select(_games.c.id).order_by(_games.c.id.desc()).limit(1))
    return Span(span.low, min(span.high, rows[0]["id"] if rows else 0))


async def _first_since(read: Read, span: Span, at: int) -> int:
    """The first id in the span from which on games began at this time or later; the one after the span for none."""
    low, high = span.low, span.high + 1
    while low < high:
        middle = (low + high) // 2
        rows = await read(
            select(_games.c.id, _games.c.started_at)
            .where(_games.c.id >= number(middle), _games.c.id <= number(span.high))
            .order_by(_games.c.id)
            .limit(1)
        )
        if not rows or rows[0]["started_at"] >= at:
            high = middle
        else:
            low = rows[0]["id"] + 1
    return low
