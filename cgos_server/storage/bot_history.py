"""The read side's answers about one bot and its versions, what lists of bots say of each, connections, acts of pairing
in a list, and the audit log.

Reads by keys and indexes only. Must not know: who may see what, how an answer is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, RowMapping, Select, bindparam, case, func, or_, select

from cgos_server.storage import tables
from cgos_server.storage.answers import SetAside
from cgos_server.storage.game_answers import AuditRow, BotDetail, ConnectionRow, PresenceRow, RoundRow, VersionRow
from cgos_server.storage.reading import Read, Reader, decoded, no_bot, number, value, venue_id, version_id

_bots, _versions, _venues, _owners = tables.bots, tables.versions, tables.venues, tables.owners
_connections, _rounds, _audit, _setbacks = tables.connections, tables.rounds, tables.audit, tables.setbacks


_leaders = _bots.alias("leaders")
_valid = (
    select(func.count())
    .where(tables.tokens.c.bot_id == _bots.c.id, tables.tokens.c.revoked_at.is_(None))
    .correlate(_bots)
    .scalar_subquery()
)


def _latest_connection(what: ColumnElement[int]) -> ColumnElement[int]:
    """Of a version."""
    return (
        select(what)
        .where(_connections.c.version_id == _versions.c.id)
        .order_by(_connections.c.id.desc())
        .limit(1)
        .correlate(_versions)
        .scalar_subquery()
    )


_seen = _latest_connection(func.coalesce(_connections.c.closed_at, _connections.c.opened_at)).label("last_seen_at")
_signed_in = _latest_connection(case((_connections.c.closed_at.is_(None), 1), else_=0)).label("signed_in")

# Built once: to build them takes longer than most answers.
_BOT: Final = (
    select(_bots, _leaders.c.name.label("family"), _owners.c.name.label("owner"), _valid.label("tokens"))
    .outerjoin(_leaders, _leaders.c.id == _bots.c.family_id)
    .outerjoin(_owners, _owners.c.id == _bots.c.owner_id)
    .where(_bots.c.name == bindparam("name"))
)
_ASIDE: Final = (
    select(_setbacks, _versions.c.wire_name.label("version"), _venues.c.name.label("venue"))
    .join_from(_versions, _setbacks, _setbacks.c.version_id == _versions.c.id)
    .join(_venues, _venues.c.id == _setbacks.c.venue_id)
    .where(_versions.c.bot_id == bindparam("bot"), _setbacks.c.set_aside == 1)
    .order_by(_setbacks.c.version_id, _setbacks.c.venue_id)
)
_VERSIONS: Final = (
    select(
        _versions,
        _versions.c.wire_name.label("name"),
        _bots.c.name.label("bot"),
        _seen,
        _signed_in,
    )
    .join_from(_versions, _bots, _bots.c.id == _versions.c.bot_id)
    .order_by(_versions.c.id)
)
_OF_BOT: Final = _VERSIONS.where(_versions.c.bot_id == bindparam("bot"))
_BY_NAME: Final = _VERSIONS.where(_versions.c.wire_name == bindparam("name"))
_PRESENCE: Final = (
    select(_connections, _venues.c.name.label("venue"))
    .join_from(_connections, _venues, _venues.c.id == _connections.c.venue_id)
    .where(
        _connections.c.version_id == bindparam("version"),
        or_(_connections.c.closed_at.is_(None), _connections.c.closed_at >= bindparam("since", type_=BigInteger)),
        _connections.c.opened_at <= bindparam("until", type_=BigInteger),
    )
    .order_by(_connections.c.id)
)


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
    set_aside: list[SetAside]


async def belongings(read: Read, bots: Collection[int], *, all_of_them: bool = False) -> dict[int, Belongings]:
    """What belongs to these bots; with `all_of_them` there are no others, and nothing is looked up one by one."""
    of_these = [] if all_of_them else [_versions.c.bot_id.in_(bots)]
    versions = await _by_bot(
        read,
        select(_versions.c.bot_id, _versions.c.wire_name, _seen, _signed_in).where(*of_these).order_by(_versions.c.id),
    )
    tokens = tables.tokens
    valid = await read(
        select(tokens.c.bot_id, func.count().label("count"))
        .where(tokens.c.revoked_at.is_(None), *([] if all_of_them else [tokens.c.bot_id.in_(bots)]))
        .group_by(tokens.c.bot_id)
    )
    counts = {row["bot_id"]: int(row["count"]) for row in valid}
    aside = await _by_bot(
        read,
        select(_setbacks, _versions.c.bot_id, _versions.c.wire_name.label("version"), _venues.c.name.label("venue"))
        .join_from(_setbacks, _versions, _versions.c.id == _setbacks.c.version_id)
        .join(_venues, _venues.c.id == _setbacks.c.venue_id)
        .where(_setbacks.c.set_aside == 1, *of_these)
        .order_by(_setbacks.c.version_id, _setbacks.c.venue_id),
    )
    return {
        bot: Belongings(
            versions=[row["wire_name"] for row in versions[bot]],
            tokens=counts.get(bot, 0),
            last_seen_at=_latest(row["last_seen_at"] for row in versions[bot]),
            signed_in=any(row["signed_in"] for row in versions[bot]),
            set_aside=[value(SetAside, row) for row in aside[bot]],
        )
        for bot in bots
    }


class BotHistory(Reader):
    """The part of :class:`cgos_server.storage.history.History` that is about one bot, and about what operators look
    into."""

    async def bot(self, name: str) -> BotDetail:
        """All about the bot of this name. Raises Refused."""
        async with self._snapshot() as read:
            found = await read(_BOT, name=name)
            if not found:
                raise no_bot(name)
            (bot,) = found
            versions = [_version(row) for row in await read(_OF_BOT, bot=bot["id"])]
            aside = await read(_ASIDE, bot=bot["id"])
        return value(
            BotDetail,
            bot,
            versions=versions,
            last_seen_at=_latest(version.last_seen_at for version in versions),
            signed_in=any(version.signed_in for version in versions),
            set_aside=[value(SetAside, row) for row in aside],
            paused=bool(bot["paused"]),
            limits=decoded(bot["limits"]),
        )

    async def relatives(self, name: str) -> list[str]:
        """The other bots of this bot's family, by name; none for a name that is not there."""
        leader = func.coalesce(_bots.c.family_id, _bots.c.id)
        own = select(leader).where(_bots.c.name == name).scalar_subquery()
        others = _bots.alias("others")
        async with self._snapshot() as read:
            rows = await read(
                select(others.c.name)
                .where(func.coalesce(others.c.family_id, others.c.id) == own, others.c.name != name)
                .order_by(others.c.name)
            )
        return [row["name"] for row in rows]

    async def version(self, name: str) -> VersionRow:
        """The version with this wire name. Raises Refused."""
        async with self._snapshot() as read:
            found = await read(_BY_NAME, name=name)
            if not found:
                await version_id(read, name)
        return _version(found[0])

    async def presence(self, version: str, since: int, until: int) -> list[PresenceRow]:
        """When a version was signed in between two times, in all venues, oldest first; connections that began before
        and lasted into it included."""
        async with self._snapshot() as read:
            me = await version_id(read, version)
            rows = await read(_PRESENCE, version=me, since=since, until=until)
        return [value(PresenceRow, row) for row in rows]

    async def connections_of(
        self,
        bot: str | None = None,
        venue: str | None = None,
        address: str | None = None,
        only_open: bool = False,
        limit: int = 50,
        before: int | None = None,
    ) -> list[ConnectionRow]:
        """Sign-ins, newest first; the next page is `before` the last one's id.

        :param bot: a bot's or a version's name
        :param only_open: only those whose end is not known; a crash may have hidden it
        """
        async with self._snapshot() as read:
            asked: list[ColumnElement[bool]] = []
            if bot is not None:
                named = or_(_versions.c.wire_name == bot, _bots.c.name == bot)
                ids = [row["id"] for row in await read(select(_versions.c.id).join(_bots).where(named))]
                if not ids:
                    raise no_bot(bot)
                asked.append(_connections.c.version_id.in_(ids))
            if venue is not None:
                asked.append(_connections.c.venue_id == await venue_id(read, venue))
            if address is not None:
                asked.append(_connections.c.address == address)
            if only_open:
                asked.append(_connections.c.closed_at.is_(None))
            if before is not None:
                asked.append(_connections.c.id < number(before))
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
                .where(*asked)
                .order_by(_connections.c.id.desc())
                .limit(limit)
            )
        return [value(ConnectionRow, row) for row in rows]

    async def rounds(self, venue: str, limit: int, before: int | None = None) -> list[RoundRow]:
        """A venue's acts of pairing, newest first; the next page is `before` the last one's number."""
        pairings = tables.pairings
        games = select(func.count()).where(pairings.c.round_id == _rounds.c.id).correlate(_rounds).scalar_subquery()
        async with self._snapshot() as read:
            asked = [_rounds.c.venue_id == await venue_id(read, venue)]
            if before is not None:
                asked.append(_rounds.c.number < number(before))
            rows = await read(
                select(
                    *(_rounds.c[name] for name in ("id", "number", "at", "policy", "method", "sits_out")),
                    games.label("games"),
                )
                .where(*asked)
                .order_by(_rounds.c.number.desc())
                .limit(limit)
            )
        return [value(RoundRow, row, sits_out=len(decoded(row["sits_out"]) or ())) for row in rows]

    async def audit(
        self,
        limit: int,
        before: int | None = None,
        actor: str | None = None,
        action: str | None = None,
        subject: str | None = None,
    ) -> list[AuditRow]:
        """What people did to the server, newest first; the next page is `before` the last one's id."""
        asked: list[ColumnElement[bool]] = [
            column == wanted
            for column, wanted in ((_audit.c.action, action), (_audit.c.subject, subject))
            if wanted is not None
        ]
        if actor is not None:  # who came by the pages stands with the address: "name (address)"
            asked.append(or_(_audit.c.actor == actor, _audit.c.actor.startswith(f"{actor} (", autoescape=True)))
        if before is not None:
            asked.append(_audit.c.id < number(before))
        async with self._snapshot() as read:
            rows = await read(select(_audit).where(*asked).order_by(_audit.c.id.desc()).limit(limit))
        return [value(AuditRow, row, detail=decoded(row["detail"])) for row in rows]


def _version(row: RowMapping) -> VersionRow:
    return value(VersionRow, row, parameters=decoded(row["parameters"]), signed_in=bool(row["signed_in"]))


def _latest(times: Iterable[int | None]) -> int | None:
    return max((at for at in times if at is not None), default=None)


async def _by_bot(read: Read, asked: Select[Any]) -> dict[int, list[RowMapping]]:
    found: dict[int, list[RowMapping]] = defaultdict(list)
    for row in await read(asked):
        found[row["bot_id"]].append(row)
    return found
