"""Who of an event's entrants is away, and since when.

Away is whoever would not get a game now though one were due, and whom no end of a game changes: who is not connected,
owes ``ready``, has asked for a pause or is paused, suspended, out of its hours or at its daily limit. Must not know:
what follows from it, games of events.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cgos_protocol.ids import VersionId
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.live.venue.player import Player
from cgos_server.service.holds import PASSING
from cgos_server.tournaments.running.steps import Away

EXPECTED_MS: Final = 15_000
"""Who has been away for less is about to come back: its opponent's slot waits for it."""


class Presence:
    """Of one venue."""

    def __init__(self, live: LiveVenue) -> None:
        self.away: Away = {}
        self._live = live

    def look(self, versions: Iterable[VersionId], now: int) -> None:
        """Look who of these is away; `now` in Unix ms. A stop of the server does not count, nor does a pause of the
        venue: nobody could have played."""
        players = self._live.roster.players
        before = {} if self._live.matchmaker.holds else self.away
        self.away = {version: before.get(version, now) for version in versions if not is_there(players.get(version))}

    def expected(self, version: VersionId, now: int) -> bool:
        """True where it is there, or has been away for a moment only."""
        since = self.away.get(version)
        return since is None or now - since < EXPECTED_MS


def is_there(player: Player | None) -> bool:
    """True where nothing but games keeps it from playing."""
    return player is not None and player.holds <= PASSING
