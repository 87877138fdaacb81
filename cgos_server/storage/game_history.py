"""The read side's answers about many games: which there are of some kind, and their moves.

Games are looked for in indexes alone, newest or oldest first, and only those that are wanted are read. What is asked is
taken apart into *branches*, each a walk along one index in the order of ids that can stop early:

- with a bot: a walk for each of its versions and colors; the longest is through all games of one version;
- with a verdict or a result: a walk for each venue, reason and winner, where every step is one of these;
- otherwise: a walk for each venue; a date is turned into ids first, by bisection. Only a length leaves steps that are
  not wanted, in the worst case all of a venue's games, which is why these walks go in windows of :data:`WINDOW` ids
  and :meth:`GameHistory.search_games` gives up after :data:`MOST_WINDOWS` of them with the place to go on from.

Must not know: who asks, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Integer,
    RowMapping,
    Select,
    and_,
    bindparam,
    column,
    false,
    func,
    or_,
    select,
    union_all,
    values,
)

from cgos_protocol.verdict import Reason, Verdict
from cgos_server.storage import tables
from cgos_server.storage.answers import GameRow, MoveRow
from cgos_server.storage.game_answers import GamesAsked, GamesFound, GameTerms
from cgos_server.storage.reading import Read, Reader, decoded, no_bot, number, value, venue_id, version_id

WINDOW = 100_000
"""Ids that one question about lengths looks at: some 10 ms."""

MOST_WINDOWS = 20
"""Windows after which a search is given up for now."""

CLOCK_MS = 86_400_000
"""Starts of games follow their numbers, except that a machine's clock may have been set back by a day."""

_games, _moves, _versions, _bots = tables.games, tables.moves, tables.versions, tables.bots
_venues, _corrections, _analysis = tables.venues, tables.corrections, tables.analysis
_black, _white = _versions.alias("black"), _versions.alias("white")

_AT_ONCE = 500
_BRANCHES_AT_ONCE = 60
_AT_FIRST = 8
_MOST = 2**62

_RATED = tuple(reason.value for reason in Reason if Verdict(None, reason).rated)
_UNRATED = tuple(reason.value for reason in Reason if not Verdict(None, reason).rated)
_WINNERS = {"B": 0, "W": 1}
VOIDS = tuple(Verdict(None, Reason(reason)).text for reason in _UNRATED)
"""Results that are none."""

_latest_correction = (
    select(_corrections.c.result)
    .where(_corrections.c.game_id == _games.c.id)
    .order_by(_corrections.c.id.desc())
    .limit(1)
    .correlate(_games)
    .scalar_subquery()
)

_so_far = select(func.count()).where(_moves.c.game_id == _games.c.id).correlate(_games).scalar_subquery()
_GAME_FIELDS: Final = GameRow.__struct_fields__

