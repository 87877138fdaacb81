"""What the store asks of the database, as SQLAlchemy Core selects that both databases understand.

Parameters are named; the stores compile each select once for their database. Must not know: which database, who asks.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    CompoundSelect,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from cgos_protocol.verdict import Reason, Verdict
from cgos_server.storage import tables
from cgos_server.storage.functions import bytewise
from cgos_server.storage.store import (
    Access,
    Owner,
    Shown,
    StoredGame,
    StoredRefit,
    StoredSetback,
    StoredState,
    StoredVersion,
    StoredWebhook,
    Token,
)

Question = Select[Any] | CompoundSelect[Any]

MOST_UNTOLD = 32
"""Games of which a version is told at one sign-in that they have ended."""

MOST_RECENT = 50_000
"""Games of a venue that are looked through for its versions' latest opponents: 100 games for each of a thousand."""

LATEST = 1_000
"""Games that are looked through for the last sign of life: more than run at once in most places."""

_bots, _versions, _games, _moves, _ledger = tables.bots, tables.versions, tables.games, tables.moves, tables.ledger
_black, _white = _versions.alias("black"), _versions.alias("white")

VENUES: Question = select(tables.venues.c.id, tables.venues.c.name, tables.venues.c.fixed).order_by(tables.venues.c.id)

NEXT_IDS: Question = select(
    *(
        select(func.coalesce(func.max(table.c.id), 0) + 1).scalar_subquery()
        for table in (
            tables.owners,
            _bots,
            _versions,
            tables.tokens,
            tables.connections,
            tables.rounds,
            _games,
            tables.access,
            tables.webhooks,
        )
    )
)

LOGIN: Question = (
    select(
        _bots.c.id,
        _versions.c.id,
        _bots.c.name,
        _bots.c.password,
        _bots.c.state,
        _bots.c.reason,
        _bots.c.until,
        _bots.c.owner_id,
        _bots.c.paused,
        _bots.c.limits,
        tables.tokens.c.digest,
    )
    .join_from(_bots, _versions, and_(_versions.c.bot_id == _bots.c.id, _versions.c.label == ""))
    .outerjoin(tables.tokens, and_(tables.tokens.c.bot_id == _bots.c.id, tables.tokens.c.revoked_at.is_(None)))
    .where(_bots.c.name == bindparam("name"))
)

NAME_TAKEN: Question = (
    select(_bots.c.name)
    .where(_bots.c.name_key == bindparam("name_key"))
    .union_all(
        select(tables.owners.c.name).where(tables.owners.c.name_key == bindparam("name_key")),
        select(_versions.c.wire_name).where(_versions.c.wire_key == bindparam("name_key")),
    )
)

VERSION: Question = select(*(_versions.c[name] for name in StoredVersion._fields)).where(
    _versions.c.bot_id == bindparam("bot_id"), _versions.c.label == bindparam("label")
)

OWNER: Question = select(*(tables.owners.c[name] for name in Owner._fields)).where(
    tables.owners.c.name == bindparam("name")
)
_access, _owners, _webhooks = tables.access, tables.owners, tables.webhooks


