"""Who is erased, under which name it goes on, and what becomes of every text that names it.

Results, moves and ratings stay: those of others follow from them. Must not know: who may have it done, the live server,
files.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import BotId, VersionId
from cgos_protocol.names import fold
from cgos_server.core.renaming import Renaming
from cgos_server.storage.parameters import portions
from cgos_server.storage.reading.stored import Owner
from cgos_server.storage.store import Store
from cgos_server.storage.writing.erasing import (
    REWORDED,
    AnalysisReworded,
    AuditReworded,
    BotErased,
    ConnectionReworded,
    OwnerErased,
    PairingReworded,
    Reworded,
    RoundReworded,
    TokenForgotten,
    VersionErased,
    WebhookForgotten,
)
from cgos_server.storage.writing.records import AccessForgotten, BotOwner, BotWishes, Record
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.renamed import renamed

ERASED: Final = re.compile(r"deleted-[0-9]+(-[0-9]+)?", re.IGNORECASE)
"""Names of those who were erased: nobody else gets one."""

LARGE: Final = (RoundReworded, PairingReworded, AnalysisReworded)
"""Tables that may be too large for one transaction. What they say is worded anew before, portion by portion: it names
nobody whose name is not in the tables of names as well."""

AT_ONCE: Final = 10
"""Of these rows, how many one commit words anew: moves wait for it, and a pairing pass may have a hundred kilobytes."""

_ACTOR: Final = re.compile(r"(deleted-[0-9]+) \(.*\)")
_CANDIDATE: Final = re.compile(r'(\[[0-9]+,")([A-Za-z0-9_.-]+)(?=")')
_JSON: Final = frozenset({"detail", "limits", "parameters", "sits_out", "notes"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Erased:
    """Who is erased.

    :ivar owner: the account; None: bots alone
    :ivar bots: id -> new name
    :ivar versions: id -> new wire name
    :ivar given_up: bots of the account that go on playing, and belong to nobody
    :ivar renaming: of all of them
    """

    owner: Owner | None
    owner_name: str
    bots: Mapping[BotId, str]
    versions: Mapping[VersionId, str]
    labels: Mapping[VersionId, str]
    given_up: Sequence[BotId]
    renaming: Renaming

    @property
    def names(self) -> list[str]:
        """As they were, in small letters."""
        return list(self.renaming.names)


async def erased(store: Store, owner: Owner | None, bots: Mapping[BotId, str], given_up: Sequence[BotId]) -> Erased:
    """The new names. They follow from the numbers in the database, so that an erasure that is done again after an old
    backup was restored comes to the same names. `bots`: id -> name."""
    owner_name = "" if owner is None else await _free(store, 2 * owner.id - 1)
    bot_names = {bot: await _free(store, 2 * bot) for bot in bots}
    names = {name: bot_names[bot] for bot, name in bots.items()}
    if owner is not None:
        names[owner.name] = owner_name
    versions: dict[VersionId, str] = {}
    labels: dict[VersionId, str] = {}
    old = await store.history.erasing.versions(bots)
    numbers = {bot: _numbers({version.label for version in old if version.bot_id == bot}) for bot in bots}
    for version in old:
        label = next(numbers[version.bot_id]) if version.label else ""
        new = bot_names[version.bot_id] + (f"-{label}" if label else "")
        versions[version.id], labels[version.id] = new, label
        names[version.wire_name] = new
    return Erased(
        owner=owner,
        owner_name=owner_name,
        bots=bot_names,
        versions=versions,
        labels=labels,
        given_up=given_up,
        renaming=Renaming(names),
    )


def _numbers(taken: Collection[str]) -> Iterator[str]:
    """Labels from 2 on, but for those that are taken: a version gets its new one while others still have their old
    ones, and no two of a bot may have the same."""
    return (label for number in itertools.count(2) if (label := str(number)) not in taken)


async def _free(store: Store, number: int) -> str:
    while await store.history.bots.name_taken(f"deleted-{number}") is not None:
        number += 2
    return f"deleted-{number}"


async def reword_large(store: Store, who: Erased) -> None:
    """Word anew what may be too much for one transaction; what was done of it stays done. Raises CommitFailed."""
    for kind in LARGE:
        async for rows in _reworded(store, kind, who.renaming):
            for some in portions(rows, AT_ONCE):
                await store.commit(some)


async def reworded(store: Store, who: Erased) -> list[Record]:
    """The rows of all other tables that name somebody, and of the large ones what came meanwhile."""
    return [row for kind in REWORDED async for rows in _reworded(store, kind, who.renaming) for row in rows]


async def _reworded(store: Store, kind: type[Reworded], renaming: Renaming) -> AsyncIterator[list[Record]]:
    async for rows in store.history.erasing.naming(kind, list(renaming.names)):
        changed: list[Record] = []
        for row in rows:
            new = reword(row, renaming)
            if new != row:
                changed.append(new)
            await asyncio.sleep(0)  # a large row takes a millisecond, and games go first
        if changed:
            yield changed


async def rows_of(store: Store, who: Erased, no_password: str) -> list[Record]:
    """The rows of the people and bots themselves. `no_password`: a hash that no password has."""
    owner = who.owner
    belongings = await store.history.erasing.belongings(None if owner is None else owner.id, list(who.bots))
    records: list[Record] = [TokenForgotten(number) for number in belongings.tokens]
    records += [AccessForgotten(number) for number in belongings.access]
    records += [WebhookForgotten(number) for number in belongings.webhooks]
    for bot in who.given_up:
        records += [BotOwner(None, bot), BotWishes(0, "", bot)]
    if owner is not None:
        name = who.owner_name
        records.append(
            OwnerErased(name=name, name_key=fold(name), password=no_password, admin=0, state="disabled", id=owner.id)
        )
    for bot, name in who.bots.items():
        records.append(
            BotErased(
                name=name,
                name_key=fold(name),
                password=no_password,
                state="disabled",
                reason="Erased.",
                owner_id=None,
                until=None,
                paused=0,
                limits="",
                id=bot,
            )
        )
    for version, name in who.versions.items():
        records.append(
            VersionErased(
                wire_name=name,
                wire_key=fold(name),
                label=who.labels[version],
                engine="",
                parameters="",
                author="",
                id=version,
            )
        )
    connections = await store.history.erasing.connections(list(who.versions))
    records += [ConnectionReworded("", "", who.renaming.text(row.reason), row.id) for row in connections]
    return records


def reword(row: Reworded, renaming: Renaming) -> Reworded:
    """The row with the new names. An actor's address goes with its name."""
    changes: dict[str, Any] = {}
    for field, text in zip(row._fields, row, strict=True):
        if not isinstance(text, str):
            continue
        if field == "body":
            changes[field] = _entry(text, renaming)
        elif field == "inputs":
            changes[field] = _CANDIDATE.sub(
                lambda match: match[1] + renaming.names.get(match[2].lower(), match[2]), text
            )
        elif field in _JSON:
            changes[field] = renaming.json(text)
        else:
            changes[field] = renaming.text(text)
        if field == "actor" and changes[field] != text:
            changes[field] = _ACTOR.sub(r"\1", changes[field])
    new = row._replace(**changes)
    if isinstance(new, AuditReworded) and new[:2] != row[:2]:
        return new._replace(detail=_without_origin(new.detail))
    return new


def _entry(body: str, renaming: Renaming) -> str:
    try:
        said = log.decode(body)
    except OurFault:  # of another version of the program
        return renaming.json(body)
    new = renamed(said, renaming.text)
    return body if new == said else log.encode(new)


def _without_origin(detail: str) -> str:
    """What the audit keeps, without the address of whoever did it."""
    kept = msgspec.json.decode(detail)
    if not kept.get("origin"):
        return detail
    return msgspec.json.encode(kept | {"origin": ""}, order="deterministic").decode()