# Built once: to build it takes longer than most answers.
_GAMES: Final = (
    select(
        *(_games.c[name] for name in _GAME_FIELDS if name in _games.c),
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
_MOVES_AFTER: Final = (
    select(_moves, _analysis.c.text.label("analysis"))
    .outerjoin(_analysis, and_(_analysis.c.game_id == _moves.c.game_id, _analysis.c.ply == _moves.c.ply))
    .where(
        _moves.c.game_id.in_(bindparam("ids", type_=BigInteger, expanding=True)),
        _moves.c.ply > bindparam("after", type_=BigInteger),
        _moves.c.at <= bindparam("until", type_=BigInteger),
    )
    .order_by(_moves.c.game_id, _moves.c.ply)
)
_VERSIONS_OF: Final = union_all(
    # In two steps, each by a name's index.
    select(_versions.c.id).where(_versions.c.wire_name == bindparam("name")),
    select(_versions.c.id)
    .join_from(_bots, _versions, _versions.c.bot_id == _bots.c.id)
    .where(_bots.c.name == bindparam("name")),
)

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


class GameHistory(Reader):
    """The part of :class:`cgos_server.storage.history.History` that is about lists of games."""

    async def find_games(self, asked: GamesAsked, limit: int, before: int | None = None) -> list[GameRow]:
        """Games of this kind, newest first; the next page is `before` the last one's id.

        Goes on until it has `limit` of them or there are no more: for a length that no game of a million has that is a
        walk along a whole index, some 0.1 s; :meth:`search_games` gives up earlier.

        :raises Refused: where there is no such venue, bot or version
        """
        async with self._snapshot() as read:
            return (await _found(read, asked, limit, _Span(1, _upper(before)), newest=True)).games

    async def search_games(self, asked: GamesAsked, limit: int, before: int | None = None) -> GamesFound:
        """As :meth:`find_games`, but with a bound on what is looked at: what was found so far, and from where to go on.

        :raises Refused: where there is no such venue, bot or version
        """
        async with self._snapshot() as read:
            return await _found(read, asked, limit, _Span(1, _upper(before)), newest=True, windows=MOST_WINDOWS)

    async def games_after(self, asked: GamesAsked, limit: int, after: int = 0) -> list[GameRow]:
        """Games of this kind in the order of their ids, from `after` + 1 on. Raises Refused as above."""
        async with self._snapshot() as read:
            span = _Span(min(max(after, 0) + 1, _MOST), _MOST)
            return (await _found(read, asked, limit, span, newest=False)).games

    async def moves_after(self, games: Mapping[int, int], until: int | None = None) -> dict[int, list[MoveRow]]:
        """Of each of these games the moves after the given ply, in order, with what the movers said about them.

        :param until: only moves that were played at this time or before
        """
        found: dict[int, list[MoveRow]] = {game: [] for game in games}
        asked = sorted(games.items())
        async with self._snapshot() as read:
            if len(set(games.values())) == 1:
                after, latest = asked[0][1], _MOST if until is None else until
                for at in range(0, len(asked), _AT_ONCE):
                    ids = [game for game, _ in asked[at : at + _AT_ONCE]]
                    for row in await read(_MOVES_AFTER, ids=ids, after=after, until=latest):
                        found[row["game_id"]].append(value(MoveRow, row))
                return found
            for at in range(0, len(asked), _AT_ONCE):
                some = (
                    values(column("game_id", BigInteger), column("after", Integer), name="some")
                    .data(asked[at : at + _AT_ONCE])
                    .cte("some")
                )
                rows = await read(
                    select(_moves, _analysis.c.text.label("analysis"))
                    .join_from(some, _moves, and_(_moves.c.game_id == some.c.game_id, _moves.c.ply > some.c.after))
                    .outerjoin(
                        _analysis, and_(_analysis.c.game_id == _moves.c.game_id, _analysis.c.ply == _moves.c.ply)
                    )
                    .where(*([] if until is None else [_moves.c.at <= number(until)]))
                    .order_by(_moves.c.game_id, _moves.c.ply)
                )
                for row in rows:
                    found[row["game_id"]].append(value(MoveRow, row))
        return found

    async def terms_of(self, games: Collection[int]) -> dict[int, GameTerms]:
        """What each of these games was begun with; without those that there are not."""
        found: dict[int, GameTerms] = {}
        asked = sorted(games)
        async with self._snapshot() as read:
            for at in range(0, len(asked), _AT_ONCE):
                columns = (_games.c.id, _games.c.terms, _games.c.start)
                for row in await read(select(*columns).where(_games.c.id.in_(asked[at : at + _AT_ONCE]))):
                    found[row["id"]] = GameTerms(decoded(row["terms"]), decoded(row["start"]))
        return found

    async def played_by(self, games: Collection[int], until: int) -> dict[int, int]:
        """How many moves each of these games had at this time."""
        found = dict.fromkeys(games, 0)
        asked = sorted(found)
        async with self._snapshot() as read:
            for at in range(0, len(asked), _AT_ONCE):
                rows = await read(
                    select(_moves.c.game_id, func.count().label("moves"))
                    .where(_moves.c.game_id.in_(asked[at : at + _AT_ONCE]), _moves.c.at <= number(until))
                    .group_by(_moves.c.game_id)
                )
                found |= {row["game_id"]: row["moves"] for row in rows}
        return found


class _Span(NamedTuple):
    """Ids from `low` to `high`, both included."""

    low: int
    high: int


def _upper(before: int | None) -> int:
    return _MOST if before is None else min(before, _MOST) - 1


async def _found(
    read: Read, asked: GamesAsked, limit: int, span: _Span, newest: bool, windows: int | None = None
) -> GamesFound:
    branches = await _branches(read, asked)
    if not branches or limit < 1:
        return GamesFound([], None)
    span = await _between(read, asked, span)
    # A bot of many versions: those that played last are asked first, the others only as far as they can add anything.
    players = [] if asked.bot is None else [branch for branch in branches if branch.side is not None]
    if len(players) > _AT_FIRST:
        others = [branch for branch in branches if branch.side is None]
        return await _merged(read, others, players=players, span=span, limit=limit, newest=newest)
    walks = _has_length(asked) and not asked.running and asked.bot is None and asked.opponent is None
    if walks:
        span = await _narrowed(read, span)
    ids: list[int] = []
    looked = 0
    while span.low <= span.high and len(ids) < limit:
        if looked == windows:
            return GamesFound(await _rows(read, ids, newest), span.high + 1)
        looked += 1
        part = span
        if walks and newest:
            part = _Span(max(span.low, span.high - WINDOW + 1), span.high)
            span = _Span(span.low, part.low - 1)
        elif walks:
            part = _Span(span.low, min(span.high, span.low + WINDOW - 1))
            span = _Span(part.high + 1, span.high)
        else:
            span = _Span(1, 0)
        ids += await _ids(read, branches, span=part, limit=limit - len(ids), newest=newest)
    return GamesFound(await _rows(read, ids, newest), ids[-1] if newest and len(ids) == limit else None)


async def _merged(
    read: Read, others: Sequence[_Branch], players: Sequence[_Branch], span: _Span, limit: int, newest: bool
) -> GamesFound:
    """As :func:`_found`, by walks through the games of many versions."""
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
    return GamesFound(await _rows(read, ids, newest), ids[-1] if newest and len(ids) == limit else None)


async def _bounds(read: Read, players: Sequence[_Branch], span: _Span, newest: bool) -> dict[_Key, int]:
    """The first game of any kind on each of these walks; those without any are left out."""
    found: dict[_Key, int] = {}
    for side in (_games.c.black_id, _games.c.white_id):
        wanted = [branch.version for branch in players if branch.side is side]
        for at in range(0, len(wanted), _AT_ONCE):
            first = (
                select(_games.c.id)
                .where(side == _versions.c.id, _games.c.id >= number(span.low), _games.c.id <= number(span.high))
                .order_by(_games.c.id.desc() if newest else _games.c.id)
                .limit(1)
                .correlate(_versions)
                .scalar_subquery()
            )
            rows = await read(
                select(_versions.c.id, first.label("first")).where(_versions.c.id.in_(wanted[at : at + _AT_ONCE]))
            )
            found.update({(side.name, row["id"]): row["first"] for row in rows if row["first"] is not None})
    return found


async def _ids(read: Read, branches: Sequence[_Branch], span: _Span, limit: int, newest: bool) -> list[int]:
    """The first ids of all branches together."""
    order = _games.c.id.desc() if newest else _games.c.id
    within = (_games.c.id >= number(span.low), _games.c.id <= number(span.high))
    ids: set[int] = set()
    for at in range(0, len(branches), _BRANCHES_AT_ONCE):
        walks = [
            select(_games.c.id).where(*branch.conditions, *within).order_by(order).limit(limit)
            for branch in branches[at : at + _BRANCHES_AT_ONCE]
        ]
        asked: Any = walks[0] if len(walks) == 1 else union_all(*(select(walk.subquery()) for walk in walks))
        ids.update(row["id"] for row in await read(asked))
    return sorted(ids, reverse=newest)[:limit]


async def _rows(read: Read, ids: Sequence[int], newest: bool) -> list[GameRow]:
    rows: dict[int, GameRow] = {}
    for at in range(0, len(ids), _AT_ONCE):
        rows |= {row.id: row for row in await games_by_id(read, ids[at : at + _AT_ONCE])}
    return [rows[each] for each in sorted(rows, reverse=newest)]


def _has_length(asked: GamesAsked) -> bool:
    return asked.min_moves is not None or asked.max_moves is not None


async def _branches(read: Read, asked: GamesAsked) -> list[_Branch]:
    """What is asked, as walks along indexes that can stop early."""
    venue = None if asked.venue is None else await venue_id(read, asked.venue)
    players = [
        [await version_id(read, name)] if asked.exact else await version_ids(read, name)
        for name in (asked.bot, asked.opponent)
        if name is not None
    ]
    filters = _filters(asked)
    if asked.running:
        if _has_length(asked) or asked.reason is not None or asked.result is not None:
            return []
        # Spelt out as in the partial index of these few games; not by an index of venues.
        here = [] if venue is None else [_games.c.venue_id + 0 == venue]
        return [
            _Branch((_games.c.result.is_(None), *here, *filters, *sides.conditions))
            for sides in _sides(players, walk=False)
        ]
    if asked.running is False and asked.reason is None and asked.result is None:
        filters = (*filters, _games.c.reason.is_not(None))
    verdicts = _verdicts(asked)
    # Where there is something better to go by, not by an index of venues.
    beside = () if venue is None else (_games.c.venue_id + 0 == venue,)
    uncorrected: Conditions = ()
    corrected: list[_Branch] = []
    if asked.result is not None:
        uncorrected = (_games.c.id.not_in(select(_corrections.c.game_id)),)
        reasons = () if asked.reason is None else (_games.c.reason == asked.reason,)
        corrected = [
            _Branch((_games.c.id.in_(_now(asked.result)), *beside, *reasons, *filters, *sides.conditions))
            for sides in _sides(players, walk=False)
        ]
    if players:
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


def _filters(asked: GamesAsked) -> Conditions:
    conditions: list[ColumnElement[bool]] = []
    if asked.min_moves is not None:
        conditions.append(_games.c.plies >= number(asked.min_moves))
    if asked.max_moves is not None:
        conditions.append(_games.c.plies <= number(asked.max_moves))
    if asked.since is not None:
        conditions.append(_games.c.started_at >= number(asked.since))
    if asked.until is not None:
        conditions.append(_games.c.started_at < number(asked.until))
    return tuple(conditions)


def _sides(players: Sequence[Sequence[int]], walk: bool) -> list[_Branch]:
    """Who had which color. For a walk a branch for each version, since only its own index is in the order of ids."""
    if not players:
        return [_Branch(())]
    mine, theirs = players[0], players[1:]
    found: list[_Branch] = []
    for side, other in ((_games.c.black_id, _games.c.white_id), (_games.c.white_id, _games.c.black_id)):
        # The opponent's side plus 0: not by an index of its own.
        against = tuple((other + 0).in_(those) for those in theirs)
        if walk:
            found += [_Branch((side == version, *against), side, version) for version in mine]
        else:
            found.append(_Branch(((side + 0).in_(mine), *against)))
    return found


def _verdicts(asked: GamesAsked) -> list[Conditions] | None:
    """Verdicts as the games ended, each one seek in an index; None where any will do."""
    if asked.reason is None and asked.result is None:
        return None
    found: list[Conditions] = []
    for reasons, rated in ((_RATED, True), (_UNRATED, False)):
        for reason in reasons:
            if asked.reason in (None, reason):
                found += [
                    (
                        _games.c.reason == reason,
                        _games.c.winner.is_(None) if winner is None else _games.c.winner == winner,
                    )
                    for winner in (0, 1, None)
                    if asked.result in (None, _result(rated, winner))
                ]
    return found


def _result(rated: bool, winner: int | None) -> str:
    return "none" if not rated else {0: "B", 1: "W", None: "draw"}[winner]


def _now(result: str) -> Select[Any]:
    """Corrected games that count as this now."""
    later = _corrections.alias("later")
    last = ~select(later.c.id).where(later.c.game_id == _corrections.c.game_id, later.c.id > _corrections.c.id).exists()
    void = _corrections.c.result.in_(VOIDS)
    counts: ColumnElement[bool]
    match result:
        case "none":
            counts = void
        case "draw":
            counts = and_(_corrections.c.winner.is_(None), ~void)
        case _:
            counts = _corrections.c.winner == _WINNERS[result]
    return select(_corrections.c.game_id).where(last, counts)


async def _between(read: Read, asked: GamesAsked, span: _Span) -> _Span:
    """The ids that games of these dates can have, by bisection of their starts."""
    if asked.since is None and asked.until is None:
        return span
    span = await _narrowed(read, span)
    low, high = span
    if asked.since is not None:
        low = await _first_since(read, span, asked.since - CLOCK_MS)
    if asked.until is not None:
        high = await _first_since(read, span, asked.until + CLOCK_MS) - 1
    return _Span(low, high)


async def _narrowed(read: Read, span: _Span) -> _Span:
    """No further than there are games."""
    rows = await read(select(_games.c.id).order_by(_games.c.id.desc()).limit(1))
    return _Span(span.low, min(span.high, rows[0]["id"] if rows else 0))


async def _first_since(read: Read, span: _Span, at: int) -> int:
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


async def version_ids(read: Read, name: str) -> list[int]:
    """The numbers of the versions of the bot of this name, or of the version. Raises Refused."""
    rows = await read(_VERSIONS_OF, name=name)
    if not rows:
        raise no_bot(name)
    return sorted({row["id"] for row in rows})


async def game_rows(read: Read, *asked: ColumnElement[bool], limit: int | None = None) -> list[GameRow]:
    """These games, newest first."""
    return [_game_row(row) for row in await read(_GAMES.where(*asked).limit(limit))]


async def games_by_id(read: Read, ids: Sequence[int]) -> list[GameRow]:
    """The games of these numbers, newest first; some hundreds at most."""
    return [_game_row(row) for row in await read(_GAMES_BY_ID, ids=ids)] if ids else []


def _game_row(row: RowMapping) -> GameRow:
    return GameRow(*[row[name] for name in _GAME_FIELDS])