def _lets_in(now_ms: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(_access.c.revoked_at.is_(None), or_(_access.c.expires_at.is_(None), _access.c.expires_at > now_ms))


def person(digest: ColumnElement[str], now_ms: ColumnElement[int]) -> Select[Any]:
    """Who comes in by what has this digest, with the fields of :class:`cgos_server.storage.store.Person`."""
    return (
        select(
            _access.c.id,
            _access.c.owner_id,
            _owners.c.name,
            _owners.c.admin,
            _access.c.kind,
            _access.c.scopes,
            _access.c.expires_at,
        )
        .join_from(_access, _owners, _owners.c.id == _access.c.owner_id)
        .where(_access.c.digest == digest, _lets_in(now_ms), _owners.c.state == literal_column("'active'"))
    )


_now_ms = bindparam("now_ms", type_=BigInteger)
PERSON: Question = person(bindparam("digest"), _now_ms)
_access_columns = [_access.c[name] for name in Access._fields]
ACCESS: Question = select(*_access_columns).where(
    _access.c.id == bindparam("access_id", type_=BigInteger), _access.c.revoked_at.is_(None)
)
VALID_ACCESS: Question = (
    select(*_access_columns)
    .where(_access.c.owner_id == bindparam("owner_id"), _lets_in(_now_ms))
    .order_by(_access.c.id)
)
OLD_ACCESS: Question = (
    select(_access.c.id)
    .where(
        _access.c.owner_id == bindparam("owner_id"),
        or_(
            _access.c.revoked_at < bindparam("before_ms", type_=BigInteger),
            _access.c.expires_at < bindparam("before_ms", type_=BigInteger),
        ),
    )
    .order_by(_access.c.id)
    .limit(200)
)
_webhook_columns = [_webhooks.c[name] for name in StoredWebhook._fields]
WEBHOOK: Question = select(*_webhook_columns).where(
    _webhooks.c.id == bindparam("webhook_id", type_=BigInteger), _webhooks.c.stopped_at.is_(None)
)
WEBHOOKS_OF: Question = (
    select(*_webhook_columns)
    .where(_webhooks.c.owner_id == bindparam("owner_id"), _webhooks.c.stopped_at.is_(None))
    .order_by(_webhooks.c.id)
)
BOT_OWNER: Question = (
    select(_bots.c.id, _bots.c.name, _bots.c.owner_id)
    .join_from(_versions, _bots, _bots.c.id == _versions.c.bot_id)
    .where(_versions.c.wire_name == bindparam("name"))
)

TOKENS: Question = (
    select(*(tables.tokens.c[name] for name in Token._fields))
    .where(tables.tokens.c.bot_id == bindparam("bot_id"))
    .order_by(tables.tokens.c.id)
)

_game_columns = {name: _games.c[name] for name in StoredGame._fields if name in _games.c} | {
    "black": _black.c.wire_name,
    "white": _white.c.wire_name,
    "why": func.coalesce(tables.pairings.c.reason, ""),
}
_move_columns = [
    _moves.c.game_id,
    _moves.c.move,
    _moves.c.main_us,
    _moves.c.period_us,
    _moves.c.quota,
    _moves.c.bank_us,
]


def _stored_games(*where: ColumnElement[bool]) -> Select[Any]:
    return (
        select(*(_game_columns[name] for name in StoredGame._fields if name != "moves"))
        .join_from(_games, _black, _black.c.id == _games.c.black_id)
        .join(_white, _white.c.id == _games.c.white_id)
        .outerjoin(tables.pairings, tables.pairings.c.game_id == _games.c.id)
        .where(*where)
    )


_unfinished = _games.c.result.is_(None)
UNFINISHED: Question = _stored_games(_unfinished).order_by(_games.c.id)
UNFINISHED_MOVES: Question = (
    select(*_move_columns)
    .where(_moves.c.game_id.in_(select(_games.c.id).where(_unfinished)))
    .order_by(_moves.c.game_id, _moves.c.ply)
)
LEFT_OPEN: Question = (
    select(tables.connections.c.id, tables.connections.c.opened_at)
    .where(tables.connections.c.closed_at.is_(None))
    .order_by(tables.connections.c.id)
)
_latest_games = select(_games.c.started_at, _games.c.ended_at).order_by(_games.c.id.desc()).limit(LATEST).subquery()
LAST_SIGNS: Question = select(
    select(func.max(_latest_games.c.started_at)).scalar_subquery(),
    select(func.max(_latest_games.c.ended_at)).scalar_subquery(),
    select(func.max(_moves.c.at)).where(_moves.c.game_id.in_(select(_games.c.id).where(_unfinished))).scalar_subquery(),
)
GAME: Question = _stored_games(_games.c.id == bindparam("game_id", type_=BigInteger))
GAME_MOVES: Question = (
    select(*_move_columns).where(_moves.c.game_id == bindparam("game_id", type_=BigInteger)).order_by(_moves.c.ply)
)
RECENT: Question = (
    _stored_games(_games.c.venue_id == bindparam("venue_id"), _games.c.result.is_not(None))
    .order_by(_games.c.id.desc())
    .limit(bindparam("limit"))
)


def _untold(side: Column[int], told: Column[int]) -> Select[Any]:
    return select(_games.c.id, _games.c.ended_at).where(
        _games.c.venue_id == bindparam("venue_id"),
        side == bindparam("version_id"),
        told < literal_column("2"),  # spelt out, so that SQLite sees that the partial index serves
        _games.c.ended_at >= bindparam("since"),
    )


_untold_games = union_all(
    _untold(_games.c.black_id, _games.c.black_told), _untold(_games.c.white_id, _games.c.white_told)
).subquery()
_latest_untold = (
    select(_untold_games.c.id)
    .order_by(_untold_games.c.ended_at.desc(), _untold_games.c.id.desc())
    .limit(literal_column(str(MOST_UNTOLD)))
)
UNTOLD: Question = _stored_games(_games.c.id.in_(_latest_untold)).order_by(_games.c.ended_at, _games.c.id)


def _begun(side: Column[int]) -> ColumnElement[int]:
    return (
        select(func.count())
        .where(
            side == bindparam("version_id"),
            _games.c.started_at >= bindparam("since"),
            _games.c.venue_id == bindparam("venue_id"),
        )
        .scalar_subquery()
    )


BEGUN: Question = select(_begun(_games.c.black_id) + _begun(_games.c.white_id))

_entry_columns = (
    *("seq", "kind", "version_id", "black_id", "white_id", "score2", "value", "sd", "other_id", "was2", "repeat", "at"),
)
LEDGER: Question = (
    select(*(_ledger.c[name] for name in _entry_columns))
    .where(_ledger.c.venue_id == bindparam("venue_id"), _ledger.c.seq > bindparam("after"))
    .order_by(_ledger.c.seq)
    .limit(bindparam("limit"))
)

_states, _refits = tables.rating_states, tables.refits
PUBLISHED: Question = (
    select(tables.ratings.c.system, func.max(tables.ratings.c.seq))
    .where(tables.ratings.c.venue_id == bindparam("venue_id"))
    .group_by(tables.ratings.c.system)
)
SHOWN: Question = select(*(tables.ratings.c[name] for name in ("version_id", *Shown._fields))).where(
    tables.ratings.c.venue_id == bindparam("venue_id"), tables.ratings.c.system == bindparam("system")
)
RATING_STATE: Question = select(*(_states.c[name] for name in StoredState._fields)).where(
    _states.c.venue_id == bindparam("venue_id"), _states.c.system == bindparam("system")
)
REFITS: Question = (
    select(*(_refits.c[name] for name in StoredRefit._fields))
    .where(
        _refits.c.venue_id == bindparam("venue_id"),
        _refits.c.system == bindparam("system"),
        _refits.c.number > bindparam("after"),
    )
    .order_by(_refits.c.number)
    .limit(bindparam("limit"))
)
LAST_REFIT: Question = select(func.coalesce(func.max(_refits.c.number), 0)).where(
    _refits.c.venue_id == bindparam("venue_id"), _refits.c.system == bindparam("system")
)

# Kinds are spelt out, so that SQLite sees that the partial indexes serve.
_is_game = _ledger.c.kind == literal_column("'game'")
_is_correction = _ledger.c.kind == literal_column("'correction'")
_of_game = _ledger.c.game_id == bindparam("game_id", type_=BigInteger)
_counted_columns = [_ledger.c[name] for name in ("seq", "kind", "score2", "digest", "repeat")]
COUNTED: Question = union_all(
    select(*_counted_columns).where(_of_game, _is_game), select(*_counted_columns).where(_of_game, _is_correction)
).order_by("seq")
_taken_back = _ledger.alias("taken_back")
DIGESTS: Question = (
    select(_ledger.c.seq, _ledger.c.black_id, _ledger.c.white_id, _ledger.c.digest)
    .where(
        _ledger.c.venue_id == bindparam("venue_id"),
        _ledger.c.seq > bindparam("after"),
        _is_game,
        _ledger.c.digest.is_not(None),
        ~exists().where(
            _taken_back.c.game_id == _ledger.c.game_id,
            _taken_back.c.kind == literal_column("'correction'"),
            or_(_taken_back.c.score2.is_(None), _taken_back.c.score2 != _ledger.c.score2),
        ),
    )
    .order_by(_ledger.c.seq)
    .limit(bindparam("limit"))
)
FIRST_REPEAT: Question = (
    select(_ledger.c.game_id, _ledger.c.score2)
    .where(
        _ledger.c.venue_id == bindparam("venue_id"),
        _ledger.c.black_id == bindparam("black_id"),
        _ledger.c.white_id == bindparam("white_id"),
        _ledger.c.digest == bindparam("digest"),
        _is_game,
        _ledger.c.repeat == literal_column("1"),
        ~exists().where(
            _taken_back.c.game_id == _ledger.c.game_id, _taken_back.c.kind == literal_column("'correction'")
        ),
    )
    .order_by(_ledger.c.seq)
    .limit(literal_column("1"))
)

_rated = or_(*(_games.c.reason == reason.value for reason in Reason if Verdict(None, reason).rated))
MEETINGS: Question = (
    select(_games.c.black_id, _games.c.white_id, func.count())
    .where(_games.c.venue_id == bindparam("venue_id"), _rated)
    .group_by(_games.c.black_id, _games.c.white_id)
)

RECENT_OPPONENTS: Question = (
    select(_games.c.black_id, _games.c.white_id)
    .where(_games.c.venue_id == bindparam("venue_id"))
    .order_by(_games.c.id.desc())
    .limit(literal_column(str(MOST_RECENT)))
)

# One of the two versions stands first in each pair, so that both colors come together. The openings' condition is spelt
# out, so that SQLite sees that the partial index serves.
_low_first = case((_games.c.black_id < _games.c.white_id, literal_column("1")), else_=literal_column("-1"))
_lower = case((_games.c.black_id < _games.c.white_id, _games.c.black_id), else_=_games.c.white_id)
_higher = case((_games.c.black_id < _games.c.white_id, _games.c.white_id), else_=_games.c.black_id)
_played_halves = (
    select(
        _lower.label("lower"),
        _higher.label("higher"),
        _games.c.opening,
        func.sum(_low_first).label("more"),
        func.max(_games.c.started_at).label("at"),
    )
    .where(
        _games.c.venue_id == bindparam("venue_id"),
        _games.c.opening != literal_column("''"),
        or_(_games.c.reason.is_(None), _rated),
    )
    .group_by(literal_column("1"), literal_column("2"), _games.c.opening)
    .subquery()
)
HALVES: Question = (
    select(_played_halves)
    .where(_played_halves.c.more != literal_column("0"))
    .order_by(_played_halves.c.lower, _played_halves.c.higher, bytewise(_played_halves.c.opening))
)

_thought_games = (
    select(_games.c.id, _games.c.black_id, _games.c.white_id, _games.c.start)
    .where(_games.c.venue_id == bindparam("venue_id"), _rated)
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
THINKING: Question = select(
    _thought_games.c.black_id,
    _thought_games.c.white_id,
    _thought_games.c.start,
    _thought_moves.c.odd,
    _thought_moves.c.used_us,
).join_from(_thought_games, _thought_moves, _thought_moves.c.game_id == _thought_games.c.id)

_setbacks = tables.setbacks
SETBACKS: Question = (
    select(*(_setbacks.c[name] for name in StoredSetback._fields))
    .where(
        _setbacks.c.venue_id == bindparam("venue_id"),
        or_(_setbacks.c.spoilt > literal_column("0"), _setbacks.c.set_aside == literal_column("1")),
    )
    .order_by(_setbacks.c.version_id)
)

LAST_ROUND: Question = select(func.coalesce(func.max(tables.rounds.c.number), 0)).where(
    tables.rounds.c.venue_id == bindparam("venue_id")
)

VERSION_NAMES: Question = select(_versions.c.id, _versions.c.wire_name)
BOT_NAMES: Question = select(_bots.c.id, _bots.c.name, _bots.c.family_id).order_by(_bots.c.id)
BOT_IDS: Question = select(_versions.c.id, _versions.c.bot_id)
