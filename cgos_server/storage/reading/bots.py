"""The read side's answers about bots and their versions: what sign-in needs, what lists and pages say, when they were
signed in.

Reads by keys and indexes only. Must not know: who may see what, how an answer is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    RowMapping,
    Select,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
)

from cgos_protocol import hours
from cgos_protocol.api.messages import Suspended, Version
from cgos_protocol.api.people import Connection
from cgos_protocol.ids import BotId, VersionId
from cgos_protocol.names import fold
from cgos_protocol.session import Limits
from cgos_server.storage import tables
from cgos_server.storage.functions import bytewise, latest
from cgos_server.storage.parameters import VENUE, number, portions
from cgos_server.storage.reading.answers import BotDetail, BotRow, ConnectionSpan, PresenceRow, TokenRow
from cgos_server.storage.reading.game_rows import version_ids
from cgos_server.storage.reading.source import Read, Subject, VenueKey, no_bot, no_version, value, venue_id, version_id
from cgos_server.storage.reading.stored import BotLogin, StoredVersion

_bots, _versions, _venues, _owners = tables.bots, tables.versions, tables.venues, tables.owners
_connections, _suspensions, _tokens = tables.connections, tables.suspensions, tables.tokens
_leaders = _bots.alias("leaders")


def _latest_connection(what: ColumnElement[int]) -> ColumnElement[int]:
    """Of a version."""
    of_version = _connections.c.version_id == _versions.c.id
    return latest(what, where=[of_version], by=_connections.c.id, of=_versions)


_seen = _latest_connection(func.coalesce(_connections.c.closed_at, _connections.c.opened_at)).label("last_seen_at")
_signed_in = _latest_connection(case((_connections.c.closed_at.is_(None), 1), else_=0)).label("signed_in")

# Built once: to build them takes longer than most answers.
_NAME: BindParameter[str] = bindparam("name")
_BOTS: Final = (
    select(_bots, _leaders.c.name.label("family"), _owners.c.name.label("owner"))
    .outerjoin(_leaders, _leaders.c.id == _bots.c.family_id)
    .outerjoin(_owners, _owners.c.id == _bots.c.owner_id)
)
_BOT: Final = _BOTS.where(_bots.c.name == _NAME)
_VERSIONS: Final = (
    select(
        _versions,
        _versions.c.wire_name.label("name"),
        *(_bots.c.name.label("bot"), _seen, _signed_in),
    )
    .join_from(_versions, _bots, _bots.c.id == _versions.c.bot_id)
    .order_by(_versions.c.id)
)
_OF_BOT: Final = _VERSIONS.where(_versions.c.bot_id == bindparam("bot"))
_BY_NAME: Final = _VERSIONS.where(_versions.c.wire_name == _NAME)
_lasting = (
    or_(_connections.c.closed_at.is_(None), _connections.c.closed_at >= bindparam("since", type_=BigInteger)),
    _connections.c.opened_at <= bindparam("until", type_=BigInteger),
)
_PRESENCE: Final = (
    select(_connections, _venues.c.name.label("venue"))
    .join_from(_connections, _venues, _venues.c.id == _connections.c.venue_id)
    .where(_connections.c.version_id == bindparam("version"), *_lasting)
    .order_by(_connections.c.id)
)
_SPANS: Final = (
    select(_connections)
    .where(
        _connections.c.version_id.in_(bindparam("versions", expanding=True)),
        _connections.c.venue_id == VENUE,
        *_lasting,
    )
    .order_by(_connections.c.version_id, _connections.c.id)
)
_LOGIN: Final = (
    select(_bots, _bots.c.id.label("bot_id"), _versions.c.id.label("version_id"), _tokens.c.digest)
    .join_from(_bots, _versions, and_(_versions.c.bot_id == _bots.c.id, _versions.c.label == ""))
    .outerjoin(_tokens, and_(_tokens.c.bot_id == _bots.c.id, _tokens.c.revoked_at.is_(None)))
    .where(_bots.c.name == _NAME)
)
_NAME_TAKEN: Final = (
    select(_bots.c.name)
    .where(_bots.c.name_key == _NAME)
    .union_all(
        select(_owners.c.name).where(_owners.c.name_key == _NAME),
        select(_versions.c.wire_name).where(_versions.c.wire_key == _NAME),
    )
)
_LABELED: Final = select(_versions).where(
    _versions.c.bot_id == bindparam("bot"), _versions.c.label == bindparam("label")
)
_VERSION_NAMES: Final = select(_versions.c.id, _versions.c.wire_name, _versions.c.bot_id)


class Belongings(NamedTuple):
    """What belongs to one of several bots.

    :ivar versions: wire names, oldest first
    :ivar tokens: how many are valid
    :ivar last_seen_at: start or end of its latest connection, Unix milliseconds
    :ivar signed_in: one of its versions is
    """

    versions: list[str]
    tokens: int
    last_seen_at: int | None
    signed_in: bool
    suspended: list[Suspended]


async def belongings(read: Read, bots: Collection[BotId], *, all_of_them: bool = False) -> dict[BotId, Belongings]:
    """What belongs to these bots; with `all_of_them` there are no others, and nothing is looked up one by one."""
    of_these = [] if all_of_them else [_versions.c.bot_id.in_(bots)]
    versions = await _by_bot(
        read,
        select(_versions.c.bot_id, _versions.c.wire_name, _seen, _signed_in).where(*of_these).order_by(_versions.c.id),
    )
    valid = await read(
        select(_tokens.c.bot_id, func.count().label("count"))
        .where(_tokens.c.revoked_at.is_(None), *([] if all_of_them else [_tokens.c.bot_id.in_(bots)]))
        .group_by(_tokens.c.bot_id)
    )
    counts = {row["bot_id"]: int(row["count"]) for row in valid}
    suspended = await _by_bot(
        read,
        select(_suspensions, _versions.c.bot_id, _versions.c.wire_name.label("version"), _venues.c.name.label("venue"))
        .join_from(_suspensions, _versions, _versions.c.id == _suspensions.c.version_id)
        .join(_venues, _venues.c.id == _suspensions.c.venue_id)
        .where(_suspensions.c.suspended == 1, *of_these)
        .order_by(_suspensions.c.version_id, _suspensions.c.venue_id),
    )
    return {
        bot: Belongings(
            versions=[row["wire_name"] for row in versions[bot]],
            tokens=counts.get(bot, 0),
            last_seen_at=_latest(row["last_seen_at"] for row in versions[bot]),
            signed_in=any(row["signed_in"] for row in versions[bot]),
            suspended=[value(Suspended, row) for row in suspended[bot]],
        )
        for bot in bots
    }


class Bots(Subject):
    """Bots and their versions."""

    async def page(self, limit: int | None = None, after: str = "") -> list[BotRow]:
        """All registered bots, or the first `limit` ones whose names come after this one; by name, without regard to
        capitals."""
        async with self._source.snapshot() as read:
            bots = await read(
                _BOTS.where(bytewise(_bots.c.name_key) > fold(after)).order_by(bytewise(_bots.c.name_key)).limit(limit)
            )
            more = await belongings(read, [bot["id"] for bot in bots], all_of_them=limit is None)
        return [value(BotRow, bot, **more[bot["id"]]._asdict()) for bot in bots]

    async def detail(self, name: str) -> BotDetail:
        """All about the bot of this name. Raises Refused."""
        async with self._source.snapshot() as read:
            rows = await read(_BOT, name=name)
            if not rows:
                raise no_bot(name)
            (bot,) = rows
            more = (await belongings(read, [bot["id"]]))[bot["id"]]._asdict()
            more["versions"] = [value(Version, row) for row in await read(_OF_BOT, bot=bot["id"])]
        return value(BotDetail, bot, **more)

    async def relatives(self, name: str) -> list[str]:
        """The other bots of this bot's family, by name; none for a name that is not there."""
        leader = func.coalesce(_bots.c.family_id, _bots.c.id)
        own = select(leader).where(_bots.c.name == name).scalar_subquery()
        others = _bots.alias("others")
        rows = await self._source.rows(
            select(others.c.name)
            .where(func.coalesce(others.c.family_id, others.c.id) == own, others.c.name != name)
            .order_by(others.c.name)
        )
        return [row["name"] for row in rows]

    async def version(self, name: str) -> Version:
        """The version with this wire name. Raises Refused."""
        rows = await self._source.rows(_BY_NAME, name=name)
        if not rows:
            raise no_version(name)
        return value(Version, rows[0])

    async def presence(self, version: str, since: int, until: int) -> list[PresenceRow]:
        """When a version was signed in between two times, in all venues, oldest first; connections that began before
        and lasted into it included."""
        async with self._source.snapshot() as read:
            me = await version_id(read, version)
            rows = await read(_PRESENCE, version=me, since=since, until=until)
        return [value(PresenceRow, row) for row in rows]

    async def connection_spans(
        self, venue: VenueKey, versions: Iterable[VersionId], since: int, until: int
    ) -> list[ConnectionSpan]:
        """When these versions were signed in there between two times (Unix ms), each version's oldest first."""
        spans: list[ConnectionSpan] = []
        async with self._source.snapshot() as read:
            there = await venue_id(read, venue)
            for some in portions(sorted(set(versions))):
                rows = await read(_SPANS, venue=there, versions=some, since=since, until=until)
                spans += [value(ConnectionSpan, row) for row in rows]
        return spans

    async def connections(
        self,
        bot: str | None = None,
        venue: VenueKey | None = None,
        address: str | None = None,
        only_open: bool = False,
        limit: int = 50,
        before: int | None = None,
    ) -> list[Connection]:
        """Sign-ins, newest first; the next page is `before` the last one's id.

        :param bot: a bot's or a version's name
        :param only_open: only those whose end is not known; a crash may have hidden it
        """
        async with self._source.snapshot() as read:
            conditions: list[ColumnElement[bool]] = []
            if bot is not None:
                conditions.append(_connections.c.version_id.in_(await version_ids(read, bot)))
            if venue is not None:
                conditions.append(_connections.c.venue_id == await venue_id(read, venue))
            if address is not None:
                conditions.append(_connections.c.address == address)
            if only_open:
                conditions.append(_connections.c.closed_at.is_(None))
            if before is not None:
                conditions.append(_connections.c.id < number(before))
            rows = await read(
                select(
                    _connections,
                    _venues.c.name.label("venue"),
                    _versions.c.wire_name.label("version"),
                    _bots.c.name.label("bot"),
                )
                .join_from(_connections, _venues, _venues.c.id == _connections.c.venue_id)
                .join(_versions, _versions.c.id == _connections.c.version_id)
                .join(_bots, _bots.c.id == _versions.c.bot_id)
                .where(*conditions)
                .order_by(_connections.c.id.desc())
                .limit(limit)
            )
        return [value(Connection, row) for row in rows]

    async def tokens(self, bot: str) -> list[TokenRow]:
        """The tokens of the bot with this name, revoked ones too."""
        async with self._source.snapshot() as read:
            bots = await read(select(_bots.c.id).where(_bots.c.name == bot))
            if not bots:
                raise no_bot(bot)
            rows = await read(select(_tokens).where(_tokens.c.bot_id == bots[0]["id"]).order_by(_tokens.c.id))
        return [value(TokenRow, row) for row in rows]

    async def version_names(self) -> dict[VersionId, str]:
        """Version id -> wire name."""
        return {row["id"]: row["wire_name"] for row in await self._source.rows(_VERSION_NAMES)}

    async def of_versions(self) -> dict[VersionId, BotId]:
        """Version id -> id of the bot whose version it is."""
        return {row["id"]: row["bot_id"] for row in await self._source.rows(_VERSION_NAMES)}

    async def names(self) -> list[tuple[BotId, str, BotId | None]]:
        """(id, name, family's id or None) of every bot, oldest first."""
        rows = await self._source.rows(select(_bots.c.id, _bots.c.name, _bots.c.family_id).order_by(_bots.c.id))
        return [(row["id"], row["name"], row["family_id"]) for row in rows]

    # -- as sign-in asks

    async def login(self, name: str) -> BotLogin | None:
        """The bot with exactly this name and the version that carries its name, or None."""
        rows = await self._source.rows(_LOGIN, name=name)
        if not rows:
            return None
        bot = rows[0]
        return value(
            BotLogin,
            bot,
            owner=bot["owner_id"],
            limits=_limits(bot["limits"]),
            tokens=frozenset(row["digest"] for row in rows if row["digest"] is not None),
        )

    async def name_taken(self, name_key: str) -> str | None:
        """The bot, account or version whose folded (wire) name is `name_key` as it is spelt, or None."""
        rows = await self._source.rows(_NAME_TAKEN, name=name_key)
        return str(rows[0]["name"]) if rows else None

    async def labeled(self, bot_id: BotId, label: str) -> StoredVersion | None:
        """The version of this bot with exactly this label, or None."""
        rows = await self._source.rows(_LABELED, bot=bot_id, label=label)
        return value(StoredVersion, rows[0]) if rows else None


def _limits(text: str) -> Limits:
    stored = msgspec.json.decode(text) if text else {}
    return Limits(
        games_a_day=stored.get("games_a_day"),
        avoid=frozenset(stored.get("avoid", ())),
        accepts=frozenset(stored.get("accepts", ())),
        hours=hours.read(stored.get("hours", "")),
    )


def _latest(times: Iterable[int | None]) -> int | None:
    return max((at for at in times if at is not None), default=None)


async def _by_bot(read: Read, query: Select[Any]) -> dict[BotId, list[RowMapping]]:
    by_bot: dict[BotId, list[RowMapping]] = defaultdict(list)
    for row in await read(query):
        by_bot[row["bot_id"]].append(row)
    return by_bot
