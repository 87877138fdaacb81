"""Entries of events' logs, for tests. Must not know: what follows from them."""

from __future__ import annotations

from cgos_protocol.ids import BotId, VersionId
from cgos_server.tournaments.running import log


def entered(number: int) -> log.Entered:
    """The entry of Bot-`number`, version 10 + `number`, the better the smaller."""
    return log.Entered(
        entrant=number,
        version=VersionId(10 + number),
        bot=BotId(number),
        name=f"Bot-{number}",
        family=BotId(number),
        rating=2000.0 - number,
    )
