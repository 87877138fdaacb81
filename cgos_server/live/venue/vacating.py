"""Bots that are to be erased leave the venues, and venues forget how they were called.

Must not know: why they are erased, what else names them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from cgos_protocol.errors import Code, Unavailable
from cgos_protocol.ids import BotId, VersionId
from cgos_protocol.session import Limits
from cgos_server.core.renaming import Renaming
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.live.venue.player import Player
from cgos_server.storage.store import Store

PATIENCE_S: Final = 5.0
"""How long games may take to end, and connections to close."""

_AGAIN_S: Final = 0.02

ABORTED: Final = "A player of this game was erased from the server."


async def vacate(venues: Iterable[LiveVenue], store: Store, bots: Collection[BotId], sentence: str) -> None:
    """See :meth:`cgos_server.service.control.Control.vacate`; events are left before."""
    venues = list(venues)
    for venue in venues:
        for bot in bots:
            venue.play_limits.wish(bot, True, Limits())
    try:
        async with asyncio.timeout(PATIENCE_S):
            while _anybody(venues, bots, sentence):
                await store.commit([])  # games that begin, and ends of games
                await asyncio.sleep(_AGAIN_S)
    except TimeoutError:
        raise Unavailable(
            Code.BUSY, "A game or a connection of the bot does not end just now; nothing was erased. Try again.", 5
        ) from None


def _anybody(venues: Iterable[LiveVenue], bots: Collection[BotId], sentence: str) -> bool:
    """True while one of them is there or plays; each is sent away, each game of it aborted."""
    there = [
        (venue, player) for venue in venues for player in list(venue.roster.players.values()) if player.bot in bots
    ]
    for venue, player in there:
        _send_away(venue, player, sentence)
    return bool(there)


def _send_away(venue: LiveVenue, player: Player, sentence: str) -> None:
    for game in list(player.games.values()):
        if not game.ending:
            game.abort(ABORTED)
    venue.roster.dismiss(player.version, sentence)
    venue.roster.forget(player)


def rename(venue: LiveVenue, names: Mapping[VersionId, str], renaming: Renaming) -> None:
    """Use the new names. `names`: of versions; `renaming`: for sentences."""
    venue.roster.names.update(names)
    for player in venue.roster.players.values():
        player.name = names.get(player.version, player.name)
    venue.suspensions.reword(renaming.text)
    venue.watch.rename(renaming)
